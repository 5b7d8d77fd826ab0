package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot"
	"earshot/internal/testkit"
	"earshot/store"
)

// The fixtures are journals of each version as SQL, as they were written when
// that was the newest. They are never changed.
const (
	first  = "testdata/version1.sql"
	second = "testdata/version2.sql"
	third  = "testdata/version3.sql"
	fourth = "testdata/version4.sql"
	fifth  = "testdata/version5.sql"
	sixth  = "testdata/version6.sql"

	seventh = "testdata/version7.sql"
	eighth  = "testdata/version8.sql"
)

// versions are all of them, the first first.
var versions = []string{first, second, third, fourth, fifth, sixth, seventh, eighth}

// fixture returns the statements in a file.
func fixture(t *testing.T, name string) string {
	t.Helper()
	statements, err := os.ReadFile(name)
	must(t, err)
	return string(statements)
}

// load makes a journal of SQL statements, and returns its directory.
func load(t *testing.T, statements ...string) string {
	t.Helper()
	directory := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(directory, "earshot.db"))
	must(t, err)
	defer db.Close()
	for _, s := range statements {
		_, err := db.ExecContext(t.Context(), s)
		must(t, err)
	}
	return directory
}

// TestFirstVersion opens a file of the first version.
func TestFirstVersion(t *testing.T) {
	heard := new(listener)
	s := open(t, store.Config{Directory: load(t, fixture(t, first)), Report: heard.report})
	if got, want := texts(everything(t, s)), "The tide is high|decision|reply It is|between us|erased|presence|notice"; got != want {
		t.Errorf("read %s, want %s", got, want)
	}
	ann := earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{"ann"}}
	for _, tt := range []struct {
		who         earshot.Audience
		query, want string
	}{
		{everybody, "tide", "The tide is high"},
		{everybody, "between", ""},
		{ann, "between", "between us"},
		{everybody, "is", "reply It is|The tide is high"},
	} {
		if got, err := s.For(tt.who).Search(t.Context(), tt.query, 10); err != nil || texts(got) != tt.want {
			t.Errorf("%s finds %s, %v; want %s", tt.query, texts(got), err, tt.want)
		}
	}
	if got, err := s.For(everybody).Turn(t.Context(), "t1"); err != nil || texts(got) != "decision|reply It is" {
		t.Errorf("the turn is %s, %v", texts(got), err)
	}
	if n, err := s.Delete(t.Context(), "01J0000000000000000000001A"); err != nil || n != 2 {
		t.Errorf("deleted %d, %v; want the message and the reply to it", n, err)
	}
	if e := add(t, s, said("and on"))[0]; e.Sequence != 8 {
		t.Errorf("the next event has the sequence %d", e.Sequence)
	}
	if said := heard.heard(); said != "" {
		t.Errorf("reported %s", said)
	}
}

// TestSecondVersion opens a file of the second version, in which an event can
// be hidden from agents.
func TestSecondVersion(t *testing.T) {
	heard := new(listener)
	s := open(t, store.Config{Directory: load(t, fixture(t, second)), Report: heard.report})
	desk := earshot.Audience{Room: earshot.Desk}
	for _, tt := range []struct {
		who  earshot.Audience
		want string
	}{
		{desk.With("coder"), "for the coder|memo|mode|actor"},
		{desk.With("earshot"), "presence|notice|memo|mode|actor"},
	} {
		got, err := s.For(tt.who).Events(t.Context(), 5, 10)
		if err != nil || !strings.HasSuffix(texts(got), tt.want) {
			t.Errorf("%v reads %s, %v; want %s", tt.who.Agents, texts(got), err, tt.want)
		}
	}
	if got, err := s.For(everybody).Search(t.Context(), "springs", 10); err != nil || texts(got) != "memo" {
		t.Errorf("found %s, %v; want the memo", texts(got), err)
	}
	if said := heard.heard(); said != "" {
		t.Errorf("reported %s", said)
	}
}

