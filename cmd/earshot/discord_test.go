package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"earshot"
	"earshot/internal/discord/discordtest"
	"earshot/internal/testkit"
)

// A club is a guild on a Discord server of the test, with earshot's bot, Ann, who operates earshot,
// and Bob.
type club struct {
	*parlour // without a sound card
	*discordtest.Server
	bot, ann, bob discordtest.User
}

// newClub returns a club whose model follows script. More is added to the configuration, and
// environ to the environment.
func newClub(t *testing.T, script, more string, environ ...string) *club {
	t.Helper()
	c := &club{parlour: &parlour{home: newHome(t, environ...)}, Server: discordtest.New(t, discordtest.Config{})}
	c.bot = c.Bot("Earshot")
	c.ann = c.AddUser(discordtest.User{Name: "ann", Human: true, Privileged: true})
	c.bob = c.AddUser(discordtest.User{Name: "bob", Human: true, Privileged: true})
	c.scripted(script)
	c.env = append(c.env, "SSL_CERT_FILE="+c.CAFile(), "EARSHOT_CONFIG="+c.write("earshot.yaml", fmt.Sprintf(`providers:
  discord:
    enabled: true
    token_file: %s
    base: %s
    operators: ["%d"]
%s`, c.write("token", c.bot.Token+"\n"), c.Base(), c.ann.ID, more)))
	return c
}

// comes starts the daemon, and returns when the bot is connected.
func (c *club) comes() *process {
	c.t.Helper()
	d := c.daemon()
	c.t.Cleanup(func() {
		if c.t.Failed() {
			for _, e := range c.journal() {
				c.t.Logf("%s %s %s: %s %+v", e.At.Format("05.000"), e.Room, e.Author, e.Body.Kind(), shownBody(e.Body))
			}
			d.end(syscall.SIGINT)
			c.t.Logf("the daemon said:\n%s%s", d.out.String(), c.log())
		}
	})
	testkit.Await(c.t, soon, "the bot", func() bool { return c.Connected(c.bot.ID) })
	return d
}

// written returns the bot's messages in a channel.
func (c *club) written(channel uint64) (all []discordtest.Message) {
	for _, m := range c.Messages(channel) {
		if m.Author == c.bot.ID && !m.Deleted {
			all = append(all, m)
		}
	}
	return all
}

// answers waits until the bot has written n messages in a channel, and returns them.
func (c *club) answers(channel uint64, n int) (all []discordtest.Message) {
	c.t.Helper()
	testkit.Await(c.t, soon, "an answer", func() bool {
		all = c.written(channel)
		return len(all) >= n
	})
	return all
}

// calls lets a user post a message that mentions the bot.
func (c *club) calls(user discordtest.User, channel uint64, text string) discordtest.Message {
	return c.Say(user.ID, channel, fmt.Sprintf("<@%d> %s", c.bot.ID, text))
}

// reads returns the history of a room.
func (c *club) reads(room string) string {
	c.t.Helper()
	return c.earshot(nil, "history", "--room", room, "-n", "100").out
}

// TestDiscordText: a call in a channel gets a reply to that very message, which pings nobody else.
// A direct message gets an answer there and nowhere else. A message that is deleted on Discord is
// deleted here.
func TestDiscordText(t *testing.T) {
	t.Parallel()
	c := newClub(t, "reply: The tide is high at three.\nrules:\n  - {when: ring, reply: \"It is in the teapot, @everyone.\"}\n", "")
	d := c.comes()
	general := c.Channel("general").ID
	asked := c.calls(c.ann, general, "when is the tide high?")
	got := c.answers(general, 1)[0]
	if got.Content != "The tide is high at three." || got.ReplyTo != asked.ID {
		t.Errorf("it answered %q to %d, want the answer to %d", got.Content, got.ReplyTo, asked.ID)
	}
	if !strings.Contains(string(got.Allowed), `"parse":[]`) {
		t.Errorf("it may ping %s", got.Allowed)
	}

	alone := c.Direct(c.bob.ID, c.bot.ID).ID
	c.Say(c.bob.ID, alone, "where is the ring?")
	private := c.answers(alone, 1)[0]
	if !strings.Contains(private.Content, "teapot") || !strings.Contains(string(private.Allowed), `"parse":[]`) {
		t.Errorf("alone it answered %q, and may ping %s", private.Content, private.Allowed)
	}
	if n := len(c.written(general)); n != 1 {
		t.Errorf("%d messages stand in the channel", n)
	}
	room := roomOf(general)
	history := c.reads(room)
	for _, want := range []string{"ann", "when is the tide high?", "Earshot", "The tide is high at three."} {
		if !strings.Contains(history, want) {
			t.Errorf("no %q in\n%s", want, history)
		}
	}
	if strings.Contains(history, "teapot") {
		t.Errorf("what was private is in\n%s", history)
	}
	if r := c.earshot(nil, "history", "--room", fmt.Sprintf("discord-dm-%d", c.bob.ID)); strings.Contains(r.out, "teapot") {
		t.Errorf("somebody else reads what was private:\n%s", r.out)
	}

	c.Delete(general, asked.ID)
	testkit.Await(t, soon, "the deletion", func() bool { return !strings.Contains(c.reads(room), "tide high?") })
	d.end(syscall.SIGINT)
	if all := c.everything("state/earshot/journal"); strings.Contains(all, "tide high?") || strings.Contains(all, "high at three") || !strings.Contains(all, "teapot") {
		t.Error("what was deleted there is still in the files here, or something else is not")
	}
}

// TestDiscordCommands: commands of the terminal and of Discord are offered, and the answers are
// shown only to whoever gave the command.
func TestDiscordCommands(t *testing.T) {
	t.Parallel()
	c := newClub(t, "reply: Yes.\n", "")
	c.comes()
	general := c.Channel("general").ID
	c.calls(c.ann, general, "are you there?")
	c.answers(general, 1)
	for _, tt := range []struct {
		by         discordtest.User
		name, args string
		want       string
	}{
		{c.bob, "status", "", "connected since"},
		{c.bob, "who", "", "ann"},
		{c.bob, "join", "", "is not installed or is turned off"},
		{c.bob, "rename", "ann Bert", "operators"},
	} {
		given := c.Invoke(tt.by.ID, c.bot.ID, general, tt.name, tt.args)
		var is discordtest.Interaction
		testkit.Await(t, soon, "the answer to /"+tt.name, func() bool {
			is = c.Interaction(given)
			return len(is.Answers) > 0
		})
		if got := strings.Join(is.Answers, "\n"); !is.Ephemeral || !strings.Contains(got, tt.want) {
			t.Errorf("/%s: %q, to them alone %v; want %q", tt.name, got, is.Ephemeral, tt.want)
		}
	}
	if n := len(c.written(general)); n != 1 {
		t.Errorf("%d messages stand in the channel", n)
	}
}

// roomOf returns the ID of the room for a channel.
func roomOf(channel uint64) string { return fmt.Sprintf("discord-%d", channel) }

// participantOf returns the participant ID of a Discord user.
func participantOf(u discordtest.User) earshot.ParticipantID {
	return earshot.ParticipantID(fmt.Sprintf("discord-%d", u.ID))
}

// shownBody returns the content of an event, for the log of a failed test.
func shownBody(b earshot.Body) string {
	data, _ := json.Marshal(b)
	return string(data)
}
