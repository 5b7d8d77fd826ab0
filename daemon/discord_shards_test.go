package daemon

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/daemon/access"
	"earshot/daemon/membership"
	"earshot/internal/discord/discordtest"
	"earshot/internal/testkit"
	"earshot/internal/testkit/pgtest"
	"earshot/participants"
)

// TestClusterDiscord: each shard of the bot runs at one of several daemons; when that one is killed or
// drained, another identifies in its turn, and nothing that was written meanwhile is missed or doubled.
func TestClusterDiscord(t *testing.T) {
	server := pgtest.Start(t)
	club := discordtest.New(t, discordtest.Config{Shards: 2, IdentifyEvery: identifyEvery})
	bot := club.Bot("Earshot")
	ann := club.AddUser(discordtest.User{Name: "ann", Human: true, Privileged: true})
	general := club.Channel("general").ID
	h := &sharedHouse{t: t, server: server, url: server.Database(t), discord: club.Base(), token: bot.Token}
	said := 0
	says := func() {
		said++
		club.Say(ann.ID, general, fmt.Sprintf("<@%d> how is it? %d", bot.ID, said))
	}
	answered := func(by *sharer) {
		t.Helper()
		testkit.Await(t, 2*testkit.Patience, "an answer", func() bool {
			n := 0
			for _, m := range club.Messages(general) {
				if m.Author == bot.ID && strings.Contains(m.Content, "All is well.") {
					n++
				}
			}
			if n > said {
				t.Fatalf("%d answers to %d questions", n, said)
			}
			return n == said
		})
		room := earshot.RoomID(access.ChannelPrefix + fmt.Sprint(general))
		kept, err := by.store.Lately(t.Context(), room, earshot.KindMessage, 100, earshot.Audience{Room: room, Members: []earshot.ParticipantID{participants.Owner}, Unknown: true})
		if err != nil || len(kept) != said {
			t.Errorf("%d messages are on record, of %d: %v", len(kept), said, err)
		}
	}
	shards := func(s *sharer, want int) {
		t.Helper()
		testkit.Await(t, 2*testkit.Patience, "the shards are where they should be", func() bool {
			n := 0
			for i := range int64(2) {
				if s.cluster.Lease(membership.ShardName(i, 2)) != nil {
					n++
				}
			}
			return n == want
		})
	}
	a := h.join("a")
	shards(a, 2)
	testkit.Await(t, 2*testkit.Patience, "both shards have identified", func() bool { return len(club.Identified(bot.ID)) == 2 })
	says()
	answered(a)

	b := h.join("b")
	testkit.Await(t, testkit.Patience, "the other is known", func() bool { return len(b.cluster.Members()) == 2 })
	a.kill()
	says()
	shards(b, 2)
	answered(b)
	a.relay.resume(t)
	a.end()

	a = h.join("a")
	testkit.Await(t, testkit.Patience, "the first is back", func() bool { return len(a.cluster.Members()) == 2 })
	a.drain("b")
	says()
	shards(a, 2)
	says()
	answered(a)
	var last time.Time
	for _, at := range club.Identified(bot.ID) {
		if at.Sub(last) < identifyEvery {
			t.Errorf("two sessions identified %v apart", at.Sub(last))
		}
		last = at
	}
}
