package monitor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"earshot"
	"earshot/internal/terminal"
)

// A Model is what the monitor knows and shows. It has no goroutine and no clock: what
// comes in steps it, and what is to be done comes out. It reads nothing by itself.
type Model struct {
	marks marks
	past  *past
	now   snapshot
	house house
	heard bool // a snapshot has come
	at    time.Time

	lost  string // why nothing comes
	since time.Time
	mine  Piece // what comes out here

	width, height int
	view          view
	pane          pane
	panedown      int  // rows of the pane that are above its first
	zoomed        bool // the pane has the whole screen
	help          bool
	helpdown      int

	filter filter
	sought string // what was searched for
	line   line
	said   string // in the last row, until the next key

	asking bool // older events are on their way
	ended  bool // there are no older ones
}

// An Effect is something that the model wants done.
type Effect any

// The effects.
type (
	// Older wants events from before a sequence, the newest of them.
	Older struct{ Before int64 }

	// Seek wants what was said with some words.
	Seek struct{ Words string }

	// Sit wants a place in the room, so that somebody can type there.
	Sit struct{}

	// Emit says something in the room: a Typing, a Message or a Command.
	Emit struct{ Body earshot.Body }

	// Reload wants the newest of what happened anew, since something of it was forgotten.
	Reload struct{}

	// Quit ends the monitor.
	Quit struct{}
)

// What comes in, beside keys and events.
type (
	// A Key is a stroke on the keyboard, by its name, and what it writes if it does.
	Key struct{ Name, Text string }

	// A Size is that of the screen.
	Size struct{ Width, Height int }

	// Events happened, in the order of the journal.
	Events []earshot.Event

	// Past happened before everything that was known. Whole says that there is nothing
	// before it.
	Past struct {
		Events []earshot.Event
		Whole  bool
	}

	// Again is what happened, once something of it was forgotten: the newest of it takes
	// the place of all that was here.
	Again struct{ Events []earshot.Event }

	// Names are what some are called.
	Names map[earshot.ParticipantID]string

	// A Piece is how much of a reply has come out here, where somebody sits; an empty one
	// is that none does.
	Piece struct {
		Opening earshot.Opening
		Agent   earshot.ParticipantID
		Since   time.Time
		Text    earshot.Text
		Over    bool
	}

	// Found is what was searched for, the newest first.
	Found struct {
		Words  string
		Events []earshot.Event
		Err    error
	}

	// Lost says that nothing comes any more, and Back that it does again.
	Lost struct{ Why string }
	Back struct{}

	// Told is an answer to a command, or a word of the house to who sits here.
	Told struct{ Text string }

	// Tick lets time pass.
	Tick struct{}
)

// New returns the model of an empty screen.
func New(ascii bool) *Model {
	m := &Model{marks: unicodeMarks, past: newPast(), width: 80, height: 24, view: view{follow: true, chosen: none}}
	if ascii {
		m.marks = asciiMarks
	}
	return m
}

// Step takes in what came at a time, and returns what is to be done.
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
		for id, name := range w {
			m.past.call(id, name, false)
		}
	case Piece:
		m.mine = w
	case Past:
		m.asking, m.ended = false, w.Whole
		m.past.before(w.Events)
	case snapshot:
		m.lives(w)
	case house:
		m.knows(w)
	case Found:
		m.found(w)
	case Lost:
		if m.lost == "" {
			m.since = at
		}
		m.lost, m.heard = w.Why, false
	case Back:
		m.lost = ""
	case Told:
		m.past.answered(at, w.Text)
		m.grew(1)
	}
	return nil
}

// happened takes in events.
func (m *Model) happened(events []earshot.Event) (effects []Effect) {
	n := 0
	for _, e := range events {
		if _, is := e.Body.(earshot.Forgotten); is && e.Sequence > m.past.last {
			effects = []Effect{Reload{}}
		}
		had := m.past.next
		m.past.add(e)
		if m.past.next > had && m.filter.shows(m.past, m.past.all[len(m.past.all)-1]) {
			n++
		}
	}
	m.grew(n)
	return effects
}

// again begins the transcript anew.
func (m *Model) again(events []earshot.Event) {
	was, next := m.past, newPast()
	next.called, next.agents, next.namer = was.called, was.agents, was.namer+1
	for _, e := range events {
		next.add(e)
	}
	var came []earshot.Event // while it was read
	for _, e := range was.all {
		came = append(append(came, e.event), e.decisions...)
	}
	came = slices.DeleteFunc(came, func(e earshot.Event) bool { return e.Sequence <= next.last })
	slices.SortStableFunc(came, func(a, b earshot.Event) int { return cmp.Compare(a.Sequence, b.Sequence) })
	for _, e := range came {
		next.add(e)
	}
	next.last = max(next.last, was.last)
	m.past, m.asking, m.ended = next, false, false
	m.follows()
}

