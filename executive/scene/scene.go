// Package scene is the side context of a room: what is going on around the conversation, in seven
// fields.
//
// It is pulled, not broadcast. A writer never waits. A reader asks for what it may see: see
// [Scene.For]. Every field is bounded in entries and bytes, and every entry has a source and an age.
//
// It has two layers. The first is a function of the journal: the same events, in the same order,
// make the same entries, so it can be rebuilt and compared at any time, see [Scene.Resync]. The
// second holds observations that come in between, such as that somebody is typing; each lasts until
// the next observation of the same thing. An [earshot.Edit] belongs to the first layer, and takes
// precedence over observations: see edit.go.
package scene

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/language"
)

// A Field names one part of the scene.
type Field string

// The fields.
const (
	Environment Field = "current_environment"
	Messages    Field = earshot.MessagesField // what was recently said or written
	Visual      Field = "recent_visual"
	User        Field = "user_state"
	Agent       Field = "agent_state"
	Notes       Field = "notes"
	Reasoning   Field = "reasoning_buffer"
)

// bound is how many entries a field shows, how many bytes they may have together, and how many
// bytes one entry may have. A state is one entry: the new state replaces the old one, and each
// person and agent has one. All fields together, counting the state of one agent, take about a
// quarter of 4,096 tokens, which is the smallest context that models are run with at home.
//
// newest is how many of the entries that the journal ever made are kept, counting those that are
// gone. So the contents depend only on the end of the journal.
type bound struct{ entries, bytes, each, newest int }

var bounds = map[Field]bound{
	Environment: {4, 512, 512, 4},
	Messages:    {16, 1024, 1024, 16},
	Visual:      {8, 512, 512, 8},
	User:        {16, 512, 512, 16},
	Agent:       {16, 16 * 768, 768, 64},
	Notes:       {16, 1024, 1024, 16},
	Reasoning:   {8, 1024, 1024, 32},
}

// Fields returns the fields in the order in which a prompt shows them.
func Fields() []Field {
	return []Field{Environment, Messages, Visual, User, Agent, Notes, Reasoning}
}

// An Item is one entry of a field.
type Item struct {
	ID         string // identifies it within its field; see Put
	Field      Field
	Of         earshot.ParticipantID // the person or agent whose state it is; empty if it is no state
	Source     string                // the provider, or the part of the program, that wrote it
	Event      earshot.EventID       // the event that gave it its present form; empty for an observation
	At         time.Time             // when it was true
	Text       earshot.Text
	Visibility earshot.Visibility

	By   earshot.ParticipantID // whose words these are; may be empty
	Name string                // the name of By; a view fills it in
	Was  earshot.Text          // its text before the last change

	Aloud   bool                  // it was heard, so it may have been misheard
	Passing bool                  // it passes in a moment by itself, like somebody's typing
	Watched bool                  // a sense observes it continuously; see Unseen
	Mended  earshot.ParticipantID // who corrected it, if it is somebody's words
	Mender  string                // the name of Mended; a view fills it in

	// For a finding: how sure it is, 0 to 1, when it becomes stale, and whether a reply has relied
	// on it.
	Confidence float64
	Until      time.Time
	Used       bool
}

// A Scene is the side context of one room. It is safe for concurrent use; its zero value is empty.
type Scene struct {
	// Name returns the name of somebody. If nil, their ID is the name.
	Name func(earshot.ParticipantID) string

	// Moved, if set, is called on each change, with the scene locked. It must return at once and
	// must not use the scene.
	Moved func()

	mu         sync.Mutex
	made       map[Field]*layer // the first layer
	seen       map[Field][]observation
	edits      []Version // the newest ones, oldest first
	taken      int64     // events of the journal, counted by Took
	last       int64     // the sequence of the newest of them
	outOfOrder bool      // the events did not come in order
}

// A layer is the part of one field that the journal has made.
type layer struct {
	entries []entry // oldest first
	count   int64   // entries that ever came in
}

// An entry is an item of the first layer, with its history.
type entry struct {
	Item
	nth    int64 // its number among the entries that the journal ever made
	gone   bool  // somebody has removed it
	before []state
	wrong  *correctedObservation // the observation that it corrects
}

