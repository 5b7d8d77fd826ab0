package task

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/executive/tool"
	"earshot/llm"
	"earshot/llm/llmtest"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/store"
)

const main = participants.Agent

var (
	annOnly = earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann", main}}
	ann     = participants.Participant{ID: "ann", Name: "Ann", Type: participants.Human, Capabilities: []participants.Capability{participants.SendMessages, participants.UseTools}}
	bob     = participants.Participant{ID: "bob", Name: "Bob", Type: participants.Human, Capabilities: ann.Capabilities}
)

// A den is a runner with a real journal, and tools and a model of its own.
type den struct {
	t      *testing.T
	dir    string
	store  *store.Store
	agents *agents.Directory
	run    *Runner
	stop   func()
	model  func(*llm.Request) ([]llm.Call, string, error)
	slot   llm.Service // in place of that, if set

	mu    sync.Mutex
	set   executive.Config
	n     int
	asked []*llm.Request
	made  []string
	wrote []tool.Scope
	at    func(stage string) // called at each stage of a step
	deaf  bool               // the room takes nothing in
	mode  earshot.Mode
	gone  bool // Ann
	same  bool // Bob turned out to be Ann
	kept  int  // what was put on record, or tried
	fails int  // the number of that which fails, if below 0 after it is on record
}

func newDen(t *testing.T, dir string, model func(*llm.Request) ([]llm.Call, string, error)) *den {
	d := &den{t: t, dir: dir, model: model, set: executive.DefaultConfig(), mode: earshot.Live}
	d.set.Task.Enabled = true
	d.open()
	return d
}

func (d *den) open() {
	s, err := store.Open(context.Background(), store.Config{Directory: d.dir, NewID: d.id, Log: slog.New(slog.DiscardHandler), Projections: []earshot.Projection{agents.Projection{}, Projection{}}})
	if err != nil {
		d.t.Fatal(err)
	}
	d.store = s
	if d.agents, err = agents.Open(context.Background(), agents.Setup{Journal: s, Main: earshot.Profile{Name: "Earshot"}, Now: time.Now, NewID: d.id}); err != nil {
		d.t.Fatal(err)
	}
	d.run = NewRunner(Config{
		Journal: d, Agents: d.agents, Tools: d.tools, Model: d, Settings: func() (set executive.Config) { d.change(func() { set = d.set }); return set },
		Person: func(id earshot.ParticipantID) (participants.Participant, bool) {
			known, same := true, false
			d.change(func() { known, same = !d.gone, d.same })
			if id == bob.ID && same {
				return participants.Participant{ID: ann.ID, Name: ann.Name, Type: ann.Type, Capabilities: bob.Capabilities, Through: bob.ID}, known
			}
			return map[earshot.ParticipantID]participants.Participant{"ann": ann, "bob": bob}[id], known
		},
		Speaker: func(earshot.RoomID) earshot.ParticipantID { return main },
		Mode:    func(earshot.RoomID) (mode earshot.Mode) { d.change(func() { mode = d.mode }); return mode },
		Keep:    d.keep, NewID: d.id, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { d.run.Run(ctx) })
	d.stop = func() { cancel(); running.Wait() }
}

// change calls f while nobody else reads or changes the fields that tests change.
func (d *den) change(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// requests returns what a model was asked so far.
func (d *den) requests() []*llm.Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.asked)
}

func (d *den) close() {
	d.stop()
	if err := d.store.Close(); err != nil {
		d.t.Fatal(err)
	}
}

// Do implements [Journal].
func (d *den) Do(ctx context.Context, decide func(earshot.View) ([]earshot.Event, error)) ([]earshot.Event, error) {
	var acts []earshot.Act
	before, after := d.writes()
	if before != nil {
		return nil, before
	}
	kept, err := d.store.Do(ctx, func(v earshot.View) ([]earshot.Event, error) {
		all, err := decide(v)
		for _, e := range all {
			b, _ := e.Body.(earshot.Step)
			acts = append(acts, b.Act)
		}
		return all, err
	})
	if err == nil && len(acts) > 0 {
		d.reach("kept " + string(acts[0]))
	}
	return kept, cmp.Or(err, after)
}

