package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"earshot"
	"earshot/internal/testkit"
)

// A line is an expected line of the transcript.
type line struct {
	who  string
	text string // of a person, what was said; of the agent, all that was offered
	cut  bool
}

// TestAloudConversation: ten things are said aloud, and the agent is cut off three times. The
// history reads right, and of a reply that was cut off it shows what could be heard.
func TestAloudConversation(t *testing.T) {
	talks(t)
	p := newParlour(t)
	p.scripted(talker)
	p.wakes()
	r := rendered(t, tide...)
	flow := strings.Join(tide, "")
	called := map[person]string{ann: "somebody", bob: "voice 1", eve: "voice 2"} // at most: a speaker may also be shown as somebody
	var want []line
	replies := 0
	var checks []func() // run later: they take long, and the agent talks on only with those who do not keep it waiting
	says := func(who person, text, answer string) {
		t.Helper()
		p.says(who, text)
		want = append(want, line{called[who], text, false})
		if answer != "" {
			want, replies = append(want, line{"Earshot", answer, false}), replies+1
			p.replied(replies)
		}
	}
	cut := func(after int, who person, text, answer string) {
		t.Helper()
		recording := p.records()
		p.says(ann, "earshot, tell me about the tide")
		p.speaking(recording, after)
		p.says(who, text)
		replies++
		p.replied(replies)
		want = append(want, line{called[ann], "Earshot tell me about the tide", false}, line{"Earshot", flow, true}, line{called[who], text, false})
		if answer != "" {
			want, replies = append(want, line{"Earshot", answer, false}), replies+1
			p.replied(replies)
		}
		told, until := cutOff(p.journal()), recording.Len()+rate // including what is still on its way to the recording
		checks = append(checks, func() {
			pcm := recording.PCM(0)
			r.truthful(t, told, pcm[:min(until, len(pcm))])
		})
	}
	says(bob, "earshot, what is the weather like today", "It is warm and dry today.")
	says(bob, "and what about the morning", "The morning will be cold.")
	cut(1500, bob, "stop talking", "")
	cut(2500, eve, "earshot, what about the weather", "It is warm and dry today.")
	cut(800, bob, "hey earshot", "Yes?")
	says(bob, "what about the weather tomorrow", "It is warm and dry today.")
	p.sounds(hush(9000)) // so long that the agent no longer expects a follow-up
	says(bob, "shall we have lunch together", "")
	p.heard(10)
	for _, check := range checks {
		check()
	}

	shown := p.earshot(nil, "history", "-n", "100").out
	got := slices.DeleteFunc(strings.Split(strings.TrimSpace(shown), "\n"), func(row string) bool { return strings.HasSuffix(row, "[has joined]") })
	if len(got) != len(want) {
		t.Fatalf("history has %d lines, want %d:\n%s", len(got), len(want), shown)
	}
	slips, words, last := 0, 0, 0
	for i, w := range want {
		if last > 0 && w.who == "Earshot" && !w.cut && strings.HasSuffix(got[i], noLine) {
			w.text = noLine // the decisive word may be one of the misunderstood ones
		}
		n, err := w.fits(got[i])
		if err != nil {
			t.Errorf("line %d: %v: %q", i+1, err, got[i])
		}
		slips, words, last = slips+n, words+len(strings.Fields(w.text)), n
	}
	t.Logf("%d words were misunderstood; history shows\n%s", slips, shown)
	if slips > words/5 {
		t.Errorf("%d words were misunderstood", slips)
	}
}

// cutOff returns the last reply that was cut off.
func cutOff(events []earshot.Event) (last earshot.Reply) {
	for _, r := range testkit.Bodies[earshot.Reply](events) {
		if r.Outcome == earshot.Interrupted {
			last = r
		}
	}
	return last
}

// fits compares a line of the history with the expected one, and returns how many of a person's
// words were misunderstood.
func (l line) fits(got string) (slips int, err error) {
	row := lineOfHistory.FindStringSubmatch(got)
	if row == nil {
		return 0, errors.New("it is no line")
	}
	who, text := strings.TrimSuffix(row[1], "?"), row[2]
	if who != l.who && (who != "somebody" || l.who == "Earshot") { // nobody is recognised by a word or two
		return 0, fmt.Errorf("it is by %q, not by %q", who, l.who)
	}
	if l.who != "Earshot" {
		return wrong(marks.ReplaceAllString(text, ""), strings.ReplaceAll(l.text, ",", "")), nil
	}
	parts := cutMark.FindStringSubmatchIndex(text)
	cut, heard, rest := parts != nil, text, ""
	if cut {
		heard, rest = text[:parts[0]], text[parts[2]:parts[3]]
	}
	if cut != l.cut {
		return 0, fmt.Errorf("that it was cut off is %v", cut)
	}
	if whole := strings.TrimSpace(heard) + " " + rest; strings.TrimSpace(whole) != l.text {
		return 0, fmt.Errorf("it is not what was said: %q", whole)
	}
	return 0, nil
}

// marks match the remarks after what somebody has said, and cutMark the one after a reply that was
// cut off.
var (
	marks   = regexp.MustCompile(`( \[[^]]*\])+$`)
	cutMark = regexp.MustCompile(`\[cut off by [^;]*; not heard: (.*)\]$`)
)