// grew counts what came while somebody looks back.
func (m *Model) grew(n int) {
	if !m.view.follow {
		m.view.came += n
	}
}

// lives takes in how the room is.
func (m *Model) lives(s snapshot) {
	m.now, m.heard = s, true
	for _, a := range s.Agents {
		m.past.call(a.ID, a.Name, true)
	}
	for _, p := range s.Here {
		m.past.call(p.ID, p.Name, false)
	}
}

// knows takes in who exists.
func (m *Model) knows(h house) {
	m.house = h
	for _, p := range append(slices.Clone(h.Known), h.You) {
		m.past.call(p.ID, p.Name, false)
	}
	for _, a := range h.Agents {
		m.past.call(a.ID, a.Name, true)
	}
}

// press does what a key means.
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
		return []Effect{Sit{}}
	case "/":
		m.line.begin(search)
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

// helps turns the pages of the help.
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

// clears takes back what was chosen, searched for and filtered.
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

// answers jumps from a reply to what it answers, and from that to the reply.
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
	m.said = "there is no answer to it here, and it answers nothing that is here"
}

// wonders shows why that was done which is chosen: of a reply, why its agent answered.
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

// seek looks for words, upwards or downwards from what is chosen.
func (m *Model) seek(words string, way int) []Effect {
	if words == "" {
		m.said = "search first: /"
		return nil
	}
	k := len(m.past.all)
	if e := m.chosen(); e != nil {
		k = m.past.at(e.key)
	}
	low := strings.ToLower(words)
	for k += way; k >= 0 && k < len(m.past.all); k += way {
		e := m.past.all[k]
		if m.filter.shows(m.past, e) && m.past.holds(m.marks, e, low) {
			m.goes(e)
			return nil
		}
	}
	if way > 0 {
		m.said = "nothing further down"
		return nil
	}
	m.said = "nothing further up; asking for what is older"
	return []Effect{Seek{words}}
}

// holds reports whether an entry has words, which are in lower case.
func (p *past) holds(m marks, e *entry, words string) bool {
	text, _ := p.tell(m, e)
	if strings.Contains(strings.ToLower(text.text()), words) {
		return true
	}
	return slices.ContainsFunc(e.decisions, func(d earshot.Event) bool {
		return strings.Contains(strings.ToLower(p.verdict(m, d.Body.(earshot.Decision), "").text()), words)
	})
}

// found shows what was found that is older than what is here.
func (m *Model) found(f Found) {
	if f.Err != nil {
		m.said = "searching: " + f.Err.Error()
		return
	}
	var lines []string
	oldest := m.past.oldest()
	for _, e := range slices.Backward(f.Events) {
		if oldest == 0 || e.Sequence < oldest {
			text, _ := m.past.tell(m.marks, &entry{event: e})
			lines = append(lines, e.At.Local().Format("2006-01-02 15:04  ")+text.text())
		}
	}
	if len(lines) == 0 {
		m.said = "nothing older has these words"
		return
	}
	m.past.answered(m.at, fmt.Sprintf("older, with %q:\n%s", f.Words, strings.Join(lines, "\n")))
	m.follows()
}

// jumps goes to a time of day, or to a day and a time.
func (m *Model) jumps(text string) []Effect {
	at, ok := Moment(text, m.at)
	if !ok {
		m.said = "that is no time; write 14:05, 14:05:30, yesterday 14:05 or 2026-11-22 14:05"
		return nil
	}
	k, _ := slices.BinarySearchFunc(m.past.all, at, func(e *entry, at time.Time) int { return e.event.At.Compare(at) })
	if k == len(m.past.all) {
		m.said = "nothing happened since"
		return nil
	}
	m.goes(m.past.all[k])
	if k == 0 && !m.ended {
		m.said = "this is the oldest that is here; more comes by scrolling up"
		return m.older()
	}
	return nil
}

