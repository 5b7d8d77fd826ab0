//go:build cgo

package main

import (
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	for _, tt := range []struct{ hypothesis, want string }{
		{"", ""},
		{"what time is it", "what time is it"},
		{"<s> what(2) time <sil> is it(3) </s>", "what time is it"},
		{"[NOISE] ++BREATH++ [SPEECH]", ""},
		{"hey EARSHOT stop", "hey earshot stop"},
		{"ANN_LEE(2) said it's four p.m.", "ann lee said it's four p.m."},
		{"(2)", ""},
	} {
		if got := clean(tt.hypothesis); got != tt.want {
			t.Errorf("%q is cleaned to %q, want %q", tt.hypothesis, got, tt.want)
		}
	}
}

func TestToken(t *testing.T) {
	for name, want := range map[string]string{"Earshot": "EARSHOT", " ann  lee ": "ANN_LEE", "o'neill": "O'NEILL", "x(2)/y": "X_Y", "小明": "", "": ""} {
		if got := token(name); got != want {
			t.Errorf("%q is written %q, want %q", name, got, want)
		}
	}
}

// FuzzClean: whatever the library makes up, nothing but words is left.
func FuzzClean(f *testing.F) {
	f.Add("<s> what(2) [NOISE] ANN_LEE </s>")
	f.Fuzz(func(t *testing.T, hypothesis string) {
		for word := range strings.FieldsSeq(clean(hypothesis)) {
			if strings.ContainsAny(word[:1], "<[+") || strings.Contains(word, "(") {
				t.Errorf("%q is left of %q", word, hypothesis)
			}
		}
	})
}

// TestPronounce: the voices' sounds are the recogniser's.
func TestPronounce(t *testing.T) {
	for word, want := range map[string]string{"earshot": "IH R SH AA T", "stop": "S T AA P", "": "", "小明": ""} {
		if got := pronounce(word); got != want {
			t.Errorf("%q is pronounced %q, want %q", word, got, want)
		}
	}
}
