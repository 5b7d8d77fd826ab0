// Package notice shows the people in a room what the program has to say to them: that part of it
// fails or works again, and hints. None of it waits for the journal, which may be at fault.
package notice

import (
	"log/slog"
	"slices"
	"time"

	"earshot"
	"earshot/executive/delivery"
	"earshot/internal/lockorder"
	"earshot/internal/supervise"
	"earshot/participants"
)

// maxHinted is how many sessions are remembered to have received a hint once: more than there are
// at a time.
const maxHinted = 256

// A Board shows notices at the outlets of a room, and remembers the faults that are not over. It is
// safe for concurrent use, and its methods return at once. The exported functions and People are
// required.
type Board struct {
	Room    earshot.RoomID
	People  *participants.Registry
	Event   func(earshot.Visibility, earshot.Body) earshot.Event // returns an event by the room itself
	Changed func()                                               // called when the faults have changed
	Recheck func()                                               // called when [supervise.Faults.Next] has changed
	Now     func() time.Time
	Log     *slog.Logger

	Outlets delivery.Set
	Faults  supervise.Faults

	mu     lockorder.Mutex[lockorder.Leaf]
	hinted map[string]bool // sessions that have been given the hint that is given once

	// awaited are the messages to which something may come, with the outlet beside the place where
	// they were written. It belongs to the owner of the room.
	awaited map[earshot.EventID]string
}

// event returns the event of a notice that is not kept.
func (b *Board) event(n earshot.Notice) earshot.Event {
	return b.Event(earshot.Visibility{Scope: earshot.System}, n)
}

// Tell shows a notice at one outlet.
func (b *Board) Tell(outlet string, n earshot.Notice) { b.Outlets.ShowAt(outlet, b.event(n)) }

// Mention shows a line to everybody in the room.
func (b *Board) Mention(text string) { b.Outlets.Show(b.event(earshot.Notice{Text: text})) }

// Report tells the people in the room about a fault of the program, or about its end, and remembers
// it until it is over. Faults that come and go are reported as [supervise.Outages] says.
func (b *Board) Report(n earshot.Notice) {
	told := b.Faults.Change(b.Now(), n)
	b.Changed()
	if told {
		b.Warn(n)
		return
	}
	b.Recheck()
}

// ReportOnce reports a fault unless people have been told already.
func (b *Board) ReportOnce(n earshot.Notice) {
	if !b.Faults.Has(n.Key) {
		b.Report(n)
	}
}

// Warn tells the people in the room, and the log, about a fault or its end.
func (b *Board) Warn(n earshot.Notice) {
	b.Log.Warn("reported", "fault", n.Key, "text", n.Text, "over", n.Over)
	b.Outlets.Show(b.event(n))
}

// Know remembers a fault that people have been told already, or forgets one that is over, and tells
// nobody.
func (b *Board) Know(n earshot.Notice) {
	b.Faults.Know(b.Now(), n)
	b.Changed()
}

// TellAlone shows a notice at the outlets around which somebody is alone.
func (b *Board) TellAlone(who earshot.ParticipantID, n earshot.Notice) {
	b.tellWhere(n, func(around earshot.Audience) bool { return b.People.Alone(around, who) })
}

// TellOperators shows a notice wherever only operators of the program read. It reports whether
// anybody did.
func (b *Board) TellOperators(n earshot.Notice) (told bool) {
	return b.tellWhere(n, b.People.Operate)
}

func (b *Board) tellWhere(n earshot.Notice, fits func(around earshot.Audience) bool) (told bool) {
	e := b.event(n)
	for _, p := range b.Outlets.Around(e.Visibility) {
		if fits(p.Around()) {
			p.Show(e)
			told = true
		}
	}
	return told
}

// Readers returns who reads what is answered to somebody at an outlet.
func (b *Board) Readers(via string, who participants.Participant) earshot.Audience {
	return b.Outlets.Readers(via, earshot.Audience{Room: b.Room, Members: []earshot.ParticipantID{who.Reader()}})
}

// ReadsAt reports whether somebody reads, or may read, at an outlet.
func (b *Board) ReadsAt(p *delivery.Outlet, who earshot.ParticipantID) bool {
	here := p.Around()
	return here.Unknown || len(here.Members) == 0 || slices.ContainsFunc(here.Members, func(id earshot.ParticipantID) bool { return b.People.Current(id) == who })
}

// Hint shows a hint about a message to its author, where they wrote it. One that is given once is
// not given again in the same session: people who talk to each other know it.
func (b *Board) Hint(message earshot.Event, hint string, once bool) {
	if hint == "" || message.Via == "" || once && !b.first(message.Via) {
		return
	}
	b.Outlets.ShowAt(message.Via, b.Event(message.Visibility, earshot.Notice{Key: earshot.HintKey, Text: hint}))
}

// first reports whether the session at an outlet has not been given the hint yet.
func (b *Board) first(outlet string) bool {
	session := outlet
	if s, ok := b.People.At(outlet); ok {
		session = s.ID
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.hinted[session] {
		return false
	}
	if len(b.hinted) >= maxHinted {
		clear(b.hinted)
	}
	if b.hinted == nil {
		b.hinted = make(map[string]bool)
	}
	b.hinted[session] = true
	return true
}

// Await notes that somebody may wait for what comes to a message that is kept. It belongs to the owner
// of the room.
func (b *Board) Await(e earshot.Event) {
	if e.Body.Kind() != earshot.KindMessage || e.Via == "" {
		return
	}
	if b.awaited == nil {
		b.awaited = make(map[earshot.EventID]string)
	}
	b.awaited[e.ID] = e.Via
}

// Settle tells those who wait that nothing more will come to a message, if over says so. It belongs to
// the owner of the room.
func (b *Board) Settle(over func(message earshot.EventID) bool) {
	for id, via := range b.awaited {
		if !over(id) {
			continue
		}
		delete(b.awaited, id)
		b.Outlets.ShowAt(via, b.Event(earshot.Visibility{Scope: earshot.System}, earshot.Settled{About: id}))
	}
}
