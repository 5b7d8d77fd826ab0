package neural_test

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"earshot/internal/helper"
	"earshot/models/catalog"
	"earshot/models/neural"
)

// spells returns a set with such tokens.
func spells(t *testing.T, tokens string) catalog.Installed {
	t.Helper()
	is := catalog.Installed{Dir: t.TempDir(), Set: catalog.Set{Name: "kws", Files: map[string]catalog.File{"tokens": {Path: "tokens.txt"}}}}
	if err := os.WriteFile(is.File("tokens"), []byte(strings.Join(strings.Fields(tokens), " 7\n")+" 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return is
}

// cmu are the phones of the CMU dictionary with their stress, as a keyword model has them.
var cmu = "<blk> B CH D DH F G HH JH K L M N NG P R S SH T TH V W Y Z ZH sh ǐ " + func() string {
	var b strings.Builder
	for v := range strings.FieldsSeq("AA AE AH AO AW AY EH ER EY IH IY OW OY UH UW") {
		b.WriteString(v + "0 " + v + "1 " + v + "2 ")
	}
	return b.String()
}()

// TestKeywords: a phrase is spelt by its sounds, or by pieces of words; what cannot be spelt is left out.
func TestKeywords(t *testing.T) {
	const pieces = "<blk> <unk> ▁ A E I O U ▁S TO P ST OP ▁STO ▁T AL K ING ▁TALK ▁TALKING :B #C @D"
	for name, tt := range map[string]struct {
		tokens, phrase string
		want           []string
	}{
		"words":                    {cmu, "be quiet", []string{"B IY1 K W AY1 AH0 T", "B IY1 K W AY2 AH1 T"}},
		"a name of the dictionary": {cmu, "Earshot", []string{"IH1 R SH AA2 T", "IH0 R SH AA1 T"}},
		"a name of no dictionary":  {cmu, "Zaphod", []string{"Z AE1 F AA2 D", "Z AE2 F AA1 D"}},
		"a vowel with an r":        {cmu, "computer", []string{"K AH1 M P Y UW2 T ER0", "K AH0 M P Y UW1 T ER0", "K AH0 M P Y UW2 T ER1"}},
		"a mark in a name":         {cmu, "José", []string{"HH OW1 Z EY2", "HH OW2 Z EY1"}},
		"known and unknown words":  {cmu, "Hey, Zaphod!", []string{"HH EY1 Z AE1 F AA2 D", "HH EY1 Z AE2 F AA1 D"}},
		"no phone at all":          {cmu, "Ева", nil},
		"nothing":                  {cmu, " 42 ", nil},
		"a phone is missing":       {strings.ReplaceAll(cmu, "NG ", ""), "talking", nil},
		"the fewest pieces":        {pieces, "Stop talking", []string{"▁STO P ▁TALKING"}},
		"pieces of small letters":  {strings.ToLower(pieces), "stop", []string{"▁sto p"}},
		"pieces that do not fit":   {pieces, "stopper", nil},
		"marks of the library":     {pieces, "bcd", nil},
	} {
		t.Run(name, func(t *testing.T) {
			const known = "eat" // of which at least one spelling is there
			all, err := neural.Keywords(spells(t, tt.tokens+" T IY1 ▁EAT ▁eat"), []string{tt.phrase, known})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, k := range all {
				if k.Phrase == tt.phrase {
					got = append(got, strings.Join(k.Tokens, " "))
				}
			}
			if !slices.Equal(got, tt.want) || len(got) == len(all) {
				t.Errorf("%q is spelt %q, want %q; in all %v", tt.phrase, got, tt.want, all)
			}
		})
	}
}

// TestManySpellings: a long phrase has not more spellings than the library can follow, and each has all
// of its words.
func TestManySpellings(t *testing.T) {
	all, err := neural.Keywords(spells(t, cmu), []string{"Hatsune Miku Computer"})
	if err != nil || len(all) != 8 {
		t.Fatalf("%v, %v", all, err)
	}
	different := make(map[string]bool)
	for _, k := range all {
		different[strings.Join(k.Tokens, " ")] = true
		if last := k.Tokens[len(k.Tokens)-1]; !strings.HasPrefix(last, "ER") {
			t.Errorf("it is spelt %q", k.Tokens)
		}
	}
	if len(different) != 8 {
		t.Errorf("the spellings are %v", slices.Collect(maps.Keys(different)))
	}
}

// TestNoKeywords: a set that can spell nothing, and one whose files cannot be read, say so with a cure.
func TestNoKeywords(t *testing.T) {
	gone := spells(t, cmu)
	if err := os.Remove(gone.File("tokens")); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		set     catalog.Installed
		phrases []string
		want    string
	}{
		"another script": {spells(t, cmu), []string{"Ева"}, "the model kws cannot spell what it is to listen for"},
		"empty tokens":   {spells(t, ""), []string{"Earshot"}, "cannot spell"},
		"no phrases":     {spells(t, cmu), nil, "cannot spell"},
		"no tokens":      {gone, []string{"Earshot"}, "the model kws cannot be used: "},
	} {
		all, err := neural.Keywords(tt.set, tt.phrases)
		if err == nil || !strings.Contains(err.Error(), tt.want) || helper.NewFault(err).Cure == "" || !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v, %v", name, all, err)
		}
	}
}
