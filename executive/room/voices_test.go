package room_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/addressing"
	"earshot/executive/reason"
	"earshot/executive/tool"
	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/participants"
	"earshot/speakers"
)

// ears tell voices apart by the first number of their print: 0 is a voice that cannot be told, 98
// one that is like no known voice, and 99 the agent's own.
type ears struct {
	mu     sync.Mutex
	judged int
	known  map[float32]bool
}

const (
	unlikePrint = 98
	ownPrint    = 99
)

func voiceOf(n int) earshot.Handle {
	return earshot.Handle{Provider: "voice", ID: fmt.Sprintf("%02d", n)}
}

func (e *ears) Whose(v *earshot.Voice, at time.Time) speakers.Judgement {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.judged++
	j := e.Guess(v, at)
	if j.New = j.Speaker.ID != "" && !e.known[v.Print[0]]; j.New && e.known == nil {
		e.known = make(map[float32]bool)
	}
	if j.New {
		e.known[v.Print[0]] = true
	}
	return j
}

func (e *ears) Guess(v *earshot.Voice, _ time.Time) speakers.Judgement {
	switch n := int(v.Print[0]); n {
	case 0:
		return speakers.Judgement{}
	case unlikePrint:
		return speakers.Judgement{Strange: true}
	case ownPrint:
		return speakers.Judgement{Own: true, Sure: 0.9}
	default:
		return speakers.Judgement{Speaker: voiceOf(n), Sure: 0.9}
	}
}

func (e *ears) Speaker(h earshot.Handle) (speakers.Speaker, bool) {
	n := 0
	fmt.Sscanf(h.ID, "%d", &n)
	return speakers.Speaker{Handle: h, Number: n}, true
}

// listening returns a house that tells voices apart.
func listening() *house {
	h := newHouse()
	h.voices = new(ears)
	return h
}

// hearsOf lets the room hear an utterance of a voice, which ends now, and then lets some time pass.
func (h *house) hearsOf(t *testing.T, voice int, text string, then time.Duration) {
	t.Helper()
	e := aloud(text, 0)
	u := e.Body.(earshot.Utterance)
	u.Voice = &earshot.Voice{Print: []float32{float32(voice)}, Heard: time.Second}
	e.Body, e.At = u, time.Now().Add(-u.Lasted)
	if err := h.Admit(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	time.Sleep(then)
}

// name says whose a voice is, on behalf of by.
func (h *house) name(t *testing.T, by earshot.Handle, voice int, who earshot.ParticipantID) {
	t.Helper()
	if err := h.people.Recognise(t.Context(), h.people.Resolve(by), h.people.Resolve(voiceOf(voice)).Reader(), who); err != nil {
		t.Fatal(err)
	}
}

// reasons returns the reasons of each decision, in order.
func (h *house) reasons() (all []string) {
	for _, e := range h.journal.Events() {
		if d, ok := e.Body.(earshot.Decision); ok {
			all = append(all, strings.Join(d.Reasons, "+"))
		}
	}
	return all
}

// TestVoicesAreTakenApart: who has said what is on record, and the sound of their voice is not.
// Somebody who is heard for the first time comes, and goes when nothing has been heard of them for
// long.
func TestVoicesAreTakenApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := voiced(t, listening())
		h.hearsOf(t, 3, "shall we have lunch", time.Second)
		h.hearsOf(t, 5, "at one then", time.Second)
		h.hearsOf(t, 0, "yes", time.Minute)
		if got := names(h.people.Here(earshot.Desk)); got != "voice 3, voice 5" {
			t.Errorf("here are %s", got)
		}
		time.Sleep(3 * time.Minute)
		h.hearsOf(t, 3, "the soup was good", 2*time.Minute)
		if got := names(h.people.Here(earshot.Desk)); got != "voice 3" {
			t.Errorf("then here are %s", got)
		}
		h.stop()
		var got []string
		for _, e := range h.journal.Events() {
			switch b := e.Body.(type) {
			case earshot.Utterance:
				got = append(got, h.people.Name(e.Author)+" "+b.Speaker.ID)
				if b.Voice != nil || e.From != mic {
					t.Errorf("kept %+v", e)
				}
			case earshot.Presence:
				got = append(got, fmt.Sprint(h.people.Name(e.Author), " is here: ", b.Here))
			}
		}
		want := []string{"voice 3 is here: true", "voice 3 03", "voice 5 is here: true", "voice 5 05", "somebody ", "voice 3 03", "voice 5 is here: false"}
		if !slices.Equal(got, want) {
			t.Errorf("on record are %q, want %q", got, want)
		}
	})
}

