package phones_test

import (
	"testing"

	"pgregory.net/rapid"

	"earshot/language/phones"
)

// TestOf: words of the dictionary sound as it says, and others as they are spelt.
func TestOf(t *testing.T) {
	for text, want := range map[string]string{
		"earshot":      "IrSat",
		"Computer":     "kAmpyutAr",
		"mia":          "miA",
		"stop talking": "staptckIG",
		"what's":       "wAts",
		"what’s":       "wAts",
		"“Robin,”":     "rabAn",
		"thought":      "Tct",
		"José":         "hoze",
		"Jervis":       "JArvIs", // in no dictionary from here on
		"Zaphod":       "z@fad",
		"":             "",
		"… 42":         "",
		"Ева":          "",
	} {
		if got := phones.Of(text); got != want {
			t.Errorf("%q sounds like %q, want %q", text, got, want)
		}
	}
}

// TestDistance: what many people say alike is alike, and anything else is a phone apart.
func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"earshot", "ear shot", 0},
		{"earshot", "ear short", 1},
		{"earshot", "your shot", 2},
		{"mia", "me a", 0},
		{"mia", "maya", 1},
		{"robin", "robbing", 1},
		{"computer", "commuter", 1},
		{"roses", "Rosa's", 0},
		{"cot", "caught", 0},
		{"earshot", "", 5},
		{"", "", 0},
	} {
		if got := phones.Distance(phones.Of(tt.a), phones.Of(tt.b)); got != tt.want {
			t.Errorf("%q and %q are %d phones apart, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// TestCoarse: vowels are one, and so is what differs by the voice.
func TestCoarse(t *testing.T) {
	for text, want := range map[string]string{"be quite": "pakwat", "bequiet": "pakwat", "butter": "patar", "judge": "SaS"} {
		if got := phones.Coarse(phones.Of(text)); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestAnything: whatever a recogniser writes has at most [phones.Most] phones, and the distance is
// one of a space in which one can measure.
func TestAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := phones.Of(rapid.String().Draw(t, "a")), phones.Of(rapid.String().Draw(t, "b")), phones.Of(rapid.StringMatching("[a-z' ]{0,90}").Draw(t, "c"))
		for _, s := range []string{a, b, c, phones.Coarse(c)} {
			if len(s) > phones.Most {
				t.Fatalf("%q has %d phones", s, len(s))
			}
		}
		ab, ba, ac, cb := phones.Distance(a, b), phones.Distance(b, a), phones.Distance(a, c), phones.Distance(c, b)
		if phones.Distance(a, a) != 0 || ab != ba || ab > ac+cb {
			t.Fatalf("%q, %q and %q are %d, %d, %d and %d apart", a, b, c, ab, ba, ac, cb)
		}
	})
}

// FuzzOf: no text of a recogniser is too much.
func FuzzOf(f *testing.F) {
	f.Add("earshot what time is it")
	f.Add("''''’’ é\xff ſ K")
	f.Fuzz(func(t *testing.T, text string) {
		if s := phones.Coarse(phones.Of(text)); len(s) > phones.Most {
			t.Errorf("%q has %d sounds", text, len(s))
		}
	})
}
