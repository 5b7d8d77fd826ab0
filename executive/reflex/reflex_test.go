package reflex_test

import (
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/executive/reflex"
)

func TestRecognise(t *testing.T) {
	for _, tt := range []struct {
		text earshot.Text
		want reflex.Kind
	}{
		{"stop", reflex.Stop},
		{"Stop!", reflex.Stop},
		{"Earshot, stop.", reflex.Stop},
		{"please stop, Earshot", reflex.Stop},
		{"hey earshot: be quiet, please", reflex.Quiet},
		{"What's the time?", reflex.Clock},
		{"what time is it", reflex.Clock},
		{"What were you saying?", reflex.Resume},
		{"Sorry, what were you saying?", reflex.Resume},
		{"what were you saying before I interrupted you?", reflex.Resume},
		{"ok, go on then", reflex.Resume},
		{"Earshot, please continue", reflex.Resume},
		{"thanks. continue with what you were saying", reflex.Resume},
		{"could you pick up where you left off?", reflex.Resume},
		{"so where were we", reflex.Resume},
		{"what were you just saying?", reflex.Resume},
		{"What was that you were saying?", reflex.Resume},
		{"what were you saying about the tides?", reflex.Resume},
		{"go on with the story", reflex.Resume},
		{"Continue your story, please.", reflex.Resume},
		{"please finish your previous answer", reflex.Resume},
		{"hm, go on", reflex.Resume},
		{"I'd like you to continue", reflex.Resume},
		{"you were interrupted, go on", reflex.Resume},
		{"continue from where you were interrupted", reflex.Resume},
		{"wait, what were you saying?", reflex.Resume},
		{"no, go on", reflex.Resume},
		{"mm-hm, ok, go on", reflex.Resume},
		{"Perfect. Please carry on.", reflex.Resume},
		{"I cut you off, sorry. Continue.", reflex.Resume},
		{"sorry for cutting you off, please go on", reflex.Resume},
		{"Go on, I'm listening.", reflex.Resume},
		{"You didn't finish.", reflex.Resume},
		{"thanks, that is all. Now please go back to what you were saying about the tides before I interrupted you", reflex.Resume},
		{"I want you to stop, and please never, in whatever I may ask you this evening, go on again", reflex.None},
		{"wait", reflex.Moment},
		{"no", reflex.None},
		{"please wait", reflex.Moment},
		{"hold on a trip", reflex.None},
		{"wait and go on a trip", reflex.None},
		{"finish the dishes", reflex.None},
		{"tell me about you", reflex.None},
		{"go on about it at length", reflex.None},
		{"what were you saying about Bob", reflex.Resume},
		{"continue the story of the fox", reflex.None},
		{"go on a diet", reflex.None},
		{"and", reflex.None},
		{"HELP", reflex.Help},
		{"Earshot, follow me.", reflex.Follow},
		{"I'm over here!", reflex.Follow},
		{"please go on in here", reflex.Follow},
		{"follow me on the internet", reflex.None},
		{"come here", reflex.None},
		{"stop the music and tell me about tides", reflex.None},
		{"what time is it in Lima", reflex.None},
		{"", reflex.None},
		{"earshot", reflex.Called},
		{"hey Earshot?", reflex.Called},
		{"please", reflex.None},
		{earshot.Text(strings.Repeat("please ", 5000) + "stop"), reflex.None},
	} {
		t.Run(string(tt.text[:min(len(tt.text), 40)]), func(t *testing.T) {
			if got := reflex.Recognise(tt.text, "Earshot"); got != tt.want {
				t.Errorf("recognised %v, want %v", got, tt.want)
			}
		})
	}
}

func TestAnswer(t *testing.T) {
	now := time.Date(2026, 3, 1, 15, 4, 0, 0, time.UTC)
	cut := &earshot.Reply{Offered: "The tides come and go.", Heard: []earshot.Delivery{{Outlet: "console", Bytes: 9}}}
	facts := reflex.Facts{
		Agent: "Earshot", Now: now, Works: []string{"console"}, Said: cut, Cut: cut,
		Faults: []earshot.Notice{{Key: "model", Text: "no model answers", Cure: "ollama serve"}},
		Lately: []reflex.Line{{Name: "Ann", Text: "hello\nthere", At: now.Add(-time.Minute)}},
	}
	for _, tt := range []struct {
		name  string
		kind  reflex.Kind
		facts reflex.Facts
		want  string
	}{
		{"clock", reflex.Clock, facts, "It is 15:04."},
		{"name", reflex.Called, facts, "Yes?"},
		{"date", reflex.Date, facts, "It is Sunday, 1 March 2026."},
		{"status", reflex.Status, facts, "This works: console.\nThis does not: the model. To mend it: ollama serve"},
		{"status when all is well", reflex.Status, reflex.Facts{Works: []string{"console"}}, "This works: console. Nothing is missing."},
		{"lately", reflex.Lately, facts, "15:03 Ann: hello there"},
		{"nothing lately", reflex.Lately, reflex.Facts{}, "Nothing was said of late."},
		{"repeat what was heard", reflex.Repeat, facts, "The tides"},
		{"nothing to repeat", reflex.Repeat, reflex.Facts{}, "I have not said anything yet."},
		{"the sentence that was cut", reflex.Resume, facts, "The tides come and go."},
		{"no remainder", reflex.Resume, reflex.Facts{}, "I had said all I wanted to say."},
		{"cut before it knew more", reflex.Resume, reflex.Facts{Cut: &earshot.Reply{Offered: "The tides", Heard: []earshot.Delivery{{Bytes: 9}}, Cut: &earshot.Interruption{}}}, `I was cut off after "The tides" and had not thought further.`},
		{"cut before it began", reflex.Resume, reflex.Facts{Cut: &earshot.Reply{Cut: &earshot.Interruption{}}}, "I was cut off before I began."},
		{"stop says nothing", reflex.Stop, facts, ""},
		{"quiet says nothing", reflex.Quiet, facts, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := reflex.Answer(tt.kind, tt.facts); got != tt.want {
				t.Errorf("answered %q, want %q", got, tt.want)
			}
		})
	}
	if help := reflex.Answer(reflex.Help, facts); !strings.Contains(help, "/exit") {
		t.Errorf("help says %q", help)
	}
}

func FuzzRecognise(f *testing.F) {
	f.Add("please stop, earshot", "Earshot")
	f.Fuzz(func(t *testing.T, text, agent string) {
		if k := reflex.Recognise(earshot.Text(text), agent); k < reflex.None || k > reflex.Help {
			t.Errorf("recognised %d", k)
		}
	})
}
