package daemon

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"iter"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/config"
	"earshot/daemon/engines"
	"earshot/executive"
	"earshot/executive/tool"
	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/participants"
	"earshot/server"
)

// The rooms of the property below, and who perceives what is for everybody in each of them. "loud" is
// whoever stands around the loudspeaker of the desk, "lurker" whoever else reads the channel.
const (
	den     earshot.RoomID = "den" // for ann and bob
	channel earshot.RoomID = "discord-77"
	direct  earshot.RoomID = "discord-dm-5" // for zed
)

var (
	everybody = []string{"ann", "bob", "carol", "zed", "loud", "lurker"}
	circles   = map[earshot.RoomID][]string{earshot.Desk: everybody, den: {"ann", "bob"}, channel: {"ann", "zed", "lurker"}, direct: {"zed"}}
	members   = map[string]earshot.ParticipantID{"ann": participants.Owner, "bob": "bob", "carol": "carol", "zed": "discord-5"}
	handles   = map[string]earshot.Handle{
		"ann": {Provider: "console", ID: "1"}, "bob": {Provider: "console", ID: "bob"}, "carol": {Provider: "console", ID: "carol"}, "zed": {Provider: "discord", ID: "5"},
	}
	sits = map[string][]earshot.RoomID{"ann": {earshot.Desk, earshot.Desk, den}, "bob": {earshot.Desk, den, den}, "carol": {earshot.Desk}, "zed": {channel, direct}}
)

// historiesPerHouse is how many histories one daemon sees, one after another: to open and close one takes
// longer than a history. What an earlier one left must not come out in a later one either.
const historiesPerHouse = 8

// TestNoPrivateByteLeavesWork: whatever people have worked on and done by the clock, looked up and
// remembered, and wherever they say so, what they write reaches nobody it was not for: no screen, no
// loudspeaker, no channel, no answer to a command or to a program, no file of an agent, no log line, and
// nothing in the journal that somebody else may read. What is made of something is seen by nobody who may
// not see all of that, and is gone with it: afterwards one person or one message is forgotten, and no
// byte of theirs is left in any file. Every text is unique, and the model repeats all that it is shown in
// all that it says and calls. In make proof there are 10,000 histories.
func TestNoPrivateByteLeavesWork(t *testing.T) {
	houses := 30
	if os.Getenv("EARSHOT_PROOF") != "" {
		houses = 10_000 / historiesPerHouse
	}
	// A history cannot be shrunk within a bubble: that ends in a panic, which hides what was found.
	for name, value := range map[string]string{"rapid.checks": strconv.Itoa(houses), "rapid.shrinktime": "0s", "rapid.nofailfile": "true"} {
		old := flag.Lookup(name).Value.String()
		flag.Set(name, value)
		defer flag.Set(name, old)
	}
	var seen tally
	rapid.Check(t, func(rt *rapid.T) {
		h := &household{rt: rt, dir: t.TempDir(), secrets: make(map[string]secret), events: make(map[earshot.EventID]earshot.Event), clocks: make(map[seat]bool), talked: make(map[earshot.RoomID]int), underway: make(map[earshot.EventID]int), seen: &seen}
		synctest.Test(t, func(t *testing.T) {
			h.t = t
			h.open()
			for n := range historiesPerHouse {
				if n > 0 {
					h.cancel()
				}
				h.history()
			}
			h.forget()
			h.end()
		})
		h.scan(t)
		if len(h.faults) > 0 {
			rt.Fatal(strings.Join(h.faults[:min(len(h.faults), 5)], "\n"))
		}
	})
	t.Logf("%+v", &seen)
}

// A tally is how often the histories did what they are about.
type tally struct {
	Tasks, Private, Ran, Helped, Done, Questions, Files, Searches, Facts, Summaries, Forgotten, Long int
}

// mostTalked is how much may be said in a room, in bytes, until lines leave the dialogue of its agent. A line
// counts for as much more as if 45 of them were the most.
const mostTalked = 22 << 10

// A secret says who may know a text, and who wrote it.
type secret struct {
	people []string
	author string
	event  earshot.EventID // with which it came
}

