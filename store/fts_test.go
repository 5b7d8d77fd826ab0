package store_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/testkit"
	"earshot/store"
)

// indexed returns the contents of the index: each term, and its sequences.
func indexed(t testing.TB, path string) map[string][]int64 {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	must(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.ExecContext(t.Context(), "CREATE VIRTUAL TABLE temp.v USING fts5vocab(main, terms, instance)")
	must(t, err)
	rows, err := db.QueryContext(t.Context(), "SELECT term, doc FROM temp.v ORDER BY term, doc")
	must(t, err)
	defer rows.Close()
	all := map[string][]int64{}
	for rows.Next() {
		var term string
		var sequence int64
		must(t, rows.Scan(&term, &sequence))
		all[term] = append(all[term], sequence)
	}
	must(t, rows.Err())
	return all
}

// gibberish returns a message of random words, almost of the given size.
func gibberish(r *rand.Rand, bytes int) earshot.Text {
	var b strings.Builder
	for b.Len() < bytes-16 {
		fmt.Fprintf(&b, "%x ", r.Uint32())
	}
	return earshot.Text(b.String())
}

// TestIndexAgreesWithRebuild: whatever is said, revised, withdrawn, attributed to somebody else and
// deleted, the index equals a rebuilt one.
func TestIndexAgreesWithRebuild(t *testing.T) {
	some := []string{"tide", "tides", "moon", "潮汐表", "ebb", "flow", "42"}
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom(some), 0, 5), func(words []string) earshot.Text { return earshot.Text(strings.Join(words, " ")) })
	rapid.Check(t, func(rt *rapid.T) {
		s, err := store.Open(t.Context(), store.Indexed(store.Config{Directory: t.TempDir()}, rapid.SampledFrom([]int64{1, 4, 0}).Draw(rt, "size")))
		must(t, err)
		defer func() { must(t, s.Close()) }()
		var ids []earshot.EventID
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			e := said(text.Draw(rt, "text"))
			e.Visibility = earshot.Visibility{Scope: rapid.SampledFrom([]earshot.Scope{earshot.Public, earshot.Private, "secret"}).Draw(rt, "scope"), Members: people.Draw(rt, "members")}
			if rapid.Bool().Draw(rt, "hidden") {
				e.Visibility.Agents = agents.Draw(rt, "agents")
			}
			if len(ids) > 0 {
				of := rapid.SampledFrom(ids).Draw(rt, "of")
				switch rapid.IntRange(0, 6).Draw(rt, "what") {
				case 0:
					e.Body = earshot.Revision{Of: of, Text: text.Draw(rt, "now")}
				case 1:
					e.Body = earshot.Withdrawal{Of: of}
				case 2, 3:
					e.Sources, e.Body = []earshot.EventID{of}, earshot.Attribution{Of: of, Author: rapid.SampledFrom([]earshot.ParticipantID{"ann", "bob", ""}).Draw(rt, "author")}
				case 4:
					_, err := s.Forget(t.Context(), store.Selection{Events: []earshot.EventID{of}}, nil)
					must(t, err)
					continue
				}
			}
			if m, is := e.Body.(earshot.Message); is && rapid.Bool().Draw(rt, "aloud") {
				e.Body = earshot.Utterance{Text: m.Text}
			}
			if kept, err := s.Append(t.Context(), e); err == nil { // it may refer to something that cannot be changed
				ids = append(ids, kept[0].ID)
			}
		}
		must(t, s.Clean(t.Context()))
		was := indexed(t, s.Path())
		must(t, s.Rebuild(t.Context()))
		if is := indexed(t, s.Path()); fmt.Sprint(is) != fmt.Sprint(was) {
			rt.Fatalf("the index has\n%v\nand made again\n%v", was, is)
		}
		must(t, s.Run(t.Context(), "INSERT INTO terms (terms) VALUES ('integrity-check')"))
	})
}

