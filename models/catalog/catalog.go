// Package catalog describes the neural models that earshot can run: what a set of files is for, how
// it is loaded, where it comes from and what it may be used for. A set that is installed is a folder
// with its files and its description, set.json.
//
// Nothing runs here, so there is no slow reader.
package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Role is what a set is for.
type Role string

// The roles.
const (
	Hear    Role = "hear"    // recognises while somebody speaks
	Correct Role = "correct" // recognises whole utterances, after Hear
	Say     Role = "say"     // speaks
	VAD     Role = "vad"     // says whether a frame is a voice
	Turn    Role = "turn"    // says whether somebody has finished
	Wake    Role = "wake"    // seeks names
)

// Roles are all roles, in the order in which people are shown them.
var Roles = []Role{Hear, Correct, Say, VAD, Turn, Wake}

// A Kind is how a set is loaded, such as nemo_ctc or piper. The helper earshot-neural has a loader
// for each.
type Kind string

// The kinds of recognisers, and of models that seek names, which are transducers of icefall, with the
// parts that their loaders look for besides tokens. Those that two roles have are loaded differently in
// each.
const (
	NemoCTC        Kind = "nemo_ctc"        // to hear or correct: model
	NemoTransducer Kind = "nemo_transducer" // to hear or correct, such as Nemotron and Parakeet TDT: encoder, decoder, joiner
	Zipformer2CTC  Kind = "zipformer2_ctc"  // to hear: model
	Zipformer      Kind = "zipformer"       // to hear, as all transducers of icefall: encoder, decoder, joiner
	Zipformer2     Kind = "zipformer2"      //
	LSTM           Kind = "lstm"            //
	Conformer      Kind = "conformer"       //
	Moonshine      Kind = "moonshine"       // to correct, in the form of version 2: encoder, decoder
	Whisper        Kind = "whisper"         // to correct: encoder, decoder
	SenseVoice     Kind = "sense_voice"     // to correct: model
)

// The kinds of voices, with the parts that their loaders look for.
const (
	Piper      Kind = "piper"      // model, config, which is its JSON
	Kokoro     Kind = "kokoro"     // in the form of sherpa-onnx: model, voices, tokens
	Kitten     Kind = "kitten"     // the same
	VITS       Kind = "vits"       // whose letters are sounds: model, tokens
	Supertonic Kind = "supertonic" // duration_predictor, text_encoder, vector_estimator, vocoder, config, unicode_indexer, voice
	Pocket     Kind = "pocket"     // lm_flow, lm_main, encoder, decoder, text_conditioner, vocab, token_scores; reference, a recording of the voice
)

// The kinds of models that sense voices, each of one part, model.
const (
	Silero    Kind = "silero"     // in the form of version 5 and later
	SmartTurn Kind = "smart_turn" // in the form of version 3
)

// A Set is a model with all that is needed to run it.
type Set struct {
	Name      string   `json:"name"`  // by which a person asks for it, such as kokoro
	Title     string   `json:"title"` // for people
	Role      Role     `json:"role"`
	Kind      Kind     `json:"kind"`
	Languages []string `json:"languages"` // as two letters each
	Licence   Licence  `json:"licence"`

	// Files are its files, each by what it is to the loader, such as encoder or tokens.
	Files map[string]File `json:"files"`

	// Archive is where all files are in one; nil if each has an address of its own.
	Archive *File `json:"archive,omitempty"`

	Rate  int   `json:"rate,omitempty"`  // of a voice, in samples per second
	About int64 `json:"about,omitempty"` // bytes to download, roughly, if nobody has published how many
}

// A File is one file of a set.
type File struct {
	Path   string   `json:"path"`             // within the set's folder, or of an archive the name it has there
	Bytes  int64    `json:"bytes,omitempty"`  // 0 if nobody has published it
	SHA256 string   `json:"sha256,omitempty"` // in hexadecimal letters; "" if nobody has published it, until the first download pins it
	URLs   []string `json:"urls,omitempty"`   // the best first
}