// A household is a daemon, and what came out of it.
type household struct {
	rt  *rapid.T
	t   *testing.T
	dir string
	*thinker
	seen *tally

	screens []*pane
	logged  lockedBuffer
	said    int
	read    int64 // up to where the journal was checked
	secrets map[string]secret
	gone    []string // texts that are forgotten

	talked   map[earshot.RoomID]int  // how much
	underway map[earshot.EventID]int // the numbers of those that are not over
	clocks   map[seat]bool           // who has something done by the clock, and where
	newest   int                     // the number of the newest task
	events   map[earshot.EventID]earshot.Event

	mu     sync.Mutex
	faults []string
}

// A lockedBuffer is a log that may be read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// A pane is an outlet, and who perceives it.
type pane struct {
	*testkit.Voice
	where         string
	readers       []string
	played, shown int // how much of it was looked at
}

// Every text is so many letters that no other word here has in that order, since the full text index
// keeps of a word only what distinguishes it from the one before, and ends with its sign.
const (
	letters = 10
	sign    = "ulqoi" // which is in no word and in no ID
)

// secretsIn returns the texts in something.
func secretsIn(text string) (all []string) {
	for from := 0; ; {
		i := strings.Index(text[from:], sign)
		if i < 0 {
			return all
		}
		if from += i + len(sign); from >= letters+len(sign) {
			all = append(all, text[from-letters-len(sign):from])
		}
	}
}

// word returns a new text that only some may know.
func (h *household) word(author string, people []string) string {
	h.said++
	sum := fnv.New64a()
	fmt.Fprint(sum, h.said)
	n := sum.Sum64()
	w := sign
	for range letters {
		w, n = string('a'+rune(n%26))+w, n/26
	}
	h.secrets[w] = secret{people: people, author: author}
	return w
}