// TestSearchAsksForNothingElse: a person's search asks the index only for tags of texts which that
// person may see. So neither the result nor its time can depend on any other text.
func TestSearchAsksForNothingElse(t *testing.T) {
	quoted := regexp.MustCompile(`"([^"]*)"`)
	rapid.Check(t, func(rt *rapid.T) {
		const size = 8
		s, err := store.Open(t.Context(), store.Indexed(store.Config{Directory: t.TempDir()}, size))
		must(t, err)
		defer func() { must(t, s.Close()) }()
		var all []earshot.Event
		for range rapid.IntRange(1, 20).Draw(rt, "events") {
			e := said(rapid.SampledFrom([]earshot.Text{"the tide", "tides and moons", "潮汐表"}).Draw(rt, "text"))
			e.Room = rapid.SampledFrom([]earshot.RoomID{"desk", "attic"}).Draw(rt, "room")
			e.Author = rapid.SampledFrom([]earshot.ParticipantID{"ann", "bob"}).Draw(rt, "author")
			e.Visibility = earshot.Visibility{
				Scope:   rapid.SampledFrom([]earshot.Scope{"", earshot.Public, earshot.Private, earshot.System, "secret"}).Draw(rt, "scope"),
				Members: people.Draw(rt, "members"),
			}
			if rapid.Bool().Draw(rt, "hidden") {
				e.Visibility.Agents = agents.Draw(rt, "agents")
			}
			all = append(all, add(t, s, e)...)
		}
		who := earshot.Audience{Room: rapid.SampledFrom([]earshot.RoomID{"desk", "attic", "cellar"}).Draw(rt, "where")}
		if rapid.Bool().Draw(rt, "somebody") {
			who.Members = []earshot.ParticipantID{rapid.SampledFrom([]earshot.ParticipantID{"ann", "bob", "cy", ""}).Draw(rt, "who")}
		}
		who.Unknown = rapid.Bool().Draw(rt, "unknown")
		index := indexed(t, s.Path())
		for sequence := int64(0); sequence <= int64(len(all)); sequence += size {
			asked, err := s.For(who).Asks(`tide "the tide" mo* 潮汐 from:ann`, sequence)
			must(t, err)
			for _, m := range quoted.FindAllStringSubmatch(asked, -1) {
				tag := m[1][:8]
				for term, sequences := range index {
					if !strings.HasPrefix(term, tag) {
						continue
					}
					for _, n := range sequences {
						if e := all[n-1]; e.Room != who.Room || !e.Visibility.Allows(who) {
							rt.Fatalf("%+v asks for %q, which is of %+v", who, m[1], e)
						}
					}
				}
			}
		}
	})
}

// TestLongTextsAreBounded: any text, whoever says it and to whomever, takes a bounded part of the
// index, and of the disk in its commit. Its first words are found.
func TestLongTextsAreBounded(t *testing.T) {
	s, err := store.Open(t.Context(), store.Config{Directory: t.TempDir()})
	must(t, err)
	defer func() { must(t, s.Close()) }()
	r := rand.New(rand.NewPCG(7, 7))
	var han, long strings.Builder
	for han.Len() < earshot.MaxText-4 {
		han.WriteRune(rune(0x4e00 + r.IntN(20_000)))
	}
	for i := 0; long.Len() < earshot.MaxText-100; i++ {
		fmt.Fprintf(&long, "%060d ", r.Uint64())
	}
	crowd := make([]earshot.ParticipantID, 300)
	for i := range crowd {
		crowd[i] = earshot.ParticipantID(fmt.Sprint("p", i))
	}
	private := func(members ...earshot.ParticipantID) earshot.Visibility {
		return earshot.Visibility{Scope: earshot.Private, Members: members}
	}
	const (
		most  = 8192
		pages = 700 // of 4 KiB: the text, its terms, and the parts joined meanwhile
	)
	log := s.Path() + "-wal"
	for name, tt := range map[string]struct {
		text earshot.Text
		v    earshot.Visibility
	}{
		"random words":             {gibberish(r, earshot.MaxText), earshot.Visibility{Scope: earshot.Public}},
		"between two":              {gibberish(r, earshot.MaxText), private("ann", "bob")},
		"for a crowd":              {gibberish(r, earshot.MaxText), private(crowd...)},
		"for agents":               {gibberish(r, earshot.MaxText), earshot.Visibility{Scope: earshot.Public, Agents: crowd}},
		"without spaces":           {earshot.Text(han.String()), earshot.Visibility{Scope: earshot.Public}},
		"long words":               {earshot.Text(long.String()), earshot.Visibility{Scope: earshot.Public}},
		"one letter after another": {earshot.Text(strings.Repeat("a ", earshot.MaxText/2)), earshot.Visibility{Scope: earshot.Public}},
		"a word as long as a text": {earshot.Text(strings.Repeat("x", earshot.MaxText)), earshot.Visibility{Scope: earshot.Public}},
		"marks on a single letter": {earshot.Text("e" + strings.Repeat("\u0301", earshot.MaxText/2-1)), earshot.Visibility{Scope: earshot.Public}},
		"a text of a language":     {earshot.Text(strings.Repeat("the tides are rising over the harbour wall again ", earshot.MaxText/50)), private("ann", "bob")},
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 {
				must(t, s.Clean(t.Context()))
				must(t, s.Run(t.Context(), "UPDATE versions SET version = version")) // so that there is a log
				before, err := os.Stat(log)
				must(t, err)
				e := said("first " + tt.text[:len(tt.text)-6])
				e.Visibility = tt.v
				kept := add(t, s, e)[0]
				after, err := os.Stat(log)
				must(t, err)
				if n := (after.Size() - before.Size()) / 4096; n > pages {
					t.Errorf("the commit has %d pages, more than %d", n, pages)
				}
				n := 0
				for _, sequences := range indexed(t, s.Path()) {
					if slices.Contains(sequences, kept.Sequence) {
						n++
					}
				}
				if n > most || n < 2 {
					t.Errorf("it has %d terms in the index, more than %d", n, most)
				}
				who := everybody
				if len(tt.v.Members) > 0 {
					who.Members = tt.v.Members[:1]
				}
				if found, err := s.For(who).Search(t.Context(), "first", 1); err != nil || len(found) != 1 || found[0].ID != kept.ID {
					t.Errorf("its first word finds %d, %v", len(found), err)
				}
			}
		})
	}
}

