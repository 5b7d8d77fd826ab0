package room_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive"
	"earshot/executive/memory"
	"earshot/executive/room"
	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
)

// persons and staff are everybody in the property below: people, and agents, of which the second
// has a seat in the room only at times.
var (
	persons = []string{"ann", "bob", "carol", "dave"}
	staff   = []string{"Earshot", "Scout"}
)

// identity returns the ID of somebody.
func identity(name string) earshot.ParticipantID {
	switch name {
	case "ann":
		return participants.Owner
	case "Earshot":
		return participants.Agent
	}
	return earshot.ParticipantID(strings.ToLower(name))
}

// nameOf returns the name of whoever has an ID.
func nameOf(id earshot.ParticipantID) string {
	for _, n := range append(staff, persons...) {
		if identity(n) == id {
			return n
		}
	}
	return "nobody"
}

// TestNoPrivateByteLeaves: whatever people do, what they write reaches nobody it was not for: no
// prompt, no screen, no snapshot, no loudspeaker, no thought, no finding, no answer to a command,
// no log line, no error, and nothing in the journal that somebody else may read. Every text is
// unique, and the model repeats all that it is shown, so that whatever is derived from a text is
// found as well. In make proof there are 10,000 histories.
func TestNoPrivateByteLeaves(t *testing.T) {
	checks := "100"
	if os.Getenv("EARSHOT_PROOF") != "" {
		checks = "10000"
	}
	// A history cannot be shrunk within a bubble: that ends in a panic, which hides what was found.
	for name, value := range map[string]string{"rapid.checks": checks, "rapid.shrinktime": "0s"} {
		old := flag.Lookup(name).Value.String()
		flag.Set(name, value)
		defer flag.Set(name, old)
	}
	rapid.Check(t, func(rt *rapid.T) {
		var s *stage
		synctest.Test(t, func(t *testing.T) {
			s = &stage{rt: rt, most: rapid.IntRange(1, len(persons)).Draw(rt, "persons"), secrets: make(map[string]secret), sits: true, journal: new(testkit.Journal), logged: new(strings.Builder)}
			s.peeks = make(map[peek]bool)
			s.open(t.Context())
			for range rapid.IntRange(1, 25).Draw(rt, "events") {
				s.act(t.Context())
				s.peek()
				time.Sleep(rapid.SampledFrom([]time.Duration{0, time.Millisecond, 20 * time.Millisecond, time.Second, time.Minute}).Draw(rt, "pause"))
			}
			time.Sleep(time.Minute)
			s.stop()
		})
		s.check()
	})
}

// secretPrint is a number that is part of every voiceprint.
const secretPrint = 271828

// A secret says who may know one text, and whether it may be kept.
type secret struct {
	people, agents []string
	unkept         bool
}

// A telling is what the model of an agent was told.
type telling struct{ agent, text string }

// A peek is a mark that somebody saw in a snapshot of the room.
type peek struct{ who, mark string }

// A stage is a room that notes everything that comes out of it.
type stage struct {
	*room.Room
	rt      *rapid.T
	people  *participants.Registry
	journal *testkit.Journal
	logged  *strings.Builder
	screens []*screen
	stop    func()

	most    int // how many persons do something
	said    int // how many texts there are so far
	ids     int
	mu      sync.Mutex
	secrets map[string]secret // by the text
	prompts []telling
	peeks   map[peek]bool
	sits    bool  // whether the second agent has a seat
	fault   error // an error that repeats what was written
}

