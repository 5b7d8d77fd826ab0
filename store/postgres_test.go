package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/executive/memory"
	"earshot/executive/remind"
	"earshot/executive/schedule"
	"earshot/executive/task"
	"earshot/internal/field"
	"earshot/internal/testkit"
	"earshot/internal/testkit/pgtest"
	directory "earshot/participants/agents"
	"earshot/store"
)

// tables are the projections of the other packages.
var tables = []earshot.Projection{task.Projection{}, schedule.Projection{}, remind.Projection{}, memory.Projection{}, directory.Projection{}}

// both opens a journal in a file and one in PostgreSQL, which make the same IDs.
func both(t *testing.T, server *pgtest.Server, change func(*store.Config)) (file, database *store.Store) {
	t.Helper()
	c := store.Config{Projections: tables, Heeded: []string{"told to stop"}, Unheeded: []string{"new voice"}}
	if change != nil {
		change(&c)
	}
	c.NewID = numbers("new")
	file = open(t, c)
	c.NewID, c.URL = numbers("new"), field.Secret(server.Database(t))
	return file, open(t, c)
}

// numbers returns a source of IDs that count.
func numbers(name string) func() earshot.EventID {
	n := 0
	return func() earshot.EventID {
		n++
		return earshot.EventID(fmt.Sprintf("%s%04d", name, n))
	}
}

// script makes events at random, about earlier ones.
type script struct {
	*rand.Rand
	n   int
	ids []earshot.EventID
}

func pick[T any](s *script, from ...T) T { return from[s.IntN(len(from))] }

func (s *script) earlier() earshot.EventID {
	if len(s.ids) == 0 {
		return "nothing"
	}
	return s.ids[max(0, len(s.ids)-1-s.IntN(min(len(s.ids), 40)))]
}

func (s *script) words() earshot.Text {
	var all []string
	for range 1 + s.IntN(6) {
		all = append(all, pick(s, "tide", "tides", "Moon", "潮汐表", "ebb's", "42", "Ångström", "it\"s", "a\x00b", `\u0000`, "o'clock", "naïve"))
	}
	return earshot.Text(strings.Join(all, " "))
}

