package catalog

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Catalogue lists the sets that can be downloaded. The files that the program's own catalogue lists
// have not been fetched by its authors. Its checksums of k2-fsa's archives and of zipformer-en come from
// the gallery of LocalAI (mudler/LocalAI 82c191afa, gallery/index.yaml), the others from mirrors.
type Catalogue struct {
	// Bundles are the sets that belong together, by the name of the bundle. Each set of one is free to
	// be used by anybody.
	Bundles map[string][]string `json:"bundles"`

	Sets []Set `json:"sets"`
}

//go:embed catalogue.json
var embedded []byte

// Own is the name of the file in the folder of models that adds sets of the user's own, or replaces
// those of the program.
const Own = "catalogue.json"

// Load returns the catalogue of the program, with what the user has added to it in the folder of
// models.
func Load(folder string) (Catalogue, error) {
	all, err := Parse(embedded)
	if err != nil {
		return Catalogue{}, fmt.Errorf("the catalogue of the program: %w", err)
	}
	path := filepath.Join(folder, Own)
	text, err := readBounded(path)
	if errors.Is(err, os.ErrNotExist) {
		return all, nil
	}
	var own Catalogue
	if err == nil {
		own, err = Parse(text)
	}
	if err != nil {
		return Catalogue{}, fmt.Errorf("%s: %w", path, err)
	}
	for _, s := range own.Sets {
		if i := all.index(s.Name); i >= 0 {
			all.Sets[i] = s
			continue
		}
		all.Sets = append(all.Sets, s)
	}
	maps.Copy(all.Bundles, own.Bundles)
	return all, nil
}

// Parse reads a catalogue. Its error is the first fault.
func Parse(text []byte) (c Catalogue, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return Catalogue{}, err
	}
	if c.Bundles == nil {
		c.Bundles = make(map[string][]string)
	}
	for i, s := range c.Sets {
		if err := s.validateEntry(); err != nil {
			return Catalogue{}, fmt.Errorf("set %q: %w", s.Name, err)
		}
		if c.index(s.Name) < i || c.Bundles[s.Name] != nil {
			return Catalogue{}, fmt.Errorf("two things are called %q", s.Name)
		}
	}
	return c, nil
}

func (c Catalogue) index(name string) int {
	return slices.IndexFunc(c.Sets, func(s Set) bool { return s.Name == name })
}

// Find returns the set of a name, or the sets of a bundle; none if there is nothing so called.
func (c Catalogue) Find(name string) (sets []Set) {
	names, ok := c.Bundles[name]
	if !ok {
		names = []string{name}
	}
	for _, n := range names {
		if i := c.index(n); i >= 0 {
			sets = append(sets, c.Sets[i])
		}
	}
	return sets
}

var (
	// names are what sets may be called: each is a folder, and a word of a command.
	names = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,63}$`)

	sums = regexp.MustCompile(`^([0-9a-f]{64})?$`)
)

// validateEntry reports the first fault of a set that is to be downloaded.
func (s Set) validateEntry() error {
	if err := s.Validate(); err != nil {
		return err
	}
	switch {
	case !names.MatchString(s.Name):
		return errors.New("its name must consist of small letters, digits, points and hyphens")
	case s.Licence.ID == "":
		return errors.New("it names no licence")
	}
	if s.Archive != nil {
		if filepath.Base(s.Archive.Path) != s.Archive.Path || !strings.HasSuffix(s.Archive.Path, ".tar.bz2") {
			return fmt.Errorf("%s is no archive that can be unpacked: it must end in .tar.bz2", s.Archive.Path)
		}
	}
	for _, f := range s.Downloads() {
		if err := f.validateSource(); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	return nil
}

// validateSource reports what is wrong with where a file is to come from.
func (f File) validateSource() error {
	if len(f.URLs) == 0 {
		return errors.New("it has no address")
	}
	for _, from := range f.URLs {
		u, err := url.Parse(from)
		if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || u.Hostname() != "127.0.0.1" && u.Hostname() != "localhost") {
			return fmt.Errorf("%s is no address with https", from)
		}
	}
	return nil
}

// Downloads returns what must be downloaded: an archive, or each file.
func (s Set) Downloads() (all []File) {
	if s.Archive != nil {
		return []File{*s.Archive}
	}
	for _, part := range slices.Sorted(maps.Keys(s.Files)) {
		all = append(all, s.Files[part])
	}
	return all
}

// Size returns how many bytes must be downloaded, 0 if nobody knows, and whether that is exact.
func (s Set) Size() (n int64, exact bool) {
	if n = s.Unpacked(); s.Archive != nil {
		n = s.Archive.Bytes
	}
	return cmp.Or(n, s.About), n > 0
}

// Unpacked returns how many bytes the files have, 0 if nobody has published that of each.
func (s Set) Unpacked() (n int64) {
	for _, f := range s.Files {
		if f.Bytes == 0 {
			return 0
		}
		n += f.Bytes
	}
	return n
}

// Pinned returns s with the sizes and checksums that is known to have, which was downloaded before,
// where s has none.
func (s Set) Pinned(is Set) Set {
	files := make(map[string]File, len(s.Files))
	for part, f := range s.Files {
		files[part] = f.pinned(is.Files[part])
	}
	s.Files = files
	if s.Archive != nil && is.Archive != nil {
		a := s.Archive.pinned(*is.Archive)
		s.Archive = &a
	}
	return s
}

func (f File) pinned(is File) File {
	if f.SHA256 == "" && f.Path == is.Path && slices.Equal(f.URLs, is.URLs) && (f.Bytes == 0 || f.Bytes == is.Bytes) {
		f.SHA256, f.Bytes = is.SHA256, is.Bytes
	}
	return f
}

// readBounded reads a file that is not longer than a description may be.
func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxDescription+1))
	if err == nil && len(text) > maxDescription {
		err = fmt.Errorf("it has more than %d bytes", maxDescription)
	}
	return text, err
}
