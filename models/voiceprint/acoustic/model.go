package acoustic

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
)

// Size is how many numbers a print has.
const Size = 24

// A Model is the knowledge about voices: which differences mean two voices. Its numbers have the
// precision of float32.
type Model struct {
	Recipe  string // what it was made from, for people
	Mixture Mixture

	// Usual is the average of all voices, and Project turns the difference from it into a print
	// whose numbers are independent and have variance 1 between voices.
	Usual   [Raw]float64
	Project [Size][Raw]float64

	// Within is the variance of each number between utterances of a voice, and Drift between
	// channels.
	Within [Size]float64
	Drift  [Size]float64

	// Odds is for two prints of any two utterances, Near for two pieces of one
	// utterance or of two that follow each other.
	Odds, Near Odds
}

// Print fills print with what raw says of a voice.
func (m *Model) Print(print []float32, raw *[Raw]float64) {
	for p := range min(len(print), Size) {
		sum := 0.0
		for i, w := range &m.Project[p] {
			sum += w * (raw[i] - m.Usual[i])
		}
		print[p] = float32(min(max(sum, -most), most))
	}
}

// most bounds the numbers of a print: no voice is so different, and an outlier must not outweigh
// all voices.
const most = 8

// head is how a file begins.
const head = "earshot voices\n"

// numbers calls do for all numbers of m, in the order of the file.
func (m *Model) numbers(do func(*float64)) {
	all := func(v []float64) {
		for i := range v {
			do(&v[i])
		}
	}
	for k := range m.Mixture {
		do(&m.Mixture[k].Share)
		all(m.Mixture[k].Mean[:])
		all(m.Mixture[k].Variance[:])
	}
	all(m.Usual[:])
	for p := range m.Project {
		all(m.Project[p][:])
	}
	all(m.Within[:])
	all(m.Drift[:])
	all(m.Odds[:])
	all(m.Near[:])
}

// Encode returns m as a file: a head with the version, the recipe, the numbers,
// and a checksum over it all.
func (m *Model) Encode() []byte {
	b := fmt.Appendf(nil, "%s%d\n", head, Version)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(m.Recipe)))
	b = append(b, m.Recipe...)
	m.numbers(func(v *float64) { b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(*v))) })
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// Decode reads what Encode wrote. If the bytes are anything else, the error says
// what is wrong.
func Decode(b []byte) (*Model, error) {
	start := fmt.Appendf(nil, "%s%d\n", head, Version)
	if !bytes.HasPrefix(b, start) {
		return nil, fmt.Errorf("not a model of voices of version %d", Version)
	}
	if len(b) < len(start)+2+sha256.Size {
		return nil, fmt.Errorf("a model of voices that is cut short")
	}
	body, sum := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	if is := sha256.Sum256(body); !bytes.Equal(is[:], sum) {
		return nil, fmt.Errorf("a model of voices that is damaged")
	}
	body = body[len(start):]
	length := int(binary.LittleEndian.Uint16(body))
	body = body[2:]
	m := new(Model)
	count := 0
	m.numbers(func(*float64) { count++ })
	if len(body) != length+4*count {
		return nil, fmt.Errorf("a model of voices with %d bytes of numbers, not %d", len(body)-length, 4*count)
	}
	m.Recipe, body = string(body[:length]), body[length:]
	m.numbers(func(v *float64) {
		*v = float64(math.Float32frombits(binary.LittleEndian.Uint32(body)))
		body = body[4:]
	})
	return m, m.check()
}

// check finds numbers that no model has.
func (m *Model) check() error {
	fine := true
	m.numbers(func(v *float64) { fine = fine && math.Abs(*v) <= math.MaxFloat32 })
	for k := range m.Mixture {
		fine = fine && m.Mixture[k].Share > 0
		for _, v := range &m.Mixture[k].Variance {
			fine = fine && v > 0
		}
	}
	for p := range m.Within {
		fine = fine && m.Within[p] > 0 && m.Drift[p] >= 0
	}
	if !fine {
		return fmt.Errorf("a model of voices with invalid numbers")
	}
	return nil
}
