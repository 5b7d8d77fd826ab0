package discord

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"earshot"
	"earshot/internal/discord/compose"
	"earshot/internal/discord/gateway"
)

// asks is the command that the provider itself answers: a message to the agent.
var asks = Command{Name: "ask", Args: "TEXT", Help: "ask me something, for all to see"}

// optionName is the name of the one option of a command.
const optionName = "args"

// Discord's limits.
const (
	mostCommands = 100
	mostHelp     = 100 // characters
	mostParts    = 5   // of an answer
)

// A request is a command that somebody gave.
type request struct {
	to      ticket
	in      *channel
	command earshot.Command
	event   earshot.Event // without a body
}

// A question is a text that somebody asks in public.
type question struct {
	to    ticket
	own   bool // with their own words alone; see [earshot.OwnWords]
	in    *channel
	text  string
	event earshot.Event // without a name or a body
}

// A privateAnswer answers at once, visible only to the person who asked.
type privateAnswer struct {
	to   ticket
	text string
}

// staleCommands are the commands of a guild that must be registered again.
type staleCommands struct{ guild uint64 }

// A ticket is what an answer to an interaction needs. Its token is a secret: anybody who has it
// can answer.
type ticket struct {
	id, app string
	token   string
}

// giver returns who gave a command, and their membership of the guild, nil outside a guild. Every
// command has a giver.
func giver(i *discordgo.Interaction) (*discordgo.User, *discordgo.Member) {
	if i.Member != nil && i.Member.User != nil {
		return i.Member.User, i.Member
	}
	return i.User, nil
}

// mayAsk reports whether a command may be carried out.
func (w *guildState) mayAsk(i *discordgo.Interaction) bool {
	u, _ := giver(i)
	c := w.channels[number(i.ChannelID)]
	return u != nil && c != nil && !u.Bot && in(w.listed.users, number(u.ID)) && w.takesPart(c) && (c.with == 0 || c.with == number(u.ID))
}

// asked handles a slash command.
func (w *guildState) asked(i *discordgo.Interaction, now time.Time) []action {
	u, _ := giver(i)
	if u == nil || i.Type == discordgo.InteractionPing || number(i.ID) == 0 || i.Token == "" {
		return nil
	}
	to := ticket{digits(number(i.ID)), digits(cmp.Or(number(i.AppID), w.app)), i.Token}
	if i.Type == discordgo.InteractionApplicationCommandAutocomplete {
		return nil // we offer no autocompletion
	}
	d, ok := i.Data.(discordgo.ApplicationCommandInteractionData)
	switch {
	case !ok || i.Type != discordgo.InteractionApplicationCommand || d.CommandType > discordgo.ChatApplicationCommand:
		return []action{privateAnswer{to: to, text: "That is not from me, or from an earlier version; type / to see what there is."}}
	case !w.mayAsk(i):
		return []action{privateAnswer{to: to, text: "I take no part here; ask whoever runs me."}}
	}
	user, c := number(u.ID), w.channels[number(i.ChannelID)]
	e := earshot.Event{At: now, From: handle(user)}
	given := args(d.Options)
	switch {
	case (d.Name == asks.Name || d.Name == earshot.OwnWords) && given == "":
		return []action{privateAnswer{to: to, text: "What do you want to ask? /" + d.Name + " TEXT"}}
	case d.Name == asks.Name:
		e.Via = text
		return append(w.comes(c, user, now), question{to: to, in: c, text: given, event: e})
	case !slices.ContainsFunc(w.commands, func(row Command) bool { return row.Name == d.Name }):
		return []action{
			privateAnswer{to: to, text: "There is no such command any more. The list is brought up to date; type / again in a minute."},
			staleCommands{c.guild},
		}
	}
	if d.Name == earshot.OwnWords {
		e.Via = text
		return append(w.comes(c, user, now), question{to: to, own: true, in: c, text: given, event: e})
	}
	e.ID = gateway.EventOf(c.id, number(i.ID)) // no message has this number
	return []action{request{to, c, earshot.Command{Name: d.Name, Args: earshot.Text(given)}, e}}
}

// offered returns the commands in Discord's form; alone is set for direct messages.
func offered(rows []Command, alone bool) []*discordgo.ApplicationCommand {
	list := []*discordgo.ApplicationCommand{}
	for _, row := range append([]Command{asks}, rows...) {
		if len(list) == mostCommands || !proper.MatchString(row.Name) || row.Name == asks.Name && len(list) > 0 {
			continue
		}
		c := &discordgo.ApplicationCommand{
			Type: discordgo.ChatApplicationCommand, Name: row.Name, Description: bounded(cmp.Or(strings.TrimSpace(row.Help), row.Name), mostHelp),
		}
		if alone {
			c.Contexts = &[]discordgo.InteractionContextType{discordgo.InteractionContextBotDM}
		}
		if row.Args != "" {
			c.Options = []*discordgo.ApplicationCommandOption{{
				Type: discordgo.ApplicationCommandOptionString, Name: optionName, Description: bounded(row.Args, mostHelp),
				Required: needed(row.Args), MaxLength: mostText,
			}}
		}
		list = append(list, c)
	}
	return list
}

// needed reports whether a command requires its arguments: they are not in brackets.
func needed(args string) bool { return !strings.HasPrefix(args, "[") }

// sameCommands reports whether Discord has the right commands.
func sameCommands(have, want []*discordgo.ApplicationCommand) bool {
	if len(have) != len(want) {
		return false
	}
	have = slices.DeleteFunc(slices.Clone(have), func(c *discordgo.ApplicationCommand) bool { return c == nil })
	byName := func(a, b *discordgo.ApplicationCommand) int { return strings.Compare(a.Name, b.Name) }
	have, want = slices.SortedFunc(slices.Values(have), byName), slices.SortedFunc(slices.Values(want), byName)
	return slices.EqualFunc(have, want, sameCommand)
}

func sameCommand(a, b *discordgo.ApplicationCommand) bool {
	contexts := func(c *discordgo.ApplicationCommand) []discordgo.InteractionContextType {
		if c.Contexts == nil || b.Contexts == nil { // Discord lists some that were not requested
			return nil
		}
		return *c.Contexts
	}
	return a.Name == b.Name && a.Description == b.Description && cmp.Or(a.Type, 1) == cmp.Or(b.Type, 1) && slices.Equal(contexts(a), contexts(b)) &&
		slices.EqualFunc(a.Options, b.Options, func(a, b *discordgo.ApplicationCommandOption) bool {
			return a != nil && b != nil && a.Type == b.Type && a.Name == b.Name && a.Description == b.Description && a.Required == b.Required && a.MaxLength == b.MaxLength
		})
}

// answers splits an answer into parts that Discord accepts. It is text for a terminal, with
// columns, and is shown as such.
func answers(text string) (parts []string) {
	text = strings.TrimRight(tidy(text), "\n ")
	if text == "" {
		return []string{"Done."}
	}
	text = strings.ReplaceAll(text, "```", "`\u200b`\u200b`")
	for _, p := range compose.All("```text\n"+text+"\n```", compose.Names{}) {
		if len(parts) == mostParts {
			return append(parts, "-# There is more, which is too long to be shown here.")
		}
		parts = append(parts, p.Content)
	}
	return parts
}

// nobody is the list of people that an answer may mention.
var nobody = map[string]any{"parse": []string{}}

const ephemeral = 1 << 6 // visible only to the person who asked
