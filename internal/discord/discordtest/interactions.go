package discordtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// withinReach is the deadline of the first answer to a command, and of all answers.
const (
	firstWithin = 3 * time.Second
	validFor    = 15 * time.Minute
)

// An Interaction is a command that a user gave, with its answers.
type Interaction struct {
	ID      uint64
	Channel uint64

	Deferred  bool     // an answer was announced
	Ephemeral bool     // only the user sees the answer
	Answers   []string // what the user sees, in order
	Public    uint64   // the public answer message; 0 if there is none

	token    string
	bot      *User
	given    time.Time
	answered bool
}

// Invoke has a user give a command of a bot in a channel, with its option if it has one. It panics
// if the bot offers no such command there, since nobody could choose it.
func (s *Server) Invoke(user, bot, channel uint64, name, args string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(channel)
	i := slices.IndexFunc(s.offered(c), func(o object) bool { return o["name"] == name })
	if i < 0 {
		panic("discordtest: no command " + name)
	}
	command := s.offered(c)[i]
	data := object{"id": command["id"], "name": name, "type": 1}
	if options, _ := command["options"].([]any); len(options) > 0 && args != "" {
		option := options[0].(object)
		data["options"] = []object{{"name": option["name"], "type": option["type"], "value": args}}
	}
	return s.interact(user, bot, c, 2, data)
}

// Press has a user press a button that a bot has made.
func (s *Server) Press(user, bot, channel uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.interact(user, bot, s.channel(channel), 3, object{"custom_id": "old", "component_type": 2})
}

// interact sends an interaction to a bot.
func (s *Server) interact(user, bot uint64, c *Channel, kind int, data object) uint64 {
	u := s.accounts[user].user
	x := &Interaction{ID: s.snowflake(), Channel: c.ID, token: s.secret("the token of an interaction"), bot: s.accounts[bot].user, given: time.Now()}
	s.interactions = append(s.interactions, x)
	o := object{
		"id": id(x.ID), "application_id": id(bot), "type": kind, "token": x.token, "version": 1, "channel_id": id(c.ID),
		"data": data, "locale": "en-US", "app_permissions": id(everything), "entitlements": []any{}, "context": 0,
		"authorizing_integration_owners": object{},
	}
	if c.Kind == directChannel {
		o["user"], o["context"] = u.object(), 1
	} else {
		member := s.memberObject(u)
		member["permissions"] = id(everything)
		o["member"], o["guild_id"] = member, id(s.guild.ID)
	}
	s.tellUser(bot, "INTERACTION_CREATE", o)
	return x.ID
}

// offered returns the commands that can be given in a channel.
func (s *Server) offered(c *Channel) []object {
	if c.Kind == directChannel {
		return s.commands[0]
	}
	return append(slices.Clip(s.commands[s.guild.ID]), s.commands[0]...)
}

// Interaction returns the current state of one.
func (s *Server) Interaction(number uint64) (found Interaction) {
	s.with(func() {
		for _, x := range s.interactions {
			if x.ID == number {
				found = *x
				found.Answers = slices.Clone(x.Answers)
			}
		}
	})
	return found
}

// Token returns the secret of an interaction, for tests that search for it.
func (i Interaction) Token() string { return i.token }

// words is the JSON of an answer.
type words struct {
	Content string
	Flags   int
	Allowed json.RawMessage `json:"allowed_mentions"`
}

// words reads an answer, or refuses what Discord refuses.
func (x *exchange) words() (w words, ok bool) {
	ok = x.parse(&w) && x.fits(w.Content)
	return w, ok
}

// fits refuses a text that Discord refuses.
func (x *exchange) fits(text string) bool {
	switch {
	case utf8.RuneCountInString(text) > longestContent:
		x.invalid()
	case strings.TrimSpace(text) == "":
		x.fail(http.StatusBadRequest, 50006, "Cannot send an empty message")
	default:
		return true
	}
	return false
}

// callback handles the first answer to an interaction.
func (x *exchange) callback() {
	var d struct {
		Type int
		Data words
	}
	i := slices.IndexFunc(x.interactions, func(i *Interaction) bool {
		return i.ID == number(x.r.PathValue("interaction")) && i.token == x.r.PathValue("token")
	})
	switch {
	case i < 0 || time.Since(x.interactions[i].given) > firstWithin:
		x.fail(http.StatusNotFound, 10062, "Unknown interaction")
		return
	case x.interactions[i].answered:
		x.fail(http.StatusBadRequest, 40060, "Interaction has already been acknowledged.")
		return
	case !x.parse(&d):
		return
	case d.Type != 4 && d.Type != 5:
		x.invalid()
		return
	case d.Type == 4 && !x.fits(d.Data.Content):
		return
	}
	to := x.interactions[i]
	to.answered, to.Deferred, to.Ephemeral = true, d.Type == 5, d.Data.Flags&(1<<6) != 0
	if d.Type == 4 {
		x.answers(to, d.Data)
	}
	x.nothing()
}

// answers shows an answer: to the user alone, or to everybody as a message of the bot.
func (s *Server) answers(to *Interaction, w words) *Message {
	to.Answers = append(to.Answers, w.Content)
	if to.Ephemeral {
		return &Message{ID: s.snowflake(), Channel: to.Channel, Author: to.bot.ID, Content: w.Content, Allowed: w.Allowed}
	}
	m := s.say(Message{Channel: to.Channel, Author: to.bot.ID, Content: w.Content, Allowed: slices.Clone(w.Allowed), command: true})
	to.Public = m.ID
	return m
}

// ofInteraction finds the interaction of a later answer.
func (x *exchange) ofInteraction(f func(to *Interaction)) {
	for _, to := range x.interactions {
		if to.token == x.r.PathValue("token") && to.answered && time.Since(to.given) < validFor && to.bot.ID == number(x.r.PathValue("application")) {
			f(to)
			return
		}
	}
	x.fail(http.StatusNotFound, 10015, "Unknown Webhook")
}

func (x *exchange) original(to *Interaction) {
	switch {
	case to.Public != 0:
		x.ok(x.messageObject(x.message(to.Channel, to.Public), true))
	case len(to.Answers) > 0:
		x.ok(x.messageObject(&Message{ID: to.ID, Channel: to.Channel, Author: to.bot.ID, Content: to.Answers[0]}, true))
	default:
		x.fail(http.StatusNotFound, 10008, "Unknown Message")
	}
}

func (x *exchange) changeOriginal(to *Interaction) {
	w, ok := x.words()
	if !ok {
		return
	}
	if to.Deferred {
		to.Deferred = false
		x.ok(x.messageObject(x.answers(to, w), true))
		return
	}
	to.Answers[0] = w.Content
	x.original(to)
}

func (x *exchange) followUp(to *Interaction) {
	w, ok := x.words()
	if !ok {
		return
	}
	to.Ephemeral = w.Flags&(1<<6) != 0
	x.ok(x.messageObject(x.answers(to, w), true))
}
