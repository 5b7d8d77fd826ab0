package room_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/speakers"
)

// choir is ears that can be told whose voices they hear, and that note what they were told.
type choir struct {
	ears
	told  []string
	short bool // too little was heard of anybody
}

func (c *choir) Known() (all []speakers.Speaker) {
	for _, n := range []int{3, 5} {
		s, _ := c.Speaker(voiceOf(n))
		all = append(all, s)
	}
	return all
}

func (c *choir) tell(what string, h earshot.Handle, who earshot.ParticipantID, said speakers.Attestation) (speakers.Change, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, fmt.Sprintf("%s %s %s by %s", what, h.ID, who, said.By))
	return speakers.Change{Voice: h, Who: who, Said: said}, nil
}

func (c *choir) Name(h earshot.Handle, who earshot.ParticipantID, said speakers.Attestation) (speakers.Change, error) {
	return c.tell("name", h, who, said)
}

func (c *choir) Enrol(who earshot.ParticipantID, consent speakers.Attestation, voices ...earshot.Handle) (speakers.Change, error) {
	if c.short {
		return speakers.Change{}, errors.New("too little was heard")
	}
	return c.tell("enrol", voices[0], who, consent)
}

func (c *choir) Teach(_ time.Time, who earshot.ParticipantID, said speakers.Attestation) (speakers.Change, error) {
	return c.tell("teach", earshot.Handle{}, who, said)
}

func (c *choir) Forget(h earshot.Handle, said speakers.Attestation) (speakers.Change, error) {
	return c.tell("forget", h, "", said)
}

// commands gives a command as somebody at a console, and returns the answer.
func (h *house) commands(t *testing.T, who, text string) string {
	t.Helper()
	name, args, _ := strings.Cut(text, " ")
	from := handle(who)
	if who == "voice 3" {
		from = voiceOf(3)
	}
	answer, err := h.Do(t.Context(), earshot.Event{From: from, Body: earshot.Command{Name: name, Args: earshot.Text(args)}})
	synctest.Wait()
	if err != nil {
		return "error: " + err.Error()
	}
	return answer
}

// TestVoiceCommand: a participant who is known by more than a voice may say to whom a voice belongs.
// Only that person may have their voice kept, and only they and the owner may have it forgotten.
func TestVoiceCommand(t *testing.T) {
	for _, tt := range []struct{ by, text, want, told string }{
		{"ann", "voice", "voice 3: somebody unknown\nvoice 5: bob", ""},
		{"ann", "voice name 3 bob", "", "name 03 bob by owner"},
		{"bob", "voice name voice 3 me", "", "name 03 bob by bob"},
		{"bob", "voice name 3 ann", "", "name 03 owner by bob"},
		{"voice 3", "voice name 3 ann", "error: somebody who is known only by a voice cannot say whose voice it is", ""},
		{"nobody", "voice name 3 ann", "error: somebody who is known only by a voice cannot say whose voice it is", ""},
		{"ann", "voice name 7 bob", "error: which voice?", ""},
		{"ann", "voice name 3 Zoe", "error: nobody is called Zoe", ""},
		{"ann", "voice name 3 Earshot", "error: \"Earshot\" is not a person", ""},
		{"ann", "voice name 5 ann", "error: ", ""},
		{"ann", "voice unname 5", "voice 5 is unknown again.", "name 05  by owner"},
		{"ann", "voice keep 3", "error: the owner of voice 3 is not known", ""},
		{"ann", "voice keep 5", "error: only bob can say whether their voice is kept", ""},
		{"bob", "voice keep 5", "I keep what your voice sounds like", ""},
		{"bob", "voice keep 5 yes", "Your voice is kept", "enrol 05 bob by bob"},
		{"bob", "voice forget 5", "What voice 5 sounds like is forgotten", "forget 05  by bob"},
		{"ann", "voice forget 5", "What voice 5 sounds like is forgotten", "forget 05  by owner"},
		{"dave", "voice forget 5", "error: only bob or the owner", ""},
		{"ann", "voice sing 3", "error: write /voice", ""},
	} {
		t.Run(tt.by+": "+tt.text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				c := new(choir)
				h.voices, h.people = c, registry(t, "bob", "dave")
				voiced(t, h)
				h.hearsOf(t, 3, "shall we have lunch", time.Second)
				h.hearsOf(t, 5, "at one then", time.Second)
				h.name(t, ann, 5, "bob")
				got := h.commands(t, tt.by, tt.text)
				h.stop()
				if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
					t.Errorf("answered %q, want %q", got, tt.want)
				}
				if told := strings.Join(c.told, ", "); told != tt.told {
					t.Errorf("the book was told %q, want %q", told, tt.told)
				}
			})
		})
	}
}

