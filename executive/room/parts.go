package room

import (
	"context"
	"slices"

	"earshot"
	"earshot/executive/admission"
	"earshot/executive/chain"
	"earshot/executive/exchange"
	"earshot/executive/generation"
	"earshot/executive/mode"
	"earshot/executive/perception"
	"earshot/executive/question"
	"earshot/executive/record"
	"earshot/executive/remind"
	"earshot/executive/reply"
	"earshot/executive/seat"
	"earshot/executive/slash"
	"earshot/executive/think"
	"earshot/executive/thoughts"
	"earshot/executive/unasked"
	"earshot/interrupt"
	"earshot/participants"
	"earshot/participants/agents"
)

// newMode returns the control of the room's mode.
func (r *Room) newMode() *mode.Control {
	return mode.New(mode.Host{
		Event: r.event, Closed: ErrClosed, Show: r.show, Shut: r.owner.Closed(), Log: r.cfg.Log,
		Queue: func(e earshot.Event, then func(error)) (wait func(context.Context) error, err error) {
			en, err := r.entries.Enqueue(e, then)
			if err != nil {
				return nil, err
			}
			return en.Wait, nil
		},
		Cut: func(e earshot.Event) {
			r.floor.Signal(&interrupt.Signal{Kind: interrupt.Command, From: e.From, By: e.Author, Confidence: 1, At: e.At})
		},
		Changed: func(m earshot.Mode) {
			if !m.Listens() {
				r.speech.ClearWords()
			}
			r.changes.Notify()
		},
		Speaks: func() (<-chan struct{}, bool) { return r.activity.Speaks(r.cfg.Now()) },
	})
}

// newSpeech returns what handles the things that are said aloud here.
func (r *Room) newSpeech() *admission.SpeechHandler {
	return admission.NewSpeechHandler(admission.SpeechHost{
		People: r.cfg.People, Voices: r.cfg.Voices, Activity: &r.activity, Outlets: &r.notices.Outlets, Queue: &r.entries, Mode: r.mode, Floor: r.floor,
		Settings: r.cfg.Settings, Agents: r.agents, Turn: r.live.question, Reader: r.cfg.Reader, Heed: r.heed, Event: r.event,
		Announce: func(e earshot.Event, who participants.Participant, p earshot.Presence) {
			_, _ = r.arrive(e, who, p) // if the room is closed, nobody is here
		},
		Changed: r.changes.Notify, Wake: r.owner.Wake, NewID: r.cfg.NewID, Now: r.cfg.Now, Log: r.cfg.Log,
	})
}

// newPerceiver returns what keeps the scene in step with the journal.
func (r *Room) newPerceiver() perception.Perceiver {
	p := perception.Perceiver{
		Scene: r.scene, Recent: r.entries.Recent, Tell: r.Mention, Log: r.cfg.Log,
		Perceivable: func(e earshot.Event) bool {
			return slices.ContainsFunc(r.seats, func(s *seat.Seat) bool { return e.Visibility.AllowsAgent(s.ID) })
		},
	}
	if r.cfg.Scenery != nil {
		p.Scenery = func(ctx context.Context) ([]earshot.Event, error) {
			ctx, cancel := record.Outlive(ctx)
			defer cancel()
			return r.cfg.Scenery(ctx)
		}
	}
	return p
}

// newUnasked returns the tracker of what the main agent may say unasked.
func (r *Room) newUnasked() *unasked.Tracker {
	return unasked.New(unasked.Host{
		Room: r.cfg.ID, People: r.cfg.People, Scene: r.scene, Activity: &r.activity, Reminders: remind.NewSchedule(r.cfg.Agenda),
		Agent: func() earshot.ParticipantID { return r.seats[0].ID },
		Audience: func(v earshot.Visibility) earshot.Audience {
			return r.listeners(question.Question{Seat: r.seats[0], Message: earshot.Event{Visibility: v}})
		},
		Author:  func(id earshot.EventID) earshot.ParticipantID { return r.entries.Recent(id).Author },
		Absence: r.presence.Absence,
		Dropped: func(n int) { r.dropping("findings", n) },
	})
}

// newMind returns the mind of the room, which is that of its main agent.
func (r *Room) newMind() *thoughts.Thinker {
	return thoughts.New(thoughts.Host{
		People: r.cfg.People, Scene: r.scene,
		Agent: func() agents.Record { return r.agents()[0] },
		Open: func() bool {
			r.live.mu.Lock()
			defer r.live.mu.Unlock()
			return r.mode.Current().Answers() && !r.live.leaving && !r.entries.Closed()
		},
		Floor: r.floorTaken, Nudge: r.owner.Wake,
		OnOwner: r.owner.Do,
		Context: r.thoughtContext, Event: r.event, Record: r.record, Tell: r.notices.Tell,
		ModelFails: func() bool { return r.notices.Faults.Has(generation.FaultKey) },
	}, &think.Mind{Model: r.cfg.Model, Settings: r.cfg.Settings, Now: r.cfg.Now, NewID: r.cfg.NewID, Log: r.cfg.Log, Moved: r.changes.Notify})
}

