package model

import (
	"cmp"
	"slices"
	"time"

	"earshot"
	"earshot/api"
	"earshot/participants"
)

const (
	// MaxEntries is how many entries of the transcript are in memory: a busy day.
	MaxEntries = 20_000

	// keptBytes bounds the bytes of text in these entries together. One message has up to 64 KiB.
	keptBytes = 64 << 20

	// decided is how many decisions the decisions pane keeps.
	decided = 200
)

// An entry is one item of the transcript: an event, and what was added to it later.
type entry struct {
	key       int64 // its position: rising, and below 0 for entries that were loaded later
	event     earshot.Event
	answer    string               // the answer to a command, which is not an event
	decisions []earshot.Event      // about it
	whose     *earshot.Attribution // the speaker, if the voice was attributed later
	beside    []*entry             // who spoke at the same time
	gone      bool                 // its words were taken back or erased

	weight int // its share of [transcript.bytes]

	rows  []row // as last drawn
	width int   // the width of rows
	names int   // the names known when rows were drawn
}

// changed makes e be drawn again.
func (e *entry) changed() { e.rows = nil }

// words returns the weight of e in bytes.
func (e *entry) words() int {
	n := 256 + 128*len(e.decisions) + len(e.answer)
	switch b := e.event.Body.(type) {
	case earshot.Message:
		n += len(b.Text)
	case earshot.Utterance:
		n += len(b.Text)
	case earshot.Reply:
		n += len(b.Offered)
	case earshot.Thought:
		n += len(b.Text) + len(b.Question)
	case earshot.Use:
		n += len(b.Arguments) + len(b.Result)
	case earshot.Finding:
		n += len(b.Text)
	case earshot.Edit:
		n += len(b.Was) + len(b.Text)
	}
	return n
}

// weigh updates the weight of e.
func (p *transcript) weigh(e *entry) {
	was := e.weight
	e.weight = e.words()
	p.bytes += e.weight - was
}

// A transcript holds what has happened, as far back as it is kept, in the order of sequences.
type transcript struct {
	all   []*entry
	by    map[earshot.EventID]*entry
	turns map[earshot.TurnID]*entry // the replies

	decisions []earshot.Event // the newest last
	last      int64           // the sequence of the newest event
	next      int64           // the key of the next entry
	bytes     int
	asking    bool // older events were requested
	whole     bool // there is nothing older

	*directory
}

// newTranscript returns an empty transcript of people who are called as d says.
func newTranscript(d *directory) *transcript {
	return &transcript{by: make(map[earshot.EventID]*entry), turns: make(map[earshot.TurnID]*entry), directory: d}
}

// A directory knows who is called what. Transcripts that follow one another share it.
type directory struct {
	called map[earshot.ParticipantID]string
	agents map[earshot.ParticipantID]bool
	namer  int // rises when a name changes
}

func newDirectory() *directory {
	return &directory{
		called: map[earshot.ParticipantID]string{participants.Generic: string(participants.Generic)}, // a participant that the daemon does not know
		agents: map[earshot.ParticipantID]bool{participants.Agent: true},
	}
}

// call records the name of a participant.
func (d *directory) call(id earshot.ParticipantID, name string, agent bool) {
	if id == "" || name == "" {
		return
	}
	if agent && !d.agents[id] {
		d.agents[id] = true
		d.namer++
	}
	if d.called[id] != name {
		d.called[id] = name
		d.namer++
	}
}

// learn records the names of some participants.
func (d *directory) learn(names Names) {
	for id, name := range names {
		d.call(id, name, false)
	}
}

// knows records who exists.
func (d *directory) knows(h api.Status) {
	for _, who := range append(slices.Clone(h.Known), h.You) {
		d.call(who.ID, who.Name, false)
	}
	for _, a := range h.Agents {
		d.call(a.ID, a.Name, true)
	}
}

// name returns the name of a participant.
func (d *directory) name(id earshot.ParticipantID) string {
	switch name := d.called[id]; {
	case id == "":
		return "somebody"
	case name != "":
		return name
	}
	return "unknown"
}

// add adds the next event. It skips an event that is already here, so that nothing is doubled after
// a lost connection.
func (p *transcript) add(e earshot.Event) {
	if e.Sequence > 0 && e.Sequence <= p.last {
		return
	}
	p.last = max(p.last, e.Sequence)
	p.take(e, false)
}

// before adds the events before the first entry, the oldest first.
func (p *transcript) before(events []earshot.Event) {
	had, next := p.all, p.next
	p.all, p.next = nil, 0
	if len(had) > 0 {
		p.next = had[0].key - int64(len(events)) - 1
	}
	for _, e := range events {
		p.take(e, true)
	}
	p.all, p.next = append(p.all, had...), max(next, p.next)
}

// oldest returns the sequence of the first event that is here; 0 if there is none.
func (p *transcript) oldest() int64 {
	for _, e := range p.all {
		if e.event.Sequence > 0 {
			return e.event.Sequence
		}
	}
	return 0
}

// answered adds the answer to a command.
func (p *transcript) answered(at time.Time, text string) {
	is := &entry{key: p.next, event: earshot.Event{At: at, Body: earshot.Notice{Text: text}}, answer: text}
	p.next++
	p.all = append(p.all, is)
	p.weigh(is)
	p.bound()
}