// TestConsentAloud: a voice is kept when the person whose it is asks for that, and agrees to what
// it means. It is never kept at the word of another voice or of somebody unknown, or too late.
func TestConsentAloud(t *testing.T) {
	type line struct {
		voice int
		text  string
		after time.Duration
	}
	for _, tt := range []struct {
		name  string
		said  []line
		short bool
		told  string
		ends  string // how the last thing the agent says begins
	}{
		{"asked and agreed", []line{{5, "earshot remember my voice", 0}, {5, "yes please", time.Second}}, false, "enrol 05 bob by bob", "Thank you, bob."},
		{"this is bob", []line{{5, "earshot this is bob speaking", 0}, {5, "yes", time.Second}}, false, "enrol 05 bob by bob", "Thank you, bob."},
		{"too little was heard", []line{{5, "earshot remember my voice", 0}, {5, "yes", time.Second}}, true, "", "I have not heard enough"},
		{"somebody unknown", []line{{3, "earshot remember my voice", 0}, {3, "yes", time.Second}}, false, "", ""},
		{"another agrees", []line{{5, "earshot remember my voice", 0}, {3, "earshot yes", time.Second}}, false, "", ""},
		{"something else first", []line{{5, "earshot remember my voice", 0}, {5, "what time is it", time.Second}, {5, "yes", time.Second}}, false, "", ""},
		{"too late", []line{{5, "earshot remember my voice", 0}, {5, "earshot yes", 2 * time.Minute}}, false, "", ""},
		{"nobody asked", []line{{5, "earshot yes", 0}}, false, "", ""},
		{"she is not bob", []line{{3, "earshot this is bob speaking", 0}, {3, "yes", time.Second}}, false, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				c := &choir{short: tt.short}
				h.voices, h.people = c, registry(t, "bob")
				voiced(t, h)
				h.hearsOf(t, 5, "at one then", time.Second)
				h.name(t, ann, 5, "bob")
				for _, l := range tt.said {
					time.Sleep(l.after)
					h.hearsOf(t, l.voice, l.text, time.Second)
					for h.state().Speaking {
						time.Sleep(time.Second)
					}
				}
				h.stop()
				if told := strings.Join(c.told, ", "); told != tt.told {
					t.Errorf("the book was told %q, want %q", told, tt.told)
				}
				all := h.replies()
				if last := all[len(all)-1]; !strings.HasPrefix(string(last.Offered), tt.ends) {
					t.Errorf("it said %q last", string(last.Offered))
				}
			})
		})
	}
}

// TestThatWasBob: somebody who says whose words these were teaches the registry of voices, and the
// words are that person's from then on. A voice cannot do that.
func TestThatWasBob(t *testing.T) {
	for _, tt := range []struct{ by, text, want string }{
		{"ann", "correct that was Bob", "bob"}, {"bob", "correct no, that was me", "bob"}, {"ann", "correct it was bob, not me", "bob"},
		{"voice 3", "correct that was Bob", "voice 3"}, {"nobody", "correct that was Bob", "voice 3"},
	} {
		t.Run(tt.by+": "+tt.text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				c := new(choir)
				h.voices, h.people = c, registry(t, "bob")
				voiced(t, h)
				h.hearsOf(t, 3, "earshot count", 3*time.Second)
				answer := h.commands(t, tt.by, tt.text)
				time.Sleep(time.Second)
				h.hearsOf(t, 3, "earshot count again", 3*time.Second)
				h.stop()
				seen := h.model.Seen()
				if got := dialogue(seen[len(seen)-1]); !strings.Contains(got, "[FROM: "+tt.want+" TO: Earshot] Earshot count\n") {
					t.Errorf("answered %q; the model reads %s", answer, got)
				}
				var whose []earshot.Attribution
				for _, e := range h.journal.Events() {
					if w, ok := e.Body.(earshot.Attribution); ok {
						whose = append(whose, w)
						if !slices.Equal(e.Sources, []earshot.EventID{w.Of}) || e.Author != w.By {
							t.Errorf("written down is %+v", e)
						}
					}
				}
				if wants := tt.want == "bob"; wants != (len(whose) == 1) || wants != (len(c.told) == 1) {
					t.Errorf("written down is %+v, the book was told %q", whose, c.told)
				}
			})
		})
	}
}
