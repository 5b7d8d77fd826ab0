// Package scene is the side context of a room: what is going on around the
// conversation, in the seven fields of seed 003.
//
// It is pulled, not broadcast. Whoever writes never waits. A reader asks for
// what he may see, [Scene.For], or keeps his own place in the log of changes,
// [Scene.Since]; one that fell behind is told how much it missed. Every field
// is bounded in entries and bytes, the oldest entry goes first, and every entry
// has a source and an age.
package scene

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/conversation"
)

// A Field names one part of the scene.
type Field string

// The fields.
const (
	Environment Field = "current_environment"
	Audio       Field = "recent_audio" // what was said or written of late
	Visual      Field = "recent_visual"
	User        Field = "user_state"
	Agent       Field = "agent_state"
	Notes       Field = "notes"
	Reasoning   Field = "reasoning_buffer"
)

// bound is how much a field keeps, and of one entry. A state is one entry: the new
// replaces the old, and for people and agents each one's own. The bytes of all
// fields together, of the agents' states that of one, are about a quarter of the
// smallest context that models at home are run with, 4,096 tokens.
type bound struct{ entries, bytes, each int }

var bounds = map[Field]bound{
	Environment: {1, 512, 512},
	Audio:       {16, 1024, 1024},
	Visual:      {8, 512, 512},
	User:        {16, 512, 512},
	Agent:       {16, 16 * 768, 768},
	Notes:       {16, 1024, 1024},
	Reasoning:   {8, 1024, 1024},
}

// Fields returns the fields in the order in which a prompt shows them.
func Fields() []Field {
	return []Field{Environment, Audio, Visual, User, Agent, Notes, Reasoning}
}

// An Item is one entry of a field.
type Item struct {
	ID         string // names it among those of its field; see Put
	Field      Field
	Of         earshot.ParticipantID // whose state it is, of which there is one; else empty
	Source     string                // the provider, or the part of the house, that wrote it
	Event      earshot.EventID
	At         time.Time // when it was true
	Text       earshot.Text
	Visibility earshot.Visibility

	// Of a finding: how sure it is, 0 to 1, when it is stale, and whether a reply
	// has rested on it.
	Confidence float64
	Until      time.Time
	Used       bool
}

// keepLog is how many changes a reader may fall behind without missing any:
// minutes of a lively room.
const keepLog = 256

// A Scene is the side context of one room. It may be used from many
// goroutines; its zero value is empty.
type Scene struct {
	mu     sync.Mutex
	fields map[Field][]Item
	log    []Item
	next   int64 // position of the next change
	grown  chan struct{}
}

// Put adds an entry. One without an ID is called what it is the state of, or by its
// event, or else by its field. One that is longer than an entry of its field may be is cut at
// a rune's edge. A field that does not exist is a mistake of the caller.
func (s *Scene) Put(i Item) {
	b, ok := bounds[i.Field]
	if !ok {
		panic("scene: no field " + string(i.Field))
	}
	i.ID = cmp.Or(i.ID, string(i.Of), string(i.Event), string(i.Field))
	i.Text = earshot.Text(strings.ToValidUTF8(string(i.Text[:min(len(i.Text), b.each)]), ""))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fields == nil {
		s.fields = make(map[Field][]Item)
	}
	items := s.fields[i.Field]
	if i.Of != "" {
		items = slices.DeleteFunc(items, func(had Item) bool { return had.Of == i.Of })
	}
	s.fields[i.Field] = trim(append(items, i), b)
	s.log = append(s.log, i)
	if len(s.log) > keepLog {
		s.log = slices.Delete(s.log, 0, len(s.log)-keepLog)
	}
	s.next++
	if s.grown != nil {
		close(s.grown)
		s.grown = nil
	}
}

// trim drops the oldest entries until the field is within its bound.
func trim(items []Item, b bound) []Item {
	n := 0
	for k := len(items) - 1; k >= 0; k-- {
		n += len(items[k].Text)
		if n > b.bytes || len(items)-k > b.entries {
			return slices.Delete(items, 0, k+1)
		}
	}
	return items
}

// Forget drops everything that came from one of the events.
func (s *Scene) Forget(events ...earshot.EventID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := func(i Item) bool { return i.Event != "" && slices.Contains(events, i.Event) }
	for f, items := range s.fields {
		s.fields[f] = slices.DeleteFunc(items, gone)
	}
	for k := range s.log {
		if gone(s.log[k]) {
			s.log[k].Text = "" // the positions stay
		}
	}
}

// A View is the scene as somebody may see it.
type View struct {
	scene *Scene
	to    earshot.Audience
	by    earshot.ParticipantID // see As
}

// For returns the scene as every member of a may see it.
func (s *Scene) For(a earshot.Audience) View { return View{scene: s, to: a} }

// As returns the view as an agent reads it in its prompt: of the states of agents
// its own alone.
func (v View) As(agent earshot.ParticipantID) View {
	v.by = agent
	return v
}

// shows reports whether i is to be seen in the view.
func (v View) shows(i Item) bool {
	return i.Visibility.Allows(v.to) && (v.by == "" || i.Field != Agent || i.Of == v.by)
}

// Items returns the entries of f, the oldest first.
func (v View) Items(f Field) []Item {
	v.scene.mu.Lock()
	defer v.scene.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(v.scene.fields[f]), func(i Item) bool { return !v.shows(i) })
}

// Since returns the changes from position pos on, the position to ask from
// next, and a channel that is closed when there is more. Missed counts the
// changes from pos on that are no longer kept.
func (v View) Since(pos int64) (items []Item, next, missed int64, more <-chan struct{}) {
	s := v.scene
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.grown == nil {
		s.grown = make(chan struct{})
	}
	first := s.next - int64(len(s.log))
	missed = max(0, first-pos)
	from := min(max(0, pos-first), int64(len(s.log)))
	for _, i := range s.log[from:] {
		if v.shows(i) && i.Text != "" {
			items = append(items, i)
		}
	}
	return items, s.next, missed, s.grown
}

// Recent returns the entries of all fields as a prompt shows them at now: of
// what was heard and seen, only what is younger than window.
func (v View) Recent(now time.Time, window time.Duration) (items []Item) {
	for _, f := range Fields() {
		for _, i := range v.Items(f) {
			if (f == Audio || f == Visual) && now.Sub(i.At) > window {
				continue
			}
			items = append(items, i)
		}
	}
	return items
}

// Prompt returns items as a model reads them at now: a line an entry, with its
// age, so that what is stale is said to be.
func Prompt(items []Item, now time.Time) string {
	var b strings.Builder
	for _, i := range items {
		fmt.Fprintf(&b, "%s (%s): %s\n", i.Field, Age(now.Sub(i.At)), conversation.Defuse(strings.Join(strings.Fields(string(i.Text)), " ")))
	}
	return b.String()
}

// Age returns how long ago something was, as one would say it.
func Age(d time.Duration) string {
	switch {
	case d < 5*time.Second:
		return "now"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s ago", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}
