package room

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/seat"
	"earshot/participants"
	"earshot/participants/agents"
)

// talkedOf returns what was said in a room lately, as much as a dialogue is rebuilt from: 256
// events, each message with a decision and a reply beside it.
func talkedOf(agent earshot.ParticipantID) (events []earshot.Event) {
	public := earshot.Visibility{Scope: earshot.Public}
	add := func(author earshot.ParticipantID, body earshot.Body) earshot.EventID {
		id := earshot.EventID(fmt.Sprintf("e%04d", len(events)))
		events = append(events, earshot.Event{ID: id, Sequence: int64(len(events) + 1), Author: author, To: []earshot.ParticipantID{agent}, Visibility: public, Body: body})
		return id
	}
	for len(events) < 256 {
		about := add(participants.Owner, earshot.Message{Text: "What did we say about the tides, and when do they turn?"})
		add(agent, earshot.Decision{About: about, Agent: agent, Verdict: earshot.Speak})
		const words = "They turn twice a day, and a little later each time, since the moon goes on as well."
		add(agent, earshot.Reply{About: about, Offered: words, Heard: []earshot.Delivery{{Outlet: "console", Bytes: len(words)}}})
	}
	return events
}

// manned returns a room with n agents, which all sleep.
func manned(b *testing.B, n int) *Room {
	b.Helper()
	setup := participants.Setup{Account: earshot.Handle{Provider: "console", ID: "ann"}, AccountName: "ann", Actors: participants.DefaultConfig()}
	var all []agents.Record
	for i := range n {
		a := agents.Record{ID: earshot.ParticipantID(fmt.Sprintf("a%02d", i)), Profile: earshot.Profile{Name: fmt.Sprintf("Agent %c%c", 'a'+i/26, 'a'+i%26)}}
		all = append(all, a)
		setup.Agents = append(setup.Agents, participants.Participant{ID: a.ID, Name: a.Name})
	}
	people, err := participants.Open(setup)
	if err != nil {
		b.Fatal(err)
	}
	r := New(Config{
		ID: earshot.Desk, Settings: executive.DefaultConfig, People: people, Now: time.Now, NewID: func() earshot.EventID { return "e" },
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Agents: func() []agents.Record { return all },
		Recall: func(_ context.Context, id earshot.ParticipantID) ([]earshot.Event, error) { return talkedOf(id), nil },
	})
	r.records.newest = 1 << 20
	for _, s := range r.seats {
		r.fallAsleep(b, s)
	}
	return r
}

// fallAsleep wakes a seat and lets it sleep again, so that it has a past.
func (r *Room) fallAsleep(b *testing.B, s *seat.Seat) {
	b.Helper()
	if err := r.wakeSeat(b.Context(), s); err != nil {
		b.Fatal(err)
	}
	s.Sleep(256)
	r.awake(s, false)
}

// BenchmarkWake wakes one agent and lets it sleep again: what a message to a sleeping agent costs,
// apart from reading the journal.
func BenchmarkWake(b *testing.B) {
	r := manned(b, 1)
	events := talkedOf(r.seats[0].ID)
	r.cfg.Recall = func(context.Context, earshot.ParticipantID) ([]earshot.Event, error) { return events, nil }
	b.ReportAllocs()
	for b.Loop() {
		r.fallAsleep(b, r.seats[0])
	}
}

// BenchmarkIdle measures what 50 sleeping agents cost a room: the memory that each of them takes,
// and the time for each event that is for none of them.
func BenchmarkIdle(b *testing.B) {
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	without := manned(b, 1)
	before := heap()
	r := manned(b, 50)
	each := float64(heap()-before) / 50
	e := talkedOf("owner")[0]
	b.ResetTimer()
	for b.Loop() {
		r.syncSeats()
		r.remember(e)
		_ = r.nextSleep()
	}
	b.ReportMetric(each, "B/agent")
	runtime.KeepAlive(without)
	runtime.KeepAlive(r)
}
