package model

import (
	"fmt"
	"slices"
	"strings"

	"earshot"
	"earshot/api"
	"earshot/executive/think"
	"earshot/internal/search"
)

// A Screen is what the terminal shows.
type Screen struct {
	Rows   []string // as many as the screen has, each as wide, with colour escape sequences
	Cursor bool     // somebody is writing
	X, Y   int      // the place of the cursor
}

// The sizes from which there is room for more.
const (
	besideWidth = 108 // one column of panes beside the transcript
	twoWidth    = 168 // two of them
	columnWidth = 46  // the width of a column
	tiny        = 24  // the fewest columns in which anything can be shown
)

// Screen draws everything. It may be called as often as needed, since unchanged rows are not drawn
// again.
func (m *Model) Screen() Screen {
	if m.width < tiny || m.height < 4 {
		return Screen{Rows: m.paint(fill([]row{{{plain, "too small"}}}, m.height))}
	}
	var rows []row
	body := m.height - 2
	switch {
	case m.help:
		rows = m.window(m.helpText(), body, &m.helpdown, "PgDn")
	case m.zoomed:
		rows = append([]row{m.rule(m.width, m.tabs())}, m.window(m.content(m.pane, m.width), body-1, &m.panedown, "]")...)
	case m.width >= besideWidth:
		rows = m.beside(body)
	default:
		rows = m.below(body)
	}
	bottom, x, writes := m.bottom()
	all := slices.Concat([]row{m.title()}, rows, []row{bottom})
	return Screen{Rows: m.paint(all), Cursor: writes, X: x, Y: m.height - 1}
}

// paint writes rows over the full width of the screen.
func (m *Model) paint(rows []row) (painted []string) {
	for _, r := range rows {
		painted = append(painted, m.marks.fit(r, m.width).coloured())
	}
	return painted
}

// below places the transcript above one pane, which takes a third of the rows.
func (m *Model) below(body int) []row {
	low := max(3, min(body/3, 14))
	if body < 9 {
		low = 0
	}
	rows := m.transcript(m.width, body-low)
	if low == 0 {
		return rows
	}
	rows = append(rows, m.rule(m.width, m.tabs()))
	return append(rows, m.window(m.content(m.pane, m.width), low-1, &m.panedown, "]")...)
}

// beside places the panes to the right of the transcript, in one column or two.
func (m *Model) beside(body int) []row {
	columns, wide := 1, columnWidth
	if m.width >= twoWidth {
		columns = 2
	}
	wide = max(wide, m.width*2/5/columns)
	wide = min(wide, 60)
	left := m.width - columns*(wide+1)
	transcript := m.transcript(left-1, body)
	parts := make([][]row, columns)
	for c := range parts {
		parts[c] = m.column(m.chosenPanes(columns, body, c), wide-1, body)
	}
	rows := make([]row, body)
	for k := range rows {
		rows[k] = m.marks.fit(transcript[k], left)
		for c := range parts {
			rows[k] = append(append(rows[k], span{dim, m.marks.down}, span{plain, " "}), m.marks.fit(parts[c][k], wide-1)...)
		}
	}
	return rows
}

// chosenPanes returns the panes of a column. If not all of them fit, the chosen one comes first.
func (m *Model) chosenPanes(columns, body, column int) (some []pane) {
	if columns == 2 {
		return [][]pane{{who, thought, why}, {going, health, speed}}[column]
	}
	n := max(1, min(int(panes), body/8))
	for p := range panes {
		some = append(some, p)
	}
	if int(m.pane) >= n {
		return append(some[:n-1:n-1], m.pane)
	}
	return some[:n]
}

// column stacks panes. Each gets the rows it needs, while there is room; unused rows are at the
// bottom.
func (m *Model) column(some []pane, width, height int) (rows []row) {
	texts := make([][]row, len(some))
	give := make([]int, len(some))
	spare := height - len(some)
	for k, p := range some {
		texts[k] = m.content(p, width)
		give[k] = min(len(texts[k])+1, max(1, spare/len(some)))
	}
	for _, n := range give {
		spare -= n
	}
	for _, first := range []bool{true, false} { // the chosen pane first
		for k, p := range some {
			if more := min(spare, len(texts[k])+1-give[k]); more > 0 && (p == m.pane || !first) {
				give[k], spare = give[k]+more, spare-more
			}
		}
	}
	for k, p := range some {
		down := 0
		scroll := &down
		if p == m.pane {
			scroll = &m.panedown
		}
		rows = append(rows, m.rule(width, m.tab(p)))
		if k == len(some)-1 {
			give[k] += max(0, spare)
		}
		rows = append(rows, m.window(texts[k], give[k], scroll, "]")...)
	}
	return fill(rows, height)
}

