package discord

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"earshot"
	"earshot/internal/discord/compose"
	"earshot/internal/discord/gateway"
	"earshot/internal/discord/roster"
)

// message returns the text of a message, and whether it has any content.
func (t *translator) message(c *roster.Channel, m *discordgo.Message) (earshot.Message, bool) {
	body := earshot.Message{Text: earshot.Text(t.words(c, m)), Attachments: attached(m)}
	if r := m.MessageReference; r != nil && r.Type == discordgo.MessageReferenceTypeDefault && m.Type == discordgo.MessageTypeReply && gateway.Number(r.MessageID) != 0 {
		in := c.ID
		if n := gateway.Number(r.ChannelID); n != 0 {
			in = n
		}
		body.ReplyTo = t.eventOf(in, gateway.Number(r.MessageID))
	}
	return body, body.Text != "" || len(body.Attachments) > 0
}

// attached names the files of a message.
func attached(m *discordgo.Message) (all []earshot.Attachment) {
	for _, a := range m.Attachments {
		if a != nil && len(all) < earshot.MaxAttachments {
			all = append(all, earshot.Attachment{
				Name: earshot.Text(compose.CleanLine(a.Filename)), Type: mediaType(a.ContentType), Size: int64(max(a.Size, 0)),
			})
		}
	}
	return all
}

// media matches a media type, without its parameters.
var media = regexp.MustCompile(`^[a-z]+/[a-z0-9][a-z0-9.+-]{0,60}`)

func mediaType(s string) string { return media.FindString(strings.ToLower(s)) }

// words returns a message as people read it, with the names of its non-text contents.
func (t *translator) words(c *roster.Channel, m *discordgo.Message) string {
	var parts []string
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" {
			parts = append(parts, s)
		}
	}
	add(t.read(c, m, m.Content))
	if r := m.MessageReference; r != nil && r.Type == discordgo.MessageReferenceTypeForward {
		for _, s := range m.MessageSnapshots {
			if s.Message != nil {
				add("[forwarded] " + t.read(c, s.Message, s.Message.Content))
			}
		}
	}
	for _, s := range m.StickerItems {
		if s != nil {
			add("[sticker: " + compose.CleanName(s.Name, "?") + "]")
		}
	}
	if m.Poll != nil {
		add("[poll: " + t.read(c, m, m.Poll.Question.Text) + "]")
	}
	if m.Author != nil && (m.Author.Bot || m.WebhookID != "") { // for a person they are previews of links
		for _, e := range m.Embeds {
			if e != nil {
				add(t.read(c, m, strings.TrimSpace(e.Title+"\n"+e.Description)))
			}
		}
	}
	return compose.Shorten(strings.Join(parts, "\n"), compose.LongestRead)
}

// marked matches Discord's notation for people, channels, roles, custom emoji, times and commands.
var marked = regexp.MustCompile(`<(@!?|@&|#|a?:[A-Za-z0-9_]{1,64}:|t:|/[^<>:\n]{1,100}:)(-?\d{1,20})(:[tTdDfFR])?>`)

// read returns the text of m as Discord shows it. A mentioned person appears under the name they
// have here. A name that the daemon did not give is harmless: it appears without the mention sign.
func (t *translator) read(c *roster.Channel, m *discordgo.Message, s string) string {
	s = compose.Shorten(compose.Clean(s), compose.LongestRead)
	return marked.ReplaceAllStringFunc(s, func(mark string) string {
		parts := marked.FindStringSubmatch(mark)
		id := gateway.Number(parts[2])
		switch sign := parts[1]; {
		case sign == "@" || sign == "@!":
			return t.mention(m, id)
		case sign == "@&":
			return t.role(t.roster.Role(c.Guild, id), parts[2])
		case sign == "#":
			if to := t.roster.Channel(id); to != nil && to.Guild == c.Guild && to.Guild != 0 {
				return "#" + compose.CleanName(to.Name, parts[2])
			}
			return "#a-channel"
		case sign == "t:":
			if at, err := strconv.ParseInt(parts[2], 10, 64); err == nil && at > -1e11 && at < 1e11 {
				return time.Unix(at, 0).UTC().Format("2006-01-02 15:04 UTC")
			}
			return mark
		case strings.HasPrefix(sign, "/"):
			return strings.TrimSuffix(sign, ":")
		default: // a picture
			return strings.TrimPrefix(sign, "a")
		}
	})
}

// role returns the name of a mentioned role, which may be unknown. The one that the bot was given when
// it was invited, people mistake for the bot.
func (t *translator) role(r *discordgo.Role, id string) string {
	switch {
	case r == nil:
		return "a role"
	case r.Managed && strings.EqualFold(strings.TrimSpace(r.Name), strings.TrimSpace(t.agent())):
		return "@" + t.agent()
	}
	return "the role " + compose.CleanName(r.Name, id)
}

// mention returns the name of a mentioned person.
func (t *translator) mention(m *discordgo.Message, user uint64) string {
	if user == t.roster.Self() {
		return "@" + t.agent()
	}
	if known := t.roster.Known(user); known != nil {
		return "@" + known.Name
	}
	for _, u := range m.Mentions {
		if u != nil && gateway.Number(u.ID) == user {
			return compose.CleanName(cmp.Or(u.GlobalName, u.Username), gateway.Digits(user))
		}
	}
	return "user " + gateway.Digits(user)
}
