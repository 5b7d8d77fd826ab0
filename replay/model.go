package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/executive/tool"
	"earshot/llm"
)

// A model says what the one said that was asked then.
type model struct{ house *simulation }

// unanswered is what it says to what nobody asked then.
const unanswered = "There is no answer to that on record."

var errNone = &llm.Error{Fault: llm.Unsupported, Engine: "record", Err: errors.New("that was not asked")}

// Stream implements [llm.Service].
func (m *model) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		var err error
		switch from := req.Origin; {
		case from.Thought != "" && req.Schema != nil:
			err = m.findings(ctx, from, yield)
		case from.Thought != "":
			err = m.thinks(ctx, from, yield)
		case from.Turn != "":
			err = m.replies(ctx, from, yield)
		default:
			err = errNone
		}
		switch {
		case err == errLeft:
		case err != nil:
			yield(llm.Delta{}, err)
		default:
			yield(llm.Delta{Done: &llm.Done{}}, nil)
		}
	}
}

// errLeft says that nobody listens any more.
var errLeft = errors.New("nobody listens any more")

// say yields text as it is written: a word at a time, evenly until an end. If pace is not 0
// it was cut there: the words came at that pace, if there was time for it.
func say(ctx context.Context, text string, end time.Time, pace time.Duration, yield func(llm.Delta, error) bool) error {
	all := words(text)
	n, began := time.Duration(len(all)), time.Now()
	each := end.Sub(began) / max(n, 1)
	switch {
	case pace == 0:
	case pace*n <= end.Sub(began)*21/20:
		each = min(each, pace)
	default:
		each = 2 * end.Sub(began) / (2*n + 1)
	}
	for i, word := range all {
		if err := pass(ctx, began.Add(each*time.Duration(i+1))); err != nil {
			return err
		}
		if !yield(llm.Delta{Text: word}, nil) {
			return errLeft
		}
	}
	return nil
}

// words returns those of text, each with the space before it.
func words(text string) (all []string) {
	for text != "" {
		n := len(text)
		if i := strings.IndexByte(text[1:], ' '); i >= 0 {
			n = i + 1
		}
		all, text = append(all, text[:n]), text[n:]
	}
	return all
}

// turnOf returns the turn on record of which a reply is asked for, which may be none. What
// has no turn on record by its decision answers what another answered.
func (h *simulation) turnOf(from llm.Origin) string {
	turn := h.names.recorded(from.Turn)
	h.record.mu.Lock()
	defer h.record.mu.Unlock()
	if h.record.turns[turn] == nil && !h.record.taken[from.Turn] {
		for _, other := range h.record.answers[key(h.names.recorded(from.About), from.Agent)] {
			if !h.record.taken[other] {
				h.names.match(from.Turn, other)
				turn = other
				break
			}
		}
	}
	h.record.taken[turn], h.record.taken[from.Turn] = true, true
	return turn
}

// replies answers as was answered then: first it calls what was called.
func (m *model) replies(ctx context.Context, from llm.Origin, yield func(llm.Delta, error) bool) error {
	h := m.house
	turn := h.turnOf(from)
	k := key(turn, from.Agent)
	n, uses := h.record.next("reply "+k), h.record.uses[k]
	if n < len(uses) {
		return m.calls(ctx, uses[n], yield)
	}
	p := h.record.turns[turn]
	if list := h.record.between[k]; len(list) > 0 && (p == nil || string(p.event.Author) != from.Agent) {
		told := list[min(h.record.next("between "+k), len(list)-1)].event
		return say(ctx, string(told.Body.(earshot.Message).Text), told.At, 0, yield)
	}
	if p == nil {
		return say(ctx, unanswered, time.Now(), 0, yield)
	}
	p.live.Store(true)
	defer p.live.Store(false)
	r := p.event.Body.(earshot.Reply)
	pace := time.Duration(0)
	if r.Cut != nil {
		pace = h.record.pace
	}
	if err := say(ctx, h.written(p.event, r), p.at, pace, yield); err != nil {
		return err
	}
	err := p.await(ctx, r.Outcome)
	if err == nil && r.Truncated {
		yield(llm.Delta{Done: &llm.Done{Truncated: true}}, nil)
		return errLeft
	}
	return err
}

