package hear_test

import (
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot/models/hear"
)

// A labelled is a text with the ending that a person gave it.
type labelled struct {
	words, asked string
	want         hear.Ending
}

// endings reads the labelled texts in testdata.
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

// TestEndings: how often the rules agree with a person, both on the half that they were written
// with and on the half that was held out.
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

// TestLacks: words that could end here, but rarely do, are not taken for finished; similar words
// that do end are.
func TestLacks(t *testing.T) {
	for _, tt := range []struct {
		words string
		want  hear.Ending
	}{
		// a verb without the object that it needs
		{"set a timer", hear.Unclear},
		{"set a timer for ten minutes", hear.Finished},
		{"could you please set an alarm", hear.Unclear},
		{"could you please set an alarm for seven", hear.Finished},
		{"and then put the milk", hear.Unclear},
		{"put the milk on the list", hear.Finished},
		{"turn the lights", hear.Unclear},
		{"turn the lights off", hear.Finished},
		{"set a timer please", hear.Finished}, // somebody who says please is done
		{"repeat that sentence", hear.Finished},

		// a clause with its subject, but not yet its verb
		{"when does the train", hear.Unclear},
		{"when does the train leave", hear.Finished},
		{"when does the next train to the city", hear.Unclear},
		{"when does the next train to the city leave", hear.Finished},
		{"when does the train go to the city", hear.Finished},
		{"where does the dog sleep in the summer", hear.Finished},
		{"do the keys on the table", hear.Unclear},
		{"do you know whether the next train", hear.Unclear},
		{"what happened after the war", hear.Finished},
		{"is that the door", hear.Finished},
		{"do you know whether the train leaves soon", hear.Finished},
		{"tell them that we left because the children", hear.Unclear},

		{"tell him that", hear.Hanging},
		{"what happens when", hear.Hanging},
		{"tell me when", hear.Finished},
		{"when you have time", hear.Unclear},
		{"when do you have time", hear.Finished},

		// a noun with a relative clause, and no more
		{"play the song that we heard", hear.Unclear},
		{"play the song that we heard yesterday", hear.Finished},
		{"do you remember what we said", hear.Finished},

		// a statement that ends with a time
		{"i went to the market", hear.Unclear},
		{"i went to the market this morning", hear.Finished},
		{"he told me about it yesterday", hear.Finished},
		{"because we met today", hear.Unclear},
		{"yesterday we met", hear.Unclear},
		{"the red one today", hear.Finished},
		{"not today", hear.Unclear},
		{"they close every sunday", hear.Finished},
	} {
		if got := hear.Judge(tt.words, hear.Talk{}); got != tt.want {
			t.Errorf("%q is %v, want %v", tt.words, got, tt.want)
		}
	}
}

// TestJudgeIsPolite: whatever was said, "and" leaves it open, and "please" does not make a finished
// question or command unfinished.
func TestJudgeIsPolite(t *testing.T) {
	var words []string
	for _, l := range endings(t) {
		words = append(words, strings.Fields(l.words)...)
	}
	rapid.Check(t, func(t *rapid.T) {
		said := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 12).Draw(t, "said"), " ")
		if got := hear.Judge(said+" and", hear.Talk{}); got < hear.Hanging {
			t.Errorf("%q and is %v", said, got)
		}
		if bare, polite := hear.Judge(said, hear.Talk{}), hear.Judge(said+" please", hear.Talk{}); bare == hear.Finished && polite != hear.Finished {
			t.Errorf("%q is finished, and with please it is %v", said, polite)
		}
	})
}

// TestAsks: which kind of answer a question of the agent leads one to expect.
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

// FuzzJudge gives Judge what recognisers may make of a noise.
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
