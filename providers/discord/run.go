package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"
	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/internal/discord/compose"
	"earshot/internal/discord/gateway"
	"earshot/providers"
)

// proper matches the allowed names of commands.
var proper = regexp.MustCompile(`^[-_a-z0-9]{1,32}$`)

const (
	// mostAtOnce is how many requests to Discord, or commands, run at once.
	mostAtOnce = 16

	// mostGuildsAtOnce is how many guilds are queried at once, when a session begins.
	mostGuildsAtOnce = 2

	// mostWaiting is how many of these may wait: each guild has its commands and its missed
	// messages, and so have the direct messages.
	mostWaiting = 2*mostGuilds + 2
)

// answerWithin is how long a command may take: Discord forgets it after a quarter of an hour.
const answerWithin = 14 * time.Minute

// A run is one run of the provider. Its fields belong to the loop, except work and fed.
type run struct {
	*Sense
	world *guildState
	emit  providers.Emit
	work  *errgroup.Group // what the loop does not wait for
	slow  *errgroup.Group // likewise, of whole guilds
	turns chan struct{}   // held while a whole guild is queried
	fed   chan *page      // the results of requests
}

// A page is the newest messages of a channel, or what a channel is.
type page struct {
	in     *channel
	newest []*discordgo.Message // newest first

	lookup *lookup
	with   uint64             // or of direct messages, whom they are with
	found  *discordgo.Channel // nil if there is none
	failed bool               // it could not be found out
}

// loop handles events until ctx ends.
func (r *run) loop(ctx context.Context, events <-chan any) error {
	rest := time.NewTimer(0)
	defer rest.Stop()
	sweep := time.NewTicker(stays / 36)
	defer sweep.Stop()
	for {
		if until := r.world.until(); !until.IsZero() {
			rest.Reset(time.Until(until))
		} else {
			rest.Stop()
		}
		select {
		case <-ctx.Done():
			return nil
		case event := <-events:
			r.parts.Also(event)
			r.happens(ctx, event)
		case p := <-r.fed:
			r.learns(ctx, p)
		case <-rest.C:
			r.do(ctx, r.world.rests(time.Now()))
		case <-sweep.C:
			r.do(ctx, r.world.idle(time.Now()))
		}
	}
}

// happens handles an event.
func (r *run) happens(ctx context.Context, event any) {
	came := r.world.learn(event)
	for _, guild := range came {
		r.offers(ctx, guild)
	}
	switch event.(type) {
	case *discordgo.Ready:
		if r.cfg.DirectMessages {
			r.offers(ctx, 0)
			r.catchUp(ctx, 0)
			r.corresponds(ctx)
		}
	case *gateway.Lost:
		r.catchUp(ctx, 0)
		for guild := range r.world.guilds {
			r.catchUp(ctx, guild)
		}
	}
	r.arrive(ctx, event)
	r.do(ctx, r.world.translate(event, time.Now()))
	for _, guild := range came { // when everybody is known
		r.resumes(ctx, guild)
	}
}

// arrive makes the daemon know the people who must be known before an event is understood.
func (r *run) arrive(ctx context.Context, event any) {
	for _, a := range r.world.arrivals(event) {
		known, err := r.parts.House.Arrive(ctx, handle(a.user), a.is)
		if err != nil {
			r.failed(ctx, "taking somebody in", err)
			continue
		}
		r.world.arrived(a, known)
	}
}

// resumes catches up in a guild, or in direct messages for 0.
func (r *run) resumes(ctx context.Context, guild uint64) {
	r.do(ctx, r.world.waiting(guild))
	r.catchUp(ctx, guild)
}

// do carries out an action of the guildState.
func (r *run) do(ctx context.Context, acts []action) {
	for _, a := range acts {
		switch a := a.(type) {
		case roomEvent:
			r.say(ctx, a)
		case lookup:
			r.looksUp(ctx, a)
		case opening:
			if _, err := r.parts.House.Room(ctx, r.world.place(a.in)); err != nil {
				r.failed(ctx, "opening a room in which something waits", err)
			}
		case fault:
			r.parts.Tell(a.notice)
		case request:
			r.requests(ctx, a)
		case question:
			r.questions(ctx, a)
		case privateAnswer:
			r.background(func() { r.retorts(ctx, a.to, a.text) }, func() {})
		case staleCommands:
			r.offers(ctx, a.guild)
		}
	}
}

// say brings an event into its room.
func (r *run) say(ctx context.Context, s roomEvent) {
	room, err := r.parts.House.Room(ctx, r.world.place(s.in))
	if err == nil {
		s.event.Room = room
		err = r.emit(ctx, s.event)
	}
	if err != nil {
		r.failed(ctx, "bringing in a "+string(s.event.Body.Kind()), err)
	}
}

// failed logs that something could not be done. The room has reported the reason where it matters;
// what it refuses would be refused again.
func (r *run) failed(ctx context.Context, doing string, err error) {
	if ctx.Err() == nil {
		r.parts.Log.Info("discord: "+doing+" failed", "err", err)
	}
}

