package gateway

import (
	"fmt"
	"strings"

	"github.com/bwmarrin/discordgo"
)

// privileged are the intents that must be switched on for an application.
const privileged = discordgo.IntentGuildPresences | discordgo.IntentGuildMembers | discordgo.IntentMessageContent

// switches are the privileged intents, their names in Discord's settings, and the application
// flags that show them: for an approved application, and for one in fewer than 100 guilds.
var switches = []struct {
	intent discordgo.Intent
	name   string
	flags  int
}{
	{discordgo.IntentGuildPresences, "Presence Intent", 1<<12 | 1<<13},
	{discordgo.IntentGuildMembers, "Server Members Intent", 1<<14 | 1<<15},
	{discordgo.IntentMessageContent, "Message Content Intent", 1<<18 | 1<<19},
}

// off returns which of the intents an application with these flags may not use.
func off(intents discordgo.Intent, flags int) discordgo.Intent {
	var not discordgo.Intent
	for _, s := range switches {
		if intents&s.intent != 0 && flags&s.flags == 0 {
			not |= s.intent
		}
	}
	return not
}

// missing returns the fault of intents that are not switched on.
func missing(code int, intents discordgo.Intent) *Fault {
	var names []string
	for _, s := range switches {
		if intents&s.intent != 0 {
			names = append(names, s.name)
		}
	}
	what := strings.Join(names, ", ")
	if what == "" {
		what = "an intent"
	}
	return &Fault{code, fmt.Sprintf("the bot lacks what it needs to hear and read: %s (%d)", what, code),
		"switch it on at https://discord.com/developers/applications under Bot, Privileged Gateway Intents"}
}
