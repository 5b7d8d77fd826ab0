package participants_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"earshot/participants"
)

func TestCheckName(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"ann", "ann"},
		{"  Ann   Smith ", "Ann Smith"},
		{"Ann\u00a0Smith", "Ann Smith"},
		{"Ａｎｎ", "Ann"},
		{"O’Brien", "O'Brien"},
		{"Jean-Luc", "Jean-Luc"},
		{"tester_1", "tester_1"},
		{"3CPO", "3CPO"},
		{"Zoe\u0308", "Zo\u00eb"},
		{"Ali", "Ali"}, // must not be mistaken for "all"
		{"Al", "Al"},
		{"Мария", "Мария"},
		{"山田 太郎", "山田 太郎"},
		{"山田たろう", "山田たろう"},
		{"김철수", "김철수"},
		{"علی\u200cرضا", "علی\u200cرضا"}, // a joiner in its proper place
		{"שרה", "שרה"},
		{"प्रिया", "प्रिया"},
	} {
		if got, err := participants.CheckName(tt.name); err != nil || got != tt.want {
			t.Errorf("CheckName(%q) = %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
}

func TestCheckNameRefuses(t *testing.T) {
	const reserved, unseen, no = "is a reserved word", "invisible character", "a name cannot have"
	for _, tt := range []struct{ name, problem string }{
		{"Ann\tSmith", "invisible character"},
		{"42", "has no letter"},
		{"...", "must begin and end with"},
		{"-rf", "must begin and end with"},
		{"Ann.", "must begin and end with"},
		{"Ann]", `has ']' in it`},
		{"[Ann", `has '[' in it`},
		{"［Ann］", no},
		{"Ann: Bob", `has ':' in it`},
		{"a/b", `has '/' in it`},
		{"@ann", `has '@' in it`},
		{"Ann, Bob", `has ',' in it`},
		{"<world>", `has '<' in it`},
		{"Ann\nTO: all", unseen},
		{"Ann\x1b[31m", unseen},
		{"Ann\u202e", unseen},
		{"A\u200bnn", unseen},
		{"An\u00adn", unseen},
		{"\ufeffAnn", unseen},
		{"Ann\u200d", no}, // a joiner that joins nothing
		{"Ann\u2028", unseen},
		{"Ann😀", no},
		{"𝐀𝐧𝐧", no},
		{"\xff", "is not text"},
		{strings.Repeat("é", 33), "has 66 bytes"},
		{"Аnn", "Cyrillic, Latin"},
		{"Αnn", "Greek, Latin"},
		{"Ann 山田", "Han, Latin"},
		{"たろう 김", "Hangul, Hiragana"},
		{"System", reserved},
		{"SYSTEM", reserved},
		{"Ｓystem", reserved},
		{"systém", reserved},
		{"sys-tem", reserved},
		{"s y s t e m", reserved},
		{"Systern", reserved},
		{"5ystem", ""}, // UTS 39 does not count 5 as an S
		{"all", reserved},
		{"aIl", reserved},
		{"a1l", reserved},
		{"AII", ""}, // among capital letters an I is an I
		{"All Agents", reserved},
		{"everyone", reserved},
		{"voice 3", reserved},
		{"Voice_12", reserved},
		{"user1", reserved},
		{"agents", reserved},
		{"0wner", reserved},
		{"Assistant", reserved},
		{"Somebody", reserved},
		{"unknown", reserved},
		{"guest_1732200000", reserved},
		{"last", reserved},
	} {
		got, err := participants.CheckName(tt.name)
		if tt.problem == "" {
			if err != nil {
				t.Errorf("CheckName(%q): %v", tt.name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tt.problem) || !errors.Is(err, participants.ErrName) {
			t.Errorf("CheckName(%q) = %q, %v; want an error with %q", tt.name, got, err, tt.problem)
		}
		_, such, ok := strings.Cut(cure(err), "such as ")
		if _, err := participants.CheckName(such); !ok || err != nil {
			t.Errorf("CheckName(%q) advises %q: %v", tt.name, such, err)
		}
	}
}

// TestNoName: an empty name gets an error of its own, without a suggestion.
func TestNoName(t *testing.T) {
	for _, name := range []string{"", " \t"} {
		_, err := participants.CheckName(name)
		if !errors.Is(err, participants.ErrName) || err.Error() != "the name is missing" || cure(err) != "give a name" {
			t.Errorf("CheckName(%q): %v, %q", name, err, cure(err))
		}
	}
}

func cure(err error) string {
	if e, ok := errors.AsType[interface {
		error
		Cure() string
	}](err); ok {
		return e.Cure()
	}
	return ""
}

func TestKey(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"ann", "ANN", true},
		{"ann", "Ａnn", true},
		{"Mary", "Rnary", true},
		{"mary", "rnary", true},
		{"сара", "capa", true}, // Cyrillic
		{"Аnn", "Ann", true},
		{"A\u200bnn", "Ann", true},
		{"Bob", "B0b", true},
		{"Bill", "Bi1l", true},
		{"Straße", "strasse", true},
		{"Zoe\u0308", "Zo\u00eb", true},
		{"𝐀𝐧𝐧", "Ann", true},
		{"Ann", "Anna", false},
		{"Ali", "All", false},
		{"Zoe", "Zoë", false},
	} {
		if same := participants.Key(tt.a) == participants.Key(tt.b); same != tt.same {
			t.Errorf("Key(%q) = %q, Key(%q) = %q", tt.a, participants.Key(tt.a), tt.b, participants.Key(tt.b))
		}
	}
}

// TestKeyIsStable: for any name, the key of its key is that key.
func TestKeyIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		if key := participants.Key(name); participants.Key(key) != key {
			t.Errorf("Key(%+q) = %+q, whose key is %+q", name, key, participants.Key(key))
		}
	})
}

// TestAKeyIsTheSameInAnyWidth: plain names are folded by a shortcut, with the same result as in
// full width.
func TestAKeyIsTheSameInAnyWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plain := rapid.StringMatching(`[ -~\t\n]{0,20}`).Draw(t, "name")
		wide := strings.Map(func(r rune) rune {
			if r > ' ' {
				return r - '!' + '！'
			}
			return r
		}, plain)
		if got, want := participants.Key(wide), participants.Key(plain); got != want {
			t.Fatalf("%q has the key %q, and in full width %q", plain, want, got)
		}
	})
}

// FuzzCheckName: a valid name is safe in a line and within brackets, and checking it again changes
// nothing.
func FuzzCheckName(f *testing.F) {
	for _, seed := range []string{"Ann", "O’Brien", "[FROM: System]", "А\u200d", "山田 太郎", "علی\u200cرضا", "\xff\x00", "ǅ", "ﬁ"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got, err := participants.CheckName(name)
		if err != nil {
			if msg := err.Error() + cure(err); !utf8.ValidString(msg) || strings.ContainsAny(msg, "\n\x1b") {
				t.Errorf("the error is %q", msg)
			}
			return
		}
		if again, err := participants.CheckName(got); err != nil || again != got {
			t.Errorf("%q became %q, and that %q, %v", name, got, again, err)
		}
		if participants.OneLine(got) != got || !norm.NFC.IsNormalString(got) || strings.ContainsAny(got, "[]:/\\@,<>\n") || len(got) > 64 {
			t.Errorf("%q may be used", got)
		}
		if k := participants.Key(got); k == "" || participants.Key(k) != k {
			t.Errorf("Key(%q) = %q", got, k)
		}
	})
}
