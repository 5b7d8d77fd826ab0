package participants

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

var update = flag.Bool("update", false, "write prototypes.txt")

// source has the data of UTS 39, in the Debian package python3-confusable-homoglyphs: for each
// text, those that look like it.
const source = "/usr/lib/python3/dist-packages/confusable_homoglyphs/confusables.json"

// TestPrototypes: if its source is installed, the table must equal the one made from it.
func TestPrototypes(t *testing.T) {
	data, err := os.ReadFile(source)
	if err != nil {
		t.Skip("python3-confusable-homoglyphs is not installed:", err)
	}
	var like map[string][]struct {
		C string `json:"c"`
	}
	if err := json.Unmarshal(data, &like); err != nil {
		t.Fatal(err)
	}
	stars := make(map[string][]rune) // grouped by what they look like
	for text, others := range like {
		r := []rune(text)
		if len(r) != 1 || !mayCome(r[0]) || len(others) == 0 {
			continue
		}
		middle := text
		for _, o := range others {
			c := strings.Trim(o.C, "\u200e")
			if len(like[c]) > len(like[middle]) || len(like[c]) == len(like[middle]) && c < middle {
				middle = c
			}
		}
		if middle != text {
			stars[middle] = append(stars[middle], r[0])
		}
	}
	notice, _, _ := bytes.Cut(prototypes, []byte("\n\n"))
	got := append(bytes.Clone(notice), "\n\n"...)
	for _, middle := range slices.Sorted(maps.Keys(stars)) {
		slices.Sort(stars[middle])
		got = fmt.Appendf(got, "%s %s\n", strings.ReplaceAll(codes([]rune(middle)), " ", "+"), codes(stars[middle]))
	}
	if *update {
		if err := os.WriteFile("prototypes.txt", got, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(got, prototypes) {
		t.Error("prototypes.txt is not what its source gives; run go generate")
	}
}

// codes returns the code points of text in hexadecimal.
func codes(text []rune) string { return strings.Trim(fmt.Sprintf("%04X", text), "[]") }

// mayCome reports whether r may be in a name whose look is compared. Any other character is
// refused, or normalised before that.
func mayCome(r rune) bool {
	return (unicode.In(r, unicode.L, unicode.M, unicode.Nd) || r > ' ' && r < unicode.MaxASCII) &&
		norm.NFKC.String(string(r)) == string(r)
}