func (s *script) event() earshot.Event {
	s.n++
	who := pick[earshot.ParticipantID](s, "ann", "bob", "cy")
	e := earshot.Event{
		ID: earshot.EventID(fmt.Sprintf("e%04d", s.n)), At: began.Add(time.Duration(s.n-s.IntN(9)) * time.Minute), Room: pick[earshot.RoomID](s, earshot.Desk, "discord:1", "discord:2"),
		From: earshot.Handle{Provider: "console", ID: "uid" + string(who)}, Author: who, Visibility: earshot.Visibility{Scope: earshot.Public},
	}
	switch s.IntN(5) {
	case 0:
		e.Visibility = earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{who, "kim", who}}
	case 1:
		e.Visibility.Agents = []earshot.ParticipantID{pick[earshot.ParticipantID](s, "kim", "lee")}
	}
	about := s.earlier()
	turn := earshot.TurnID(pick(s, "t1", "t2", "t3", "t4", "t5"))
	agent := earshot.Agent{Act: earshot.Created, ID: earshot.ParticipantID(fmt.Sprintf("agent%d", s.n)), Path: earshot.Path(fmt.Sprintf("ann/helper%d", s.n)), User: "ann", PathKind: earshot.PathAgent, Profile: &earshot.Profile{Name: "Kim"}, Configured: s.IntN(2) == 0}
	switch s.IntN(22) {
	case 0, 1, 2, 3:
		e.Body = earshot.Message{Text: s.words(), About: about}
	case 4, 5:
		e.From.Provider, e.Body = "microphone", earshot.Utterance{Text: s.words()}
		if s.IntN(2) == 0 {
			e.To = []earshot.ParticipantID{"kim"}
		}
	case 6:
		e.Sources, e.Body = []earshot.EventID{about}, earshot.Attribution{Of: about, Author: "bob"}
	case 7:
		e.Author, e.Sources = "kim", []earshot.EventID{about}
		e.Body = earshot.Decision{About: about, Agent: "kim", Verdict: pick(s, earshot.Speak, earshot.Silent), Reasons: []string{pick(s, "called", "new voice", "told to stop")}, Turn: turn}
	case 8:
		e.Author, e.Sources = "kim", []earshot.EventID{about, s.earlier()}
		e.Body = earshot.Reply{Turn: turn, About: about, Outcome: earshot.Completed, Offered: s.words()}
	case 9:
		e.Sources, e.Body = []earshot.EventID{about}, earshot.Thought{Cause: earshot.ByTrigger, About: about, Text: s.words()}
	case 10:
		e.Sources, e.Body = []earshot.EventID{about}, earshot.Finding{Thought: about, Text: s.words()}
	case 11:
		e.To, e.Body = []earshot.ParticipantID{who}, earshot.Reminder{Act: pick(s, earshot.Created, earshot.Created, earshot.Ended), Of: about, Text: s.words()}
	case 12:
		e.Body = earshot.Task{Act: earshot.Created, Text: s.words(), Call: about}
	case 13:
		e.Body = earshot.Task{Act: pick(s, earshot.TaskDone, earshot.TaskAnswered, earshot.TaskSteered), Of: about, Told: s.earlier()}
	case 14:
		e.Body = earshot.Step{Task: about, Act: earshot.StepQuestion, Text: s.words(), Told: pick(s, "", s.earlier())}
	case 15:
		e.To, e.Body = []earshot.ParticipantID{who}, earshot.Schedule{Act: earshot.Created, Text: s.words()}
	case 16:
		e.Body = earshot.Schedule{Act: pick(s, earshot.SchedulePaused, earshot.ScheduleResumed, earshot.ScheduleRan, earshot.ScheduleSkipped, earshot.Ended), Of: about, Due: began, Text: s.words()}
	case 17:
		e.Sources, e.Body = []earshot.EventID{about}, earshot.Fact{Text: s.words()}
	case 18:
		e.Sources, e.Body = []earshot.EventID{about, s.earlier()}, earshot.Summary{Text: s.words()}
	case 19:
		e.Body = agent
	case 20:
		e.Body = earshot.Revision{Of: about, Text: s.words()}
	case 21:
		e.Body = earshot.Withdrawal{Of: about}
	}
	s.ids = append(s.ids, e.ID)
	return e
}

// answer is what a store answers, in a form that can be compared.
func answer(value any, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "error: " + err.Error()
	}
	return string(text)
}

