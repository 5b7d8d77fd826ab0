package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot"
	"earshot/daemon/access"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/internal/discord/discordtest"
	"earshot/internal/discord/gateway"
	"earshot/internal/field"
	"earshot/internal/testkit"
)

// openedRooms are rooms that note which were opened for a shard.
type openedRooms struct {
	*testRooms
	waits []earshot.RoomID
	mu    sync.Mutex
	ids   []earshot.RoomID
}

func (o *openedRooms) Waiting(context.Context) ([]earshot.RoomID, error) { return o.waits, nil }

func (o *openedRooms) Open(ctx context.Context, is executive.Room) (Room, error) {
	o.mu.Lock()
	o.ids = append(o.ids, is.ID)
	o.mu.Unlock()
	return o.testRooms.Open(ctx, is)
}

func (o *openedRooms) opened(id earshot.RoomID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Contains(o.ids, id)
}

// TestShards: a room in which something waits is opened for the shard that has its channel, a command is done by the shard that has the channel in which it was given, direct messages are
// the first shard's alone, and who refuses to be heard refuses all shards.
func TestShards(t *testing.T) {
	club := discordtest.New(t, discordtest.Config{Shards: 2}) // the guild is the second's
	me := club.Bot("Earshot")
	ann := club.AddUser(discordtest.User{Name: "ann", Human: true, Privileged: true})
	general := club.Channel("general").ID
	quiet := earshot.RoomID(access.ChannelPrefix + fmt.Sprint(club.AddChannel(discordtest.Channel{Kind: discordtest.TextChannel, Name: "quiet"}).ID))
	dm := club.Direct(ann.ID, me.ID).ID
	plain, rooms := newBot(t, club.Base())
	cfg := plain.c.Settings()
	cfg.Providers.Discord.Token, cfg.Providers.Discord.Base, cfg.Store.Directory = field.Secret(me.Token), club.Base(), t.TempDir()
	c := plain.c
	c.Hears = true
	whole, err := New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	direct, hall := earshot.RoomID(access.DirectPrefix+fmt.Sprint(ann.ID)), earshot.RoomID(access.ChannelPrefix+fmt.Sprint(general))
	if _, err := c.Store.Append(t.Context(), earshot.Event{
		ID: gateway.EventOf(dm, club.Say(ann.ID, dm, "psst").ID), At: time.Now(), Room: direct, From: gateway.HandleOf(ann.ID), Author: "ann",
		Visibility: earshot.Visibility{Scope: earshot.Public}, Body: earshot.Message{Text: "psst"},
	}); err != nil {
		t.Fatal(err)
	}
	club.Say(ann.ID, dm, "still there?") // which nobody reads yet

	var running sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer testkit.Finish(t, testkit.Patience, "the end of the shards", running.Wait)
	defer stop()
	begins := func(n int) (*Bot, *openedRooms) {
		t.Helper()
		own := &openedRooms{testRooms: rooms, waits: []earshot.RoomID{quiet, earshot.Desk}}
		s, err := whole.NewShard(ctx, gateway.Shard{Number: n, Of: 2}, own)
		if err != nil {
			t.Fatal(err)
		}
		running.Go(func() {
			if err := s.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		testkit.Await(t, testkit.Patience, "a shard is connected", func() bool { return s.session.Status().Open })
		return s, own
	}
	second, its := begins(1)
	testkit.Await(t, testkit.Patience, "the room in which something waits is open", func() bool { return its.opened(quiet) })
	club.Say(ann.ID, general, "hello")
	testkit.Await(t, testkit.Patience, "the room of the channel is open", func() bool { return its.opened(hall) })
	testkit.Await(t, testkit.Patience, "the commands of the guild are registered", func() bool {
		return slices.ContainsFunc(club.Requests(), func(r string) bool { return strings.HasPrefix(r, "PUT") && strings.Contains(r, "/guilds/") })
	})
	if asked := club.Requests(); its.opened(direct) || slices.ContainsFunc(asked, func(r string) bool { return strings.Contains(r, "@me/channels") }) {
		t.Errorf("the second shard looks after direct messages: %q", asked)
	}
	first, its := begins(0)
	testkit.Await(t, testkit.Patience, "the first shard reads direct messages that were missed", func() bool { return its.opened(direct) })

	for s, in := range map[*Bot]earshot.RoomID{first: direct, second: hall} {
		testkit.Await(t, testkit.Patience, "a shard writes in its room", func() bool { _, has := s.channels.place(in); return has })
	}
	does := func(name, args string, in earshot.RoomID) string {
		t.Helper()
		all := Commands(func() *Bot { return whole })
		i := slices.IndexFunc(all, func(c command.Command) bool { return c.Name == name })
		answer, err := all[i].Do(ctx, command.Call{Event: earshot.Event{Room: in, From: gateway.HandleOf(ann.ID)}, Args: earshot.Text(args)})
		if err != nil {
			t.Errorf("%s in %s: %v", name, in, err)
		}
		return answer
	}
	if got := does("leave", "", hall); got != "I am in no voice channel" {
		t.Errorf("leaving: %q", got)
	}
	for _, in := range []earshot.RoomID{direct, hall} {
		for _, args := range []string{"", "off"} {
			does("optout", args, in)
			for _, s := range []*Bot{first, second} {
				if s.refusals.Out(ann.ID) != (args == "") {
					t.Errorf("after /optout %s in %s: a shard has %v", args, in, s.refusals.Out(ann.ID))
				}
			}
		}
	}
	second.own.add(post{1, hall, "turn"})
	first.own.add(post{2, direct, "turn"})
	if err := whole.Forget(map[earshot.TurnID]bool{"turn": true}); err != nil || len(second.own.in(hall))+len(first.own.in(direct)) > 0 {
		t.Errorf("a shard still knows the posts of a forgotten reply: %v", err)
	}
}
