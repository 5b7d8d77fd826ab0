package config

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/adrg/xdg"
	"go.yaml.in/yaml/v3"

	"earshot/internal/field"
)

// most is the longest file that is read, in bytes: a hundred times the sample.
const most = 1 << 20

// Load reads the configuration from the file at path, or where that is empty
// from the first of [Places] that exists, and from the environment, which goes
// before the file. No file at all is fine: everything has a default. Its error
// is an [*Error].
func Load(path string) (*Config, error) {
	file, data, err := find(path)
	if err != nil {
		return nil, err
	}
	return Parse(file, data, os.Environ())
}

// Salvage returns the usable part of a configuration for which [Load] has an error, and that
// error. Everything that is wrong has its default. It is for callers that need little of the
// configuration, such as the place of the socket.
func Salvage(path string) (*Config, error) {
	file, data, err := find(path)
	if err != nil {
		data = nil
	}
	c, faults := parse(file, data, os.Environ())
	if err == nil {
		err = asError(file, faults)
	}
	if err != nil {
		c.mend()
	}
	return c, err
}

// deepest is of how many parts a key may be, with one to spare.
const deepest = 8

// mend gives what is wrong in c its default: the keys alone, and where that does not help,
// the sections around them.
func (c *Config) mend() {
	for up := range deepest {
		faults := field.Faults(c.Validate())
		if len(faults) == 0 {
			return
		}
		for _, f := range faults {
			parts := strings.Split(dotted(f.Key), ".")
			c.reset(strings.Join(parts[:max(0, len(parts)-up)], "."))
		}
	}
}

// reset gives key, or what it lies in where it is of an entry of a list, its default.
func (c *Config) reset(key string) {
	if key == "" {
		file := c.File
		*c = *Default()
		c.File = file
		return
	}
	defaults := make(map[string]reflect.Value)
	walk("", reflect.ValueOf(Default()).Elem(), func(key string, v reflect.Value) { defaults[key] = v })
	walk("", reflect.ValueOf(c).Elem(), func(at string, v reflect.Value) {
		if at == key || isList(v.Type()) && under(key, at) {
			v.Set(defaults[at])
		}
	})
}

// find returns the file that is read, and what it holds.
func find(path string) (file string, data []byte, err error) {
	if file, err = Find(path); err == nil && file != "" {
		data, err = read(file)
	}
	return file, data, err
}

// Places returns where a configuration is looked for when none is named, the
// first first.
func Places() []string {
	return []string{
		filepath.Join(xdg.ConfigHome, "earshot", "config.yaml"),
		"/etc/earshot/config.yaml",
	}
}

// Find returns the file that [Load] reads: path itself, or the one that
// EARSHOT_CONFIG names, or the first of [Places] that exists, or "". A file
// that was named must exist.
func Find(path string) (string, error) {
	if path != "" {
		return path, nil
	}
	if named := os.Getenv("EARSHOT_CONFIG"); named != "" {
		return named, nil
	}
	for _, place := range Places() {
		_, err := os.Stat(place)
		if err == nil {
			return place, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return "", alone(place, "cannot be read: %v", withoutPath(err))
		}
	}
	return "", nil
}

// read returns what the file holds. It does not wait for a pipe.
func read(file string) ([]byte, error) {
	about, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, alone(file, "cannot be read: %v", withoutPath(err))
	case about.IsDir():
		return nil, alone(file, "is a directory; name the file in it")
	case !about.Mode().IsRegular() && file != os.DevNull:
		return nil, alone(file, "is not a regular file")
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, alone(file, "cannot be read: %v", withoutPath(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return nil, alone(file, "cannot be read: %v", withoutPath(err))
	case len(data) > most:
		return nil, alone(file, "is longer than %d bytes; this is no configuration", most)
	}
	return data, nil
}

// withoutPath returns err without the path, which the fault has already.
func withoutPath(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// Parse reads the configuration from data, which came from file, and from
// environ, which has the form of [os.Environ].
func Parse(file string, data []byte, environ []string) (*Config, error) {
	c, faults := parse(file, data, environ)
	if err := asError(file, faults); err != nil {
		return nil, err
	}
	return c, nil
}

// parse returns the configuration as far as it can be read, and all that is wrong with it.
func parse(file string, data []byte, environ []string) (*Config, []Fault) {
	c := Default()
	c.File = file
	r := &reader{file: file, lines: make(map[string]int), whole: lastParts(c)}
	if root := r.document(data); root != nil {
		r.value("", root, reflect.ValueOf(c).Elem())
	}
	by, faults := override(c, environ)
	faults = append(r.faults, faults...)
	return c, append(faults, refused(c, faults, func(key string) (string, int) { return r.origin(key, by) })...)
}

// document returns the root of the one document in data, nil if there is nothing.
func (r *reader) document(data []byte) *yaml.Node {
	d := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	if err := d.Decode(&document); err != nil {
		r.malformed(err)
		return nil
	}
	if err := d.Decode(&second); err == nil {
		r.fault(second.Line, "", "a second document begins here; a configuration is one")
	} else {
		r.malformed(err)
	}
	return document.Content[0]
}

// where is how the parser names a line.
var where = regexp.MustCompile(`^line (\d+): `)

// malformed notes what the parser could not read.
func (r *reader) malformed(err error) {
	if errors.Is(err, io.EOF) {
		return
	}
	text, line := strings.TrimPrefix(err.Error(), "yaml: "), 0
	if m := where.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	r.fault(line, "", "is not YAML: %s", text)
}

// origin says where the value of key came from: the variable that set it, the
// line that it or else the section around it stands in, or nowhere.
func (r *reader) origin(key string, by map[string]string) (where string, line int) {
	for at := key; at != ""; {
		if variable, ok := by[at]; ok {
			return variable, 0
		}
		if line, ok := r.lines[at]; ok {
			return r.file, line
		}
		at = at[:max(0, strings.LastIndexByte(at, '.'))]
	}
	return r.file, 0
}

// lastParts returns the whole key for the last part of each that only one has.
// The model of a role, of a thought and of a speech server are no others' rivals: nobody means one of
// those by its last part alone.
func lastParts(c *Config) map[string]string {
	whole := make(map[string]string)
	count := make(map[string]int)
	walk("", reflect.ValueOf(c).Elem(), func(key string, _ reflect.Value) {
		if strings.HasPrefix(key, "executive.llm.roles.") || strings.HasPrefix(key, "executive.recall.embedding.") || strings.HasPrefix(key, "speech.") || key == "executive.reasoning.model" {
			return
		}
		last := key[strings.LastIndexByte(key, '.')+1:]
		whole[last] = key
		count[last]++
	})
	for last, n := range count {
		if n > 1 || !strings.Contains(whole[last], ".") {
			delete(whole, last)
		}
	}
	return whole
}
