package replay_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive"
	"earshot/executive/room"
	"earshot/internal/testkit"
	"earshot/llm/llmtest"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/replay"
)

// A village is two rooms with three agents and two people: what the property is tried in.
type village struct {
	settings executive.Config
	actors   participants.Config
	agents   []agents.Record
	script   string
}

const den = earshot.RoomID("den")

// A deed is something that somebody does there.
type deed struct {
	after time.Duration
	room  earshot.RoomID
	who   string
	body  earshot.Body
}

func newVillage(t testing.TB) village {
	t.Helper()
	v := village{
		settings: executive.DefaultConfig(), actors: participants.DefaultConfig(),
		script: "every_seconds: 0.11\nreply: Hm, let me see what can be said about that.\nrules:\n" +
			"- {when: tides, reply: The tides are the sea's answer to the moon. It pulls and the water follows.}\n" +
			"- {when: coder, agent: Earshot, reply: \"@coder, what do you say?\"}\n" +
			"- {when: note, result: \"\", reply: It is kept.}\n" +
			"- {when: note, calls: [{tool: note, arguments: {text: the door is blue}}]}\n" +
			"- {for: thought, when: \"\", reply: The moon is behind it all.}\n" +
			"- {for: findings, when: \"\", reply: '{\"findings\":[{\"text\":\"The moon is behind it.\",\"evidence\":[\"e1\"],\"confidence\":0.9,\"minutes\":30,\"worth_saying\":true}]}'}\n",
	}
	for _, name := range []string{"ann", "bob"} {
		id := earshot.ParticipantID(name)
		if name == "ann" {
			id = participants.Owner
		}
		v.actors.Actors = append(v.actors.Actors, participants.Actor{ID: id, Type: participants.Human, DisplayName: name, Handles: []string{"console:" + name}})
	}
	for _, name := range []string{"Earshot", "Coder", "Scout"} {
		a := agents.Record{ID: earshot.ParticipantID("agent/" + name), Kind: earshot.PathAgent, Role: earshot.RoleUser, Profile: earshot.Profile{Name: name, AutoReply: true}}
		switch name {
		case "Earshot":
			a.ID = participants.Agent
		case "Scout":
			a.Rooms, a.Main = []earshot.RoomID{den}, true
		}
		v.agents = append(v.agents, a)
	}
	return v
}

// in returns who has a seat in a room.
func (v village) in(id earshot.RoomID) (sit []agents.Record) {
	for _, a := range v.agents {
		if a.SitsIn(id) && a.Main {
			sit = append(sit, a)
		}
	}
	for _, a := range v.agents {
		if a.SitsIn(id) && !a.Main {
			sit = append(sit, a)
		}
	}
	return sit
}

// at returns who is at an address there, which is their name in lower case.
func (v village) at(_ context.Context, _ participants.Participant, address string) (all []agents.Record, err error) {
	for _, a := range v.agents {
		if address == "*" || strings.EqualFold(a.Name, address) {
			all = append(all, a)
		}
	}
	return all, nil
}

// lives has people do things in the village, and returns what is on record of it.
func (v village) lives(ctx context.Context, deeds []deed) ([]earshot.Event, error) {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	model, err := llmtest.Parse([]byte(v.script))
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	n := 0
	next := func() earshot.EventID {
		mu.Lock()
		defer mu.Unlock()
		n++
		return earshot.EventID(fmt.Sprintf("v%05d", n))
	}
	setup := participants.Setup{Account: earshot.Handle{Provider: "console", ID: "ann"}, AccountName: "ann", Actors: v.actors, Now: time.Now, NewID: next}
	for _, a := range v.agents {
		setup.Agents = append(setup.Agents, participants.Participant{ID: a.ID, Name: a.Name})
	}
	people, err := participants.Open(setup)
	if err != nil {
		return nil, err
	}
	journal, rooms := new(testkit.Journal), make(map[earshot.RoomID]*room.Room)
	var g sync.WaitGroup
	for _, id := range []earshot.RoomID{earshot.Desk, den} {
		r := room.New(room.Config{
			ID: id, Settings: func() executive.Config { return v.settings }, People: people, Journal: journal, Model: model,
			Agents: func() []agents.Record { return v.in(id) }, Recipients: v.at,
			Now: time.Now, NewID: next, Log: slog.New(slog.DiscardHandler),
		})
		rooms[id] = r
		g.Go(func() { r.Run(ctx) })
	}
	leaves := make(map[string]func())
	for _, d := range deeds {
		time.Sleep(d.after)
		from, via := earshot.Handle{Provider: "console", ID: d.who}, "console/"+d.who+"/"+string(d.room)
		session := d.who + " in " + string(d.room)
		p, comesOrGoes := d.body.(earshot.Presence)
		if p.Here && leaves[session] == nil {
			o := &testkit.Voice{Called: via, Every: 3 * time.Millisecond, Flow: true}
			leaves[session] = rooms[d.room].Enter(o, earshot.Audience{Members: []earshot.ParticipantID{people.Resolve(from).Reader()}})
		}
		if comesOrGoes {
			p.Session = session
			d.body = p
		} else if leaves[session] == nil {
			continue // they are not there
		}
		g.Go(func() { _ = rooms[d.room].Admit(ctx, earshot.Event{From: from, Via: via, Body: d.body}) }) // some is refused
		synctest.Wait()
		if leave := leaves[session]; comesOrGoes && !p.Here && leave != nil {
			leave()
			delete(leaves, session)
		}
	}
	time.Sleep(20 * time.Second)
	leave()
	g.Wait()
	return journal.Events(), nil
}

