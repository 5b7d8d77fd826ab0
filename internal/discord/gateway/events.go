package gateway

import (
	"encoding/json"

	"github.com/bwmarrin/discordgo"
)

// An envelope is the outer form of every gateway message.
type envelope struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  int64           `json:"s"`
	Type string          `json:"t"`
}

// The gateway's operations that a session knows.
const (
	opDispatch     = 0
	opHeartbeat    = 1
	opIdentify     = 2
	opVoiceState   = 4
	opResume       = 6
	opReconnect    = 7
	opInvalid      = 9
	opHello        = 10
	opHeartbeatAck = 11
)

// structs read the events that somebody needs into discordgo's structs. Its own table is not
// exported. Each returns nil for data that do not fit, or without the event's subject: null is valid
// JSON for all of them.
var structs = map[string]func(data []byte) any{
	"READY":               into(func(e *discordgo.Ready) bool { return e.User != nil && e.SessionID != "" }),
	"RESUMED":             into(func(*discordgo.Resumed) bool { return true }),
	"CHANNEL_CREATE":      into(func(e *discordgo.ChannelCreate) bool { return e.Channel != nil }),
	"CHANNEL_UPDATE":      into(func(e *discordgo.ChannelUpdate) bool { return e.Channel != nil }),
	"CHANNEL_DELETE":      into(func(e *discordgo.ChannelDelete) bool { return e.Channel != nil }),
	"THREAD_CREATE":       into(func(e *discordgo.ThreadCreate) bool { return e.Channel != nil }),
	"THREAD_UPDATE":       into(func(e *discordgo.ThreadUpdate) bool { return e.Channel != nil }),
	"THREAD_DELETE":       into(func(e *discordgo.ThreadDelete) bool { return e.Channel != nil }),
	"THREAD_LIST_SYNC":    into(func(*discordgo.ThreadListSync) bool { return true }),
	"GUILD_CREATE":        into(func(e *discordgo.GuildCreate) bool { return e.Guild != nil && placed(e.Guild) }),
	"GUILD_UPDATE":        into(func(e *discordgo.GuildUpdate) bool { return e.Guild != nil && placed(e.Guild) }),
	"GUILD_DELETE":        into(func(e *discordgo.GuildDelete) bool { return e.Guild != nil }),
	"GUILD_MEMBER_UPDATE": into(func(e *discordgo.GuildMemberUpdate) bool { return e.Member != nil && e.Member.User != nil }),
	"GUILD_MEMBER_REMOVE": into(func(e *discordgo.GuildMemberRemove) bool { return e.Member != nil && e.Member.User != nil }),
	"GUILD_ROLE_CREATE":   into(func(e *discordgo.GuildRoleCreate) bool { return e.GuildRole != nil && e.Role != nil }),
	"GUILD_ROLE_UPDATE":   into(func(e *discordgo.GuildRoleUpdate) bool { return e.GuildRole != nil && e.Role != nil }),
	"GUILD_ROLE_DELETE":   into(func(*discordgo.GuildRoleDelete) bool { return true }),
	"MESSAGE_CREATE":      into(func(e *discordgo.MessageCreate) bool { return e.Message != nil && e.Author != nil }),
	"MESSAGE_UPDATE":      into(func(e *discordgo.MessageUpdate) bool { return e.Message != nil }),
	"MESSAGE_DELETE":      into(func(e *discordgo.MessageDelete) bool { return e.Message != nil }),
	"MESSAGE_DELETE_BULK": into(func(*discordgo.MessageDeleteBulk) bool { return true }),
	"TYPING_START":        into(func(*discordgo.TypingStart) bool { return true }),
	"VOICE_SERVER_UPDATE": into(func(*discordgo.VoiceServerUpdate) bool { return true }),
	"VOICE_STATE_UPDATE":  into(func(e *discordgo.VoiceStateUpdate) bool { return e.VoiceState != nil }),
	"INTERACTION_CREATE":  into(func(e *discordgo.InteractionCreate) bool { return e.Interaction != nil }),
}

// into returns a function that reads a struct of one type. Whole completes it, and returns false if
// its subject is missing.
func into[T any](whole func(*T) bool) func(data []byte) any {
	return func(data []byte) any {
		event := new(T)
		if json.Unmarshal(data, event) != nil || !whole(event) {
			return nil
		}
		return event
	}
}

// Decode returns the data of an event, such as MESSAGE_CREATE, as discordgo's struct. An event
// without one, or that does not fit it, is returned unchanged.
func Decode(name string, data []byte) any {
	if read, ok := structs[name]; ok {
		for _, data := range [][]byte{data, plain(name, data)} {
			if event := read(data); event != nil {
				return event
			}
		}
	}
	return &discordgo.Event{Type: name, RawData: data}
}

// plain removes from a message what is not its words: discordgo refuses a whole message for one
// button that it does not know.
func plain(name string, data []byte) []byte {
	if name != "MESSAGE_CREATE" && name != "MESSAGE_UPDATE" {
		return nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return nil
	}
	for _, part := range []string{"components", "embeds", "message_snapshots", "poll", "sticker_items", "interaction_metadata", "interaction"} {
		delete(fields, part)
	}
	delete(fields, "referenced_message") // message_reference still names it
	words, _ := json.Marshal(fields)
	return words
}

// placed sets the guild in the parts of a guild, where Discord leaves it out, and returns false if
// parts are missing.
func placed(g *discordgo.Guild) bool {
	for _, c := range append(g.Channels[:len(g.Channels):len(g.Channels)], g.Threads...) {
		if c == nil {
			return false
		}
		c.GuildID = g.ID
	}
	for _, m := range g.Members {
		if m == nil || m.User == nil {
			return false
		}
		m.GuildID = g.ID
	}
	for _, v := range g.VoiceStates {
		if v == nil {
			return false
		}
		v.GuildID = g.ID
	}
	return true
}

// Giver returns who gave an interaction, and their membership of the guild, nil outside a guild.
// Every command has a giver.
func Giver(i *discordgo.Interaction) (*discordgo.User, *discordgo.Member) {
	if i.Member != nil && i.Member.User != nil {
		return i.Member.User, i.Member
	}
	return i.User, nil
}