// background runs something beside the loop, or runs something else if too much is running
// already.
func (r *run) background(do, busy func()) {
	if !r.work.TryGo(func() error { do(); return nil }) {
		busy()
	}
}

// inTurn queries a whole guild, in the background, when its turn has come.
func (r *run) inTurn(ctx context.Context, do, busy func()) {
	started := r.slow.TryGo(func() error {
		select {
		case r.turns <- struct{}{}:
			defer func() { <-r.turns }()
			do()
		case <-ctx.Done():
		}
		return nil
	})
	if !started {
		busy()
	}
}

// feed hands a result to the loop.
func (r *run) feed(ctx context.Context, p *page) {
	select {
	case r.fed <- p:
	case <-ctx.Done():
	}
}

// learns handles a result.
func (r *run) learns(ctx context.Context, p *page) {
	switch {
	case p.failed:
		r.lose(p.lookup.channel)
		return
	case p.lookup != nil:
		events := r.world.found(p.lookup.channel, p.found)
		if c := r.world.channels[p.lookup.channel]; c != nil {
			r.resumes(ctx, c.guild)
		}
		for _, event := range events {
			r.happens(ctx, event)
		}
		return
	case p.with != 0:
		r.world.direct(number(p.found.ID), p.with)
		r.resumes(ctx, 0)
		return
	}
	now := time.Now()
	for _, m := range r.world.company(p.in, p.newest, now) {
		r.arrive(ctx, m)
		r.do(ctx, r.world.comes(p.in, number(m.Author.ID), moment(m.Message, now)))
	}
	for _, event := range r.world.missed(p.in, p.newest, now) {
		if ctx.Err() != nil {
			return
		}
		r.happens(ctx, event)
	}
}

// looksUp asks Discord what a channel is.
func (r *run) looksUp(ctx context.Context, l lookup) {
	r.background(func() {
		p := &page{lookup: &l}
		if err := r.parts.Session.Ask(ctx, http.MethodGet, "channels/"+digits(l.channel), nil, &p.found); err != nil {
			r.failed(ctx, "asking what a channel is", err)
			refused := (*gateway.Refusal)(nil)
			p.found, p.failed = nil, !errors.As(err, &refused) || refused.Status >= http.StatusInternalServerError
		}
		r.feed(ctx, p)
	}, func() { r.lose(l.channel) })
}

// lose drops what has happened in a channel that could not be looked up.
func (r *run) lose(channel uint64) {
	r.parts.Log.Info("discord: what happened in a channel is lost, because the channel could not be looked up", "events", len(r.world.missing(channel)))
}

// catchUp requests the messages that were missed in a guild, or in direct messages for 0, in
// channels where something was said before.
func (r *run) catchUp(ctx context.Context, guild uint64) {
	behind := r.world.behind(guild)
	if len(behind) == 0 {
		return
	}
	asked := make([]look, len(behind))
	for i, c := range behind {
		asked[i] = look{path: "channels/" + digits(c.id) + "/messages", known: c.known()}
	}
	r.inTurn(ctx, func() {
		for i, c := range behind {
			newest, err := r.looksAt(ctx, asked[i])
			if err != nil {
				r.failed(ctx, "asking what was said meanwhile", err)
				continue
			}
			r.feed(ctx, &page{in: c, newest: newest})
		}
	}, func() {
		for _, c := range behind {
			c.behind = true // the next time
		}
	})
}

// A look is the newest messages of a channel, where a message is known to have been.
type look struct {
	path  string
	known uint64
}

// errHidden is the error of a channel that shows none of its messages.
var errHidden = errors.New("the history of a channel cannot be read: the bot's role lacks Read Message History there")

// looksAt returns the newest messages of a channel. An empty answer is believed only if the known
// message is gone: Discord also gives it to bots that may not read the history.
func (r *run) looksAt(ctx context.Context, l look) (newest []*discordgo.Message, err error) {
	err = r.parts.Session.Ask(ctx, http.MethodGet, fmt.Sprintf("%s?limit=%d", l.path, mostRecent), nil, &newest)
	if err != nil || len(newest) > 0 || l.known == 0 {
		return newest, err
	}
	err = r.parts.Session.Ask(ctx, http.MethodGet, l.path+"/"+digits(l.known), nil, nil)
	if refused := (*gateway.Refusal)(nil); errors.As(err, &refused) && refused.Code == unknownMessage {
		return nil, nil
	}
	return nil, errHidden
}

// unknownMessage is Discord's code for a message that does not exist.
const unknownMessage = 10008

// corresponds looks up the channels of earlier direct messages.
func (r *run) corresponds(ctx context.Context) {
	all := r.world.correspondents()
	if len(all) == 0 {
		return
	}
	r.inTurn(ctx, func() {
		for _, user := range all {
			var found *discordgo.Channel
			err := r.parts.Session.Ask(ctx, http.MethodPost, "users/@me/channels", map[string]any{"recipient_id": digits(user)}, &found)
			if err != nil || found == nil {
				r.failed(ctx, "asking for direct messages", err)
				continue
			}
			r.feed(ctx, &page{with: user, found: found})
		}
	}, func() {})
}

