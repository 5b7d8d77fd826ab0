package replay

import (
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/executive/reason"
	"earshot/speakers"
)

// A record is what is on record of a day, as those look it up who stand in for what was
// outside.
type record struct {
	turns    map[string]*recordedSpeech // by turn
	answers  map[string][]string        // the turns that answered something, by that and the agent
	between  map[string][]step          // what agents said to each other in a turn, by that and who said it
	uses     map[string][]step          // the tools that one used in a turn, likewise
	thoughts []*recordedThought
	parts    map[string]*recordedSpeech         // the stretches of thoughts, by event
	found    map[string][]step                  // findings, by the stretch in which they were found
	passing  map[string]bool                    // replies that passed control
	called   map[string][]earshot.ParticipantID // which agents a reply called
	heard    []earshot.Utterance
	strange  map[earshot.EventID]bool // in which a voice was heard for the first time
	revised  map[earshot.EventID]bool // messages that are not on record as they were
	pace     time.Duration            // from one word of a reply to the next, as it mostly was
	outlets  map[earshot.RoomID][]string
	lasts    map[earshot.RoomID]bool
	via      map[earshot.ParticipantID]string

	mu    sync.Mutex
	made  []earshot.Agent // for tasks
	taken map[string]bool // turns that are played, or were
	asked map[string]int  // how often a model was, for what
}

// A recordedSpeech is a reply, or a segment of thought, and how it ends now.
type recordedSpeech struct {
	step
	over <-chan struct{} // closed when its end has come
	end  func()          // says that it has; it may be called again

	live atomic.Bool
}

func newSpeech(s step) *recordedSpeech {
	over := make(chan struct{})
	return &recordedSpeech{step: s, over: over, end: sync.OnceFunc(func() { close(over) })}
}

// A recordedThought is a thought, of its segments.
type recordedThought struct {
	id     string // of its first stretch
	first  earshot.Thought
	parts  []*recordedSpeech
	handed int  // how many of them a model has been asked for
	taken  bool // it is thought now

	dropped time.Time // when it was, while nothing of it was written
}

// key is what two names are together.
func key(a, b string) string { return a + "\x00" + b }

// recorded looks through a day.
func recorded(plan []step) *record {
	r := &record{
		turns: make(map[string]*recordedSpeech), answers: make(map[string][]string), between: make(map[string][]step), uses: make(map[string][]step),
		parts: make(map[string]*recordedSpeech), found: make(map[string][]step), passing: make(map[string]bool), called: make(map[string][]earshot.ParticipantID), strange: make(map[earshot.EventID]bool),
		outlets: make(map[earshot.RoomID][]string), lasts: make(map[earshot.RoomID]bool), via: make(map[earshot.ParticipantID]string),
		revised: make(map[earshot.EventID]bool), taken: make(map[string]bool), asked: make(map[string]int),
	}
	var paces []time.Duration
	for _, s := range plan {
		r.note(s)
		if b, ok := s.event.Body.(earshot.Reply); ok && b.Outcome == earshot.Completed && !b.Reflex && b.Took > 0 && b.Offered != "" {
			paces = append(paces, b.Took/time.Duration(len(words(string(b.Offered)))))
		}
	}
	if slices.Sort(paces); len(paces) > 0 {
		r.pace = paces[len(paces)/2]
	}
	r.pace = max(r.pace, 1)
	return r
}

