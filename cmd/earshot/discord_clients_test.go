package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"earshot/internal/discord/discordtest"
	"earshot/internal/discord/peers"
	"earshot/internal/testkit"
)

// clients logs users in with discord.js, all at the same time, since each client has some hundred
// files to read. The options for all of them are in like.
func (c *club) clients(like peers.Config, users ...discordtest.User) []*peers.Peer {
	c.t.Helper()
	like.Base, like.CAFile, like.Guild = c.Base(), c.CAFile(), c.Guild().ID
	all, errs := make([]*peers.Peer, len(users)), make([]error, len(users))
	var coming sync.WaitGroup
	for i, u := range users {
		cfg := like
		cfg.Token = u.Token
		coming.Go(func() { all[i], errs[i] = peers.Run(c.t.Context(), cfg) })
	}
	testkit.Finish(c.t, 5*testkit.Patience, "the clients", coming.Wait)
	for _, p := range all {
		if p != nil {
			c.t.Cleanup(p.Close)
		}
	}
	for _, err := range errs {
		switch {
		case err != nil && strings.Contains(os.Getenv("EARSHOT_WITHOUT"), "discord"):
			c.t.Skip("told by EARSHOT_WITHOUT to do without discord")
		case err != nil:
			c.t.Fatal(err)
		}
	}
	return all
}

// A penfriend is somebody who writes and reads through discord.js.
type penfriend struct {
	*peers.Peer
	c *club
}

// writes posts a message in a channel, and returns its ID.
func (r penfriend) writes(channel uint64, text string) uint64 {
	r.c.t.Helper()
	n, err := r.Write(channel, text)
	r.must(err)
	return n
}

// calls posts a message that mentions the bot.
func (r penfriend) calls(channel uint64, text string) uint64 {
	r.c.t.Helper()
	return r.writes(channel, fmt.Sprintf("<@%d> %s", r.c.bot.ID, text))
}

func (r penfriend) must(err error) {
	r.c.t.Helper()
	if err != nil {
		r.c.t.Fatalf("a client of discord.js: %v: %q", err, r.Errors())
	}
}

// since returns the messages that the client has seen in a channel after a given one.
func (r penfriend) since(message, channel uint64) []peers.Message {
	return slices.DeleteFunc(r.Seen(), func(m peers.Message) bool { return m.Channel != channel || m.ID <= message })
}

// sees waits until the client has seen a message by the bot that contains what, later than after in
// the channel, and returns all that the bot has written there since.
func (r penfriend) sees(after, channel uint64, what string) (all []peers.Message) {
	r.c.t.Helper()
	testkit.Await(r.c.t, soon, "a client to see "+strconv.Quote(what), func() bool {
		all = writtenBy(r.c.bot, r.since(after, channel))
		return slices.ContainsFunc(all, func(m peers.Message) bool { return strings.Contains(m.Text, what) })
	})
	return all
}

// writtenBy returns the messages of a user.
func writtenBy(u discordtest.User, all []peers.Message) []peers.Message {
	return slices.DeleteFunc(slices.Clone(all), func(m peers.Message) bool { return m.Author != u.ID })
}

// forgets waits until no file of the daemon holds the given words in any form.
func (c *club) forgets(words ...string) {
	c.t.Helper()
	for _, w := range words {
		testkit.Await(c.t, soon, "that nothing holds "+strconv.Quote(w), func() bool { return !strings.Contains(c.everything("state"), w) })
	}
}

// A chart is a reply that is too long for one message, most of it code.
type chart struct{ before, code, after string }

func newChart() (c chart) {
	var code strings.Builder
	for n := range 120 {
		fmt.Fprintf(&code, "\tmark(buoys[%d].on_the_left_side_of_the_fairway)\n", n) // few words a line, since a model may only say so many
	}
	return chart{"Here it is:\n", code.String(), "That is all of it."}
}

func (c chart) String() string { return c.before + "```go\n" + c.code + "```\n" + c.after }

// whole compares the messages that a chart came in with the chart: each message has only complete
// code blocks, and together they have all of the code.
func (c chart) whole(parts []peers.Message) error {
	var code strings.Builder
	for i, m := range parts {
		inside := false
		for line := range strings.Lines(m.Text) {
			switch fence := strings.HasPrefix(line, "```"); {
			case fence && !inside && strings.TrimSpace(line) != "```go":
				return fmt.Errorf("part %d opens a block with %q", i+1, line)
			case fence:
				inside = !inside
			case inside:
				code.WriteString(line)
			}
		}
		if inside {
			return fmt.Errorf("part %d ends in the middle of a block", i+1)
		}
	}
	first, last := parts[0].Text, parts[len(parts)-1].Text
	switch {
	case len(parts) < 3:
		return fmt.Errorf("it came in %d parts", len(parts))
	case code.String() != c.code:
		return fmt.Errorf("the code came as\n%s", code.String())
	case !strings.HasPrefix(first, c.before) || !strings.HasSuffix(last, c.after):
		return fmt.Errorf("it begins with %q and ends with %q", first, last)
	}
	return nil
}