// offers updates the registered commands of a guild, or of direct messages for 0.
func (r *run) offers(ctx context.Context, guild uint64) {
	want := offered(r.parts.Commands, guild == 0)
	path := "applications/" + digits(r.world.app)
	if guild != 0 {
		path += "/guilds/" + digits(guild)
	}
	path += "/commands"
	r.inTurn(ctx, func() {
		var have []*discordgo.ApplicationCommand
		err := r.parts.Session.Ask(ctx, http.MethodGet, path, nil, &have)
		if err == nil && !sameCommands(have, want) {
			err = r.parts.Session.Ask(ctx, http.MethodPut, path, want, nil)
		}
		if refused := (*gateway.Refusal)(nil); errors.As(err, &refused) && refused.Status == http.StatusForbidden {
			r.parts.Tell(earshot.Notice{
				Key: "discord commands", Text: "the bot may not register commands in a guild",
				Cure: "open its invitation again, with the scope applications.commands (docs/discord.md)",
			})
		} else if err != nil {
			r.failed(ctx, "offering commands", err)
		}
	}, func() {})
}

// requests has a command carried out, and answers its giver.
func (r *run) requests(ctx context.Context, q request) {
	place := r.world.place(q.in)
	r.background(func() {
		if err := r.respond(ctx, q.to, 5, map[string]any{"flags": ephemeral}); err != nil {
			r.failed(ctx, "taking a command", err)
			return
		}
		ctx, done := context.WithTimeout(ctx, answerWithin)
		defer done()
		r.answer(ctx, q.to, r.carryOut(ctx, place, q))
	}, func() { r.retorts(ctx, q.to, "There are too many commands just now; try again in a moment.") })
}

// carryOut returns the answer to a command.
func (r *run) carryOut(ctx context.Context, place Channel, q request) string {
	room, err := r.parts.House.Room(ctx, place)
	if err != nil {
		return "That cannot be done: " + err.Error()
	}
	e := q.event
	e.Room, e.Body = room, q.command
	answer, err := r.parts.House.Do(ctx, e)
	if err != nil {
		return "That cannot be done: " + err.Error()
	}
	return answer
}

// answer answers a command that was acknowledged.
func (r *run) answer(ctx context.Context, to ticket, text string) {
	for i, part := range answers(text) {
		body := map[string]any{"content": part, "allowed_mentions": nobody}
		var err error
		if i == 0 {
			err = r.parts.Session.Ask(ctx, http.MethodPatch, "webhooks/"+to.app+"/"+to.token+"/messages/@original", body, nil)
		} else {
			body["flags"] = ephemeral
			err = r.parts.Session.Ask(ctx, http.MethodPost, "webhooks/"+to.app+"/"+to.token, body, nil)
		}
		if err != nil {
			r.failed(ctx, "answering a command", err)
			return
		}
	}
}

// respond sends the first response to an interaction, which Discord wants within three seconds.
func (r *run) respond(ctx context.Context, to ticket, kind int, data map[string]any) error {
	return r.parts.Session.Ask(ctx, http.MethodPost, "interactions/"+to.id+"/"+to.token+"/callback", map[string]any{"type": kind, "data": data}, nil)
}

// retorts answers at once, visible only to the person who asked.
func (r *run) retorts(ctx context.Context, to ticket, text string) {
	if err := r.respond(ctx, to, 4, map[string]any{"content": text, "flags": ephemeral, "allowed_mentions": nobody}); err != nil {
		r.failed(ctx, "answering a command", err)
	}
}

// questions shows a question to everybody, and brings it in as the resulting message, so that the
// reply refers to it.
func (r *run) questions(ctx context.Context, q question) {
	place := r.world.place(q.in)
	r.background(func() {
		shownAs := quoted(q.text)
		if err := r.respond(ctx, q.to, 4, map[string]any{"content": shownAs, "allowed_mentions": nobody}); err != nil {
			r.failed(ctx, "taking a question", err)
			return
		}
		var shown discordgo.Message
		if err := r.parts.Session.Ask(ctx, http.MethodGet, "webhooks/"+q.to.app+"/"+q.to.token+"/messages/@original", nil, &shown); err != nil {
			r.failed(ctx, "taking a question", err)
			return
		}
		e := q.event
		e.ID = r.parts.Event(number(place.ID), number(shown.ID))
		asked := earshot.Text("@" + r.parts.Agent() + " " + q.text)
		e.Body = earshot.Message{Text: asked}
		if q.own {
			e.Body = earshot.Command{Name: earshot.OwnWords, Args: asked}
		}
		room, err := r.parts.House.Room(ctx, place)
		if err == nil {
			e.Room = room
			err = r.emit(ctx, e)
		}
		if err != nil {
			r.failed(ctx, "bringing in a question", err)
		}
	}, func() { r.retorts(ctx, q.to, "There are too many questions just now; try again in a moment.") })
}

// quoted returns a text as a quotation of at most one message.
func quoted(text string) string {
	return bounded("> "+strings.ReplaceAll(text, "\n", "\n> "), compose.Longest)
}
