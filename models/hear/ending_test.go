package hear_test

import (
	"os"
	"strings"
	"testing"

	"earshot/models/hear"
)

// A labelled ending is what a person makes of it.
type labelled struct {
	words, asked string
	want         hear.Ending
}

// endings reads those of testdata.
func endings(t *testing.T) (all []labelled) {
	text, err := os.ReadFile("testdata/endings.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]hear.Ending{}
	for e := hear.Finished; e <= hear.Waits; e++ {
		names[e.String()] = e
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		label, words, _ := strings.Cut(line, " ")
		words, asked, _ := strings.Cut(words, "#")
		want, known := names[label]
		if !known {
			t.Fatalf("%q is no ending", label)
		}
		all = append(all, labelled{strings.TrimSpace(words), strings.TrimSpace(asked), want})
	}
	return all
}

// TestEndings: how often the rules agree with a person, on the half that they
// were written with, and on the other.
func TestEndings(t *testing.T) {
	var agreed, of [2]int
	for i, l := range endings(t) {
		about := hear.Asks(l.asked)
		about.Name = "Earshot"
		got := hear.Judge(l.words, about)
		of[i%2]++
		if got == l.want {
			agreed[i%2]++
			continue
		}
		t.Logf("half %d: %q after %q is %v, a person says %v", i%2, l.words, l.asked, got, l.want)
	}
	t.Logf("agreed on %d of %d, and of those held out on %d of %d", agreed[0], of[0], agreed[1], of[1])
	if agreed[0] < of[0]*95/100 || agreed[1] < of[1]*85/100 || of[0]+of[1] < 100 {
		t.Error("that is too little")
	}
}

// TestAsks: what a question of the agent lets one expect.
func TestAsks(t *testing.T) {
	for said, want := range map[string]hear.Talk{
		"":                                  {},
		"It is five.":                       {},
		"Fine. What is your phone number?":  {Asked: true, Dictation: true},
		"How do you spell it?":              {Asked: true, Dictation: true},
		"Could you spell it?":               {Asked: true, Dictation: true},
		"Is that your number?":              {Asked: true},
		"What is your number? I need it.":   {},
		"What do you need from the shop?":   {Asked: true, List: true},
		"Shall I go on?":                    {Asked: true},
		"?":                                 {Asked: true},
		"I have your number. Shall I ring?": {Asked: true},
	} {
		if got := hear.Asks(said); got != want {
			t.Errorf("%q lets one expect %+v, want %+v", said, got, want)
		}
	}
}

// FuzzJudge gives it what recognisers may make of a noise.
func FuzzJudge(f *testing.F) {
	f.Add("and", "what else?", "Earshot")
	f.Add("\xff\xfe … ,", "?", "")
	f.Add("hey earshot hey", "", "hey earshot")
	f.Fuzz(func(t *testing.T, words, asked, name string) {
		about := hear.Asks(asked)
		about.Name = name
		got := hear.Judge(words, about)
		if got < hear.Finished || got > hear.Waits {
			t.Errorf("%q is %d", words, got)
		}
		if strings.TrimSpace(words) == "" && got > hear.Hanging {
			t.Errorf("nothing is %v", got)
		}
	})
}
