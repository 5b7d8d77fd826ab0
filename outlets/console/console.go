// Package console is the outlet that prints replies on a terminal as they come, and the board that
// shows everything else. It is the same in the daemon and in a client that is attached to it.
//
// A reply waits for the terminal, and so does its speaker; a cut waits for nothing. What was heard
// is what the terminal has accepted: a write has returned.
package console

import (
	"context"
	"sync/atomic"

	"earshot"
	"earshot/internal/terminal"
)

// Config describes the outlet. The zero value lacks a name.
type Config struct {
	Outlet string // its name, which is the Via of the provider beside it

	// Name returns the name of a participant. If nil, their ID is used.
	Name func(earshot.ParticipantID) string

	// Reader is the first reader here. Later it is whoever writes here, since the person may turn
	// out to be somebody else.
	Reader earshot.ParticipantID
}

// A Console is the outlet on one terminal.
type Console struct {
	cfg   Config
	term  *terminal.Terminal
	last  lastSpeech
	asked recent[question]
	works recent[agentRequest] // of the live turn

	reader  atomic.Value // of earshot.ParticipantID
	silence atomic.Value // the last text that said that an agent stays silent
}

// New returns the outlet on t, which still belongs to the caller.
func New(cfg Config, t *terminal.Terminal) *Console {
	if cfg.Name == nil {
		cfg.Name = func(id earshot.ParticipantID) string { return string(id) }
	}
	c := &Console{cfg: cfg, term: t}
	c.reader.Store(cfg.Reader)
	return c
}

// Name implements [earshot.Outlet].
func (c *Console) Name() string { return c.cfg.Outlet }

// Reader returns the reader here, as far as known.
func (c *Console) Reader() earshot.ParticipantID {
	id, _ := c.reader.Load().(earshot.ParticipantID)
	return id
}

// Flows implements [earshot.Flowing].
func (c *Console) Flows() bool { return true }

// Open implements [earshot.Outlet]. It cuts a speech that is still going on, and waits for its
// end.
func (c *Console) Open(ctx context.Context, o earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	s := &speech{term: c.term, heard: heard, changed: make(chan struct{}), over: make(chan struct{})}
	err := c.last.replace(ctx, s, func() {
		whom := c.answers(o)
		if whom != "" && !c.term.Piped() { // shown there
			s.whom = c.cfg.Name(o.To)
		}
		c.term.Begin(o.Name + whom)
		s.endWith(ctx)
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// answers says whom a reply answers, if the reader cannot see that: the reader is somebody else,
// or nobody else may see the reply.
func (c *Console) answers(o earshot.Opening) string {
	if o.Private {
		return " (private) → " + c.name(o.To)
	}
	if q, ok := c.question(o.About); o.To == "" || c.reads(o.To) || ok && q.waits {
		return ""
	}
	return " → " + c.cfg.Name(o.To)
}

// remembered is how many questions are kept for an answer that refers to them: a room answers one
// at a time, and the others that wait are given up.
const remembered = 64

// A question is a line, by anybody, that a reply may answer.
type question struct {
	id    earshot.EventID
	to    []earshot.ParticipantID
	waits bool // somebody here waits for the answer
}

// asks remembers e as a question.
func (c *Console) asks(e earshot.Event, waits bool) {
	c.asked.add(question{e.ID, e.To, waits}, remembered)
}

// question returns the question with an ID.
func (c *Console) question(id earshot.EventID) (question, bool) {
	return c.asked.find(func(q question) bool { return q.id == id && id != "" })
}
