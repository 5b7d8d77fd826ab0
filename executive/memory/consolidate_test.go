package memory

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive"
	"earshot/executive/remind"
	"earshot/llm"
	"earshot/participants/agents"
	"earshot/store"
)

const main earshot.ParticipantID = "agent"

var (
	public  = earshot.Visibility{Scope: earshot.Public}
	annOnly = earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann", main}}
	bobOnly = earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"bob", main}}
)

// A den is a room with a real journal, and a keeper of its memory.
type den struct {
	tb    fataler
	dir   string
	store *store.Store
	index *Index
	model func(req *llm.Request) (string, error)
	stop  func()

	looked atomic.Int64 // how often it was looked whether there is something to read

	mu    sync.Mutex
	mode  earshot.Mode
	off   bool               // nobody has allowed it
	at    func(stage string) // of a pass that is put on record; may be nil
	asked []llm.Request
	n     int
}

// fataler is a *testing.T, or a *rapid.T.
type fataler interface {
	Helper()
	Fatal(...any)
}

func newDen(tb fataler, dir string, model func(*llm.Request) (string, error)) *den {
	d := &den{tb: tb, dir: dir, model: model, mode: earshot.Live}
	d.open()
	return d
}

func (d *den) open() {
	d.tb.Helper()
	s, err := store.Open(context.Background(), store.Config{
		Directory: d.dir, NewID: d.id, Log: slog.New(slog.DiscardHandler), Projections: []earshot.Projection{agents.Projection{}, remind.Projection{}, Projection{}},
	})
	if err != nil {
		d.tb.Fatal(err)
	}
	d.store, d.index = s, NewIndex()
	var all []earshot.Event
	for _, kind := range []earshot.Kind{earshot.KindFact, earshot.KindSummary} {
		some, err := s.Lately(context.Background(), earshot.Desk, kind, math.MaxInt32, earshot.Audience{Room: earshot.Desk}.With(main))
		if err != nil {
			d.tb.Fatal(err)
		}
		all = append(all, some...)
	}
	d.index.Load(earshot.Desk, all, time.Now())
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	set := executive.DefaultConfig()
	k := &Consolidator{
		Index: d.index, Unread: d.Unread, Find: d.Find, Model: d, Settings: func() executive.Config {
			d.looked.Add(1)
			d.change(func() { set.Memory.Enabled = !d.off })
			return set
		}, Rests: func() bool { return false },
		Room:   func(earshot.RoomID) (Room, bool) { return d, true },
		Agents: func(earshot.RoomID) []agents.Record { return []agents.Record{{ID: main}} },
		Reader: func(context.Context, agents.Record) earshot.ParticipantID { return "memory" },
		Name:   func(id earshot.ParticipantID) string { return string(id) }, IsPerson: func(id earshot.ParticipantID) bool { return id != main },
		NewID: d.id, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}
	running.Go(func() { k.Run(ctx) })
	d.stop = func() { cancel(); running.Wait() }
}

func (d *den) close() {
	d.tb.Helper()
	d.stop()
	if err := d.store.Close(); err != nil {
		d.tb.Fatal(err)
	}
}

func (d *den) id() earshot.EventID {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.n++
	return earshot.EventID(fmt.Sprintf("e%06d", d.n))
}

// Stream implements [llm.Service].
func (d *den) Stream(_ context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		d.mu.Lock()
		d.asked = append(d.asked, *req)
		d.mu.Unlock()
		text, err := d.model(req)
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		_ = yield(llm.Delta{Text: text}, nil) && yield(llm.Delta{Done: &llm.Done{}}, nil)
	}
}

// requests returns what a model was asked so far.
func (d *den) requests() []llm.Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.asked)
}

func (d *den) Still() bool { return true }

func (d *den) Mode() (mode earshot.Mode, _ <-chan struct{}) {
	d.change(func() { mode = d.mode })
	return mode, nil
}