// Moment reads a time as people write it, which is not after now.
func Moment(text string, now time.Time) (time.Time, bool) {
	text, now = strings.ToLower(strings.TrimSpace(text)), now.Local()
	day := now
	if rest, ok := strings.CutPrefix(text, "yesterday"); ok {
		text, day = strings.TrimSpace(rest), now.AddDate(0, 0, -1)
	}
	for _, form := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(form, text, now.Location()); err == nil {
			return t, true
		}
	}
	for _, form := range []string{"15:04:05", "15:04", "15"} {
		t, err := time.Parse(form, text)
		if err != nil {
			continue
		}
		at := time.Date(day.Year(), day.Month(), day.Day(), t.Hour(), t.Minute(), t.Second(), 0, now.Location())
		if at.After(now) {
			at = at.AddDate(0, 0, -1)
		}
		return at, true
	}
	return time.Time{}, false
}

// older wants what happened before.
func (m *Model) older() []Effect {
	first := m.past.oldest()
	if m.asking || m.ended || first <= 1 || len(m.past.all) >= kept-page {
		return nil
	}
	m.asking = true
	return []Effect{Older{first}}
}

// page is how many events are loaded at a time.
const page = 500

// A filter is what of the transcript is shown. The zero value shows all.
type filter struct {
	text    string
	who     []string // beginnings of names, in lower case
	kinds   []earshot.Kind
	private bool
}

// kinds are how people call the kinds of events.
var kinds = map[string][]earshot.Kind{
	"said":      {earshot.KindMessage, earshot.KindUtterance, earshot.KindReply},
	"message":   {earshot.KindMessage},
	"messages":  {earshot.KindMessage},
	"voice":     {earshot.KindUtterance},
	"voices":    {earshot.KindUtterance},
	"reply":     {earshot.KindReply},
	"replies":   {earshot.KindReply},
	"thought":   {earshot.KindThought, earshot.KindFinding},
	"thoughts":  {earshot.KindThought, earshot.KindFinding},
	"findings":  {earshot.KindFinding},
	"tools":     {earshot.KindUse},
	"edits":     {earshot.KindEdit, earshot.KindMemo},
	"sights":    {earshot.KindSight},
	"reminders": {earshot.KindReminder},
	"presence":  {earshot.KindPresence},
	"modes":     {earshot.KindMode, earshot.KindSnooze},
	"agents":    {earshot.KindAgent},
	"faults":    {earshot.KindNotice},
	"decisions": {earshot.KindDecision},
}

// parseFilter reads a filter. Words that are no kinds are beginnings of names.
func parseFilter(text string) (f filter) {
	f.text = strings.TrimSpace(text)
	for _, word := range strings.Fields(strings.ToLower(f.text)) {
		switch all, is := kinds[word]; {
		case word == "private":
			f.private = true
		case is:
			f.kinds = append(f.kinds, all...)
		default:
			f.who = append(f.who, strings.TrimPrefix(word, "@"))
		}
	}
	return f
}

// shows reports whether an entry is to be seen.
func (f filter) shows(p *past, e *entry) bool {
	if f.text == "" || e.answer != "" {
		return true
	}
	if f.private && e.event.Visibility.Scope != earshot.Private {
		return false
	}
	if len(f.kinds) > 0 && !slices.Contains(f.kinds, e.event.Body.Kind()) &&
		!(len(e.decisions) > 0 && slices.Contains(f.kinds, earshot.KindDecision)) {
		return false
	}
	return len(f.who) == 0 || slices.ContainsFunc(f.who, func(who string) bool { return p.concerns(e, who) })
}

// concerns reports whether somebody whose name begins so has to do with an entry.
func (p *past) concerns(e *entry, who string) bool {
	is := func(id earshot.ParticipantID) bool {
		return id != "" && strings.HasPrefix(strings.ToLower(p.name(id)), who)
	}
	if is(e.event.Author) || slices.ContainsFunc(e.event.To, is) {
		return true
	}
	if a, ok := e.event.Body.(earshot.Agent); ok && is(a.ID) {
		return true
	}
	return slices.ContainsFunc(e.decisions, func(d earshot.Event) bool { return is(d.Body.(earshot.Decision).Agent) })
}

// A purpose is for what a line is written.
type purpose int

const (
	nothing purpose = iota
	chat
	search
	filtering
	jump
)

// A line is what is being written in the last row.
type line struct {
	editor terminal.Editor
	chats  terminal.Editor // its history is that of what was said
	is     purpose
	typing bool // the room knows
}

func (l *line) open() bool { return l.is != nothing }

func (l *line) begin(is purpose) {
	l.is = is
	if is != chat {
		l.editor = terminal.Editor{}
	}
}

// in returns the editor that is written in.
func (l *line) in() *terminal.Editor {
	if l.is == chat {
		return &l.chats
	}
	return &l.editor
}

