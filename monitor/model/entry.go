package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/interrupt"
)

// stamp is the width of the time before each entry, with what precedes and follows it.
const stamp = 10

// draw returns an entry in rows of the given width. The result depends only on the width and on
// what is known, so an entry is not drawn again while these stay the same.
func (p *transcript) draw(m marks, e *entry, width int, now time.Time) []row {
	if e.rows != nil && e.width == width && e.names == p.namer {
		return e.rows
	}
	text, notes := p.tell(m, e)
	rows := wrap(append(row{{dim, " " + e.event.At.Local().Format("15:04:05") + " "}}, text...), width, stamp)
	for _, note := range notes {
		head := row{{plain, strings.Repeat(" ", stamp)}, {dim, m.sub + " "}}
		rows = append(rows, wrap(append(head, note...), width, stamp+3)...)
	}
	e.rows, e.width, e.names = rows, width, p.namer
	return rows
}

// tell describes an entry in words, with notes below it on what happened to it.
func (p *transcript) tell(m marks, e *entry) (text row, notes []row) {
	if e.answer != "" {
		return row{{plain, m.safe(e.answer)}}, nil
	}
	if e.gone {
		was := "something"
		if b, ok := e.event.Body.(earshot.Tombstone); ok && b.Was != "" {
			was = "a " + string(b.Was)
		}
		return row{{dim, "(" + was + " that was taken back or erased; nothing of it is kept)"}}, nil
	}
	switch b := e.event.Body.(type) {
	case earshot.Message:
		text = append(p.head(m, e.event, p.mode(e.event, b)), span{plain, m.safe(string(b.Whole()))})
		if !b.Revised.IsZero() {
			text = append(text, span{dim, " (edited)"})
		}
		if b.ReplyTo != "" {
			notes = append(notes, row{{dim, "in answer to " + p.quote(m, b.ReplyTo)}})
		}
	case earshot.Utterance:
		text, notes = p.utterance(m, e, b)
	case earshot.Reply:
		text, notes = p.reply(m, e, b)
	case earshot.Decision:
		return p.verdict(m, b, "about something that is not shown here: "), nil
	default:
		text = p.aside(m, e.event)
	}
	for _, d := range e.decisions {
		notes = append(notes, p.verdict(m, d.Body.(earshot.Decision), ""))
	}
	return text, notes
}

// mode says how a message came, unless it was typed here.
func (p *transcript) mode(e earshot.Event, b earshot.Message) string {
	if b.Turn != "" { // between agents
		return ""
	}
	switch e.From.Provider {
	case "", "console":
		return ""
	}
	return e.From.Provider
}

// head says who is speaking, how that is known, and to whom.
func (p *transcript) head(m marks, e earshot.Event, how string) row {
	r := row{p.called1(m, e.Author)}
	if e.Author == "" && e.From.Provider != "" && how == "" {
		how = e.From.Provider
	}
	if how != "" {
		r = append(r, span{dim, " (" + m.safe(how) + ")"})
	}
	for k, to := range e.To {
		lead := ", "
		if k == 0 {
			lead = " " + m.to + " "
		}
		if k == 4 {
			r = append(r, span{dim, fmt.Sprintf(" and %d more", len(e.To)-k)})
			break
		}
		r = append(r, span{dim, lead}, p.called1(m, to))
	}
	if e.Visibility.Scope == earshot.Private {
		r = append(r, span{secret, " [private]"})
	}
	return append(r, span{plain, ": "})
}

// called1 returns the name of a participant, in the tone for its kind.
func (p *transcript) called1(m marks, id earshot.ParticipantID) span {
	if p.agents[id] {
		return span{machine, m.name(p.name(id))}
	}
	return span{person, m.name(p.name(id))}
}

// author returns the author of e, according to what is known now.
func (e *entry) author() earshot.ParticipantID {
	if e.whose != nil {
		return e.whose.Author
	}
	return e.event.Author
}

