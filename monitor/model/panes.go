package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/api"
	"earshot/executive/scene"
	"earshot/executive/think"
	"earshot/participants"
)

// A pane is one of the views beside the transcript.
type pane int

const (
	who pane = iota
	thought
	why
	going
	health
	speed
	panes
)

// titles are the titles of the panes.
var titles = [panes]string{who: "Here", thought: "Thought", why: "Why", going: "Scene", health: "Health", speed: "Speed"}

// explains says what a pane is for, shown while it is empty.
var explains = [panes]string{
	who:     "Nobody is here.",
	thought: "Nothing is being thought beside the conversation.",
	why:     "No decision has been made yet.",
	going:   "Nothing is going on.",
	health:  "The state of the parts is not known yet.",
	speed:   "No turn has ended yet.",
}

// contents returns the contents of a pane, in rows of the given width.
func (m *Model) contents(p pane, width int) (rows []row) {
	if !m.heard && p != why {
		return wrap(row{{dim, m.absent()}}, width, 0)
	}
	switch p {
	case who:
		rows = m.here(width)
	case thought:
		rows = m.thinking(width)
	case why:
		rows = m.reasons(width)
	case going:
		rows = m.scene(width)
	case health:
		rows = m.parts(width)
	case speed:
		rows = m.latencies(width)
	}
	if len(rows) == 0 {
		rows = wrap(row{{dim, explains[p]}}, width, 0)
	}
	return rows
}

// absent says why nothing is known yet.
func (m *Model) absent() string {
	if m.lost != "" {
		return "Not known while the connection is lost."
	}
	return "One moment …"
}

// here lists who is here, with what certainty, and with whom each agent talks.
func (m *Model) here(width int) (rows []row) {
	add := func(r row) { rows = append(rows, wrap(r, width, 2)...) }
	var c api.PresenceEstimate
	if m.now.Company != nil {
		c = *m.now.Company
		add(m.crowd(c))
	}
	for _, p := range m.now.Here {
		r := row{m.past.called1(m.marks, p.ID), {dim, " is here"}}
		if k := slices.IndexFunc(c.Who, func(g api.PresenceGuess) bool { return g.ID == p.ID }); k >= 0 {
			r = append(r, span{dim, ", " + percent(c.Who[k].Sure) + " by " + m.marks.safe(c.Who[k].Reasons())})
		}
		add(r)
	}
	for _, g := range c.Who {
		if slices.ContainsFunc(m.now.Here, func(p participants.Participant) bool { return p.ID == g.ID }) {
			continue
		}
		name := m.past.called1(m.marks, g.ID)
		if name.text == "unknown" && g.Name != "" {
			name.text = m.marks.name(g.Name)
		}
		add(row{name, {dim, fmt.Sprintf(" is probably here, %s by %s", percent(g.Sure), m.marks.safe(g.Reasons()))}})
	}
	for _, against := range c.Against {
		add(row{{wary, m.marks.no + " "}, {wary, m.marks.safe(against)}})
	}
	for _, a := range m.now.Agents {
		r := row{m.past.called1(m.marks, a.ID), {dim, " (" + string(cmp.Or(a.Kind, earshot.PathAgent)) + ") "}}
		does, tone := m.does(a)
		add(append(r, span{tone, does}, span{dim, " " + m.marks.safe(string(a.Path))}))
	}
	return rows
}

// crowd says how many people are probably here.
func (m *Model) crowd(c api.PresenceEstimate) row {
	text := fmt.Sprintf("probably %d here", c.Likely)
	if c.Least != c.Most {
		text += fmt.Sprintf(" (%d to %d)", c.Least, c.Most)
	}
	if c.Unknown > 0 {
		text += fmt.Sprintf(", %d without a name", c.Unknown)
	}
	return row{{strong, text}}
}