// TestThirdVersion opens a file of the third version, in which there are agents
// that write to each other.
func TestThirdVersion(t *testing.T) {
	heard := new(listener)
	s := open(t, store.Config{Directory: load(t, fixture(t, third)), Report: heard.report})
	got, err := s.For(everybody).Events(t.Context(), 10, 10)
	if err != nil || texts(got) != "actor|agent|which tides are low|use|reminder" {
		t.Errorf("read %s, %v", texts(got), err)
	}
	if got, err := s.For(everybody).Search(t.Context(), "low tides", 10); err != nil || texts(got) != "which tides are low" {
		t.Errorf("found %s, %v; want what an agent wrote to another", texts(got), err)
	}
	if got, err := s.For(everybody.With("scout")).Search(t.Context(), "low tides", 10); err != nil || len(got) != 0 {
		t.Errorf("a third agent found %s, %v", texts(got), err)
	}
	if said := heard.heard(); said != "" {
		t.Errorf("reported %s", said)
	}
}

// TestFourthVersion opens a file of the fourth version, in which there are thoughts and findings.
func TestFourthVersion(t *testing.T) {
	heard := new(listener)
	s := open(t, store.Config{Directory: load(t, fixture(t, fourth)), Report: heard.report})
	got, err := s.For(everybody).Events(t.Context(), 15, 10)
	if err != nil || texts(got) != "thought|finding|edit|snooze" {
		t.Errorf("read %s, %v", texts(got), err)
	}
	if said := heard.heard(); said != "" {
		t.Errorf("reported %s", said)
	}
}

// TestFifthVersion opens a file of the fifth version, in which utterances have voices.
func TestFifthVersion(t *testing.T) {
	heard := new(listener)
	s := open(t, store.Config{Directory: load(t, fixture(t, fifth)), Report: heard.report})
	got, err := s.For(everybody).Events(t.Context(), 19, 10)
	if err != nil || texts(got) != "utterance|whose" {
		t.Errorf("read %s, %v", texts(got), err)
	}
	if said := heard.heard(); said != "" {
		t.Errorf("reported %s", said)
	}
}

// TestSixthVersion opens a file of the sixth version, in which messages are revised and withdrawn.
func TestSixthVersion(t *testing.T) {
	heard := new(listener)
	s := open(t, store.Config{Directory: load(t, fixture(t, sixth)), Report: heard.report})
	got, err := s.For(everybody).Events(t.Context(), 21, 10)
	if err != nil || texts(got) != "look at this|revision|withdrawal" {
		t.Errorf("read %s, %v", texts(got), err)
	}
	if said := heard.heard(); said != "" {
		t.Errorf("reported %s", said)
	}
}

// TestSeventhVersion opens a file of the seventh version, in which there are sights.
func TestSeventhVersion(t *testing.T) {
	heard := new(listener)
	s := open(t, store.Config{Directory: load(t, fixture(t, seventh)), Report: heard.report})
	got, err := s.For(everybody).Events(t.Context(), 24, 10)
	if err != nil || texts(got) != "sight|sight" {
		t.Errorf("read %s, %v", texts(got), err)
	}
	found, err := s.For(everybody).Search(t.Context(), "example", 10)
	if err != nil || len(found) != 1 || found[0].Body != (earshot.Sight{Camera: "desk", What: earshot.CodeRead, Eyes: earshot.Clear, Text: "https://example.org/tides"}) {
		t.Errorf("found %s, %v", texts(found), err)
	}
	if said := heard.heard(); said != "" {
		t.Errorf("reported %s", said)
	}
}

// TestEighthVersion opens a file of the eighth version, in which there are records of erasures.
func TestEighthVersion(t *testing.T) {
	heard := new(listener)
	s := open(t, store.Config{Directory: load(t, fixture(t, eighth)), Report: heard.report})
	got, err := s.For(everybody).Events(t.Context(), 26, 10)
	if err != nil || texts(got) != "forgotten" {
		t.Errorf("read %s, %v", texts(got), err)
	}
	if said := heard.heard(); said != "" {
		t.Errorf("reported %s", said)
	}
}

