package bot

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"earshot"
	"earshot/config"
	"earshot/daemon/access"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/executive/room"
	"earshot/internal/discord/gateway"
	"earshot/llm/llmtest"
	"earshot/participants"
	"earshot/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// silent is a log that discards everything.
var silent = slog.New(slog.DiscardHandler)

// testRooms are rooms in which nobody answers, with a journal of their own.
type testRooms struct {
	t      *testing.T
	people *participants.Registry
	store  *store.Store

	mu   sync.Mutex
	open map[earshot.RoomID]testRoom
}

// A testRoom is a running room.
type testRoom struct {
	Room
	end func() // ends the room, and returns when it has ended
}

// newBot returns a bot that finds Discord at base, with rooms of its own. All of it is gone when
// the test ends.
func newBot(t *testing.T, base string) (*Bot, *testRooms) {
	t.Helper()
	cfg := config.Default()
	cfg.Executive.Enabled = false
	people, err := participants.Open(participants.Setup{Account: earshot.Handle{Provider: "console", ID: "1"}, AccountName: "ann", Actors: cfg.ExternalActors})
	if err != nil {
		t.Fatal(err)
	}
	ids := store.NewIDs()
	c := cfg.Journal()
	c.Directory, c.NewID, c.Log = filepath.Join(t.TempDir(), "journal"), ids, silent
	journal, err := store.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	rooms := &testRooms{t: t, people: people, store: journal, open: make(map[earshot.RoomID]testRoom)}
	t.Cleanup(func() {
		for _, r := range rooms.open {
			r.end()
		}
		if err := journal.Close(); err != nil {
			t.Error(err)
		}
	})
	return &Bot{session: gateway.New(gateway.Config{Base: base}), c: Config{
		Settings: func() *config.Config { return cfg }, People: people, Store: journal, Rooms: rooms, Log: silent,
		Report: func(earshot.Notice) {}, Dropped: func(string) func(int) { return func(int) {} },
	}}, rooms
}

func (h *testRooms) Open(_ context.Context, is executive.Room) (Room, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r, ok := h.open[is.ID]; ok {
		return r.Room, nil
	}
	r := room.New(room.Config{
		ID: is.ID, Settings: func() executive.Config { return executive.Config{} }, People: h.people, Journal: h.store,
		Model: &llmtest.Script{}, Now: time.Now, NewID: store.NewIDs(), Log: silent,
	})
	ctx, stop := context.WithCancel(context.Background())
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = r.Run(ctx)
	}()
	h.open[is.ID] = testRoom{Room{Room: r, ID: is.ID, Closed: closed}, func() { stop(); <-closed }}
	return h.open[is.ID].Room, nil
}

// close closes a room.
func (h *testRooms) close(id earshot.RoomID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open[id].end()
	delete(h.open, id)
}

func (h *testRooms) Find(id earshot.RoomID) (Room, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r, ok := h.open[id]
	return r.Room, ok
}

func (h *testRooms) Channel(id earshot.RoomID) (executive.Room, bool) {
	return executive.Room{ID: id}, access.IsChannel(id)
}

func (h *testRooms) Audiences(id earshot.RoomID) []earshot.Audience {
	return []earshot.Audience{{Room: id}}
}

func (h *testRooms) Waiting(context.Context) ([]earshot.RoomID, error) { return nil, nil }

func (h *testRooms) Commands() command.Table { return nil }

func (h *testRooms) Admit(context.Context, earshot.Event) error { return nil }

func (h *testRooms) Do(context.Context, earshot.Event) (string, error) { return "", nil }