// await returns when what is on record ends, as it ended.
func (p *recordedSpeech) await(ctx context.Context, outcome earshot.Outcome) error {
	select {
	case <-p.over:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if outcome == earshot.Failed {
		return &llm.Error{Fault: llm.Broken, Engine: "record", Err: errors.New("it failed then")}
	}
	return nil
}

// calls calls what was called, when it was.
func (m *model) calls(ctx context.Context, s step, yield func(llm.Delta, error) bool) error {
	u := s.event.Body.(earshot.Use)
	if err := pass(ctx, s.event.At.Add(-u.Took)); err != nil {
		return err
	}
	c := &llm.Call{ID: string(s.event.ID), Tool: u.Tool}
	if json.Valid([]byte(u.Arguments)) {
		c.Arguments = json.RawMessage(u.Arguments)
	}
	if !yield(llm.Delta{Call: c}, nil) {
		return errLeft
	}
	return nil
}

// written returns what the model wrote of a reply, with what it said to the house: that it
// leaves the floor to a person, or whom it calls besides.
func (h *simulation) written(e earshot.Event, r earshot.Reply) string {
	const pass = "<world>pass</world>"
	switch {
	case r.Handover != nil && r.Handover.Why == earshot.Passed:
		return pass
	case h.record.passing[string(e.ID)]:
		return string(r.Offered) + pass
	}
	text := h.uncalled(e, string(r.Offered), r.About)
	for _, id := range h.record.called[string(e.ID)] {
		if name := h.people.Name(id); !strings.Contains(text, name) {
			text += "<world>TO: " + name + "</world>"
		}
	}
	return text
}

// uncalled returns the words of a reply without the call of the agent that it answers,
// which the house puts before them.
func (h *simulation) uncalled(e earshot.Event, text string, about earshot.EventID) string {
	asks, _ := h.journal.find(e.Room, h.names.event(about))
	for _, a := range h.book.in(e.Room) {
		if a.ID == e.Author && !a.AutoReply {
			return text
		}
	}
	for _, a := range h.book.in(e.Room) {
		if rest, is := strings.CutPrefix(text, "@"+a.Name+", "); is && a.ID == asks.Author {
			return rest
		}
	}
	return text
}

// lull is how long a model waits for who cuts in at the moment at which it is asked.
const lull = time.Millisecond

// thinks thinks what was thought then.
func (m *model) thinks(ctx context.Context, from llm.Origin, yield func(llm.Delta, error) bool) error {
	c := m.house.thought(from)
	if c == nil || c.handed >= len(c.parts) {
		return nil // of nothing comes nothing
	}
	p := c.parts[c.handed]
	b := p.event.Body.(earshot.Thought)
	if err := pass(ctx, p.event.At.Add(min(lull, b.Took/2))); err != nil {
		return err // this was another, which gave way before a word: of that nothing is on record
	}
	c.handed++
	p.live.Store(true)
	defer p.live.Store(false)
	if b.Text != "" && !yield(llm.Delta{Text: string(b.Text)}, nil) {
		return errLeft
	}
	return p.await(ctx, b.Outcome)
}

// thought returns the thought on record that one of now is, nil if it is none.
func (h *simulation) thought(from llm.Origin) *recordedThought {
	r := h.record
	r.mu.Lock()
	defer r.mu.Unlock()
	id, about := h.names.recorded(from.Thought), h.names.recorded(from.About)
	for _, c := range r.thoughts {
		if c.id == id {
			c.taken = true
			return c
		}
	}
	for _, c := range r.thoughts {
		if !c.taken && string(c.first.Cause) == from.Cause && string(c.first.About) == about {
			c.taken = true
			h.names.match(from.Thought, c.id)
			return c
		}
	}
	return nil
}

// findings finds what was found then.
func (m *model) findings(ctx context.Context, from llm.Origin, yield func(llm.Delta, error) bool) error {
	type found struct {
		Text       string   `json:"text"`
		Evidence   []string `json:"evidence"`
		Confidence float64  `json:"confidence"`
		Minutes    float64  `json:"minutes"`
		Worth      bool     `json:"worth_saying"`
	}
	all := []found{}
	h := m.house
	if c := h.thought(from); c != nil {
		list := h.record.found[h.last(c)]
		if until := c.goesOn(); len(list) == 0 && !until.IsZero() { // or was over, before anything was found
			if err := pass(ctx, until.Add(lull)); err != nil {
				return err
			}
		}
		for _, s := range list {
			f := s.event.Body.(earshot.Finding)
			is := found{Text: string(f.Text), Evidence: []string{}, Confidence: f.Confidence, Minutes: f.Until.Sub(s.event.At).Minutes(), Worth: f.Worth}
			for i, id := range from.Evidence {
				if slices.Contains(s.event.Sources, earshot.EventID(h.names.recorded(id))) && len(is.Evidence) < 8 {
					is.Evidence = append(is.Evidence, fmt.Sprintf("e%d", i+1))
				}
			}
			all = append(all, is)
			if err := pass(ctx, s.event.At); err != nil {
				return err
			}
		}
	}
	text, err := json.Marshal(map[string]any{"findings": all})
	if err != nil {
		return err
	}
	if !yield(llm.Delta{Text: string(text)}, nil) {
		return errLeft
	}
	return nil
}

// goesOn returns when more came of a thought than has by now, or it was dropped; the zero
// time if it did not.
func (c *recordedThought) goesOn() time.Time {
	if c.handed < len(c.parts) {
		return c.parts[c.handed].event.At
	}
	return c.dropped
}

// last returns the stretch of a thought that was thought last.
func (h *simulation) last(c *recordedThought) string {
	if c.handed == 0 {
		return c.id
	}
	return string(c.parts[c.handed-1].event.ID)
}

// tools are those that were used, and answer as they answered.
func (h *simulation) tools() (t tool.Table) {
	own := []string{"message_agent", "delegate", "ponder", "note", "remind", "edit_context"}
	var names []string
	for _, list := range h.record.uses {
		for _, s := range list {
			name := s.event.Body.(earshot.Use).Tool
			if !slices.Contains(own, name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	for _, name := range names {
		t = append(t, tool.Tool{
			Tool: llm.Tool{Name: name, Description: "As on record.", Parameters: json.RawMessage(`{"type":"object"}`)},
			Do: func(ctx context.Context, s tool.Scope, _ json.RawMessage) (tool.Answer, error) {
				return h.uses(ctx, s, name)
			},
		})
	}
	return t
}

// uses has a tool answer as it did.
func (h *simulation) uses(ctx context.Context, s tool.Scope, name string) (tool.Answer, error) {
	k := key(h.names.recorded(string(s.Turn)), string(s.Agent))
	var list []step
	for _, u := range h.record.uses[k] {
		if u.event.Body.(earshot.Use).Tool == name {
			list = append(list, u)
		}
	}
	n := h.record.next("use " + k + name)
	if n >= len(list) {
		return tool.Answer{}, errNone
	}
	u := list[n].event.Body.(earshot.Use)
	if err := pass(ctx, list[n].event.At); err != nil {
		return tool.Answer{}, err
	}
	switch {
	case u.Refused:
		return tool.Answer{}, tool.Refuse("%s", string(u.Result))
	case u.Stopped:
		<-ctx.Done()
		return tool.Answer{}, context.Cause(ctx)
	case u.Failed:
		return tool.Answer{}, errors.New(string(u.Result))
	}
	return tool.Answer{Text: u.Result, Visibility: list[n].event.Visibility}, nil
}
