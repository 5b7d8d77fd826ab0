package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/daemon"
	"earshot/daemon/access"
	"earshot/internal/testkit"
	"earshot/models/voiceprint"
	"earshot/server/socket"
	"earshot/speakers"
)

// A choirmaster lets people with made-up voice prints speak to a daemon, and questions it by the
// command line.
type choirmaster struct {
	*home
	d    *daemon.Daemon
	stop func()
	now  time.Time
	luck *rand.Rand

	prints map[string][][]float32 // of each person, in the order in which they spoke
}

func newChoirmaster(t *testing.T, log *slog.Logger) *choirmaster {
	t.Helper()
	m := &choirmaster{home: newHome(t), now: time.Now().Add(-2 * time.Minute), luck: rand.New(rand.NewPCG(3, 4)), prints: make(map[string][][]float32)}
	m.scripted("reply: Good day.\n")
	cfg := config.Default()
	cfg.Executive.Reasoning.Enabled = false
	cfg.Store.Directory = filepath.Join(m.dir, "state/earshot/journal")
	for _, entry := range m.env {
		if dir, ok := strings.CutPrefix(entry, "XDG_RUNTIME_DIR="); ok {
			cfg.Server.Socket = filepath.Join(dir, "earshot", "earshot.sock")
		}
	}
	account, _ := access.Self()
	var err error
	if m.d, err = daemon.Open(t.Context(), cfg, daemon.Options{Log: log, Account: account, Name: "zoe"}); err != nil {
		t.Fatal(err)
	}
	l, err := socket.Listen(cfg.Server.Path())
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(context.Background())
	var house sync.WaitGroup
	house.Go(func() {
		if err := m.d.Run(ctx, l); err != nil {
			t.Error(err)
		}
	})
	m.stop = sync.OnceFunc(func() {
		leave()
		testkit.Finish(t, 5*testkit.Patience, "the end of the house", house.Wait)
		m.d.Close()
	})
	t.Cleanup(m.stop)
	return m
}

// says lets somebody say something for three seconds.
func (m *choirmaster) says(name, text string) {
	m.t.Helper()
	person := rand.New(rand.NewPCG(uint64(name[0]), uint64(name[1])))
	v := &earshot.Voice{Heard: 3 * time.Second, Print: make([]float32, voiceprint.Size), Channel: "desk"}
	for i := range v.Print {
		v.Print[i] = float32(person.NormFloat64() + 0.2*m.luck.NormFloat64())
	}
	m.prints[name] = append(m.prints[name], v.Print)
	m.now = m.now.Add(10 * time.Second)
	err := m.d.Admit(m.t.Context(), earshot.Event{
		ID: m.d.NewID(), At: m.now, From: earshot.Handle{Provider: "microphone", ID: "default"}, Via: "microphone",
		Body: earshot.Utterance{Text: earshot.Text(text), Confidence: 0.9, Lasted: 3 * time.Second, Voice: v},
	})
	if err != nil {
		m.t.Fatal(err)
	}
}

// does runs a command, and checks its exit code and that it prints want.
func (m *choirmaster) does(code int, want string, args ...string) {
	m.t.Helper()
	if r := m.earshot(nil, args...); r.code != code || !strings.Contains(r.out+r.err, want) {
		m.t.Errorf("earshot %s ended with %d, want %d with %q\n%s%s", strings.Join(args, " "), r.code, code, want, r.out, r.err)
	}
}

// file returns the content of the file of voices.
func (m *choirmaster) file() string {
	data, err := os.ReadFile(speakers.Path(m.d.Config().Store.Directory))
	if err != nil && !os.IsNotExist(err) {
		m.t.Fatal(err)
	}
	return string(data)
}