// TestRevisedAgainAndAgain: editing a long text faster than the index can forget the old one does
// not make the index grow, and the last text is found.
func TestRevisedAgainAndAgain(t *testing.T) {
	s := open(t, store.Config{})
	r := rand.New(rand.NewPCG(8, 8))
	m := add(t, s, said("zeroth "+gibberish(r, 60_000)))[0]
	resume := s.HoldTidier()
	for i := range 8 {
		e := said("")
		e.Body = earshot.Revision{Of: m.ID, Text: earshot.Text(fmt.Sprintf("version%d ", i)) + gibberish(r, 60_000)}
		add(t, s, e)
		n, err := s.Rows(t.Context(), "SELECT length(terms) FROM stale")
		if err != nil || len(n) != 1 || len(n[0]) > 6 {
			t.Fatalf("after %d changes it has to forget %v, %v", i+1, n, err)
		}
	}
	if found, err := s.For(everybody).Search(t.Context(), "version3", 9); err != nil || len(found) != 0 {
		t.Errorf("what it said before is found: %d, %v", len(found), err)
	}
	resume()
	must(t, s.Clean(t.Context()))
	for word, want := range map[string]int{"version7": 1, "version6": 0, "zeroth": 0} {
		if found, err := s.For(everybody).Search(t.Context(), word, 9); err != nil || len(found) != want {
			t.Errorf("%s finds %d, %v", word, len(found), err)
		}
	}
	was := indexed(t, s.Path())
	must(t, s.Rebuild(t.Context()))
	if is := indexed(t, s.Path()); fmt.Sprint(is) != fmt.Sprint(was) {
		t.Errorf("the index has %d terms, and made again %d", len(was), len(is))
	}
}

// TestSeparatorsAreForgotten: the separators inside the index reveal nothing of a word that is no
// longer in it.
func TestSeparatorsAreForgotten(t *testing.T) {
	s, err := store.Open(t.Context(), store.Config{Directory: t.TempDir()})
	must(t, err)
	defer func() { must(t, s.Close()) }()
	must(t, s.Run(t.Context(), "INSERT INTO terms (terms, rank) VALUES ('pgsz', 128)"))
	r := rand.New(rand.NewPCG(9, 9))
	var gone, stay []earshot.EventID
	for range 200 {
		words := make([]string, 10)
		for i := range words {
			words[i] = fmt.Sprintf("word%x", r.Uint64())
		}
		id := add(t, s, said(earshot.Text(strings.Join(words, " "))))[0].ID
		if r.IntN(2) == 0 {
			gone = append(gone, id)
		} else {
			stay = append(stay, id)
		}
	}
	_, err = s.Forget(t.Context(), store.Selection{Events: gone}, nil)
	must(t, err)
	must(t, s.Clean(t.Context()))
	terms := indexed(t, s.Path())
	separators, err := s.Rows(t.Context(), "SELECT CAST(substr(term, 2) AS TEXT) FROM terms_idx WHERE length(term) > 1")
	must(t, err)
	if len(separators) < 100 {
		t.Fatalf("there are only %d separators", len(separators))
	}
	for _, is := range separators {
		begins := false
		for term := range terms {
			begins = begins || strings.HasPrefix(term, is)
		}
		if !begins {
			t.Errorf("no term begins with %s", is)
		}
	}
	for _, id := range stay {
		found, err := s.For(everybody).Find(t.Context(), []earshot.EventID{id})
		must(t, err)
		for _, word := range strings.Fields(string(found[0].Body.(earshot.Message).Text)) {
			if got, err := s.For(everybody).Search(t.Context(), word, 2); err != nil || len(got) != 1 || got[0].ID != id {
				t.Fatalf("%s finds %d, %v", word, len(got), err)
			}
		}
	}
	must(t, s.Run(t.Context(), "INSERT INTO terms (terms) VALUES ('integrity-check')"))
}