func (d *den) Record(ctx context.Context, make func(context.Context) ([]earshot.Event, error)) error {
	d.reach("answered")
	events, err := make(ctx)
	if err != nil {
		return err
	}
	d.reach("made")
	_, err = d.append(events...)
	d.reach("kept")
	return err
}

// change calls f while nobody else reads or changes the fields that tests change.
func (d *den) change(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

func (d *den) reach(stage string) {
	var at func(string)
	d.change(func() { at = d.at })
	if at != nil {
		at(stage)
	}
}

func (d *den) append(events ...earshot.Event) ([]earshot.Event, error) {
	kept, err := d.store.Append(context.Background(), events...)
	for _, e := range kept {
		d.index.Take(e, time.Now())
	}
	return kept, err
}

func (d *den) Unread(ctx context.Context, room earshot.RoomID, since time.Time, n int) (ids [][]earshot.EventID, err error) {
	err = d.store.Look(ctx, func(v earshot.View) (err error) { ids, err = Unread(ctx, v, room, since, n); return err })
	return ids, err
}

func (d *den) Find(ctx context.Context, a earshot.Audience, ids []earshot.EventID) ([]earshot.Event, error) {
	return d.store.For(a).Find(ctx, ids)
}

// CheckReminder implements [Room].
func (d *den) CheckReminder(who earshot.ParticipantID, due time.Time, text earshot.Text) error {
	agenda, err := d.Agenda(context.Background(), earshot.Desk)
	if err != nil {
		return err
	}
	return agenda.Check(time.Now(), who, due, text)
}

func (d *den) Agenda(ctx context.Context, room earshot.RoomID) (a remind.Agenda, err error) {
	err = d.store.Look(ctx, func(v earshot.View) (err error) { a, err = remind.Read(ctx, v, room); return err })
	return a, err
}

func (d *den) event(by earshot.ParticipantID, v earshot.Visibility, b earshot.Body) earshot.Event {
	return earshot.Event{ID: d.id(), At: time.Now(), Room: earshot.Desk, From: earshot.Handle{Provider: "console", ID: string(by)}, Author: by, Visibility: v, Body: b}
}

// says lets somebody write something.
func (d *den) says(by earshot.ParticipantID, v earshot.Visibility, text string) earshot.Event {
	d.tb.Helper()
	kept, err := d.append(d.event(by, v, earshot.Message{Text: earshot.Text(text)}))
	if err != nil {
		d.tb.Fatal(err)
	}
	return kept[0]
}

// quiet waits until everything that was said is read.
func (d *den) quiet() {
	d.wait(10 * time.Minute)
}

func (d *den) wait(long time.Duration) {
	time.Sleep(long)
	synctest.Wait()
}

// knows returns the facts that somebody may know.
func (d *den) knows(who ...earshot.ParticipantID) (all []string) {
	for _, k := range d.index.All(earshot.Audience{Room: earshot.Desk, Members: who}, time.Now(), false) {
		all = append(all, string(k.Text))
	}
	return all
}

// bytesOf returns all that is in the files of the journal.
func (d *den) bytesOf() string {
	d.tb.Helper()
	if err := d.store.Clean(context.Background()); err != nil {
		d.tb.Fatal(err)
	}
	var all strings.Builder
	files, _ := os.ReadDir(d.dir)
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(d.dir, f.Name()))
		if err == nil {
			all.Write(data)
		}
	}
	return all.String()
}

// lines answers a request with one fact for each line of what was said, in its own words.
func lines(req *llm.Request) (string, error) {
	if strings.HasPrefix(req.Messages[0].Text, comparing) {
		return `{"replaces":[]}`, nil
	}
	var facts []string
	for i, m := range spoken.FindAllStringSubmatch(req.Messages[1].Text, mostFacts) {
		facts = append(facts, fmt.Sprintf(`{"text":%q,"about":["p1"],"subject":"it","evidence":["e%d"],"confidence":1,"days":0,"due":""}`, m[1], i+1))
	}
	return fmt.Sprintf(`{"summary":%q,"facts":[%s]}`, strings.Join(strings.Fields(req.Messages[1].Text), " "), strings.Join(facts, ",")), nil
}

