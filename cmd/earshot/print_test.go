package main

import (
	"bytes"
	"earshot/internal/testkit"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// A diary is a log that can be read while it is written.
type diary struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (d *diary) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.b.Write(b)
}

func (d *diary) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.b.String()
}

// TestPrints: if its owner agreed, a voice print is kept in one file and nowhere else: in no other
// file below the home, in no log and in no output. Prints of other people are nowhere at all.
func TestPrints(t *testing.T) {
	t.Parallel()
	log := new(diary)
	m := newChoirmaster(t, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	for range 5 {
		m.says("ann", "the tide is rising")
		m.says("bob", "and the moon is full")
	}
	m.does(success, "Voice 2 is Bob", "speakers", "name", "2", "Bob")
	m.does(success, "kept", "speakers", "enroll", "Ann", "--voice", "1", "--consents")
	m.says("ann", "it is still rising")
	m.shown("Ann        it is still rising")
	m.earshot(nil, "say", "hello") // no model answers, which is logged

	printed := ""
	for _, args := range [][]string{
		{"speakers", "list", "--json"}, {"who", "--json"}, {"history", "--json"}, {"status", "--json"},
		{"context"}, {"why"}, {"doctor"},
	} {
		r := m.earshot(nil, args...)
		printed += r.out + r.err
	}
	kept := m.file()
	m.stop()

	if !strings.Contains(log.String(), "level=") || !strings.Contains(printed, "the tide is rising") {
		t.Fatalf("the log or what was printed is empty; this test proves nothing\n%s\n%s", log, printed)
	}
	if n := len(regexp.MustCompile(`"numbers"`).FindAllString(kept, -1)); n == 0 {
		t.Fatal("no print is in the file; this test proves nothing")
	}
	places := m.files()
	places["the log"], places["what was printed"] = log.String(), printed
	for where, text := range places {
		if row := numbers.FindString(text); row != "" && !strings.HasSuffix(where, "voices.json") {
			t.Errorf("%s has a row of numbers: %.60s", where, row)
		}
		for who, prints := range m.prints {
			for _, trace := range traces(prints) {
				if strings.Contains(text, trace) {
					t.Errorf("%s has what %s sounds like", where, who)
				}
			}
		}
	}
}

// numbers matches a row of fractions as Go or JSON write them.
var numbers = regexp.MustCompile(`(-?[0-9]+\.[0-9]{3,}(e-?[0-9]+)?[, ]+){4}`)

// traces returns what a few numbers from the middle of each print look like in a file, in each
// possible encoding.
func traces(prints [][]float32) (all []string) {
	for _, p := range prints {
		var low, high []byte
		var words []string
		for _, n := range p[3:9] {
			low = binary.LittleEndian.AppendUint32(low, math.Float32bits(n))
			high = binary.BigEndian.AppendUint32(high, math.Float32bits(n))
			words = append(words, fmt.Sprint(n))
		}
		text, _ := json.Marshal(p[3:9])
		all = append(all, string(low), string(high), hex.EncodeToString(low), hex.EncodeToString(high),
			base64.StdEncoding.EncodeToString(low), base64.StdEncoding.EncodeToString(high), // the numbers before them fill whole letters
			strings.Join(words, " "), strings.Trim(string(text), "[]"))
	}
	return all
}

// files returns the content of each file below the home.
func (h *home) files() map[string]string {
	h.t.Helper()
	all := make(map[string]string)
	testkit.Files(h.t, h.dir, func(name string, data []byte) { all[strings.TrimPrefix(name, h.dir)] = string(data) })
	return all
}