// questions returns everything that can be asked of a journal.
func questions(t *testing.T, s *script) (all map[string]func(*store.Store) (any, error)) {
	all = map[string]func(*store.Store) (any, error){}
	ctx := t.Context()
	for i, who := range []earshot.Audience{
		{Room: earshot.Desk}, {Room: earshot.Desk, Members: []earshot.ParticipantID{"ann"}}, {Room: "discord:1", Members: []earshot.ParticipantID{"bob"}, Agents: []earshot.ParticipantID{"kim"}},
		{Room: earshot.Desk, Members: []earshot.ParticipantID{"ann", "bob"}, Agents: []earshot.ParticipantID{"lee"}}, {Room: earshot.Desk, Members: []earshot.ParticipantID{"ann"}, Agents: []earshot.ParticipantID{"kim"}, Unknown: true},
	} {
		ask := func(name string, f func(*store.Reader) (any, error)) {
			all[fmt.Sprintf("%s as %d", name, i)] = func(s *store.Store) (any, error) { return f(s.For(who)) }
		}
		ask("Events", func(r *store.Reader) (any, error) { return r.Events(ctx, 7, 50) })
		ask("Last", func(r *store.Reader) (any, error) { return r.Last(ctx, nil, 30) })
		ask("Page", func(r *store.Reader) (any, error) {
			return r.Page(ctx, []earshot.Kind{earshot.KindMessage, earshot.KindReply}, 200, 30)
		})
		ask("Decisions", func(r *store.Reader) (any, error) { return r.Decisions(ctx, "kim", 0, 20) })
		ask("Find", func(r *store.Reader) (any, error) {
			return r.Find(ctx, append(s.ids[:min(len(s.ids), 60)], "\xff", "nothing"))
		})
		ask("About", func(r *store.Reader) (any, error) { return r.About(ctx, s.ids[0], 20) })
		ask("Turn", func(r *store.Reader) (any, error) { return r.Turn(ctx, "t1") })
		ask("Ends", func(r *store.Reader) (any, error) { return r.Ends(ctx, []earshot.TurnID{"t1", "t2"}) })
		for _, q := range []string{"tide", "tid*", "moon tide", "潮汐", `"ebb's moon"`, "from:ann", "from:bob tide", "on:2026-02-03", "o'clock", "nothing at all", "42 since:2026-02-01"} {
			ask("Search "+q, func(r *store.Reader) (any, error) { return r.Search(ctx, q, 10) })
		}
		ask("Nearest", func(r *store.Reader) (any, error) { return r.Nearest(ctx, "m", []float32{1, 0, .5}, 5) })
	}
	all["Lately"] = func(s *store.Store) (any, error) {
		return s.Lately(ctx, earshot.Desk, "", 40, everybody, earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{"ann"}})
	}
	all["Rooms"] = func(s *store.Store) (any, error) { return s.Rooms(ctx, "discord:", 10) }
	all["Totals"] = func(s *store.Store) (any, error) { return s.Totals(ctx) }
	all["Event"] = func(st *store.Store) (any, error) {
		e, is, err := st.Event(ctx, earshot.Desk, s.ids[0])
		return []any{e, is}, err
	}
	for i, sel := range []store.Selection{
		{}, {People: []earshot.ParticipantID{"ann"}}, {People: []earshot.ParticipantID{"bob"}, Agents: []earshot.ParticipantID{"kim"}, Room: earshot.Desk}, {Kinds: []earshot.Kind{earshot.KindReply}},
		{From: began, To: began.Add(time.Hour)}, {Events: s.ids[:min(9, len(s.ids))]}, {Handle: earshot.Handle{Provider: "microphone", ID: "uidbob"}}, {Until: 40},
	} {
		all[fmt.Sprint("Select ", i)] = func(s *store.Store) (any, error) { return s.Select(ctx, sel) }
	}
	all["Export"] = func(s *store.Store) (any, error) { return everything(t, s), nil }
	all["Unembedded"] = func(s *store.Store) (any, error) {
		all, texts, err := s.Unembedded(ctx, "m", 1000)
		slices.SortFunc(all, func(a, b earshot.Event) int { return int(a.Sequence - b.Sequence) }) // in no order of theirs
		slices.Sort(texts)
		return []any{all, texts}, err
	}
	for table, order := range map[string]string{"tasks": "sequence", "task_events": "sequence", "schedules": "sequence", "reminders": "sequence", "reading": "sequence", "agents": "path", "turns": "sequence", "derived": "source, event", "members": "sequence, member", "days": "day"} {
		all["the table "+table] = func(s *store.Store) (any, error) { return rowsOf(ctx, s, table, order) }
	}
	all["agents"] = func(s *store.Store) (any, error) {
		d, err := directory.Read(ctx, s)
		if err != nil {
			return nil, err
		}
		return d.Participants(), nil
	}
	all["reminders"] = func(s *store.Store) (rooms any, err error) {
		err = s.Look(ctx, func(v earshot.View) (err error) { rooms, err = remind.Rooms(ctx, v); return err })
		return rooms, err
	}
	all["unread"] = func(s *store.Store) (unread any, err error) {
		err = s.Look(ctx, func(v earshot.View) (err error) {
			unread, err = memory.Unread(ctx, v, earshot.Desk, began.Add(-time.Hour), 9)
			return err
		})
		if circles, is := unread.([][]earshot.EventID); is {
			slices.SortFunc(circles, slices.Compare) // in no order of theirs
		}
		return unread, err
	}
	return all
}

