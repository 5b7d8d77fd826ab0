// Package model is what the monitor knows and shows, without a terminal: events, snapshots and keys
// go into a [Model], and a [Screen] and effects come out. It has no goroutine and no clock. A
// [Printer] writes the same events as lines.
//
// All text is foreign. It goes through [earshot/internal/terminal.Safe], and rows after the first
// are indented, so that nobody can write a line that looks like another person's.
//
// Terminals do not agree on the width of emoji and of some scripts. Each cluster is assigned the
// largest width that any of them uses, so a divider may be a column too far to the right.
package model

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"earshot"
	"earshot/api"
	"earshot/internal/search"
)

// A Model holds what the monitor knows and shows. It has no goroutine and no clock: inputs step it,
// and it returns effects for its caller to carry out. It does no I/O of its own.
type Model struct {
	marks marks
	past  *transcript // what is shown
	live  *transcript // what happens now, while past shows an old passage; otherwise nil
	now   api.Snapshot
	house api.Status
	heard bool // a snapshot has arrived
	at    time.Time

	lost  string // why nothing arrives
	since time.Time
	mine  Piece // the reply that comes out at this terminal

	width, height int
	view          view
	pane          pane
	panedown      int  // rows of the pane above the first one shown
	zoomed        bool // the pane has the whole screen
	help          bool
	helpdown      int

	filter filter
	sought string       // the search as it was typed
	query  search.Query // the same, parsed
	line   line
	said   string // shown in the last row until the next key
}

// An Effect is something for the model's caller to do.
type Effect any

// The effects of a Model.
type (
	// Older requests the newest events from before a sequence.
	Older struct{ Before int64 }

	// Seek requests the events before a sequence that contain some words.
	Seek struct {
		Words  string
		Before int64
	}

	// Around requests the events around the event with a sequence.
	Around struct{ At int64 }

	// JoinRequest requests a place in the room, so that somebody can type there.
	JoinRequest struct{}

	// Emit says something in the room: a Typing, a Message or a Command.
	Emit struct{ Body earshot.Body }

	// Reload requests the newest events anew, since some of them were forgotten.
	Reload struct{}

	// Quit ends the monitor.
	Quit struct{}
)

// The inputs of a Model, beside keys and events.
type (
	// A Key is a keystroke: its name, and the text it writes, if any.
	Key struct{ Name, Text string }

	// A Size is the size of the screen.
	Size struct{ Width, Height int }

	// Events are new events, in the order of the journal.
	Events []earshot.Event

	// Past holds the events before everything known, or before a sequence if one was requested.
	// Whole says that there is nothing before them.
	Past struct {
		Before int64
		Events []earshot.Event
		Whole  bool
	}

	// Again holds the newest events, which were read again after some were forgotten. They replace
	// the whole transcript.
	Again struct{ Events []earshot.Event }

	// Names are the names of some participants.
	Names map[earshot.ParticipantID]string

	// A Piece says how much of a reply has come out at this terminal, while somebody has a place in
	// the room. The empty Piece means that no reply is coming out.
	Piece struct {
		Opening earshot.Opening
		Since   time.Time
		Text    earshot.Text
	}

	// Found holds the search results, the newest first.
	Found struct {
		Words  string
		Events []earshot.Event
		Err    error
	}

	// Surroundings are the events around one event. Whole says that there is nothing before them.
	Surroundings struct {
		At     int64
		Events []earshot.Event
		Whole  bool
		Err    error
	}

	// Lost says that nothing arrives any more, and Reconnection that it does again.
	Lost         struct{ Why string }
	Reconnection struct{}

	// Told is an answer to a command, or a message from the daemon to the person who sits here.
	Told struct{ Text string }

	// Tick advances the time.
	Tick struct{}
)

// New returns the model of an empty screen.
func New(ascii bool) *Model {
	m := &Model{marks: unicodeMarks, past: newTranscript(newDirectory()), width: 80, height: 24, view: view{follow: true, chosen: none}}
	if ascii {
		m.marks = asciiMarks
	}
	return m
}

// Step handles an input that arrived at a time, and returns the effects to carry out.
func (m *Model) Step(at time.Time, what any) []Effect {
	m.at = at
	switch w := what.(type) {
	case Key:
		return m.press(w)
	case Size:
		m.width, m.height = max(1, w.Width), max(1, w.Height)
	case Events:
		return m.happened(w)
	case Again:
		m.again(w.Events)
	case Names:
		m.past.learn(w)
	case Piece:
		m.mine = w
	case Past:
		m.earlier(w)
	case api.Snapshot:
		m.lives(w)
	case api.Status:
		m.house = w
		m.past.knows(w)
	case Found:
		return m.found(w)
	case Surroundings:
		m.visits(w)
	case Lost:
		if m.lost == "" {
			m.since = at
		}
		m.lost, m.heard = w.Why, false
	case Reconnection:
		m.lost = ""
	case Told:
		m.newest().answered(at, w.Text)
		m.grew(1)
	}
	return nil
}

// Reply returns how much of a reply has come out at this terminal, and whether that is on the
// screen.
func (m *Model) Reply() (reply Piece, shown bool) {
	return m.mine, m.view.follow && !m.help && !m.zoomed
}

// happened adds new events.
func (m *Model) happened(events []earshot.Event) (effects []Effect) {
	n, now := 0, m.newest()
	for _, e := range events {
		if _, is := e.Body.(earshot.ErasureRecord); is && e.Sequence > now.last {
			effects = []Effect{Reload{}}
		}
		had := now.next
		now.add(e)
		if now.next > had && m.filter.shows(now, now.all[len(now.all)-1]) {
			n++
		}
		if m.live != nil {
			m.past.changes(e)
		}
	}
	m.grew(n)
	return effects
}

