package remind_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"earshot"
	"earshot/executive/remind"
)

// TestRecorder: a reminder counts when it is on record, for whom it was set, and is given up by its
// number; what cannot be recorded has not happened.
func TestRecorder(t *testing.T) {
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	schedule := remind.NewSchedule(remind.Agenda{})
	full, woken, n := error(nil), 0, 0
	r := remind.Recorder{
		Schedule: schedule, Nudge: func() { woken++ }, Now: func() time.Time { return now },
		Keep: func(_ context.Context, e earshot.Event) error {
			if full == nil {
				schedule.Apply(e)
			}
			return full
		},
	}
	event := func(b earshot.Body) earshot.Event {
		n++
		return earshot.Event{ID: earshot.EventID(rune('a' + n)), At: now, Visibility: earshot.Visibility{Scope: earshot.Public}, Body: b}
	}
	milk := earshot.Reminder{Act: earshot.Created, Due: now.Add(time.Hour), Text: "milk"}
	set, err := r.Set(t.Context(), "ann", event(milk))
	if err != nil || set.Text != "milk" || set.For != "ann" || woken != 1 {
		t.Fatalf("set %+v, %v, woken %d times", set, err, woken)
	}
	here := earshot.Audience{Members: []earshot.ParticipantID{"ann"}}
	if all := r.Of("ann", here); len(all) != 1 {
		t.Fatalf("there are %v", all)
	}
	if err := r.Cancel(t.Context(), "ann", set.N+1, here, event); err == nil {
		t.Error("a reminder that does not exist was given up")
	}
	full = errors.New("the disk is full")
	if _, err := r.Set(t.Context(), "ann", event(milk)); err != full {
		t.Errorf("with a full disk: %v", err)
	}
	if err := r.Cancel(t.Context(), "ann", set.N, here, event); err != full || len(r.Of("ann", here)) != 1 {
		t.Errorf("with a full disk: %v, left are %v", err, r.Of("ann", here))
	}
	full = nil
	if err := r.Cancel(t.Context(), "ann", set.N, here, event); err != nil || len(r.Of("ann", here)) != 0 {
		t.Errorf("given up: %v, left are %v", err, r.Of("ann", here))
	}
	late := earshot.Reminder{Act: earshot.Created, Due: now.Add(-time.Hour), Text: "milk"}
	if _, err := r.Set(t.Context(), "ann", event(late)); err == nil {
		t.Error("a reminder for an hour ago was set")
	}
}
