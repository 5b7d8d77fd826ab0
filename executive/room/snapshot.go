package room

import (
	"slices"

	"earshot"
	"earshot/api"
	"earshot/executive/question"
	"earshot/executive/snapshot"
	"earshot/executive/think"
)

// Snapshot returns the room as everybody in a may know it now. It changes nothing, waits for
// nobody, and is safe for concurrent use.
func (r *Room) Snapshot(a earshot.Audience) api.Snapshot {
	now := r.cfg.Now()
	s := api.Snapshot{At: now, RoomState: r.State(a), Scene: snapshot.Facts(r.sceneFor(a, now)), Thoughts: r.mind.Live(a), Words: r.speech.Interims.VisibleTo(a)}
	if r.cfg.Parts != nil {
		s.Parts = r.cfg.Parts()
	}
	r.live.mu.Lock()
	s.Turns = r.live.latencies.Seen(a)
	r.live.mu.Unlock()
	if live, agent := r.live.question(); live != nil {
		if l, ok := snapshot.Reply(live, agent.ID, a, now); ok {
			s.Replies = append(s.Replies, l)
		}
	}
	return s
}

// State returns the room as everybody in a may know it.
func (r *Room) State(a earshot.Audience) api.RoomState {
	agents := r.agents()
	s := api.RoomState{Room: r.cfg.ID, Agent: agents[0].Name, Here: r.cfg.People.Here(r.cfg.ID)}
	if r.cfg.Works != nil {
		s.Works = r.cfg.Works()
	}
	s.Company = r.presence.Estimate(r.cfg.Now())
	all := r.cfg.People.Operate(a)
	r.live.mu.Lock()
	defer r.live.mu.Unlock()
	s.Mode, s.Quiet, s.Dropped = r.mode.Current(), r.live.quiet, r.mode.Dropped()
	if all {
		s.Waiting = r.entries.Waiting() + r.live.waiting
	}
	var live *question.Question
	if r.live.turn != nil {
		live = &r.live.turn.Question
	}
	s.Agents = snapshot.Agents(agents, r.seats, live, r.live.latencies, a)
	s.Speaking = live != nil && live.Message.Visibility.Allows(a)
	for _, p := range r.notices.Outlets.All() {
		if all || p.Near(a) {
			s.Outlets = append(s.Outlets, p.Name())
		}
	}
	s.Faults = r.notices.Faults.All()
	s.Works = slices.DeleteFunc(s.Works, r.notices.Faults.Has)
	return s
}

// Busy reports whether anything remains to be kept, answered, said or thought. It is for programs
// that replay a conversation, not for its participants.
func (r *Room) Busy() bool {
	if types, _ := r.activity.About(r.cfg.Now()); r.mind.Busy() || r.mind.Has(func(think.Question) bool { return true }) && !types && r.mind.Enabled() {
		return true
	}
	r.live.mu.Lock()
	defer r.live.mu.Unlock()
	return r.live.turn != nil || r.viewer.Captioner.Running.Load() || r.entries.Waiting()+r.live.waiting > 0
}

// Still reports whether nothing is being said, and nothing waits to be.
func (r *Room) Still() bool {
	r.live.mu.Lock()
	defer r.live.mu.Unlock()
	return r.live.turn == nil && r.entries.Len()+r.live.waiting == 0
}

// Speaking reports whether a turn is live: something is said, or about to be, or it is being
// determined how much of it was heard.
func (r *Room) Speaking() bool {
	live, _ := r.live.question()
	return live != nil
}

// Says reports whether a turn is live.
func (r *Room) Says(turn earshot.TurnID) bool {
	live, _ := r.live.question()
	return live != nil && live.Turn == turn
}

// Changed returns a channel that is closed when a snapshot would differ from one that is taken
// after this call. It may also be closed by a change that its holder may not see. Mere ageing does
// not close it.
func (r *Room) Changed() <-chan struct{} { return r.changes.Changed() }

// Asked returns the end of what an agent has just said aloud and nobody has answered yet, or
// nothing. A recogniser can tell from it what people may say. It returns at once, and is safe for
// concurrent use.
func (r *Room) Asked() earshot.Text { return r.speech.Listener.Asked() }

// Interim returns the words that are being said, as everybody in a may see them: events of the kind
// speech, one for each voice, which are not kept. changed is closed when they may have changed.
func (r *Room) Interim(a earshot.Audience) (words []earshot.Event, changed <-chan struct{}) {
	return r.speech.WordsFor(a)
}

// Latencies returns how long the last turns took, whoever may know them. It is for those who look
// after the program, and shows nothing of what the turns were about.
func (r *Room) Latencies() (all []api.Latency) {
	r.live.mu.Lock()
	defer r.live.mu.Unlock()
	return r.live.latencies.All()
}
