package roster

import (
	"slices"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"earshot/internal/discord/gateway"
)

const (
	me      = 1100000000000000001
	ann     = 1100000000000000002
	house   = 1100000000000000003
	general = 1100000000000000004
	keepers = 1100000000000000005
	message = 1100000000000100000
)

// now is later than everything that happens in the tests.
var now = gateway.Made(message).Add(time.Hour)

// testRoster returns a roster that knows a guild and one of its members.
func testRoster() *Roster {
	r := New(Config{DirectMessages: true, Bots: true})
	r.Learn(&discordgo.Ready{User: &discordgo.User{ID: gateway.Digits(me), Bot: true}})
	r.Learn(&discordgo.GuildCreate{Guild: &discordgo.Guild{
		ID: gateway.Digits(house), Name: "The House",
		Channels: []*discordgo.Channel{{ID: gateway.Digits(general), Name: "general", GuildID: gateway.Digits(house)}},
		Roles:    []*discordgo.Role{{ID: gateway.Digits(keepers), Name: "@everyone\nkeepers"}},
	}})
	r.Arrived(Arrival{ann, Person{Name: "Ann"}}, "Ann 2")
	return r
}

// written returns a message of Ann in the channel.
func written(id uint64) *discordgo.Message {
	return &discordgo.Message{
		ID: gateway.Digits(id), ChannelID: gateway.Digits(general), GuildID: gateway.Digits(house), Content: "hello",
		Author: &discordgo.User{ID: gateway.Digits(ann), Username: "ann"},
	}
}

// TestRenamed: a new name or new roles are reported, unchanged ones are not, nor is somebody who
// was never seen.
func TestRenamed(t *testing.T) {
	w := testRoster()
	member := func(nick string, roles ...string) *discordgo.GuildMemberUpdate {
		return &discordgo.GuildMemberUpdate{Member: &discordgo.Member{GuildID: gateway.Digits(house), Nick: nick, Roles: roles, User: &discordgo.User{ID: gateway.Digits(ann), Username: "ann"}}}
	}
	if all := w.Arrivals(member("Ann")); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	want := Person{Name: "Annie", Roles: []string{"everyone keepers"}}
	all := w.Arrivals(member("Annie", gateway.Digits(keepers), "1"))
	if len(all) != 1 || all[0].Person.Name != want.Name || !slices.Equal(all[0].Person.Roles, want.Roles) {
		t.Errorf("%+v", all)
	}
	stranger := member("Zed")
	stranger.User.ID = "1100000000000000098"
	if all := w.Arrivals(stranger); len(all) != 0 {
		t.Errorf("somebody who was never seen: %+v", all)
	}
}

// TestLookup: events in an unknown channel wait until it was looked up, which is asked for once.
func TestLookup(t *testing.T) {
	const thread = general + 1000
	guild := gateway.Digits(house)
	r := testRoster()
	if !r.Defer("first", thread, guild) || r.Defer("second", thread, guild) {
		t.Error("it is not looked up once")
	}
	if events := r.missing(thread); len(events) != 2 || r.strange[thread] {
		t.Errorf("while nobody can say, %v waits", events)
	}
	for range 2 * mostUnplaced {
		r.Defer("more", thread, guild)
	}
	is := &discordgo.Channel{Type: discordgo.ChannelTypeGuildPublicThread, GuildID: guild, ParentID: gateway.Digits(general), Name: "aside"}
	if n := r.Take(&Finding{channel: thread, found: is}, now); len(n.Events) != mostUnplaced || !n.Came || n.Guild != house || r.Channel(thread).Parent != general {
		t.Errorf("%d events wait, %+v", len(n.Events), r.Channel(thread))
	}
	r.Defer("else", thread+1, guild)
	if n := r.Take(&Finding{channel: thread + 1}, now); n.Came || n.Events != nil || r.Defer("else", thread+1, guild) {
		t.Errorf("what does not exist is %+v", n)
	}
	if r.Defer("else", thread+2, "7") {
		t.Error("another guild is looked up")
	}
}

// TestLookupDrops: events for which there was no room during a lookup are counted once.
func TestLookupDrops(t *testing.T) {
	const thread = general + 1000
	guild := gateway.Digits(house)
	is := &discordgo.Channel{Type: discordgo.ChannelTypeGuildPublicThread, GuildID: guild, ParentID: gateway.Digits(general), Name: "aside"}
	for _, tt := range []struct {
		name    string
		finding Finding
		lost    int
	}{
		{"found", Finding{channel: thread, found: is}, 3},
		{"failed", Finding{channel: thread, failed: true}, mostUnplaced + 3},
		{"does not exist", Finding{channel: thread}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := testRoster()
			for range mostUnplaced + 3 {
				r.Defer("event", thread, guild)
			}
			if n := r.Take(&tt.finding, now); n.Lost != tt.lost {
				t.Errorf("%d are lost, want %d", n.Lost, tt.lost)
			}
			if n := r.Take(&tt.finding, now); n.Lost != 0 {
				t.Errorf("%d are lost once more", n.Lost)
			}
		})
	}
}