// utterance describes what was said aloud: the attributed speaker, and how certain the speaker and
// the words are.
func (p *transcript) utterance(m marks, e *entry, u earshot.Utterance) (text row, notes []row) {
	ev, sure, how := e.event, u.Sure, "voice"
	ev.Author = e.author()
	if e.whose != nil {
		sure = e.whose.Sure
	}
	switch {
	case u.LikeAgent:
		how = "sounds like the agent"
	case sure > 0:
		how = "voice, " + percent(sure)
	case u.Speaker.ID != "":
		how = u.Speaker.String()
	}
	text = p.head(m, ev, how)
	words := m.safe(string(u.Text))
	if u.Continues != "" {
		words = m.more + " " + words
	}
	text = append(text, span{plain, words})
	if u.Confidence > 0 && u.Confidence < 0.995 {
		text = append(text, span{dim, " [words " + percent(u.Confidence) + "]"})
	}
	if u.Truncated {
		text = append(text, span{wary, " [too long: the rest was not transcribed]"})
	}
	if w := e.whose; w != nil {
		by := "by the voice"
		if w.By != "" {
			by = "so " + m.name(p.name(w.By)) + " says"
		}
		notes = append(notes, row{{dim, "the speaker became known later, " + by}})
	}
	if len(e.beside) > 0 {
		var others []earshot.ParticipantID
		for _, other := range e.beside {
			others = append(others, other.author())
		}
		notes = append(notes, row{{wary, "at the same time as " + p.names(m, others)}})
	} else if u.Overlaps {
		notes = append(notes, row{{wary, "somebody else spoke at the same time"}})
	}
	if u.Own > 0 {
		notes = append(notes, row{{dim, percent(u.Own) + " of it while the agent spoke"}})
	}
	return text, notes
}

// reply describes what an agent said: which part was heard and which was not.
func (p *transcript) reply(m marks, e *entry, r earshot.Reply) (text row, notes []row) {
	text = p.head(m, e.event, "")
	said, rest := m.safe(string(r.Delivered())), m.safe(string(r.Remainder()))
	text = append(text, span{plain, strings.TrimLeft(said, " \n")})
	if strings.TrimSpace(rest) != "" {
		if said != "" && !strings.HasSuffix(said, " ") && !strings.HasSuffix(said, "\n") {
			text = append(text, span{plain, " "})
		}
		text = append(text, span{unheard, "[not heard: " + strings.TrimSpace(rest) + "]"})
	}
	switch {
	case r.Outcome == earshot.Suppressed && r.Offered == "":
		text = append(text, span{dim, "(nothing: the question was superseded, or there was nothing to say)"})
	case r.Outcome == earshot.Failed && r.Offered == "":
		text = append(text, span{bad, "(no reply: " + cmp.Or(m.safe(r.Fault), "it failed") + ")"})
	case r.Offered == "":
		text = append(text, span{dim, "(nothing)"})
	}
	if r.About != "" && !p.follows(e, r.About) {
		notes = append(notes, row{{dim, "in answer to " + p.quote(m, r.About)}})
	}
	return text, append(notes, p.fate(m, r)...)
}

// fate says how a reply ended, if it was not heard to its end.
func (p *transcript) fate(m marks, r earshot.Reply) (notes []row) {
	how := ""
	switch {
	case r.Cut != nil && r.Cut.Signal == interrupt.Shutdown.String():
		how = "cut off: earshot was stopped"
	case r.Cut != nil:
		how = "cut off by " + m.name(p.name(r.Cut.By))
		if r.Cut.Signal != "" {
			how += ", " + m.safe(cmp.Or(signals[r.Cut.Signal], r.Cut.Signal))
		}
	case r.Outcome == earshot.Failed && r.Offered != "":
		how = "broken off: it failed here"
	case r.Outcome == earshot.Interrupted:
		how = "cut off"
	}
	if how != "" && r.Remainder() != "" {
		how += fmt.Sprintf(", %d of %d characters heard", letters(r.Delivered()), letters(r.Offered))
	}
	if how != "" {
		notes = append(notes, row{{bad, how}})
	}
	if len(r.Heard) > 1 && slices.ContainsFunc(r.Heard, func(d earshot.Delivery) bool { return d.Bytes != r.Heard[0].Bytes }) {
		var all []string
		for _, d := range r.Heard {
			all = append(all, fmt.Sprintf("%s %d", m.safe(d.Outlet), letters(r.Offered[:min(max(0, d.Bytes), len(r.Offered))])))
		}
		notes = append(notes, row{{dim, fmt.Sprintf("characters heard, of %d: %s", letters(r.Offered), strings.Join(all, ", "))}})
	}
	if r.Truncated {
		notes = append(notes, row{{wary, "it reached the limit of executive.conversational.max_tokens"}})
	}
	if r.Handover != nil {
		to := "a person"
		if r.Handover.To != "" {
			to = m.name(p.name(r.Handover.To))
		}
		notes = append(notes, row{{wary, "the floor is for " + to + ": " + r.Handover.Why.Means()}})
	}
	return notes
}

// signals says in words what cut a reply off.
var signals = map[string]string{
	interrupt.Addressed.String():  "who talked to the agent",
	interrupt.Command.String():    "by a command",
	interrupt.Words.String():      "who talked",
	interrupt.Unclear.String():    "who talked",
	interrupt.Voice.String():      "who began to speak",
	interrupt.Onset.String():      "who began to speak",
	interrupt.Typing.String():     "who began to write",
	interrupt.OtherAgent.String(): "an agent",
}

