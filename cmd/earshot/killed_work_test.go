package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"earshot"
	"earshot/executive/schedule"
	"earshot/internal/testkit"
	"earshot/store"
)

// kills returns how often a daemon that works is killed: more often in a proof run.
func kills() int {
	if os.Getenv("EARSHOT_PROOF") != "" {
		return 200
	}
	return 20
}

// TestKilledAtWork kills the whole daemon again and again while agents work on tasks and by the clock.
// Afterwards each act was done once, or the person was asked about it once; each task has one end, which is
// told once; and each run that was due is one task.
func TestKilledAtWork(t *testing.T) {
	t.Parallel()
	model := newClerk(t)
	h := newHome(t, "EARSHOT_EXECUTIVE_LLM_PROVIDER=openai", "EARSHOT_EXECUTIVE_LLM_MODEL=m", "EARSHOT_EXECUTIVE_LLM_HOST="+model.URL,
		"EARSHOT_EXECUTIVE_TASK_ENABLED=true", "EARSHOT_EXECUTIVE_TASK_AT_ONCE=4", "EARSHOT_EXECUTIVE_TASK_MOST=1000", "EARSHOT_EXECUTIVE_SCHEDULE_MOST=1000")
	w := &work{home: h, due: make(map[earshot.EventID][]time.Time)}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 1))

	first := h.daemon()
	if _, err := h.client().Do(t.Context(), "every", "month on the 1st at 9:00 count the months"); err != nil {
		t.Fatal(err)
	}
	first.end(syscall.SIGTERM)
	like := w.events()[slices.IndexFunc(w.events(), func(e earshot.Event) bool { s, is := e.Body.(earshot.Schedule); return is && s.Act == earshot.Created })]

	for round := range kills() {
		w.overdue(like, round)
		answers := w.answers()
		reached := model.await(chance.IntN(8))
		d := h.daemon()
		ctx, leave := context.WithCancel(t.Context())
		var person sync.WaitGroup
		person.Go(func() { // some of it is acknowledged, and some is cut off
			for _, does := range append(answers, fmt.Sprintf("start round %d%s", round, []string{"", ", and ask", ", at once"}[round%3])) {
				if _, err := h.client().Do(ctx, "task", earshot.Text(does)); err != nil {
					return
				}
			}
		})
		delay := time.NewTimer(time.Second) // if there is less to do
		select {
		case <-d.done:
			t.Fatalf("round %d: the daemon ended by itself:\n%s", round, d.out.String())
		case <-reached:
			delay.Reset(time.Duration(chance.IntN(15_000)) * time.Microsecond)
			<-delay.C
		case <-delay.C:
		}
		d.end(syscall.SIGKILL)
		leave()
		testkit.Finish(t, testkit.Patience, "the person", person.Wait)
	}
	w.finish()

	all, files := w.events(), w.files()
	if found := workFaults(all, files, w.due); len(found) > 0 {
		t.Errorf("%d faults:\n%s", len(found), strings.Join(found, "\n"))
	}
	asked, done := 0, 0
	for _, e := range all {
		switch b := e.Body.(type) {
		case earshot.Step:
			if b.Act == earshot.StepQuestion && b.Of != "" {
				asked++
			}
		case earshot.Task:
			if b.Act == earshot.TaskDone {
				done++
			}
		}
	}
	t.Logf("%d tasks were done, and %d acts asked about", done, asked)
	if done < kills() {
		t.Errorf("%d tasks were done; the daemon was killed too early to prove anything", done)
	}
	for what, plant := range plants {
		planted := plant(slices.Clone(all))
		if planted != nil && len(workFaults(planted, files, w.due)) == 0 {
			t.Errorf("nobody notices %s", what)
		}
	}
	lost := slices.ContainsFunc(files, func(name string) bool { // but one that was asked about may be missing
		return len(workFaults(all, slices.DeleteFunc(slices.Clone(files), func(other string) bool { return other == name }), w.due)) > 0
	})
	if !lost || len(workFaults(all, append(files, "nonce0"), w.due)) == 0 {
		t.Error("nobody notices a file too few or too many")
	}
}