// open opens the room as a daemon does: with what the agents may know of the past, and with nobody
// in it.
func (s *stage) open(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	actors := participants.DefaultConfig()
	for _, n := range persons[1:] {
		actors.Actors = append(actors.Actors, participants.Actor{ID: identity(n), Type: participants.Human, DisplayName: n, Handles: []string{"console:" + n}})
	}
	setup := participants.Setup{Account: ann, AccountName: "ann", Actors: actors, Now: time.Now}
	for _, n := range staff {
		setup.Agents = append(setup.Agents, participants.Participant{ID: identity(n), Name: n, Type: participants.Internal})
	}
	var err error
	if s.people, err = participants.Open(setup); err != nil {
		s.rt.Fatal(err)
	}
	agent := earshot.Audience{Room: earshot.Desk}.With(participants.Agent)
	past := slices.DeleteFunc(s.journal.Events(), func(e earshot.Event) bool {
		return !e.Visibility.Allows(agent) && !e.Visibility.Allows(earshot.Audience{Room: earshot.Desk}.With(identity(staff[1])))
	})
	config := executive.DefaultConfig()
	config.Speech.TypedAloud = true
	config.AgentsSleepAfter = 2
	index := memory.NewIndex()
	for _, e := range past {
		index.Take(e, time.Now())
	}
	log := slog.New(slog.NewTextHandler(s.logged, &slog.HandlerOptions{Level: slog.LevelDebug})) // one, which all write to in turn
	s.Room = room.New(room.Config{
		Memory: index,
		ID:     earshot.Desk, Settings: func() executive.Config { return config },
		People: s.people, Voices: new(choir), Journal: s.journal, Model: s, Past: past, Agents: s.sitting, Recall: s.recall, Now: time.Now, NewID: s.newID,
		Log: log,
	})
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	c := s.consolidator(index, config, log)
	running.Go(func() { c.Run(ctx) })
	s.stop = func() { cancel(); running.Wait() }
	if often(s.rt, "a loudspeaker") {
		loud := &screen{name: "loudspeaker", aloud: true}
		s.Enter(loud, earshot.Audience{Unknown: true})
		s.screens = append(s.screens, loud)
	}
	if often(s.rt, "a kitchen") {
		kitchen := &screen{name: "kitchen", readers: []string{"bob", "carol"}}
		s.Enter(kitchen, earshot.Audience{Members: []earshot.ParticipantID{"bob", "carol"}})
		s.screens = append(s.screens, kitchen)
	}
}

// sitting returns the agents that have a seat.
func (s *stage) sitting() (all []agents.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, n := range staff {
		if i == 0 || s.sits {
			all = append(all, agents.Record{ID: identity(n), Profile: earshot.Profile{Name: n, AutoReply: true}})
		}
	}
	return all
}

// recall returns the events that an agent may know.
func (s *stage) recall(_ context.Context, id earshot.ParticipantID) ([]earshot.Event, error) {
	return slices.DeleteFunc(s.journal.Events(), func(e earshot.Event) bool { return !e.Visibility.Allows(earshot.Audience{Room: earshot.Desk}.With(id)) }), nil
}

// seat gives the second agent a seat, or takes it away.
func (s *stage) seat(sits bool) {
	s.mu.Lock()
	s.sits = sits
	s.mu.Unlock()
	s.Reseat()
}

// peek takes a snapshot of the room for each person and for a stranger.
func (s *stage) peek() {
	for _, p := range append([]string{"a stranger"}, persons...) {
		a := earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{identity(p)}}
		if p == "a stranger" {
			a = earshot.Audience{Room: earshot.Desk, Unknown: true}
		}
		text, err := json.Marshal(s.Snapshot(a))
		s.mu.Lock()
		if err != nil {
			s.fault = err
		}
		for _, m := range marks.FindAllString(string(text), -1) {
			s.peeks[peek{p, m}] = true
		}
		s.mu.Unlock()
	}
}

// often is true now and then.
func often(rt *rapid.T, what string) bool { return rapid.IntRange(0, 2).Draw(rt, what) == 0 }

func (s *stage) newID() earshot.EventID {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return earshot.EventID(fmt.Sprintf("e%04d", s.ids))
}

