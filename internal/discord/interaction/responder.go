package interaction

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"earshot"
	"earshot/internal/discord/compose"
	"earshot/internal/discord/gateway"
)

// answerWithin is how long a command may take: Discord forgets it after a quarter of an hour.
const answerWithin = 14 * time.Minute

// The kinds of a first response to an interaction.
const (
	showMessage = 4 // at once
	acknowledge = 5 // the answer follows
)

// ephemeral is the flag of an answer that is visible only to the person who asked.
const ephemeral = 1 << 6

// A Responder registers commands, and answers those that somebody gave, in the background. Its
// methods do not wait for Discord.
type Responder struct {
	Client interface { // a [*gateway.Session] is one
		Ask(ctx context.Context, method, path string, body, into any) error
	}
	Background *gateway.Background
	Tell       func(earshot.Notice) // receives faults with their cures
}

// Register updates the registered commands of a guild, or of direct messages for 0.
func (r *Responder) Register(ctx context.Context, app, guild uint64, commands []Command) {
	want := offer(commands, guild == 0)
	path := "applications/" + gateway.Digits(app)
	if guild != 0 {
		path += "/guilds/" + gateway.Digits(guild)
	}
	path += "/commands"
	r.Background.RunGuild(ctx, func() {
		var have []*discordgo.ApplicationCommand
		err := r.Client.Ask(ctx, http.MethodGet, path, nil, &have)
		if err == nil && !sameCommands(have, want) {
			err = r.Client.Ask(ctx, http.MethodPut, path, want, nil)
		}
		if refused := (*gateway.Refusal)(nil); errors.As(err, &refused) && refused.Status == http.StatusForbidden {
			r.Tell(earshot.Notice{
				Key: "discord commands", Text: "the bot may not register commands in a guild",
				Cure: "open its invitation again, with the scope applications.commands (docs/discord.md)",
			})
		} else if err != nil {
			r.Background.LogFailure(ctx, "offering commands", err)
		}
	}, func() {})
}

// Answer acknowledges a command, and answers it with what do returns, which has 14 minutes.
func (r *Responder) Answer(ctx context.Context, v *Invocation, do func(context.Context) string) {
	r.Background.Run(func() {
		if err := r.respond(ctx, v.to, acknowledge, map[string]any{"flags": ephemeral}); err != nil {
			r.Background.LogFailure(ctx, "taking a command", err)
			return
		}
		ctx, done := context.WithTimeout(ctx, answerWithin)
		defer done()
		r.answer(ctx, v.to, do(ctx))
	}, func() { r.refuse(ctx, v.to, "There are too many commands just now; try again in a moment.") })
}

// answer answers a command that was acknowledged.
func (r *Responder) answer(ctx context.Context, to ticket, text string) {
	for i, part := range split(text) {
		body := map[string]any{"content": part, "allowed_mentions": compose.Nobody}
		var err error
		if i == 0 {
			err = r.Client.Ask(ctx, http.MethodPatch, "webhooks/"+to.app+"/"+to.token+"/messages/@original", body, nil)
		} else {
			body["flags"] = ephemeral
			err = r.Client.Ask(ctx, http.MethodPost, "webhooks/"+to.app+"/"+to.token, body, nil)
		}
		if err != nil {
			r.Background.LogFailure(ctx, "answering a command", err)
			return
		}
	}
}

// Show shows a question to everybody, and calls shown with the number of the resulting message.
func (r *Responder) Show(ctx context.Context, v *Invocation, shown func(message uint64)) {
	r.Background.Run(func() {
		quotation := compose.Shorten("> "+strings.ReplaceAll(v.Args, "\n", "\n> "), compose.Longest)
		if err := r.respond(ctx, v.to, showMessage, map[string]any{"content": quotation, "allowed_mentions": compose.Nobody}); err != nil {
			r.Background.LogFailure(ctx, "taking a question", err)
			return
		}
		var is discordgo.Message
		if err := r.Client.Ask(ctx, http.MethodGet, "webhooks/"+v.to.app+"/"+v.to.token+"/messages/@original", nil, &is); err != nil {
			r.Background.LogFailure(ctx, "taking a question", err)
			return
		}
		shown(gateway.Number(is.ID))
	}, func() { r.refuse(ctx, v.to, "There are too many questions just now; try again in a moment.") })
}

// Refuse answers a command that was refused.
func (r *Responder) Refuse(ctx context.Context, f *Refusal) {
	r.Background.Run(func() { r.refuse(ctx, f.to, f.text) }, func() {})
}

// refuse answers at once, visible only to the person who asked.
func (r *Responder) refuse(ctx context.Context, to ticket, text string) {
	if err := r.respond(ctx, to, showMessage, map[string]any{"content": text, "flags": ephemeral, "allowed_mentions": compose.Nobody}); err != nil {
		r.Background.LogFailure(ctx, "answering a command", err)
	}
}

// respond sends the first response to an interaction, which Discord wants within three seconds.
func (r *Responder) respond(ctx context.Context, to ticket, kind int, data map[string]any) error {
	return r.Client.Ask(ctx, http.MethodPost, "interactions/"+to.id+"/"+to.token+"/callback", map[string]any{"type": kind, "data": data}, nil)
}
