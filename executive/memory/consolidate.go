package memory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/llm"
	"earshot/participants/agents"
)

const (
	retry     = time.Minute      // how long a room waits whose pass gave way or failed
	restCheck = 10 * time.Minute // how often it is looked whether there may be passes again
	mostTries = 2                // answers of a model that follow no schema; then it is not asked that again
)

// A Room is a room whose conversations are read. It is safe for concurrent use.
type Room interface {
	Still() bool // nobody talks, and nobody waits
	Mode() (earshot.Mode, <-chan struct{})

	// CheckReminder says why a reminder cannot be set.
	CheckReminder(who earshot.ParticipantID, due time.Time, text earshot.Text) error

	// Record calls make, and puts what it returns on record: all of it, or none. Nothing changes in
	// the room in between.
	Record(ctx context.Context, make func(context.Context) ([]earshot.Event, error)) error
}

// A Consolidator fills an index while nobody talks. All fields are required.
type Consolidator struct {
	Index    *Index
	Model    llm.Service
	Settings func() executive.Config
	Rests    func() bool // today nothing more is to be thought unasked
	Room     func(earshot.RoomID) (Room, bool)
	Agents   func(earshot.RoomID) []agents.Record                       // of a room, the main one first
	Reader   func(context.Context, agents.Record) earshot.ParticipantID // the memory agent of an agent
	Name     func(earshot.ParticipantID) string
	IsPerson func(earshot.ParticipantID) bool // what agents say alone is worth no memory
	NewID    func() earshot.EventID
	Now      func() time.Time
	Log      *slog.Logger

	// Unread returns the oldest events of each conversation of a room that were not read yet, from
	// since on and at most n of each, in their order; see [Unread].
	Unread func(ctx context.Context, room earshot.RoomID, since time.Time, n int) ([][]earshot.EventID, error)

	// Find returns those of some events that everybody in an audience may see, in their order.
	Find func(ctx context.Context, a earshot.Audience, ids []earshot.EventID) ([]earshot.Event, error)

	tries map[earshot.EventID]int // by the last event of what was to be read
}