// rowsOf returns the rows of a table as text.
func rowsOf(ctx context.Context, s *store.Store, table, order string) (all []string, err error) {
	err = s.Look(ctx, func(v earshot.View) error {
		rows, err := v.QueryContext(ctx, "SELECT * FROM "+table+" ORDER BY "+order)
		if err != nil {
			return err
		}
		defer rows.Close()
		names, err := rows.Columns()
		if err != nil {
			return err
		}
		for rows.Next() {
			values, to := make([]any, len(names)), make([]any, len(names))
			for i := range values {
				to[i] = &values[i]
			}
			if err := rows.Scan(to...); err != nil {
				return err
			}
			all = append(all, fmt.Sprintf("%v %v", names, values))
		}
		return rows.Err()
	})
	return all, err
}

// agree fails the test unless both answer the same.
func agree(t *testing.T, what string, file, database *store.Store, ask func(*store.Store) (any, error)) {
	t.Helper()
	a, b := answer(ask(file)), answer(ask(database))
	if b = strings.ReplaceAll(b, "\ufffd", `\u0000`); strings.ReplaceAll(a, "\ufffd", `\u0000`) != b { // which a column of PostgreSQL cannot have
		at := 0
		for at < min(len(a), len(b)) && a[at] == b[at] {
			at++
		}
		t.Errorf("%s: the file and PostgreSQL answer differently:\n%.300s\n%.300s", what, a[max(0, at-100):], b[max(0, at-100):])
	}
}

// TestPostgresAnswersAsTheFile: whatever is added, revised, withdrawn, forgotten and has expired, both answer
// every question in the same way, also when the views are made anew.
func TestPostgresAnswersAsTheFile(t *testing.T) {
	server := pgtest.Start(t)
	histories := uint64(2)
	if os.Getenv("EARSHOT_PROOF") != "" {
		histories = 40
	}
	for seed := range histories {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			ctx := t.Context()
			file, database := both(t, server, nil)
			s := &script{Rand: rand.New(rand.NewPCG(seed, 1))}
			ask := func(when string) {
				for name, question := range questions(t, s) {
					agree(t, name+" "+when, file, database, question)
				}
			}
			clean := func() { // otherwise the file may be replaced by a copy from before vectors were set, or views made anew
				agree(t, "Clean", file, database, func(s *store.Store) (any, error) { return nil, s.Clean(ctx) })
			}
			for range 120 {
				events := []earshot.Event{s.event()}
				if s.IntN(4) == 0 {
					events = append(events, s.event())
				}
				if s.IntN(20) == 0 {
					events[0].ID = s.earlier() // that exists
				}
				agree(t, "Append", file, database, func(s *store.Store) (any, error) { return s.Append(ctx, events...) })
			}
			ask("at first")
			clean()
			agree(t, "SetVectors", file, database, func(s *store.Store) (any, error) {
				some, _, err := s.Unembedded(ctx, "m", 1000)
				slices.SortFunc(some, func(a, b earshot.Event) int { return int(a.Sequence - b.Sequence) })
				some = some[:min(20, len(some))]
				var vectors [][]float32
				for i := range some {
					vectors = append(vectors, []float32{float32(i), 1, .25})
				}
				return len(some), errors.Join(err, s.SetVectors(ctx, "m", some, vectors))
			})
			ask("with vectors")
			agree(t, "Forget", file, database, func(st *store.Store) (any, error) { return st.Forget(ctx, store.Selection{Events: s.ids[10:25]}, nil) })
			agree(t, "Expire", file, database, func(s *store.Store) (any, error) {
				return s.Expire(ctx, store.Retention{Message: 1}, began.Add(24*time.Hour+40*time.Minute), nil)
			})
			agree(t, "Lapse", file, database, func(s *store.Store) (any, error) { return s.Lapse(ctx, began.Add(2*time.Hour), nil, nil) })
			ask("after forgetting")
			clean()
			agree(t, "Rebuild", file, database, func(s *store.Store) (any, error) { return nil, s.Rebuild(ctx) })
			ask("made anew")
			clean()
			ask("cleaned")
		})
	}
}

