package discord_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"earshot"
	"earshot/internal/discord/discordtest"
	"earshot/internal/discord/gateway"
	"earshot/providers/discord"
)

func room(channel uint64) earshot.RoomID {
	return earshot.RoomID("discord-" + strconv.FormatUint(channel, 10))
}

func handle(user uint64) earshot.Handle {
	return earshot.Handle{Provider: "discord", ID: strconv.FormatUint(user, 10)}
}

// TestMessages: how messages in a channel come in, and how edits and deletions do.
func TestMessages(t *testing.T) {
	s := begin(t, config())
	s.AddRole("keeper", s.ann.ID)
	said := s.Say(s.ann.ID, s.general, "what time is it, <@"+strconv.FormatUint(s.bot.ID, 10)+">?")
	await(t, "the message", func() bool { return len(s.house.texts(room(s.general))) == 1 })
	e := s.house.said(room(s.general), earshot.KindMessage)[0]
	if got := e.Body.(earshot.Message).Text; got != "what time is it, @Robin?" || e.From != handle(s.ann.ID) || e.Via != "discord" ||
		e.ID != gateway.EventOf(s.general, said.ID) || !e.At.Equal(gateway.Made(said.ID)) {
		t.Errorf("it came as %s, %q", dump(e), string(got))
	}
	here := s.house.said(room(s.general), earshot.KindPresence)
	if len(here) != 1 || here[0].Body != (earshot.Presence{Session: "discord", Here: true}) || here[0].From != handle(s.ann.ID) {
		t.Errorf("who is here: %s", dump(here))
	}
	if c := s.house.rooms[room(s.general)]; c.Name != "#general" || c.Private() {
		t.Errorf("the room is %+v", c)
	}
	if p := s.house.people[handle(s.ann.ID)]; p.Name != "ann" || p.Bot || !slices.Equal(p.Roles, []string{"keeper"}) {
		t.Errorf("she is %+v", p)
	}

	reply := s.Write(discordtest.Message{Channel: s.general, Author: s.ann.ID, Content: "it is noon, <@" + strconv.FormatUint(s.ann.ID, 10) + ">", ReplyTo: said.ID,
		Files: []discordtest.File{{Name: "clock.png", Data: make([]byte, 12)}}})
	s.Edit(s.general, said.ID, "what time was it?")
	s.Unfurl(s.general, said.ID)
	s.Delete(s.general, reply.ID)
	await(t, "the deletion", func() bool { return len(s.house.said("", earshot.KindWithdrawal)) == 1 })
	m := s.house.said("", earshot.KindMessage)[1].Body.(earshot.Message)
	if m.Text != "it is noon, @ann*" || m.ReplyTo != e.ID || len(m.Attachments) != 1 || m.Attachments[0].Name != "clock.png" || m.Attachments[0].Size != 12 {
		t.Errorf("the reply is %s", dump(m))
	}
	if all := s.house.said("", earshot.KindRevision); len(all) != 1 || all[0].Body != (earshot.Revision{Of: e.ID, Text: "what time was it?"}) || all[0].From != handle(s.ann.ID) {
		t.Errorf("the edits are %s", dump(all))
	}
	if w := s.house.said("", earshot.KindWithdrawal)[0]; w.Body.(earshot.Withdrawal).Of != gateway.EventOf(s.general, reply.ID) || w.From != (earshot.Handle{Provider: "discord"}) {
		t.Errorf("the deletion is %s", dump(w))
	}
	if n := len(s.house.said("", earshot.KindPresence)); n != 1 {
		t.Errorf("she came %d times", n)
	}
}

// TestDirectMessages: a direct message comes into a private room of its own.
func TestDirectMessages(t *testing.T) {
	s := begin(t, config())
	dm := s.Direct(s.ann.ID, s.bot.ID)
	mine := earshot.RoomID("discord-dm-" + strconv.FormatUint(s.ann.ID, 10))
	said := s.Say(s.ann.ID, dm.ID, "psst")
	await(t, "the message", func() bool { return slices.Equal(s.house.texts(mine), []string{"psst"}) })
	if c := s.house.rooms[mine]; !c.Private() || c.With != s.ann.ID {
		t.Errorf("the room is %+v", c)
	}
	s.Delete(dm.ID, said.ID)
	await(t, "the deletion", func() bool { return len(s.house.said(mine, earshot.KindWithdrawal)) == 1 })
	if n := len(s.house.rooms); n != 1 {
		t.Errorf("%d rooms were opened", n)
	}
}