// act does one of the things that people do.
func (s *stage) act(ctx context.Context) {
	who := rapid.SampledFrom(persons[:s.most]).Draw(s.rt, "who")
	at := s.at(who)
	switch rapid.SampledFrom([]string{"write", "write", "write", "again", "again", "whisper", "whisper", "whisper", "speak", "speak", "voice", "ask aloud", "come", "come", "go", "become", "ask", "restart", "mode", "note", "merge", "split", "disk", "seat", "think"}).Draw(s.rt, "deed") {
	case "write":
		s.write(ctx, who, at)
	case "again":
		q := rapid.SampledFrom([]string{"Earshot, what was said?", "Earshot, say that again", "Scout, what was said?", "@all go on"}).Draw(s.rt, "question")
		s.admit(ctx, s.from(who, at, earshot.Message{Text: earshot.Text(q)}))
	case "whisper":
		s.whisper(ctx, who, at)
	case "speak":
		s.admit(ctx, earshot.Event{From: earshot.Handle{Provider: "microphone", ID: "1"}, Via: "loudspeaker", Body: earshot.Utterance{
			Text: earshot.Text(rapid.SampledFrom([]string{"earshot ", "scout ", ""}).Draw(s.rt, "called") + s.text(persons, staff)), Confidence: 1,
			Voice: &earshot.Voice{Heard: time.Second, Print: []float32{float32(rapid.SampledFrom([]int{0, 3, 3, 5, 5, ownPrint}).Draw(s.rt, "voice")), secretPrint}},
		}})
	case "ask aloud":
		q := rapid.SampledFrom([]string{"earshot what are my notes", "earshot what did i write", "earshot remember my voice", "yes"}).Draw(s.rt, "question")
		s.admit(ctx, earshot.Event{From: earshot.Handle{Provider: "microphone", ID: "1"}, Via: "loudspeaker", Body: earshot.Utterance{
			Text: earshot.Text(q), Confidence: 1, Voice: &earshot.Voice{Heard: time.Second, Print: []float32{float32(rapid.SampledFrom([]int{3, 5}).Draw(s.rt, "voice")), secretPrint}},
		}})
	case "voice":
		s.admit(ctx, s.from(who, at, earshot.Command{Name: rapid.SampledFrom([]string{"voice", "correct"}).Draw(s.rt, "command"), Args: earshot.Text(rapid.SampledFrom([]string{
			"name 3 ann", "name 3 bob", "name 5 me", "unname 3", "keep 5 yes", "forget 3", "", "that was bob", "that was me",
		}).Draw(s.rt, "args"))}))
	case "come":
		s.come(ctx, who, at)
	case "go":
		if at != nil {
			s.leave(ctx, at)
		}
	case "become":
		if at != nil {
			name := rapid.SampledFrom(persons).Draw(s.rt, "name")
			s.admit(ctx, earshot.Event{From: s.people.Handle(at.name), Via: at.name, Body: earshot.Command{Name: "identity", Args: earshot.Text(name)}})
		}
	case "ask":
		s.admit(ctx, s.from(who, at, earshot.Command{Name: rapid.SampledFrom([]string{"why", "context", "who", "identity", "stop", "help", "think"}).Draw(s.rt, "command")}))
	case "think":
		s.operate(ctx, "think", "what of "+s.text(persons, staff))
	case "mode":
		s.operate(ctx, rapid.SampledFrom([]string{"mute", "pause", "offrecord", "offrecord", "resume", "resume"}).Draw(s.rt, "mode"), "")
	case "note":
		s.operate(ctx, "note", s.text(persons, staff))
	case "merge":
		keep, other := rapid.SampledFrom(persons).Draw(s.rt, "keep"), rapid.SampledFrom(persons).Draw(s.rt, "other")
		s.operate(ctx, "merge", keep+" "+other)
	case "split":
		s.operate(ctx, "split", rapid.SampledFrom(persons).Draw(s.rt, "other"))
	case "seat":
		s.seat(!often(s.rt, "no seat"))
	case "disk":
		var full error
		if often(s.rt, "full") {
			full = errors.New("disk full")
		}
		s.journal.Fail(full)
	case "restart":
		s.journal.Fail(nil)
		s.stop()
		for _, c := range s.screens {
			c.gone = true
		}
		s.open(ctx)
	}
}

// operate gives a command as ann.
func (s *stage) operate(ctx context.Context, name, args string) {
	s.admit(ctx, earshot.Event{From: ann, Body: earshot.Command{Name: name, Args: earshot.Text(args)}})
}

// text returns a new text that only some people and agents may know.
func (s *stage) text(people, agents []string) string {
	s.said++
	text := fmt.Sprintf("mark%dx", s.said)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets[text] = secret{people, agents, false}
	if mode, _ := s.Mode(); mode == earshot.OffRecord {
		s.secrets[text] = secret{people, nil, true}
	}
	return text
}

