package scenetest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/remind"
	"earshot/executive/room"
	"earshot/internal/scenetest"
	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/llmtest"
	"earshot/participants"
	"earshot/store"
)

// planted is the word that stands in all that Bob has kept, and nowhere else.
const planted = "xylophone"

// A keeping is something that Bob has kept, and the ends to which it can come.
type keeping struct {
	name  string
	does  []string // what he writes
	model []llmtest.Rule
	ends  map[string][]string // what is done then: see [attic.do]
}

// thinks are the rules of a model that takes its time, and repeats what it is asked.
func thinks(rules ...llmtest.Rule) []llmtest.Rule {
	found := fmt.Sprintf(`{"findings":[{"text":"the %s is wooden","evidence":["e1"],"confidence":0.8,"minutes":30,"worth_saying":true}]}`, planted)
	return append(rules, llmtest.Rule{For: llmtest.ForThought, When: planted, Reply: "a " + planted + " has wooden bars, I believe", Every: time.Second},
		llmtest.Rule{For: llmtest.ForFindings, Reply: found, Every: time.Second}, llmtest.Rule{When: planted, Reply: "the " + planted + ", then"})
}

func calls(when, tool, arguments string) llmtest.Rule {
	return llmtest.Rule{When: when, Calls: []llm.Call{{Tool: tool, Arguments: json.RawMessage(arguments)}}}
}

// fails is a model that breaks off whatever has the word in it.
func fails() []llmtest.Rule {
	broken := llmtest.Trouble{After: 1, Err: errors.New("broken")}
	return []llmtest.Rule{{For: llmtest.ForThought, When: planted, Reply: "a " + planted + " has", Trouble: broken}, {When: planted, Reply: "the " + planted + ", then", Trouble: broken}}
}

// thoughtful are the ends of what is thought about.
var thoughtful = map[string][]string{
	"waits":                      {"sleep 10ms"},
	"is thought":                 {"sleep 3s"},
	"is done":                    {"sleep 5m"},
	"gives way":                  {"sleep 3s", "bob: Earshot, hello", "sleep 10ms"},
	"is parked":                  {"sleep 3s", "bob: typing", "sleep 1m"},
	"is stopped":                 {"sleep 3s", "bob: /think stop", "sleep 1m"},
	"is stopped at once":         {"bob: /think stop", "sleep 1m"},
	"is taken up again":          {"sleep 3s", "restart", "sleep 5m"},
	"stands still after a start": {"sleep 3s", "restart"},
	"is stopped after a start":   {"sleep 3s", "restart", "bob: /think stop", "sleep 1m"},
	"is too old after a start":   {"sleep 3s", "close", "sleep 30h", "open", "sleep 1m"},
	"is steered":                 {"sleep 3s", "bob: Earshot, think of its mallets, too", "sleep 5m"},
	"is superseded":              {"sleep 3s", "bob: Earshot, no, do something else instead", "sleep 5m"},
	"is put off by a pause":      {"sleep 3s", "bob: /pause", "sleep 1m"},
}