// TestDiscordClients shows what people see who write to the agent through discord.js. A direct
// message gets a direct answer. What they edit and delete is edited and deleted here, to the last
// byte. A long answer comes in whole parts, while the bot is seen to type. A bot that answers
// everything is handed over to a person.
func TestDiscordClients(t *testing.T) {
	t.Parallel()
	long := newChart()
	c := newClub(t, fmt.Sprintf(`reply: "And you, @parrot?"
rules:
  - {when: chart, every_seconds: 0.01, reply: %q}
  - {when: ring, reply: It is in the teapot.}
  - {when: heron, reply: On one leg.}
  - {when: still there, reply: "Yes, I am."}
`, long), "executive:\n  multi_party: {turn_limit: 4}\n")
	bird := c.Bot("parrot")
	all := c.clients(peers.Config{Reads: true}, c.ann, bird)
	ann, parrot := penfriend{all[0], c}, penfriend{all[1], c}
	d := c.comes()
	general := c.Channel("general").ID

	alone, err := ann.Direct(c.bot.ID)
	ann.must(err)
	asked := ann.writes(alone, "where is the ring hidden?")
	if got := ann.sees(asked, alone, "It is in the teapot."); len(got) != 1 {
		t.Errorf("alone it answered %+v", got)
	}

	slept := ann.calls(general, "how does the heron sleep?")
	if got := ann.sees(slept, general, "On one leg."); got[0].ReplyTo != slept {
		t.Errorf("it answered %+v", got)
	}
	ann.must(ann.Edit(slept, fmt.Sprintf("<@%d> how does the curlew sleep?", c.bot.ID)))
	c.forgets("heron")
	if history := c.reads(roomOf(general)); !strings.Contains(history, "how does the curlew sleep?") {
		t.Errorf("what was changed is not in\n%s", history)
	}
	ann.must(ann.Delete(slept))
	c.forgets("curlew", "On one leg")

	drawn := ann.calls(general, "draw the chart")
	if err := long.whole(ann.sees(drawn, general, long.after)); err != nil {
		t.Error(err)
	}
	if ann.Typing(peers.Typist{User: c.bot.ID, Channel: general}) == 0 {
		t.Error("nobody sees that it types")
	}

	parrot.must(parrot.Answer(fmt.Sprintf("<@%d> and you?", c.bot.ID)))
	hello := ann.calls(general, "say hello to the parrot")
	talk := ann.sees(hello, general, "it is yours again")
	if last := talk[len(talk)-1].Text; len(talk) > 4 || !strings.Contains(last, fmt.Sprintf("<@%d>", c.ann.ID)) {
		t.Errorf("it wrote %d messages to a bot that answers everything, the last of which is %q", len(talk), last)
	}
	testkit.Await(t, soon, "what the parrot says to that", func() bool {
		said := ann.since(hello, general)
		return len(said)-len(writtenBy(bird, said)) == len(writtenBy(bird, said))-1 // because the parrot has answered Ann, too
	})
	parrot.must(parrot.Answer(""))
	still := ann.calls(general, "are you still there?")
	if got := ann.sees(hello, general, "Yes, I am."); len(got) != len(talk)+1 {
		t.Errorf("after it had handed over it wrote %+v", got[len(talk):])
	}
	if got := ann.sees(still, general, "Yes, I am."); len(got) != 1 {
		t.Errorf("to a person it answered %+v", got)
	}

	for _, m := range parrot.Seen() { // the parrot has seen all that was written in the channel
		if m.Channel == alone || strings.Contains(m.Text, "teapot") {
			t.Errorf("somebody else sees what was private: %+v", m)
		}
	}
	if history := c.reads(roomOf(general)); strings.Contains(history, "teapot") || strings.Contains(history, "ring hidden") {
		t.Errorf("what was private is in\n%s", history)
	}
	if history := c.everything("state"); !strings.Contains(history, "ring hidden") || !strings.Contains(history, "teapot") {
		t.Error("what was private is kept nowhere; its deletion would prove nothing")
	}
	ann.must(ann.Delete(asked))
	c.forgets("ring hidden", "teapot")
	for name, r := range map[string]penfriend{"ann": ann, "the parrot": parrot} {
		if errs := r.Errors(); len(errs) > 0 {
			t.Errorf("%s complains: %q", name, errs)
		}
	}
	d.end(syscall.SIGINT)
	c.forgets("heron", "curlew", "On one leg", "ring hidden", "teapot")
}