// TestMissed: what was written, edited and deleted meanwhile is derived from the newest messages.
// Messages that came after the request are left out.
func TestMissed(t *testing.T) {
	r := testRoster()
	c := r.Channel(general)
	for i := range uint64(3) {
		c.Note(written(message + i))
	}
	r.Learn(&discordgo.Ready{User: &discordgo.User{ID: gateway.Digits(me), Bot: true}})
	if behind := r.Behind(house); len(behind) != 1 || behind[0] != c || len(r.Behind(house)) != 0 {
		t.Fatalf("it is behind in %v", behind)
	}
	c.Note(written(message + 3)) // came while the request is under way
	edited, fresh := written(message+1), written(message+4)
	at := now
	edited.EditedTimestamp = &at
	n := r.Take(&Finding{in: c, newest: []*discordgo.Message{nil, fresh, edited, written(message)}}, now)
	if len(n.Events) != 3 || n.In != c || len(n.Company) != 3 || n.Company[0].ID != gateway.Digits(message) {
		t.Fatalf("missed are %+v", n)
	}
	if e := n.Events[0].(*discordgo.MessageUpdate); e.Message != edited {
		t.Errorf("edited is %+v", e.Message)
	}
	if e := n.Events[1].(*discordgo.MessageDelete); e.ID != gateway.Digits(message+2) || e.GuildID != gateway.Digits(house) {
		t.Errorf("deleted is %+v", e.Message)
	}
	if e := n.Events[2].(*discordgo.MessageCreate); e.Message != fresh {
		t.Errorf("new is %+v", e.Message)
	}
	if events := r.Take(&Finding{in: c, newest: []*discordgo.Message{nil}}, now.Add(2*mostMissed)).Events; len(events) != 3 {
		t.Errorf("of an empty channel %v are deleted", events)
	}
}

// TestPast: a new channel is compared with what the daemon had of it, and its room is opened once
// if something waits there.
func TestPast(t *testing.T) {
	r := New(Config{DirectMessages: true})
	r.Remember([]Past{
		{Channel: general, Written: []Written{{Event: gateway.EventOf(general, message)}, {Event: "else"}}, Own: []uint64{message - 1}, Waits: true},
		{With: ann, Written: []Written{{Event: gateway.EventOf(7, message)}}},
	})
	r.Learn(&discordgo.GuildCreate{Guild: &discordgo.Guild{
		ID: gateway.Digits(house), Channels: []*discordgo.Channel{{ID: gateway.Digits(general), GuildID: gateway.Digits(house)}},
	}})
	c := r.Channel(general)
	if want := []Recent{{ID: message - 1}, {ID: message}}; !slices.Equal(c.Recent, want) || !slices.Equal(r.Behind(house), []*Channel{c}) {
		t.Errorf("remembered are %v", c.Recent)
	}
	if !slices.Equal(r.Waiting(house), []*Channel{c}) || len(r.Waiting(house)) != 0 {
		t.Error("its room is not opened once")
	}
	if all := r.Correspondents(); !slices.Equal(all, []uint64{ann}) {
		t.Errorf("direct messages of %v are looked up", all)
	}
	n := r.Take(&Finding{with: ann, found: &discordgo.Channel{ID: "7"}}, now)
	if len(r.Correspondents()) != 0 || !n.Came || n.Guild != 0 || r.Place(r.Channel(7)).Room() != "discord-dm-1100000000000000002" {
		t.Errorf("they are %+v", r.Channel(7))
	}
}

// TestPresence: a person is present from their first sign until they leave the guild, or give no
// sign for long.
func TestPresence(t *testing.T) {
	r := testRoster()
	c := r.Channel(general)
	if !c.See(ann, now) || c.See(ann, now.Add(-time.Hour)) || !c.Saw(ann) {
		t.Error("she is not present")
	}
	if len(r.Idle(now.Add(Stays-1))) != 0 || !slices.Equal(r.Idle(now.Add(Stays)), []Departure{{c, ann}}) || c.Saw(ann) {
		t.Error("she does not depart in time")
	}
	c.See(ann, now)
	if len(r.Leave(7, ann)) != 0 || !slices.Equal(r.Leave(house, ann), []Departure{{c, ann}}) || c.Saw(ann) {
		t.Error("she does not leave with the guild")
	}
}