// open opens the house and lets everybody in.
func (h *household) open() {
	cfg := config.Default()
	cfg.Store.Directory = filepath.Join(h.dir, "journal")
	cfg.Executive.LLM.Provider, cfg.Executive.LLM.Script = llm.Script, filepath.Join(h.dir, "model.yaml")
	cfg.Executive.Task.Enabled, cfg.Executive.Task.Most, cfg.Executive.Task.Calls = true, 1000, 6
	cfg.Executive.Schedule.Zone, cfg.Executive.Schedule.Most = "UTC", 1000
	cfg.Executive.Memory.Enabled, cfg.Executive.Memory.Quiet, cfg.Executive.Recall.Enabled = true, 20, true
	cfg.Executive.Parallel.ReasoningContinuous = false // the property of the room has that
	cfg.Executive.Speech.TypedAloud = true
	cfg.Rooms = executive.Rooms{{ID: den, Actors: []earshot.ParticipantID{participants.Owner, "bob"}}}
	for _, n := range []string{"bob", "carol"} {
		cfg.ExternalActors.Actors = append(cfg.ExternalActors.Actors, participants.Actor{
			ID: members[n], Type: participants.Human, DisplayName: n, Handles: []string{"console:" + n},
			Capabilities: []participants.Capability{participants.SendMessages, participants.UseTools, participants.ReadMemory},
		})
	}
	if err := os.WriteFile(cfg.Executive.LLM.Script, []byte("reply: Well.\n"), 0o600); err != nil {
		h.t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(&h.logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	model := &echo{dice: rand.New(rand.NewPCG(rapid.Uint64().Draw(h.rt, "seed"), 0))}
	h.thinker = runningWith(h.t, cfg, log, func(d *Daemon) {
		d.llm.Replace(&engines.Ladder{Ladder: &llm.Ladder{Engines: []*llm.Scheduler{{Engine: model, Called: "echo", Slots: 4}}}})
	})
	if _, err := h.people.Arrive(h.t.Context(), handles["zed"], participants.Newcomer{Names: []string{"zed"}}); err != nil {
		h.t.Fatal(err)
	}
	for _, id := range []earshot.RoomID{channel, direct} {
		if _, err := h.openRoom(h.t.Context(), executive.Room{ID: id, Name: string(id)}); err != nil {
			h.t.Fatal(err)
		}
	}
	h.screens = nil
	for _, who := range []string{"ann", "bob", "carol"} {
		for _, room := range slices.Compact(slices.Clone(sits[who])) {
			if rapid.Bool().Draw(h.rt, who+" comes") { // so that what is public is at times told to a few
				h.comes(who, room)
			}
		}
	}
	if rapid.IntRange(0, 2).Draw(h.rt, "a loudspeaker") == 0 {
		h.enters(earshot.Desk, &pane{Voice: &testkit.Voice{Called: "loudspeaker", Aloud: true}, readers: everybody}, earshot.Audience{Unknown: true})
	}
	h.enters(channel, &pane{Voice: &testkit.Voice{Called: "channel"}, readers: circles[channel]}, earshot.Audience{Unknown: true})
	h.enters(direct, &pane{Voice: &testkit.Voice{Called: "direct"}, readers: []string{"zed"}}, earshot.Audience{Members: []earshot.ParticipantID{members["zed"]}})
	for _, room := range []earshot.RoomID{channel, direct} {
		h.does("zed", room, earshot.Presence{Session: "discord-" + string(room), Here: true})
	}
}

// enters puts up an outlet in a room.
func (h *household) enters(room earshot.RoomID, p *pane, a earshot.Audience) {
	a.Room, p.where = room, p.Called+" in "+string(room)
	r, _ := h.rooms.Find(room)
	r.Room.Enter(p, a)
	h.screens = append(h.screens, p)
}

// comes lets somebody come into a room, at a terminal.
func (h *household) comes(who string, room earshot.RoomID) {
	name := who + " at " + string(room)
	p := &pane{Voice: &testkit.Voice{Called: name, Flow: true}, where: name, readers: []string{who}}
	s := participants.Session{ID: name, Room: room, Participant: members[who], Account: handles[who], Outlet: name, Since: time.Now()}
	handle, _ := backend{h.Daemon}.Join(s, p, earshot.Audience{Room: room, Members: []earshot.ParticipantID{members[who]}})
	h.screens = append(h.screens, p)
	if err := h.Admit(h.t.Context(), earshot.Event{ID: h.id(), Room: room, From: handle(), Via: name, Body: earshot.Presence{Session: name, Here: true}}); err != nil {
		h.t.Fatal(err)
	}
}

// does has somebody bring something into a room, and returns its answer and its ID.
func (h *household) does(who string, room earshot.RoomID, body earshot.Body) (string, earshot.EventID) {
	e := earshot.Event{ID: h.id(), At: time.Now(), Room: room, From: handles[who], Body: body}
	var said string
	var err error
	if _, is := body.(earshot.Command); is {
		said, err = backend{h.Daemon}.Do(h.t.Context(), e)
	} else {
		err = h.Admit(h.t.Context(), e)
	}
	if err != nil {
		h.knows("an error for "+who, err.Error(), []string{who})
	}
	return said, e.ID
}

// fails notes a fault.
func (h *household) fails(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.faults = append(h.faults, fmt.Sprintf(format, args...))
}

// knows notes a fault if text has anything that one of some may not know, or that is forgotten.
func (h *household) knows(where, text string, people []string) {
	for _, w := range secretsIn(text) {
		if _, end, cut := strings.Cut(w, "…"); cut {
			w = h.whole(end, people)
		}
		is := h.secrets[w]
		for _, p := range people {
			if !slices.Contains(is.people, p) {
				h.fails("%s shows %s, which %s wrote for %v, to %s: %.900s", where, w, is.author, is.people, p, text)
				return
			}
		}
		if slices.Contains(h.gone, w) {
			h.fails("%s shows %s of %s, which is forgotten: %.900s", where, w, is.author, text)
			return
		}
	}
}

// whole returns the text of which only the end is left: of several with that end, one that some may know.
func (h *household) whole(end string, people []string) string {
	found := end
	for w, is := range h.secrets {
		if strings.HasSuffix(w, end) {
			if found = w; !slices.ContainsFunc(people, func(p string) bool { return !slices.Contains(is.people, p) }) && !slices.Contains(h.gone, w) {
				break
			}
		}
	}
	return found
}

// history is what people do for a while, and then everything is looked at.
func (h *household) history() {
	for range rapid.IntRange(2, 5).Draw(h.rt, "deeds") {
		h.deed()
		time.Sleep(rapid.SampledFrom([]time.Duration{0, time.Second, 30 * time.Second}).Draw(h.rt, "pause"))
		synctest.Wait()
	}
	time.Sleep(90 * time.Second) // a whole minute passes, in which schedules are due
	synctest.Wait()
	h.look(rapid.SampledFrom(seats).Draw(h.rt, "asks"))
}

// cancel ends what is done by the clock, or the house would get slower and slower.
func (h *household) cancel() {
	for at := range h.clocks {
		for line := range strings.Lines(h.ask(at.who, at.room, "every", "")) {
			n, _, _ := strings.Cut(line, " ")
			h.ask(at.who, at.room, "every", "cancel "+n)
		}
	}
	clear(h.clocks)
}

// ask has somebody give a command, and looks at its answer.
func (h *household) ask(who string, room earshot.RoomID, name, args string) string {
	said, _ := h.does(who, room, earshot.Command{Name: name, Args: earshot.Text(args)})
	h.knows("/"+name+" "+args+" of "+who+" in "+string(room), said, []string{who})
	return said
}

// deed is one of the things that people do.
func (h *household) deed() {
	who := rapid.SampledFrom([]string{"ann", "bob", "bob", "carol", "zed"}).Draw(h.rt, "who")
	room := rapid.SampledFrom(sits[who]).Draw(h.rt, "room")
	n := "1" // a task that is under way or waits, if there is one
	if open := slices.Sorted(maps.Values(h.underway)); len(open) > 0 {
		n = strconv.Itoa(rapid.SampledFrom(open).Draw(h.rt, "number"))
	}
	all, alone := circles[room], []string{who}
	note := func(word string, id earshot.EventID) {
		s := h.secrets[word]
		s.event = id
		h.secrets[word] = s
	}
	command := func(name, args, word string) {
		_, id := h.does(who, room, earshot.Command{Name: name, Args: earshot.Text(args)})
		note(word, id)
	}
	switch rapid.SampledFrom([]string{"write", "write", "whisper", "whisper", "whisper", "whisper", "task", "every", "every alone", "steer", "answer", "end", "restart"}).Draw(h.rt, "deed") {
	case "write":
		w := h.word(who, all)
		_, id := h.does(who, room, earshot.Message{Text: earshot.Text("Earshot, " + w)})
		note(w, id)
	case "whisper":
		to, circle := "Earshot", alone
		if other := rapid.SampledFrom(everybody[:4]).Draw(h.rt, "other"); other != who && slices.Contains(all, other) {
			to, circle = "Earshot, "+other, []string{who, other}
		}
		w := h.word(who, circle)
		command("msg", to+": "+w, w)
	case "task":
		w := h.word(who, all)
		command("task", "start look into "+w, w)
	case "every":
		w := h.word(who, all)
		command("every", "minute tell me of "+w, w)
	case "every alone":
		w := h.word(who, alone)
		command("every", "minute private tell me of "+w, w)
	case "steer", "answer":
		var those []string // who may see that task
		for _, p := range all {
			if _, known := members[p]; known && h.ask(p, room, "task", n) != "" {
				those = append(those, p)
			}
		}
		if strings.Contains(h.ask(who, room, "task", n), ", public)") {
			those = all
		}
		w := h.word(who, those)
		command("task", n+" "+rapid.SampledFrom([]string{"steer", "answer"}).Draw(h.rt, "verb")+" "+w, w)
	case "end":
		command(rapid.SampledFrom([]string{"task", "every"}).Draw(h.rt, "what"), "cancel "+n, "")
	case "restart":
		if rapid.IntRange(0, 9).Draw(h.rt, "restarts") == 0 {
			h.look(seats...)
			h.end()
			h.open()
		}
	}
	delete(h.secrets, "")
}

// A seat is somebody in a room that they may enter.
type seat struct {
	who  string
	room earshot.RoomID
}

var seats = []seat{{"ann", earshot.Desk}, {"ann", den}, {"ann", channel}, {"bob", earshot.Desk}, {"bob", den}, {"carol", earshot.Desk}, {"zed", channel}, {"zed", direct}}

// look looks at everything that has come out by now, and at all that some may ask for.
func (h *household) look(asking ...seat) {
	for _, p := range h.screens {
		text := p.Played()
		h.knows("the screen of "+p.where, text[p.played:], p.readers)
		p.played = len(text)
		shown := p.Shown()
		for _, e := range shown[p.shown:] {
			h.knows("the screen of "+p.where, written(e), p.readers)
		}
		p.shown = len(shown)
	}
	h.journal()
	many := everything
	if len(asking) < len(seats) {
		many = 4
	}
	for _, at := range asking {
		h.asks(at.who, at.room, many)
	}
	if logged := h.logged.String(); len(secretsIn(logged)) > 0 {
		h.fails("it was logged: %.300s", logged[max(0, strings.Index(logged, sign)-200):])
	}
}

// written returns something as programs read it.
func written(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// journal checks that what is on record is for those alone who may see all that it is made of.
func (h *household) journal() {
	err := h.store.Look(h.t.Context(), func(v earshot.View) error {
		rows, err := v.QueryContext(h.t.Context(), `SELECT sequence, payload FROM journal WHERE sequence > ? ORDER BY sequence`, h.read)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var data []byte
			var e earshot.Event
			var sequence int64
			if err := rows.Scan(&sequence, &data); err != nil {
				return err
			}
			if err := json.Unmarshal(data, &e); err != nil {
				return err
			}
			e.Sequence = sequence
			h.event(e, string(data))
		}
		return rows.Err()
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// event looks at one event on record.
func (h *household) event(e earshot.Event, data string) {
	h.read = e.Sequence
	h.events[e.ID] = e
	h.counts(e)
	where := fmt.Sprintf("a %s in the journal of %s", e.Body.Kind(), e.Room)
	for _, p := range readers(e) {
		h.knows(where, data, []string{p})
	}
	for _, id := range e.Sources {
		from, known := h.events[id]
		if !known || from.Body.Kind() == earshot.KindErased {
			continue
		}
		may := readers(from)
		for _, p := range readers(e) {
			if !slices.Contains(may, p) {
				h.fails("%s may see %s %s, but not its source, a %s", p, where, e.ID, from.Body.Kind())
			}
		}
	}
}

// readers returns who may see an event.
func readers(e earshot.Event) (all []string) {
	for _, p := range circles[cmp.Or(e.Room, earshot.Desk)] {
		id, known := members[p]
		a := earshot.Audience{Room: e.Room, Unknown: !known}
		if known {
			a.Members = []earshot.ParticipantID{id}
		}
		if e.Visibility.Allows(a) {
			all = append(all, p)
		}
	}
	return all
}

// counts notes what an event says of the histories.
func (h *household) counts(e earshot.Event) {
	add := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	switch b := e.Body.(type) {
	case earshot.Message:
		h.talked[e.Room] += mostTalked/45 + len(b.Text)
	case earshot.Reply:
		h.talked[e.Room] += mostTalked/45 + len(b.Offered)
	case earshot.Task:
		if b.Act == earshot.Created {
			h.newest++
			h.underway[e.ID] = h.newest
			add(&h.seen.Tasks, true)
			add(&h.seen.Private, e.Visibility.Scope == earshot.Private)
			add(&h.seen.Ran, b.Schedule != "")
			add(&h.seen.Helped, b.Parent != "")
		}
		if b.Took != nil {
			delete(h.underway, b.Of) // it is over
		}
		add(&h.seen.Done, b.Act == earshot.TaskDone)
		add(&h.seen.Files, b.File != "")
	case earshot.Step:
		add(&h.seen.Questions, b.Act == earshot.StepQuestion)
		add(&h.seen.Searches, b.Tool == "search_memory" && strings.Contains(string(b.Text), "This rests on"))
	case earshot.Use:
		add(&h.seen.Searches, b.Tool == "search_memory" && strings.Contains(string(b.Result), "This rests on"))
	case earshot.Schedule:
		for who, id := range members {
			if b.Act == earshot.Created && slices.Contains(e.To, id) {
				h.clocks[seat{who, e.Room}] = true
			}
		}
	case earshot.Fact:
		h.seen.Facts++
	case earshot.Summary:
		h.seen.Summaries++
	}
}

// everything is how many things can be asked for.
const everything = 12

// asks has somebody ask in a room for some of all that can be asked for, by commands and as programs do.
func (h *household) asks(who string, room earshot.RoomID, many int) {
	ask := func(name, args string) string { return h.ask(who, room, name, args) }
	var sought string
	for sought = range h.secrets { // any of them
		break
	}
	each := func(name, list, verb string) {
		lines := strings.Split(list, "\n")
		for _, line := range lines[max(0, len(lines)-4):] {
			if n, err := strconv.Atoi(strings.Fields(line + " x")[0]); err == nil {
				ask(name, verb+strconv.Itoa(n))
			}
		}
	}
	b, ctx := backend{h.Daemon}, h.t.Context()
	a := earshot.Audience{Room: room, Members: []earshot.ParticipantID{members[who]}}
	by, _ := h.people.Get(members[who])
	p := server.Principal{Participant: by, Account: handles[who], Audience: a}
	program := func(what string, v any, err error) {
		if err != nil {
			v = err.Error()
		}
		h.knows(what+" for a program of "+who+" in "+string(room), written(v), []string{who})
	}
	all := []func(){
		func() { each("task", ask("task", ""), "") },
		func() { each("task", ask("task", ""), "") },
		func() { each("memory", ask("memory", "all"), "show ") },
		func() { each("memory", ask("memory", ""), "show "); ask("memory", "find "+sought) },
		func() { ask("every", ""); ask("every", "show 1") },
		func() { ask("why", "9") },
		func() {
			ask("context", "")
			ask("think", "")
			ask("remind", "")
			ask("agent", "")
			ask("confirm", "")
			ask("who", "")
		},
		func() { events, err := b.Past(ctx, a, nil, 0, 60); program("the past", events, err) },
		func() { events, err := b.Search(ctx, a, sought, 0, 50); program("a search", events, err) },
		func() { decisions, err := b.Decisions(ctx, a, "", 0, 20); program("the decisions", decisions, err) },
		func() {
			entries, err := b.Context(ctx, p)
			program("what goes on", entries, err)
			state, err := b.State(ctx, p)
			program("the state", state, err)
			live, _, err := b.Live(ctx, p)
			program("the room", live, err)
			agents, err := b.Agents(ctx, true)
			program("the agents", agents, err)
			interim, _ := b.Interim(a)
			program("what is being said", interim, nil)
		},
		func() { h.files(room) },
	}
	for n := range many {
		if many < len(all) {
			n = rapid.IntRange(0, len(all)-1).Draw(h.rt, "asked")
		}
		all[n]()
	}
}

// files reads all files of agents, as their tools do in each conversation that there can be.
func (h *household) files(room earshot.RoomID) {
	homes := []earshot.Path{h.agents.Main(earshot.Desk).Path}
	if _, err := os.Stat(h.eraser.Files.Dir); errors.Is(err, os.ErrNotExist) {
		return
	}
	testkit.Files(h.t, h.eraser.Files.Dir, func(path string, _ []byte) {
		if _, id, ok := strings.Cut(filepath.ToSlash(filepath.Dir(path)), "/owner/"); ok && strings.Contains(id, "/") {
			if home := earshot.Path("/owner/" + id); !slices.Contains(homes, home) {
				homes = append(homes, home)
			}
		}
	})
	tools, main := h.eraser.Files.Tools(), h.agents.Main(room).ID
	talk := func(those []string, scope earshot.Scope) {
		s := tool.Scope{Agent: main, Room: room, Visibility: earshot.Visibility{Scope: scope}, Budget: new(tool.Budget)}
		s.Audience = earshot.Audience{Room: room, Unknown: scope == earshot.Public}.With(main)
		for _, who := range those {
			if scope == earshot.Private {
				s.Audience.Members = append(s.Audience.Members, members[who])
			}
		}
		if scope == earshot.Private {
			s.Visibility.Members = append(slices.Clone(s.Audience.Members), main)
		}
		for _, s.Home = range homes {
			h.reads(tools, s, those)
		}
	}
	talk(circles[room], earshot.Public)
	for i, p := range circles[room] {
		if _, known := members[p]; !known {
			continue
		}
		talk([]string{p}, earshot.Private)
		for _, q := range circles[room][:i] {
			talk([]string{p, q}, earshot.Private)
		}
	}
}

// reads reads what an agent has in its files, in one conversation.
func (h *household) reads(tools tool.Table, s tool.Scope, those []string) {
	do := func(name, args string) string {
		i := slices.IndexFunc(tools, func(t tool.Tool) bool { return t.Name == name })
		a, err := tools[i].Do(h.t.Context(), s, []byte(args))
		if err != nil {
			return ""
		}
		h.knows(fmt.Sprintf("%s at %s in %s", name, s.Home, s.Room), string(a.Text), those)
		return string(a.Text)
	}
	for line := range strings.Lines(do("list_files", "{}")) {
		if name, _, is := strings.Cut(line, " ("); is {
			do("read_file", written(map[string]string{"path": name}))
		}
	}
}

var confirms = regexp.MustCompile(`/forget (yes \w+)`)

// forget has one message and one person forgotten, and looks at what is left.
func (h *household) forget() {
	forget := func(who string, room earshot.RoomID, what string) bool {
		said, _ := h.does(who, room, earshot.Command{Name: "forget", Args: earshot.Text(what)})
		yes := confirms.FindStringSubmatch(said)
		if yes == nil {
			return false
		}
		said, _ = h.does(who, room, earshot.Command{Name: "forget", Args: earshot.Text(yes[1])})
		return strings.Contains(said, "orgot")
	}
	h.look()
	for _, size := range h.talked {
		// What an answer repeats of a line that has left the dialogue since is not known to rest on it: of that,
		// nothing is promised.
		if size > mostTalked {
			h.seen.Long++
			return
		}
	}
	for w, is := range h.secrets {
		if e, known := h.events[is.event]; known && forget(is.author, e.Room, string(e.ID)) {
			h.gone = append(h.gone, w)
			h.seen.Forgotten++
			break
		}
	}
	who := rapid.SampledFrom([]string{"bob", "carol", "zed"}).Draw(h.rt, "forgotten")
	if forget("ann", earshot.Desk, who+" everywhere") {
		for w, is := range h.secrets {
			if is.author == who {
				h.gone = append(h.gone, w)
			}
		}
		h.seen.Forgotten++
	}
	h.read, h.newest = 0, 0 // all of the journal is read again
	for id := range h.events {
		delete(h.events, id)
	}
	h.look(seats...)
	time.Sleep(3 * time.Minute)
	synctest.Wait()
	h.look(rapid.SampledFrom(seats).Draw(h.rt, "asks"), rapid.SampledFrom(seats).Draw(h.rt, "asks too"))
	if err := h.eraser.Clean(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

// scan looks for every byte of what is forgotten.
func (h *household) scan(t *testing.T) {
	testkit.Files(t, h.dir, func(path string, data []byte) {
		data = bytes.ToLower(data)
		for _, w := range h.gone {
			for _, form := range testkit.Forms(w) {
				if bytes.Contains(data, []byte(form)) {
					h.fails("%s of %s is forgotten, and is left in %s", w, h.secrets[w].author, path)
					break
				}
			}
		}
	})
}

// An echo is a model that repeats all it has been told, in all that it says, calls and remembers.
type echo struct {
	mu   sync.Mutex
	dice *rand.Rand
	n    int
}

// Name implements [llm.Engine].
func (*echo) Name() string { return "echo" }

// Probe implements [llm.Engine].
func (*echo) Probe(context.Context) (llm.Status, error) {
	return llm.Status{Version: "1", Models: []llm.Model{{Name: "echo", Tools: true}}}, nil
}

// Stream implements [llm.Service].
func (m *echo) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	text, calls, err := m.answer(req)
	return func(yield func(llm.Delta, error) bool) {
		select {
		case <-ctx.Done():
			yield(llm.Delta{}, context.Cause(ctx))
			return
		case <-time.After(time.Millisecond):
		}
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		if !yield(llm.Delta{Text: text}, nil) {
			return
		}
		for _, c := range calls {
			if !yield(llm.Delta{Call: &c}, nil) {
				return
			}
		}
		yield(llm.Delta{Done: &llm.Done{PromptTokens: 10, ReplyTokens: 10}}, nil)
	}
}

// answer returns what the model says and calls, or how it fails, and then quotes what it was told.
func (m *echo) answer(req *llm.Request) (string, []llm.Call, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []string
	for _, w := range secretsIn(written(req.Messages)) {
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	all = all[max(0, len(all)-20):]
	known := strings.Join(all, " ")
	text := "I know " + known
	if m.dice.IntN(12) == 0 {
		return "", nil, &llm.Error{Fault: llm.Broken, Engine: "echo", Err: errors.New(text)}
	}
	switch schema := string(req.Schema); {
	case strings.Contains(schema, `"queries"`):
		return written(map[string]any{"queries": all[max(0, len(all)-4):]}), nil, nil
	case strings.Contains(schema, `"passages"`):
		return written(map[string]any{"answer": text, "passages": []string{"p1"}}), nil, nil
	case strings.Contains(schema, `"findings"`):
		return `{"findings":[]}`, nil, nil
	case schema != "":
		return fmt.Sprintf(`{"summary":%q,"facts":[{"text":%q,"about":["p1"],"subject":"","evidence":["e1"],"confidence":1,"days":0,"due":"in 20 seconds"}],"replaces":[{"new":"n1","old":"k1"}]}`, text, text), nil, nil
	}
	results := 0
	for _, is := range req.Messages {
		if is.Role == llm.Result {
			results++
		}
	}
	var one string
	if len(all) > 0 {
		one = all[m.dice.IntN(len(all))]
	}
	calls := []llm.Call{
		{Tool: "task", Arguments: []byte(written(map[string]any{"action": "start", "text": "look into " + known}))},
		{Tool: "task", Arguments: []byte(`{"action":"list"}`)},
		{Tool: "task", Arguments: []byte(`{"action":"list"}`)},
		{Tool: "task", Arguments: []byte(`{"action":"list"}`)},
		{Tool: "delegate", Arguments: []byte(written(map[string]any{"text": "look into " + known}))},
		{Tool: "task", Arguments: []byte(written(map[string]any{"action": []string{"show", "cancel"}[m.dice.IntN(2)], "number": 1 + m.dice.IntN(9)}))},
		{Tool: "task", Arguments: []byte(written(map[string]any{"action": []string{"steer", "answer"}[m.dice.IntN(2)], "number": 1 + m.dice.IntN(9), "text": known}))},
		{Tool: "schedule", Arguments: []byte(written(map[string]any{"every": "minute tell me of " + known}))},
		{Tool: "schedule", Arguments: []byte(`{"every":"list"}`)},
		{Tool: "search_memory", Arguments: []byte(written(map[string]any{"question": "What of " + strings.Join(all[max(0, len(all)-8):], " ")}))},
		{Tool: "search_memory", Arguments: []byte(`{"question":"What do I know, and what is to be looked into?"}`)},
		{Tool: "recall", Arguments: []byte(written(map[string]any{"query": one}))},
		{Tool: "remember", Arguments: []byte(written(map[string]any{"text": text}))},
		{Tool: "write_file", Arguments: []byte(written(map[string]any{"path": "notes.txt", "content": text}))},
		{Tool: "write_file", Arguments: []byte(written(map[string]any{"path": "of" + one + ".txt", "content": text}))},
		{Tool: "list_files", Arguments: []byte(`{}`)},
		{Tool: "read_file", Arguments: []byte(`{"path":"notes.txt"}`)},
		{Tool: "ask_person", Arguments: []byte(written(map[string]any{"text": text}))},
	}
	calls = slices.DeleteFunc(calls, func(c llm.Call) bool {
		return !slices.ContainsFunc(req.Tools, func(t llm.Tool) bool { return t.Name == c.Tool })
	})
	if len(calls) == 0 || results >= 3 || m.dice.IntN(3) == 0 {
		if m.dice.IntN(3) == 0 && req.Priority == llm.Memory { // too long to be told
			text = strings.Repeat(text+". ", 1+1600/len(text))
		}
		return text, nil, nil
	}
	c := calls[m.dice.IntN(len(calls))]
	m.n++
	c.ID = fmt.Sprint("c", m.n)
	return text, []llm.Call{c}, nil
}