// does says what an agent is doing, and with whom it is talking.
func (m *Model) does(a api.Seat) (string, tone) {
	for _, g := range m.now.Replies {
		if g.Agent != a.ID {
			continue
		}
		to := ""
		if g.To != "" {
			to = " to " + m.marks.name(m.past.name(g.To))
		}
		switch {
		case g.Tool != "":
			return "uses " + m.marks.safe(g.Tool), good
		case g.Paused:
			return "is paused while it talks" + to, wary
		case g.Text == "":
			return "is preparing an answer" + to, good
		}
		return "talks" + to, good
	}
	text := cmp.Or(a.State, api.Sleeping)
	if a.Partner != "" {
		text += ", talked last with " + m.marks.name(m.past.name(a.Partner))
	}
	if slices.ContainsFunc(m.now.Thoughts, func(t api.LiveThought) bool { return t.Agent == a.ID && grows(t) }) {
		text += ", thinks"
	}
	return text, dim
}

// thinking shows the thoughts: the question, the state, and the end of the text.
func (m *Model) thinking(width int) (rows []row) {
	for k, t := range m.now.Thoughts {
		if k > 0 {
			rows = append(rows, nil)
		}
		head := row{m.past.called1(m.marks, t.Agent)}
		tone := dim
		switch think.Phase(t.Phase) {
		case think.Thinking:
			tone = good
			head = append(head, span{good, " is thinking"})
		case think.Parked:
			tone = wary
			head = append(head, span{wary, " has parked a thought"})
		case think.Waiting:
			head = append(head, span{dim, " will think"})
		default:
			head = append(head, span{dim, " is summing up a thought"})
		}
		if t.Question != "" {
			head = append(head, span{plain, " about " + m.marks.safe("“") + m.marks.safe(string(t.Question)) + m.marks.safe("”")})
		}
		if t.Private {
			head = append(head, span{secret, " [private]"})
		}
		rows = append(rows, wrap(head, width, 2)...)
		state := because(t.Cause)
		if t.For != "" {
			state = "for " + m.marks.name(m.past.name(t.For)) + ": " + state
		}
		if t.Tokens > 0 {
			state += fmt.Sprintf("; %d tokens", t.Tokens)
		}
		if !t.Since.IsZero() {
			state += "; since " + m.age(t.Since)
		}
		rows = append(rows, wrap(row{{dim, "  " + state}}, width, 2)...)
		if t.Parked != "" {
			rows = append(rows, wrap(row{{tone, "  parked: " + m.marks.safe(t.Parked)}}, width, 2)...)
		}
		if text := strings.TrimSpace(string(t.Text)); text != "" {
			body := wrap(row{{plain, "  " + m.marks.safe(text)}}, width, 2)
			if len(body) > mostThought {
				body = append([]row{{{dim, "  " + m.marks.more}}}, body[len(body)-mostThought:]...)
			}
			rows = append(rows, body...)
		}
	}
	return rows
}

// mostThought is how many rows of a thought are shown: the last ones.
const mostThought = 24

// age says how long ago something was.
func (m *Model) age(at time.Time) string { return brieflyFor(max(0, m.at.Sub(at))) }

// reasons lists the recent decisions, the newest first. If an entry of the transcript is chosen,
// only the decisions about it are listed.
func (m *Model) reasons(width int) (rows []row) {
	all := m.newest().decisions
	if e := m.chosen(); e != nil {
		all = e.decisions
		rows = append(rows, wrap(row{{strong, m.subject(e)}}, width, 2)...)
		if len(all) == 0 {
			return append(rows, wrap(row{{dim, "  no decision was made about it"}}, width, 2)...)
		}
	}
	for _, d := range slices.Backward(all) {
		b := d.Body.(earshot.Decision)
		if m.chosen() == nil {
			rows = append(rows, wrap(row{{dim, d.At.Local().Format("15:04:05 ")}, {plain, m.about(b)}}, width, 2)...)
		}
		short := b
		short.Reasons = nil
		rows = append(rows, wrap(append(row{{plain, "  "}}, m.past.verdict(m.marks, short, "")...), width, 4)...)
		for _, reason := range b.Reasons {
			rows = append(rows, wrap(row{{dim, "    - " + m.marks.safe(reason)}}, width, 6)...)
		}
		if len(rows) > 200 {
			break
		}
	}
	return rows
}

// about says what a decision was about.
func (m *Model) about(d earshot.Decision) string {
	if d.About == "" {
		return "by itself"
	}
	if e := m.newest().by[d.About]; e != nil {
		return m.subject(e)
	}
	return "about something that is not shown here"
}