// take takes in one event.
func (p *transcript) take(e earshot.Event, old bool) {
	switch b := e.Body.(type) {
	case earshot.Actor:
		p.call(b.Participant, b.Name, false)
		return
	case earshot.Agent:
		if b.Profile != nil {
			p.call(b.ID, b.Profile.Name, true)
		}
		p.agents[b.ID] = true
		if b.ID == participants.Agent || b.PathKind.Below() {
			return
		}
	case earshot.Decision:
		p.decides(e, b, old)
		return
	case earshot.Attribution:
		if of := p.by[b.Of]; of != nil {
			of.whose = &b
			of.changed()
			for _, other := range of.beside {
				other.changed()
			}
		}
		return
	case earshot.Revision:
		if of := p.by[b.Of]; of != nil {
			if m, ok := of.event.Body.(earshot.Message); ok && b.Text != "" {
				m.Text, m.Revised = b.Text, e.At
				of.event.Body = m
				of.changed()
				p.weigh(of)
			}
		}
		return
	case earshot.Withdrawal:
		p.gone(append(slices.Clone(b.With), b.Of))
	case earshot.Settled, earshot.Typing, earshot.Speech, earshot.Glance, earshot.Command:
		return
	}
	p.keep(e)
}

// keep makes e an entry.
func (p *transcript) keep(e earshot.Event) {
	is := &entry{key: p.next, event: e}
	p.next++
	_, is.gone = e.Body.(earshot.Tombstone)
	p.all = append(p.all, is)
	if e.ID != "" {
		p.by[e.ID] = is
	}
	if r, ok := e.Body.(earshot.Reply); ok {
		p.turns[r.Turn] = is
	}
	p.together(is)
	p.weigh(is)
	p.bound()
}

// decides adds a decision to the entry that it is about, or as a separate entry.
func (p *transcript) decides(e earshot.Event, d earshot.Decision, old bool) {
	p.decisions = append(p.decisions, e)
	if old {
		slices.SortStableFunc(p.decisions, func(a, b earshot.Event) int { return int(a.Sequence - b.Sequence) })
	}
	p.decisions = slices.Delete(p.decisions, 0, max(0, len(p.decisions)-decided))
	if of := p.by[d.About]; of != nil && len(of.decisions) < 32 {
		of.decisions = append(of.decisions, e)
		of.changed()
		p.weigh(of)
		return
	}
	if d.About == "" && d.Verdict != earshot.Speak || d.About != "" && p.by[d.About] == nil {
		p.keep(e)
	}
}

// changes applies an event that is shown elsewhere to the entries here.
func (p *transcript) changes(e earshot.Event) {
	switch b := e.Body.(type) {
	case earshot.Attribution, earshot.Revision:
		p.take(e, false)
	case earshot.Withdrawal:
		p.gone(append(slices.Clone(b.With), b.Of))
	}
}

// gone removes words that are no longer kept anywhere.
func (p *transcript) gone(ids []earshot.EventID) {
	for _, id := range ids {
		if of := p.by[id]; of != nil && !of.gone {
			of.gone = true
			of.event.Body = earshot.Tombstone{Was: of.event.Body.Kind()}
			of.changed()
			p.weigh(of)
		}
	}
}

// longestStretch is the longest time between the beginnings of two overlapping utterances.
const longestStretch = 2 * time.Minute

// together marks people who spoke at the same time. The journal gets an utterance when it has
// ended, so the other one is among the last few entries.
func (p *transcript) together(is *entry) {
	from, to, ok := spoken(is.event)
	if !ok {
		return
	}
	for k := len(p.all) - 2; k >= max(0, len(p.all)-12); k-- {
		was := p.all[k]
		begun, ended, ok := spoken(was.event)
		if !ok || was.event.Author == is.event.Author && was.event.From == is.event.From || from.Sub(begun) > longestStretch {
			continue
		}
		if from.Before(ended) && begun.Before(to) {
			was.beside, is.beside = append(was.beside, is), append(is.beside, was)
			was.changed()
		}
	}
}

// heard reports whether the utterance that replaced the words of e is here.
func (p *transcript) heard(e earshot.Event) bool {
	for k := len(p.all) - 1; k >= max(0, len(p.all)-12); k-- {
		u := p.all[k].event
		if u.Body.Kind() == earshot.KindUtterance && u.From == e.From && u.At.Equal(e.At) {
			return true
		}
	}
	return false
}

// spoken returns when somebody began and stopped saying something aloud.
func spoken(e earshot.Event) (from, to time.Time, ok bool) {
	u, ok := e.Body.(earshot.Utterance)
	return e.At, e.At.Add(u.Lasted), ok
}

// bound drops the oldest entries, to stay within the bounds.
func (p *transcript) bound() {
	n := 0
	for len(p.all)-n > MaxEntries || p.bytes > keptBytes && len(p.all)-n > 1 {
		p.drop(p.all[n])
		n++
	}
	if n > 0 {
		clear(p.all[:n])
		p.all = p.all[n:]
	}
}

func (p *transcript) drop(e *entry) {
	p.bytes -= e.weight
	if p.by[e.event.ID] == e {
		delete(p.by, e.event.ID)
	}
	if r, ok := e.event.Body.(earshot.Reply); ok {
		delete(p.turns, r.Turn)
	}
}

// at returns the position of the entry with a key, or the position where it would be.
func (p *transcript) at(key int64) int {
	k, _ := slices.BinarySearchFunc(p.all, key, func(e *entry, key int64) int { return cmp.Compare(e.key, key) })
	return k
}