func letters(t earshot.Text) int { return len([]rune(string(t))) }

// follows reports whether the event that e answers is the last one said to an agent before e.
func (p *transcript) follows(e *entry, about earshot.EventID) bool {
	for k := p.at(e.key) - 1; k >= 0; k-- {
		switch p.all[k].event.Body.(type) {
		case earshot.Message, earshot.Utterance:
			return p.all[k].event.ID == about
		}
	}
	return false
}

// quote returns the first words of an event, and its author.
func (p *transcript) quote(m marks, id earshot.EventID) string {
	e := p.by[id]
	if e == nil {
		return "something that is not shown here"
	}
	return m.name(p.name(e.event.Author)) + " at " + e.event.At.Local().Format("15:04:05") + ": " + p.opening(m, e, 40)
}

// opening returns the first words of an entry in one row.
func (p *transcript) opening(m marks, e *entry, width int) string {
	text := ""
	switch b := e.event.Body.(type) {
	case earshot.Message:
		text = string(b.Text)
	case earshot.Utterance:
		text = string(b.Text)
	case earshot.Reply:
		text = string(b.Offered)
	case earshot.Finding:
		text = string(b.Text)
	case earshot.Reminder:
		text = string(b.Text)
	case earshot.Thought:
		text = string(b.Question)
	case earshot.Sight:
		text = string(b.Words())
	}
	if text = strings.Join(strings.Fields(text), " "); text == "" {
		return string(e.event.Body.Kind())
	}
	return m.safe("“") + m.cut(m.safe(text), width) + m.safe("”")
}

// verdict says what was decided, and why.
func (p *transcript) verdict(m marks, d earshot.Decision, about string) row {
	tone, sign, did := dim, m.no, string(d.Verdict)
	switch d.Verdict {
	case earshot.Speak:
		tone, sign, did = good, m.yes, "answers"
	case earshot.Silent:
		tone, did = wary, "kept silent"
	case earshot.Wait:
		tone, sign, did = wary, m.wait, "waits"
	case earshot.Note:
		tone, sign, did = dim, m.yes, "noted it, and said nothing"
	}
	r := row{{tone, sign + " "}}
	if about != "" {
		r = append(r, span{dim, about})
	}
	r = append(r, p.called1(m, d.Agent), span{tone, " " + did})
	if len(d.Reasons) > 0 {
		r = append(r, span{dim, ": " + m.safe(strings.Join(d.Reasons, "; "))})
	}
	return r
}

// aside describes an entry that is neither said nor answered.
func (p *transcript) aside(m marks, e earshot.Event) row {
	who := p.called1(m, e.Author)
	if e.Author == "" {
		who = span{dim, "somebody"}
		if e.From.Provider != "" {
			who.text = "somebody (" + m.safe(e.From.Provider) + ")"
		}
	}
	does := func(t tone, text string) row {
		r := row{who}
		if e.Visibility.Scope == earshot.Private {
			r = append(r, span{secret, " [private]"})
		}
		return append(r, span{t, " " + m.safe(text)})
	}
	switch b := e.Body.(type) {
	case earshot.Presence:
		text := "has left"
		if b.Here {
			text = "has come in"
		}
		if b.Times > 0 {
			text += fmt.Sprintf(" (came and went %d times meanwhile)", b.Times)
		}
		return does(dim, text)
	case earshot.ModeChange:
		return append(does(wary, "made the room "+strings.TrimSuffix(b.Tells(), " from now on")), span{dim, ": " + m.safe(b.Mode.Means())})
	case earshot.Snooze:
		return append(row{{wary, m.safe(b.Means())}, {dim, ", by "}}, who)
	case earshot.Memo:
		return append(does(dim, "wants to be kept in mind: "), span{plain, m.safe(string(b.Text))})
	case earshot.Use:
		return p.use(m, does, b)
	case earshot.Reminder:
		text := string(b.Deed(e.At, p.names(m, e.To)))
		if text == "" {
			text = "reminds " + p.names(m, e.To) + " now: " + string(b.Text)
		}
		return does(dim, text)
	case earshot.Schedule:
		return does(dim, cmp.Or(string(b.Deed(p.names(m, e.To))), "had it done by the clock"))
	case earshot.Thought:
		return p.thought(m, does, b)
	case earshot.Finding:
		r := append(does(strong, "found: "), span{plain, m.safe(string(b.Text))}, span{dim, " [" + percent(b.Confidence) + " sure"})
		if b.Worth {
			r = append(r, span{dim, ", worth saying"})
		}
		return append(r, span{dim, "]"})
	case earshot.Edit:
		text := string(b.Deed())
		if text == "" || e.Author == "" {
			who = span{dim, "noticed"}
			text = b.Field + ": " + brief(string(b.Text))
		}
		return does(dim, text)
	case earshot.Sight:
		return row{{person, m.name(earshot.CameraCalled(b.Camera))}, {dim, ": " + m.safe(string(b.Words()))}}
	case earshot.ErasureRecord:
		return row{{dim, "(" + m.safe(string(b.Words())) + ")"}}
	case earshot.Agent:
		return append(row{p.called1(m, b.ID), {dim, " " + b.Fate() + " (by "}}, who, span{dim, ")"})
	case earshot.Notice:
		tone, sign := bad, m.no
		if b.Over {
			tone, sign = good, m.yes
		} else if b.Key == "" {
			tone, sign = dim, m.dot
		}
		r := row{{tone, sign + " " + m.safe(b.Text)}}
		if b.Cure != "" {
			r = append(r, span{dim, " " + m.to + " " + m.safe(b.Cure)})
		}
		return r
	case earshot.Task:
		return append(does(dim, "task "+string(b.Act)+": "), span{plain, m.safe(string(b.Text))})
	case earshot.Step:
		return append(does(dim, "step, "+string(b.Act)+": "), span{plain, m.safe(strings.TrimSpace(b.Tool + " " + string(b.Arguments) + " " + string(b.Text)))})
	case earshot.Withdrawal:
		if b.Took(e.From) == earshot.KindFact {
			return does(dim, "had something forgotten; nothing of it is kept")
		}
		return does(dim, "took a message back; nothing of it is kept")
	}
	return does(dim, "("+string(e.Body.Kind())+")")
}