// again performs what is on record of it.
func (v village) again(ctx context.Context, events []earshot.Event) (*replay.Result, error) {
	d := dayOf(events)
	s := replay.Setup{Settings: v.settings, Actors: v.actors, AccountName: "ann", Agents: v.agents, Settle: synctest.Wait}
	return s.Perform(ctx, d)
}

// TestVillage: in two rooms with several agents the same is decided again.
func TestVillage(t *testing.T) {
	v := newVillage(t)
	says := func(after int, id earshot.RoomID, who, text string) deed {
		return deed{time.Duration(after) * time.Millisecond, id, who, earshot.Message{Text: earshot.Text(text)}}
	}
	comes := func(id earshot.RoomID, who string) deed { return deed{0, id, who, earshot.Presence{Here: true}} }
	deeds := []deed{
		comes(earshot.Desk, "ann"), comes(den, "bob"), comes(den, "ann"),
		says(1000, earshot.Desk, "ann", "tell me about the tides"),
		says(507, den, "bob", "scout, tell me about the tides"),
		says(403, earshot.Desk, "ann", "wait"),
		says(611, den, "ann", "coder what of them?"),
		says(2003, earshot.Desk, "ann", "earshot, ask coder"),
		says(3001, den, "bob", "ann, are you there?"),
		{1501 * time.Millisecond, den, "bob", earshot.Command{Name: "msg", Args: "ann: between us"}},
		{1003 * time.Millisecond, den, "ann", earshot.Command{Name: "note", Args: "the door is blue"}},
		{1003 * time.Millisecond, den, "ann", earshot.Command{Name: "pause"}},
		says(707, den, "bob", "scout?"),
		{1003 * time.Millisecond, den, "ann", earshot.Command{Name: "resume"}},
		{2003 * time.Millisecond, earshot.Desk, "ann", earshot.Command{Name: "think", Args: "what moves the sea?"}},
		{1003 * time.Millisecond, earshot.Desk, "ann", earshot.Command{Name: "remind", Args: "3s tea"}},
	}
	var events []earshot.Event
	synctest.Test(t, func(t *testing.T) {
		var err error
		if events, err = v.lives(t.Context(), deeds); err != nil {
			t.Fatal(err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		res, err := v.again(t.Context(), kept(t, events))
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Differences) > 0 || res.Decisions < 8 || res.Shift != 0 {
			t.Errorf("of %d decisions %d are the same, at most %v apart:\n%s", res.Decisions, res.Same, res.Shift, differences(res))
		}
	})
}

// TestPosted: what was posted to an address is answered again by whom it was for, and not by whom its
// text names.
func TestPosted(t *testing.T) {
	v := newVillage(t)
	var events []earshot.Event
	synctest.Test(t, func(t *testing.T) {
		var err error
		events, err = v.lives(t.Context(), []deed{
			{0, earshot.Desk, "ann", earshot.Presence{Here: true}},
			{time.Second, earshot.Desk, "ann", earshot.Command{Name: earshot.PostTo, Args: "coder Earshot, tell me about the tides"}},
			{8 * time.Second, earshot.Desk, "ann", earshot.Command{Name: earshot.PostTo, Args: "* hello"}},
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		res, err := v.again(t.Context(), kept(t, events))
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Differences) > 0 || res.Same < 3 || res.Shift != 0 {
			t.Errorf("of %d decisions %d are the same, at most %v apart:\n%s\nof:\n%s", res.Decisions, res.Same, res.Shift, differences(res), lines(events))
		}
	})
}

// histories are what people may do there.
var histories = rapid.Custom(func(t *rapid.T) []deed {
	words := []string{
		"tell me about the tides", "earshot, the tides again", "@coder and you?", "coder", "ann, are you there?", "@all hello", "stop", "wait", "be quiet",
		"why is the sea salt?", "does anybody know when the shop opens?", "make a note", "earshot ask coder", "scout?", "not now", "what time is it?", "think about the moon, earshot",
	}
	id, who := rapid.SampledFrom([]earshot.RoomID{earshot.Desk, den}), rapid.SampledFrom([]string{"ann", "bob"})
	deeds := []deed{{0, earshot.Desk, "ann", earshot.Presence{Here: true}}, {0, den, "bob", earshot.Presence{Here: true}}}
	for range rapid.IntRange(1, 12).Draw(t, "many") {
		d := deed{time.Duration(rapid.IntRange(1, 4000).Draw(t, "after"))*time.Millisecond + 137*time.Microsecond, id.Draw(t, "room"), who.Draw(t, "who"), nil}
		switch rapid.IntRange(0, 9).Draw(t, "what") {
		case 0:
			d.body = earshot.Presence{Here: true}
		case 1:
			d.body = earshot.Presence{}
		case 2:
			d.body = earshot.Command{Name: rapid.SampledFrom([]string{"mute", "pause", "resume", "snooze", "note", "remind"}).Draw(t, "command"), Args: rapid.SampledFrom([]earshot.Text{"", "2s tea"}).Draw(t, "args")}
		case 3:
			if rapid.Bool().Draw(t, "posted") {
				d.body = earshot.Command{Name: earshot.PostTo, Args: earshot.Text(rapid.SampledFrom([]string{"coder", "earshot", "*"}).Draw(t, "address") + " " + rapid.SampledFrom(words).Draw(t, "text"))}
				break
			}
			d.body = earshot.Command{Name: "msg", Args: earshot.Text(rapid.SampledFrom([]string{"ann", "bob", "coder", "scout"}).Draw(t, "to") + ": " + rapid.SampledFrom(words).Draw(t, "text"))}
		default:
			d.body = earshot.Message{Text: earshot.Text(rapid.SampledFrom(words).Draw(t, "text"))}
		}
		deeds = append(deeds, d)
	}
	return deeds
})

// TestAnyVillage: whatever people do there, the same is decided again. The histories are the
// same each time: of what is kept nowhere some may be guessed wrongly, in one of many thousands.
func TestAnyVillage(t *testing.T) {
	many := 60
	if os.Getenv("EARSHOT_PROOF") != "" {
		many = 2_000
	}
	for seed := range many {
		v := newVillage(t)
		v.settings.Parallel.ReasoningContinuous = seed%2 == 0
		deeds := histories.Example(seed)
		var events []earshot.Event
		var res *replay.Result
		synctest.Test(t, func(t *testing.T) {
			var err error
			if events, err = v.lives(t.Context(), deeds); err != nil {
				t.Fatal(err)
			}
		})
		synctest.Test(t, func(t *testing.T) {
			var err error
			if res, err = v.again(t.Context(), kept(t, events)); err != nil {
				t.Fatal(err)
			}
		})
		if len(res.Differences) > 0 {
			t.Errorf("history %d: of %d decisions %d are the same:\n%s\nof:\n%s", seed, res.Decisions, res.Same, differences(res), lines(events))
		}
	}
}

// lines returns events for people.
func lines(events []earshot.Event) (text string) {
	for _, e := range events {
		text += fmt.Sprintf("%d %s %s %s %s via %s by %s: %s\n", e.Sequence, e.At.Format("04:05.000"), e.Room, e.ID, e.Body.Kind(), e.Via, e.Author, encoded(e))
	}
	return text
}

// TestConfiguredAgent: an agent of the configuration is the one on record that is called the
// same, also on the day on which it came.
func TestConfiguredAgent(t *testing.T) {
	v := newVillage(t)
	var events []earshot.Event
	synctest.Test(t, func(t *testing.T) {
		var err error
		events, err = v.lives(t.Context(), []deed{
			{0, earshot.Desk, "ann", earshot.Presence{Here: true}}, {time.Second, earshot.Desk, "ann", earshot.Message{Text: "@coder the tides"}},
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	came := events[0]
	came.ID, came.From, came.Author, came.Via = "came", earshot.Handle{Provider: "earshot", ID: "agent"}, "", ""
	came.Body = earshot.Agent{Act: earshot.Created, ID: v.agents[1].ID, PathKind: earshot.PathAgent, Configured: true, Profile: &v.agents[1].Profile}
	for i := range events {
		events[i].Sequence++
	}
	v.agents[1].ID = "agent/as configured"
	synctest.Test(t, func(t *testing.T) {
		res, err := v.again(t.Context(), kept(t, append([]earshot.Event{came}, events...)))
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Differences) > 0 || res.Decisions == 0 {
			t.Errorf("of %d decisions %d are the same:\n%s", res.Decisions, res.Same, differences(res))
		}
	})
}