// TestSpeakers shows what one can do about voices on the command line.
func TestSpeakers(t *testing.T) {
	t.Parallel()
	m := newChoirmaster(t, quietly)
	for range 5 {
		m.says("ann", "the tide is rising")
	}
	m.says("bob", "and the moon is full")
	m.says("bob", "so it must be")

	m.does(success, "voice 1  unknown", "speakers")
	m.does(success, "voice 2  unknown", "speakers")
	var list []api.VoiceInfo
	r := m.earshot(nil, "speakers", "list", "--json")
	if err := json.Unmarshal([]byte(r.out), &list); err != nil || len(list) != 2 || strings.Contains(strings.ToLower(r.out), "print") {
		t.Errorf("listed %s: %v", r.out, err)
	}

	board := &testkit.Voice{Called: "board"}
	m.d.Desk().Enter(board, earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{m.d.Owner().ID}})
	m.does(success, "Voice 2 is Bob until earshot stops.", "speakers", "name", "voice 2", "Bob")
	if !slices.ContainsFunc(board.Shown(), func(e earshot.Event) bool {
		n, is := e.Body.(earshot.Notice)
		return is && strings.HasPrefix(n.Text, "voice 2 is Bob until earshot stops (says ")
	}) {
		t.Errorf("at the desk it shows %v", board.Shown())
	}
	m.shown("Bob        and the moon is full")
	m.does(success, "Undone: voice 2 is nobody who is known", "speakers", "undo")
	m.shown("voice and the moon is full")
	m.does(success, "", "speakers", "name", "2", "Bob")

	m.does(misused, "To erase it: earshot speakers forget Ann", "speakers", "enroll", "Ann", "--voice", "1")
	m.does(failed, "let them talk for 6 more seconds", "speakers", "enroll", "Bob", "--voice", "2", "--consents")
	if m.file() != "" {
		t.Error("something is kept")
	}
	m.does(success, "The voice of Ann is now kept.", "speakers", "enroll", "Ann", "--voice", "1", "--consents")
	m.does(success, "undone", "speakers", "undo", "--json")
	m.does(success, "kept", "speakers", "enroll", "Ann", "--voice", "1", "--consents")
	m.shown("Ann        the tide is rising")
	if got := m.file(); strings.Count(got, `"who"`) != 1 {
		t.Errorf("the file is %s", got)
	}

	m.does(failed, "somebody else's already", "speakers", "merge", "1", "2")
	m.does(success, "Some of voice 2 is voice 3.", "speakers", "split", "Bob")
	m.does(success, "Voice 3 is the same as voice 2.", "speakers", "merge", "2", "3")
	m.does(notFound, "no such voice is known", "speakers", "forget", "9", "--yes")
	m.does(misused, "Nobody can confirm it here", "speakers", "forget", "Bob")
	m.does(success, "Voice 2 is forgotten.", "speakers", "forget", "Bob", "--yes") // forget takes a voice by its number or its name
	m.does(success, "Ann", "speakers")

	m.stop()
	m.does(success, "the voice of Ann  Ann", "speakers")
	m.does(notRunning, "", "speakers", "name", "1", "Bob")
	m.does(success, "The voice of Ann is forgotten.", "speakers", "forget", "Ann", "--yes")
	m.does(success, "No voices are known.", "speakers")
	if strings.Contains(m.file(), `"who"`) {
		t.Error("the voice is still in the file")
	}
}

// TestThatWasSaidBy: the speaker of a sentence is corrected in a conversation of two known people,
// and the correction is undone. Neither changes whose any other sentence is.
func TestThatWasSaidBy(t *testing.T) {
	t.Parallel()
	m := newChoirmaster(t, quietly)
	for range 3 {
		m.says("ann", "the tide is rising")
		m.says("bob", "the moon is full")
	}
	m.does(success, "", "speakers", "name", "2", "Bob")
	m.shown("Bob        the moon is full")
	m.says("ann", "all boats are out")
	correct := earshot.Event{ID: m.d.NewID(), From: m.d.Account(), Via: "console", Body: earshot.Command{Name: "correct", Args: "that was Bob"}}
	if err := m.d.Admit(t.Context(), correct); err != nil {
		t.Fatal(err)
	}
	m.shown("Bob        all boats are out")
	m.does(success, "Undone: that was said by nobody who is known", "speakers", "undo")
	m.shown("voice 1    all boats are out")
	m.does(success, "voice 1  unknown", "speakers")
	m.does(success, "voice 2  Bob", "speakers")
	m.shown("voice 1    the tide is rising")
	m.shown("Bob        the moon is full")
}

// shown waits until the history contains a line.
func (m *choirmaster) shown(line string) {
	m.t.Helper()
	testkit.Await(m.t, soon, line, func() bool { return strings.Contains(m.earshot(nil, "history").out, line) })
}