func names(all []participants.Participant) string {
	var list []string
	for _, p := range all {
		list = append(list, p.Name)
	}
	return strings.Join(list, ", ")
}

// TestWhoIsInTalk: the agent is in talk with a person, and not with a microphone.
func TestWhoIsInTalk(t *testing.T) {
	type line struct {
		voice int
		text  string
	}
	const named, follows, aside = addressing.Named, reason.Follows, reason.Overheard
	for _, tt := range []struct {
		name string
		said []line
		want []string
	}{
		{"one person goes on", []line{{3, "earshot count"}, {3, "and again"}}, []string{named, follows}},
		{"another does", []line{{3, "earshot count"}, {5, "what is for lunch"}}, []string{named, aside}},
		{"two in turn", []line{{3, "earshot count"}, {5, "not so loud"}, {3, "and again"}, {5, "really"}}, []string{named, aside, follows, aside}},
		{"a short word is theirs who were answered", []line{{3, "earshot count"}, {0, "again"}}, []string{named, follows}},
		{"whoever said a short word goes on", []line{{0, "earshot"}, {3, "and count once more"}}, []string{named, follows}},
		{"after a short word another is not in talk", []line{{3, "earshot count"}, {0, "again"}, {5, "and now"}}, []string{named, follows, aside}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, _ := voiced(t, listening())
				for _, l := range tt.said {
					h.hearsOf(t, l.voice, l.text, 3*time.Second)
				}
				h.stop()
				if got := h.reasons(); !slices.Equal(got, tt.want) {
					t.Errorf("decided %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// TestBystandersByVoice: while the agent answers one person, a voice that is like no known voice is
// somebody else's. What follows another person's words at once, and cannot be told whose it is,
// answers them. What follows nobody, or comes later, may be from the person whom the agent answers.
func TestBystandersByVoice(t *testing.T) {
	type line struct {
		voice int
		text  string
		after time.Duration // since the last line
	}
	const second = time.Second
	for _, tt := range []struct {
		name string
		said []line
		cut  bool
	}{
		{"a voice like none that is known", []line{{unlikePrint, "is there any coffee", 0}}, false},
		{"and an answer to it", []line{{unlikePrint, "is there any coffee", 0}, {0, "there is a packet in the cupboard", second}}, false},
		{"an answer to somebody who is known", []line{{5, "is there any coffee", 0}, {0, "there is a packet in the cupboard", second}}, false},
		{"an answer, and what comes after it", []line{{5, "is there any coffee", 0}, {0, "there is some", second}, {0, "how about tea", 2 * second}}, true},
		{"long after it", []line{{5, "is there any coffee", 0}, {0, "and what about the moon", 4 * second}}, true},
		{"whom it answers", []line{{5, "is there any coffee", 0}, {3, "and what about the moon", second}}, true},
		{"anybody", []line{{0, "and what about the moon", 0}}, true},
		{"a voice like the agent's, played", []line{{ownPrint, "is there any coffee", 4 * second}}, false},
		{"the name", []line{{unlikePrint, "earshot what about the moon", 0}}, true},
		{"a stop", []line{{unlikePrint, "stop", 0}}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := listening()
				h.model.Reply = strings.Repeat("one two three four five six seven ", 40)
				_, v := voiced(t, h)
				h.hearsOf(t, 3, "earshot count", 2*time.Second)
				for _, l := range tt.said {
					time.Sleep(l.after)
					h.hearsOf(t, l.voice, l.text, 0)
				}
				time.Sleep(100 * time.Millisecond)
				if cut := slices.Contains(v.Told(), earshot.Cut); cut != tt.cut {
					t.Errorf("it was cut: %v", cut)
				}
				h.stop()
			})
		})
	}
}

// TestABystanderDoesNotCut: while the agent answers one person, another one is not in talk with it.
func TestABystanderDoesNotCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, v := voiced(t, listening())
		h.hearsOf(t, 3, "earshot count", 20*time.Millisecond)
		h.hearsOf(t, 5, "what is for lunch", time.Minute)
		h.stop()
		if got := v.Played(); got != "one two three four" {
			t.Errorf("it said %q", got)
		}
	})
}