// A clerk is a model server. Asked to work on a task, it lists files, writes one, has something done by the
// clock, asks if it is to, and is done. No two of its calls are the same.
type clerk struct {
	*httptest.Server
	mu      sync.Mutex
	said    int
	left    int // answers until reached is closed
	reached chan struct{}
}

func newClerk(t *testing.T) *clerk {
	c := &clerk{reached: make(chan struct{})}
	c.Server = httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(func() { testkit.Finish(t, testkit.Patience, "the end of the model", c.Close) })
	return c
}

// await returns a channel that is closed after some answers for tasks.
func (c *clerk) await(answers int) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left, c.reached = answers, make(chan struct{})
	return c.reached
}

// next returns the number of an answer for a task.
func (c *clerk) next() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said++
	if c.left--; c.left == 0 {
		close(c.reached)
	}
	return c.said
}

func (c *clerk) serve(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Messages []struct{ Role, Content string }
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &asked) != nil || len(asked.Messages) < 2 || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"m","object":"model"}]}`)
		return
	}
	goal, step, nonce := asked.Messages[1].Content, 0, 0
	for _, m := range asked.Messages {
		if m.Role == "tool" || m.Role == "assistant" && strings.HasPrefix(m.Content, "I asked: ") && !strings.Contains(m.Content, "I do not know") {
			step++
		}
	}
	if strings.Contains(asked.Messages[0].Content, "work on a task") {
		nonce = c.next()
	}
	var calls []map[string]any
	call := func(tool, arguments string) {
		calls = append(calls, map[string]any{"index": len(calls), "id": fmt.Sprint("c", len(calls)), "type": "function", "function": map[string]string{"name": tool, "arguments": arguments}})
	}
	at := func(n int) bool {
		return step == n || strings.Contains(goal, "at once") && step == 0 && n < 3
	}
	if at(0) {
		call("list_files", "{}")
	}
	if at(1) {
		call("write_file", fmt.Sprintf(`{"path":"nonce%d.txt","content":"It is nonce%d."}`, nonce, nonce))
	}
	if at(2) {
		call("schedule", fmt.Sprintf(`{"every":"month on the 1st at 9:00 look at nonce%d"}`, nonce))
	}
	if at(3) && strings.Contains(goal, "ask") {
		call("ask_person", `{"text":"red or blue?"}`)
	}
	delta := map[string]any{"content": fmt.Sprintf("It is step %d.", step)}
	if calls != nil {
		delta["tool_calls"] = calls
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, d := range []map[string]any{{"delta": delta}, {"delta": map[string]any{}, "finish_reason": "stop"}} {
		data, _ := json.Marshal(map[string]any{"choices": []any{d}}) // which is always JSON
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
	}
	_, _ = io.WriteString(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":5}}\n\ndata: [DONE]\n\n")
}

// A work is what a daemon in a home works on.
type work struct {
	*home
	due map[earshot.EventID][]time.Time // the runs of the schedules that were overdue
}

// events returns the whole journal.
func (w *work) events() (all []earshot.Event) {
	w.t.Helper()
	archive, err := store.OpenReader(w.t.Context(), store.Config{Directory: w.dir + "/state/earshot/journal"})
	if err != nil {
		w.t.Fatal(err)
	}
	defer archive.Close()
	for e, err := range archive.Export(w.t.Context()) {
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// files returns the names of the files that agents wrote, without their ending.
func (w *work) files() (all []string) {
	testkit.Files(w.t, w.dir, func(path string, _ []byte) {
		if name := filepath.Base(path); strings.HasPrefix(name, "nonce") {
			all = append(all, strings.TrimSuffix(name, ".txt"))
		}
	})
	return all
}

// overdue sets something like a schedule that was due several times, as if earshot had not run then.
func (w *work) overdue(like earshot.Event, round int) {
	w.t.Helper()
	s, err := store.Open(w.t.Context(), store.Config{Directory: w.dir + "/state/earshot/journal"})
	if err != nil {
		w.t.Fatal(err)
	}
	e, b := like, like.Body.(earshot.Schedule)
	e.ID, e.Sequence, e.At = earshot.EventID(ulid.Make().String()), 0, time.Now().Add(-20*time.Minute).Truncate(time.Minute)
	b.Spec, b.Zone, b.When, b.Text, b.Until = "* * * * *", "UTC", "minute", earshot.Text(fmt.Sprintf("do what is due in round %d", round)), e.At.Add(2*time.Minute)
	b.Path = earshot.Path("/owner/cron/" + strings.ToLower(string(e.ID)))
	b.Missed = []string{schedule.MissedOnce, schedule.MissedAll, schedule.MissedSkip}[round%3]
	runs := []time.Time{e.At.Add(time.Minute), e.At.Add(2 * time.Minute)}
	switch b.Missed {
	case schedule.MissedOnce:
		runs = runs[1:]
	case schedule.MissedSkip:
		runs = nil
	}
	w.due[e.ID], e.Body = runs, b
	if _, err = s.Append(w.t.Context(), e); err == nil {
		err = s.Close()
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// A situation is how far work has come.
type situation struct {
	tasks, ended, changes int
	open                  []string // questions, as /task answers them
	waits                 bool     // something is to be told, or to be done by the clock
}

func (w *work) situation() (s situation) {
	n, told := make(map[earshot.EventID]int), make(map[earshot.EventID]bool)
	tells := func(id earshot.EventID) {
		if !told[id] {
			told[id] = false
		}
	}
	questions, left := make(map[earshot.EventID]earshot.Event), maps.Clone(w.due)
	for _, e := range w.events() {
		switch b := e.Body.(type) {
		case earshot.Task:
			s.changes++
			switch b.Act {
			case earshot.Created:
				s.tasks++
				n[e.ID] = s.tasks
			case earshot.TaskAnswered:
				delete(questions, b.Question)
			default:
				s.ended++
				tells(b.Told)
			}
		case earshot.Step:
			if b.Act == earshot.StepQuestion {
				s.changes++
				questions[e.ID] = e
				tells(b.Told)
			}
		case earshot.Schedule:
			s.changes++
			if b.Act == earshot.Ended {
				delete(left, b.Of)
			}
		case earshot.Finding:
			s.changes++
			told[e.ID] = true
		}
	}
	for _, e := range questions {
		if b := e.Body.(earshot.Step); told[b.Told] {
			s.open = append(s.open, fmt.Sprintf("%d answer yes", n[b.Task]))
		}
	}
	s.waits = len(left) > 0 || slices.Contains(slices.Collect(maps.Values(told)), false)
	return s
}

// answers returns what the person answers to what is asked now.
func (w *work) answers() []string { return w.situation().open }

// finish lets the daemon do the rest. Each run waits until the one before is over, and that is looked at
// after a start at once.
func (w *work) finish() {
	w.t.Helper()
	for range 3 * kills() {
		before := w.situation()
		if before.ended == before.tasks && len(before.open) == 0 && !before.waits {
			return
		}
		d := w.daemon()
		for _, answer := range before.open {
			if _, err := w.client().Do(w.t.Context(), "task", earshot.Text(answer)); err != nil {
				w.t.Fatal(err)
			}
		}
		testkit.Await(w.t, soon, "the tasks", func() bool {
			s := w.situation()
			return s.changes > before.changes && s.ended+len(s.open) == s.tasks
		})
		d.end(syscall.SIGTERM)
	}
	w.t.Fatalf("it never comes to an end: %+v", w.situation())
}

// An act is a call of a tool as it is on record.
type act struct {
	tool, nonce         string
	done, failed, asked int
}

// workFaults returns what is wrong with a journal in which all work has come to its end, and the files that
// agents wrote. due are the runs of some schedules.
func workFaults(all []earshot.Event, files []string, due map[earshot.EventID][]time.Time) (found []string) {
	fault := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	acts, tasks, ends := make(map[earshot.EventID]*act), make(map[earshot.EventID]earshot.Task), make(map[earshot.EventID]int)
	answers, told, runs := make(map[earshot.EventID]int), make(map[earshot.EventID]int), make(map[earshot.EventID][]time.Time)
	last, ran, effects := make(map[earshot.EventID]int), make(map[earshot.EventID]int), make(map[string]int)
	for _, e := range all {
		switch b := e.Body.(type) {
		case earshot.Task:
			switch b.Act {
			case earshot.Created:
				if tasks[e.ID] = b; b.Schedule != "" {
					runs[b.Schedule] = append(runs[b.Schedule], b.Due.UTC())
					ran[e.ID]++
				}
			case earshot.TaskAnswered:
				answers[b.Question]++
			default:
				if ends[b.Of]++; b.Act != earshot.TaskDone {
					fault("task %s is %s", b.Of, b.Act)
				}
				told[b.Told] += 0
			}
		case earshot.Step:
			if ends[b.Task] > 0 {
				fault("task %s is over, and goes on with %s", b.Task, b.Act)
			}
			switch b.Act {
			case earshot.StepCall:
				_, nonce, _ := strings.Cut(string(b.Arguments), "nonce")
				nonce, _, _ = strings.Cut(nonce, `"`)
				acts[e.ID] = &act{tool: b.Tool, nonce: "nonce" + strings.TrimSuffix(nonce, ".txt")}
			case earshot.StepOutcome:
				if a := acts[b.Of]; a == nil {
					fault("what was not on record before has an outcome in %s", e.ID)
				} else if a.done++; b.Failed {
					a.failed++
				}
			case earshot.StepQuestion:
				answers[e.ID] += 0
				told[b.Told] += 0
				if a := acts[b.Of]; a != nil {
					a.asked++
				} else if b.Of != "" {
					fault("what was not on record is asked about in %s", e.ID)
				}
			}
		case earshot.Schedule:
			_, nonce, is := strings.Cut(string(b.Text), "nonce")
			switch {
			case b.Act == earshot.Created && is:
				effects["nonce"+nonce]++
			case b.Act == earshot.ScheduleRan:
				ran[b.Task]--
			case b.Act == earshot.Ended || b.Act == earshot.ScheduleSkipped:
				last[b.Of]++
			}
		case earshot.Finding:
			if told[e.ID]++; told[e.ID] > 1 {
				fault("%s is told %d times", e.ID, told[e.ID])
			}
		}
	}
	written := make(map[string]int)
	for _, name := range files {
		written[name]++
	}
	for id, a := range acts {
		does := map[string]map[string]int{"schedule": effects, "write_file": written}[a.tool]
		n := does[a.nonce]
		delete(does, a.nonce)
		reads := a.tool == "list_files"
		switch {
		case a.done+a.asked != 1 || reads && a.asked > 0:
			fault("call %s of %s has %d outcomes, and is asked about %d times", id, a.tool, a.done, a.asked)
		case a.failed > 0:
			fault("call %s of %s failed", id, a.tool)
		case n > 1 || !reads && n == 0 && a.done > 0:
			fault("call %s of %s has %d effects", id, a.tool, n)
		}
	}
	for name := range effects {
		fault("the schedule %s was never on record as a call", name)
	}
	for name := range written {
		fault("the file %s was never on record as a call", name)
	}
	for id := range tasks {
		if ends[id] != 1 || ran[id] != 0 {
			fault("task %s has %d ends, and is %d runs too many", id, ends[id], ran[id])
		}
	}
	for id, n := range answers {
		if n != 1 {
			fault("question %s has %d answers", id, n)
		}
	}
	for id, n := range told {
		if n != 1 {
			fault("%s is told %d times", id, n)
		}
	}
	for id, want := range due {
		if got := runs[id]; !slices.EqualFunc(got, want, time.Time.Equal) {
			fault("schedule %s ran at %v, want %v", id, got, want)
		}
		if skips := map[bool]int{true: 1}[len(want) == 0]; last[id] != 1+skips {
			fault("schedule %s has %d ends and skipped runs", id, last[id])
		}
	}
	slices.Sort(found)
	return found
}

