package daemon

import (
	"context"
	"slices"

	"earshot"
	"earshot/api"
	"earshot/daemon/access"
	"earshot/daemon/devices"
	"earshot/daemon/section"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/internal/discord/bot"
	"earshot/internal/probe"
	"earshot/internal/wait"
	"earshot/providers/discord"
)

// InstallDiscord gives the daemon its bot, if it is configured, and reports the result. Voice says
// whether the bot may join voice channels.
func (d *Daemon) InstallDiscord(ctx context.Context, voice bool) []api.CheckResult {
	return d.show(d.sections.Install(ctx, &section.Section{
		Name: discordSection, Build: func(ctx context.Context) section.Build { return d.buildDiscord(ctx, voice) },
		AwaitRest: func(ctx context.Context) {
			wait.Until(ctx, devices.LongestSpeech, func() bool { return d.stillIn(access.Discord) })
		},
	}))
}

// stillIn returns a function that reports whether nothing is being said in the rooms of a
// provider.
func (d *Daemon) stillIn(provider string) bool {
	return !slices.ContainsFunc(d.rooms.Now(), func(c roomEntry) bool { return c.Is.Provider == provider && !c.Room.Still() })
}

// buildDiscord returns the bot, if it is configured.
func (d *Daemon) buildDiscord(ctx context.Context, voice bool) section.Build {
	is := section.Build{Started: func() { d.discordBot.Store(nil) }}
	if !d.Config().Providers.Discord.Enabled {
		return is
	}
	f := api.CheckResult{Thing: "discord", Works: true}
	var hears, speaks bool
	if voice && d.Config().Providers.Discord.Join != discord.JoinNever {
		roles := probe.SpeechRoles(ctx)
		hears = roles["hear"].MayWork() && roles["media"].MayWork()
		speaks = hears && d.Config().Outlets.Discord.Voice && roles["say"].MayWork()
	}
	switch {
	case hears && speaks:
		f.Text = "reads, writes, hears and speaks there"
	case hears:
		f.Text = "reads, writes and hears there"
	default:
		f.Text = "reads and writes there, but joins no voice channel"
	}
	b, err := bot.New(ctx, bot.Config{
		Settings: d.Config, People: d.people, Store: d.store, Rooms: discordRooms{d}, Report: d.report, Dropped: d.countDrops,
		Restarts: d.options.Restarts, Log: d.log, Hears: hears, Speaks: speaks,
	})
	if err != nil {
		f.Works = false
		f.Text, f.Cure = earshot.Explain(err)
		is.Findings = []api.CheckResult{f}
		return is
	}
	parts := []section.Part{{Name: "discord", Run: b.Run}}
	if d.cluster != nil {
		parts[0].Run = (&discordShards{clusterMember: d.cluster, bot: b, hears: hears}).run
	} else if hears {
		parts = append(parts, section.Part{Name: "recognition of calls", Run: b.Recognise})
	}
	return section.Build{Parts: parts, Findings: []api.CheckResult{f}, Started: func() { d.discordBot.Store(b) }}
}

// discordRooms are the rooms of the daemon in the form that its bot uses.
type discordRooms struct{ daemon *Daemon }

// Open implements [bot.Rooms].
func (h discordRooms) Open(ctx context.Context, is executive.Room) (bot.Room, error) {
	r, err := h.daemon.openRoom(ctx, is)
	return discordRoom(r), err
}

// Find implements [bot.Rooms].
func (h discordRooms) Find(id earshot.RoomID) (bot.Room, bool) {
	r, ok := h.daemon.rooms.Find(id)
	return discordRoom(r), ok
}

// discordRoom returns a room in the form that the bot uses.
func discordRoom(r roomEntry) bot.Room {
	return bot.Room{Room: r.Room, ID: r.Is.ID, Closed: r.Shut()}
}

// Channel implements [bot.Rooms].
func (h discordRooms) Channel(id earshot.RoomID) (executive.Room, bool) {
	return h.daemon.gate.Channel(id)
}

// Audiences implements [bot.Rooms].
func (h discordRooms) Audiences(id earshot.RoomID) []earshot.Audience { return h.daemon.audiences(id) }

// Waiting implements [bot.Rooms].
func (h discordRooms) Waiting(ctx context.Context) ([]earshot.RoomID, error) {
	return h.daemon.waitingRooms(ctx)
}

// Commands implements [bot.Rooms].
func (h discordRooms) Commands() command.Table { return h.daemon.deskRoom().Commands() }

// Admit implements [bot.Rooms].
func (h discordRooms) Admit(ctx context.Context, e earshot.Event) error {
	return h.daemon.Admit(ctx, e)
}

// Do implements [bot.Rooms].
func (h discordRooms) Do(ctx context.Context, e earshot.Event) (string, error) {
	return backend(h).Do(ctx, e)
}
