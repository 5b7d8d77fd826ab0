package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"earshot"
	"earshot/internal/codec"
	"earshot/internal/discord/discordtest"
	"earshot/internal/discord/peers"
	"earshot/internal/helper"
	"earshot/internal/testkit"
)

// A club is a guild on a Discord of our own, with earshot's bot in it, and Ann, who
// operates it, and Bob.
type club struct {
	*parlour // without a card
	*discordtest.Server
	bot, ann, bob discordtest.User
}

// newClub returns one with a model that says what script says; more is what else the
// configuration says. Environ goes on top.
func newClub(t *testing.T, script, more string, environ ...string) *club {
	t.Helper()
	c := &club{parlour: &parlour{home: newHome(t, environ...)}, Server: discordtest.New(t, discordtest.Config{})}
	c.bot = c.Bot("Earshot")
	c.ann = c.AddUser(discordtest.User{Name: "ann", Human: true})
	c.bob = c.AddUser(discordtest.User{Name: "bob", Human: true})
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

// comes starts the daemon, and returns when the bot is there.
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

// written returns what stands in a channel by the bot.
func (c *club) written(channel uint64) (all []discordtest.Message) {
	for _, m := range c.Messages(channel) {
		if m.Author == c.bot.ID && !m.Deleted {
			all = append(all, m)
		}
	}
	return all
}

// answers returns what the bot has written in a channel as soon as there are n.
func (c *club) answers(channel uint64, n int) (all []discordtest.Message) {
	c.t.Helper()
	testkit.Await(c.t, soon, "an answer", func() bool {
		all = c.written(channel)
		return len(all) >= n
	})
	return all
}

// calls has a user write to the bot by its name.
func (c *club) calls(user discordtest.User, channel uint64, text string) discordtest.Message {
	return c.Say(user.ID, channel, fmt.Sprintf("<@%d> %s", c.bot.ID, text))
}

// reads returns the history of a room.
func (c *club) reads(room string) string {
	c.t.Helper()
	return c.earshot(nil, "history", "--room", room, "-n", "100").out
}

// TestDiscordText: who calls it in a channel gets a reply to that very message, which
// pings nobody else; who writes to it alone gets an answer that is there alone; who
// deletes there deletes here.
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
	room := fmt.Sprintf("discord-%d", general)
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

// TestDiscordBots: a bot that answers everything is handed to a person at the limit.
func TestDiscordBots(t *testing.T) {
	t.Parallel()
	c := newClub(t, "reply: \"And you, @parrot?\"\n", "executive:\n  multi_party: {turn_limit: 4}\n")
	parrot := c.Bot("parrot")
	c.comes()
	general := c.Channel("general").ID
	c.calls(c.ann, general, "say hello to the parrot")
	seen := 0
	handed := func(m discordtest.Message) bool { return strings.Contains(m.Content, "it is yours again") }
	testkit.Await(t, soon, "the handover", func() bool {
		all := c.written(general)
		for _, m := range all[seen:] {
			if !handed(m) {
				c.calls(parrot, general, "and you?")
			}
		}
		seen = len(all)
		return slices.ContainsFunc(all, handed)
	})
	if seen > 4 {
		t.Errorf("it wrote %d messages", seen)
	}
	for _, m := range c.written(general) {
		t.Logf("%s (may ping %s)", m.Content, m.Allowed)
	}
}

// TestDiscordCommands: the commands of the terminal and those of Discord are offered,
// and answered to who asks alone.
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
		{c.bob, "join", "", "is missing, or switched off"},
		{c.bob, "rename", "ann Bert", "operates"},
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

// TestDiscordSecrets: the token is in no log, in no complaint, and in nothing that is
// shown, whatever goes wrong; what people write on Discord is in no log.
func TestDiscordSecrets(t *testing.T) {
	t.Parallel()
	c := newClub(t, "reply: "+replied+"\n", "", "EARSHOT_LOG_LEVEL=debug")
	d := c.comes()
	general := c.Channel("general").ID
	c.calls(c.ann, general, said)
	c.answers(general, 1)
	c.Drop(c.bot.ID)
	c.RateLimit(10*time.Millisecond, 10*time.Millisecond)
	c.calls(c.ann, general, said+" again")
	c.answers(general, 2)
	var shown strings.Builder
	look := func(args ...string) {
		r := c.earshot(nil, args...)
		shown.WriteString(r.out + r.err)
	}
	look("doctor")
	look("doctor", "--json")
	if !strings.Contains(shown.String(), "token, intents and permissions are good; answers in writing and aloud") {
		t.Errorf("doctor says\n%s", shown.String())
	}
	d.end(syscall.SIGINT)
	shown.WriteString(d.out.String())
	wrong := strings.Replace(c.bot.Token, ".", ".x", 1)
	for _, broken := range [][]string{
		{"EARSHOT_DISCORD_TOKEN=" + wrong},
		{"EARSHOT_PROVIDERS_DISCORD_BASE=http://127.0.0.1:1/"},
		{"EARSHOT_PROVIDERS_DISCORD_TOKEN_FILE=" + c.dir},
	} {
		h := c.with(broken...)
		r := h.earshot(nil, "doctor")
		shown.WriteString(r.out + r.err)
		if r.code == success || !strings.Contains(r.out, "✗ discord") || !strings.Contains(r.out, "→") {
			t.Errorf("with %s doctor says\n%s", strings.Replace(broken[0], wrong, "…", 1), r.out)
		}
		r = h.ask("what time is it?")
		shown.WriteString(r.out + r.err)
	}
	log := c.log()
	for where, text := range map[string]string{"the log": log, "what is shown": shown.String(), "the journal": c.everything("state/earshot/journal")} {
		for _, secret := range []string{c.bot.Token, wrong} {
			if strings.Contains(text, secret) {
				t.Errorf("the token is in %s", where)
			}
		}
	}
	if strings.Contains(log, said) || strings.Contains(log, replied) {
		t.Error("what was said is in the log")
	}
}

// A speaker is somebody with discord.js, who talks.
type speaker struct {
	*peers.Peer
	c     *club
	voice person
}

// joins has a user come into a voice channel by discord.js.
func (c *club) joins(u discordtest.User, voice person, channel uint64) *speaker {
	c.t.Helper()
	p, err := peers.Run(c.t.Context(), peers.Config{Base: c.Base(), CAFile: c.CAFile(), Token: u.Token, Guild: c.Guild().ID})
	if err != nil {
		if strings.Contains(os.Getenv("EARSHOT_WITHOUT"), "discord") {
			c.t.Skip("told by EARSHOT_WITHOUT to do without discord")
		}
		c.t.Fatal(err)
	}
	c.t.Cleanup(p.Close)
	p.Join(channel)
	testkit.Await(c.t, soon, "who talks", func() bool { return slices.Contains(c.InCall(channel), u.ID) })
	return &speaker{p, c, voice}
}

// says begins to say something.
func (s *speaker) says(text string) {
	s.c.t.Helper()
	file := filepath.Join(s.c.t.TempDir(), "said")
	if err := os.WriteFile(file, peers.Packets(opusOf(s.c.t, s.voice.sound(s.c.t, text))), 0o600); err != nil {
		s.c.t.Fatal(err)
	}
	s.Speak(file)
}

// media starts the helper for Opus.
func media(t testing.TB) helper.Dialer {
	path := filepath.Join(needVoice(t), speechHelper)
	return func() (helper.Link, error) {
		return helper.Start(helper.Command{Name: speechHelper, Path: path, Args: []string{"media"}, Log: quietly})
	}
}

// opusOf returns sound of 16 kHz as packets.
func opusOf(t testing.TB, pcm []int16) (packets [][]byte) {
	t.Helper()
	o := codec.NewOpus(codec.OpusConfig{Dial: media(t), Encoded: func(_ context.Context, opus []byte) {
		packets = append(packets, slices.Clone(opus))
	}})
	ctx, stop := context.WithTimeout(t.Context(), soon)
	var life sync.WaitGroup
	life.Go(func() { o.Run(ctx) })
	err := o.Encode(ctx, rate, pcm)
	if err == nil {
		err = o.Flush(ctx)
	}
	stop()
	life.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return packets
}

// heardIn returns how much of a record sounds, in milliseconds.
func heardIn(t testing.TB, file string) (ms int) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for _, p := range peers.ReadRecord(data) {
		if len(p.Opus) > 20 { // silence takes less
			ms += 20
		}
	}
	return ms
}