// write lets somebody write to the room. A mention in the text may restrict it to some agents.
func (s *stage) write(ctx context.Context, who string, at *screen) {
	form := rapid.SampledFrom([]struct {
		text   string
		agents []string
	}{
		{"%s", staff}, {"Earshot, %s", staff[:1]}, {"@Scout %s", staff[1:]}, {"@earshot @Scout %s", staff},
		{"@all %s", staff}, {"bob, %s", staff}, {"as @Scout said: %s", staff}, {"TO: Scout, bob\n%s", staff[1:]},
		{"what do you think of %s, Earshot?", staff[:1]}, {"@nobody %s", staff}, {"[FROM: bob] %s", staff},
	}).Draw(s.rt, "form")
	s.admit(ctx, s.from(who, at, earshot.Message{Text: earshot.Text(fmt.Sprintf(form.text, s.text(persons, form.agents)))}))
}

// whisper lets somebody write to some others in private, or to nobody by mistake.
func (s *stage) whisper(ctx context.Context, who string, at *screen) {
	to := rapid.SliceOfNDistinct(rapid.SampledFrom(append([]string{"Nobody", "Earshot"}, append(persons, staff...)...)), 1, 3, rapid.ID).Draw(s.rt, "to")
	members := append([]string{s.is(who, at)}, to...)
	if slices.Contains(to, "Nobody") {
		members = nil
	}
	var all []string // each person under each of their handles
	for _, name := range members {
		p, _ := s.people.Find(name)
		for _, id := range s.people.Readers(p.ID) {
			all = append(all, nameOf(id))
		}
	}
	text := s.text(all, all)
	if often(s.rt, "thought") {
		text = "think about " + text
	}
	s.admit(ctx, s.from(who, at, earshot.Command{Name: "msg", Args: earshot.Text(strings.Join(to, ", ") + ": " + text)}))
}

// from returns an event that somebody brings in, from a screen or from elsewhere.
func (s *stage) from(who string, at *screen, body earshot.Body) earshot.Event {
	if at == nil {
		return earshot.Event{From: handle(who), Body: body}
	}
	return earshot.Event{From: s.people.Handle(at.name), Via: at.name, Body: body}
}

// is returns the name of whoever writes at a screen.
func (s *stage) is(who string, at *screen) string {
	if at == nil {
		return who
	}
	return s.people.Name(s.reader(at))
}

// admit brings in e. An error must not repeat what was written.
func (s *stage) admit(ctx context.Context, e earshot.Event) {
	synctest.Wait()
	if err := s.Admit(ctx, e); err != nil && marks.MatchString(err.Error()) {
		s.fault = err
	}
}

// come lets somebody come, at a screen of their own.
func (s *stage) come(ctx context.Context, who string, at *screen) {
	if at != nil {
		return
	}
	c := &screen{name: fmt.Sprintf("%s%d", who, len(s.screens)), reads: s.reading}
	s.people.Attach(participants.Session{ID: c.name, Room: earshot.Desk, Participant: identity(who), Account: handle(who), Outlet: c.name, Since: time.Now()})
	c.leave = s.Enter(c, earshot.Audience{Members: []earshot.ParticipantID{identity(who)}})
	c.owner = who
	s.screens = append(s.screens, c)
	s.admit(ctx, earshot.Event{From: s.people.Handle(c.name), Via: c.name, Body: earshot.Presence{Session: c.name, Here: true}})
}

// leave makes the person at a screen leave.
func (s *stage) leave(ctx context.Context, c *screen) {
	c.leave()
	c.leaves(s.reading(c))
	s.admit(ctx, earshot.Event{From: s.people.Handle(c.name), Via: c.name, Body: earshot.Presence{Session: c.name}})
	s.people.Detach(c.name)
}

// at returns the screen at which somebody came, if they are still here.
func (s *stage) at(who string) *screen {
	for _, c := range s.screens {
		if c.owner == who && !c.gone {
			return c
		}
	}
	return nil
}

// reader returns who is at a screen just now.
func (s *stage) reader(c *screen) earshot.ParticipantID {
	session, _ := s.people.At(c.name)
	return session.Participant
}