// TestNewerVersion: a file of a later version is refused, and left alone.
func TestNewerVersion(t *testing.T) {
	directory := load(t, fixture(t, first), "UPDATE versions SET version = 99 WHERE name = 'journal'; PRAGMA user_version = 99")
	path := filepath.Join(directory, "earshot.db")
	want := path + ": it was made by a newer earshot (version 99; this one knows up to 8): start that one, restore a backup that was made before the upgrade (earshot restore --force FILE), or choose another store.directory"
	_, err := store.Open(t.Context(), store.Config{Directory: directory})
	if !errors.Is(err, store.ErrOther) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("open = %v, want %s", err, want)
	}
	_, err = store.OpenReader(t.Context(), directory)
	if !errors.Is(err, store.ErrOther) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("open for reading = %v, want %s", err, want)
	}
	if aside, _ := filepath.Glob(path + ".*"); len(aside) > 0 {
		t.Errorf("it was set aside as %v", aside)
	}
}

// TestReaderOfOlderVersion: a reader changes nothing, so it cannot read what
// must be brought up to date first.
func TestReaderOfOlderVersion(t *testing.T) {
	directory := load(t, fixture(t, first))
	if _, err := store.OpenReader(t.Context(), directory); !errors.Is(err, store.ErrOther) || !strings.Contains(err.Error(), "start this version once") {
		t.Errorf("open for reading = %v", err)
	}
	s, err := store.Open(t.Context(), store.Config{Directory: directory})
	must(t, err)
	must(t, s.Close())
	r, err := store.OpenReader(t.Context(), directory)
	must(t, err)
	defer r.Close()
	got, err := r.For(everybody).Search(t.Context(), "tide", 10)
	if err != nil || texts(got) != "The tide is high" {
		t.Errorf("found %s, %v", texts(got), err)
	}
}

// A counter is a view of another package: how many messages each author wrote.
type counter struct {
	version int
	broken  error // what Apply returns for the word broken
}

func (counter) Name() string   { return "counter" }
func (c counter) Version() int { return c.version }

func (counter) Create(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "CREATE TABLE counter (sequence INTEGER PRIMARY KEY, text TEXT)")
	return err
}

func (counter) Reset(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "DROP TABLE IF EXISTS counter")
	return err
}

