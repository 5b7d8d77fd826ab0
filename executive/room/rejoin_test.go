package room_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/addressing"
	"earshot/executive/attention"
	"earshot/executive/reason"
	"earshot/llm"
	"earshot/llm/llmtest"
)

// says lets the room hear something that lasted half a second, and that ended as long ago as an ear
// waits.
func (h *house) says(t *testing.T, text string) {
	t.Helper()
	const ear = 200 * time.Millisecond
	at := time.Now().Add(-ear - 500*time.Millisecond)
	err := h.Admit(t.Context(), earshot.Event{From: mic, Via: "loudspeaker", At: at, Body: earshot.Utterance{
		Text: earshot.Text(text), Confidence: 0.9, Lasted: 500 * time.Millisecond,
	}})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// begins lets a voice begin and say words.
func (h *house) begins(t *testing.T, words string) {
	t.Helper()
	h.notices(t, earshot.Speech{Stage: earshot.VoiceBegan, Confidence: 0.5})
	h.notices(t, earshot.Speech{Stage: earshot.VoiceLasts, Confidence: 0.8})
	h.notices(t, earshot.Speech{Stage: earshot.VoiceWords, Words: earshot.Text(words), Confidence: 0.6})
}

// told returns the lines of people in the last request to the model, without their names.
func (h *house) told() (all []string) {
	seen := h.model.Seen()
	for _, m := range seen[len(seen)-1].Messages {
		if e, ok := conversation.Parse(m.Text); ok && m.Role == llm.User {
			all = append(all, string(e.Text))
		}
	}
	return all
}

// outcomesOf returns how the turns ended, with a "!" behind each that somebody cut.
func outcomesOf(h *house) string {
	var all []string
	for _, r := range h.replies() {
		cut := ""
		if r.Cut != nil {
			cut = "!"
		}
		all = append(all, string(r.Outcome)+cut)
	}
	return strings.Join(all, " ")
}

// TestRejoin: somebody who only paused in a sentence has said one sentence, and is answered once.
func TestRejoin(t *testing.T) {
	for _, tt := range []struct {
		name    string
		does    func(*testing.T, *house)
		turns   string // "!" says that it was cut by somebody
		last    string // the lines of the dialogue that the last answer is to
		goes    string // "+" for each utterance that goes on with the one before, otherwise "-"
		replied int    // bytes of the first reply that were delivered
	}{
		{"before anything was heard", func(t *testing.T, h *house) {
			h.says(t, "earshot my name is john")
			h.begins(t, "john")
			time.Sleep(800 * time.Millisecond)
			h.says(t, "doe")
		}, "suppressed completed", "Earshot my name is john doe", "-+", 0},
		{"twice", func(t *testing.T, h *house) {
			h.says(t, "earshot my name is john")
			h.begins(t, "adam")
			time.Sleep(800 * time.Millisecond)
			h.says(t, "adam")
			h.begins(t, "doe")
			time.Sleep(800 * time.Millisecond)
			h.says(t, "doe")
		}, "suppressed suppressed completed", "Earshot my name is john adam doe", "-++", 0},
		{"it was nothing", func(t *testing.T, h *house) {
			h.says(t, "earshot my name is john")
			h.begins(t, "uh huh")
			time.Sleep(800 * time.Millisecond)
			h.notices(t, earshot.Speech{Stage: earshot.VoiceOver})
		}, "completed", "Earshot my name is john", "-", 18},
		{"after something was heard", func(t *testing.T, h *house) {
			h.says(t, "earshot my name is john")
			time.Sleep(60 * time.Millisecond)
			h.begins(t, "doe i mean")
			time.Sleep(800 * time.Millisecond)
			h.says(t, "doe i mean")
		}, "interrupted! completed", "Earshot my name is john|doe i mean", "--", 2},
		{"long after", func(t *testing.T, h *house) {
			h.model.Every = 3 * time.Second
			h.says(t, "earshot my name is john")
			time.Sleep(2 * time.Second)
			h.begins(t, "doe i mean")
			time.Sleep(800 * time.Millisecond)
			h.says(t, "doe i mean")
		}, "interrupted! completed", "Earshot my name is john|doe i mean", "--", 0},
		{"by name", func(t *testing.T, h *house) {
			h.says(t, "earshot what is your name")
			h.begins(t, "earshot")
			time.Sleep(800 * time.Millisecond)
			h.says(t, "earshot count")
		}, "interrupted! completed", "Earshot what is your name|Earshot count", "--", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, _ := voiced(t, newHouse())
				tt.does(t, h)
				time.Sleep(time.Minute)
				h.stop()
				if got := outcomesOf(h); got != tt.turns {
					t.Errorf("turns %q, want %q", got, tt.turns)
				}
				var said []string
				for _, line := range h.told() {
					if !strings.Contains(line, "cut you off") {
						said = append(said, line)
					}
				}
				if got := strings.Join(said, "|"); got != tt.last {
					t.Errorf("the model read %q, want %q", got, tt.last)
				}
				if got := continued(h.journal.Events()); got != tt.goes {
					t.Errorf("utterances %q, want %q", got, tt.goes)
				}
				if got := len(h.replies()[0].Delivered()); got != tt.replied {
					t.Errorf("%d bytes of the first reply were delivered, want %d", got, tt.replied)
				}
			})
		})
	}
}