// TestBackupWhileForgetting: a backup made after an event was erased, and before its last traces
// were removed, has none of the traces and can be restored.
func TestBackupWhileForgetting(t *testing.T) {
	s := open(t, store.Config{})
	for i := range 50 {
		word := "quetzalcoatl"
		if i >= 25 {
			word = "wyvern"
		}
		add(t, s, by(earshot.EventID(fmt.Sprint("m", i)), "ann", earshot.Message{Text: earshot.Text(fmt.Sprintf("%s%d flew over the %s", word, i, strings.Repeat(word+" ", i)))}), said("harpsichord"))
	}
	defer s.HoldTidier()()
	_, err := s.Forget(t.Context(), store.Selection{Kinds: []earshot.Kind{earshot.KindMessage}, People: []earshot.ParticipantID{"ann"}, Until: 50}, nil)
	must(t, err)
	if len(traces(t, filepath.Dir(s.Path()), []string{"quetzal"})) == 0 {
		t.Fatal("there are no traces to be removed: the test looks in the wrong way")
	}
	archive, err := store.OpenReader(t.Context(), store.Config{Directory: filepath.Dir(s.Path())})
	must(t, err)
	defer archive.Close()
	path := filepath.Join(t.TempDir(), "backup")
	must(t, archive.Backup(t.Context(), path))
	if left := traces(t, filepath.Dir(path), []string{"quetzal"}); len(left) > 0 {
		t.Errorf("the backup has traces: %v", left)
	}
	restored := filepath.Join(t.TempDir(), "state")
	_, err = store.Restore(t.Context(), store.Config{Directory: restored}, path, false)
	must(t, err)
	again := open(t, store.Config{Directory: restored})
	for word, want := range map[string]int{"quetzalcoatl0": 0, "wyvern30": 1, "harpsichord": 25} {
		if found, err := again.For(everybody).Search(t.Context(), word, 99); err != nil || len(found) != want {
			t.Errorf("restored, %s is found %d times, %v", word, len(found), err)
		}
	}
}

// TestForgetUnreadable: an event that cannot be read any more can still be erased. The next start
// rebuilds the index, in which its words would otherwise stay.
func TestForgetUnreadable(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "state")
	s, err := store.Open(t.Context(), store.Config{Directory: directory})
	must(t, err)
	id := add(t, s, said("the xylophone"), said("the harpsichord"))[0].ID
	must(t, s.Run(t.Context(), "UPDATE journal SET payload = replace(payload, 'xylophone', 'zylophone') WHERE sequence = 1"))
	if n, err := s.Delete(t.Context(), id); n != 1 || err != nil {
		t.Fatalf("deleted %d, %v", n, err)
	}
	must(t, s.Close())
	s, err = store.Open(t.Context(), store.Config{Directory: directory})
	must(t, err)
	defer func() { must(t, s.Close()) }()
	must(t, s.Clean(t.Context()))
	if left := traces(t, directory, []string{"xylophone", "zylophone"}); len(left) > 0 {
		t.Errorf("there are traces: %v", left)
	}
	if found, err := s.For(everybody).Search(t.Context(), "harpsichord", 9); err != nil || len(found) != 1 {
		t.Errorf("what stays is found %d times, %v", len(found), err)
	}
}