var keepings = []keeping{
	{"a question to think about", []string{"/think is the xylophone in tune?"}, thinks(), thoughtful},
	{"a question to think about, and a model that fails", []string{"/think is the xylophone in tune?"}, fails(), map[string][]string{
		"is tried again": {"sleep 3s"}, "is given up": {"sleep 10m"}, "is given up after a start": {"sleep 3s", "restart", "sleep 10m"},
	}},
	{"two questions to think about", []string{"/think is the xylophone in tune?", "/think who made the xylophone?"}, thinks(), thoughtful},
	{"a message that makes one think", []string{"Earshot, think about the xylophone"}, thinks(), thoughtful},
	{"a question that the agent hands on", []string{"Earshot, look after the xylophone", "sleep 5s", "Earshot, ponder that", "sleep 100ms"},
		thinks(calls("ponder that", "ponder", `{"question":"is the xylophone in tune?","uncertainty":0.9}`)), thoughtful},
	{"a private question that makes one think", []string{"/msg Earshot think about the xylophone"}, thinks(), thoughtful},
	{"a message", []string{"Earshot, where is the xylophone?"}, thinks(), map[string][]string{
		"is answered": {"sleep 1m"}, "is being answered": {"sleep 30ms"}, "is answered after a start": {"restart", "sleep 1m"},
		"is cut": {"sleep 30ms", "bob: /stop", "sleep 1m"}, "is superseded": {"sleep 30ms", "bob: Earshot, hello", "sleep 1m"},
	}},
	{"a message, and a model that fails", []string{"Earshot, where is the xylophone?"}, fails(), map[string][]string{"is not answered": {"sleep 5m"}, "is not answered before a start": {"sleep 5m", "restart"}}},
	{"a private word", []string{"/msg ann the xylophone is a secret"}, nil, map[string][]string{"is read": {"sleep 1s"}, "is read after a start": {"restart"}}},
	{"a reminder", []string{"/remind 10m tune the xylophone"}, nil, map[string][]string{
		"waits": {"sleep 1m"}, "is said": {"sleep 11m"}, "is cancelled": {"bob: /remind cancel 1", "sleep 1m"}, "waits after a start": {"restart"},
		"is late": {"close", "sleep 30h", "open", "sleep 2m"}, "is said to nobody": {"bob: leaves", "sleep 30m"}, "is cancelled after a start": {"restart", "bob: /remind cancel 1", "sleep 1m"},
		"is being said": {"sleep 599950ms", "sleep 60ms"}, "waits in a pause": {"bob: /pause", "sleep 20m"},
	}},
	{"a reminder by the agent", []string{"Earshot, remind me of the xylophone"}, thinks(calls("remind me", "remind", `{"action":"set","text":"the xylophone","in_seconds":600}`)), map[string][]string{
		"waits": {"sleep 1m"}, "is said": {"sleep 11m"}, "is cancelled": {"sleep 1m", "bob: /remind cancel 1", "sleep 1m"}, "waits after a start": {"sleep 1m", "restart"},
	}},
	{"a note", []string{"/note the xylophone is red"}, nil, map[string][]string{
		"stands": {"sleep 1m"}, "stands after a start": {"restart"}, "is old": {"sleep 30h"}, "is in a prompt": {"ann: Earshot, hello", "sleep 1m"},
		"is changed by somebody": {"ann: /context", "ann: /context change 4 the harp is red", "sleep 1m"},
		"is removed":             {"bob: /context", "bob: /context remove 4", "sleep 1m"},
		"is removed and back":    {"bob: /context", "bob: /context remove 4", "bob: /context undo", "sleep 1m"},
	}},
	{"a note by the agent", []string{"Earshot, keep the xylophone in mind"}, thinks(calls("in mind", "note", `{"text":"there is a xylophone"}`)), map[string][]string{"stands": {"sleep 1m"}, "stands after a start": {"sleep 1m", "restart"}}},
	{"an entry of what is going on", []string{"/context add notes the xylophone is red"}, nil, map[string][]string{
		"stands": {"sleep 1m"}, "is taken back": {"bob: /context undo", "sleep 1m"}, "is taken back after a start": {"restart", "bob: /context undo", "sleep 1m"},
		"is changed by somebody": {"ann: /context", "ann: /context change 4 the harp is red", "sleep 1m"},
		"is listed":              {"ann: /context", "ann: /context log"},
	}},
	{"a change of somebody's note", []string{"ann: /note the harp is red", "/context", "/context change 4 the xylophone is red"}, nil, map[string][]string{
		"stands": {"sleep 1m"}, "is taken back": {"bob: /context undo", "sleep 1m"}, "is taken back by somebody": {"ann: /context undo 1", "sleep 1m"},
		"is changed again":              {"ann: /context", "ann: /context change 4 the lute is red", "sleep 1m"},
		"is changed again and back":     {"ann: /context", "ann: /context change 4 the lute is red", "ann: /context undo", "sleep 1m"},
		"is taken back after a start":   {"restart", "ann: /context undo 1", "sleep 1m"},
		"is corrected by somebody":      {"ann: /correct no, the lute is red", "sleep 1m"},
		"is in a prompt":                {"ann: Earshot, hello", "sleep 1m"},
		"is changed again, and a start": {"ann: /context", "ann: /context change 4 the lute is red", "restart"},
	}},
	{"a correction of what somebody said", []string{"ann: aloud the harp is red", "/correct I said xylophone, not harp"}, nil, map[string][]string{
		"stands": {"sleep 1m"}, "is in a prompt": {"ann: Earshot, hello", "sleep 1m"}, "is taken back": {"bob: /context undo", "sleep 1m"}, "stands after a start": {"restart"},
		"is corrected": {"ann: /correct I said lute, not xylophone", "sleep 1m"},
	}},
}

