package discord

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bwmarrin/discordgo"

	"earshot"
)

const (
	mostText  = 4000 // characters of a message, the limit for paying users
	mostName  = 40   // characters of a name in a text; Discord's own have 32, channels 100
	mostFiles = earshot.MaxAttachments
	mostFile  = 120 // characters of the name of a file
)

// message returns the text of a message, and whether it has any content.
func (w *guildState) message(c *channel, m *discordgo.Message) (earshot.Message, bool) {
	body := earshot.Message{Text: earshot.Text(w.words(c, m)), Attachments: attached(m)}
	if r := m.MessageReference; r != nil && r.Type == discordgo.MessageReferenceTypeDefault && m.Type == discordgo.MessageTypeReply && number(r.MessageID) != 0 {
		in := c.id
		if n := number(r.ChannelID); n != 0 {
			in = n
		}
		body.ReplyTo = w.event(in, number(r.MessageID))
	}
	return body, body.Text != "" || len(body.Attachments) > 0
}

// attached names the files of a message.
func attached(m *discordgo.Message) (all []earshot.Attachment) {
	for _, a := range m.Attachments {
		if a != nil && len(all) < mostFiles {
			all = append(all, earshot.Attachment{
				Name: earshot.Text(bounded(shown(a.Filename), mostFile)), Type: mediaType(a.ContentType), Size: int64(max(a.Size, 0)),
			})
		}
	}
	return all
}

// media matches a media type, without its parameters.
var media = regexp.MustCompile(`^[a-z]+/[a-z0-9][a-z0-9.+-]{0,60}`)

func mediaType(s string) string { return media.FindString(strings.ToLower(s)) }

// words returns a message as people read it, with the names of its non-text contents.
func (w *guildState) words(c *channel, m *discordgo.Message) string {
	var parts []string
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" {
			parts = append(parts, s)
		}
	}
	add(w.read(c, m, m.Content))
	if r := m.MessageReference; r != nil && r.Type == discordgo.MessageReferenceTypeForward {
		for _, s := range m.MessageSnapshots {
			if s.Message != nil {
				add("[forwarded] " + w.read(c, s.Message, s.Message.Content))
			}
		}
	}
	for _, s := range m.StickerItems {
		if s != nil {
			add("[sticker: " + plain(s.Name, "?") + "]")
		}
	}
	if m.Poll != nil {
		add("[poll: " + w.read(c, m, m.Poll.Question.Text) + "]")
	}
	if m.Author != nil && (m.Author.Bot || m.WebhookID != "") { // for a person they are previews of links
		for _, e := range m.Embeds {
			if e != nil {
				add(w.read(c, m, strings.TrimSpace(e.Title+"\n"+e.Description)))
			}
		}
	}
	return bounded(strings.Join(parts, "\n"), mostText)
}

// marked matches Discord's notation for people, channels, roles, custom emoji, times and commands.
var marked = regexp.MustCompile(`<(@!?|@&|#|a?:[A-Za-z0-9_]{1,64}:|t:|/[^<>:\n]{1,100}:)(-?\d{1,20})(:[tTdDfFR])?>`)

// read returns the text of m as Discord shows it. A mentioned person appears under the name they
// have here. A name that the daemon did not give is harmless: it appears without the mention sign.
func (w *guildState) read(c *channel, m *discordgo.Message, s string) string {
	s = bounded(tidy(s), mostText)
	return marked.ReplaceAllStringFunc(s, func(mark string) string {
		parts := marked.FindStringSubmatch(mark)
		id := number(parts[2])
		switch sign := parts[1]; {
		case sign == "@" || sign == "@!":
			return w.mentioned(m, id)
		case sign == "@&":
			if g := w.guilds[c.guild]; g != nil && g.roles[id] != nil {
				if w.roleIsMine(g.roles[id]) {
					return "@" + w.agent()
				}
				return "the role " + plain(g.roles[id].Name, parts[2])
			}
			return "a role"
		case sign == "#":
			if to := w.channels[id]; to != nil && to.guild == c.guild && to.guild != 0 {
				return "#" + plain(to.name, parts[2])
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

// mentioned returns the name of a mentioned person.
func (w *guildState) mentioned(m *discordgo.Message, user uint64) string {
	if user == w.me {
		return "@" + w.agent()
	}
	if p := w.people[user]; p != nil {
		return "@" + p.name
	}
	for _, u := range m.Mentions {
		if u != nil && number(u.ID) == user {
			return plain(cmp.Or(u.GlobalName, u.Username), digits(user))
		}
	}
	return "user " + digits(user)
}

// tidy removes invisible characters that could deceive: those that control a terminal, change the
// direction, or have no width. It keeps line breaks, and joiners of letters and pictures where
// languages need them.
func tidy(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\u200c' || r == '\u200d':
			return r
		case r == '\u2028' || r == '\u2029':
			return '\n'
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Noncharacter_Code_Point):
			return -1
		}
		return r
	}, s)
}

// shown returns a name for display: one line without invisible characters.
func shown(s string) string {
	return bounded(strings.Join(strings.Fields(tidy(s)), " "), mostFile)
}

// plain returns the parts of a freely chosen name that may appear in a text: letters, digits and
// what joins them. If nothing is left, it returns or.
func plain(s, or string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.In(r, unicode.Letter, unicode.Digit) || strings.ContainsRune("-_.'", r):
			return r
		case unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Mc, r):
			return r
		}
		return ' '
	}, bounded(tidy(s), 4*mostName))
	if s = bounded(strings.Join(strings.Fields(s), " "), mostName); s == "" {
		return or
	}
	return strings.TrimSpace(s)
}

// bounded returns the first most characters of s, with a mark if there are more.
func bounded(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n == most-1 {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// args returns the text option of a command.
func args(options []*discordgo.ApplicationCommandInteractionDataOption) string {
	i := slices.IndexFunc(options, func(o *discordgo.ApplicationCommandInteractionDataOption) bool {
		return o != nil && o.Type == discordgo.ApplicationCommandOptionString
	})
	if i < 0 {
		return ""
	}
	s, _ := options[i].Value.(string)
	return strings.TrimSpace(bounded(tidy(s), mostText))
}