// Run reads what is new in rooms that have been quiet, until ctx ends.
func (k *Consolidator) Run(ctx context.Context) {
	k.tries = make(map[earshot.EventID]int)
	for ctx.Err() == nil {
		set := k.Settings()
		wait := restCheck
		if set.Enabled && set.Memory.Enabled && !k.Rests() {
			if room, since := k.Index.due(); !since.IsZero() {
				if wait = since.Add(set.Memory.Quiet.Duration()).Sub(k.Now()); wait <= 0 {
					k.visit(ctx, set, room, since)
					continue
				}
			}
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-k.Index.news:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// visit makes one pass in a room, and notes when to come again.
func (k *Consolidator) visit(ctx context.Context, set executive.Config, id earshot.RoomID, since time.Time) {
	again := k.Now().Add(retry - set.Memory.Quiet.Duration())
	room, open := k.Room(id)
	if !open {
		k.Index.settle(id, since, time.Time{}) // until something is said there again
		return
	}
	if mode, _ := room.Mode(); mode.Answers() && room.Still() {
		switch more, err := k.pass(ctx, set, room, id); {
		case err != nil:
			k.Log.Debug("what was said is not remembered yet", "room", id, "err", llm.Unquoted(err))
		case more:
			return // at once
		default:
			again = time.Time{}
		}
	}
	k.Index.settle(id, since, again)
}

// pass reads one stretch of one conversation of a room. It reports whether there was one.
func (k *Consolidator) pass(ctx context.Context, set executive.Config, room Room, id earshot.RoomID) (more bool, err error) {
	circles, err := k.Unread(ctx, id, k.Now().Add(-oldest), mostRead)
	if err != nil {
		return false, err
	}
	for _, ids := range circles {
		for _, a := range k.Agents(id) {
			audience := earshot.Audience{Room: id}.With(a.ID)
			events, err := k.Find(ctx, audience, ids)
			if err != nil {
				return false, err
			}
			if len(events) == len(ids) && slices.ContainsFunc(events, func(e earshot.Event) bool { return Words(e) != "" && k.IsPerson(e.Author) }) {
				return true, k.read(ctx, set, room, a, newPassage(events, k.Name))
			}
		}
	}
	for _, parts := range k.Index.unmerged(id, mostRead) {
		for _, a := range k.Agents(id) {
			if parts[0].Visibility.Allows(earshot.Audience{Room: id}.With(a.ID)) && k.tries[parts[len(parts)-1].ID] < mostTries {
				return true, k.read(ctx, set, room, a, newPassage(parts, k.Name))
			}
		}
	}
	return false, nil
}

// read has a model read something for an agent, and keeps what it finds.
func (k *Consolidator) read(ctx context.Context, set executive.Config, room Room, a agents.Record, r passage) error {
	began := k.Now()
	by := k.Reader(ctx, a)
	m, err := k.find(ctx, set, by, r)
	if errors.Is(err, errAnswer) {
		last := r.events[len(r.events)-1].ID
		if k.tries[last]++; r.whole || k.tries[last] < mostTries {
			return err
		}
		m, err = extraction{}, nil // and it counts as read
	}
	if err != nil {
		return err
	}
	err = room.Record(ctx, func(ctx context.Context) ([]earshot.Event, error) {
		if mode, _ := room.Mode(); !mode.Answers() || !k.Settings().Memory.Enabled {
			return nil, errors.New("it may no longer be written down")
		}
		if err := k.unchanged(ctx, a, r); err != nil {
			return nil, err
		}
		base := earshot.Event{At: k.Now(), Room: r.events[0].Room, Author: a.ID, Visibility: r.visibility()}
		return m.events(r, base, k.NewID, room.CheckReminder), nil
	})
	if err != nil {
		return err
	}
	k.Log.Info("something is remembered", "room", r.events[0].Room, "read", len(r.events), "facts", len(m.facts), "latency", k.Now().Sub(began))
	return nil
}

// unchanged returns an error if what was read has been erased or revised since.
func (k *Consolidator) unchanged(ctx context.Context, a agents.Record, r passage) error {
	now, err := k.Find(ctx, earshot.Audience{Room: r.events[0].Room}.With(a.ID), identifiers(r.events))
	if err != nil {
		return err
	}
	if !slices.EqualFunc(now, r.events, func(a, b earshot.Event) bool { return a.ID == b.ID && Words(a) == Words(b) }) {
		return errors.New("what was read has changed since")
	}
	return nil
}

// find asks the model what is worth remembering, and what that contradicts.
func (k *Consolidator) find(ctx context.Context, set executive.Config, by earshot.ParticipantID, r passage) (m extraction, err error) {
	answer, err := k.ask(ctx, set, by, r.prompt(), r.schema())
	if err != nil {
		return m, err
	}
	if m, err = r.parse([]byte(answer)); err != nil {
		return m, err
	}
	var old []Entry
	v, newest := r.visibility(), r.events[len(r.events)-1].At
	m.facts = slices.DeleteFunc(m.facts, func(f candidate) bool {
		similar, same := k.Index.similar(r.events[0].Room, v, f.Fact, k.Now())
		for _, s := range similar { // what is read again contradicts nothing that was said later
			if !s.Since.After(newest) && !slices.ContainsFunc(old, func(had Entry) bool { return had.Event.ID == s.Event.ID }) {
				old = append(old, s)
			}
		}
		return same
	})
	if len(old)*len(m.facts) == 0 {
		return m, nil
	}
	messages, schema := comparison(m.facts, old)
	if answer, err = k.ask(ctx, set, by, messages, schema); err != nil {
		return m, err
	}
	if err := replace(m.facts, old, []byte(answer)); err != nil {
		k.Log.Debug("it is not known what new facts contradict", "room", r.events[0].Room, "err", llm.Unquoted(err))
	}
	return m, nil
}

// answerTokens is where a longer answer is broken off: more than the longest valid one has.
const answerTokens = 2048

// ask asks the model of the role for an answer that follows a schema.
func (k *Consolidator) ask(ctx context.Context, set executive.Config, by earshot.ParticipantID, messages []llm.Message, schema []byte) (string, error) {
	engine, model := set.LLM.For("memory", "", "")
	var text strings.Builder
	for d, err := range k.Model.Stream(ctx, &llm.Request{
		Engine: engine, Model: model, Messages: messages, Schema: schema, MaxTokens: answerTokens, Priority: llm.Memory,
		Origin: llm.Origin{Agent: string(by), Unasked: true},
	}) {
		if err != nil {
			return "", fmt.Errorf("asking what to remember: %w", err)
		}
		if text.WriteString(d.Text); text.Len() > mostAnswer {
			return "", errAnswer
		}
	}
	return text.String(), nil
}