// continued draws for each utterance a "+" if it goes on with the one before, and a "-" if it does
// not.
func continued(events []earshot.Event) (goes string) {
	var last earshot.EventID
	for _, e := range events {
		if u, ok := e.Body.(earshot.Utterance); ok {
			goes += map[bool]string{true: "+", false: "-"}[u.Continues != "" && u.Continues == last]
			last = e.ID
		}
	}
	return goes
}

// TestRejoinAfterAKill: wherever the program ends between the parts of a sentence, they are one
// sentence after a restart, and nothing of it is lost.
func TestRejoinAfterAKill(t *testing.T) {
	var events []earshot.Event
	synctest.Test(t, func(t *testing.T) {
		h, _ := voiced(t, newHouse())
		h.says(t, "earshot my name is john")
		h.begins(t, "doe")
		time.Sleep(800 * time.Millisecond)
		h.says(t, "doe")
		time.Sleep(time.Minute)
		h.stop()
		events = h.journal.Events()
	})
	for n := range len(events) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.past, h.ids = events[:n], 100
				h.journal.From(int64(n))
				voiced(t, h)
				h.says(t, "earshot what is my name")
				time.Sleep(time.Minute)
				h.stop()
				want, parts := "", 0
				for _, e := range events[:n] {
					if u, ok := e.Body.(earshot.Utterance); ok {
						want, parts = strings.TrimSpace(want+" "+string(u.Text)), parts+1
					}
				}
				if got := h.told()[0]; parts > 0 && got != want {
					t.Errorf("the model read %q, want %q", got, want)
				}
			})
		})
	}
}

// TestACommandGoesOnWithNothing: somebody who tells the agent to be silent right after a question
// gives a command, which does not go on with the question.
func TestACommandGoesOnWithNothing(t *testing.T) {
	for _, tt := range []struct{ says, why, then string }{
		{"be quiet", reason.Commanded, reason.Hushed},
		{"wait", reason.Commanded, reason.Follows},
		{"not now", attention.ToldNo, reason.Follows},
	} {
		t.Run(tt.says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, _ := voiced(t, newHouse())
				h.model.Every = time.Second
				h.says(t, "earshot what is the weather")
				h.begins(t, tt.says)
				time.Sleep(500 * time.Millisecond)
				h.says(t, tt.says)
				time.Sleep(5 * time.Second)
				h.hears(t, "and what is new", 0, time.Minute)
				h.stop()
				if got, want := h.reasons(), []string{addressing.Named, tt.why, tt.then}; !slices.Equal(got, want) {
					t.Errorf("decided %q, want %q", got, want)
				}
				if got := continued(h.journal.Events()); got != "---" {
					t.Errorf("utterances %q", got)
				}
			})
		})
	}
}

// TestDoneIsDone: what a tool has done for a part of a sentence stays done. The answer to that part
// is thrown away all the same, however far it is, and the model that answers the whole sentence is
// told what was done.
func TestDoneIsDone(t *testing.T) {
	for _, tt := range []struct {
		name  string
		after time.Duration // from the first part to the second; the tool is used at 0.8 s
		told  bool          // the model is told that it was used
	}{
		{"before the tool", 700 * time.Millisecond, false}, {"before the next word", time.Second, true}, {"after it", 1900 * time.Millisecond, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				h.model = &llmtest.Script{Reply: "It is done.", Rules: []llmtest.Rule{{
					When: "remind me", Calls: []llm.Call{{Tool: "remind", Arguments: []byte(`{"action":"set","text":"something","in_seconds":600}`)}},
				}}, Every: 800 * time.Millisecond}
				h.people = heardBob(t)
				voiced(t, h)
				h.says(t, "earshot remind me in ten minutes")
				h.begins(t, "to call ann")
				time.Sleep(tt.after)
				h.says(t, "to call ann")
				time.Sleep(time.Minute)
				h.stop()
				if got := outcomesOf(h); got != "suppressed completed" {
					t.Errorf("turns %q", got)
				}
				seen := h.model.Seen()
				last := seen[len(seen)-1]
				told := slices.ContainsFunc(last.Messages, func(m llm.Message) bool {
					return m.Role == llm.System && strings.Contains(m.Text, "had used remind for it")
				})
				if told != tt.told {
					t.Errorf("the model reads %s", dialogue(last))
				}
			})
		})
	}
}
