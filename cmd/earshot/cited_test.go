package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/room"
	"earshot/internal/testkit"
	"earshot/internal/transcript"
	"earshot/llm/llmtest"
	"earshot/participants"
	"earshot/store"
)

// TestChangedInTheJournal: in a room with a journal on disk, history shows and search finds the
// messages as last edited. What somebody has withdrawn or edited away is left in no byte of any
// file, while the daemon still runs.
func TestChangedInTheJournal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	s, err := store.Open(t.Context(), store.Config{Directory: dir})
	if err != nil {
		t.Fatal(err)
	}
	ann := earshot.Handle{Provider: "console", ID: "ann"}
	people := participants.New(ann, "Ann", "Earshot")
	r := room.New(room.Config{
		ID: earshot.Desk, Settings: executive.DefaultConfig, People: people, Journal: s, Now: time.Now, NewID: store.NewIDs(),
		Model: &llmtest.Script{Reply: "So the zeppelin lands at noon."}, Log: slog.New(slog.DiscardHandler),
		Event: func(ctx context.Context, id earshot.EventID) (earshot.Event, bool, error) {
			return s.Event(ctx, earshot.Desk, id)
		},
		Scenery: func(ctx context.Context) ([]earshot.Event, error) {
			return s.Lately(ctx, earshot.Desk, "", 100, earshot.Audience{Room: earshot.Desk})
		},
	})
	r.Enter(&testkit.Voice{Called: "console", Flow: true}, earshot.Audience{Members: []earshot.ParticipantID{participants.Owner}})
	ctx, leave := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	admit := func(id earshot.EventID, b earshot.Body) {
		t.Helper()
		if err := r.Admit(t.Context(), earshot.Event{ID: id, From: ann, Via: "console", Body: b}); err != nil {
			t.Fatal(err)
		}
		testkit.Await(t, 10*time.Second, "the room to be still", func() bool { return !r.Busy() })
	}
	admit("a", earshot.Message{Text: "the zeppelin lands at noon", Attachments: []earshot.Attachment{{Name: "zeppelin.png", Type: "image/png", Size: 120_000}}})
	admit("b", earshot.Message{Text: "bring an umbrella, since it rains today and tomorrow", Attachments: []earshot.Attachment{{Name: "map.png", Type: "image/png", Size: 99}}})
	admit("c", earshot.Message{Text: "I bring two", ReplyTo: "b"})
	admit("", earshot.Revision{Of: "b", Text: "bring a parasol, since it does not rain tomorrow"})
	admit("", earshot.Withdrawal{Of: "a"})
	testkit.Await(t, 30*time.Second, "no trace of what was taken back", func() bool {
		return !within(t, dir, "zeppelin") && !within(t, dir, "umbrella")
	})
	leave()
	testkit.Finish(t, 5*testkit.Patience, "the end of the house", running.Wait)
	defer s.Close()
	printed := filepath.Join(t.TempDir(), "out")
	file, err := os.Create(printed)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	a := &app{std: std{out: outputTo(file)}, ctx: t.Context()}
	reader := s.For(earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{participants.Owner}})
	events, err := reader.Last(t.Context(), transcript.Told, 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.transcript(reader, events, false, people.Name, "nothing"); err != nil {
		t.Fatal(err)
	}
	out, err := os.ReadFile(printed)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"bring a parasol, since it does not rain tomorrow\n", "[attached: map.png, image/png, 99 bytes] (edited)\n",
		`[to Ann: "bring a parasol, since it does not rain …"] I bring two` + "\n",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("history has no %q:\n%s", want, out)
		}
	}
	for query, want := range map[string]int{"parasol": 1, "umbrella": 0, "zeppelin": 0} {
		if found, err := reader.Search(t.Context(), query, 10); err != nil || len(found) != want {
			t.Errorf("%s is found %d times, %v", query, len(found), err)
		}
	}
}

// within reports whether any file in a folder has a word.
func within(t *testing.T, dir, word string) (is bool) {
	t.Helper()
	testkit.Files(t, dir, func(_ string, data []byte) {
		is = is || strings.Contains(strings.ToLower(string(data)), word)
	})
	return is
}
