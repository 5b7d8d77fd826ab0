package main

import (
	"context"
	"slices"
	"strings"
	"sync"

	"earshot"
	"earshot/daemon/access"
	"earshot/executive"
	gateway "earshot/internal/discord"
	"earshot/internal/probe"
	"earshot/internal/supervise"
	"earshot/models/stt"
	"earshot/participants"
	"earshot/providers/discord"
	ringing "earshot/providers/discord/calls"
)

// A discordBot is the house on Discord: one session of a bot, which the sense of what is
// written, the calls and the outlets share.
type discordBot struct {
	daemon  *daemon
	session *gateway.Session
	sense   *discord.Sense
	line    *ringing.Calls // nil where nothing is heard
	pool    *stt.Pool      // likewise

	posts posts // into the rooms that were opened
	own   *sayings
}

// discord returns a bot for the house, and its parts. What is missing may still come;
// what has to be mended by somebody is the error.
func (d *daemon) discord(hears, speaks bool) (*discordBot, []part, error) {
	token, err := d.config().Providers.Discord.Secret()
	if err != nil {
		return nil, nil, err
	}
	e := &discordBot{daemon: d, own: openSayings(d.config().Store.Directory, d.log)}
	take := func(event any) { e.sense.Take(event) }
	e.session = discord.NewSession(d.config().Providers.Discord, token, d.log, take)
	also := func(any) {}
	parts := []part{{name: "discord", run: e.run}}
	if hears {
		recognition, err := e.listens(speaks)
		if err != nil {
			return nil, nil, err
		}
		parts, also = append(parts, recognition), e.line.Take
	}
	e.sense = discord.New(d.config().Providers.Discord, discord.Parts{
		Session: e.session, House: e, Agent: func() string { return d.people.Name(participants.Agent) }, Event: e.eventOf,
		Commands: e.offered(), Also: also, Tell: d.report, Log: d.log,
	})
	return e, parts, nil
}

// Room implements [discord.House].
func (e *discordBot) Room(ctx context.Context, c discord.Channel) (earshot.RoomID, error) {
	room, err := e.daemon.openRoom(ctx, executive.Room{ID: c.Room(), Name: c.Name})
	if err != nil {
		return "", err
	}
	e.post(ctx, room, c)
	return room.is.ID, nil
}

// run is the bot. The session goes last, since a call is left by it, and so does what
// is being written.
func (e *discordBot) run(ctx context.Context) error {
	last, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var inCall sync.WaitGroup
	calls, hangUp := context.WithCancel(ctx)
	defer hangUp()
	if e.line != nil {
		inCall.Go(func() {
			cfg := restarts
			cfg.Report = e.daemon.report
			if err := supervise.Run(calls, "calls", func(ctx context.Context) error { return e.line.Run(ctx, e.daemon.Admit) }, cfg); err != nil {
				e.daemon.log.Error("a part cannot run", "part", "calls", "err", err)
			}
		})
	}
	ended := make(chan struct{})
	var rest sync.WaitGroup
	rest.Go(func() {
		defer stop()
		select {
		case <-ctx.Done():
		case <-ended:
		}
		hangUp()
		inCall.Wait()
		e.posts.close()
	})
	err := e.sense.Run(last, e.admit)
	close(ended)
	rest.Wait()
	e.posts.close() // what came in meanwhile
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// Arrive implements [discord.House].
func (e *discordBot) Arrive(ctx context.Context, who earshot.Handle, p discord.Person) (string, error) {
	if is := e.daemon.people.Resolve(who); !p.Member && is.ID != "" || p.IfKnown && is.ID == "" {
		return is.Name, nil
	}
	n := participants.Newcomer{Names: []string{p.Name, p.Account}, Type: participants.Human, Description: strings.Join(p.Roles, ", ")}
	if p.Bot {
		n.Type = participants.AIAssistant
	}
	is, err := e.daemon.people.Arrive(ctx, who, n)
	return is.Name, err
}

// Do implements [discord.House].
func (e *discordBot) Do(ctx context.Context, ev earshot.Event) (string, error) {
	return backend{e.daemon}.Do(ctx, ev)
}

// aboutEmbassy gives the house its bot if it is to have one, and says how that went.
func (a *app) aboutEmbassy(d *daemon, voice bool) []probe.Finding {
	findings := d.install(a.ctx, &section{
		name: onDiscord, make: func(ctx context.Context) sectionBuild { return d.delegation(ctx, voice) },
		rests: func(ctx context.Context) { wait(ctx, longestSpeech, func() bool { return d.stillIn(access.Discord) }) },
	})
	for _, f := range findings {
		if !f.Works {
			d.shows(f.Notice())
		}
	}
	return findings
}

// stillIn reports whether nothing is being said in the rooms of a provider.
func (d *daemon) stillIn(provider string) bool {
	return !slices.ContainsFunc(d.rooms.now(), func(c roomEntry) bool { return c.is.Provider == provider && !c.Still() })
}

// delegation returns the bot, if there is to be one.
func (d *daemon) delegation(ctx context.Context, voice bool) sectionBuild {
	is := sectionBuild{begins: func() { d.discordBot.Store(nil) }}
	if !d.config().Providers.Discord.Enabled {
		return is
	}
	f := probe.Finding{Thing: "discord", Works: true}
	var hears, speaks bool
	if voice && d.config().Providers.Discord.Join != discord.JoinNever {
		roles := probe.SpeechRoles(ctx)
		hears = roles["hear"].MayWork() && roles["media"].MayWork()
		speaks = hears && d.config().Outlets.Discord.Voice && roles["say"].MayWork()
	}
	switch {
	case hears && speaks:
		f.Text = "reads, writes, hears and speaks there"
	case hears:
		f.Text = "reads, writes and hears there"
	default:
		f.Text = "reads and writes there, but joins no voice channel"
	}
	e, parts, err := d.discord(hears, speaks)
	if err != nil {
		f.Works = false
		f.Text, f.Cure = probe.Explain(err)
		is.findings = []probe.Finding{f}
		return is
	}
	return sectionBuild{parts: parts, findings: []probe.Finding{f}, begins: func() { d.discordBot.Store(e) }}
}
