package erase

import (
	"context"
	"slices"
	"testing"
	"time"

	"earshot"
	"earshot/executive/tool/workspace"
	"earshot/store"
)

// A forgetter keeps what a room is to forget.
type forgetter struct{ gone []earshot.EventID }

func (f *forgetter) Forget(_ context.Context, gone []earshot.EventID, _ []earshot.ParticipantID) error {
	f.gone = append(f.gone, gone...)
	return nil
}

func (*forgetter) Forgot(earshot.EventID, int, earshot.ParticipantID) error { return nil }

// TestReviewAll: whoever may have missed what was erased has each room forget all that is erased in it, a part at a
// time.
func TestReviewAll(t *testing.T) {
	s, err := store.Open(t.Context(), store.Config{Directory: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	e := earshot.Event{At: time.Now(), Author: "ann", Visibility: earshot.Visibility{Scope: earshot.Public}, Body: earshot.Message{Text: "hello"}}
	var gone []earshot.EventID
	for _, room := range []earshot.RoomID{"here", "there"} {
		e.Room = room
		kept, err := s.Append(t.Context(), slices.Repeat([]earshot.Event{e}, maxReviewed+2)...)
		if err != nil {
			t.Fatal(err)
		}
		if room == "here" {
			for _, k := range kept[1:] {
				gone = append(gone, k.ID)
			}
		}
	}
	if _, err := s.Forget(t.Context(), store.Selection{Events: gone}, nil); err != nil {
		t.Fatal(err)
	}
	var here, there forgetter
	o := &Eraser{Store: s, Files: &workspace.Store{Dir: t.TempDir()}, Rooms: func() []Room {
		return []Room{{Room: &here, ID: "here"}, {Room: &there, ID: "there"}}
	}}
	if people, err := o.Review(t.Context(), nil); err != nil || !people {
		t.Errorf("it is reviewed: %v, %v", people, err)
	}
	if !slices.Equal(here.gone, gone) || len(there.gone) > 0 {
		t.Errorf("of %d events one room is told of %d, and the other of %d", len(gone), len(here.gone), len(there.gone))
	}
}