// reading returns who reads a screen just now, for the screen itself.
func (s *stage) reading(c *screen) []string {
	return []string{nameOf(s.people.Resolve(s.people.Handle(c.name)).Reader())}
}

var marks = regexp.MustCompile(`mark\d+x`)

// Stream implements [llm.Service]: a model that repeats all it has been told.
func (s *stage) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	told := fmt.Sprint(req.Messages)
	s.mu.Lock()
	agent, _, _ := strings.Cut(strings.TrimPrefix(req.Messages[0].Text, "You are "), ".")
	if req.Priority == llm.Memory {
		agent = nameOf(earshot.ParticipantID(req.Origin.Agent))
	}
	s.prompts = append(s.prompts, telling{agent, told})
	quotes := len(s.prompts)%4 == 0
	opening := []string{"I know:", "@Scout, I know:", "I know:", "@Earshot I know:", "@all I know:"}[len(s.prompts)%5]
	s.mu.Unlock()
	return func(yield func(llm.Delta, error) bool) {
		if req.Schema != nil && req.Priority == llm.Memory {
			yield(llm.Delta{Text: remembers(told)}, nil)
			yield(llm.Delta{Done: &llm.Done{}}, nil)
			return
		}
		if req.Schema != nil {
			yield(llm.Delta{Text: finds(told)}, nil)
			yield(llm.Delta{Done: &llm.Done{}}, nil)
			return
		}
		if quotes {
			yield(llm.Delta{}, &llm.Error{Fault: llm.Broken, Engine: "model", Err: errors.New(told)})
			return
		}
		said := append([]string{opening}, marks.FindAllString(told, -1)...)
		for i, m := range said {
			select {
			case <-ctx.Done():
				yield(llm.Delta{}, context.Cause(ctx))
				return
			case <-time.After(time.Millisecond):
			}
			if !yield(llm.Delta{Text: m + " "}, nil) {
				return
			}
			if i == len(said)/2 { // halfway, when part of the reply can be seen
				s.peek()
			}
		}
		yield(llm.Delta{Done: &llm.Done{}}, nil)
	}
}

// finds returns the findings of a model that repeats what it was told last, and wants to say it.
func finds(told string) string {
	all := marks.FindAllString(told, -1)
	evidence := `"e1"`
	if !strings.Contains(told, "\ne1: ") {
		evidence = ""
	}
	return fmt.Sprintf(`{"findings":[{"text":"I know %s","evidence":[%s],"confidence":0.9,"minutes":30,"worth_saying":true}]}`,
		strings.Join(all[max(0, len(all)-20):], " "), evidence)
}

// check checks everything that came out of the room.
func (s *stage) check() {
	if s.fault != nil {
		s.rt.Fatalf("an error repeats what was written: %v", s.fault)
	}
	s.passedOn()
	for _, p := range s.prompts {
		s.knows("the prompt of "+p.agent, p.text, nil, []string{p.agent})
	}
	for g := range s.peeks {
		s.knows("a snapshot", g.mark, []string{g.who}, nil)
		if s.secrets[g.mark].unkept {
			s.rt.Fatalf("a snapshot shows %s, which was off the record", g.mark)
		}
	}
	for _, c := range s.screens {
		for _, g := range c.seen {
			if c.aloud {
				s.knows("the loudspeaker", g.text, append([]string{"a stranger"}, persons...), nil)
				continue
			}
			s.knows("the screen "+c.name, g.text, g.readers, nil)
		}
	}
	for _, e := range s.journal.Events() {
		if slices.ContainsFunc(e.Visibility.Members, participants.OfVoice) {
			s.rt.Fatalf("a voice sees a %s", e.Body.Kind())
		}
		text, err := json.Marshal(e)
		if err != nil {
			s.rt.Fatal(err)
		}
		where := "a " + string(e.Body.Kind()) + " in the journal"
		for _, m := range marks.FindAllString(string(text), -1) {
			if s.secrets[m].unkept {
				s.rt.Fatalf("%s keeps %s, which was off the record", where, m)
			}
		}
		for _, p := range persons {
			if e.Visibility.Allows(earshot.Audience{Members: []earshot.ParticipantID{identity(p)}}) {
				s.knows(where, string(text), []string{p}, nil)
			}
		}
		for _, a := range staff {
			if e.Body.Kind() == earshot.KindNotice { // a notice is in no prompt
				continue
			}
			if e.Visibility.Allows(earshot.Audience{}.With(identity(a))) {
				s.knows(where, string(text), nil, []string{a})
			}
		}
	}
	var everything strings.Builder
	everything.WriteString(s.logged.String())
	for _, p := range s.prompts {
		everything.WriteString(p.text)
	}
	for _, e := range s.journal.Events() {
		text, _ := json.Marshal(e)
		everything.Write(text)
	}
	if strings.Contains(everything.String(), fmt.Sprint(secretPrint)) {
		s.rt.Fatal("a print of a voice came out")
	}
	if marks.MatchString(s.logged.String()) {
		s.rt.Fatalf("it was logged: %s", s.logged)
	}
}