// window shows height rows, beginning with row down. It says how many more are below, and which key
// shows them.
func (m *Model) window(text []row, height int, down *int, key string) []row {
	*down = max(0, min(*down, len(text)-height))
	rows := text[*down:]
	if len(rows) > height && height > 0 {
		rest := len(rows) - height + 1
		rows = append(append([]row(nil), rows[:height-1]...), row{{dim, fmt.Sprintf("%s %d more (%s scrolls)", m.marks.more, rest, key)}})
	}
	return fill(rows[:len(rows):len(rows)], height)
}

// content returns the contents of a pane with a blank on both sides.
func (m *Model) content(p pane, width int) []row {
	rows := m.contents(p, max(1, width-2))
	shifted := make([]row, len(rows))
	for k, r := range rows {
		shifted[k] = append(row{{plain, " "}}, r...)
	}
	return shifted
}

// rule is a horizontal line with a title in it.
func (m *Model) rule(width int, title row) row {
	r := append(row{{dim, strings.Repeat(m.marks.across, 2) + " "}}, title...)
	if rest := width - r.columns() - 1; rest > 0 {
		r = append(r, span{dim, " " + strings.Repeat(m.marks.across, rest)})
	}
	return r
}

// tabs returns the titles of all panes, with the shown one in brackets.
func (m *Model) tabs() (r row) {
	for p := range panes {
		if p > 0 {
			r = append(r, span{plain, " "})
		}
		r = append(r, m.tab(p)...)
	}
	return append(r, span{dim, " (Tab)"})
}

// tab returns the title of a pane, with a mark if the pane has something to show.
func (m *Model) tab(p pane) row {
	title := titles[p]
	if p == why && m.chosen() != nil {
		title = "Why this"
	}
	t := dim
	if p == m.pane {
		t, title = marked, "["+title+"]"
	} else if m.width >= besideWidth {
		t = strong
	}
	r := row{{t, title}}
	switch {
	case !m.heard:
	case p == thought && m.thinks():
		r = append(r, span{good, m.marks.dot})
	case p == health && m.ill() > 0:
		r = append(r, span{bad, fmt.Sprintf("%s%d", m.marks.no, m.ill())})
	}
	return r
}

// thinks reports whether a thought is growing.
func (m *Model) thinks() bool { return slices.ContainsFunc(m.now.Thoughts, grows) }

// grows reports whether a thought is growing.
func grows(t api.LiveThought) bool { return t.Phase == string(think.Thinking) }

// ill returns how many parts are ill.
func (m *Model) ill() (n int) {
	for _, p := range m.now.Parts {
		if !p.Well {
			n++
		}
	}
	if len(m.now.Parts) == 0 {
		return len(m.now.Faults)
	}
	return n
}

// title is the top row: the place, the state of the room, the reader, and the time.
func (m *Model) title() row {
	at := "desk"
	if m.now.Room != "" {
		at = m.marks.name(string(m.now.Room))
	}
	r := row{{strong, " earshot "}, {dim, at + "  "}}
	r = append(r, m.mode()...)
	clock := m.at.Local().Format("15:04:05 ")
	if m.at.IsZero() {
		clock = ""
	}
	reads := ""
	if m.house.You.Name != "" {
		reads = "seen as " + m.marks.name(m.house.You.Name) + "  "
	}
	if room := m.width - r.columns(); room < columns(reads+clock)+1 {
		reads = ""
	}
	r = m.marks.fit(r, max(0, m.width-columns(reads+clock)))
	return append(r, span{dim, reads}, span{plain, clock})
}

// bottom is the last row: the line being written, or the status, and the keys.
func (m *Model) bottom() (r row, x int, writes bool) {
	if m.line.open() {
		return m.written()
	}
	left := m.state()
	keys := "? help  i chat  / search  f filter  q quit "
	if m.width < 100 {
		keys = "? help  i chat  q quit "
	}
	if m.help {
		keys = "any key closes the help "
	}
	if rest := m.width - left.columns() - columns(keys); rest > 0 {
		left = append(left, span{plain, strings.Repeat(" ", rest)}, span{dim, keys})
	}
	return left, 0, false
}

