package unasked_test

import (
	"fmt"
	"testing"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/activity"
	"earshot/executive/attention"
	"earshot/executive/reason"
	"earshot/executive/remind"
	"earshot/executive/scene"
	"earshot/executive/unasked"
	"earshot/participants"
)

var (
	noon   = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	public = earshot.Visibility{Scope: earshot.Public}
	desk   = earshot.Handle{Provider: "console", ID: "ann"}
)

// A talk is a tracker at a moment, with Ann in the room.
type talk struct {
	*testing.T
	*unasked.Tracker
	unasked.Moment
	reaches bool
	n       int
	dropped int // findings
}

func newTalk(t *testing.T) *talk {
	t.Helper()
	people := participants.New(desk, "Ann", "Earshot")
	h := &talk{T: t, reaches: true}
	h.Tracker = unasked.New(unasked.Host{
		Room: "desk", People: people, Scene: &scene.Scene{}, Activity: &activity.Tracker{}, Reminders: remind.NewSchedule(remind.Agenda{}),
		Agent:    func() earshot.ParticipantID { return participants.Agent },
		Audience: func(earshot.Visibility) earshot.Audience { return earshot.Audience{Unknown: true} },
		Author:   func(earshot.EventID) earshot.ParticipantID { return participants.Owner },
		Absence:  func(time.Time) time.Duration { return time.Hour },
		Dropped:  func(n int) { h.dropped += n },
	})
	h.Moment = unasked.Moment{
		Now: noon, Settings: executive.DefaultConfig(), Answers: true, Listens: true, Name: "Earshot",
		Reaches: func(*unasked.Candidate) bool { return h.reaches },
		IsHere:  func(earshot.ParticipantID) bool { return true },
	}
	h.Settings.Attention.QuietHours = ""
	people.Come("desk", participants.Owner, "terminal")
	return h
}

// event returns an event that everybody may see.
func (h *talk) event(body earshot.Body) earshot.Event {
	h.n++
	return earshot.Event{ID: earshot.EventID(fmt.Sprint("e", h.n)), At: h.Now, Visibility: public, Body: body}
}

// find lets the agent find something that somebody asked for, or that nobody did.
func (h *talk) find(text string, answers earshot.EventID) earshot.Event {
	e := h.event(earshot.Finding{Text: earshot.Text(text), Confidence: 0.9, Until: h.Now.Add(time.Hour), Worth: true, Answers: answers})
	h.Observe(e, h.Now)
	return e
}

// record puts the next decision on record, and returns it: "speak WORDS", "wait", "silent", or
// nothing if there is none.
func (h *talk) record(next func(*unasked.Tracker, unasked.Moment) (unasked.Decision, bool)) (string, *unasked.Candidate) {
	d, ok := next(h.Tracker, h.Moment)
	if !ok {
		return "", nil
	}
	h.Observe(h.event(earshot.Decision{About: d.Candidate.Event.ID, Verdict: d.Verdict, Turn: earshot.TurnID(fmt.Sprint("t", h.n))}), h.Now)
	h.Apply(d, h.Now)
	if d.Verdict == earshot.Speak {
		return "speak " + d.Candidate.Words, d.Candidate
	}
	return string(d.Verdict), d.Candidate
}

func (h *talk) want(want string) *unasked.Candidate {
	h.Helper()
	got, c := h.record((*unasked.Tracker).Next)
	if got != want {
		h.Fatalf("decided %q, want %q", got, want)
	}
	return c
}

// TestFinding: a finding is said until it is heard, and a second answer to the same question is
// then something that nobody asked for.
func TestFinding(t *testing.T) {
	h := newTalk(t)
	h.find("It is Mars.", "question")
	c := h.want("speak It is Mars.")
	if !c.Asked || c.Whom != participants.Owner || c.Answers != "question" {
		t.Errorf("it is said as %+v", c)
	}
	h.Ended(c, false, h.Now)
	h.Rechecked(h.Now)
	h.want("")
	if at := h.Recheck(); !at.Equal(h.Now.Add(unasked.RetryDelay)) {
		t.Errorf("it is tried again at %v", at)
	}
	h.Now = h.Now.Add(unasked.RetryDelay)
	h.Ended(h.want("speak It is Mars."), true, h.Now)
	h.want("")
	h.find("It may be Venus.", "question")
	if c := h.want("speak It may be Venus."); c.Asked {
		t.Error("a second answer counts as asked for")
	}
}

// TestTooManyFindings: of more findings than anybody wants to hear the newest are kept, and those that
// somebody waits for; the others are counted.
func TestTooManyFindings(t *testing.T) {
	h := newTalk(t)
	h.find("It is Mars.", "question")
	for i := range 20 {
		h.find(fmt.Sprintf("Finding %d.", i), "")
	}
	if h.dropped != 13 {
		t.Errorf("%d were dropped", h.dropped)
	}
	if c := h.want("speak It is Mars."); !c.Asked {
		t.Error("what somebody waits for was dropped")
	}
}

// TestDiskFull: a decision that is not put on record changes nothing.
func TestDiskFull(t *testing.T) {
	h := newTalk(t)
	h.find("The kettle boils.", "")
	for range 3 {
		if d, ok := h.Next(h.Moment); !ok || d.Verdict != earshot.Speak {
			t.Fatalf("decided %+v", d)
		}
	}
	h.want("speak The kettle boils.")
}

// TestWaits: that a finding waits is recorded once, until nobody types any more or somebody comes.
func TestWaits(t *testing.T) {
	h := newTalk(t)
	h.find("The kettle boils.", "")
	h.reaches = false
	h.want(string(earshot.Wait))
	h.want("")
	h.reaches = true
	h.want("speak The kettle boils.")
}