// writes counts what is put on record, and returns errors for before and after.
func (d *den) writes() (before, after error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch d.kept++; d.fails {
	case d.kept:
		return errors.New("the disk is full"), nil
	case -d.kept:
		return nil, errors.New("the disk does not answer")
	}
	return nil, nil
}

// Look implements [Journal].
func (d *den) Look(ctx context.Context, f func(earshot.View) error) error {
	return d.store.Look(ctx, f)
}

func (d *den) keep(ctx context.Context, e earshot.Event) error {
	var deaf bool
	d.change(func() { deaf = d.deaf })
	if deaf {
		return errors.New("the room is closed")
	}
	d.reach("telling")
	before, after := d.writes()
	if before != nil {
		return before
	}
	_, err := d.store.Append(ctx, e)
	d.reach("told")
	return cmp.Or(err, after)
}

func (d *den) reach(stage string) {
	d.mu.Lock()
	at := d.at
	d.mu.Unlock()
	if at != nil {
		at(stage)
	}
}

func (d *den) id() earshot.EventID {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.n++
	return earshot.EventID(fmt.Sprintf("E%06d", d.n))
}

// tools note what they do: one reads, the other acts.
func (d *den) tools() tool.Table {
	row := func(name string) tool.Tool {
		return tool.Tool{
			Tool: llm.Tool{Name: name, Parameters: json.RawMessage(`{"type":"object"}`)}, Needs: participants.UseTools,
			Do: func(_ context.Context, s tool.Scope, arguments json.RawMessage) (tool.Answer, error) {
				d.reach("making " + name)
				d.mu.Lock()
				d.made = append(d.made, name+" "+string(arguments))
				d.wrote = append(d.wrote, s)
				d.mu.Unlock()
				d.reach("made " + name)
				return tool.Answer{Text: "Done, with " + earshot.Text(arguments)}, nil
			},
		}
	}
	return tool.Table{row("recall"), row("act"), row("write_file")}
}

// Stream implements [llm.Service].
func (d *den) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		d.mu.Lock()
		d.asked = append(d.asked, req)
		d.mu.Unlock()
		if d.slot != nil {
			d.slot.Stream(ctx, req)(yield)
			return
		}
		var model func(*llm.Request) ([]llm.Call, string, error)
		d.change(func() { model = d.model })
		calls, text, err := model(req)
		if err == errWait {
			<-ctx.Done()
			err = context.Cause(ctx)
		}
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		if text != "" && !yield(llm.Delta{Text: text}, nil) {
			return
		}
		for _, c := range calls {
			if !yield(llm.Delta{Call: &c}, nil) {
				return
			}
		}
		yield(llm.Delta{Done: &llm.Done{PromptTokens: 100, ReplyTokens: 10}}, nil)
	}
}

var errWait = errors.New("wait until it is ended")

// script is a model that makes these calls one after the other, "tool arguments" each, and then says the
// rest. It reads from its prompt how far it is.
func script(steps ...string) func(*llm.Request) ([]llm.Call, string, error) {
	return func(req *llm.Request) ([]llm.Call, string, error) {
		n := 0
		for _, m := range req.Messages {
			if m.Role == llm.Result || m.Role == llm.Assistant && strings.HasPrefix(m.Text, "I asked: ") && !strings.Contains(m.Text, "I do not know") {
				n++
			}
		}
		if n >= len(steps)-1 {
			return nil, steps[len(steps)-1], nil
		}
		name, arguments, _ := strings.Cut(steps[n], " ")
		return []llm.Call{{ID: "c", Tool: name, Arguments: json.RawMessage(arguments)}}, fmt.Sprintf("Step %d.", n), nil
	}
}

func (d *den) says(by participants.Participant, args string) string {
	d.t.Helper()
	said, err := d.run.Command(earshot.Desk).Do(d.t.Context(), command.Call{By: by, Audience: earshot.Audience{Members: []earshot.ParticipantID{by.ID}}, Args: earshot.Text(args)})
	if err != nil {
		return err.Error()
	}
	synctest.Wait()
	return said
}

// told returns what rooms were told.
func (d *den) told() (all []string) {
	d.t.Helper()
	found, err := d.store.Lately(d.t.Context(), earshot.Desk, earshot.KindFinding, 100, earshot.Audience{Room: earshot.Desk}.With(main))
	if err != nil {
		d.t.Fatal(err)
	}
	for _, e := range found {
		all = append(all, string(e.Body.(earshot.Finding).Text))
	}
	return all
}