// TestAttributionIsWanted: without speaker attribution, one microphone is one person, and no voice
// is judged.
func TestAttributionIsWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := listening()
		h.config.MultiParty.SpeakerAttribution = false
		voiced(t, h)
		h.hearsOf(t, 3, "earshot count", 3*time.Second)
		h.hearsOf(t, 5, "and again", time.Minute)
		h.stop()
		if got := h.reasons(); !slices.Equal(got, []string{addressing.Named, reason.Follows}) || h.voices.(*ears).judged > 0 {
			t.Errorf("decided %q", got)
		}
		if u := h.journal.Events()[0]; u.Author != "" || u.Body.(earshot.Utterance).Voice != nil {
			t.Errorf("kept %+v", u)
		}
	})
}

// TestANameIsLookedUp: once somebody says whose a voice is, the model reads that name on old lines,
// too. If that is taken back, it does not.
func TestANameIsLookedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := listening()
		h.people = registry(t, "bob")
		voiced(t, h)
		asks := func(text string) string {
			h.hearsOf(t, 3, text, 3*time.Second)
			seen := h.model.Seen()
			return dialogue(seen[len(seen)-1])
		}
		if got := asks("earshot count"); !strings.Contains(got, "[FROM: voice 3 ") {
			t.Errorf("the model reads %s", got)
		}
		h.name(t, ann, 3, "bob")
		if got := asks("earshot count again"); strings.Count(got, "[FROM: bob ") != 2 {
			t.Errorf("named, the model reads %s", got)
		}
		if err := h.people.Unrecognise(t.Context(), h.people.Resolve(ann), h.people.Resolve(voiceOf(3)).Reader()); err != nil {
			t.Fatal(err)
		}
		if got := asks("earshot count once more"); strings.Count(got, "[FROM: voice 3 ") != 3 {
			t.Errorf("undone, the model reads %s", got)
		}
		h.stop()
	})
}

// dialogue returns what was said in a request, without the messages about the room.
func dialogue(r llm.Request) string {
	var b strings.Builder
	for _, m := range r.Messages[1 : len(r.Messages)-1] {
		b.WriteString(m.Text + "\n")
	}
	return b.String()
}

// TestItWasSomebodyElse: an utterance that turns out to be somebody else's is theirs for the model
// and in what was heard lately, even after a restart.
func TestItWasSomebodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := listening()
		h.people = registry(t, "bob")
		voiced(t, h)
		h.hearsOf(t, 3, "earshot count", 3*time.Second)
		h.ApplyVoiceChange(speakers.Change{
			Act: speakers.Divided, Voice: voiceOf(3), Other: voiceOf(7), Moved: []time.Time{utterances(h)[0].At},
			Said: speakers.Attestation{By: participants.Owner},
		})
		synctest.Wait()
		h.hearsOf(t, 3, "earshot count again", 3*time.Second)
		const want = "[FROM: voice 7 TO: Earshot] Earshot count\n"
		seen := h.model.Seen()
		if got := dialogue(seen[len(seen)-1]); !strings.Contains(got, want) {
			t.Errorf("the model reads %s", got)
		}
		h.stop()
		last := h.journal.Events()
		h2 := listening()
		h2.journal, h2.ids, h2.past, h2.people = h.journal, h.ids, last, h.people
		voiced(t, h2)
		h2.hearsOf(t, 3, "earshot count once more", 3*time.Second)
		if got := dialogue(h2.model.Seen()[0]); !strings.Contains(got, want) {
			t.Errorf("after a restart the model reads %s", got)
		}
		context := h2.model.Seen()[0].Messages
		if got := context[len(context)-1].Text; !strings.Contains(got, "voice 7: Earshot count") {
			t.Errorf("what was heard of late is %s", got)
		}
		h2.stop()
	})
}

// TestItWasThemAfterAll: when somebody takes back whose an utterance was, it is whose it was
// before.
func TestItWasThemAfterAll(t *testing.T) {
	for _, tt := range []struct {
		was  earshot.Handle
		want string
	}{{voiceOf(7), "[FROM: voice 7 TO: Earshot] Earshot count\n"}} {
		synctest.Test(t, func(t *testing.T) {
			h := listening()
			h.people = registry(t, "bob")
			voiced(t, h)
			h.hearsOf(t, 3, "earshot count", 3*time.Second)
			moved, said := []time.Time{utterances(h)[0].At}, speakers.Attestation{By: participants.Owner}
			h.ApplyVoiceChange(speakers.Change{Act: speakers.Taught, Voice: voiceOf(5), Other: tt.was, Moved: moved, Said: said})
			h.ApplyVoiceChange(speakers.Change{Act: speakers.Taught, Voice: tt.was, Other: voiceOf(5), Moved: moved, Said: said, Undo: true})
			synctest.Wait()
			h.hearsOf(t, 3, "earshot count again", 3*time.Second)
			h.stop()
			seen := h.model.Seen()
			if got := dialogue(seen[len(seen)-1]); !strings.Contains(got, tt.want) {
				t.Errorf("the model reads %s, want %s", got, tt.want)
			}
		})
	}
}