// state returns the most urgent status message.
func (m *Model) state() row {
	switch {
	case m.lost != "":
		return row{{bad, " " + m.marks.no + " "}, {bad, m.marks.safe(m.lost)}, {dim, "; trying again for " + brieflyFor(m.at.Sub(m.since))}}
	case m.said != "":
		return row{{wary, " " + m.marks.safe(m.said)}}
	}
	r := row{{plain, " "}}
	switch {
	case m.live != nil:
		text := "looking far back"
		if m.view.came > 0 {
			text += fmt.Sprintf(", %d new meanwhile", m.view.came)
		}
		r = append(r, span{wary, text}, span{dim, " (End returns)"})
	case m.view.follow:
		r = append(r, span{good, "following"})
	case m.view.came > 0:
		r = append(r, span{wary, fmt.Sprintf("%d new below", m.view.came)}, span{dim, " (End follows)"})
	default:
		r = append(r, span{wary, "looking back"}, span{dim, " (End follows)"})
	}
	if m.filter.text != "" {
		r = append(r, span{wary, "  only: " + m.marks.cut(m.marks.safe(m.filter.text), 30)}, span{dim, " (Esc)"})
	}
	if m.sought != "" {
		r = append(r, span{dim, "  " + m.marks.safe("“") + m.marks.cut(m.marks.safe(m.sought), 20) + m.marks.safe("”") + " n N"})
	}
	return r
}

// written shows the line being written; if it is too long, the part that ends at the cursor.
func (m *Model) written() (r row, x int, writes bool) {
	head, in := " "+prompts[m.line.is], m.line.in()
	room := max(1, m.width-columns(head)-1)
	before, after := m.inLine(in.Text()[:in.Cursor()]), m.inLine(in.Text()[in.Cursor():])
	for over := columns(before) - room; over > 0; {
		cluster, wide := first(before)
		before, over = before[len(cluster):], over-wide
	}
	r = row{{strong, head}, {plain, before}}
	x = r.columns()
	r = append(r, span{plain, after})
	if m.said != "" {
		r = append(r, span{wary, "  " + m.marks.safe(m.said)})
	} else if in.Text() == "" {
		r = append(r, span{dim, " " + m.marks.safe(hints[m.line.is])})
	}
	return r, min(x, m.width-1), true
}

// inLine returns text fit for one row.
func (m *Model) inLine(text string) string {
	return strings.ReplaceAll(m.marks.safe(text), "\n", m.marks.safe("⏎"))
}

// transcript returns the part of the transcript that is on the screen. While it follows the newest,
// what is being said is shown below it.
func (m *Model) transcript(width, height int) []row {
	m.view.width, m.view.height = width, height
	var up []row // from the bottom upwards
	if m.view.follow {
		grown := m.activeReply(width)
		for k := len(grown) - 1; k >= 0 && len(up) < height; k-- {
			up = append(up, grown[k])
		}
	}
	below := m.view.below
	if m.view.follow {
		below = 0
	}
	for k := m.anchor(); k >= 0 && len(up) < height; k-- {
		e := m.past.all[k]
		if !m.filter.shows(m.past, e) {
			continue
		}
		rows := m.rowsAt(k)
		for j := len(rows) - 1; j >= 0 && len(up) < height; j-- {
			if below > 0 {
				below--
				continue
			}
			up = append(up, m.lit(rows[j], j == 0, e))
		}
	}
	if len(up) == 0 && len(m.past.all) == 0 {
		return m.welcome(width, height)
	}
	slices.Reverse(up)
	return fill(up, height) // the rows are at the top until the screen is full
}

// welcome returns what is shown while nothing has happened.
func (m *Model) welcome(width, height int) []row {
	text := "Nothing has happened here yet. What is said, by whom, and what the agent does about it will appear here; press i to say something."
	if m.lost != "" {
		text = "Waiting for earshot."
	} else if !m.heard {
		text = "One moment …"
	}
	return fill(wrap(row{{dim, " " + m.marks.safe(text)}}, width, 1), height)
}