func (c counter) Apply(ctx context.Context, tx *sql.Tx, e earshot.Event) error {
	m, ok := e.Body.(earshot.Message)
	if !ok {
		_, err := tx.ExecContext(ctx, "DELETE FROM counter WHERE sequence = ?", e.Sequence)
		return err
	}
	if m.Text == "broken" && c.broken != nil {
		return c.broken
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO counter VALUES (?, ?)", e.Sequence, strings.Repeat(string(m.Text), c.version))
	return err
}

// counted returns what the view has.
func counted(t *testing.T, s *store.Store) (all string) {
	t.Helper()
	_, err := s.Do(t.Context(), func(v earshot.View) ([]earshot.Event, error) {
		return nil, v.QueryRowContext(t.Context(), "SELECT coalesce(group_concat(text, '|' ORDER BY sequence), '') FROM counter").Scan(&all)
	})
	must(t, err)
	return all
}

// TestProjections: the view of another package is kept in step, and made again
// when its version changes or when it was away.
func TestProjections(t *testing.T) {
	c := store.Config{Directory: filepath.Join(t.TempDir(), "state")}
	var log strings.Builder
	c.Log = slog.New(slog.NewTextHandler(&log, nil))
	with := func(projections ...earshot.Projection) *store.Store {
		c.Projections = projections
		s, err := store.Open(t.Context(), c)
		must(t, err)
		return s
	}
	s := with(counter{version: 1})
	events := add(t, s, said("a"), said("b"))
	if got := counted(t, s); got != "a|b" {
		t.Errorf("version 1 has %s", got)
	}
	_, err := s.Delete(t.Context(), events[0].ID)
	must(t, err)
	must(t, s.Close())

	s = with(counter{version: 2})
	if got := counted(t, s); got != "bb" {
		t.Errorf("version 2 has %s", got)
	}
	must(t, s.Close())
	if strings.Count(log.String(), "rebuilding the views") != 1 || !strings.Contains(log.String(), "views=counter") {
		t.Errorf("of a view that is made again the log says %q", &log)
	}

	s = with()
	add(t, s, said("c"))
	must(t, s.Close())

	s = with(counter{version: 2})
	if got := counted(t, s); got != "bb|cc" {
		t.Errorf("after it was away it has %s", got)
	}
	must(t, s.Rebuild(t.Context()))
	if got := counted(t, s); got != "bb|cc" {
		t.Errorf("made again it has %s", got)
	}
	must(t, s.Close())

	c.Projections = []earshot.Projection{counter{}, counter{}}
	if _, err := store.Open(t.Context(), c); err == nil || !strings.Contains(err.Error(), `two views are called "counter"`) {
		t.Errorf("open with two of one name = %v", err)
	}
}

// TestBrokenProjection: an event that a view cannot take is not kept, and
// hurts no other.
func TestBrokenProjection(t *testing.T) {
	broken := errors.New("no")
	s := open(t, store.Config{Projections: []earshot.Projection{counter{1, broken}}})
	if _, err := s.Append(t.Context(), said("a"), said("broken")); !errors.Is(err, broken) || !strings.Contains(err.Error(), "counter") {
		t.Errorf("append = %v", err)
	}
	add(t, s, said("b"))
	if got := texts(everything(t, s)) + " " + counted(t, s); got != "b b" {
		t.Errorf("kept and counted %s", got)
	}
}

// TestDeletedMeanwhile: events deleted while the traces of others are removed have their own
// removed by the next daemon, if this one has no time to.
func TestDeletedMeanwhile(t *testing.T) {
	s := open(t, store.Config{})
	kept := add(t, s, said("xylophone"), said("glockenspiel"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var second sync.WaitGroup
	s.AfterSweep(func() {
		second.Go(func() { s.Delete(ctx, kept[1].ID) })
		store.AwaitCallers(t, 1)
		s.AfterCommit(1, cancel)
	})
	if n, err := s.Delete(t.Context(), kept[0].ID); n != 1 || err != nil {
		t.Fatalf("deleted %d, %v", n, err)
	}
	testkit.Finish(t, 5*testkit.Patience, "the second deletion", second.Wait)
	if got := texts(everything(t, s)); got != "erased|erased" {
		t.Fatalf("there is %s", got)
	}
	if marked, err := s.Marked(t.Context()); !marked || err != nil {
		t.Errorf("the next start looks for traces: %v, %v", marked, err)
	}
}

// TestDeletedWhileSomebodyReads: traces that could not be removed are removed by the next daemon.
func TestDeletedWhileSomebodyReads(t *testing.T) {
	s := open(t, store.Config{})
	kept := add(t, s, said("xylophone"))
	db, err := sql.Open("sqlite", s.Path())
	must(t, err)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "SELECT payload FROM journal")
	must(t, err)
	defer rows.Close()
	must(t, s.Run(t.Context(), "PRAGMA busy_timeout = 10")) // it waits no longer for who reads
	if n, err := s.Delete(t.Context(), kept[0].ID); n != 1 || err == nil {
		t.Fatalf("deleted %d, %v", n, err)
	}
	if marked, err := s.Marked(t.Context()); !marked || err != nil {
		t.Errorf("the next start looks for traces: %v, %v", marked, err)
	}
}

// TestEndIsNotDelayedByTraces: whoever waits for the next daemon does not wait for traces that
// this one cannot remove at once, here because another program reads the file.
func TestEndIsNotDelayedByTraces(t *testing.T) {
	var log bytes.Buffer
	c := store.Config{Directory: filepath.Join(t.TempDir(), "state"), Log: slog.New(slog.NewTextHandler(&log, nil))}
	s, err := store.Open(t.Context(), c)
	must(t, err)
	kept := add(t, s, said("xylophone"))
	resume := s.HoldTidier()
	_, err = s.Forget(t.Context(), store.Selection{Events: []earshot.EventID{kept[0].ID}}, nil)
	must(t, err)
	db, err := sql.Open("sqlite", s.Path())
	must(t, err)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "SELECT payload FROM journal")
	must(t, err)
	defer rows.Close()
	resume()
	began := time.Now()
	testkit.Finish(t, testkit.Patience, "the end of the store", func() { must(t, s.Close()) })
	t.Logf("it ended after %v", time.Since(began).Round(time.Millisecond))
	if !strings.Contains(log.String(), "no time was left") {
		t.Errorf("the log says %s", log.String())
	}
	s = open(t, store.Config{Directory: c.Directory})
	if marked, err := s.Marked(t.Context()); !marked || err != nil {
		t.Errorf("the next start looks for traces: %v, %v", marked, err)
	}
}

// TestUnfinishedDeletion: a daemon that died after a deletion, and before the
// traces were gone, leaves them to the next.
func TestUnfinishedDeletion(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "state")
	s, err := store.Open(t.Context(), store.Config{Directory: directory})
	must(t, err)
	for range 30 {
		add(t, s, said("xylophone"))
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.AfterSweep(cancel)
	var all []earshot.EventID
	for _, e := range everything(t, s) {
		all = append(all, e.ID)
	}
	n, err := s.Delete(ctx, all...)
	if n != 30 || !errors.Is(err, context.Canceled) {
		t.Errorf("deleted %d, %v; want 30, and that it was cut short", n, err)
	}
	if len(traces(t, directory, []string{"xylophone"})) == 0 {
		t.Fatal("no traces are left: the test cut it short too late to prove anything")
	}
	copied := sample{files: map[string][]byte{}} // as after a kill, since closing would tidy the log
	for _, name := range []string{"earshot.db", "earshot.db-wal", "lock"} {
		copied.files[name], err = os.ReadFile(filepath.Join(directory, name))
		must(t, err)
	}
	must(t, s.Close())
	directory = copied.lay(t, "lock", []byte("1\n"))
	must(t, open(t, store.Config{Directory: directory}).Clean(t.Context()))
	if found := traces(t, directory, []string{"xylophone"}); len(found) > 0 {
		t.Errorf("after the next start there are traces: %s", found)
	}
}

var update = flag.Bool("update", false, "write "+eighth)

// TestFixture writes the fixture of the newest version.
func TestFixture(t *testing.T) {
	if !*update {
		t.Skip("only with -update")
	}
	s := open(t, store.Config{})
	e := func(id earshot.EventID, body earshot.Body, sources ...earshot.EventID) earshot.Event {
		e := said("")
		e.ID, e.Body, e.Sources = id, body, sources
		return e
	}
	message := e("01J0000000000000000000001A", earshot.Message{Text: "The tide is high"})
	private := e("01J0000000000000000000001D", earshot.Message{Text: "between us"})
	private.Visibility = earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann", "earshot"}}
	asked := e("01J0000000000000000000001P", earshot.Message{Text: "which tides are low", Turn: "t1", About: message.ID})
	asked.Author, asked.Visibility.Agents = "earshot", []earshot.ParticipantID{"earshot", "coder"}
	hidden := e("01J0000000000000000000001H", earshot.Message{Text: "for the coder"})
	hidden.Visibility.Agents = []earshot.ParticipantID{"coder"}
	add(t, s, message,
		e("01J0000000000000000000001B", earshot.Decision{About: message.ID, Agent: "earshot", Verdict: earshot.Speak, Reasons: []string{"addressed"}, Turn: "t1"}),
		e("01J0000000000000000000001C", earshot.Reply{Turn: "t1", About: message.ID, Outcome: earshot.Interrupted, Offered: "It is, and it rises",
			Heard: []earshot.Delivery{{Outlet: "console", Bytes: 5}}, Cut: &earshot.Interruption{By: "ann", Signal: "message", At: began}}, message.ID),
		private,
		e("01J0000000000000000000001E", earshot.Message{Text: "forget this"}),
		e("01J0000000000000000000001F", earshot.Presence{Session: "tty1", Here: true}),
		e("01J0000000000000000000001G", earshot.Notice{Key: "llm", Text: "gone", Cure: "ollama serve"}),
		hidden,
		e("01J0000000000000000000001J", earshot.Memo{Text: "springs are high"}),
		e("01J0000000000000000000001K", earshot.ModeChange{Mode: earshot.Muted}),
		e("01J0000000000000000000001M", earshot.Actor{Act: earshot.Created, Participant: "bob", Name: "Bob", Type: "human"}),
		e("01J0000000000000000000001N", earshot.Agent{Act: earshot.Created, ID: "coder", Path: "/owner/agent/coder", User: "owner", PathKind: "agent", Role: "user",
			Profile: &earshot.Profile{Name: "Coder", Prompt: "You code.", Version: 2, AutoReply: true}}),
		asked,
		e("01J0000000000000000000001Q", earshot.Use{Turn: "t1", Tool: "message_agent", Arguments: `{"name":"Coder"}`, Result: "neap tides", Took: time.Second}),
		e("01J0000000000000000000001R", earshot.Reminder{Act: earshot.Created, Due: began, Text: "tea"}),
		e("01J0000000000000000000001S", earshot.Thought{Cause: earshot.ByNovelty, About: message.ID, Text: "it rises every twelve hours", Tokens: 6, Outcome: earshot.Completed}, message.ID),
		e("01J0000000000000000000001T", earshot.Finding{Thought: "01J0000000000000000000001S", Text: "high again at nine", Confidence: 0.7, Until: began}, "01J0000000000000000000001S", message.ID),
		e("01J0000000000000000000001V", earshot.Edit{Act: earshot.Changed, Field: "notes", Item: "01J0000000000000000000001J", Was: "springs are high", Text: "neaps are low"}),
		e("01J0000000000000000000001W", earshot.Snooze{Until: began}),
		e("01J0000000000000000000001X", earshot.Utterance{Text: "and who says so", Confidence: 0.9, Lasted: time.Second, Speaker: earshot.Handle{Provider: "voice", ID: "3"}, Sure: 0.8}),
		e("01J0000000000000000000001Y", earshot.Attribution{Of: "01J0000000000000000000001X", Speaker: earshot.Handle{Provider: "voice", ID: "4"}, Author: "bob", Sure: 1, By: "ann"}, "01J0000000000000000000001X"),
		e("01J0000000000000000000001Z", earshot.Message{Text: "look at this", ReplyTo: message.ID, Attachments: []earshot.Attachment{{Name: "tide.png", Type: "image/png", Size: 120_000}}}),
		e("01J00000000000000000000020", earshot.Revision{Of: message.ID, Text: "The tide is high"}, message.ID),
		e("01J00000000000000000000021", earshot.Withdrawal{Of: "01J0000000000000000000001E"}),
		e("01J00000000000000000000022", earshot.Sight{Camera: "desk", What: earshot.PeopleChanged, People: 1, Eyes: earshot.Clear, Sure: 0.8}),
		e("01J00000000000000000000023", earshot.Sight{Camera: "desk", What: earshot.CodeRead, Eyes: earshot.Clear, Text: "https://example.org/tides"}),
		e("01J00000000000000000000024", earshot.ErasureRecord{Events: 3}))
	_, err := s.Delete(t.Context(), "01J0000000000000000000001E")
	must(t, err)
	dump, err := s.Dump(t.Context())
	must(t, err)
	must(t, os.MkdirAll("testdata", 0o755))
	must(t, os.WriteFile(eighth, []byte(dump), 0o644))
}

// TestSchemaIsThatOfTheFixtures: a migrated file is like a new one.
func TestSchemaIsThatOfTheFixtures(t *testing.T) {
	want, err := open(t, store.Config{}).Schema(t.Context())
	must(t, err)
	for _, name := range versions {
		old := open(t, store.Config{Directory: load(t, fixture(t, name))})
		if got, err := old.Schema(t.Context()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("the schema of %s, brought up to date, is\n%s\nand of a new one\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestProgress: the caller that waits for views to be rebuilt receives their progress, and nobody
// does where none is rebuilt.
func TestProgress(t *testing.T) {
	var told [][2]int64
	c := store.Config{Directory: filepath.Join(t.TempDir(), "state"), Progress: func(done, all int64) { told = append(told, [2]int64{done, all}) }}
	with := func(version int) *store.Store {
		told = nil
		c.Projections = []earshot.Projection{counter{version: version}}
		s, err := store.Open(t.Context(), c)
		must(t, err)
		return s
	}
	s := with(1)
	if len(told) != 0 {
		t.Errorf("of an empty journal it was told %v", told)
	}
	for range 6 {
		var some []earshot.Event
		for range 100 {
			some = append(some, said("a"))
		}
		add(t, s, some...)
	}
	must(t, s.Rebuild(t.Context())) // which whoever asked for waits for
	must(t, s.Close())
	must(t, with(1).Close())
	if len(told) != 0 {
		t.Errorf("where nothing was made again it was told %v", told)
	}
	must(t, with(2).Close())
	if want := [][2]int64{{256, 600}, {512, 600}, {600, 600}}; !slices.Equal(told, want) {
		t.Errorf("it was told %v, want %v", told, want)
	}
}