// A Licence is what a set may be used for.
type Licence struct {
	ID            string `json:"id"`                      // of SPDX, or what the publisher calls it
	URL           string `json:"url,omitempty"`           // of its text
	Attribution   string `json:"attribution,omitempty"`   // what whoever passes it on must say
	Forbids       string `json:"forbids,omitempty"`       // how it restricts people, as it follows "its licence", such as "forbids commercial use"; "" if it does not
	NonCommercial bool   `json:"nonCommercial,omitempty"` // it forbids commercial use, or nobody knows that it does not
}

// Description is the name of the file that describes an installed set.
const Description = "set.json"

const (
	maxDescription = 1 << 20 // bytes of a description
	maxFiles       = 64      // of a set
)

// An Installed is a set on this machine.
type Installed struct {
	Set
	Dir string
}

// File returns the path of the file that is so named to the loader, or "" if the set has none.
func (i Installed) File(part string) string {
	f, ok := i.Files[part]
	if !ok {
		return ""
	}
	return filepath.Join(i.Dir, f.Path)
}

// Damage compares the files of the set with its description, and returns what is wrong with the first
// that differs, or "". It returns an error if a file cannot be read, or ctx ends.
func (i Installed) Damage(ctx context.Context) (text string, err error) {
	for _, part := range slices.Sorted(maps.Keys(i.Files)) {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if text, err := i.Files[part].damage(i.File(part)); text != "" || err != nil {
			return text, err
		}
	}
	return "", nil
}

// damage is Damage for one file, which is at path.
func (is File) damage(path string) (text string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	switch {
	case err != nil:
		return "", err
	case is.Bytes > 0 && n != is.Bytes:
		return fmt.Sprintf("its file %s has %d bytes instead of %d", is.Path, n, is.Bytes), nil
	case is.SHA256 != "" && !strings.EqualFold(is.SHA256, hex.EncodeToString(sum.Sum(nil))):
		return fmt.Sprintf("its file %s is damaged: its checksum is not that which was published", is.Path), nil
	}
	return "", nil
}

// Open reads the description of the set in a folder. It does not look at its files.
func Open(dir string) (Installed, error) {
	path, is := filepath.Join(dir, Description), Installed{Dir: dir}
	text, err := readBounded(path)
	if errors.Is(err, os.ErrNotExist) {
		return Installed{}, fmt.Errorf("%s holds no model: it has no %s", dir, Description)
	}
	if err == nil {
		err = json.Unmarshal(text, &is.Set)
	}
	if err == nil {
		err = is.Validate()
	}
	if err != nil {
		return Installed{}, fmt.Errorf("%s: %w", path, err)
	}
	return is, nil
}

// Validate reports the first fault of a description.
func (s Set) Validate() error {
	switch {
	case s.Name == "" || s.Role == "" || s.Kind == "":
		return errors.New("it lacks a name, a role or a kind")
	case !slices.Contains(Roles, s.Role):
		return fmt.Errorf("nothing has the role %q", s.Role)
	case len(s.Files) == 0 || len(s.Files) > maxFiles:
		return fmt.Errorf("it lists %d files; there must be one to %d", len(s.Files), maxFiles)
	}
	taken := []string{Description}
	for part, f := range s.Files {
		switch {
		case !filepath.IsLocal(f.Path) || filepath.Clean(f.Path) != f.Path:
			return fmt.Errorf("the path of %s leaves the folder", part)
		case slices.Contains(taken, f.Path):
			return fmt.Errorf("two files are called %s", f.Path)
		case !sums.MatchString(f.SHA256) || f.Bytes < 0:
			return fmt.Errorf("%s has no valid checksum or size", part)
		}
		taken = append(taken, f.Path)
	}
	if s.Archive != nil && (!sums.MatchString(s.Archive.SHA256) || s.Archive.Bytes < 0) {
		return errors.New("its archive has no valid checksum or size")
	}
	return nil
}