// A state is an entry as it was before an edit.
type state struct {
	Item
	gone bool
}

// An observation is the latest observation under an ID.
type observation struct {
	Item
	over earshot.EventID // the edit that it overrules, because something else has become true
}

// Put adds an entry. An entry without an ID gets the ID of the person or agent whose state it is,
// or of its event, or else the name of its field. A text that is too long for its field is cut
// between runes. An unknown field is a mistake of the caller.
//
// An entry with an event is permanent; see also [Scene.Edit]. An entry without one is an
// observation, see [Scene.Observe].
func (s *Scene) Put(i Item) {
	if i.Event == "" {
		s.Observe(i)
		return
	}
	i = fitted(i)
	s.mu.Lock()
	defer s.mu.Unlock()
	if i.Field == Reasoning && (s.denied(i.Text, i.Visibility) || !s.finds(&i)) {
		return
	}
	if s.take(i) {
		s.moves()
	}
}

// finds makes room for a finding, and reports whether to add it: the field never has the same words
// twice. The newer finding replaces the older and inherits its use, unless fewer people may see the
// newer one or somebody has corrected the older.
func (s *Scene) finds(i *Item) bool {
	l := s.layer(Reasoning)
	same := func(e entry) bool {
		return e.ID != i.ID && !e.gone && !e.Stale(i.At) && language.SameWords(e.Text, i.Text)
	}
	if slices.ContainsFunc(l.entries, func(e entry) bool {
		return same(e) && e.Visibility.Reaches(i.Visibility) && (len(e.before) > 0 || e.At.After(i.At) || !i.Visibility.Reaches(e.Visibility))
	}) {
		return false
	}
	l.entries = slices.DeleteFunc(l.entries, func(e entry) bool {
		over := same(e) && len(e.before) == 0 && i.Visibility.Reaches(e.Visibility)
		i.Used = i.Used || over && e.Used && e.Visibility.Reaches(i.Visibility)
		return over
	})
	return true
}

// fitted returns i with an ID, and no longer than allowed.
func fitted(i Item) Item {
	b, ok := bounds[i.Field]
	if !ok {
		panic("scene: no field " + string(i.Field))
	}
	i.ID = cmp.Or(i.ID, string(i.Of), string(i.Event), string(i.Field))
	i.Text = earshot.Text(strings.ToValidUTF8(string(i.Text[:min(len(i.Text), b.each)]), ""))
	return i
}

// Observe takes in what a sense has noticed. The observation replaces the earlier one with the same
// ID; an equal one is no change. If somebody has corrected that same observation of the same
// source, the correction stands. If the sense now observes something else, the correction is over
// and is returned; the caller records that by an edit that ends it.
func (s *Scene) Observe(i Item) (corrected Item, over bool) {
	i = fitted(i)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := observation{Item: i}
	if e := s.find(i.Field, i.ID); e != nil && e.wrong != nil && !e.wrong.says(i) {
		corrected, over, now.over = e.Item, !s.overrules(i.Field, e.Item), e.Event
	}
	same := i.Watched && slices.ContainsFunc(s.seen[i.Field], func(had observation) bool { return had.ID == i.ID && had.Text == i.Text })
	all := slices.DeleteFunc(s.seen[i.Field], func(had observation) bool { return had.ID == i.ID })
	if s.seen == nil {
		s.seen = make(map[Field][]observation)
	}
	all = append(all, now)
	s.seen[i.Field] = slices.Delete(all, 0, max(0, len(all)-bounds[i.Field].entries))
	if e := s.find(i.Field, i.ID); !same && (e == nil || now.over != "") { // otherwise nothing else is seen than before
		s.moves()
	}
	return corrected, over
}

// Vanish removes the observation with an ID, because it no longer holds and nothing replaces it. If
// somebody had corrected it, that correction is over and is returned as by Observe.
func (s *Scene) Vanish(f Field, id string) (corrected Item, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.seen[f]) == 0 {
		return Item{}, false
	}
	if e := s.find(f, id); e != nil && e.wrong != nil && !s.overrules(f, e.Item) {
		corrected, over = e.Item, true
	}
	s.seen[f] = slices.DeleteFunc(s.seen[f], func(had observation) bool { return had.ID == id })
	s.moves()
	return corrected, over
}