// TestTask: a task is done step by step; it asks, waits for the answer, and its result is told once.
func TestTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDen(t, t.TempDir(), script(`recall {"q":1}`, `ask_person {"text":"red or blue?"}`, `act {"n":1}`, "It is painted."))
		defer func() { d.close() }()
		if said := d.says(ann, "start paint the fence"); !strings.Contains(said, "task 1") {
			t.Fatalf("it says %q", said)
		}
		if told := d.told(); len(told) != 1 || !strings.Contains(told[0], "red or blue?") || !slices.Equal(d.made, []string{`recall {"q":1}`}) {
			t.Fatalf("it made %q and tells %q", d.made, told)
		}
		if said := d.says(ann, ""); !strings.Contains(said, "1  waits for an answer: paint the fence") {
			t.Errorf("the list is %q", said)
		}
		d.close()
		d.open()
		synctest.Wait()
		if len(d.told()) != 1 {
			t.Errorf("after a start it tells %q", d.told())
		}
		if said := d.says(bob, "1 answer red"); !strings.Contains(said, "only whom it is for") {
			t.Errorf("Bob answers: %q", said)
		}
		d.change(func() { d.deaf = true })
		d.says(ann, "1 answer blue")
		if told := d.told(); len(told) != 1 {
			t.Errorf("a room that takes nothing in was told %q", told)
		}
		d.change(func() { d.deaf = false })
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		told := d.told()
		if len(told) != 2 || told[1] != `The task "paint the fence" is done: It is painted.` || !slices.Equal(d.made, []string{`recall {"q":1}`, `act {"n":1}`}) {
			t.Fatalf("it made %q and tells %q", d.made, told)
		}
		last := d.requests()[len(d.requests())-1].Messages
		if !slices.ContainsFunc(last, func(m llm.Message) bool { return m.Role == llm.User && m.Text == "They say: blue" }) {
			t.Errorf("the model was told %v", last)
		}
		if said := d.says(ann, "show 1"); !strings.Contains(said, "over done: paint the fence (2 calls, 440 tokens") || !strings.Contains(said, "It is painted.") {
			t.Errorf("it shows %q", said)
		}
		if id := d.wrote[0].About; d.run.Open(t.Context(), id) || len(d.agents.List()) != 1 || d.wrote[0].Agent == "" {
			t.Errorf("%s is open, with agents %v", id, d.agents.List())
		}
	})
}

// TestSteering: a task is paused, steered and cancelled also while the model is asked.
func TestSteering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		block := true
		d := newDen(t, t.TempDir(), func(req *llm.Request) ([]llm.Call, string, error) {
			if block {
				return nil, "", errWait
			}
			return nil, "done", nil
		})
		defer d.close()
		d.says(ann, "start wait")
		d.says(ann, "1 pause")
		asked := len(d.requests())
		d.says(ann, "1 steer mind the gap")
		time.Sleep(time.Hour)
		if len(d.requests()) != asked {
			t.Errorf("paused it asks %d times", len(d.requests())-asked)
		}
		d.says(ann, "1 resume")
		if !slices.ContainsFunc(d.requests()[len(d.requests())-1].Messages, func(m llm.Message) bool { return m.Text == "They say: mind the gap" }) {
			t.Error("it does not mind the gap")
		}
		d.says(ann, "1 cancel")
		if said := d.says(ann, "1 steer again"); !strings.Contains(said, "over") {
			t.Errorf("cancelled it says %q", said)
		}
		if len(d.told()) != 0 {
			t.Errorf("it tells %q", d.told())
		}
		d.says(bob, "start that")
		if said := d.says(ann, "2 cancel"); !strings.Contains(said, "only whom it is for") {
			t.Errorf("Ann cancels what is Bob's: %q", said)
		}
		d.change(func() { d.same = true })
		if said := d.says(ann, "2 cancel"); !strings.Contains(said, "noted") {
			t.Errorf("Ann, who is Bob, is told %q", said)
		}
		d.says(ann, "start this")
		d.change(func() { d.gone = true })
		d.says(ann, "3 steer quickly")
		if told := d.told(); len(told) != 1 || !strings.Contains(told[0], "may not have it done") {
			t.Errorf("without Ann it tells %q", told)
		}
	})
}