// TestDirectMessagesLookedUp: a deletion in direct messages finds its room, even if the sense no
// longer knows whose channel it is, as after a restart.
func TestDirectMessagesLookedUp(t *testing.T) {
	s := begin(t, config())
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	dm := s.Direct(s.ann.ID, s.bot.ID)
	said := s.Say(s.ann.ID, dm.ID, "psst")
	s.play(t, config())
	s.Delete(dm.ID, said.ID)
	await(t, "the deletion", func() bool {
		all := s.house.said("", earshot.KindWithdrawal)
		return len(all) == 1 && all[0].Room == earshot.RoomID("discord-dm-"+strconv.FormatUint(s.ann.ID, 10))
	})
}

// TestWhoTakesPart: whose messages come in at all.
func TestWhoTakesPart(t *testing.T) {
	digits := func(n uint64) string { return strconv.FormatUint(n, 10) }
	for _, tt := range []struct {
		name string
		cfg  func(c *discord.Config, s *scene)
		do   func(s *scene)
		want []string // the texts heard, in whatever room
	}{
		{name: "everybody", do: func(s *scene) { s.Say(s.ann.ID, s.general, "one") }, want: []string{"one"}},
		{name: "another bot", do: func(s *scene) { s.Say(s.AddUser(discordtest.User{Name: "beep"}).ID, s.general, "beep") }, want: []string{"beep"}},
		{name: "a webhook", do: func(s *scene) {
			s.Write(discordtest.Message{Channel: s.general, Author: 927310423890473011, Webhook: "builds", Content: "built"})
		}, want: []string{"built"}},
		{name: "bots, ignored", cfg: func(c *discord.Config, _ *scene) { c.Bots = discord.Ignored }, do: func(s *scene) {
			s.Say(s.AddUser(discordtest.User{Name: "beep"}).ID, s.general, "beep")
			s.Write(discordtest.Message{Channel: s.general, Author: 927310423890473011, Webhook: "builds", Content: "built"})
		}},
		{name: "itself", do: func(s *scene) { s.Say(s.bot.ID, s.general, "me") }},
		{name: "a thread", do: func(s *scene) { s.Say(s.ann.ID, s.AddThread(s.general, "aside").ID, "here") }, want: []string{"here"}},
		{name: "the chat of a voice channel", do: func(s *scene) { s.Say(s.ann.ID, s.Channel("voice").ID, "loud") }, want: []string{"loud"}},
		{name: "no direct messages", cfg: func(c *discord.Config, _ *scene) { c.DirectMessages = false }, do: func(s *scene) { s.Say(s.ann.ID, s.Direct(s.ann.ID, s.bot.ID).ID, "psst") }},
		{name: "another guild", cfg: func(c *discord.Config, _ *scene) { c.Guilds = []string{"927310423890473011"} }, do: func(s *scene) { s.Say(s.ann.ID, s.general, "one") }},
		{name: "another channel", cfg: func(c *discord.Config, s *scene) { c.Channels = []string{digits(s.Channel("voice").ID)} }, do: func(s *scene) { s.Say(s.ann.ID, s.general, "one") }},
		{name: "a thread of a channel", cfg: func(c *discord.Config, s *scene) { c.Channels = []string{digits(s.general)} }, do: func(s *scene) {
			s.Say(s.ann.ID, s.AddThread(s.general, "aside").ID, "here")
		}, want: []string{"here"}},
		{name: "another user", cfg: func(c *discord.Config, s *scene) { c.Users = []string{digits(s.ann.ID)} }, do: func(s *scene) {
			s.Say(s.AddUser(discordtest.User{Name: "eve", Human: true}).ID, s.general, "let me in")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := set(t)
			cfg := config()
			if tt.cfg != nil {
				tt.cfg(&cfg, s)
			}
			s.play(t, cfg)
			tt.do(s)
			s.settle(t)
			if got := s.house.texts(""); !slices.Equal(got, tt.want) {
				t.Errorf("heard %q, want %q", got, tt.want)
			}
		})
	}
}

