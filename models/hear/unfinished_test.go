package hear_test

import (
	"strings"
	"testing"

	"earshot/models/hear"
)

func TestUnfinished(t *testing.T) {
	for words, want := range map[string]bool{
		"":                               false,
		"what time is it":                false,
		"turn it on":                     false,
		"not very well":                  false,
		"what is that":                   false,
		"stop":                           false,
		"yes":                            false,
		"no":                             false,
		"tell me about the":              true,
		"Tell me about THE":              true,
		"i would like to go to":          true,
		"because":                        true,
		"bread and butter and":           true,
		"it was um":                      true,
		"hey":                            true,
		"my number is oh two":            true,
		"three one four one five":        true,
		"at nine":                        false,
		"it is twenty five":              false,
		"three point":                    true,
		"call me at double":              true,
		"well,":                          true,
		"so what I mean is...":           true,
		"so what I mean is …":            true,
		"I looked up to.":                false,
		"is it yours, or":                true,
		"the end of the":                 true,
		"the end of the line":            false,
		"  and  ":                        true,
		strings.Repeat("word ", 1000):    false,
		strings.Repeat("and", 1000):      false,
		strings.Repeat("é", 500) + " of": true,
	} {
		if got := hear.Unfinished(words); got != want {
			t.Errorf("%.40q: %v, want %v", words, got, want)
		}
	}
}

// FuzzUnfinished gives it what recognisers may make of a noise.
func FuzzUnfinished(f *testing.F) {
	f.Add("and")
	f.Add("\xff\xfe … ,")
	f.Fuzz(func(t *testing.T, words string) {
		if hear.Unfinished(words) && strings.TrimSpace(words) == "" {
			t.Errorf("%q is unfinished", words)
		}
	})
}