// TestExportBetween: what is exported from either can be imported into the other, and is the same then.
func TestExportBetween(t *testing.T) {
	server := pgtest.Start(t)
	s := &script{Rand: rand.New(rand.NewPCG(7, 1))}
	fresh := func(url string) *store.Store {
		return open(t, store.Config{Projections: tables, URL: field.Secret(url), NewID: numbers("new")})
	}
	first := fresh("")
	for range 200 {
		_, _ = first.Append(t.Context(), s.event()) // some of them refer to nothing
	}
	if _, err := first.Forget(t.Context(), store.Selection{Events: s.ids[20:30]}, nil); err != nil {
		t.Fatal(err)
	}
	database, second := fresh(server.Database(t)), fresh("")
	for _, step := range []struct{ from, to *store.Store }{{first, database}, {database, second}} {
		for _, added := range []bool{true, false} {
			done, err := step.to.Import(t.Context(), bytes.NewReader(exported(t, step.from)), false)
			if err != nil || done.Added > 0 != added {
				t.Fatalf("imported %d events, %v", done.Added, err)
			}
		}
	}
	for name, question := range questions(t, s) {
		agree(t, name, second, database, question)
	}
	agree(t, "Export", first, database, questions(t, s)["Export"])
}

// TestNoByteIsLeftOnTheServer: of what was forgotten, once it was cleaned and the server has let go of its
// log, no byte is left in any of its files.
func TestNoByteIsLeftOnTheServer(t *testing.T) {
	server := pgtest.Start(t, "wal_recycle=off", "autovacuum=off")
	s := open(t, store.Config{Projections: tables, URL: field.Secret(server.Database(t))})
	word := "xylographer"
	var secret []earshot.Event
	for i := range 40 {
		add(t, s, said(earshot.Text(fmt.Sprintf("nothing special %d", i))))
		e := said(earshot.Text(fmt.Sprintf("the %s %s%d", word, word, i)))
		if i%2 == 0 {
			e.Body = earshot.Reminder{Act: earshot.Created, Due: began, Text: earshot.Text(word)}
			e.To = []earshot.ParticipantID{"ann"}
		}
		secret = append(secret, add(t, s, e)...)
	}
	add(t, s, earshot.Event{Room: earshot.Desk, From: secret[1].From, Author: "ann", Visibility: secret[1].Visibility, Body: earshot.Revision{Of: secret[1].ID, Text: "nothing any more"}})
	var ids []earshot.EventID
	for _, e := range secret {
		ids = append(ids, e.ID)
	}
	server.Query(t, "postgres", "CHECKPOINT")
	if len(traces(t, server.Dir, []string{word})) == 0 {
		t.Error("the word is nowhere even before it is forgotten")
	}
	if _, err := s.Forget(t.Context(), store.Selection{Events: ids[2:]}, nil); err != nil {
		t.Fatal(err)
	}
	must(t, s.Clean(t.Context()))
	_, err := s.Delete(t.Context(), ids[0]) // the rest
	must(t, err)
	must(t, s.Clean(t.Context()))
	if marked, err := s.Marked(t.Context()); marked || err != nil {
		t.Errorf("when it is clean, there is a mark: %v, %v", marked, err)
	}
	for range 2 {
		server.Query(t, "postgres", "SELECT pg_switch_wal()")
		server.Query(t, "postgres", "CHECKPOINT")
	}
	if left := traces(t, server.Dir, testkit.Forms(word)); len(left) > 0 {
		t.Errorf("there is left: %v", left)
	}
}