// TestSpokenOnDiscord: people with discord.js talk to it in a voice channel. Each is
// understood as who they are, also when three speak at once; it answers aloud, falls
// silent when somebody talks over it, and keeps what was heard; who opts out in the
// middle of a sentence has said nothing.
func TestSpokenOnDiscord(t *testing.T) {
	talks(t)
	dir := needVoice(t)
	c := newClub(t, talker, "", "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	eve := c.AddUser(discordtest.User{Name: "eve", Human: true})
	c.comes()
	channel := c.Channel("voice").ID
	a, b, e := c.joins(c.ann, ann, channel), c.joins(c.bob, bob, channel), c.joins(eve, "awb", channel)
	given := c.Invoke(c.ann.ID, c.bot.ID, channel, "join", "")
	testkit.Await(t, soon, "earshot in the call", func() bool { return slices.Contains(c.InCall(channel), c.bot.ID) })
	if is := c.Interaction(given); !is.Ephemeral {
		t.Errorf("/join was answered with %q to all", is.Answers)
	}
	record := filepath.Join(t.TempDir(), "record")
	a.Record(c.bot.ID, record)
	testkit.Await(t, soon, "that it says that it listens", func() bool { return heardIn(t, record) > 500 && len(c.written(channel)) > 0 })

	b.says("earshot, what is the weather like today")
	if replies := c.replied(1); replies[0].Outcome != earshot.Completed || len(replies[0].Heard) != 1 || replies[0].Heard[0].Outlet != inCalls {
		t.Errorf("it answered %+v", replies[0])
	}
	before := heardIn(t, record)
	b.says("earshot, tell me about the tide")
	testkit.Await(t, soon, "its voice", func() bool { return heardIn(t, record) > before+2000 })
	a.says("earshot, what about the weather")
	cut := c.replied(2)[1]
	if cut.Outcome != earshot.Interrupted || cut.Delivered() == "" || cut.Remainder() == "" || cut.Cut == nil || cut.Cut.By != participantOf(c.ann) {
		t.Errorf("it was cut off like this: %+v", cut)
	}
	c.replied(3)

	talk := []struct {
		by          *speaker
		who         discordtest.User
		text, words string // of which one is enough
	}{
		{a, c.ann, "the build was finished at noon and everybody went home after that", "finished home build noon"},
		{b, c.bob, "add milk and eggs to the shopping list and bring some apples too", "milk eggs shopping list apples"},
		{e, eve, "the meeting was moved to three thirty on monday and then to tuesday", "meeting moved thirty monday tuesday"},
	}
	for _, tt := range talk {
		tt.by.says(tt.text)
	}
	for _, tt := range talk {
		testkit.Await(t, soon, "what "+tt.who.Name+" says while others speak", func() bool {
			return slices.ContainsFunc(c.journal(), func(ev earshot.Event) bool {
				u, ok := ev.Body.(earshot.Utterance)
				return ok && ev.Author == participantOf(tt.who) && slices.ContainsFunc(strings.Fields(tt.words), func(word string) bool {
					return strings.Contains(string(u.Text), word)
				})
			})
		})
	}

	spoken := c.Traffic(c.bob.ID).In
	b.says("the ring is in the teapot on the second shelf of the kitchen and nobody else may ever know that" +
		" because it was my mother's and hers before that and it is all that is left of the house by the sea" +
		" which they had to sell when the river came and took the garden and the road and the bridge")
	testkit.Await(t, soon, "what goes over the wire", func() bool { return c.Traffic(c.bob.ID).In > spoken+50 }) // a second of it
	out := c.Invoke(c.bob.ID, c.bot.ID, channel, "optout", "")
	testkit.Await(t, soon, "the answer", func() bool { return len(c.Interaction(out).Answers) > 0 })
	<-b.Spoken()
	n := len(c.replied(0))
	a.says("earshot, what is the weather like today")
	c.replied(n + 1)
	if all := c.everything("state/earshot/journal"); strings.Contains(all, "teapot") || strings.Contains(all, "second shelf") {
		t.Error("what was said by who does not want to be heard is kept")
	}
	shown := c.reads(fmt.Sprintf("discord-%d", channel))
	t.Logf("history:\n%s", shown)
	for _, want := range []string{"bob        ", "Earshot    It is warm and dry today.", "[cut off by ann; not heard: ", "eve        ", "spoke]"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in the history", want)
		}
	}
}

// participantOf returns who a user is here.
func participantOf(u discordtest.User) earshot.ParticipantID {
	return earshot.ParticipantID(fmt.Sprintf("discord-%d", u.ID))
}

// shownBody returns what an event says, for who looks at a test that has failed.
func shownBody(b earshot.Body) string {
	data, _ := json.Marshal(b)
	return string(data)
}