// TestLimits: what a task may take ends it, whoever asks too much is refused, and a long result is in a
// file.
func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		d := newDen(t, t.TempDir(), func(req *llm.Request) ([]llm.Call, string, error) {
			n++
			return []llm.Call{{Tool: "act", Arguments: json.RawMessage(fmt.Sprint(`{"n":`, n, `}`))}}, "On it.", nil
		})
		defer d.close()
		d.change(func() { d.set.Task.Calls = 5 })
		d.says(ann, "start for ever")
		if told := d.told(); len(d.made) != 5 || len(told) != 1 || !strings.Contains(told[0], "used up. On it.") {
			t.Errorf("it made %d calls and tells %q", len(d.made), told)
		}
		d.change(func() { d.model = script(strings.Repeat("A long story. ", 300)) })
		d.says(ann, "start tell a story")
		if told := d.told(); len(told) != 2 || len(told[1]) > mostTold+200 || !strings.HasSuffix(told[1], "in the file result.md of /owner/task/"+strings.ToLower(string(d.wrote[len(d.wrote)-1].About))+".") {
			t.Errorf("it tells %q", told)
		}
		if !strings.HasPrefix(d.made[len(d.made)-1], "write_file") || !slices.Contains(d.wrote[len(d.wrote)-1].Rests(), d.wrote[len(d.wrote)-1].About) {
			t.Errorf("it wrote %q", d.made[len(d.made)-1])
		}
		d.change(func() {
			d.model = func(*llm.Request) ([]llm.Call, string, error) { return nil, "", errors.New("nobody answers") }
		})
		d.change(func() { d.set.Task.Most = 1 })
		if said := d.says(ann, "start something"); !strings.Contains(said, "It is task 3") {
			t.Errorf("it says %q", said)
		}
		for by, want := range map[*participants.Participant]string{
			&ann: "no more are possible", {ID: participants.Generic, Type: participants.Human}: "rights of a person", {ID: "x", Type: participants.Internal}: "rights of a person",
		} {
			if said := d.says(*by, "start more"); !strings.Contains(said, want) {
				t.Errorf("%s is told %q", by.ID, said)
			}
		}
		if said := d.says(ann.Aloud(), "start more"); !strings.Contains(said, "a voice proves nothing") {
			t.Errorf("a voice is told %q", said)
		}
		asked := len(d.requests())
		time.Sleep(time.Hour)
		if n := len(d.requests()) - asked; n < 50 || n > 61 {
			t.Errorf("a model that does not answer is asked %d times in an hour: %s", n, d.says(ann, ""))
		}
		d.change(func() { d.mode = earshot.OffRecord })
		if said := d.says(ann, "start more"); !strings.Contains(said, "nothing is kept") {
			t.Errorf("off the record it says %q", said)
		}
	})
}

