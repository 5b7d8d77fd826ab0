package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"earshot"
	"earshot/internal/field"
)

// Retention is how many days events are kept, by kind; 0 means for ever. What was made from an
// event is erased with the event, even if its own kind is kept for longer. Events that say who
// exists and what a room is like are always kept.
type Retention struct {
	// Overheard is how many hours overheard speech is kept, which is what was said aloud and meant
	// for no agent; see [Store.Lapse].
	Overheard int `yaml:"overheard_hours"`

	Message   int `yaml:"message"`
	Utterance int `yaml:"utterance"`
	Reply     int `yaml:"reply"`
	Decision  int `yaml:"decision"`
	Use       int `yaml:"use"`
	Thought   int `yaml:"thought"`
	Finding   int `yaml:"finding"`
	Memo      int `yaml:"memo"`
	Edit      int `yaml:"edit"`
	Reminder  int `yaml:"reminder"`
	Sight     int `yaml:"sight"`
	Presence  int `yaml:"presence"`
	Notice    int `yaml:"notice"`
}

// kinds returns how many days each kind is kept, in the order of the file.
func (r Retention) kinds() []struct {
	kind earshot.Kind
	days int
} {
	return []struct {
		kind earshot.Kind
		days int
	}{
		{earshot.KindMessage, r.Message}, {earshot.KindUtterance, r.Utterance}, {earshot.KindReply, r.Reply}, {earshot.KindDecision, r.Decision},
		{earshot.KindUse, r.Use}, {earshot.KindThought, r.Thought}, {earshot.KindFinding, r.Finding}, {earshot.KindMemo, r.Memo},
		{earshot.KindEdit, r.Edit}, {earshot.KindReminder, r.Reminder}, {earshot.KindSight, r.Sight}, {earshot.KindPresence, r.Presence}, {earshot.KindNotice, r.Notice},
	}
}

// mostDays is a century.
const mostDays = 36_500

// Validate reports every fault in r.
func (r Retention) Validate() error {
	var faults []error
	if r.Overheard < 0 || r.Overheard > 24*mostDays {
		faults = append(faults, field.Errorf("overheard_hours", "is %d; must be a number of hours from 1 to %d, or 0 to keep it for ever", r.Overheard, 24*mostDays))
	}
	for _, k := range r.kinds() {
		if k.days < 0 || k.days > mostDays {
			faults = append(faults, field.Errorf(string(k.kind), "is %d; must be a number of days from 1 to %d, or 0 to keep it for ever", k.days, mostDays))
		}
	}
	return errors.Join(faults...)
}

// Always reports whether everything is kept for ever.
func (r Retention) Always() bool { return r == Retention{} }

// String says in words what is kept for how long.
func (r Retention) String() string {
	if r.Always() {
		return "keeps everything until it is deleted"
	}
	var all []string
	switch {
	case r.Overheard == 1:
		all = append(all, "speech not meant for an agent for 1 hour")
	case r.Overheard > 1:
		all = append(all, fmt.Sprintf("speech not meant for an agent for %d hours", r.Overheard))
	}
	for _, k := range r.kinds() {
		switch {
		case k.days == 1:
			all = append(all, string(k.kind)+" for 1 day")
		case k.days > 1:
			all = append(all, fmt.Sprintf("%s for %d days", k.kind, k.days))
		}
	}
	return "keeps " + strings.Join(all, ", ") + ", and everything else until it is deleted"
}

const (
	// expiring is how many events of one kind and room are erased before the next are looked up.
	expiring = 256

	// easing is how many times as long as a step the eraser rests after it: there is no hurry, and
	// others need the disk.
	easing = 4
)

// Expire erases, as [Store.Forget] does, the events that are older at now than r allows. It erases
// the oldest first, and rests between its steps. n is how many events lost their content. If Expire
// was cut short, it may be called again.
func (s *Store) Expire(ctx context.Context, r Retention, now time.Time, each func([]SelectedEvent)) (n int, err error) {
	defer func() {
		if n > 0 {
			s.tidier.wake()
		}
	}()
	for _, k := range r.kinds() {
		if k.days == 0 {
			continue
		}
		before := now.AddDate(0, 0, -k.days)
		rooms, err := s.Rooms(ctx, "", mostRooms)
		if err != nil {
			return n, err
		}
		for _, room := range rooms {
			gone, err := s.expire(ctx, room, k.kind, before, each)
			n += gone
			if err != nil {
				return n, fmt.Errorf("forgetting what is old: %w", err)
			}
		}
	}
	return n, nil
}

// mostRooms is more rooms than there can be.
const mostRooms = 1 << 20

// expire erases the events of one kind and room that began before a time.
func (s *Store) expire(ctx context.Context, room earshot.RoomID, kind earshot.Kind, before time.Time, each func([]SelectedEvent)) (n int, err error) {
	for seen := int64(0); ; { // older events may follow newer ones, because they were imported or a clock was wrong
		rows, err := s.archive.db().QueryContext(ctx, "SELECT "+doomed+" FROM journal j WHERE j.room = ? AND j.kind = ? AND j.sequence > ? AND j.at < ? ORDER BY j.sequence LIMIT ?",
			room, kind, seen, before.UnixMilli(), expiring)
		all, err := dooms(rows, err)
		if err != nil {
			return n, s.archive.failed(ctx, err)
		}
		if len(all) == 0 {
			return n, nil
		}
		if all[0].Sequence <= seen {
			return n, s.archive.failed(ctx, astray(all[0].Sequence))
		}
		seen = all[len(all)-1].Sequence
		for len(all) > 0 {
			began := time.Now()
			gone, taken, err := s.forgetSome(ctx, all, gentle)
			if err != nil {
				return n, err
			}
			if n, all = n+len(gone), all[taken:]; each != nil && len(gone) > 0 {
				each(gone)
			}
			select {
			case <-time.After(easing * time.Since(began)):
			case <-ctx.Done():
				return n, context.Cause(ctx)
			}
		}
	}
}
