package agents_test

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"earshot"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// console is the handle of the owner's account.
var console = earshot.Handle{Provider: "console", ID: "uid1000"}

// owner may operate the daemon, and ann may not.
var (
	owner = participants.Participant{ID: participants.Owner, Name: "Olga", Capabilities: []participants.Capability{participants.SendMessages, participants.Operate}}
	ann   = participants.Participant{ID: "ann", Name: "Ann", Capabilities: []participants.Capability{participants.SendMessages}}
)

// A house is a directory of agents with everything that it needs, which can be closed and opened
// again.
type house struct {
	t         testing.TB
	directory string
	ids       atomic.Int64
	setup     agents.Setup // all but the journal

	store  *store.Store
	book   *agents.Directory
	people *participants.Registry
}

// newHouse returns an open house with a main agent called Earshot, which is closed with the test.
func newHouse(t testing.TB) *house {
	t.Helper()
	h := houseIn(t, filepath.Join(t.TempDir(), "state"))
	h.open()
	t.Cleanup(h.close)
	return h
}

// houseIn returns a house that is not open yet.
func houseIn(t testing.TB, directory string) *house {
	h := &house{t: t, directory: directory}
	h.setup = agents.Setup{
		Main:    earshot.Profile{Name: "Earshot", Prompt: "You are Earshot.", AutoReply: true},
		Rooms:   []earshot.RoomID{earshot.Desk, "kitchen", "den"},
		Engines: []string{"local", "cloud"},
		Now:     func() time.Time { return time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC) },
		NewID:   func() earshot.EventID { return earshot.EventID(fmt.Sprintf("%026d", h.ids.Add(1))) },
	}
	h.setup.Actors = participants.DefaultConfig()
	return h
}

func (h *house) open() {
	h.t.Helper()
	if err := h.tryOpen(); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) tryOpen() (err error) {
	h.store, err = store.Open(h.t.Context(), store.Config{Directory: h.directory, Projections: []earshot.Projection{agents.Projection{}}})
	if err != nil {
		return err
	}
	h.setup.Journal = h.store
	if h.book, err = agents.Open(h.t.Context(), h.setup); err != nil {
		return err
	}
	h.people, err = participants.Open(participants.Setup{
		Account: console, AccountName: "Olga", Actors: h.setup.Actors, Agents: h.book.Participants(), Label: h.book.Label,
		Now: h.setup.Now, NewID: h.setup.NewID,
	})
	if err != nil {
		return err
	}
	h.book.Join(h.people, participants.Owner)
	return nil
}

func (h *house) close() {
	h.t.Helper()
	if err := h.store.Close(); err != nil {
		h.t.Error(err)
	}
}

// restart closes the house and opens it again.
func (h *house) restart() {
	h.t.Helper()
	h.close()
	h.open()
}

// create makes an agent for the owner.
func (h *house) create(p earshot.Profile) agents.Record {
	h.t.Helper()
	r, err := h.book.Create(h.t.Context(), owner, "", p)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}
