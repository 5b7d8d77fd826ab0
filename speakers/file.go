package speakers

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/models/voiceprint"
)

// version is the version of the file format.
const version = 1

// The limits of what is kept.
const (
	mostKept     = 64
	channelBytes = 200
	whoBytes     = 256
	idBytes      = 64
	longest      = 1000 * time.Hour
	fileBytes    = 4 << 20
)

// A file is the contents of the file, as JSON.
type file struct {
	Version int             `json:"version"`
	Kind    int             `json:"kind"`   // of the prints, see [voiceprint.Kind]
	Sum     string          `json:"sha256"` // of the voices, without the space between their tokens
	Voices  json.RawMessage `json:"voices"`
}

// A record is a kept voice, as JSON.
type record struct {
	ID      string                `json:"id"`
	Also    []string              `json:"also,omitempty"`
	Who     earshot.ParticipantID `json:"who"`
	Consent Attestation           `json:"consent"`
	Prints  []recorded            `json:"prints"`
}

// A recorded is a print, as JSON.
type recorded struct {
	Channel string        `json:"channel"`
	Heard   time.Duration `json:"heard_ns"`
	Numbers string        `json:"numbers"` // 32-bit floats, little-endian, in base64
}

// The errors of a file that cannot be used.
var (
	errNewer   = errors.New("it was written by a newer earshot")
	errAnother = errors.New("it was made by an earshot that measures voices differently")
)

// format returns the contents of the file for those of some voices that are kept.
func format(voices []*voice) ([]byte, error) {
	records := []record{}
	for _, v := range voices {
		if v.agreed {
			records = append(records, v.record())
		}
	}
	if len(records) > mostKept {
		return nil, fmt.Errorf("%d voices are kept already, which is the limit; forget one: earshot speakers forget NAME", mostKept)
	}
	text, err := json.Marshal(records)
	if err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(file{version, voiceprint.Kind, sum(text), text}, "", "  ")
	return append(data, '\n'), err
}

func sum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// record returns what is kept of v.
func (v *voice) record() record {
	r := record{ID: v.id, Also: v.also, Who: v.who, Consent: v.said}
	for _, p := range v.kept {
		data, _ := binary.Append(nil, binary.LittleEndian, p.numbers) // never fails for a slice of numbers
		r.Prints = append(r.Prints, recorded{p.channel, p.heard, base64.StdEncoding.EncodeToString(data)})
	}
	return r
}

// parse returns the voices in a file. Its errors hold nothing of the file.
func parse(data []byte) ([]*voice, error) {
	if len(data) > fileBytes {
		return nil, errors.New("it is far too large")
	}
	var in file
	if err := strict(data, &in); err != nil {
		var about struct {
			Version int `json:"version"`
		}
		if json.Unmarshal(data, &about) == nil && about.Version > version {
			return nil, errNewer
		}
		return nil, err
	}
	var text bytes.Buffer
	switch err := json.Compact(&text, in.Voices); {
	case in.Version > version:
		return nil, errNewer
	case in.Version != version:
		return nil, fmt.Errorf("its version is %d", in.Version)
	case err != nil || in.Sum != sum(text.Bytes()):
		return nil, errors.New("its checksum does not match its content")
	case in.Kind != voiceprint.Kind:
		return nil, errAnother
	}
	var records []record
	if err := strict(in.Voices, &records); err != nil {
		return nil, err
	}
	return voices(records)
}

// strict decodes JSON without unknown fields or trailing data.
func strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return errors.New("it is not the JSON that it should be")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows its end")
	}
	return nil
}

// voices returns the voices that records describe.
func voices(records []record) ([]*voice, error) {
	if len(records) > mostKept {
		return nil, fmt.Errorf("it holds %d voices; at most %d are possible", len(records), mostKept)
	}
	var all []*voice
	seen := make(map[string]bool)
	for i, r := range records {
		v := &voice{id: r.ID, also: r.Also, who: r.Who, said: r.Consent, agreed: true}
		for _, id := range append([]string{r.ID}, r.Also...) {
			if !isID(id) || seen[id] {
				return nil, fmt.Errorf("voice %d has no name of its own", i+1)
			}
			seen[id] = true
		}
		if r.Who == "" || len(r.Who) > whoBytes || len(r.Consent.By) > whoBytes || r.Consent.check() != nil || len(r.Also) > mostAlso || len(r.Prints) > mostChannels {
			return nil, fmt.Errorf("voice %d is incomplete", i+1)
		}
		for _, p := range r.Prints {
			one, ok := p.print()
			if !ok || slices.ContainsFunc(v.kept, func(k print) bool { return k.channel == one.channel }) {
				return nil, fmt.Errorf("a print of voice %d is incomplete", i+1)
			}
			v.kept = append(v.kept, one)
		}
		if len(v.kept) == 0 {
			return nil, fmt.Errorf("voice %d has no print", i+1)
		}
		all = append(all, v)
	}
	return all, nil
}

// isID reports whether id can be the ID of a voice.
func isID(id string) bool {
	return id != "" && len(id) <= idBytes && !strings.ContainsFunc(id, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// print returns the print that r describes.
func (r recorded) print() (print, bool) {
	data, err := base64.StdEncoding.DecodeString(r.Numbers)
	if err != nil || len(data) != 4*voiceprint.Size || len(r.Channel) > channelBytes || r.Heard < voiceprint.Least || r.Heard > longest {
		return print{}, false
	}
	p := print{channel: r.Channel, numbers: make([]float32, voiceprint.Size), heard: r.Heard}
	for i := range p.numbers {
		p.numbers[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return p, valid(p.numbers)
}