func (r *record) note(s step) {
	e := s.event
	if e.Via != "" && e.Author != "" && foreign(e) {
		r.via[e.Author] = e.Via
	}
	if e.From.Provider == "discord" {
		r.lasts[e.Room] = true
	}
	switch b := e.Body.(type) {
	case earshot.Reply:
		r.turns[string(b.Turn)] = newSpeech(s)
		k := key(string(b.About), string(e.Author))
		r.answers[k] = append(r.answers[k], string(b.Turn))
		for _, o := range b.Heard {
			if !slices.Contains(r.outlets[e.Room], o.Outlet) {
				r.outlets[e.Room] = append(r.outlets[e.Room], o.Outlet)
			}
		}
	case earshot.Message:
		r.revised[e.ID] = !b.Revised.IsZero()
		if b.Turn != "" && b.About != "" {
			k := key(string(b.Turn), string(e.Author))
			r.between[k] = append(r.between[k], s)
		}
	case earshot.Use:
		k := key(string(b.Turn), string(e.Author))
		r.uses[k] = append(r.uses[k], s)
	case earshot.Thought:
		r.thought(s, b)
	case earshot.Finding:
		r.found[string(b.Thought)] = append(r.found[string(b.Thought)], s)
	case earshot.Decision:
		if !slices.Equal(b.Reasons, []string{reason.Passing}) {
			r.called[string(b.About)] = append(r.called[string(b.About)], b.Agent)
		}
		r.passing[string(b.About)] = r.passing[string(b.About)] || slices.Equal(b.Reasons, []string{reason.Passing})
		r.strange[b.About] = r.strange[b.About] || slices.Equal(b.Reasons, []string{reason.NewVoice})
	case earshot.Agent:
		if b.Act == earshot.Created && recordOf(b).Kind.Below() {
			r.made = append(r.made, b)
		}
	}
}

// thought takes in a stretch of thought.
func (r *record) thought(s step, b earshot.Thought) {
	id := string(b.Of)
	if id == "" {
		id = string(s.event.ID)
	}
	i := slices.IndexFunc(r.thoughts, func(c *recordedThought) bool { return c.id == id })
	if i < 0 {
		i = len(r.thoughts)
		r.thoughts = append(r.thoughts, &recordedThought{id: id, first: b})
	}
	switch b.Outcome {
	case earshot.Suppressed:
		r.thoughts[i].dropped = s.event.At
		return
	case earshot.Asked:
		return
	}
	p := newSpeech(s)
	r.parts[string(s.event.ID)] = p
	r.thoughts[i].parts = append(r.thoughts[i].parts, p)
}

// spawned returns the agent that was made for a task next.
func (r *record) spawned() (a earshot.Agent, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.made) == 0 {
		return a, false
	}
	a, r.made = r.made[0], r.made[1:]
	return a, true
}

// next returns how often something was asked for before.
func (r *record) next(what string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked[what]++
	return r.asked[what] - 1
}

// voice returns what an utterance sounds like now: whose it was taken for then.
func (r *record) voice(e earshot.Event, u earshot.Utterance) *earshot.Voice {
	if u.Speaker == (earshot.Handle{}) && !u.LikeAgent {
		return nil
	}
	r.heard = append(r.heard, u)
	is := float32(len(r.heard) - 1)
	fresh := float32(0)
	if r.strange[e.ID] {
		fresh = 1
	}
	return &earshot.Voice{Heard: u.Lasted, Print: []float32{is, fresh}}
}

// Voices judge as they judged then.
type voices record

// Whose implements [hearing.Voices].
func (v *voices) Whose(is *earshot.Voice, _ time.Time) speakers.Judgement {
	if is == nil || len(is.Print) != 2 || int(is.Print[0]) >= len(v.heard) {
		return speakers.Judgement{}
	}
	u := v.heard[int(is.Print[0])]
	return speakers.Judgement{Speaker: u.Speaker, Sure: u.Sure, Own: u.LikeAgent, New: is.Print[1] == 1}
}

// Guess implements [hearing.Voices].
func (v *voices) Guess(is *earshot.Voice, at time.Time) speakers.Judgement { return v.Whose(is, at) }

// Speaker implements [hearing.Voices].
func (v *voices) Speaker(h earshot.Handle) (speakers.Speaker, bool) {
	n, err := strconv.Atoi(h.ID)
	return speakers.Speaker{Handle: h, Number: n}, err == nil
}