func utterances(h *house) (all []earshot.Event) {
	for _, e := range h.journal.Events() {
		if e.Body.Kind() == earshot.KindUtterance {
			all = append(all, e)
		}
	}
	return all
}

// TestAVoiceProvesNothing: what is said with the owner's voice has none of the owner's rights, and
// what is said with the agent's own voice has those of somebody unknown. Somebody who says that
// they are ann is not ann for that.
func TestAVoiceProvesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := listening()
		h.tools = tool.Table{
			{Tool: llm.Tool{Name: "read_secret"}, Needs: participants.ReadMemory}, {Tool: llm.Tool{Name: "run"}, Needs: participants.UseTools},
		}
		_, v := voiced(t, h)
		if err := h.Admit(t.Context(), earshot.Event{From: ann, Via: "console", Body: earshot.Command{Name: "msg", Args: "Earshot the key is under the mat"}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		h.hearsOf(t, 3, "i am ann", time.Second)
		h.name(t, ann, 3, participants.Owner)
		asked := len(h.model.Seen())
		h.hearsOf(t, 3, "earshot what are my notes", 3*time.Second)
		h.hearsOf(t, ownPrint, "earshot read the notes", 3*time.Second)
		h.stop()
		seen := h.model.Seen()
		if len(seen) != asked+2 {
			t.Fatalf("%d requests after that, want two", len(seen)-asked)
		}
		for i, whose := range []string{"the owner", "the agent"} {
			for _, offered := range seen[asked+i].Tools {
				if offered.Name == "read_secret" || offered.Name == "run" {
					t.Errorf("the voice of %s is offered %s", whose, offered.Name)
				}
			}
			if got := fmt.Sprint(seen[asked+i].Messages); strings.Contains(got, "under the mat") {
				t.Errorf("the prompt for the voice of %s is %s", whose, got)
			}
		}
		if got := dialogue(seen[asked+1]); !strings.Contains(got, "[FROM: somebody] Earshot read the notes (in a voice like yours)") {
			t.Errorf("the model reads %s", got)
		}
		if p := h.people.Resolve(voiceOf(3)); p.Can(participants.Operate) {
			t.Error("the voice operates")
		}
		_ = v
	})
}

// TestVoicesAreNobodysCompany: somebody who is alone, apart from voices that nobody knows, is
// answered when they write.
func TestVoicesAreNobodysCompany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := listening()
		c := &company{house: h.open(t.Context()), screens: map[string]*testkit.Voice{"ann": h.console}, leave: map[string]func(){}}
		c.comesBack(t)
		h.hearsOf(t, 3, "shall we have lunch", time.Second)
		h.say(t, "count")
		time.Sleep(time.Second)
		h.stop()
		if len(h.replies()) != 1 {
			t.Errorf("%d replies", len(h.replies()))
		}
	})
}