// TestPrivate: a private task, its steps and its result are for its members, and go with what they rest on.
func TestPrivate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDen(t, t.TempDir(), script(`act {"n":1}`, "The swordfish is hidden."))
		defer d.close()
		kept, err := d.store.Append(t.Context(), earshot.Event{ID: d.id(), At: time.Now(), Room: earshot.Desk, Author: "ann", Visibility: annOnly, Body: earshot.Message{Text: "hide it"}})
		if err != nil {
			t.Fatal(err)
		}
		use := func(by participants.Participant, args string) (tool.Answer, error) {
			a, err := d.run.Tool().Do(t.Context(), tool.Scope{
				Room: earshot.Desk, Askers: []participants.Participant{by}, Visibility: annOnly,
				Audience: earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{by.ID}, Agents: []earshot.ParticipantID{main}},
				Rests:    func() []earshot.EventID { return []earshot.EventID{kept[0].ID} },
			}, json.RawMessage(args))
			synctest.Wait()
			return a, err
		}
		if _, err := use(ann, `{"action":"start","text":"hide the swordfish"}`); err != nil {
			t.Fatal(err)
		}
		for _, s := range d.wrote {
			if !slices.Equal(s.Audience.Members, annOnly.Members) || s.Audience.Unknown || !slices.Contains(s.Rests(), kept[0].ID) {
				t.Errorf("a tool is used for %+v", s.Audience)
			}
		}
		if _, err := d.run.New(ann, earshot.Event{Visibility: earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann", "coder"}}, Body: earshot.Task{Text: "hide"}}); err == nil {
			t.Error("there is a task that nobody can tell of")
		}
		if a, err := use(ann, `{"action":"list"}`); err != nil || !strings.Contains(string(a.Text), "over done: hide the swordfish") || a.Visibility.Scope != earshot.Private || len(a.Sources) == 0 {
			t.Errorf("Ann is told %q for %v, %v", string(a.Text), a.Visibility, err)
		}
		if a, err := use(bob, `{"action":"show","number":1}`); err == nil {
			t.Errorf("Bob is shown %q", string(a.Text))
		}
		for _, kind := range []earshot.Kind{earshot.KindTask, earshot.KindStep, earshot.KindFinding} {
			all, err := d.store.Lately(t.Context(), earshot.Desk, kind, 100, earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{"bob"}})
			if err != nil || len(all) > 0 {
				t.Errorf("Bob sees %v, %v", all, err)
			}
		}
		if _, err := d.store.Append(t.Context(), earshot.Event{ID: d.id(), At: time.Now(), Room: earshot.Desk, Author: "ann", Visibility: annOnly, Body: earshot.Withdrawal{Of: kept[0].ID}}); err != nil {
			t.Fatal(err)
		}
		if all, err := d.run.read(t.Context(), "true"); err != nil || len(all) > 0 {
			t.Errorf("%v is left, %v", all, err)
		}
		found, err := d.store.For(earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{"ann"}}).Search(t.Context(), "swordfish", 10)
		if err != nil || len(found) > 0 || len(d.told()) > 0 {
			t.Errorf("%v and %q are left, %v", found, d.told(), err)
		}
	})
}

// TestFair: two tasks and talk share one slot of an engine. Talk waits for no more than a parked request,
// and the tasks go on by turns.
func TestFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const every = 50 * time.Millisecond
		step := func(name string) llmtest.Rule {
			return llmtest.Rule{When: name, Reply: "I am on the " + name + ".", Calls: []llm.Call{{Tool: "act", Arguments: json.RawMessage(`{"n":1}`)}}}
		}
		rules := []llmtest.Rule{step("fence"), step("hedge")}
		for i := range rules {
			again := rules[i]
			again.Result = new(string)
			rules = append(rules, again)
		}
		d := newDen(t, t.TempDir(), nil)
		d.slot = &llm.Scheduler{Engine: &llmtest.Script{Reply: "Hello Ann, it is a fine day.", Every: every, Rules: rules}}
		defer d.close()
		d.change(func() { d.set.Task.Calls, d.set.Task.Tokens = 1000, 1_000_000 })
		d.says(ann, "start paint the fence")
		d.says(ann, "start cut the hedge")
		talked := 0
		for range 40 {
			time.Sleep(730 * time.Millisecond)
			began := time.Now()
			for delta, err := range d.slot.Stream(t.Context(), &llm.Request{Priority: llm.ReplyToPerson, Messages: []llm.Message{{Role: llm.User, Text: "hello"}}}) {
				if err != nil {
					t.Fatal(err)
				}
				if delta.Text != "" {
					talked++
					if took := time.Since(began); took > 2*every {
						t.Errorf("talk waits for %v", took)
					}
					break
				}
			}
		}
		d.says(ann, "1 pause")
		d.says(ann, "2 pause")
		steps := make(map[earshot.Path]int)
		for _, s := range d.wrote {
			steps[s.Home]++
		}
		t.Logf("%v, while %d times somebody talked", steps, talked)
		if len(steps) != 2 || talked != 40 {
			t.Errorf("the tasks made %v steps, and %d times somebody talked", steps, talked)
		}
		for _, n := range steps {
			if 2*n < len(d.wrote)/2 {
				t.Errorf("of %d steps one made %d", len(d.wrote), n)
			}
		}
	})
}