var spoken = regexp.MustCompile(`(?m)^e\d+ \([^)]*\) [^:]*: (.*)$`)

// TestRead: what was said is read when it has been quiet, once, each conversation for itself, and also
// after a restart; nothing is read while nobody may be answered.
func TestRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDen(t, t.TempDir(), lines)
		d.says("ann", public, "Tides come twice a day")
		d.says("ann", annOnly, "My code is walrus")
		d.wait(30 * time.Second)
		if len(d.requests()) > 0 {
			t.Error("it was read although it was not quiet")
		}
		d.close()
		d.open()
		d.quiet()
		if got := d.knows("bob"); !slices.Equal(got, []string{"Tides come twice a day"}) {
			t.Errorf("Bob may know %q", got)
		}
		if got := d.knows("ann"); len(got) != 2 {
			t.Errorf("Ann may know %q", got)
		}
		if len(d.requests()) != 2 || strings.Contains(d.requests()[0].Messages[1].Text, "walrus") == strings.Contains(d.requests()[1].Messages[1].Text, "walrus") {
			t.Errorf("the model was asked %d times, or the conversations were mixed", len(d.requests()))
		}
		for _, r := range d.requests() {
			if r.Priority != llm.Memory || r.Origin.Agent != "memory" || !r.Origin.Unasked || r.Schema == nil {
				t.Errorf("it was asked with %+v", r.Origin)
			}
		}
		d.close()
		d.open()
		d.quiet()
		if len(d.requests()) != 2 || len(d.knows("ann")) != 2 {
			t.Errorf("after a restart it was asked %d times, and Ann may know %q", len(d.requests()), d.knows("ann"))
		}
		d.change(func() { d.mode = earshot.Paused })
		d.says("ann", public, "The ferry leaves at noon")
		d.quiet()
		if len(d.requests()) != 2 {
			t.Error("it was read although the room is paused")
		}
		d.change(func() { d.mode = earshot.Live })
		d.quiet()
		if len(d.knows("bob")) != 2 {
			t.Errorf("Bob may know %q", d.knows("bob"))
		}
		d.close()
	})
}

// TestCaptions: what a camera saw meanwhile is read with what was said, and what is remembered rests on it
// and goes with it. Nothing is read for captions alone.
func TestCaptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDen(t, t.TempDir(), lines)
		sees := func(text earshot.Text) earshot.EventID {
			kept, err := d.append(d.event("", public, earshot.Sight{Camera: "door", What: earshot.Captioned, Eyes: earshot.Clear, Text: text}))
			if err != nil {
				t.Fatal(err)
			}
			return kept[0].ID
		}
		sees("A cat sits there.")
		d.quiet()
		if len(d.requests()) > 0 {
			t.Errorf("a caption alone was read: %q", d.requests()[0].Messages[1].Text)
		}
		for i := range mostCaptions + 2 {
			sees(earshot.Text(fmt.Sprintf("Somebody holds %d balls.", i)))
		}
		last := sees("Somebody holds a parcel.")
		d.says("ann", annOnly, "That is the lamp")
		d.quiet()
		asked := d.requests()[0].Messages[1].Text
		if strings.Contains(asked, "A cat") || strings.Count(asked, "balls") != mostCaptions-1 || !strings.Contains(asked, "The camera door saw: Somebody holds a parcel.") {
			t.Errorf("the model was asked\n%s", asked)
		}
		if got := d.knows("ann"); !slices.Contains(got, "Somebody holds a parcel.") || len(d.knows("bob")) > 0 {
			t.Errorf("Ann may know %q, Bob %q", got, d.knows("bob"))
		}
		if _, err := d.store.Forget(t.Context(), store.Selection{Events: []earshot.EventID{last}}, nil); err != nil {
			t.Fatal(err)
		}
		d.close()
		d.open()
		d.quiet()
		again := d.requests()[len(d.requests())-1].Messages[1].Text
		if got := d.knows("ann"); slices.Contains(got, "Somebody holds a parcel.") || strings.Contains(again, "parcel") || !strings.Contains(again, "That is the lamp") {
			t.Errorf("without the picture, Ann may know %q, after the model was asked\n%s", got, again)
		}
		d.close()
	})
}

