package pairing

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"unicode"

	"github.com/nats-io/nkeys"

	"earshot/internal/field"
	"earshot/satellite"
)

// A Code is what a satellite is told once, at its machine, to find its hub and to be let in.
type Code struct {
	ID        string
	Addresses []string     // of the bus, host:port, reached by TLS
	Seed      field.Secret // its secret key

	// Certificate is the SHA-256 of the one certificate that the bus may show. If empty, the bus has
	// one that this machine trusts anyway.
	Certificate []byte
}

const (
	codePrefix = "earshot_pair" // before the version, one digit, and an underscore
	codeFormat = "1"            // the version
	codeBytes  = 8 << 10        // a code has some 300
	checkBytes = 4              // of the SHA-256 of what stands before them
	addresses  = 16
)

// ErrCode is the error of a text that is no code.
var ErrCode = errors.New("this is not a whole code; copy all that earshot pair has printed")

// payload is the JSON within a code.
type payload struct {
	ID          string   `json:"id"`
	Addresses   []string `json:"at"`
	Seed        string   `json:"seed"`
	Certificate []byte   `json:"cert,omitempty"`
}

// Encode returns the code as a text to paste.
func (c Code) Encode() field.Secret {
	data, _ := json.Marshal(payload{c.ID, c.Addresses, c.Seed.Reveal(), c.Certificate}) // strings and bytes, which cannot fail
	sum := sha256.Sum256(data)
	return field.Secret(codePrefix + codeFormat + "_" + base64.RawURLEncoding.EncodeToString(append(data, sum[:checkBytes]...)))
}

// Decode reads a code; white space, as a terminal that wraps lines adds it, does not matter. Its
// errors quote nothing.
func Decode(text string) (Code, error) {
	if len(text) > codeBytes {
		return Code{}, ErrCode
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
	rest, ok := strings.CutPrefix(text, codePrefix)
	format, encoded, cut := strings.Cut(rest, "_")
	switch {
	case !ok || !cut:
		return Code{}, ErrCode
	case format != codeFormat:
		return Code{}, errors.New("this code is of another version of earshot; update it on both machines, and pair again")
	}
	data, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	n := len(data) - checkBytes
	if err != nil || n < 0 {
		return Code{}, ErrCode
	}
	var p payload
	if sum := sha256.Sum256(data[:n]); !bytes.Equal(sum[:checkBytes], data[n:]) || json.Unmarshal(data[:n], &p) != nil {
		return Code{}, ErrCode
	}
	c := Code{p.ID, p.Addresses, field.Secret(p.Seed), p.Certificate}
	if !c.valid() {
		return Code{}, ErrCode
	}
	return c, nil
}

// valid reports whether c can be used.
func (c Code) valid() bool {
	prefix, _, err := nkeys.DecodeSeed([]byte(c.Seed.Reveal()))
	if err != nil || prefix != nkeys.PrefixByteUser || satellite.CheckID(c.ID) != nil {
		return false
	}
	if len(c.Addresses) == 0 || len(c.Addresses) > addresses || len(c.Certificate) != 0 && len(c.Certificate) != sha256.Size {
		return false
	}
	for _, a := range c.Addresses {
		if host, port, err := net.SplitHostPort(a); err != nil || host == "" || port == "" || len(a) > 300 {
			return false
		}
	}
	return true
}
