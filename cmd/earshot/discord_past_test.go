package main

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"earshot/internal/discord/discordtest"
	"earshot/internal/testkit"
)

// TestDiscordAfterRestart: what was written or deleted on Discord while the daemon was down is
// caught up with, and answered if it calls the agent. A reply to something that the agent wrote
// before the restart is understood as one. A reminder that came due is given, with a ping.
func TestDiscordAfterRestart(t *testing.T) {
	t.Parallel()
	c := newClub(t, "reply: The tide is high at three.\nrules:\n  - {when: ring, reply: \"It is in the teapot.\"}\n  - {when: back, reply: \"I am back.\"}\n  - {when: sure, reply: \"Quite sure.\"}\n", "")
	d := c.comes()
	general := c.Channel("general").ID
	answered := func(to uint64, want string) (answer discordtest.Message) {
		t.Helper()
		testkit.Await(t, soon, "the answer "+want, func() bool {
			all := c.written(general)
			i := slices.IndexFunc(all, func(m discordtest.Message) bool { return m.ReplyTo == to && m.Content == want })
			if i >= 0 {
				answer = all[i]
			}
			return i >= 0
		})
		return answer
	}
	c.Say(c.bob.ID, general, "hello everybody") // so that two people are in the channel
	tide := answered(c.calls(c.ann, general, "when is the tide high?").ID, "The tide is high at three.")
	ring := answered(c.calls(c.ann, general, "where is the ring?").ID, "It is in the teapot.")
	given := c.Invoke(c.ann.ID, c.bot.ID, general, "remind", "5s tea")
	testkit.Await(t, soon, "the reminder to be set", func() bool { return len(c.Interaction(given).Answers) > 0 })
	d.end(syscall.SIGINT)
	before := c.written(general)
	was := before[len(before)-1]

	c.Delete(general, ring.ID)
	c.Say(c.bob.ID, general, "it is quiet here")
	called := c.calls(c.ann, general, "are you back?")
	d = c.comes()
	answered(called.ID, "I am back.")
	reminded := func(m discordtest.Message) bool {
		return strings.HasPrefix(m.Content, fmt.Sprintf("<@%d>, you wanted", c.ann.ID))
	}
	testkit.Await(t, soon, "the reminder", func() bool { return slices.ContainsFunc(c.written(general), reminded) })
	asked := c.Write(discordtest.Message{Channel: general, Author: c.bob.ID, Content: "are you sure?", ReplyTo: tide.ID})
	answered(asked.ID, "Quite sure.")
	room := fmt.Sprintf("discord-%d", general)
	history := c.reads(room)
	if strings.Contains(history, "teapot") || !strings.Contains(history, "it is quiet here") || !strings.Contains(history, "high at three") {
		t.Errorf("the history is\n%s", history)
	}
	for _, m := range c.written(general) {
		if m.ReplyTo != 0 && m.ID > was.ID && m.ReplyTo != called.ID && m.ReplyTo != asked.ID {
			t.Errorf("it answered %d, %q", m.ReplyTo, m.Content)
		}
	}
	c.Delete(general, tide.ID)
	testkit.Await(t, soon, "the deletion of what was written before", func() bool { return !strings.Contains(c.reads(room), "high at three") })
	d.end(syscall.SIGINT)
}