// TestReadLater: what gave way, or failed, is read later; what a model cannot answer counts as read
// after the second attempt.
func TestReadLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answers []any
		d := newDen(t, t.TempDir(), func(req *llm.Request) (string, error) {
			if len(answers) == 0 {
				return lines(req)
			}
			a := answers[0]
			answers = answers[1:]
			if err, is := a.(error); is {
				return "", err
			}
			return a.(string), nil
		})
		defer d.close()
		answers = []any{llm.ErrParked, errors.New("broken")}
		d.says("ann", public, "Tides come twice a day")
		d.quiet()
		if len(d.knows()) != 1 || len(d.requests()) != 3 {
			t.Errorf("after %d requests it is known: %q", len(d.requests()), d.knows())
		}
		answers = []any{"no", "{}", "{}", "{}"}
		d.says("ann", public, "The ferry leaves at noon")
		d.quiet()
		if len(d.knows()) != 1 || len(d.requests()) != 5 {
			t.Errorf("after %d requests it is known: %q", len(d.requests()), d.knows())
		}
	})
}

// TestReplace: a contradiction replaces what was known, which stays on record, and comes back when what
// replaced it is taken back; the same is not written down twice.
func TestReplace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDen(t, t.TempDir(), func(req *llm.Request) (string, error) {
			if strings.HasPrefix(req.Messages[0].Text, comparing) {
				return `{"replaces":[{"new":"n1","old":"k1"},{"new":"n9","old":"k1"}]}`, nil
			}
			return lines(req)
		})
		defer d.close()
		d.says("ann", public, "Ann lives in Oslo")
		d.quiet()
		d.says("ann", public, "ann lives in Oslo!")
		d.quiet()
		moved := d.says("ann", public, "Ann lives in Bergen")
		d.quiet()
		if got := d.knows(); !slices.Equal(got, []string{"Ann lives in Bergen"}) {
			t.Errorf("it is known: %q", got)
		}
		if all := d.index.All(earshot.Audience{Room: earshot.Desk}, time.Now(), true); len(all) != 2 || all[1].Replaces != all[0].Event.ID {
			t.Errorf("%d facts are on record", len(all))
		}
		if _, err := d.append(d.event("ann", public, earshot.Withdrawal{Of: moved.ID})); err != nil {
			t.Fatal(err)
		}
		if got := d.knows(); !slices.Equal(got, []string{"Ann lives in Oslo"}) {
			t.Errorf("once it is taken back, it is known: %q", got)
		}
	})
}

// TestDue: somebody is reminded of what is due, for whom it was said.
func TestDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		due := time.Now().Add(50 * time.Hour).Local().Format("2006-01-02 15:04")
		d := newDen(t, t.TempDir(), func(*llm.Request) (string, error) {
			return `{"summary":"","facts":[{"text":"Ann's train leaves","about":["p1"],"subject":"train","evidence":["e1"],"confidence":0.9,"days":3,"due":"` + due + `"},` +
				`{"text":"an old thing","about":[],"subject":"","evidence":["e1"],"confidence":0.9,"days":0,"due":"1999-01-01 10:00"}]}`, nil
		})
		defer d.close()
		told := d.says("ann", annOnly, "my train is on Friday")
		d.quiet()
		agenda, err := d.Agenda(t.Context(), earshot.Desk)
		all := agenda.Of("ann")
		if err != nil || len(all) != 1 || all[0].Text != "Ann's train leaves" || all[0].Event.Visibility.Scope != earshot.Private {
			t.Fatalf("%v, %v", all, err)
		}
		if _, err := d.append(d.event("ann", annOnly, earshot.Revision{Of: told.ID, Text: "no train"})); err != nil {
			t.Fatal(err)
		}
		agenda, err = d.Agenda(t.Context(), earshot.Desk)
		if err != nil || len(agenda.Of("ann")) != 0 {
			t.Errorf("after the revision there are %v, %v", agenda.Of("ann"), err)
		}
	})
}