// TestHelper: a helper does a part of a task with the same files, within half of the budget, and its result
// is the outcome of the call, and told to nobody. It ends with the task, and the task goes on without it.
func TestHelper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		helper, all := script(`delegate {"text":"hire another"}`, `act {"n":1}`, "It is bought."), script(`delegate {"text":"buy paint"}`, "It is painted.")
		waits, asks := false, false
		d := newDen(t, t.TempDir(), func(req *llm.Request) ([]llm.Call, string, error) {
			if req.Messages[1].Text != "buy paint" {
				return all(req)
			}
			if slices.ContainsFunc(req.Tools, func(t llm.Tool) bool { return t.Name == delegateName }) {
				t.Error("a helper may have helpers")
			}
			if waits {
				return nil, "", errWait
			}
			if asks {
				return []llm.Call{{Tool: askName, Arguments: json.RawMessage(`{"text":"Which?"}`)}}, "", nil
			}
			return helper(req)
		})
		defer func() { d.close() }()
		d.says(ann, "start paint the fence")
		time.Sleep(time.Minute)
		synctest.Wait()
		if told := d.told(); len(told) != 1 || !strings.Contains(told[0], "It is painted.") {
			t.Errorf("told is %q", told)
		}
		tasks, err := d.run.read(t.Context(), "1 = 1")
		if err != nil || len(tasks) != 2 {
			t.Fatalf("there are %d tasks, %v", len(tasks), err)
		}
		task, helps := tasks[0], tasks[1]
		if helps.Path != task.Path+"/sub/0" || helps.Whose() != "ann" || helps.Budget.Tokens > task.Budget.Tokens/2 || helps.Budget.Calls != task.Budget.Calls/2 {
			t.Errorf("the helper's task is %+v, %+v", helps.Task, helps.Budget)
		}
		if last := d.requests()[len(d.requests())-1]; !slices.ContainsFunc(last.Messages, func(m llm.Message) bool { return m.Role == llm.Result && strings.HasSuffix(m.Text, "\nIt is bought.") }) {
			t.Errorf("the task was worked on with %+v", last.Messages)
		}
		if d.wrote[0].Home != task.Path || d.wrote[0].Agent == "" || task.Took.Calls != 3 || task.Took.Tokens != 5*110 {
			t.Errorf("it worked in %q, and took %+v", d.wrote[0].Home, task.Took)
		}

		d.change(func() { waits = true })
		d.says(ann, "start paint the fence again")
		d.says(ann, "4 cancel")
		if told := d.told(); len(told) != 2 {
			t.Errorf("without its helper it did not go on: %q", told)
		}
		d.says(ann, "start paint the fence once more")
		d.says(ann, "5 pause")
		d.says(ann, "5 cancel")
		d.change(func() { waits, asks = false, true })
		d.says(ann, "start paint the fence at last")
		d.says(ann, "7 cancel")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if open, err := d.run.read(t.Context(), isOpen); err != nil || len(open) > 0 {
			t.Errorf("still open: %+v, %v", open, err)
		}
		if told := d.told(); len(told) != 3 || !strings.Contains(told[2], "needs an answer: Which?") {
			t.Errorf("told is %q", told)
		}
	})
}

// TestRestricted: a task uses no tool but those that it may, and one that is quiet tells its result to
// nobody and writes it to a file.
func TestRestricted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDen(t, t.TempDir(), script(`act {"n":1}`, `recall {"q":1}`, "It is painted."))
		defer func() { d.close() }()
		draft := func(tools ...string) earshot.Event {
			return earshot.Event{Visibility: earshot.Visibility{Scope: earshot.Public}, Body: earshot.Task{Text: "paint", Tools: tools, Quiet: true}}
		}
		if _, err := d.run.New(ann, draft("act", "fly")); err == nil || !strings.Contains(err.Error(), "not all of act, fly are tools") {
			t.Errorf("a tool that there is not: %v", err)
		}
		e, err := d.run.New(ann, draft("recall", "write_file"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Do(t.Context(), func(earshot.View) ([]earshot.Event, error) { return []earshot.Event{e}, nil }); err != nil {
			t.Fatal(err)
		}
		d.run.Wake()
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []string{`recall {"q":1}`, `write_file {"content":"It is painted.","path":"result.md"}`}; !slices.Equal(d.made, want) {
			t.Errorf("it made %q", d.made)
		}
		if told := d.told(); len(told) != 0 {
			t.Errorf("it tells %q", told)
		}
		for _, tool := range d.requests()[0].Tools {
			if tool.Name == "act" {
				t.Error("the model is offered a tool that the task may not use")
			}
		}
	})
}