// use describes a tool call and its result.
func (p *transcript) use(m marks, does func(tone, string) row, b earshot.Use) row {
	text := string(b.Deed())
	tone := dim
	switch {
	case b.Refused || b.Failed:
		tone = bad
	case b.Stopped:
		text = "was stopped while it used " + b.Tool
	case text == "":
		text = "used " + b.Tool
	}
	if b.Took >= 10*time.Millisecond {
		text += " (" + brieflyFor(b.Took) + ")"
	}
	return does(tone, text)
}

// thought describes one segment of a thought.
func (p *transcript) thought(m marks, does func(tone, string) row, b earshot.Thought) row {
	what := "thought"
	switch {
	case b.Outcome == earshot.Asked:
		what = "was asked to think"
	case b.Of != "":
		what = "thought on"
	}
	if b.Question != "" {
		what += " about " + string('“') + brief(string(b.Question)) + "”"
	}
	if b.Of == "" { // else the question is the same as before
		what += " (" + because(b.Cause) + ")"
	}
	r := does(dim, what)
	switch {
	case b.Dropped:
		r = append(r, span{wary, ", and gave it up"})
	case b.Cut != nil:
		r = append(r, span{wary, ", and gave way to " + m.name(p.name(b.Cut.By))})
	case b.Outcome == earshot.Failed:
		r = append(r, span{bad, ", and failed"})
	}
	if text := strings.Join(strings.Fields(string(b.Text)), " "); text != "" {
		r = append(r, span{dim, ": " + m.cut(m.safe(text), 160)})
	}
	return r
}

// causes says what caused an agent to think.
var causes = map[earshot.Cause]string{
	earshot.ByNovelty:    "something new happened",
	earshot.ByCheckIn:    "it had planned to look again about now",
	earshot.ByTrigger:    "a message asked for thought",
	earshot.ByCommand:    "somebody gave the command",
	earshot.ByDelegation: "the reply was not sure enough",
}

// because says what caused an agent to think, also where that is new.
func because(c earshot.Cause) string { return cmp.Or(causes[c], string(c)) }

// names returns the names of some participants.
func (p *transcript) names(m marks, ids []earshot.ParticipantID) string {
	var all []string
	for k, id := range ids {
		if k == 6 {
			all = append(all, fmt.Sprintf("%d more", len(ids)-k))
			break
		}
		all = append(all, m.name(p.name(id)))
	}
	return strings.Join(all, ", ")
}

// brief returns text in one row, not too long.
func brief(text string) string {
	return unicodeMarks.cut(strings.Join(strings.Fields(text), " "), 200)
}

// percent formats a certainty as a whole percentage.
func percent(share float64) string {
	return fmt.Sprintf("%d%%", int(math.Round(100*min(max(share, 0), 1))))
}

// brieflyFor formats how long something took.
func brieflyFor(d time.Duration) string {
	switch {
	case d < 0:
		return "0 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
