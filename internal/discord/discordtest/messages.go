package discordtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A Message is a message in a text channel.
type Message struct {
	ID      uint64
	Channel uint64
	Author  uint64
	Content string
	ReplyTo uint64 // 0 if it is not a reply
	Files   []File
	Edited  bool
	Deleted bool
	Webhook string // the name of the webhook that wrote it; Author is then the webhook's number

	edited  time.Time
	command bool // it answers a command

	// Allowed is its allowed_mentions as sent; nil if there is none, which lets it mention
	// everybody.
	Allowed json.RawMessage

	Nonce string // distinguishes it from other messages of its author; may be empty
}

func (m *Message) edit(text string) { m.Content, m.Edited, m.edited = text, true, time.Now() }

// find returns a message that was not deleted; nil if there is none.
func (s *Server) find(channel, message uint64) *Message {
	i := slices.IndexFunc(s.messages, func(m Message) bool { return m.Channel == channel && m.ID == message && !m.Deleted })
	if i < 0 {
		return nil
	}
	return &s.messages[i]
}

// A File is attached to a message.
type File struct {
	Name string
	Data []byte
}

// post handles a bot's message.
func (x *exchange) post(c *Channel) {
	var d struct {
		Content   string
		Embeds    []any
		Allowed   json.RawMessage `json:"allowed_mentions"`
		Reference *struct {
			Message string `json:"message_id"`
			Fail    *bool  `json:"fail_if_not_exists"`
		} `json:"message_reference"`
		Nonce   any
		Enforce bool `json:"enforce_nonce"`
	}
	switch {
	case !x.parse(&d):
		return
	case utf8.RuneCountInString(d.Content) > longestContent:
		x.write(http.StatusBadRequest, object{"message": "Invalid Form Body", "code": 50035, "errors": object{"content": object{
			"_errors": []object{{"code": "BASE_TYPE_MAX_LENGTH", "message": "Must be 2000 or fewer in length."}},
		}}})
		return
	case strings.TrimSpace(d.Content) == "" && len(d.Embeds) == 0 && len(x.files) == 0:
		x.fail(http.StatusBadRequest, 50006, "Cannot send an empty message")
		return
	case !allows(d.Allowed), d.Nonce != nil && len(fmt.Sprint(d.Nonce)) > longestNonce:
		x.invalid()
		return
	}
	m := Message{Channel: c.ID, Author: x.user.ID, Content: strings.TrimSpace(d.Content), Allowed: slices.Clone(d.Allowed), Files: x.files}
	if d.Reference != nil {
		m.ReplyTo = number(d.Reference.Message)
		there := x.find(c.ID, m.ReplyTo) != nil
		switch {
		case !there && (d.Reference.Fail == nil || *d.Reference.Fail):
			x.invalid()
			return
		case !there:
			m.ReplyTo = 0
		}
	}
	if d.Nonce != nil {
		m.Nonce = fmt.Sprint(d.Nonce)
		before := slices.IndexFunc(x.messages, func(b Message) bool { return b.Author == m.Author && b.Nonce == m.Nonce })
		if d.Enforce && before >= 0 {
			x.ok(x.messageObject(&x.messages[before], true))
			return
		}
	}
	o := x.messageObject(x.say(m), true)
	if d.Nonce != nil {
		o["nonce"] = d.Nonce
	}
	x.ok(o)
}

const (
	longestNonce = 25  // characters
	mostAllowed  = 100 // users, or roles, that a message may mention
)

// allows reports whether Discord accepts a message's allowed_mentions.
func allows(said json.RawMessage) bool {
	var d struct {
		Parse        []string
		Users, Roles []string
	}
	if len(said) == 0 {
		return true
	}
	if json.Unmarshal(said, &d) != nil || len(d.Users) > mostAllowed || len(d.Roles) > mostAllowed {
		return false
	}
	for _, kind := range d.Parse {
		if kind != "users" && kind != "roles" && kind != "everyone" || kind == "users" && len(d.Users) > 0 || kind == "roles" && len(d.Roles) > 0 {
			return false
		}
	}
	for _, list := range [][]string{d.Users, d.Roles, d.Parse} {
		slices.Sort(list)
		if len(slices.Compact(slices.Clone(list))) < len(list) {
			return false
		}
	}
	return true
}

// say stores a message, and sends it to everybody who wants it.
func (s *Server) say(m Message) *Message {
	m.ID = s.snowflake()
	s.messages = append(s.messages, m)
	kept := &s.messages[len(s.messages)-1]
	s.tellMessage("MESSAGE_CREATE", kept)
	return kept
}

