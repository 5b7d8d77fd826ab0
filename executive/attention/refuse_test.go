package attention_test

import (
	"testing"
	"time"

	"earshot"
	"earshot/executive/attention"
)

func TestRefusal(t *testing.T) {
	for _, tt := range []struct {
		text  earshot.Text
		lasts time.Duration
		is    bool
	}{
		{"not now", 0, true},
		{"Not now, Earshot!", 0, true},
		{"Be quiet for an hour, please.", time.Hour, true},
		{"be quiet for the next hour", time.Hour, true},
		{"Shush.", 0, true},
		{"hush for twenty minutes", 20 * time.Minute, true},
		{"be quiet for 45 minutes", 45 * time.Minute, true},
		{"leave us alone for half an hour", 30 * time.Minute, true},
		{"don't disturb us for two hours", 2 * time.Hour, true},
		{"be quiet for 9000 hours", 0, true}, // nobody means that
		{"be quiet for 30 days", 24 * time.Hour, true},
		{"what time is it", 0, false},
		{"I told him not now, since we had to be quiet for an hour in the library", 0, false},
		{"How do I turn on do not disturb?", 0, false},
		{"Not now? When, then?", 0, false},
		{"nothing", 0, false},
		{"", 0, false},
	} {
		lasts, is := attention.Refusal(tt.text)
		if lasts != tt.lasts || is != tt.is {
			t.Errorf("%q: %v, %v", string(tt.text), lasts, is)
		}
	}
}

// FuzzRead reads anything that people may say.
func FuzzRead(f *testing.F) {
	f.Add("Does anybody know?", "Ann")
	f.Add("how do you", "")
	f.Add("?", "?")
	f.Add("...at what", "a b c")
	f.Fuzz(func(t *testing.T, text, name string) {
		at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
		talk := attention.Read([]attention.Line{
			{At: at, Who: "a", Here: true, Text: earshot.Text(text)}, {At: at.Add(time.Second), Who: "b", Here: true, Text: earshot.Text(text)},
		}, []string{name}, "Earshot")
		if !talk.Last.Equal(at.Add(time.Second)) {
			t.Error("the last line was not read")
		}
		if _, _ = attention.Refusal(earshot.Text(text)); !talk.Asked.IsZero() && talk.Asked.Before(at) {
			t.Error("asked before anything was said")
		}
	})
}

// TestAQuestionIsOver: words after the answer, or much later, are not about the question.
func TestAQuestionIsOver(t *testing.T) {
	line := func(after time.Duration, who, text string) attention.Line {
		return attention.Line{At: noon.Add(after), Who: who, Here: true, Text: earshot.Text(text)}
	}
	asks := line(0, "ann", "Does anybody know how long eggs keep?")
	for _, tt := range []struct {
		name            string
		then            []attention.Line
		asked, answered bool
	}{
		{"asked", nil, true, false},
		{"answered", []attention.Line{line(time.Second, "bob", "Four weeks.")}, true, true},
		{"after that", []attention.Line{line(time.Second, "bob", "Four weeks."), line(2*time.Second, "bob", "Nice weather.")}, false, false},
		{"much later", []attention.Line{line(time.Hour, "bob", "Nice weather.")}, false, false},
	} {
		talk := attention.Read(append([]attention.Line{asks}, tt.then...), []string{"ann", "bob"}, "Earshot")
		if talk.Asked.IsZero() == tt.asked || talk.Answered != tt.answered {
			t.Errorf("%s: asked at %v, answered %v", tt.name, talk.Asked, talk.Answered)
		}
	}
}
