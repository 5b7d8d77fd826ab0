package discord

import (
	"context"
	"time"

	"github.com/bwmarrin/discordgo"

	"earshot"
	"earshot/internal/discord/gateway"
	"earshot/internal/discord/interaction"
	"earshot/internal/discord/roster"
	"earshot/providers"
)

// A run is one run of the provider. Its fields belong to the loop.
type run struct {
	*Sense
	translator *translator
	roster     *roster.Roster
	fetcher    *roster.Fetcher
	responder  *interaction.Responder
	background *gateway.Background
	emit       providers.Emit
}

// loop handles events until ctx ends.
func (r *run) loop(ctx context.Context, events <-chan any) error {
	sweep := time.Tick(roster.Stays / 36)
	for {
		var typed <-chan time.Time
		if until := r.translator.typing.until(); !until.IsZero() {
			typed = time.After(time.Until(until))
		}
		select {
		case <-ctx.Done():
			return nil
		case event := <-events:
			r.parts.Also(event)
			r.handle(ctx, event)
		case found := <-r.fetcher.Found():
			r.take(ctx, found)
		case <-typed:
			r.do(ctx, r.translator.endTyping(time.Now()))
		case <-sweep:
			r.do(ctx, r.translator.depart(r.roster.Idle(time.Now()), time.Now()))
		}
	}
}

// handle handles an event.
func (r *run) handle(ctx context.Context, event any) {
	came := r.roster.Learn(event)
	for _, guild := range came {
		r.register(ctx, guild)
	}
	switch event.(type) {
	case *discordgo.Ready:
		if r.cfg.DirectMessages {
			r.register(ctx, 0)
			r.fetcher.CatchUp(ctx, r.roster.Behind(0))
			r.fetcher.LookUpDirect(ctx, r.roster.Correspondents())
		}
	case *gateway.Lost:
		for _, guild := range append([]uint64{0}, r.roster.Guilds()...) {
			r.fetcher.CatchUp(ctx, r.roster.Behind(guild))
		}
	}
	r.arrive(ctx, event)
	r.do(ctx, r.translator.translate(event, time.Now()))
	for _, guild := range came { // when everybody is known
		r.resume(ctx, guild)
	}
}

// take handles what was asked.
func (r *run) take(ctx context.Context, found *roster.Finding) {
	now := time.Now()
	news := r.roster.Take(found, now)
	if news.Lost > 0 {
		r.parts.Log.Info("discord: events in an unknown channel were dropped: it could not be looked up, or too many came meanwhile", "events", news.Lost)
	}
	if news.Came {
		r.resume(ctx, news.Guild)
	}
	for _, m := range news.Company {
		r.arrive(ctx, m)
		r.do(ctx, r.translator.see(news.In, gateway.Number(m.Author.ID), moment(m.Message, now)))
	}
	for _, event := range news.Events {
		if ctx.Err() != nil {
			return
		}
		r.handle(ctx, event)
	}
}

// arrive makes the daemon know the people who must be known before an event is understood.
func (r *run) arrive(ctx context.Context, event any) {
	for _, a := range r.roster.Arrivals(event) {
		known, err := r.parts.House.Arrive(ctx, gateway.HandleOf(a.User), a.Person)
		if err != nil {
			r.background.LogFailure(ctx, "taking somebody in", err)
			continue
		}
		r.roster.Arrived(a, known)
	}
}

// resume opens the rooms of a guild, or of direct messages for 0, in which something waits, and
// catches up.
func (r *run) resume(ctx context.Context, guild uint64) {
	for _, c := range r.roster.Waiting(guild) {
		if _, err := r.parts.House.Room(ctx, r.roster.Place(c)); err != nil {
			r.background.LogFailure(ctx, "opening a room in which something waits", err)
		}
	}
	r.fetcher.CatchUp(ctx, r.roster.Behind(guild))
}

// register updates the registered commands of a guild, or of direct messages for 0.
func (r *run) register(ctx context.Context, guild uint64) {
	r.responder.Register(ctx, r.roster.App(), guild, r.parts.Commands)
}

// do carries out actions of the translator.
func (r *run) do(ctx context.Context, acts []action) {
	for _, a := range acts {
		switch a := a.(type) {
		case roomEvent:
			if err := r.say(ctx, r.roster.Place(a.in), a.event); err != nil {
				r.background.LogFailure(ctx, "bringing in a "+string(a.event.Body.Kind()), err)
			}
		case lookup:
			r.fetcher.LookUp(ctx, a.channel, func(failed *roster.Finding) { r.take(ctx, failed) })
		case fault:
			r.parts.Tell(a.notice)
		case command:
			place := r.roster.Place(a.in)
			r.responder.Answer(ctx, a.given, func(ctx context.Context) string { return r.carryOut(ctx, place, a.event) })
		case question:
			place := r.roster.Place(a.in)
			r.responder.Show(ctx, a.given, func(message uint64) {
				e := a.event
				e.ID = r.parts.Event(a.in.ID, message)
				if err := r.say(ctx, place, e); err != nil {
					r.background.LogFailure(ctx, "bringing in a question", err)
				}
			})
		case refusal:
			r.responder.Refuse(ctx, a.Refusal)
			if a.Stale {
				r.register(ctx, a.Guild)
			}
		}
	}
}

// say brings an event into the room of a channel. What the room refuses would be refused again; it
// has reported the reason where that matters.
func (r *run) say(ctx context.Context, place roster.Place, e earshot.Event) (err error) {
	if e.Room, err = r.parts.House.Room(ctx, place); err != nil {
		return err
	}
	return r.emit(ctx, e)
}

// carryOut returns the answer to a command.
func (r *run) carryOut(ctx context.Context, place roster.Place, e earshot.Event) string {
	room, err := r.parts.House.Room(ctx, place)
	if err != nil {
		return "That cannot be done: " + err.Error()
	}
	e.Room = room
	answer, err := r.parts.House.Do(ctx, e)
	if err != nil {
		return "That cannot be done: " + err.Error()
	}
	return answer
}