// passedOn notes what an agent has told another agent by calling it. An agent may pass on its own
// words to agents, provided that all people may know what it told.
func (s *stage) passedOn() {
	for _, e := range s.journal.Events() {
		r, ok := e.Body.(earshot.Reply)
		for _, a := range staff {
			if !ok || !slices.Contains(e.To, identity(a)) || !strings.HasPrefix(string(r.Offered), "@"+a) {
				continue
			}
			for _, m := range marks.FindAllString(string(r.Offered), -1) {
				if secret := s.secrets[m]; len(secret.people) == len(persons) {
					secret.agents = append(slices.Clone(secret.agents), a)
					s.secrets[m] = secret
				}
			}
		}
	}
}

// knows fails if text contains anything that one of some people, or of some agents, may not know. A
// stranger may know what all people may know.
func (s *stage) knows(where, text string, people, agents []string) {
	for _, m := range marks.FindAllString(text, -1) {
		secret, ok := s.secrets[m]
		for _, p := range people {
			if !slices.Contains(secret.people, p) && !(p == "a stranger" && len(secret.people) == len(persons)) {
				ok = false
			}
		}
		for _, a := range agents {
			ok = ok && slices.Contains(secret.agents, a)
		}
		if !ok {
			s.rt.Fatalf("%s shows %s, which is for %v and %v, to %v and %v", where, m, secret.people, secret.agents, people, agents)
		}
	}
}

// A screen shows everything at once, and remembers who saw it.
type screen struct {
	name    string
	aloud   bool
	readers []string // the readers of a screen that several share
	owner   string   // who came at this screen
	reads   func(*screen) []string
	leave   func()
	gone    bool

	mu   sync.Mutex
	seen []glimpse
}

// A glimpse is what was shown, and to whom.
type glimpse struct {
	readers []string
	text    string
}

func (c *screen) Name() string  { return c.name }
func (c *screen) Flows() bool   { return !c.aloud }
func (c *screen) Audible() bool { return c.aloud }

func (c *screen) show(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := glimpse{c.readers, text}
	if c.reads != nil {
		g.readers = c.reads(c)
	}
	c.seen = append(c.seen, g)
}

// leaves notes who was at the screen last.
func (c *screen) leaves(readers []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone, c.readers, c.reads = true, readers, nil
}

// Show implements [earshot.Board].
func (c *screen) Show(e earshot.Event) {
	if text, err := json.Marshal(e); err == nil {
		c.show(string(text))
	}
}

// Open implements [earshot.Outlet].
func (c *screen) Open(_ context.Context, _ earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	return &reading{screen: c, heard: heard}, nil
}

// A reading is one reply on a screen.
type reading struct {
	*screen
	heard func(earshot.Heard)

	mu    sync.Mutex
	at    earshot.Heard
	ended bool
}

func (r *reading) Say(c earshot.Clause) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.show(string(c.Text))
		r.at = earshot.Heard{Clause: c.N, Byte: len(c.Text)}
		r.heard(r.at)
	}
	return nil
}

func (r *reading) Do(c earshot.Control) {
	if c == earshot.Cut {
		r.Finish()
	}
}

func (r *reading) Finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.ended, r.at.End = true, true
		r.heard(r.at)
	}
}
