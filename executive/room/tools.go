package room

import (
	"context"
	"errors"

	"earshot"
	"earshot/executive/exchange"
	"earshot/executive/generation"
	"earshot/executive/remind"
	"earshot/executive/reply"
	"earshot/executive/toolset"
)

// newTools returns what turns can do besides talking.
func (r *Room) newTools() toolset.Host {
	return toolset.Host{
		Room: r.cfg.ID, Scene: r.scene, Viewer: r.viewer, Thoughts: r.mind, Reminders: r.reminders(), Tools: r.cfg.Tools,
		Exchange: exchange.Host{
			Tracker: &r.exchange, Awaited: &r.awaitedSeats, Addressing: &r.addressing, Spawner: r.cfg.Spawner, Log: r.cfg.Log, Agents: r.agents,
			Limit: func() int { return r.cfg.Settings().MultiParty.TurnLimit }, Keep: r.queued, Record: r.record, Nudge: r.nudge, Outlive: lasting,
		},
		Cameras: r.cameras, Settings: r.cfg.Settings, Now: r.cfg.Now, Log: r.cfg.Log,
		Event: r.event, Amend: r.amend, Rests: r.restsOn, Hold: r.holdCall, Prepare: r.prepareAsked,
	}
}

// reminders returns what sets and gives up reminders.
func (r *Room) reminders() remind.Recorder {
	return remind.Recorder{Schedule: r.unasked.Reminders, Keep: r.queued, Nudge: r.nudge, Now: r.cfg.Now}
}

// newReply returns what makes the answers of the agents.
func (r *Room) newReply() reply.Builder {
	return reply.Builder{
		Room: r.cfg.ID, People: r.cfg.People, Scene: r.scene, Floor: r.floor, Addressing: &r.addressing, Askers: &r.onBehalf, Exchange: &r.exchange,
		Listener: r.listener, Voices: r.voicePresence, Thoughts: r.mind, Viewer: r.viewer, Tools: r.newTools(),
		Lasts: r.cfg.Lasts, Model: r.preparation.Model, Now: r.cfg.Now, Log: r.cfg.Log,
		Cameras: r.cameras, DescribeCompany: r.tellPresence, State: r.State, ModelWorks: r.modelWorks, Event: r.event, Record: func(e earshot.Event) { r.unsaved.Add(e) }, Tell: r.tell,
	}
}

// queued queues an event of the room itself, and waits until it is kept.
func (r *Room) queued(ctx context.Context, e earshot.Event) error {
	en, err := r.enqueue(e, nil)
	if err != nil {
		return err
	}
	return en.wait(ctx)
}

// record makes sure that an event is kept, whatever becomes of the turn, and waits until it is or
// ctx ends.
func (r *Room) record(ctx context.Context, e earshot.Event) {
	later := func(err error) {
		if err != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.rejectedEvents = append(r.rejectedEvents, e)
		}
	}
	en, err := r.enqueue(e, later)
	if err != nil {
		later(err)
		return
	}
	_ = en.wait(ctx)
}

// ownerCall is something that the owner of the room does for another goroutine.
type ownerCall func(context.Context)

// runOnOwner lets the owner do something, and waits for it. The owner itself must not call it: it
// would wait for ever.
func (r *Room) runOnOwner(ctx context.Context, do ownerCall) error {
	done := make(chan struct{})
	select {
	case r.ownerCalls <- func(ctx context.Context) { defer close(done); do(ctx) }:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-r.shut:
		return ErrClosed
	}
	<-done
	return nil
}

// prepareAsked gives the agent that by asks its part in the turn, and makes its prompt.
func (r *Room) prepareAsked(ctx context.Context, by *toolset.Context, asks earshot.Event, seatOf exchange.SeatOf) (to *toolset.Context, asked *generation.Request, err error) {
	bad := r.runOnOwner(ctx, func(ctx context.Context) {
		s := seatOf(r.seats)
		if s == nil {
			err = exchange.ErrGone
			return
		}
		if !r.ensureAwake(ctx, s) {
			err = errors.New("it cannot remember what was said, so it does not answer; do without it")
			return
		}
		if r.seatOf(s.ID) == nil {
			s.History.Learn(asks, r.cfg.People) // nobody else tells it
		}
		to, asked = r.reply.Asked(r.set, by, s, asks)
	})
	return to, asked, errors.Join(err, bad)
}
