package models_test

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"earshot/internal/audio"
	"earshot/models/stt"
)

// sentences are what somebody may say to an assistant, one a line.
//
//go:embed testdata/sentences.txt
var sentences string

// calls are what somebody says to this one.
var calls = []string{
	"earshot what time is it", "hey earshot stop", "earshot stop talking", "okay earshot what do you see",
	"thank you earshot", "earshot", "earshot remind me to call john", "earshot stop",
}

// A score is what was understood of many sentences.
type score struct {
	words, wrong int
	sound, work  time.Duration // how long the sentences last, and how long they took
	calls, named int           // sentences with the name, and in which it was understood
	false_       int           // without it, in which it was
	confusions   []string
}

// hear has a sentence recognised. Its sound comes all at once.
func (c *score) hear(b *testing.B, r *stt.Recogniser, text string, pcm []int16) {
	const name = "earshot"
	sound := frames(pcm)
	c.sound += time.Duration(len(sound)) * audio.Time
	began := time.Now()
	final, _ := understand(b, r, sound, nil)
	c.work += time.Since(began)
	said, heard := strings.Fields(text), strings.Fields(spelt(string(final.Text)))
	wrong := distance(said, heard)
	if wrong > 0 {
		c.confusions = append(c.confusions, fmt.Sprintf("%q as %q (%.2f)", text, string(final.Text), final.Confidence))
	}
	named := slices.Contains(heard, name)
	switch {
	case slices.Contains(said, name):
		c.calls++
		if named {
			c.named++
		}
		return
	case named:
		c.false_++
	}
	c.words, c.wrong = c.words+len(said), c.wrong+wrong
}

// BenchmarkHear prints, for each voice, how many of a hundred words are
// misunderstood, what a second of sound costs, how many calls by name are
// understood, and in how many sentences the name is that was not said.
func BenchmarkHear(b *testing.B) {
	for _, voice := range voices {
		b.Run(voice, func(b *testing.B) {
			s, _ := mouth(b, voice, 0)
			r, h := ear(b, stt.Config{Names: []string{"earshot"}, Phrases: phrases})
			ready(b, r)
			idle := memory(b, h.process().Pid())
			var c score
			for range b.N {
				for _, text := range append(strings.Split(strings.TrimSpace(sentences), "\n"), calls...) {
					pcm, _ := say(b, s, text)
					c.hear(b, r, text, pcm)
				}
			}
			for _, line := range c.confusions {
				b.Log(line)
			}
			b.ReportMetric(100*float64(c.wrong)/float64(c.words), "%wrong")
			b.ReportMetric(c.work.Seconds()/c.sound.Seconds(), "rtf")
			b.ReportMetric(100*float64(c.named)/float64(c.calls), "%called")
			b.ReportMetric(float64(c.false_)/float64(b.N), "false-calls")
			b.ReportMetric(float64(idle), "MB-idle")
			b.ReportMetric(float64(memory(b, h.process().Pid())), "MB-busy")
		})
	}
}

// BenchmarkEnd prints how soon after its end an utterance is understood whose
// sound came as fast as somebody speaks.
func BenchmarkEnd(b *testing.B) {
	s, _ := mouth(b, "", 0)
	r, _ := ear(b, stt.Config{})
	ready(b, r)
	pcm, _ := say(b, s, plain[0])
	tick := time.NewTicker(audio.Time)
	defer tick.Stop()
	var all time.Duration
	for range b.N {
		done := make(chan time.Time, 1)
		u := r.Begin(func(res stt.Result) {
			if res.Final {
				done <- time.Now()
			}
		})
		for _, f := range frames(pcm) {
			<-tick.C
			u.Feed(f)
		}
		ended := time.Now()
		u.End()
		all += (<-done).Sub(ended)
	}
	b.ReportMetric(float64(all.Microseconds())/1000/float64(b.N), "ms/final")
}

// spelt returns a result with the spellings that the dictionary has more of than
// people.
func spelt(text string) string {
	return strings.NewReplacer("pm", "p m", "p.m.", "p m", ".", "").Replace(text)
}

// distance returns how many words must be changed, added or left out to make a
// into b.
func distance(a, b []string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		corner := row[0]
		row[0] = i + 1
		for j, y := range b {
			d := min(row[j], row[j+1]) + 1
			if x == y {
				d = min(d, corner)
			} else {
				d = min(d, corner+1)
			}
			corner, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