// subject says who wrote an entry and what it begins with.
func (m *Model) subject(e *entry) string {
	by := m.marks.name(m.past.name(e.event.Author))
	if s, ok := e.event.Body.(earshot.Sight); ok {
		by = m.marks.name(earshot.CameraCalled(s.Camera))
	}
	return by + " " + m.past.opening(m.marks, e, 60)
}

// fields are the labels of the fields of the scene.
var fields = map[scene.Field]string{
	scene.Environment: "around", scene.Messages: "said", scene.Visual: "seen", scene.User: "people",
	scene.Agent: "agents", scene.Notes: "notes", scene.Reasoning: "found",
}

// scene lists what is going on, each with its age.
func (m *Model) scene(width int) (rows []row) {
	last := ""
	for _, f := range m.now.Scene {
		name := ""
		if f.Field != last {
			last, name = f.Field, cmp.Or(fields[scene.Field(f.Field)], m.marks.cut(m.marks.safe(f.Field), 6))
		}
		tone := plain
		stale := !f.Until.IsZero() && f.Until.Before(m.at)
		if stale {
			tone = dim
		}
		r := row{{strong, fmt.Sprintf("%-6s ", name)}, {dim, fmt.Sprintf("%6s  ", m.age(f.At))}, {tone, m.marks.safe(string(f.Text))}}
		if f.Confidence > 0 {
			r = append(r, span{dim, " [" + percent(f.Confidence) + "]"})
		}
		if stale {
			r = append(r, span{wary, " [stale]"})
		}
		if f.Private {
			r = append(r, span{secret, " [private]"})
		}
		rows = append(rows, wrap(r, width, 15)...)
	}
	if m.house.Work != "" {
		rows = append(rows, wrap(row{{dim, m.marks.safe(m.house.Work)}}, width, 2)...)
	}
	return rows
}

// parts lists the parts of the daemon: the ill ones first, each with its cure.
func (m *Model) parts(width int) (rows []row) {
	all := slices.Clone(m.now.Parts)
	if len(all) == 0 {
		all = partsOf(m.now.RoomState)
	}
	slices.SortStableFunc(all, func(a, b api.Part) int { return yes(a.Well) - yes(b.Well) })
	for _, p := range all {
		r := row{{good, m.marks.yes + " "}, {strong, m.marks.name(p.Name)}}
		if !p.Well {
			r[0] = span{bad, m.marks.no + " "}
		}
		if p.Kind != "" && p.Kind != p.Name {
			r = append(r, span{dim, " (" + m.marks.safe(p.Kind) + ")"})
		}
		since := ""
		if !p.Since.IsZero() {
			since = " for " + m.age(p.Since)
		}
		if p.Well {
			r = append(r, span{dim, " well" + since})
		} else {
			r = append(r, span{bad, " ill" + since})
		}
		if p.Text != "" {
			r = append(r, span{dim, ": " + m.marks.safe(p.Text)})
		}
		rows = append(rows, wrap(r, width, 4)...)
		if p.Cure != "" {
			rows = append(rows, wrap(row{{plain, "  " + m.marks.to + " " + m.marks.safe(p.Cure)}}, width, 4)...)
		}
	}
	return rows
}

func yes(is bool) int {
	if is {
		return 1
	}
	return 0
}

// partsOf derives the parts from the state of a room that does not list them.
func partsOf(s api.RoomState) (all []api.Part) {
	for _, n := range s.Faults {
		all = append(all, api.Part{Name: n.Key, Text: n.Text, Cure: n.Cure})
	}
	for _, w := range s.Works {
		all = append(all, api.Part{Name: w, Well: true})
	}
	return all
}

// stages are the stages of a turn up to its first output, each with a letter for the waterfall.
var stages = []struct {
	letter string
	name   string
	of     func(api.Latency) time.Duration
}{
	{"h", "hear", func(l api.Latency) time.Duration { return l.Hear }},
	{"d", "decide", func(l api.Latency) time.Duration { return l.Decide }},
	{"q", "queue", func(l api.Latency) time.Duration { return l.Queue }},
	{"a", "ask", func(l api.Latency) time.Duration { return l.Ask }},
	{"t", "token", func(l api.Latency) time.Duration { return l.FirstToken }},
	{"c", "clause", func(l api.Latency) time.Duration { return l.FirstClause }},
	{"o", "out", func(l api.Latency) time.Duration { return l.FirstHeard }},
}