// TestMissed: what happened while the connection was down comes in afterwards, and only once.
func TestMissed(t *testing.T) {
	s := begin(t, config())
	first := s.Say(s.ann.ID, s.general, "first")
	second := s.Say(s.ann.ID, s.general, "secnd")
	await(t, "the messages", func() bool { return len(s.house.texts("")) == 2 })
	s.Forget(s.bot.ID) // so the session cannot be resumed
	s.Say(s.ann.ID, s.general, "third")
	s.Edit(s.general, second.ID, "second")
	s.Delete(s.general, first.ID)
	s.Say(s.bot.ID, s.general, "mine")
	s.Drop(s.bot.ID)
	await(t, "what was missed", func() bool { return slices.Equal(s.house.texts(""), []string{"first", "secnd", "third"}) })
	await(t, "the deletion", func() bool { return len(s.house.said("", earshot.KindWithdrawal)) == 1 })
	if w := s.house.said("", earshot.KindWithdrawal)[0].Body.(earshot.Withdrawal); w.Of != gateway.EventOf(s.general, first.ID) {
		t.Errorf("withdrawn: %s", dump(w))
	}
	if r := s.house.said("", earshot.KindRevision); len(r) != 1 || r[0].Body != (earshot.Revision{Of: gateway.EventOf(s.general, second.ID), Text: "second"}) {
		t.Errorf("revised: %s", dump(r))
	}
}

// TestCommands: commands are answered privately, and a long answer in several parts.
func TestCommands(t *testing.T) {
	s := begin(t, config())
	s.offered(t)
	number := s.Invoke(s.ann.ID, s.bot.ID, s.general, "join", " voice ")
	await(t, "the answer", func() bool { return len(s.Interaction(number).Answers) == 1 })
	got := s.Interaction(number)
	if !got.Ephemeral || got.Answers[0] != "```text\ndone\n```" || got.Public != 0 {
		t.Errorf("answered %+v", got)
	}
	e := s.house.done[0]
	if e.Body != (earshot.Command{Name: "join", Args: "voice"}) || e.From != handle(s.ann.ID) || e.Room != room(s.general) {
		t.Errorf("it came as %s", dump(e))
	}

	long := strings.Repeat("many words for somebody who asks\n", 200)
	s.house.mu.Lock()
	s.house.answer = long
	s.house.mu.Unlock()
	number = s.Invoke(s.ann.ID, s.bot.ID, s.general, "who", "")
	await(t, "a long answer", func() bool { return len(s.Interaction(number).Answers) == 4 })
	var all strings.Builder
	for _, part := range s.Interaction(number).Answers {
		all.WriteString(strings.TrimSuffix(strings.TrimPrefix(part, "```text\n"), "```"))
	}
	if all.String() != long {
		t.Error("the parts are not the answer")
	}

	number = s.Press(s.ann.ID, s.bot.ID, s.general)
	await(t, "a polite answer", func() bool { return len(s.Interaction(number).Answers) == 1 && s.Interaction(number).Ephemeral })
	if msgs := s.Messages(s.general); len(msgs) != 0 {
		t.Errorf("everybody sees %+v", msgs)
	}
}

// TestAskCommand: the question of /ask is shown to everybody, and comes in under the ID of the
// message that shows it, so that the reply refers to that.
func TestAskCommand(t *testing.T) {
	s := begin(t, config())
	s.offered(t)
	number := s.Invoke(s.ann.ID, s.bot.ID, s.general, "ask", "what is <@1> @everyone?\nand why?")
	await(t, "the question", func() bool { return len(s.house.texts("")) == 1 })
	shown := s.Messages(s.general)
	if len(shown) != 1 || shown[0].Content != "> what is <@1> @everyone?\n> and why?" || string(shown[0].Allowed) != `{"parse":[]}` || s.Interaction(number).Public != shown[0].ID {
		t.Fatalf("everybody sees %s", dump(shown))
	}
	e := s.house.said("", earshot.KindMessage)[0]
	if string(e.Body.(earshot.Message).Text) != "@Robin what is <@1> @everyone?\nand why?" || e.ID != gateway.EventOf(s.general, shown[0].ID) || e.From != handle(s.ann.ID) || e.Via != "discord" {
		t.Errorf("it came as %s", dump(e))
	}
}

// TestOwnWordsCommand: a question to be answered with one's own words alone is shown likewise, and
// stays a command.
func TestOwnWordsCommand(t *testing.T) {
	s := begin(t, config())
	s.offered(t)
	s.Invoke(s.ann.ID, s.bot.ID, s.general, earshot.OwnWords, "what is in it?")
	await(t, "the question", func() bool { return len(s.house.said("", earshot.KindCommand)) == 1 })
	shown := s.Messages(s.general)
	e := s.house.said("", earshot.KindCommand)[0]
	if len(shown) != 1 || shown[0].Content != "> what is in it?" {
		t.Fatalf("everybody sees %s", dump(shown))
	}
	if e.Body != (earshot.Command{Name: earshot.OwnWords, Args: "@Robin what is in it?"}) || e.ID != gateway.EventOf(s.general, shown[0].ID) || e.From != handle(s.ann.ID) || e.Via != "discord" {
		t.Errorf("it came as %s", dump(e))
	}
}