// TestSearchByTime: for any span of time, the search finds exactly the events that began in it,
// whatever order they came in.
func TestSearchByTime(t *testing.T) {
	day := func(n float64) time.Time { return began.Add(time.Duration(n * 24 * float64(time.Hour))) }
	rapid.Check(t, func(rt *rapid.T) {
		s, err := store.Open(t.Context(), store.Indexed(store.Config{Directory: t.TempDir()}, rapid.SampledFrom([]int64{4, 0}).Draw(rt, "size")))
		must(t, err)
		defer func() { must(t, s.Close()) }()
		when := rapid.Map(rapid.IntRange(-400, 400), func(n int) time.Time { return day(float64(n) / 4) })
		var all []earshot.Event
		for _, at := range rapid.SliceOfN(when, 1, 30).Draw(rt, "times") {
			e := said(rapid.SampledFrom([]earshot.Text{"the tide", "the moon"}).Draw(rt, "text"))
			e.At = at
			all = append(all, add(t, s, e)...)
		}
		for range 5 {
			since, before := when.Draw(rt, "since"), when.Draw(rt, "before")
			query := fmt.Sprintf("tide since:%s", since.Format(time.RFC3339))
			if rapid.Bool().Draw(rt, "both") {
				query += " before:" + before.Format(time.RFC3339)
			} else {
				before = day(1e4)
			}
			var want []int64
			for _, e := range slices.Backward(all) {
				if !e.At.Before(since) && e.At.Before(before) && strings.Contains(string(e.Body.(earshot.Message).Text), "tide") {
					want = append(want, e.Sequence)
				}
			}
			found, err := s.For(everybody).Search(t.Context(), query, 100)
			if err != nil && !since.Before(before) {
				continue
			}
			var got []int64
			for _, e := range found {
				got = append(got, e.Sequence)
			}
			if err != nil || !slices.Equal(got, want) {
				rt.Fatalf("%s finds %v, %v; want %v", query, got, err, want)
			}
		}
	})
}

// TestSearchByAuthor: words are found by their author, as far as the reader may know it. The author
// of spoken words is the person to whom they were attributed.
func TestSearchByAuthor(t *testing.T) {
	s := open(t, store.Config{})
	aloud := func(id earshot.EventID, text earshot.Text, author earshot.ParticipantID, v earshot.Visibility) {
		e := by(id, author, earshot.Utterance{Text: text})
		e.Visibility = v
		add(t, s, e)
	}
	whose := func(of earshot.EventID, author earshot.ParticipantID, v earshot.Visibility) earshot.EventID {
		e := by("", "", earshot.Attribution{Of: of, Author: author}, of)
		e.Visibility = v
		return add(t, s, e)[0].ID
	}
	public, secret := earshot.Visibility{Scope: earshot.Public}, earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann"}}
	add(t, s, by("written", "ann", earshot.Message{Text: "the tide"}), by("other", "bob", earshot.Message{Text: "the tide"}))
	aloud("first", "a tide", "", public)
	aloud("second", "two tides", "bob", public)
	aloud("third", "three tides", "bob", public)
	whose("first", "ann", public)
	whose("second", "ann", public)
	last := whose("second", "bob", public)
	whose("third", "ann", secret)
	ids := func(events []earshot.Event, err error) string {
		must(t, err)
		var all []string
		for _, e := range events {
			all = append(all, string(e.ID))
		}
		return strings.Join(all, " ")
	}
	ann := earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{"ann"}}
	check := func(query string, who earshot.Audience, want string) {
		t.Helper()
		if got := ids(s.For(who).Search(t.Context(), query, 10)); got != want {
			t.Errorf("%s finds %q, want %q", query, got, want)
		}
	}
	check("tide from:ann", everybody, "first written")
	check("tide from:bob", everybody, "third second other")
	check("tide from:ann", ann, "third first written")
	check("tide from:ann from:bob", everybody, "third second first other written")
	check("from:ann", everybody, "first written")
	check("from:cy", everybody, "")
	_, err := s.Delete(t.Context(), last)
	must(t, err)
	check("tide from:ann", everybody, "second first written")
	check("tide from:bob", everybody, "third other")
}

// TestLongMessagesShareNoCommit: callers that wait together share a commit, except for messages of
// the greatest length, which would make the commit long.
func TestLongMessagesShareNoCommit(t *testing.T) {
	s := open(t, store.Config{})
	held, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		_, err := s.Do(t.Context(), func(earshot.View) ([]earshot.Event, error) {
			close(held)
			<-release
			return nil, nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	testkit.Receive(t, testkit.Patience, "that the writer is held", held)
	const callers = 6
	text := gibberish(rand.New(rand.NewPCG(6, 6)), earshot.MaxText)
	for range callers {
		all.Go(func() {
			if _, err := s.Append(detached(t), said(text)); err != nil {
				t.Error(err)
			}
		})
	}
	store.AwaitCallers(t, callers)
	n := s.CountCommits()
	close(release)
	testkit.Finish(t, 5*testkit.Patience, "the end of what is written", all.Wait)
	if got := n.Load(); got < callers {
		t.Errorf("%d of the longest messages shared %d commits", callers, got)
	}
}