// legend explains the letters that occur in the waterfalls of some turns.
func legend(turns []api.Latency) string {
	var names []string
	for _, s := range stages {
		if slices.ContainsFunc(turns, func(l api.Latency) bool { return s.of(l) > 0 }) {
			names = append(names, s.letter+" "+s.name)
		}
	}
	return strings.Join(names, " ")
}

// latencies draws the last turns as waterfalls: each stage begins where the one before it
// ended, all on one scale.
func (m *Model) latencies(width int) (rows []row) {
	if len(m.now.Turns) == 0 {
		return nil
	}
	longest := time.Duration(0)
	for _, l := range m.now.Turns {
		longest = max(longest, l.Wait)
	}
	room := max(8, min(40, width-31))
	rows = append(rows, wrap(row{{dim, legend(m.now.Turns)}}, width, 0)...)
	for _, l := range slices.Backward(m.now.Turns) {
		what := brieflyFor(l.Wait)
		if l.Wait == 0 {
			what = string(l.Outcome)
		}
		lead := fmt.Sprintf("%s %7s ", l.At.Local().Format("15:04:05"), m.marks.cut(m.marks.safe(what), 7))
		r := row{{dim, lead}}
		r = append(r, waterfall(l, longest, room)...)
		tail := " " + brieflyFor(l.Total) + " in all"
		switch {
		case l.Reflex:
			tail += ", no model"
		case l.Outcome != earshot.Completed:
			tail += ", " + string(l.Outcome)
		}
		if l.Silence > 0 {
			tail += ", silent " + brieflyFor(l.Silence) + " after the cut"
		}
		rows = append(rows, wrap(append(r, span{dim, tail}), width, 17)...)
	}
	return rows
}

// waterfall draws the stages of a turn up to its first output, on a scale on which longest takes up
// all columns. A stage that took any time gets at least one column.
func waterfall(l api.Latency, longest time.Duration, room int) (r row) {
	if longest <= 0 {
		return nil
	}
	left := 0 // stages that still need a column
	for _, s := range stages {
		left += yes(s.of(l) > 0)
	}
	used, at := 0, time.Duration(0)
	for _, s := range stages {
		took := max(0, s.of(l))
		if took == 0 {
			continue
		}
		at, left = at+took, left-1
		until := int(float64(at)/float64(longest)*float64(room) + 0.5)
		until = max(used+1, min(until, room-left))
		t := plain
		if s.letter == "t" { // where the model thinks
			t = wary
		}
		r = append(r, span{t, strings.Repeat(s.letter, until-used)})
		used = until
	}
	return r
}

// mode says what the room takes in, and whether a camera is open. It is always on the screen.
func (m *Model) mode() row {
	s := m.now
	tone, sign := good, m.marks.dot
	if m.lost != "" {
		return row{{bad, m.marks.no + " not connected"}}
	}
	if !m.heard {
		return row{{dim, m.marks.more}}
	}
	if s.Mode != earshot.Live {
		tone, sign = wary, m.marks.open
	}
	r := row{{tone, sign + " " + m.marks.safe(string(s.Mode))}}
	if s.Quiet {
		r = append(r, span{wary, ", asked to be quiet"})
	}
	if text, open := m.camera(); text != "" {
		t, sign := dim, m.marks.open
		if open {
			t, sign = bad, m.marks.dot
		}
		r = append(r, span{plain, "  "}, span{t, sign + " " + text})
	}
	return r
}

// camera says whether a camera is open, if there is one.
func (m *Model) camera() (text string, open bool) {
	if len(m.house.Cameras) == 0 {
		return "no camera", false
	}
	for _, c := range m.house.Cameras {
		if c.Open {
			return m.marks.name(earshot.CameraCalled(c.Camera)) + " open", true
		}
	}
	return "camera closed", false
}