// TestForgottenWhateverBecameOfIt: whatever somebody has had kept, and whatever became of
// it, nothing of it is left once it is forgotten, and nothing new is told of it: by those
// events, with all that the person did, or with everything.
func TestForgottenWhateverBecameOfIt(t *testing.T) {
	for _, k := range keepings {
		for end, what := range k.ends {
			for _, forgets := range []string{"the event", "the person", "everything"} {
				t.Run(k.name+" "+end+" and "+forgets+" is forgotten", func(t *testing.T) {
					t.Parallel()
					directory := t.TempDir()
					a := &attic{t: t, directory: directory, rules: k.model, here: map[string]bool{"ann": true, "bob": true}}
					synctest.Test(t, func(t *testing.T) {
						a.t = t
						a.openStore()
						a.open()
						for _, does := range k.does {
							a.do(does)
						}
						for _, does := range what {
							a.do(does)
						}
						synctest.Wait()
						if !a.keeps() {
							t.Errorf("it is not kept to begin with")
						}
						a.forget(forgets)
						for _, does := range []string{"sleep 1m", "ann: /context", "ann: /think", "ann: Earshot, and now?", "sleep 1m", "restart", "ann: /context", "ann: Earshot, and now?", "sleep 20m", "close"} {
							a.do(does)
						}
						for _, e := range a.all() {
							if has(e) {
								t.Errorf("on record is a %s, new %v: %s", e.Body.Kind(), a.before[e.ID].ID == "", asText(e))
							}
							if was, old := a.before[e.ID]; old && was.Visibility.Scope == earshot.Private && e.Visibility.Scope != earshot.Private {
								t.Errorf("%s is more public than it was", e.ID)
							}
						}
						if err := a.store.Clean(t.Context()); err != nil {
							t.Error(err)
						}
						if err := a.store.Close(); err != nil {
							t.Error(err)
						}
					})
					a.check(t)
				})
			}
		}
	}
}

// An attic is a room with a real journal.
type attic struct {
	t         *testing.T
	directory string
	rules     []llmtest.Rule

	store  *store.Store
	room   *room.Room
	people *participants.Registry
	model  *llmtest.Script
	leave  func()
	here   map[string]bool
	exits  map[string]func()

	ids int
	mu  sync.Mutex

	log       bytes.Buffer
	logger    *slog.Logger
	forgotten time.Time // when
	before    map[earshot.EventID]earshot.Event
	shown     []earshot.Event // afterwards
	told      int             // how often the model was asked before
	asked     []string        // of the model, afterwards
}

func (a *attic) newID() earshot.EventID {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ids++
	return earshot.EventID(fmt.Sprintf("01J%023d", a.ids))
}

func (a *attic) openStore() {
	cfg := store.DefaultConfig()
	a.logger = slog.New(slog.NewTextHandler(&a.log, &slog.HandlerOptions{Level: slog.LevelDebug})) // one, which locks
	cfg.Directory, cfg.Log, cfg.Projections = a.directory, a.logger, []earshot.Projection{remind.Projection{}}
	var err error
	if a.store, err = store.Open(context.Background(), cfg); err != nil {
		a.t.Fatal(err)
	}
}