// plants are faults of a journal.
var plants = map[string]func(all []earshot.Event) []earshot.Event{
	"an act that was done twice": func(all []earshot.Event) []earshot.Event {
		return repeat(all, func(e earshot.Event) bool {
			s, is := e.Body.(earshot.Schedule)
			return is && s.Act == earshot.Created && strings.Contains(string(s.Text), "nonce")
		})
	},
	"an act that was lost": func(all []earshot.Event) []earshot.Event { return without(all, isStep(earshot.StepOutcome)) },
	"an act that was not on record before": func(all []earshot.Event) []earshot.Event {
		return without(all, func(e earshot.Event) bool {
			s, is := e.Body.(earshot.Step)
			return is && s.Act == earshot.StepCall && s.Tool == "schedule"
		})
	},
	"an outcome too many":             func(all []earshot.Event) []earshot.Event { return repeat(all, isStep(earshot.StepOutcome)) },
	"a question that was asked twice": func(all []earshot.Event) []earshot.Event { return repeat(all, isStep(earshot.StepQuestion)) },
	"an answer that was lost":         func(all []earshot.Event) []earshot.Event { return without(all, isTask(earshot.TaskAnswered)) },
	"a second end":                    func(all []earshot.Event) []earshot.Event { return repeat(all, isTask(earshot.TaskDone)) },
	"a task without an end":           func(all []earshot.Event) []earshot.Event { return without(all, isTask(earshot.TaskDone)) },
	"a result that was never told":    func(all []earshot.Event) []earshot.Event { return without(all, isFinding) },
	"a result that was told twice":    func(all []earshot.Event) []earshot.Event { return append(all, all[slices.IndexFunc(all, isFinding)]) },
	"a run that is missing":           func(all []earshot.Event) []earshot.Event { return without(all, isRun) },
	"a run that was done twice":       func(all []earshot.Event) []earshot.Event { return repeat(all, isRun) },
}

func isStep(act earshot.Act) func(earshot.Event) bool {
	return func(e earshot.Event) bool { s, is := e.Body.(earshot.Step); return is && s.Act == act }
}

func isTask(act earshot.Act) func(earshot.Event) bool {
	return func(e earshot.Event) bool { s, is := e.Body.(earshot.Task); return is && s.Act == act }
}

func isRun(e earshot.Event) bool {
	s, is := e.Body.(earshot.Task)
	return is && s.Act == earshot.Created && s.Schedule != ""
}

func isFinding(e earshot.Event) bool { return e.Body.Kind() == earshot.KindFinding }

// repeat repeats the first event that is of some kind, under another ID. It returns nil if there is none.
func repeat(all []earshot.Event, is func(earshot.Event) bool) []earshot.Event {
	i := slices.IndexFunc(all, is)
	if i < 0 {
		return nil
	}
	e := all[i]
	e.ID += "X"
	return slices.Insert(all, i+1, e)
}

// without leaves out the first event that is of some kind. It returns nil if there is none.
func without(all []earshot.Event, is func(earshot.Event) bool) []earshot.Event {
	i := slices.IndexFunc(all, is)
	if i < 0 {
		return nil
	}
	return slices.Delete(all, i, i+1)
}
