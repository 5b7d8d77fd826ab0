package room_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
)

// A heardSound is what a microphone told a room about a sound that was heard while the agent spoke.
// It has what a real recogniser, ear and judge of voices made of that sound.
type heardSound struct {
	name string // "cuts: …", or "goes on: …"
	told []heardLine
}

// A heardLine is one thing that the microphone told, and how long after the beginning of the sound.
type heardLine struct {
	after, from time.Duration
	body        earshot.Body
}

var (
	heardTitle = regexp.MustCompile(`(?m)^-- (.*) --$`)
	heardStage = regexp.MustCompile(`^([\d.]+) from ([\d.]+) (\w+)$`)
	heardWords = regexp.MustCompile(`^([\d.]+) from ([\d.]+) (words|calls) by (\w+) stable (\w+) words (".*")$`)
	heardWhole = regexp.MustCompile(`^([\d.]+) from ([\d.]+) utterance by (\w+) sure ([\d.]+) lasted ([\d.]+) own ([\d.]+) words (".*")$`)
)

// heard reads testdata/heard.txt, which bench writes.
func heard(t *testing.T) (all []heardSound) {
	data, err := os.ReadFile("testdata/heard.txt")
	if err != nil {
		t.Fatal(err)
	}
	titles := heardTitle.FindAllStringSubmatchIndex(string(data), -1)
	for i, at := range titles {
		end := len(data)
		if i+1 < len(titles) {
			end = titles[i+1][0]
		}
		h := heardSound{name: string(data[at[2]:at[3]])}
		for line := range strings.Lines(string(data[at[1]:end])) {
			if line = strings.TrimSpace(line); line != "" {
				h.told = append(h.told, heardOf(t, line))
			}
		}
		all = append(all, h)
	}
	return all
}

// heardOf returns what one line of the file says.
func heardOf(t *testing.T, line string) heardLine {
	if m := heardStage.FindStringSubmatch(line); m != nil {
		return heardLine{seconds(t, m[1]), seconds(t, m[2]), earshot.Speech{Stage: earshot.Stage(m[3]), Confidence: 0.8, Own: true}}
	}
	if m := heardWords.FindStringSubmatch(line); m != nil {
		return heardLine{seconds(t, m[1]), seconds(t, m[2]), earshot.Speech{
			Stage: earshot.Stage(m[3]), Words: quoted(t, m[6]), Confidence: 0.6, Own: true, Stable: m[5] == "true", Voice: heardVoice(m[4]),
		}}
	}
	m := heardWhole.FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("what does %q say?", line)
	}
	return heardLine{seconds(t, m[1]), seconds(t, m[2]), earshot.Utterance{
		Text: quoted(t, m[7]), Confidence: seconds(t, m[4]).Seconds(), Lasted: seconds(t, m[5]), Own: seconds(t, m[6]).Seconds(), Voice: heardVoice(m[3]),
	}}
}

func seconds(t *testing.T, s string) time.Duration {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(f * float64(time.Second)).Round(time.Millisecond)
}

func quoted(t *testing.T, s string) earshot.Text {
	text, err := strconv.Unquote(s)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return earshot.Text(text)
}

// askers is the voice of the person whom the agent is in talk with.
const askers = 3

// heardVoice returns a voice as [ears] tell voices apart, or nil if too little was heard of it.
func heardVoice(by string) *earshot.Voice {
	prints := map[string]float32{"anybody": 0, "asker": askers, "other": 5, "unlike": unlikePrint}
	if by == "nobody" {
		return nil
	}
	return &earshot.Voice{Print: []float32{prints[by]}, Heard: time.Second}
}

// TestHeard replays what was heard while the agent speaks. People who speak to the agent must cut
// it off. After coughs, music, "mm-hm", televisions and people who talk to each other it must go
// on; of sixty of each, two may fail.
func TestHeard(t *testing.T) {
	const goal = 2
	held := make(map[string][]string)
	for _, h := range heard(t) {
		var got string
		t.Run(h.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { got = h.perform(t) })
			if strings.HasPrefix(h.name, "cuts:") && got != "cut" {
				t.Errorf("it was told %s at last", got)
			}
		})
		if kind, one, is := strings.Cut(strings.TrimPrefix(h.name, "goes on: "), ","); is && strings.HasPrefix(h.name, "goes on:") && got != "goes on" {
			held[kind] = append(held[kind], one+": "+got)
		}
	}
	for kind, those := range held {
		t.Logf("of those %s, it does not go on after%s", kind, strings.Join(those, ","))
		if len(those) > goal {
			t.Errorf("of sixty %s, it does not go on after %d", kind, len(those))
		}
	}
}

// perform replays h while the agent speaks, and returns whether the agent was cut off, stays
// paused, or goes on.
func (h heardSound) perform(t *testing.T) string {
	house := listening()
	house.model.Reply = strings.Repeat("one two three four five six seven ", 80)
	_, v := voiced(t, house)
	defer house.stop()
	house.hearsOf(t, askers, "earshot count", time.Second)
	began := time.Now()
	for _, l := range h.told {
		time.Sleep(time.Until(began.Add(l.after)))
		e := earshot.Event{From: mic, Via: "loudspeaker", At: began.Add(l.from), Body: l.body}
		if err := house.Admit(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
	}
	time.Sleep(time.Second)
	told := v.Told()
	switch {
	case slices.Contains(told, earshot.Cut):
		return "cut"
	case len(told) > 0 && told[len(told)-1] == earshot.Pause:
		return fmt.Sprint("paused, after ", len(told))
	}
	return "goes on"
}