// reminders returns what sets and gives up reminders.
func (r *Room) reminders() remind.Recorder {
	return remind.Recorder{Schedule: r.unasked.Reminders, Keep: r.entries.Keep, Nudge: r.owner.Wake, Now: r.cfg.Now}
}

// newCommands returns the commands of this room.
func (r *Room) newCommands() *slash.Commands {
	return slash.New(slash.Host{
		Room: r.cfg.ID, People: r.cfg.People, Addressing: r.resolver.Addressing, Scene: r.scene, Listener: r.speech.Listener,
		Presence: r.presence, Reminders: r.unasked.Reminders, Voices: r.cfg.Voices,
		Settings: r.cfg.Settings, Agents: r.agents, Now: r.cfg.Now,
		State: r.State, Going: r.Going, Mode: r.mode.Current, Wants: r.mode.Wanted,
		Enters: r.cfg.Enters, Order: r.cfg.Order, Decided: r.cfg.Decided,
		Keep: r.entries.Keep, Amend: r.amend, SetMode: r.SetMode, SetReminder: r.reminders().Set, CancelReminder: r.reminders().Cancel,
		Reattribute: r.speech.Reattribute, Mention: r.Mention, Become: r.become,
		Confirm: r.confirmCommand, Think: r.mind.Command, Resync: r.contextResync, Others: r.cfg.Commands,
	})
}

// newReply returns what makes the answers of the agents, and what they can do besides talking.
func (r *Room) newReply() reply.Builder {
	tools := reply.ToolHost{
		Room: r.cfg.ID, Scene: r.scene, Viewer: r.viewer, Thoughts: r.mind, Reminders: r.reminders(), Tools: r.cfg.Tools,
		Exchange: exchange.Host{
			Tracker: &r.exchange, Addressing: r.resolver.Addressing, Spawner: r.cfg.Spawner, Log: r.cfg.Log, Agents: r.agents,
			Limit: func() int { return r.cfg.Settings().MultiParty.TurnLimit }, Keep: r.entries.Keep, Record: r.record, Nudge: r.owner.Wake,
		},
		Cameras: r.cameras, Settings: r.cfg.Settings, Now: r.cfg.Now, Log: r.cfg.Log,
		Event: r.event, Amend: r.amend, Rests: r.live.addRests, Hold: r.holdCall, Prepare: r.prepareAsked,
	}
	return reply.Builder{
		Room: r.cfg.ID, People: r.cfg.People, Scene: r.scene, Floor: r.floor, Addressing: r.resolver.Addressing, Askers: &r.exchange.Askers, Exchange: &r.exchange,
		Listener: r.speech.Listener, Voices: r.speech.Presence, Thoughts: r.mind, Viewer: r.viewer, Tools: tools,
		Lasts: r.cfg.Lasts, Memory: r.cfg.Memory, Model: r.preparation.Model, Now: r.cfg.Now, Log: r.cfg.Log,
		Cameras: r.cameras, DescribeCompany: r.tellPresence, State: r.State, ModelWorks: r.modelWorks, Event: r.event, Record: func(e earshot.Event) { r.records.unsaved.Add(e) }, Tell: r.notices.Tell,
	}
}

// newChain returns what continues the talk of agents with each other.
func (r *Room) newChain() *chain.Chain {
	return &chain.Chain{Host: chain.Host{
		Room: r.cfg.ID, People: r.cfg.People, Tracker: &r.exchange, Addressing: r.resolver.Addressing, Floor: r.floor,
		Seats: func() []*seat.Seat { return r.seats }, Pending: func() question.Queue { return r.pending },
		Limit: func() int { return r.set.MultiParty.TurnLimit }, Against: r.silenced,
		Reaches: func(q question.Question) bool { return len(r.outlets(q)) > 0 },
		NewID:   r.cfg.NewID, Event: r.decided, Settle: r.settle, Record: func(e ...earshot.Event) { r.records.unsaved.Add(e...) },
		Ask: func(q ...question.Question) { r.wait(append(r.pending, q...)) }, Narrow: r.supersede, Drop: r.drop, GiveUp: r.giveUp, Reach: r.cfg.Reach,
	}}
}
