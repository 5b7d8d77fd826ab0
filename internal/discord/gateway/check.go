package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"
)

// A Permission is one of Discord's, with the name in its settings.
type Permission struct {
	Bit  int64
	Name string
}

// Lacking returns the names of the permissions in a list that are not among those that somebody has.
func Lacking(have int64, list []Permission) (names []string) {
	for _, p := range list {
		if have&p.Bit == 0 {
			names = append(names, p.Name)
		}
	}
	return names
}

// needs are the permissions without which a bot cannot take part.
var needs = []Permission{
	{discordgo.PermissionViewChannel, "View Channels"},
	{discordgo.PermissionSendMessages, "Send Messages"},
	{discordgo.PermissionSendMessagesInThreads, "Send Messages in Threads"},
	{discordgo.PermissionReadMessageHistory, "Read Message History"},
	{discordgo.PermissionVoiceConnect, "Connect"},
	{discordgo.PermissionVoiceSpeak, "Speak"},
	{discordgo.PermissionVoiceUseVAD, "Use Voice Activity"},
}

// mostGuilds is how many guilds a check examines: one page of the interface.
const mostGuilds = 200

// Check finds faults of the token, the intents and the permissions without opening the gateway, so
// it uses up no session start. It returns the faults joined, each a [*Fault] with its cure;
// permissions are those of the guild, which a channel may change. If Discord cannot be reached,
// the error is no Fault.
func (s *Session) Check(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, s.within)
	defer done()
	if err := s.checkToken(ctx); err != nil {
		return err // the rest cannot be checked
	}
	var app application
	if _, _, err := s.fetch(ctx, "applications/@me", &app); err != nil {
		return s.unasked("the application", err)
	}
	var faults []error
	if not := off(s.intents, app.Flags); not != 0 {
		faults = append(faults, missing(4014, not))
	}
	var guilds []guild
	if _, _, err := s.fetch(ctx, "users/@me/guilds", &guilds); err != nil {
		return errors.Join(append(faults, s.unasked("its guilds", err))...)
	}
	if len(guilds) == 0 {
		faults = append(faults, &Fault{What: "the bot is in no guild", Fix: "open " + invitation(app.ID) + " and choose one"})
	}
	for _, g := range guilds[:min(len(guilds), mostGuilds)] {
		if f := g.lacks(app.ID); f != nil {
			faults = append(faults, f)
		}
	}
	return errors.Join(faults...)
}

// checkToken reports whether the token is valid, and a bot's.
func (s *Session) checkToken(ctx context.Context) error {
	if s.token() == "" {
		return &Fault{What: "there is no token", Fix: "make a bot at https://discord.com/developers/applications and copy its token under Bot, Reset Token"}
	}
	var me struct {
		Bot bool `json:"bot"`
	}
	code, _, err := s.fetch(ctx, "users/@me", &me)
	switch {
	case code == http.StatusUnauthorized:
		return refusal(code, s.intents)
	case err != nil:
		return s.unasked("who it is", err)
	case !me.Bot:
		return &Fault{What: "the token belongs to a person, and Discord does not allow programs to use it", Fix: "make a bot at https://discord.com/developers/applications and use its token"}
	}
	return nil
}

// unasked says that Discord could not be asked about something.
func (s *Session) unasked(what string, err error) error {
	return errors.New("asking Discord about " + what + ": " + s.clean(err))
}

// A guild is a guild in the interface's form.
type guild struct {
	ID          string `json:"id"`
	Permissions string `json:"permissions"`
	Owner       bool   `json:"owner"`
}

// lacks returns a fault for missing permissions in g, or nil. It gives the guild's number, not its
// name, which belongs to its people.
func (g guild) lacks(app string) *Fault {
	have, _ := strconv.ParseInt(g.Permissions, 10, 64)
	if g.Owner || have&discordgo.PermissionAdministrator != 0 {
		return nil
	}
	names := Lacking(have, needs)
	if names == nil {
		return nil
	}
	return &Fault{
		What: fmt.Sprintf("the bot lacks permissions in guild %d: %s", Number(g.ID), strings.Join(names, ", ")),
		Fix:  "give its role these permissions, or open " + invitation(app) + " once more",
	}
}

// invitation returns the address that invites a bot into a guild with the needed permissions.
func invitation(app string) string {
	var all int64
	for _, n := range needs {
		all |= n.Bit
	}
	q := url.Values{
		"client_id":   {Digits(Number(app))},
		"scope":       {"bot applications.commands"},
		"permissions": {strconv.FormatInt(all, 10)},
	}
	return "https://discord.com/oauth2/authorize?" + q.Encode()
}