// TestLikeTheAgent: words in the agent's own voice are its sound come back while it speaks, and for
// a moment after that. At any other time they are those of somebody unknown, who is none of the
// people who are known.
func TestLikeTheAgent(t *testing.T) {
	const long = time.Second // how long it talks, beyond the second that an utterance lasts
	tale := strings.Repeat("seven waves ", 20)
	for _, tt := range []struct {
		name string
		does func(t *testing.T, h *house)
		want []string // who is on record, and why it was decided so
	}{
		{"while it speaks", func(t *testing.T, h *house) {
			h.hearsOf(t, 3, "earshot tell me", 2*long)
			h.hearsOf(t, ownPrint, "earshot what is this", time.Minute)
		}, []string{"voice 3: " + addressing.Named}},
		{"as it ends", func(t *testing.T, h *house) {
			h.hearsOf(t, 3, "earshot tell me", 3*long)
			h.hearsOf(t, ownPrint, "earshot what is this", time.Minute)
		}, []string{"voice 3: " + addressing.Named}},
		{"later, to nobody", func(t *testing.T, h *house) {
			h.hearsOf(t, 3, "earshot tell me", 6*long)
			h.hearsOf(t, ownPrint, "what is this", time.Minute)
		}, []string{"voice 3: " + addressing.Named, "somebody like it: " + reason.Overheard}},
		{"later, to it", func(t *testing.T, h *house) {
			h.hearsOf(t, ownPrint, "earshot tell me", 6*long)
			h.hearsOf(t, ownPrint, "and what is this", time.Minute)
		}, []string{"somebody like it: " + addressing.Named, "somebody like it: " + reason.Follows}},
		{"another goes on", func(t *testing.T, h *house) {
			h.hearsOf(t, ownPrint, "earshot tell me", 6*long)
			h.hearsOf(t, 3, "what is for lunch", time.Minute)
		}, []string{"somebody like it: " + addressing.Named, "voice 3: " + reason.Overheard}},
		{"a short word goes on", func(t *testing.T, h *house) {
			h.hearsOf(t, ownPrint, "earshot tell me", 6*long)
			h.hearsOf(t, 0, "again", 6*long)
			h.hearsOf(t, ownPrint, "and again", time.Minute)
		}, []string{"somebody like it: " + addressing.Named, "somebody: " + reason.Follows, "somebody like it: " + reason.Follows}},
		{"it asks to be remembered", func(t *testing.T, h *house) {
			h.hearsOf(t, ownPrint, "earshot remember my voice", 6*long)
			h.hearsOf(t, ownPrint, "yes", time.Minute)
		}, []string{"somebody like it: " + addressing.Named, "somebody like it: " + reason.Follows}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := listening()
				h.model.Reply = tale
				voiced(t, h)
				tt.does(t, h)
				h.stop()
				reasons := h.reasons()
				var got []string
				for i, e := range utterances(h) {
					who := h.people.Name(e.Author)
					if e.Body.(earshot.Utterance).LikeAgent {
						who += " like it"
					}
					if i < len(reasons) {
						who += ": " + reasons[i]
					}
					got = append(got, who)
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("on record are %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// TestWhoMadeItPause: somebody who sounds like the agent, and goes on after it has paused, is
// heard. A passive one pauses for so long.
func TestWhoMadeItPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := listening()
		h.config.MultiParty.TurnTakingProtocol = "passive"
		h.model.Reply = strings.Repeat("seven waves ", 40)
		voiced(t, h)
		h.hearsOf(t, 3, "earshot tell me", 2*time.Second)
		e := earshot.Event{From: mic, Via: "loudspeaker", At: time.Now(), Body: earshot.Speech{Stage: earshot.VoiceLasts, Confidence: 0.8}}
		if err := h.Admit(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2200 * time.Millisecond)
		u := earshot.Utterance{Text: "earshot what is the time", Confidence: 0.8, Lasted: 2200 * time.Millisecond, Own: 0.1, Voice: &earshot.Voice{Print: []float32{ownPrint}, Heard: time.Second}}
		e.Body = u
		if err := h.Admit(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		h.stop()
		if got := utterances(h); len(got) != 2 {
			t.Errorf("%d utterances on record, want 2", len(got))
		}
	})
}

// TestOverlapsAreTold: the model is told that somebody else spoke at the same time, and that the
// words may be theirs, unless it is known whose track it is.
func TestOverlapsAreTold(t *testing.T) {
	for _, tt := range []struct {
		name string
		from earshot.Handle
		want string
	}{
		{"by one microphone", mic, "Earshot count (somebody else spoke at the same time: "},
		{"by a track of their own", handle("ann"), "Earshot count (somebody else spoke at the same time)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, _ := voiced(t, listening())
				e := aloud("earshot count", 0)
				e.From = tt.from
				u := e.Body.(earshot.Utterance)
				u.Overlaps = true
				e.Body = u
				if err := h.Admit(t.Context(), e); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				h.stop()
				if got := dialogue(h.model.Seen()[0]); !strings.Contains(got, tt.want) {
					t.Errorf("the model reads %s", got)
				}
			})
		})
	}
}

// TestTwoMachinesEnd: another machine with the agent's voice, which answers whatever is
// said, does not keep it talking for ever.
func TestTwoMachinesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := listening()
		h.config.MultiParty.TurnLimit = 6
		voiced(t, h)
		for i := range 20 {
			h.hearsOf(t, ownPrint, fmt.Sprintf("earshot here is thing number %d of a %s list", i, strings.Repeat("very ", i)), 5*time.Second)
		}
		h.stop()
		n := 0
		for _, r := range h.replies() {
			if r.Handover == nil && r.Offered != "" {
				n++
			}
		}
		if n == 0 || n > 6 {
			t.Errorf("it answered %d times", n)
		}
	})
}
