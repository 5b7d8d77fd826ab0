package remind_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive/remind"
	"earshot/store"
)

// opened returns a journal with the table.
func opened(t *rapid.T, dir string) *store.Store {
	s, err := store.Open(t.Context(), store.Config{Directory: dir, Projections: []earshot.Projection{remind.Projection{}}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTheTableIsTheAgenda: over random journals a room finds in the table what it
// would have made of all that ever was, with the same numbers; also when the table
// has been made again, which knows no more of what was erased.
func TestTheTableIsTheAgenda(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		top, err := os.MkdirTemp("", "remind")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(top)
		s := opened(t, filepath.Join(top, "journal"))
		defer func() { s.Close() }()
		agendas := map[earshot.RoomID]*remind.Agenda{"desk": {}, "den": {}}
		rooms := rapid.SampledFrom([]earshot.RoomID{"desk", "den"})
		var journal []earshot.Event
		keep := func(e earshot.Event) {
			kept, err := s.Append(t.Context(), e)
			if err != nil {
				t.Fatal(err)
			}
			journal = append(journal, kept[0])
			agendas[e.Room].Apply(kept[0])
		}
		for i := range rapid.IntRange(0, 12).Draw(t, "steps") {
			room := rooms.Draw(t, "room")
			pending := agendas[room].Due(noon.Add(24*time.Hour), everybody)
			step := rapid.SampledFrom([]string{"set", "nobody's", "over", "erase", "again"}).Draw(t, "step")
			who := rapid.SampledFrom([]earshot.ParticipantID{"ann", "bob"}).Draw(t, "who")
			e := set(fmt.Sprint("r", i), who, noon.Add(time.Duration(rapid.IntRange(1, 5).Draw(t, "in"))*time.Minute))
			e.Room = room
			switch {
			case step == "set":
				keep(e)
			case step == "nobody's":
				e.To = nil
				keep(e)
			case step == "again":
				s.Close()
				s = opened(t, filepath.Join(top, "journal"))
				if rapid.Bool().Draw(t, "made again") {
					err = s.Rebuild(t.Context())
					*agendas["desk"], *agendas["den"] = remind.Agenda{}, remind.Agenda{}
					for _, e := range journal {
						agendas[e.Room].Apply(e)
					}
				}
			case len(pending) == 0:
			case step == "erase":
				id := rapid.SampledFrom(pending).Draw(t, "which").Event.ID
				_, err = s.Forget(t.Context(), store.Selection{Events: []earshot.EventID{id}}, nil)
				agendas[room].Apply(earshot.Event{ID: id, Body: earshot.Tombstone{Was: earshot.KindReminder}})
				journal = slices.DeleteFunc(journal, func(e earshot.Event) bool { return e.ID == id })
			default:
				o := over(earshot.Fired, string(rapid.SampledFrom(pending).Draw(t, "which").Event.ID))
				o.Room, o.Visibility = room, e.Visibility
				keep(o)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for room, want := range agendas {
			compare(t, s, room, want)
		}
	})
}

// compare reads a room's part of the table.
func compare(t *rapid.T, s *store.Store, room earshot.RoomID, want *remind.Agenda) {
	err := s.Look(t.Context(), func(v earshot.View) error {
		waits, err := remind.Rooms(t.Context(), v)
		if any := want.Next(due); slices.Contains(waits, room) == any.IsZero() || err != nil {
			t.Fatalf("something waits in %v, %v", waits, err)
		}
		got, err := remind.Read(t.Context(), v, room)
		is, was := got.Due(noon.Add(24*time.Hour), everybody), want.Due(noon.Add(24*time.Hour), everybody)
		if show(is) != show(was) {
			t.Fatalf("in the %s %s, want %s", room, show(is), show(was))
		}
		for i := range is {
			if is[i].Text != was[i].Text || !is[i].Due.Equal(was[i].Due) || is[i].Event.Sequence != was[i].Event.Sequence || !is[i].Event.Visibility.Allows(earshot.Audience{}) {
				t.Fatalf("%+v, want %+v", is[i], was[i])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