// TestCommandRefused: somebody who may not take part gets a polite answer, and nothing else
// happens.
func TestCommandRefused(t *testing.T) {
	s := set(t)
	cfg := config()
	cfg.Users = []string{"927310423890473011"}
	s.play(t, cfg)
	s.offered(t)
	number := s.Invoke(s.ann.ID, s.bot.ID, s.general, "join", "")
	await(t, "a polite answer", func() bool { return len(s.Interaction(number).Answers) == 1 })
	if got := s.Interaction(number); !got.Ephemeral || !strings.Contains(got.Answers[0], "no part") || len(s.house.done)+len(s.house.people) != 0 {
		t.Errorf("answered %+v", got)
	}
}

// TestCommandsRegisteredOnce: commands are registered if they are missing, and left alone
// otherwise; those for direct messages belong to no guild.
func TestCommandsRegisteredOnce(t *testing.T) {
	s := begin(t, config())
	s.offered(t)
	dm := s.Direct(s.ann.ID, s.bot.ID)
	number := s.Invoke(s.ann.ID, s.bot.ID, dm.ID, "who", "")
	await(t, "the answer", func() bool { return len(s.Interaction(number).Answers) == 1 })
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s.play(t, config())
	asked := func() (n int) {
		for _, r := range s.Requests() {
			if strings.HasPrefix(r, "GET ") && strings.HasSuffix(r, "/commands") {
				n++
			}
		}
		return n
	}
	await(t, "the second look", func() bool { return asked() == 4 })
	if n := registered(s); n != 2 {
		t.Errorf("registered %d times", n)
	}
}

func registered(s *scene) (n int) {
	for _, r := range s.Requests() {
		if strings.HasPrefix(r, "PUT ") {
			n++
		}
	}
	return n
}

// TestContentKeptBack: without the Message Content Intent, messages come without text. Somebody is
// told so, once.
func TestContentKeptBack(t *testing.T) {
	s := set(t)
	s.intents &^= 1 << 15
	s.play(t, config())
	s.Say(s.ann.ID, s.general, "hello?")
	s.Say(s.ann.ID, s.general, "hello??")
	s.Say(s.ann.ID, s.general, "<@"+strconv.FormatUint(s.bot.ID, 10)+"> hello")
	await(t, "the one that calls it", func() bool { return slices.Equal(s.house.texts(""), []string{"@Robin hello"}) })
	if n := s.house.told; len(n) != 1 || !strings.Contains(n[0].Cure, "Message Content Intent") {
		t.Errorf("told %s", dump(n))
	}
}

// TestTyping: typing counts only from somebody who is known to be there, and is told once.
func TestTyping(t *testing.T) {
	s := begin(t, config())
	s.Type(s.ann.ID, s.general) // nobody knows her yet, so this does not count
	s.Say(s.ann.ID, s.general, "hello")
	s.Type(s.ann.ID, s.general)
	s.Type(s.ann.ID, s.general)
	await(t, "typing", func() bool { return len(s.house.said("", earshot.KindTyping)) == 1 })
	if e := s.house.said("", earshot.KindTyping)[0]; e.Body != (earshot.Typing{Began: true}) || e.From != handle(s.ann.ID) {
		t.Errorf("it is %s", dump(e))
	}
}

// TestTokensStaySecret: neither the tokens with which interactions are answered nor the bot's token
// get into the log.
func TestTokensStaySecret(t *testing.T) {
	s := begin(t, config())
	s.offered(t)
	s.house.mu.Lock()
	s.house.err = context.DeadlineExceeded
	s.house.mu.Unlock()
	number := s.Invoke(s.ann.ID, s.bot.ID, s.general, "who", "")
	await(t, "the answer", func() bool { return len(s.Interaction(number).Answers) == 1 })
	s.down.Store(true)
	second := s.Invoke(s.ann.ID, s.bot.ID, s.general, "who", "")
	await(t, "the fault", func() bool { return strings.Contains(s.log.String(), "taking a command failed") })
	for _, secret := range []string{s.Interaction(number).Token(), s.Interaction(second).Token(), s.bot.Token} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("a secret is in the log: %s", s.log.String())
		}
	}
}