// all returns the events of the journal in order.
func (a *attic) all() (all []earshot.Event) {
	for e, err := range a.store.Export(a.t.Context()) {
		if err != nil {
			a.t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// open opens the room, with what is on record.
func (a *attic) open() {
	var err error
	a.people, err = participants.Open(participants.Setup{
		Account: scenetest.Ann, AccountName: "ann", Agents: []participants.Participant{{ID: participants.Agent, Name: "Earshot", Type: participants.Internal}},
		Actors: participants.Config{Actors: []participants.Actor{{ID: "bob", DisplayName: "Bob", Type: participants.Human, Handles: []string{"console:bob"}}}},
	})
	if err != nil {
		a.t.Fatal(err)
	}
	a.model = &llmtest.Script{Reply: "as you say", Every: 10 * time.Millisecond, Rules: a.rules}
	set := executive.DefaultConfig()
	set.Parallel.ReasoningContinuous = false
	var agenda remind.Agenda
	err = a.store.Look(a.t.Context(), func(v earshot.View) (err error) {
		agenda, err = remind.Read(a.t.Context(), v, earshot.Desk)
		return err
	})
	if err != nil {
		a.t.Fatal(err)
	}
	scenery := func(context.Context) ([]earshot.Event, error) { return a.all(), nil }
	a.room = room.New(room.Config{
		ID: earshot.Desk, Settings: func() executive.Config { return set }, People: a.people, Journal: a.store, Model: &llm.Scheduler{Engine: a.model},
		Past: a.all(), Agenda: agenda, Scenery: scenery, Now: time.Now, NewID: a.newID, Log: a.logger,
	})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { a.room.Run(ctx) })
	a.leave = func() { cancel(); running.Wait() }
	a.exits = make(map[string]func())
	for _, who := range []string{"ann", "bob"} {
		if a.here[who] {
			a.enters(who)
		}
	}
	synctest.Wait()
}

// enters lets somebody come in.
func (a *attic) enters(who string) {
	h, id := scenetest.Ann, participants.Owner
	if who == "bob" {
		h, id = bob, "bob"
	}
	a.people.Attach(participants.Session{ID: who, Room: earshot.Desk, Participant: id, Account: h, Outlet: who, Connection: "terminal", Since: time.Now()})
	exit := a.room.Enter(&witness{Voice: testkit.Voice{Called: who, Flow: true, Every: time.Millisecond}, sees: a.sees}, earshot.Audience{Members: []earshot.ParticipantID{id}})
	a.exits[who] = func() { exit(); a.people.Detach(who) }
	a.admit(earshot.Event{From: h, Via: who, Body: earshot.Presence{Session: who, Here: true}})
}

// A witness is a terminal that tells what it is shown.
type witness struct {
	testkit.Voice
	sees func(earshot.Event)
}

// Show implements [earshot.Board].
func (w *witness) Show(e earshot.Event) { w.sees(e) }

func (a *attic) sees(e earshot.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.forgotten.IsZero() {
		a.shown = append(a.shown, e)
	}
}

func (a *attic) admit(e earshot.Event) {
	a.t.Helper()
	if err := a.room.Admit(a.t.Context(), e); err != nil {
		a.t.Errorf("refused: %v", err)
	}
}

// do does one thing: waits, or lets somebody write, who is Bob if it is not said, or leave,
// or has the room opened anew.
func (a *attic) do(what string) {
	a.t.Helper()
	switch {
	case strings.HasPrefix(what, "sleep "):
		d, err := time.ParseDuration(strings.TrimPrefix(what, "sleep "))
		if err != nil {
			a.t.Fatal(err)
		}
		time.Sleep(d)
		return
	case what == "restart":
		a.close()
		a.open()
		return
	case what == "close":
		a.close()
		return
	case what == "open":
		a.open()
		return
	}
	who, text, named := strings.Cut(what, ": ")
	if !named || who != "ann" && who != "bob" {
		who, text = "bob", what
	}
	e := earshot.Event{From: bob, Via: who, Body: earshot.Message{Text: earshot.Text(text)}}
	if who == "ann" {
		e.From = scenetest.Ann
	}
	switch {
	case text == "leaves":
		e.Body = earshot.Presence{Session: who, Here: false}
	case text == "typing":
		e.Body = earshot.Typing{Began: true}
	case strings.HasPrefix(text, "aloud "):
		e.From, e.Via, e.Body = earshot.Handle{Provider: "microphone", ID: "1"}, "", earshot.Utterance{Text: earshot.Text(strings.TrimPrefix(text, "aloud ")), Confidence: 0.9, Lasted: time.Second}
	case strings.HasPrefix(text, "/"):
		name, args, _ := strings.Cut(text[1:], " ")
		e.Body = earshot.Command{Name: name, Args: earshot.Text(args)}
	}
	a.admit(e)
	if text == "leaves" {
		a.exits[who]()
		a.here[who] = false
	}
}

// close closes the room.
func (a *attic) close() {
	a.leave()
	a.mu.Lock()
	defer a.mu.Unlock()
	defer func() { a.told = 0 }()
	if !a.forgotten.IsZero() {
		seen := a.model.Seen()
		for _, req := range seen[min(a.told, len(seen)):] {
			for _, m := range req.Messages {
				a.asked = append(a.asked, m.Text)
			}
		}
	}
}

// has reports whether the word stands in an event.
func has(e earshot.Event) bool {
	data, err := json.Marshal(e)
	return err != nil || bytes.Contains(data, []byte(planted))
}

func (a *attic) keeps() bool { return slices.ContainsFunc(a.all(), has) }

// forget forgets as the house does: the journal first, and then the room.
func (a *attic) forget(what string) {
	a.t.Helper()
	a.before = make(map[earshot.EventID]earshot.Event)
	var sel store.Selection
	var people []earshot.ParticipantID
	for _, e := range a.all() {
		a.before[e.ID] = e
		sel.Until = e.Sequence
		th, _ := e.Body.(earshot.Thought)
		if what == "the event" && has(e) && (len(e.Sources) == 0 && th.Of == "" || e.Author == "bob") { // and not what came of it
			sel.Events = append(sel.Events, e.ID)
		}
	}
	if what == "the person" {
		sel.People, sel.Agents = []earshot.ParticipantID{"bob"}, []earshot.ParticipantID{participants.Agent}
		people = sel.People
	}
	_, err := a.store.Forget(a.t.Context(), sel, func(some []store.SelectedEvent) {
		var gone []earshot.EventID
		for _, d := range some {
			gone = append(gone, d.ID)
		}
		if err := a.room.Forget(a.t.Context(), gone, nil); err != nil {
			a.t.Error(err)
		}
	})
	if err != nil {
		a.t.Fatal(err)
	}
	if err := a.room.Forget(a.t.Context(), nil, people); err != nil {
		a.t.Error(err)
	}
	synctest.Wait()
	if a.room.Busy() {
		time.Sleep(time.Second) // what is cut says its last
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forgotten, a.told = time.Now(), len(a.model.Seen())
}

// check looks at every byte.
func (a *attic) check(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(a.directory, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if bytes.Contains(bytes.ToLower(data), []byte(planted)) || bytes.Contains(bytes.ToLower(data), []byte(planted[:6])) {
			t.Errorf("it is in %s", filepath.Base(name))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if bytes.Contains(a.log.Bytes(), []byte(planted)) {
		t.Error("it is in the log")
	}
	for _, e := range a.shown {
		if has(e) {
			t.Errorf("shown is %s", asText(e))
		}
	}
	for _, text := range a.asked {
		if strings.Contains(text, planted) {
			t.Errorf("a prompt is %s", text)
		}
	}
}

func asText(e earshot.Event) string {
	data, _ := json.Marshal(e)
	return string(data)
}
