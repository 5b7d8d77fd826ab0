package room_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/memory"
	"earshot/participants/agents"
)

// consolidator returns what fills the memory of a stage, after ten quiet seconds.
func (s *stage) consolidator(index *memory.Index, set executive.Config, log *slog.Logger) *memory.Consolidator {
	set.Memory.Quiet = 10
	return &memory.Consolidator{
		Index: index, Unread: s.Unread, Find: s.Find, Model: s, Settings: func() executive.Config { return set }, Rests: func() bool { return false },
		Room:   func(earshot.RoomID) (memory.Room, bool) { return s.Room, true },
		Agents: func(earshot.RoomID) []agents.Record { return s.sitting() },
		Reader: func(_ context.Context, a agents.Record) earshot.ParticipantID { return a.ID },
		Name:   nameOf, IsPerson: func(id earshot.ParticipantID) bool { return !slices.Contains(staff, nameOf(id)) },
		NewID: s.newID, Now: time.Now, Log: log,
	}
}

func (s *stage) Unread(_ context.Context, _ earshot.RoomID, _ time.Time, n int) ([][]earshot.EventID, error) {
	read := make(map[earshot.EventID]bool)
	for _, e := range s.journal.Events() {
		if _, is := e.Body.(earshot.Summary); is {
			for _, id := range e.Sources {
				read[id] = true
			}
		}
	}
	circles := make(map[string][]earshot.EventID)
	for _, e := range s.journal.Events() {
		if c := fmt.Sprintf("%#v", e.Visibility); memory.Words(e) != "" && !read[e.ID] && len(circles[c]) < n {
			circles[c] = append(circles[c], e.ID)
		}
	}
	return slices.SortedFunc(maps.Values(circles), slices.Compare), nil
}

func (s *stage) Find(_ context.Context, a earshot.Audience, ids []earshot.EventID) ([]earshot.Event, error) {
	return slices.DeleteFunc(s.journal.Events(), func(e earshot.Event) bool { return !slices.Contains(ids, e.ID) || !e.Visibility.Allows(a) }), nil
}

// remembers returns what a model remembers that repeats all it was told.
func remembers(told string) string {
	all := marks.FindAllString(told, -1)
	text := "I know " + strings.Join(all[max(0, len(all)-20):], " ")
	return fmt.Sprintf(`{"summary":%q,"facts":[{"text":%q,"about":["p1"],"subject":"","evidence":["e1"],"confidence":1,"days":0,"due":"in 20 seconds"}],"replaces":[{"new":"n1","old":"k1"}]}`, text, text)
}
