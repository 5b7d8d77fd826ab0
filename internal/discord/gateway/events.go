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

// structs are discordgo's structs for the events that we may need. Its own table is not exported.
var structs = map[string]func() any{
	"READY":                         func() any { return new(discordgo.Ready) },
	"RESUMED":                       func() any { return new(discordgo.Resumed) },
	"CHANNEL_CREATE":                func() any { return new(discordgo.ChannelCreate) },
	"CHANNEL_UPDATE":                func() any { return new(discordgo.ChannelUpdate) },
	"CHANNEL_DELETE":                func() any { return new(discordgo.ChannelDelete) },
	"THREAD_CREATE":                 func() any { return new(discordgo.ThreadCreate) },
	"THREAD_UPDATE":                 func() any { return new(discordgo.ThreadUpdate) },
	"THREAD_DELETE":                 func() any { return new(discordgo.ThreadDelete) },
	"THREAD_LIST_SYNC":              func() any { return new(discordgo.ThreadListSync) },
	"THREAD_MEMBERS_UPDATE":         func() any { return new(discordgo.ThreadMembersUpdate) },
	"GUILD_CREATE":                  func() any { return new(discordgo.GuildCreate) },
	"GUILD_UPDATE":                  func() any { return new(discordgo.GuildUpdate) },
	"GUILD_DELETE":                  func() any { return new(discordgo.GuildDelete) },
	"GUILD_MEMBER_ADD":              func() any { return new(discordgo.GuildMemberAdd) },
	"GUILD_MEMBER_UPDATE":           func() any { return new(discordgo.GuildMemberUpdate) },
	"GUILD_MEMBER_REMOVE":           func() any { return new(discordgo.GuildMemberRemove) },
	"GUILD_MEMBERS_CHUNK":           func() any { return new(discordgo.GuildMembersChunk) },
	"GUILD_ROLE_CREATE":             func() any { return new(discordgo.GuildRoleCreate) },
	"GUILD_ROLE_UPDATE":             func() any { return new(discordgo.GuildRoleUpdate) },
	"GUILD_ROLE_DELETE":             func() any { return new(discordgo.GuildRoleDelete) },
	"STAGE_INSTANCE_CREATE":         func() any { return new(discordgo.StageInstanceEventCreate) },
	"STAGE_INSTANCE_DELETE":         func() any { return new(discordgo.StageInstanceEventDelete) },
	"MESSAGE_CREATE":                func() any { return new(discordgo.MessageCreate) },
	"MESSAGE_UPDATE":                func() any { return new(discordgo.MessageUpdate) },
	"MESSAGE_DELETE":                func() any { return new(discordgo.MessageDelete) },
	"MESSAGE_DELETE_BULK":           func() any { return new(discordgo.MessageDeleteBulk) },
	"MESSAGE_REACTION_ADD":          func() any { return new(discordgo.MessageReactionAdd) },
	"MESSAGE_REACTION_REMOVE":       func() any { return new(discordgo.MessageReactionRemove) },
	"MESSAGE_REACTION_REMOVE_ALL":   func() any { return new(discordgo.MessageReactionRemoveAll) },
	"MESSAGE_REACTION_REMOVE_EMOJI": func() any { return new(discordgo.MessageReactionRemoveEmoji) },
	"PRESENCE_UPDATE":               func() any { return new(discordgo.PresenceUpdate) },
	"TYPING_START":                  func() any { return new(discordgo.TypingStart) },
	"USER_UPDATE":                   func() any { return new(discordgo.UserUpdate) },
	"VOICE_SERVER_UPDATE":           func() any { return new(discordgo.VoiceServerUpdate) },
	"VOICE_STATE_UPDATE":            func() any { return new(discordgo.VoiceStateUpdate) },
	"INTERACTION_CREATE":            func() any { return new(discordgo.InteractionCreate) },
}

// Decode returns the gateway's data for an event name, such as MESSAGE_CREATE, in the form for the
// receiver of events.
func Decode(name string, data []byte) any { return decode(envelope{Type: name, Data: data}) }

// decode returns the event in e as discordgo's struct. An event without one, or that does not fit
// it, is returned unchanged.
func decode(e envelope) any {
	if made, ok := structs[e.Type]; ok {
		for _, data := range [][]byte{e.Data, plain(e)} {
			event := made()
			if data != nil && json.Unmarshal(data, event) == nil && whole(event) {
				return event
			}
		}
	}
	return &discordgo.Event{Operation: e.Op, Sequence: e.Seq, Type: e.Type, RawData: e.Data}
}

// plain removes from a message what is not its words: discordgo refuses a whole message for one
// button that it does not know.
func plain(e envelope) []byte {
	if e.Type != "MESSAGE_CREATE" && e.Type != "MESSAGE_UPDATE" {
		return nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(e.Data, &fields) != nil {
		return nil
	}
	for _, part := range []string{"components", "embeds", "message_snapshots", "poll", "sticker_items", "interaction_metadata", "interaction"} {
		delete(fields, part)
	}
	delete(fields, "referenced_message") // message_reference still names it
	data, _ := json.Marshal(fields)
	return data
}

// whole completes an event, and returns false if its subject is missing: null is valid JSON for
// all of them.
func whole(event any) bool {
	switch e := event.(type) {
	case *discordgo.Ready:
		return e.User != nil && e.SessionID != ""
	case *discordgo.GuildCreate:
		return e.Guild != nil && placed(e.Guild)
	case *discordgo.GuildUpdate:
		return e.Guild != nil && placed(e.Guild)
	case *discordgo.GuildDelete:
		return e.Guild != nil
	case *discordgo.ChannelCreate:
		return e.Channel != nil
	case *discordgo.ChannelUpdate:
		return e.Channel != nil
	case *discordgo.ChannelDelete:
		return e.Channel != nil
	case *discordgo.ThreadCreate:
		return e.Channel != nil
	case *discordgo.ThreadUpdate:
		return e.Channel != nil
	case *discordgo.ThreadDelete:
		return e.Channel != nil
	case *discordgo.GuildMemberAdd:
		return e.Member != nil && e.Member.User != nil
	case *discordgo.GuildMemberUpdate:
		return e.Member != nil && e.Member.User != nil
	case *discordgo.GuildMemberRemove:
		return e.Member != nil && e.Member.User != nil
	case *discordgo.GuildRoleCreate:
		return e.GuildRole != nil && e.Role != nil
	case *discordgo.GuildRoleUpdate:
		return e.GuildRole != nil && e.Role != nil
	case *discordgo.StageInstanceEventCreate:
		return e.StageInstance != nil
	case *discordgo.StageInstanceEventDelete:
		return e.StageInstance != nil
	case *discordgo.MessageCreate:
		return e.Message != nil && e.Author != nil
	case *discordgo.MessageUpdate:
		return e.Message != nil
	case *discordgo.MessageDelete:
		return e.Message != nil
	case *discordgo.MessageReactionAdd:
		return e.MessageReaction != nil
	case *discordgo.MessageReactionRemove:
		return e.MessageReaction != nil
	case *discordgo.MessageReactionRemoveAll:
		return e.MessageReaction != nil
	case *discordgo.PresenceUpdate:
		return e.User != nil
	case *discordgo.UserUpdate:
		return e.User != nil
	case *discordgo.VoiceStateUpdate:
		return e.VoiceState != nil
	case *discordgo.InteractionCreate:
		return e.Interaction != nil
	}
	return true
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