// tellMessage sends a message to everybody. A client without the content intent gets no content,
// except in its own messages and those that mention it.
func (s *Server) tellMessage(event string, m *Message) {
	for _, g := range s.sessions {
		me := g.account.user.ID
		c := s.channel(m.Channel)
		if !g.wants(c.intent(intentMessages, intentDirect)) || !c.sees(me) {
			continue
		}
		content := g.wants(intentMessageContent) || m.Author == me || mentions(m.Content, me) || c.Kind == directChannel
		o := s.messageObject(m, content)
		if c.Kind != directChannel {
			o["guild_id"] = id(s.guild.ID)
			if m.Webhook == "" {
				member := s.memberObject(s.accounts[m.Author].user)
				delete(member, "user")
				o["member"] = member
			}
		}
		g.tell(event, o)
	}
}

// mentions reports whether a text mentions a user.
func mentions(text string, user uint64) bool {
	return strings.Contains(text, "<@"+id(user)+">") || strings.Contains(text, "<@!"+id(user)+">")
}

func (s *Server) messageObject(m *Message, content bool) object {
	mentioned := []object{}
	for _, u := range s.users {
		if mentions(m.Content, u.ID) {
			mentioned = append(mentioned, u.object())
		}
	}
	files := []object{}
	for i, f := range m.Files {
		files = append(files, object{"id": id(m.ID + uint64(i) + 1), "filename": f.Name, "size": len(f.Data),
			"url": s.Base() + "attachments/" + f.Name, "proxy_url": s.Base() + "attachments/" + f.Name})
	}
	o := object{
		"id": id(m.ID), "channel_id": id(m.Channel), "author": s.authorObject(m),
		"content": m.Content, "timestamp": stamp(made(m.ID)), "edited_timestamp": nil, "tts": false,
		"mention_everyone": false, "mentions": mentioned, "mention_roles": []string{},
		"attachments": files, "embeds": []any{}, "components": []any{}, "pinned": false, "type": 0, "flags": 0,
	}
	if m.Edited {
		o["edited_timestamp"] = stamp(m.edited)
	}
	if m.Webhook != "" {
		o["webhook_id"] = id(m.Author)
	}
	if m.command {
		o["type"] = 20
	}
	if m.ReplyTo != 0 {
		o["type"] = 19
		to := object{"type": 0, "message_id": id(m.ReplyTo), "channel_id": id(m.Channel)}
		if s.channel(m.Channel).Kind != directChannel {
			to["guild_id"] = id(s.guild.ID)
		}
		o["message_reference"] = to
	}
	if !content {
		o["content"], o["attachments"] = "", []any{}
	}
	return o
}

// authorObject is the author of a message: a webhook has no account.
func (s *Server) authorObject(m *Message) object {
	if m.Webhook != "" {
		return object{"id": id(m.Author), "username": m.Webhook, "discriminator": "0000", "avatar": nil, "bot": true}
	}
	return s.accounts[m.Author].user.object()
}

// history returns the newest messages; none to a client that may not read them.
func (x *exchange) history(c *Channel) {
	if c.deny[x.user.ID]&ReadMessageHistory != 0 {
		x.ok([]object{})
		return
	}
	limit, _ := strconv.Atoi(x.r.URL.Query().Get("limit"))
	if limit < 1 || limit > 100 {
		limit = 50
	}
	before := number(x.r.URL.Query().Get("before"))
	list := []object{}
	for i := range slices.Backward(x.messages) {
		m := &x.messages[i]
		if m.Channel == c.ID && !m.Deleted && (before == 0 || m.ID < before) && len(list) < limit {
			list = append(list, x.messageObject(m, true))
		}
	}
	x.ok(list)
}

func (x *exchange) editOwn(m *Message) {
	var d struct{ Content *string }
	switch {
	case m.Author != x.user.ID:
		x.fail(http.StatusForbidden, 50005, "Cannot edit a message authored by another user")
		return
	case !x.parse(&d):
		return
	case d.Content != nil && utf8.RuneCountInString(*d.Content) > longestContent:
		x.invalid()
		return
	}
	if d.Content != nil {
		m.edit(*d.Content)
	}
	x.tellMessage("MESSAGE_UPDATE", m)
	x.ok(x.messageObject(m, true))
}

func (x *exchange) removeOwn(m *Message) {
	if m.Author != x.user.ID {
		x.fail(http.StatusForbidden, 50013, "Missing Permissions")
		return
	}
	x.remove(x.channel(m.Channel), m.ID)
	x.nothing()
}

// Say has a user write in a text channel, as people do: not by REST.
func (s *Server) Say(user, channel uint64, text string) Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.say(Message{Channel: channel, Author: user, Content: text})
}

// Messages returns the messages of a text channel, with the deleted ones.
func (s *Server) Messages(channel uint64) (list []Message) {
	s.with(func() {
		for _, m := range s.messages {
			if m.Channel == channel {
				list = append(list, m)
			}
		}
	})
	return list
}
