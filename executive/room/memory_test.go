package room_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/memory"
	"earshot/internal/scenetest"
	"earshot/participants/agents"
)

// consolidator returns what fills the memory of a stage, after ten quiet seconds.
func (s *stage) consolidator(index *memory.Index, set executive.Config, log *slog.Logger) *memory.Consolidator {
	set.Memory.Quiet = 10
	journal := scenetest.Past{Journal: s.journal}
	return &memory.Consolidator{
		Index: index, Unread: journal.Unread, Find: journal.Find, Model: s, Settings: func() executive.Config { return set }, Rests: func() bool { return false },
		Room:   func(earshot.RoomID) (memory.Room, bool) { return s.Room, true },
		Agents: func(earshot.RoomID) []agents.Record { return s.sitting() },
		Reader: func(_ context.Context, a agents.Record) earshot.ParticipantID { return a.ID },
		Name:   nameOf, IsPerson: func(id earshot.ParticipantID) bool { return !slices.Contains(staff, nameOf(id)) },
		NewID: s.newID, Now: time.Now, Log: log,
	}
}

// remembers returns what a model remembers that repeats all it was told.
func remembers(told string) string {
	all := marks.FindAllString(told, -1)
	text := "I know " + strings.Join(all[max(0, len(all)-20):], " ")
	return fmt.Sprintf(`{"summary":%q,"facts":[{"text":%q,"about":["p1"],"subject":"","evidence":["e1"],"confidence":1,"days":0,"due":"in 20 seconds"}],"replaces":[{"new":"n1","old":"k1"}]}`, text, text)
}