// prompts stand before the line.
var prompts = map[purpose]string{chat: "say: ", search: "search: ", filtering: "show only: ", jump: "go to time: "}

// hints stand after an empty line.
var hints = map[purpose]string{
	chat:      "text, or /command; Enter sends, Esc leaves",
	search:    "words; Enter looks upwards, then n and N",
	filtering: "names, private, said voice replies thoughts tools edits sights …; empty shows all",
	jump:      "14:05, yesterday 14:05, 2026-11-22 14:05",
}

// strokes are the keys of a line.
var strokes = map[string]terminal.Stroke{
	"backspace": terminal.Rubout, "ctrl+h": terminal.Rubout, "delete": terminal.Delete, "left": terminal.Left, "right": terminal.Right,
	"ctrl+b": terminal.Left, "ctrl+f": terminal.Right, "alt+left": terminal.WordLeft, "alt+right": terminal.WordRight,
	"ctrl+left": terminal.WordLeft, "ctrl+right": terminal.WordRight, "alt+b": terminal.WordLeft, "alt+f": terminal.WordRight,
	"home": terminal.Home, "end": terminal.End, "ctrl+a": terminal.Home, "ctrl+e": terminal.End, "up": terminal.Up, "down": terminal.Down,
	"ctrl+u": terminal.KillLine, "ctrl+k": terminal.KillEnd, "ctrl+w": terminal.KillWord, "alt+backspace": terminal.KillWord, "ctrl+y": terminal.Yank,
}

// write does what a key means in a line.
func (m *Model) write(k Key) []Effect {
	in := m.line.in()
	switch {
	case k.Name == "esc":
		return m.leave()
	case k.Name == "enter":
		return m.sends()
	case k.Name == "pgup" || k.Name == "pgdown":
		return m.moves(k.Name)
	case k.Name == "paste":
		if !in.Step(terminal.Key{Does: terminal.Paste, Text: k.Text}) {
			m.said = "that is too long for one message"
		}
	case strokes[k.Name] != "":
		in.Step(terminal.Key{Does: strokes[k.Name]})
	case k.Text != "":
		if !in.Step(terminal.Key{Does: terminal.Insert, Text: k.Text}) {
			m.said = "the line is full"
		}
	}
	return m.typed()
}

// typed tells the room when somebody begins to write to it, and when they will not.
func (m *Model) typed() []Effect {
	if m.line.is != chat {
		return nil
	}
	text := m.line.chats.Text()
	talks := text != "" && (!strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") || strings.HasPrefix(text, "/msg "))
	if talks == m.line.typing {
		return nil
	}
	m.line.typing = talks
	return []Effect{Emit{earshot.Typing{Began: talks}}}
}

// leave closes the line.
func (m *Model) leave() (effects []Effect) {
	if m.line.is == chat {
		m.line.chats.Drop()
		effects = m.typed()
	}
	m.line.is = nothing
	return effects
}

// sends does what was written.
func (m *Model) sends() []Effect {
	is := m.line.is
	text := m.line.in().Take()
	if is == chat {
		return m.says(text)
	}
	m.line.is = nothing
	switch text = strings.TrimSpace(text); is {
	case search:
		if m.sought = text; text == "" {
			return nil
		}
		return m.seek(text, -1)
	case filtering:
		m.filter = parseFilter(text)
		m.follows()
	case jump:
		return m.jumps(text)
	}
	return nil
}

// says gives a line to the room. It goes on following, so that the answer is seen.
func (m *Model) says(text string) []Effect {
	typing := m.line.typing
	m.line.typing = false
	m.follows()
	over := func(more ...Effect) []Effect {
		if typing {
			return append([]Effect{Emit{earshot.Typing{}}}, more...)
		}
		return more
	}
	switch name, is := strings.CutPrefix(text, "/"); {
	case strings.TrimSpace(text) == "":
		m.line.is = nothing
		return over()
	case !is:
		return []Effect{Emit{earshot.Message{Text: earshot.Text(text)}}}
	case strings.HasPrefix(name, "/"):
		return []Effect{Emit{earshot.Message{Text: earshot.Text(name)}}}
	default:
		name, args, _ := strings.Cut(name, " ")
		switch name = strings.ToLower(strings.TrimSpace(name)); name {
		case "exit", "quit":
			m.line.is = nothing
			return over()
		case "":
			m.said = "a command has a name, such as /help; begin a text that has a slash with two"
			return over()
		}
		return over(Emit{earshot.Command{Name: name, Args: earshot.Text(strings.TrimSpace(args))}})
	}
}
