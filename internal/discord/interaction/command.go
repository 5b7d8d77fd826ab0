package interaction

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"earshot"
	"earshot/internal/discord/compose"
	"earshot/internal/discord/gateway"
)

// A Command is a command offered after a slash.
type Command struct {
	Name string // without the slash
	Args string // the arguments as help shows them; empty if it takes none
	Help string
}

// ask is the command that is offered besides the daemon's: a message to the agent.
var ask = Command{Name: "ask", Args: "TEXT", Help: "ask me something, for all to see"}

// optionName is the name of the one option of a command.
const optionName = "args"

// Discord's limits.
const (
	mostCommands = 100
	mostHelp     = 100 // characters
	mostParts    = 5   // of an answer
)

// properName matches the allowed names of commands.
var properName = regexp.MustCompile(`^[-_a-z0-9]{1,32}$`)

// A ticket is what an answer to an interaction needs. Its token is a secret: anybody who has it
// can answer.
type ticket struct {
	id, app string
	token   string
}

// An Invocation is a command that somebody gave.
type Invocation struct {
	Name string
	Args string
	User uint64
	ID   uint64 // of the interaction; no message has this number

	to ticket
}

// Question reports whether it is a text that somebody asks in public.
func (v *Invocation) Question() bool { return v.Name == ask.Name || v.OwnWords() }

// OwnWords reports whether it is a question with its words alone; see [earshot.OwnWords].
func (v *Invocation) OwnWords() bool { return v.Name == earshot.OwnWords }

// A Refusal answers a command at once, and nothing comes of it.
type Refusal struct {
	Stale bool   // the commands of Guild, or of direct messages for 0, must be registered again
	Guild uint64 // if it is stale

	to   ticket
	text string
}

// A Roster knows who takes part; a [earshot/internal/discord/roster.Roster] is one.
type Roster interface {
	App() uint64 // the number of the bot's application; 0 until it is known
	MayAsk(i *discordgo.Interaction) bool
}

// Parse returns what somebody wants who gave one of these commands, or why they do not get it.
// Both are nil if it is nothing to answer.
func Parse(r Roster, commands []Command, i *discordgo.Interaction) (*Invocation, *Refusal) {
	u, _ := gateway.Giver(i)
	if u == nil || i.Type == discordgo.InteractionPing || gateway.Number(i.ID) == 0 || i.Token == "" {
		return nil, nil
	}
	if i.Type == discordgo.InteractionApplicationCommandAutocomplete {
		return nil, nil // we offer no autocompletion
	}
	to := ticket{gateway.Digits(gateway.Number(i.ID)), gateway.Digits(cmp.Or(gateway.Number(i.AppID), r.App())), i.Token}
	d, ok := i.Data.(discordgo.ApplicationCommandInteractionData)
	switch {
	case !ok || i.Type != discordgo.InteractionApplicationCommand || d.CommandType > discordgo.ChatApplicationCommand:
		return nil, &Refusal{to: to, text: "That is not from me, or from an earlier version; type / to see what there is."}
	case !r.MayAsk(i):
		return nil, &Refusal{to: to, text: "I take no part here; ask whoever runs me."}
	}
	v := &Invocation{
		Name: d.Name, Args: parseArgs(d.Options), User: gateway.Number(u.ID), ID: gateway.Number(i.ID), to: to,
	}
	switch {
	case v.Question() && v.Args == "":
		return nil, &Refusal{to: to, text: "What do you want to ask? /" + d.Name + " TEXT"}
	case v.Name != ask.Name && !slices.ContainsFunc(commands, func(c Command) bool { return c.Name == v.Name }):
		return nil, &Refusal{to: to, text: "There is no such command any more. The list is brought up to date; type / again in a minute.", Stale: true, Guild: gateway.Number(i.GuildID)}
	}
	return v, nil
}

// parseArgs returns the text option of a command.
func parseArgs(options []*discordgo.ApplicationCommandInteractionDataOption) string {
	i := slices.IndexFunc(options, func(o *discordgo.ApplicationCommandInteractionDataOption) bool {
		return o != nil && o.Type == discordgo.ApplicationCommandOptionString
	})
	if i < 0 {
		return ""
	}
	s, _ := options[i].Value.(string)
	return strings.TrimSpace(compose.Shorten(compose.Clean(s), compose.LongestRead))
}

// offer returns the commands in Discord's form; direct is set for direct messages.
func offer(commands []Command, direct bool) []*discordgo.ApplicationCommand {
	list := []*discordgo.ApplicationCommand{}
	for _, is := range append([]Command{ask}, commands...) {
		if len(list) == mostCommands || !properName.MatchString(is.Name) || is.Name == ask.Name && len(list) > 0 {
			continue
		}
		c := &discordgo.ApplicationCommand{
			Type: discordgo.ChatApplicationCommand, Name: is.Name, Description: compose.Shorten(cmp.Or(strings.TrimSpace(is.Help), is.Name), mostHelp),
		}
		if direct {
			c.Contexts = &[]discordgo.InteractionContextType{discordgo.InteractionContextBotDM}
		}
		if is.Args != "" {
			c.Options = []*discordgo.ApplicationCommandOption{{
				Type: discordgo.ApplicationCommandOptionString, Name: optionName, Description: compose.Shorten(is.Args, mostHelp),
				Required: !strings.HasPrefix(is.Args, "["), MaxLength: compose.LongestRead,
			}}
		}
		list = append(list, c)
	}
	return list
}

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

// split splits an answer into parts that Discord accepts. It is text for a terminal, with columns,
// and is shown as such.
func split(answer string) (parts []string) {
	answer = strings.TrimRight(compose.Clean(answer), "\n ")
	if answer == "" {
		return []string{"Done."}
	}
	answer = strings.ReplaceAll(answer, "```", "`\u200b`\u200b`")
	for _, p := range compose.All("```text\n"+answer+"\n```", nil) {
		if len(parts) == mostParts {
			return append(parts, "-# There is more, which is too long to be shown here.")
		}
		parts = append(parts, p.Content)
	}
	return parts
}