// newest returns the transcript of the present, whether or not it is shown.
func (m *Model) newest() *transcript {
	if m.live != nil {
		return m.live
	}
	return m.past
}

// earlier adds older events.
func (m *Model) earlier(w Past) {
	p := m.newest()
	p.asking, m.past.asking = false, false
	if w.Before > 0 && w.Before != p.oldest() {
		p = m.past
	}
	if w.Before > 0 && w.Before != p.oldest() {
		return // the transcript for which they were requested is no longer shown
	}
	p.whole = w.Whole
	p.before(w.Events)
}

// again begins a new transcript.
func (m *Model) again(events []earshot.Event) {
	was, next := m.newest(), newTranscript(m.past.directory)
	for _, e := range events {
		next.add(e)
	}
	var came []earshot.Event // events that came while the new ones were being read
	for _, e := range was.all {
		came = append(append(came, e.event), e.decisions...)
	}
	came = slices.DeleteFunc(came, func(e earshot.Event) bool { return e.Sequence <= next.last })
	slices.SortStableFunc(came, func(a, b earshot.Event) int { return cmp.Compare(a.Sequence, b.Sequence) })
	for _, e := range came {
		next.add(e)
	}
	next.last = max(next.last, was.last)
	m.past, m.live = next, nil
	m.follows()
}

// grew counts the events that arrive while somebody looks back.
func (m *Model) grew(n int) {
	if !m.view.follow {
		m.view.came += n
	}
}

// lives updates the state of the room.
func (m *Model) lives(s api.Snapshot) {
	m.now, m.heard = s, true
	for _, a := range s.Agents {
		m.past.call(a.ID, a.Name, true)
	}
	for _, p := range s.Here {
		m.past.call(p.ID, p.Name, false)
	}
}

// press handles a key.
func (m *Model) press(k Key) []Effect {
	m.said = ""
	switch {
	case k.Name == "ctrl+c":
		return []Effect{Quit{}}
	case m.line.open():
		return m.write(k)
	case m.help:
		m.helps(k)
		return nil
	}
	switch k.Name {
	case "q":
		return []Effect{Quit{}}
	case "?", "f1":
		m.help, m.helpdown = true, 0
	case "tab":
		m.shows((m.pane + 1) % panes)
	case "shift+tab":
		m.shows((m.pane + panes - 1) % panes)
	case "1", "2", "3", "4", "5", "6":
		n, _ := strconv.Atoi(k.Name)
		m.shows(pane(n - 1))
	case "z":
		m.zoomed = !m.zoomed
	case "]":
		m.panedown++
	case "[":
		m.panedown = max(0, m.panedown-1)
	case "i", "enter":
		m.line.begin(chat)
		return []Effect{JoinRequest{}}
	case "/":
		m.line.begin(seeking)
	case "f":
		m.line.begin(filtering)
		m.line.editor.Restore(m.filter.text)
	case "t":
		m.line.begin(jump)
	case "n":
		return m.seek(m.sought, -1)
	case "N", "shift+n":
		return m.seek(m.sought, +1)
	case "r":
		m.answers()
	case "w":
		m.wonders()
	case "esc":
		m.clears()
	default:
		return m.moves(k.Name)
	}
	return nil
}

func (m *Model) shows(p pane) { m.pane, m.panedown = p, 0 }

// helps scrolls the help.
func (m *Model) helps(k Key) {
	switch k.Name {
	case "down", "j", "pgdown", "space":
		m.helpdown++
	case "up", "k", "pgup":
		m.helpdown = max(0, m.helpdown-1)
	default:
		m.help = false
	}
}

// clears resets the choice, the search and the filter.
func (m *Model) clears() {
	switch {
	case m.zoomed:
		m.zoomed = false
	case m.view.chosen != none:
		m.view.chosen = none
	case m.sought != "":
		m.sought = ""
	case m.filter.text != "":
		m.filter = filter{}
		m.follows()
	}
}

// chosen returns the entry that is chosen, or nil.
func (m *Model) chosen() *entry {
	if m.view.chosen == none {
		return nil
	}
	if k := m.past.at(m.view.chosen); k < len(m.past.all) && m.past.all[k].key == m.view.chosen {
		return m.past.all[k]
	}
	return nil
}

// answers jumps from a reply to what it answers, or from there to the reply.
func (m *Model) answers() {
	e := m.chosen()
	if e == nil {
		m.said = "choose a line first, with the arrows"
		return
	}
	about := earshot.EventID("")
	switch b := e.event.Body.(type) {
	case earshot.Reply:
		about = b.About
	case earshot.Message:
		about = b.ReplyTo
	case earshot.Decision:
		about = b.About
	case earshot.Finding:
		about = b.Answers
	}
	if to := m.past.by[about]; to != nil && about != "" {
		m.goes(to)
		return
	}
	for _, d := range e.decisions {
		if to := m.past.turns[d.Body.(earshot.Decision).Turn]; to != nil {
			m.goes(to)
			return
		}
	}
	m.said = "no reply to it is shown here, and it replies to nothing shown here"
}

// wonders shows why the chosen entry came about: for a reply, why its agent answered.
func (m *Model) wonders() {
	e := m.chosen()
	if e != nil && len(e.decisions) == 0 {
		if b, ok := e.event.Body.(earshot.Reply); ok {
			if to := m.past.by[b.About]; to != nil {
				m.goes(to)
			}
		}
	}
	m.shows(why)
}

// older requests earlier events.
func (m *Model) older() []Effect {
	first := m.past.oldest()
	if m.past.asking || m.past.whole || first <= 1 || len(m.past.all) >= MaxEntries-page {
		return nil
	}
	m.past.asking = true
	return []Effect{Older{first}}
}

// page is how many events are loaded at a time.
const page = 500