// TestNothingLeaks: whatever people say, revise, take back and have forgotten, and although the model
// repeats all that it is told: nobody can know from memory what they could not see, and of what is gone
// no byte is left.
func TestNothingLeaks(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(*testing.T) {
			n++
			d := newDen(rt, filepath.Join(dir, fmt.Sprint(n)), lines)
			seen, texts := make(map[string]earshot.Visibility), make(map[earshot.EventID]string) // by mark
			gone := make(map[string]bool)
			marks := 0
			mark := func(v earshot.Visibility) string {
				marks++
				m := fmt.Sprintf("mark%03dx", marks)
				seen[m] = v
				return m
			}
			for range rapid.IntRange(1, 14).Draw(rt, "deeds") {
				by := rapid.SampledFrom([]earshot.ParticipantID{"ann", "bob"}).Draw(rt, "who")
				deed := rapid.SampledFrom([]string{"says", "says", "says", "quiet", "quiet", "revises", "withdraws", "forgets", "restarts"}).Draw(rt, "deed")
				switch deed {
				case "says":
					v := rapid.SampledFrom([]earshot.Visibility{public, annOnly, bobOnly}).Draw(rt, "to")
					m := mark(v)
					texts[d.says(by, v, m).ID] = m
				case "quiet":
					d.quiet()
				case "restarts":
					d.close()
					d.open()
				default:
					if len(texts) == 0 {
						continue
					}
					of := rapid.SampledFrom(slices.Sorted(maps.Keys(texts))).Draw(rt, "what")
					was, v := texts[of], seen[texts[of]]
					gone[was] = true
					delete(texts, of)
					switch deed {
					case "revises":
						m := mark(v)
						if _, err := d.append(d.event(by, v, earshot.Revision{Of: of, Text: earshot.Text(m)})); err != nil {
							rt.Fatal(err)
						}
						texts[of] = m
					case "withdraws":
						if _, err := d.append(d.event(by, v, earshot.Withdrawal{Of: of})); err != nil {
							rt.Fatal(err)
						}
					case "forgets":
						_, err := d.store.Forget(context.Background(), store.Selection{Events: []earshot.EventID{of}}, func(some []store.SelectedEvent) {
							var ids []earshot.EventID
							for _, e := range some {
								ids = append(ids, e.ID)
							}
							d.index.Forget(earshot.Desk, ids, time.Now())
						})
						if err != nil {
							rt.Fatal(err)
						}
					}
				}
			}
			d.quiet()
			for _, who := range []earshot.ParticipantID{"ann", "bob"} {
				a := earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{who}}
				text, _ := d.index.Prompt(Query{Audience: a, Here: []earshot.ParticipantID{"ann", "bob"}, At: time.Now(), Bytes: 1 << 20, Before: 1 << 40})
				for m, v := range seen {
					may := v.Allows(a) && !gone[m]
					if strings.Contains(text, m) && !may {
						rt.Fatal(who, "may know", m)
					}
					if may && slices.Contains(slices.Collect(maps.Values(texts)), m) && !strings.Contains(text, m) {
						rt.Fatal(who, "does not know", m, "of", text)
					}
				}
			}
			index := d.index
			bytes := d.bytesOf()
			for m := range gone {
				if strings.Contains(bytes, m) {
					rt.Fatal(m, "is still in the files")
				}
			}
			d.close()
			d.open()
			everything := earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{main}}
			if had, has := index.All(everything, time.Now(), true), d.index.All(everything, time.Now(), true); fmt.Sprint(sequences(had)) != fmt.Sprint(sequences(has)) {
				rt.Fatal("read again it knows", sequences(has), "instead of", sequences(had))
			}
			d.close()
		})
	})
}

func sequences(all []Entry) (n []int64) {
	for _, k := range all {
		n = append(n, k.Event.Sequence)
	}
	return n
}