// lit marks the chosen row, and the words that were searched for.
func (m *Model) lit(r row, head bool, e *entry) row {
	if m.sought != "" {
		r = light(r, m.query)
	}
	if e.key != m.view.chosen {
		return r
	}
	sign := m.marks.half
	if head {
		sign = m.marks.chosen
	}
	if len(r) > 0 && strings.HasPrefix(r[0].text, " ") {
		return append(row{{wary, sign}, {r[0].tone, r[0].text[1:]}}, r[1:]...)
	}
	return r
}

// light marks a search word in a row, where the word has one tone.
func light(r row, q search.Query) (lit row) {
	for _, s := range r {
		at := 0
		for _, h := range q.Hits(s.text, mostLit) {
			lit = append(lit, span{s.tone, s.text[at:h.Start]}, span{marked, s.text[h.Start:h.End]})
			at = h.End
		}
		lit = append(lit, span{s.tone, s.text[at:]})
	}
	return lit
}

// mostLit bounds how often one word is marked in a row: no row is longer than that.
const mostLit = 256

// activeReply shows what people are saying, and the replies that are being prepared or said: what
// was heard so far, and what was not yet.
func (m *Model) activeReply(width int) (rows []row) {
	if m.lost != "" || m.filter.text != "" {
		return nil
	}
	for _, e := range m.now.Words {
		if !m.past.heard(e) {
			rows = append(rows, m.words(e, width)...)
		}
	}
	mine := m.mine.Opening.Turn != ""
	for _, g := range m.now.Replies {
		if m.past.turns[g.Turn] != nil {
			continue // it is shown above
		}
		if g.Turn == m.mine.Opening.Turn {
			g, mine = m.joined(g), false
		}
		rows = append(rows, m.grows(g, width)...)
	}
	if mine && m.past.turns[m.mine.Opening.Turn] == nil {
		o := m.mine.Opening
		g := api.LiveReply{Turn: o.Turn, Agent: m.agent(o.Name), About: o.About, To: o.To, Since: m.mine.Since, Private: o.Private}
		rows = append(rows, m.grows(m.joined(g), width)...)
	}
	return rows
}

// words shows what somebody is saying, as far as it is recognised.
func (m *Model) words(e earshot.Event, width int) []row {
	said, _ := e.Body.(earshot.Speech)
	text := append(row{{dim, " " + e.At.Local().Format("15:04:05") + " "}}, m.past.head(m.marks, e, "voice")...)
	return wrap(append(text, span{dim, m.marks.safe(string(said.Words))}, span{good, " " + m.marks.more}), width, stamp)
}

// joined adds to a reply what has come out at this terminal and was not reported yet.
func (m *Model) joined(g api.LiveReply) api.LiveReply {
	if len(m.mine.Text) > len(g.Text) {
		g.Text = m.mine.Text
	}
	g.Heard = append(g.Heard[:len(g.Heard):len(g.Heard)], earshot.Delivery{Outlet: "here", Bytes: len(m.mine.Text)})
	return g
}

// agent returns the agent with a name.
func (m *Model) agent(name string) earshot.ParticipantID {
	for id := range m.past.agents {
		if m.past.called[id] == name {
			return id
		}
	}
	return ""
}

// grows shows one reply that is being prepared or said.
func (m *Model) grows(g api.LiveReply, width int) []row {
	e := earshot.Event{Author: g.Agent}
	if g.To != "" {
		e.To = []earshot.ParticipantID{g.To}
	}
	if g.Private {
		e.Visibility.Scope = earshot.Private
	}
	text := append(row{{dim, " " + g.Since.Local().Format("15:04:05") + " "}}, m.past.head(m.marks, e, "")...)
	whole := earshot.Reply{Offered: g.Text, Heard: g.Heard}
	text = append(text, span{plain, strings.TrimLeft(m.marks.safe(string(whole.Delivered())), " \n")})
	if rest := strings.TrimSpace(m.marks.safe(string(whole.Remainder()))); rest != "" {
		if len(whole.Delivered()) > 0 {
			text = append(text, span{plain, " "})
		}
		text = append(text, span{unheard, "[not heard yet: " + rest + "]"})
	}
	state, t := "is being said", good
	switch {
	case g.Paused:
		state, t = "paused: somebody wants to speak", wary
	case g.Tool != "":
		state = "uses " + m.marks.safe(g.Tool)
	case g.Text == "":
		state = "is being prepared"
	}
	text = append(text, span{t, " " + m.marks.more + " (" + state + ", " + m.age(g.Since) + ")"})
	return wrap(text, width, stamp)
}