// TestForgotten: what is forgotten is not said, nor what rests on it.
func TestForgotten(t *testing.T) {
	h := newTalk(t)
	e := h.find("The kettle boils.", "")
	h.Forget(func(id earshot.EventID) bool { return id == e.ID }, []earshot.EventID{e.ID})
	h.want("")

	rests := h.event(earshot.Finding{Text: "Ann is away.", Confidence: 1, Worth: true})
	rests.Sources = []earshot.EventID{"gone"}
	h.Observe(rests, h.Now)
	h.Forget(func(id earshot.EventID) bool { return id == "gone" }, []earshot.EventID{"gone"})
	h.want(string(earshot.Silent))
	h.want("")
}

// TestGreeting: somebody who comes is greeted at once or not at all.
func TestGreeting(t *testing.T) {
	for _, reaches := range []bool{true, false} {
		h := newTalk(t)
		h.Settings.Sight.Greet, h.reaches = true, reaches
		h.ObserveLive(h.event(earshot.Sight{What: earshot.PeopleChanged, People: 1, Sure: 0.9}))
		want := "speak "
		if !reaches {
			want = string(earshot.Silent)
		}
		if c := h.want(want); c.Kind != unasked.Greeting || c.Absence != time.Hour {
			t.Errorf("said %+v", c)
		}
		h.want("")
	}
}

// TestReminder: a reminder is said when it is due, says so if it is late, and is tried until it is
// heard.
func TestReminder(t *testing.T) {
	h := newTalk(t)
	e := h.event(earshot.Reminder{Act: earshot.Created, Due: h.Now.Add(time.Minute), Text: "eat"})
	e.To = []earshot.ParticipantID{participants.Owner}
	h.Reminders.Apply(e)
	h.want("")
	if at := h.NextReminder(h.Moment); !at.Equal(h.Now.Add(time.Minute)) {
		t.Errorf("it is checked at %v", at)
	}
	h.Now, h.reaches = h.Now.Add(time.Minute), false
	h.want("")
	h.reaches = true
	h.want("") // it was tried
	h.Now = h.Now.Add(unasked.RetryDelay + time.Second)
	c := h.want("speak Ann, you wanted to be reminded at " + noon.Add(time.Minute).Local().Format("15:04") + ": eat")
	h.Ended(c, false, h.Now)
	h.want("")
	h.Now = h.Now.Add(unasked.RetryDelay)
	h.want("speak " + c.Words)
}

// TestNotice: new voices are announced together, to those who hear it, and not too often.
func TestNotice(t *testing.T) {
	h := newTalk(t)
	notice := func(want bool) {
		t.Helper()
		got, c := h.record((*unasked.Tracker).NextNotice)
		if got != "" != want || want && c.Kind != unasked.VoiceNotice {
			t.Fatalf("decided %q", got)
		}
	}
	notice(false)
	for range 3 {
		h.AddStranger(h.event(earshot.Utterance{}))
		h.AddStranger(h.event(earshot.Utterance{}))
		notice(true)
		notice(false)
	}
	h.AddStranger(h.event(earshot.Utterance{}))
	notice(false)
	h.Now = h.Now.Add(10 * time.Minute)
	notice(true)
	h.reaches = false
	h.AddStranger(h.event(earshot.Utterance{}))
	notice(false)
	h.reaches, h.Now = true, h.Now.Add(time.Hour)
	notice(false) // nobody could hear it when it was due
}

// TestQuestionToTheRoom: a question to everybody is left to the people; if nobody answers, the agent
// does, and it stays silent about one that somebody answered or that was not kept.
func TestQuestionToTheRoom(t *testing.T) {
	for _, tt := range []struct {
		name   string
		does   func(*talk, earshot.Event)
		answer earshot.Verdict
		why    string
	}{
		{"nobody answers", func(h *talk, _ earshot.Event) {}, earshot.Speak, attention.ToTheRoom},
		{"somebody answers", func(h *talk, _ earshot.Event) {
			h.hear("It opens at ten.", "bob")
		}, earshot.Silent, attention.Answered},
		{"it was not kept", func(h *talk, e earshot.Event) { h.Discard(e.ID) }, "", ""},
		{"it is forgotten", func(h *talk, e earshot.Event) {
			h.Forget(func(id earshot.EventID) bool { return id == e.ID }, nil)
		}, "", ""},
		{"the room is paused", func(h *talk, _ earshot.Event) { h.Answers = false }, earshot.Silent, reason.OnHold},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newTalk(t)
			q := h.hear("Does anybody know when the museum opens?", "ann")
			if v, why := h.Overhear(h.Moment, unasked.Question{Event: q}); v != earshot.Wait {
				t.Fatalf("decided %v at first, since %q", v, why)
			}
			h.Now = h.Now.Add(time.Second)
			tt.does(h, q)
			h.Now = h.Now.Add(time.Minute)
			open, v, why := h.Open(h.Moment)
			if v != tt.answer || (open != nil) != (v != "") || v != "" && (len(why) != 1 || why[0] != tt.why) {
				t.Errorf("decided %v, since %q", v, why)
			}
			if open, _, _ := h.Open(h.Moment); open != nil {
				t.Error("it is decided about twice")
			}
		})
	}
}

// hear lets somebody say something to nobody in particular.
func (h *talk) hear(text earshot.Text, who string) earshot.Event {
	e := h.event(earshot.Message{Text: text})
	e.From, e.Author = earshot.Handle{Provider: "console", ID: who}, earshot.ParticipantID(who)
	h.Hear(e, participants.Participant{ID: e.Author, Name: who}, text)
	return e
}
