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
			Tracker: &r.exchange, Addressing: r.resolver.Addressing, Spawner: r.cfg.Spawner, Log: r.cfg.Log, Agents: r.agents,
			Limit: func() int { return r.cfg.Settings().MultiParty.TurnLimit }, Keep: r.entries.Keep, Record: r.record, Nudge: r.owner.Wake,
		},
		Cameras: r.cameras, Settings: r.cfg.Settings, Now: r.cfg.Now, Log: r.cfg.Log,
		Event: r.event, Amend: r.amend, Rests: r.live.addRests, Hold: r.holdCall, Prepare: r.prepareAsked,
	}
}

// reminders returns what sets and gives up reminders.
func (r *Room) reminders() remind.Recorder {
	return remind.Recorder{Schedule: r.unasked.Reminders, Keep: r.entries.Keep, Nudge: r.owner.Wake, Now: r.cfg.Now}
}

// newReply returns what makes the answers of the agents.
func (r *Room) newReply() reply.Builder {
	return reply.Builder{
		Room: r.cfg.ID, People: r.cfg.People, Scene: r.scene, Floor: r.floor, Addressing: r.resolver.Addressing, Askers: &r.exchange.Askers, Exchange: &r.exchange,
		Listener: r.speech.Listener, Voices: r.speech.Presence, Thoughts: r.mind, Viewer: r.viewer, Tools: r.newTools(),
		Lasts: r.cfg.Lasts, Model: r.preparation.Model, Now: r.cfg.Now, Log: r.cfg.Log,
		Cameras: r.cameras, DescribeCompany: r.tellPresence, State: r.State, ModelWorks: r.modelWorks, Event: r.event, Record: func(e earshot.Event) { r.records.unsaved.Add(e) }, Tell: r.notices.Tell,
	}
}

// prepareAsked gives the agent that by asks its part in the turn, and makes its prompt.
func (r *Room) prepareAsked(ctx context.Context, by *toolset.Context, asks earshot.Event, seatOf exchange.SeatOf) (to *toolset.Context, asked *generation.Request, err error) {
	bad := r.owner.Do(ctx, func(ctx context.Context) {
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