// overrules reports whether a later observation has overruled i, a correction.
func (s *Scene) overrules(f Field, i Item) bool {
	return slices.ContainsFunc(s.seen[f], func(had observation) bool { return had.ID == i.ID && had.over == i.Event })
}

// take makes i an entry, unless its event has done so already. A state replaces the previous one.
func (s *Scene) take(i Item) bool {
	if had := s.find(i.Field, i.ID); had != nil && (had.Event == i.Event || i.ID == string(i.Event)) {
		return false
	}
	f := s.layer(i.Field)
	f.entries = slices.DeleteFunc(f.entries, func(had entry) bool { return had.ID == i.ID || i.Of != "" && had.Of == i.Of })
	f.count++
	f.entries = append(f.entries, entry{Item: i, nth: f.count})
	oldest := f.count - int64(bounds[i.Field].newest)
	f.entries = slices.DeleteFunc(f.entries, func(had entry) bool { return had.nth <= oldest })
	return true
}

// layer returns the first layer of f.
func (s *Scene) layer(f Field) *layer {
	if s.made == nil {
		s.made = make(map[Field]*layer)
	}
	if s.made[f] == nil {
		s.made[f] = new(layer)
	}
	return s.made[f]
}

// find returns the journal's entry with an ID, or nil.
func (s *Scene) find(f Field, id string) *entry {
	l := s.layer(f)
	if k := slices.IndexFunc(l.entries, func(e entry) bool { return e.ID == id }); k >= 0 {
		return &l.entries[k]
	}
	return nil
}

// Made returns the journal's entry with an ID, in its present form.
func (s *Scene) Made(f Field, id string) (Item, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.find(f, id)
	if e == nil || e.gone {
		return Item{}, false
	}
	return e.Item, true
}

// moves calls Moved.
func (s *Scene) moves() {
	if s.Moved != nil {
		s.Moved()
	}
}

// Forget drops everything that came from any of the events.
func (s *Scene) Forget(events ...earshot.EventID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.moves()
	all := make(map[earshot.EventID]bool, len(events))
	for _, id := range events {
		all[id] = id != ""
	}
	gone := func(i Item) bool { return all[i.Event] }
	for _, f := range s.made {
		f.entries = slices.DeleteFunc(f.entries, func(e entry) bool {
			return gone(e.Item) || slices.ContainsFunc(e.before, func(b state) bool { return gone(b.Item) })
		})
	}
	s.edits = slices.DeleteFunc(s.edits, func(v Version) bool { return all[v.Edit.ID] })
}

// ForgetPeople removes the observations of these people, and of nobody else.
func (s *Scene) ForgetPeople(people ...earshot.ParticipantID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	theirs := func(i Item) bool {
		return slices.ContainsFunc(people, func(id earshot.ParticipantID) bool {
			return i.Of == id || i.By == id || strings.HasSuffix(i.ID, ":"+string(id))
		})
	}
	for f := range s.seen {
		s.seen[f] = slices.DeleteFunc(s.seen[f], func(had observation) bool { return theirs(had.Item) })
	}
	s.moves()
}

// Reword replaces the text of a message that its author has edited. Corrections of the old text by
// others are dropped.
func (s *Scene) Reword(event earshot.EventID, text earshot.Text) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.edits = slices.DeleteFunc(s.edits, func(v Version) bool { return v.Edit.Body.(earshot.Edit).Item == string(event) })
	e := s.find(Messages, string(event))
	if e == nil {
		return
	}
	now := fitted(Item{Field: Messages, ID: e.ID, Text: text})
	e.Text, e.Was, e.Event, e.Mended, e.gone, e.before, e.wrong = now.Text, "", event, "", false, nil, nil
	s.moves()
}

// Attribute sets the author of an event, when it becomes known later.
func (s *Scene) Attribute(event earshot.EventID, to earshot.ParticipantID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.find(Messages, string(event))
	if e == nil {
		return
	}
	e.By = to
	for b := range e.before {
		e.before[b].By = to
	}
	s.moves()
}