// TestServerFaults: each fault of a server says what to do, and none the password.
func TestServerFaults(t *testing.T) {
	server := pgtest.Start(t)
	const password = "hunter2"
	with := func(url string) field.Secret {
		return field.Secret(strings.Replace(url, "earshot@", "earshot:"+password+"@", 1))
	}
	used := with(server.Database(t))
	first := open(t, store.Config{URL: used})
	add(t, first, said("hello"))
	newer := server.Database(t)
	must(t, func() error {
		s, err := store.Open(t.Context(), store.Config{Directory: t.TempDir(), URL: with(newer)})
		return errors.Join(err, s.Close())
	}())
	server.Query(t, nameOf(newer), "UPDATE earshot.versions SET version = 99 WHERE name = 'journal'")
	server.Query(t, "postgres", "CREATE DATABASE english TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en'")
	server.Query(t, "postgres", "CREATE DATABASE latin TEMPLATE template0 LOCALE 'C' ENCODING 'LATIN1'")
	standby := server.Standby(t)
	for _, tt := range []struct {
		name string
		url  field.Secret
		is   error
		want string
	}{
		{"owned", used, new(store.ErrLocked), "in use by another earshot"},
		{"a newer version", with(newer), store.ErrOther, "newer earshot"},
		{"a newer version, and what to do", with(newer), store.ErrOther, "another store.url"},
		{"a standby", with(pgtest.URL(nameOf(string(used)), standby)), store.ErrFull, "promote it"},
		{"nobody there", with(strings.Replace(server.Database(t), "pg", "gp", 1)), store.ErrFull, "start it"},
		{"no such database", with(pgtest.URL("none", server)), store.ErrFull, "createdb"},
		{"another order", with(pgtest.URL("english", server)), store.ErrFull, "--locale C"},
		{"another encoding", with(pgtest.URL("latin", server)), store.ErrFull, "--encoding UTF8"},
		{"not a URL", "mysql://" + password, nil, "postgres://"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := store.Open(t.Context(), store.Config{Directory: t.TempDir(), URL: tt.url})
			if err == nil {
				must(t, s.Close())
				t.Fatal("it was opened")
			}
			is := tt.is == nil || errors.Is(err, tt.is)
			if locked := new(store.ErrLocked); tt.is != nil && !is {
				is = errors.As(err, &locked)
			}
			if !is || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), password) {
				t.Errorf("the error is %v, want %v: %s", err, tt.is, tt.want)
			}
		})
	}
	t.Run("changed by somebody", func(t *testing.T) {
		server.Query(t, nameOf(string(used)), "UPDATE earshot.journal SET payload = replace(payload, 'hello', 'hallo')")
		if _, err := first.For(everybody).Last(t.Context(), nil, 1); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "restore it") {
			t.Errorf("the error is %v, want ErrDamaged", err)
		}
	})
	t.Run("no backup of a file", func(t *testing.T) {
		archive, err := store.OpenReader(t.Context(), store.Config{URL: used})
		must(t, err)
		defer archive.Close()
		if err := archive.Backup(t.Context(), t.TempDir()+"/backup"); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "pg_dump") {
			t.Errorf("the error is %v, want that pg_dump does it", err)
		}
	})
	t.Run("no restore into it", func(t *testing.T) {
		if _, err := store.Restore(t.Context(), store.Config{Directory: t.TempDir(), URL: used}, "backup", true); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("the error is %v, want that earshot import does it", err)
		}
	})
	t.Run("nothing to read", func(t *testing.T) {
		if _, err := store.OpenReader(t.Context(), store.Config{URL: with(server.Database(t))}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the error is %v, want ErrNotExist", err)
		}
	})
}

// nameOf returns the name of the database of a URL.
func nameOf(url string) string {
	_, name, _ := strings.Cut(strings.Split(url, "?")[0], "@/")
	return name
}
