package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"earshot/internal/discord/discordtest"
	"earshot/internal/discord/voice"
	"earshot/internal/testkit"
)

// A lodger is somebody in a call who does nothing but be there.
type lodger struct {
	*voice.Call
	line *discordtest.Line
}

// Move implements [voice.Line].
func (l *lodger) Move(ctx context.Context, guild, channel uint64, mute, deaf bool) error {
	return l.line.Move(ctx, guild, channel, mute, deaf)
}

// enters puts a user into a voice channel until the test ends.
func (c *club) enters(u discordtest.User, channel uint64) *lodger {
	is := &lodger{}
	is.Call = voice.New(voice.Config{Place: voice.Place{Guild: c.Guild().ID, Channel: channel, Self: u.ID}, Line: is, HTTP: c.HTTP()})
	is.line = c.Line(u, is.State, is.Server)
	ctx, stop := context.WithCancel(context.Background())
	var there sync.WaitGroup
	there.Go(func() { _ = is.Run(ctx) }) // ends with the test's Discord at the latest
	c.t.Cleanup(func() { stop(); there.Wait() })
	return is
}

// TestDiscordSecrets: what only Discord and earshot may know, such as tokens, sessions and the keys
// of calls, is in no log, no file and nothing that is shown, whatever goes wrong. What people write
// on Discord is in no log.
func TestDiscordSecrets(t *testing.T) {
	t.Parallel()
	c := newClub(t, "reply: "+replied+"\n", "", "EARSHOT_LOG_LEVEL=debug",
		"PATH="+needVoice(t)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	d := c.comes()
	general, channel := c.Channel("general").ID, c.Channel("voice").ID
	var shown strings.Builder
	spoken := 0
	talk := func() {
		t.Helper()
		spoken++
		c.calls(c.ann, general, fmt.Sprintf("%s %d", said, spoken))
		c.answers(general, spoken)
	}
	given := func(by discordtest.User, name string) {
		t.Helper()
		number := c.Invoke(by.ID, c.bot.ID, general, name, "")
		testkit.Await(t, soon, "the answer to /"+name, func() bool { return len(c.Interaction(number).Answers) > 0 })
		fmt.Fprintln(&shown, c.Interaction(number).Answers)
	}
	logs := 0 // how much of the log was there before this fault
	logged := func(what string) {
		t.Helper()
		testkit.Await(t, soon, "the log to say "+what, func() bool { return strings.Contains(c.log()[logs:], what) })
	}
	inCall := func() {
		t.Helper()
		testkit.Await(t, soon, "earshot in the call, with keys", func() bool {
			g := c.Group(channel)
			return slices.Contains(c.InCall(channel), c.bot.ID) && g.Established && len(g.Members) == 2 && g.Pending == 0
		})
	}
	talk()
	guest := c.enters(c.ann, channel)
	testkit.Await(t, soon, "somebody to join", func() bool { return slices.Contains(c.InCall(channel), c.ann.ID) })
	closed := c.AddChannel(discordtest.Channel{Kind: discordtest.TextChannel, Name: "closed"}).ID
	for _, fault := range []struct {
		name string
		do   func()
	}{
		{"none", func() { given(c.ann, "join"); inCall() }},
		{"the gateway is cut", func() {
			before := c.Resumed(c.bot.ID)
			c.Drop(c.bot.ID)
			testkit.Await(t, soon, "the session", func() bool { return c.Resumed(c.bot.ID) > before })
			talk()
		}},
		{"the gateway is closed", func() {
			before := c.Resumed(c.bot.ID)
			c.CloseGateway(c.bot.ID, 4000)
			testkit.Await(t, soon, "the session", func() bool { return c.Resumed(c.bot.ID) > before })
		}},
		{"the gateway says what is none, and that the session is not known", func() {
			before := len(c.Identified(c.bot.ID))
			c.Garbage(c.bot.ID)
			testkit.Await(t, soon, "the session", func() bool { return c.Connected(c.bot.ID) })
			c.Invalid(c.bot.ID, false)
			testkit.Await(t, soon, "a session", func() bool { return len(c.Identified(c.bot.ID)) > before && c.Connected(c.bot.ID) })
			talk()
			inCall()
		}},
		{"too much is asked", func() { c.RateLimit(10*time.Millisecond, 10*time.Millisecond); talk() }},
		{"Discord is broken for a while", func() { c.Break(2); talk() }},
		{"answers are lost", func() { c.LoseAnswers(1); talk() }},
		{"the answer to a command is lost", func() {
			c.LoseAnswers(1)
			c.Invoke(c.bob.ID, c.bot.ID, general, "who", "")
			logged("discord: taking a command failed")
		}},
		{"a button is pressed that nobody made", func() { c.Press(c.bob.ID, c.bot.ID, general) }},
		{"a channel may not be written in", func() {
			c.Deny(closed, c.bot.ID, discordtest.SendMessages)
			c.calls(c.ann, closed, said)
			logged("a reply could not be posted in #closed")
		}},
		{"the call is cut, and cannot be resumed", func() {
			c.RefuseResume(c.bot.ID, 1)
			c.DropVoice(c.bot.ID)
			logged("voice connection lost")
			inCall()
		}},
		{"the call's session is over", func() { c.Kick(c.bot.ID, 4006); inCall() }},
		{"the region changes", func() {
			if err := c.Region(channel); err != nil {
				t.Error(err)
			}
			inCall()
		}},
		{"a welcome is damaged", func() {
			before := c.Group(channel).Resets
			c.Spoil(c.bot.ID)
			c.Reset(channel)
			testkit.Await(t, soon, "a group", func() bool { return c.Group(channel).Resets > before })
			logged("a message could not be followed")
			inCall()
		}},
		{"what is sent is no sound", func() {
			for range 20 {
				if err := guest.Say(t.Context(), []byte(said)); err != nil {
					t.Error(err)
				}
			}
		}},
		{"it is thrown out", func() {
			before := len(c.written(channel))
			c.Disconnect(c.bot.ID)
			testkit.Await(t, soon, "that it says so", func() bool { return len(c.written(channel)) > before })
		}},
	} {
		if t.Failed() {
			return
		}
		began := time.Now()
		logs = len(c.log())
		fault.do()
		t.Logf("%s: %v", fault.name, time.Since(began).Round(time.Millisecond))
		given(c.bob, "status")
	}
	for _, args := range [][]string{{"doctor"}, {"doctor", "--json"}, {"check"}, {"who"}, {"why"}, {"context"}} {
		r := c.earshot(nil, args...)
		shown.WriteString(r.out + r.err)
	}
	if !strings.Contains(shown.String(), "token, intents and permissions are in order; answers in writing and aloud") {
		t.Errorf("doctor says\n%s", shown.String())
	}
	for _, in := range []uint64{general, channel, closed} {
		for _, m := range c.written(in) {
			fmt.Fprintln(&shown, m.Content)
		}
	}
	d.end(syscall.SIGINT)
	shown.WriteString(d.out.String())

	wrong := strings.Replace(c.bot.Token, ".", ".x", 1)
	open := c.write("open", c.bot.Token)
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	settings := c.read("earshot.yaml")
	for name, environ := range map[string]string{
		"a token that is none":         "EARSHOT_DISCORD_TOKEN=" + wrong,
		"nobody there":                 "EARSHOT_PROVIDERS_DISCORD_BASE=http://127.0.0.1:1/",
		"a folder":                     "EARSHOT_PROVIDERS_DISCORD_TOKEN_FILE=" + c.dir,
		"a file that others can read":  "EARSHOT_PROVIDERS_DISCORD_TOKEN_FILE=" + open,
		"the token in place of a file": "EARSHOT_PROVIDERS_DISCORD_TOKEN_FILE=" + c.bot.Token,
		"the token in the configuration": "EARSHOT_CONFIG=" + c.write("mistaken.yaml",
			strings.Replace(settings, "token_file:", "token: "+c.bot.Token+"\n    token_file:", 1)),
	} {
		h := c.with(environ)
		r := h.earshot(nil, "doctor")
		if mends := (strings.Contains(r.out, "✗ discord") || strings.Contains(r.out, "providers.discord.token")) && strings.Contains(r.out, "→"); r.code == success || !mends {
			t.Errorf("with %s doctor says\n%s%s", name, r.out, r.err)
		}
		shown.WriteString(r.out + r.err)
		if r = h.earshot(nil, "check"); r.code == success { // the configuration is valid, so it runs, without Discord
			shown.WriteString(r.out + r.err)
			r = h.ask("what time is it?")
		}
		shown.WriteString(r.out + r.err)
	}

	log, files := c.log(), c.everything("state")
	secrets := append(c.Secrets(), discordtest.Secret{What: "a token that is none", Text: wrong})
	for _, s := range secrets {
		for where, text := range map[string]string{"what is shown": shown.String(), "the files": files} {
			if i := strings.Index(text, s.Text); i >= 0 {
				t.Errorf("%s is in %s: %q", s.What, where, text[max(0, i-200):i])
			}
		}
	}
	if len(secrets) < 30 || !strings.Contains(files, said) {
		t.Errorf("there are %d secrets only, or nothing was kept; this test proves nothing", len(secrets))
	}
	if strings.Contains(log, said) || strings.Contains(log, replied) {
		t.Error("what was said is in the log")
	}
}
