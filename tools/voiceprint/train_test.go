package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"earshot/models/voiceprint/acoustic"
	"earshot/models/voiceprint/cast"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestShipped says that the file that is part of the program was made by this
// program from these people.
func TestShipped(t *testing.T) {
	b, err := os.ReadFile("../../models/voiceprint/voices.bin")
	if err != nil {
		t.Fatal(err)
	}
	m, err := acoustic.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if want := ingredients(cast.Background()); !strings.HasSuffix(m.Recipe, want) {
		t.Errorf("the shipped model was made from %q, not from %q; go generate ./models/voiceprint makes it anew", m.Recipe, want)
	}
	for p, w := range &m.Within {
		if w > 20 || m.Drift[p] > w {
			t.Errorf("number %d varies by %.2f within voices, of which %.2f with the channel", p, w, m.Drift[p])
		}
	}
	if len(b) > 16<<10 {
		t.Errorf("the model has %d bytes", len(b))
	}
}

// TestDisjoint says that nobody is learnt from who is measured with, not even what a
// judgement is worth, and that no two people are one.
func TestDisjoint(t *testing.T) {
	variant := func(p cast.Person) string { return p.Engine + p.Voice[strings.IndexByte(p.Voice, '+')+1:] }
	strangers, names := make(map[string]bool), make(map[string]bool)
	for _, p := range cast.Strangers() {
		strangers[variant(p)] = true
	}
	for _, p := range cast.Background() {
		if strangers[variant(p)] {
			t.Errorf("%s is a stranger", p.Name)
		}
		if names[p.Name] {
			t.Errorf("two are called %s", p.Name)
		}
		names[p.Name] = true
	}
	relatives := make(map[string]bool)
	for _, p := range cast.Relatives() {
		relatives[variant(p)] = true
	}
	for _, p := range cast.Passersby() {
		if !strangers[variant(p)] || relatives[variant(p)] {
			t.Errorf("%s is learnt from", p.Name)
		}
	}
	for _, line := range cast.Talk() {
		for _, learnt := range cast.Lines() {
			if line == learnt {
				t.Errorf("%q is learnt and measured", line)
			}
		}
	}
}

// TestSameBytes makes a small model twice.
func TestSameBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts programs")
	}
	for _, engine := range []string{cast.Flite, cast.Espeak} {
		if _, err := exec.LookPath(engine); err != nil {
			t.Skip("there is no " + engine)
		}
	}
	var people []cast.Person
	for i, p := range cast.Background() {
		if i%14 == 0 {
			people = append(people, p)
		}
	}
	var files [2][]byte
	for i := range files {
		m, err := train(t.Context(), people, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = m.Encode()
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("two files differ")
	}
	if _, err := acoustic.Decode(files[0]); err != nil {
		t.Error(err)
	}
}

// TestEigen puts a matrix together from its vectors.
func TestEigen(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(r, "n")
		m, again := newMatrix(n), newMatrix(n)
		for range n + 2 {
			v := rapid.SliceOfN(rapid.Float64Range(-3, 3), n, n).Draw(r, "v")
			m.add(v, 1)
			again.add(v, 1)
		}
		vectors := m.eigen()
		sum := newMatrix(n)
		last := math.Inf(1)
		for _, v := range vectors {
			value := 0.0
			for i := range v {
				for j := range v {
					value += v[i] * again[i][j] * v[j]
				}
			}
			if value > last+1e-6 {
				r.Errorf("%v after %v", value, last)
			}
			last = value
			sum.add(v, value)
		}
		for i := range sum {
			for j := range sum {
				if math.Abs(sum[i][j]-again[i][j]) > 1e-6 {
					r.Fatalf("put together it is %v, not %v", sum, again)
				}
			}
		}
	})
}

// TestFit finds the odds that trials were drawn with.
func TestFit(t *testing.T) {
	var trials []trial
	for i := range 2000 {
		e := float64(i%41) - 20
		p := 1 / (1 + math.Exp(-(0.5*e - 1)))
		for k := range 20 {
			trials = append(trials, trial{same: (float64(k)+0.5)/20 < p, evidence: e, heard: 1e9})
		}
	}
	odds := fit(trials)
	if got := fmt.Sprintf("%.1f", odds[2]); got != "0.5" {
		t.Errorf("evidence counts %s times, want 0.5", got)
	}
	if rate := equalError(trials); rate < 0.01 || rate > 0.2 {
		t.Errorf("the rate is %.3f", rate)
	}
}
