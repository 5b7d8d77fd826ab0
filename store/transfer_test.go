package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot"
	"earshot/store"
)

// exported returns an export of everything in s.
func exported(t testing.TB, s *store.Store) []byte {
	t.Helper()
	var out bytes.Buffer
	_, err := store.WriteExport(&out, store.ExportHeader{}, s.Export(t.Context()))
	must(t, err)
	return out.Bytes()
}

// fresh opens an empty store, which is closed with the test.
func fresh(t testing.TB, directory string) *store.Store {
	t.Helper()
	return open(t, store.Config{Directory: directory})
}

// lived draws a history with everything that a history may contain, and stores it.
func lived(t *testing.T, rt *rapid.T, s *store.Store, name string) {
	var ids []earshot.EventID
	for i := range rapid.IntRange(0, 20).Draw(rt, "events") {
		e := said("")
		e.ID = earshot.EventID(fmt.Sprintf("%s%03d", name, i))
		e.Body = anyBody(rt)
		e.Visibility = earshot.Visibility{Scope: rapid.SampledFrom([]earshot.Scope{earshot.Public, earshot.Private, earshot.System}).Draw(rt, "scope"), Members: people.Draw(rt, "members")}
		if rapid.Bool().Draw(rt, "hidden") {
			e.Visibility.Agents = agents.Draw(rt, "agents")
		}
		if len(ids) > 0 && rapid.Bool().Draw(rt, "derived") {
			e.Sources = []earshot.EventID{rapid.SampledFrom(ids).Draw(rt, "source")}
		}
		_, err := s.Append(t.Context(), e)
		must(t, err)
		ids = append(ids, e.ID)
		of := rapid.SampledFrom(ids).Draw(rt, "of")
		change := said("")
		change.ID = earshot.EventID(fmt.Sprintf("%s%03dz", name, i))
		switch rapid.IntRange(0, 9).Draw(rt, "then") {
		case 0:
			change.Body = earshot.Revision{Of: of, Text: "moon and tide"}
		case 1:
			change.Body = earshot.Withdrawal{Of: of}
		case 2:
			_, err := s.Delete(t.Context(), of)
			must(t, err)
			continue
		default:
			continue
		}
		if _, err := s.Append(t.Context(), change); err == nil { // it may refer to something that cannot be changed
			ids = append(ids, change.ID)
		}
	}
}

// TestExportComesBack: for any history, an export can be imported into an empty journal. An export
// of that is the same to the byte, the views answer the same, and a second import changes nothing.
func TestExportComesBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		from, to := fresh(t, filepath.Join(t.TempDir(), "a")), fresh(t, filepath.Join(t.TempDir(), "b"))
		lived(t, rt, from, "E")
		first := exported(t, from)
		for i, want := range []string{"all", "none"} {
			done, err := to.Import(t.Context(), bytes.NewReader(first), false)
			if err != nil || want == "none" && done.Added != 0 || done.Added+done.Known != done.Events {
				rt.Fatalf("import %d: %+v, %v", i, done, err)
			}
			if second := exported(t, to); !bytes.Equal(first, second) {
				rt.Fatalf("exported\n%s\nand then\n%s", first, second)
			}
		}
		for _, who := range []earshot.Audience{everybody, everybody.With("coder"), {Room: earshot.Desk, Members: []earshot.ParticipantID{"ann", "bob"}}} {
			if was, is := answers(rt, from.For(who)), answers(rt, to.For(who)); was != is {
				rt.Fatalf("%v was answered\n%s\nand is\n%s", who, was, is)
			}
		}
		// Derived events go with their source, as they would have in the original.
		var ids []earshot.EventID
		for _, e := range everything(t, from) {
			ids = append(ids, e.ID)
		}
		if len(ids) == 0 {
			return
		}
		victim := rapid.SampledFrom(ids).Draw(rt, "victim")
		n, err := from.Delete(t.Context(), victim)
		must(t, err)
		if m, err := to.Delete(t.Context(), victim); m != n || err != nil {
			rt.Fatalf("deleted %d, and %d, %v where it was imported", n, m, err)
		}
	})
}

// TestImportBeside: an import into a journal with a past of its own changes nothing of that past,
// and everything is there once.
func TestImportBeside(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		from, to := fresh(t, filepath.Join(t.TempDir(), "a")), fresh(t, filepath.Join(t.TempDir(), "b"))
		lived(t, rt, from, "E")
		lived(t, rt, to, "F")
		before := everything(t, to)
		done, err := to.Import(t.Context(), bytes.NewReader(exported(t, from)), false)
		must(t, err)
		after := everything(t, to)
		if len(after) != len(before)+len(everything(t, from)) || done.Known > 0 {
			rt.Fatalf("there are %d events, of %d and %d; %+v", len(after), len(before), len(everything(t, from)), done)
		}
		if got, want := texts(after[:len(before)]), texts(before); got != want {
			rt.Fatalf("there was\n%s\nand is\n%s", want, got)
		}
		if got, want := texts(after[len(before):]), texts(everything(t, from)); got != want {
			rt.Fatalf("imported\n%s\nas\n%s", want, got)
		}
		must(t, to.Rebuild(t.Context()))
	})
}

// TestImportHeedsDeletions: events that were deleted here do not come back, nor does anything made
// from them. Withdrawals and revisions in the export apply here too.
func TestImportHeedsDeletions(t *testing.T) {
	both := func(name string) *store.Store {
		s := fresh(t, filepath.Join(t.TempDir(), name))
		a, b, c, d := said("apple"), said("pear"), said("plum"), said("quince")
		a.ID, b.ID, c.ID, d.ID = "A", "B", "C", "D"
		add(t, s, a, b, c, d)
		return s
	}
	there, here := both("there"), both("here")
	reply := said("")
	reply.ID, reply.Sources = "R", []earshot.EventID{"A"}
	reply.Body = earshot.Reply{Turn: "t", About: "A", Outcome: earshot.Completed, Offered: "an apple", Heard: []earshot.Delivery{{Outlet: "console", Bytes: 8}}}
	back, revised := said(""), said("")
	back.ID, back.Body = "W", earshot.Withdrawal{Of: "B"}
	revised.ID, revised.Body = "V", earshot.Revision{Of: "C", Text: "damson"}
	add(t, there, reply, back, revised)
	_, err := there.Delete(t.Context(), "D")
	must(t, err)
	_, err = here.Delete(t.Context(), "A")
	must(t, err)
	done, err := here.Import(t.Context(), bytes.NewReader(exported(t, there)), false)
	must(t, err)
	if done.Added != 3 || done.Known != 4 || done.Erased != 1 {
		t.Errorf("%+v", done)
	}
	if got, want := texts(everything(t, here)), "erased|erased|damson|quince|erased|withdrawal|revision"; got != want {
		t.Errorf("there is %s, want %s", got, want)
	}
	must(t, here.Close())
	if found := traces(t, filepath.Dir(here.Path()), []string{"apple", "pear", "plum"}); len(found) > 0 {
		t.Errorf("there are traces: %s", found)
	}
}

// TestImportRefuses: a damaged or altered export is refused with the line number, and nothing
// changes. A dry run changes nothing either.
func TestImportRefuses(t *testing.T) {
	from := fresh(t, filepath.Join(t.TempDir(), "a"))
	add(t, from, numbered(5)...)
	whole := exported(t, from)
	lines := strings.SplitAfter(string(whole), "\n")
	with := func(line int, text string) string {
		changed := append([]string{}, lines...)
		changed[line-1] = text
		return strings.Join(changed, "")
	}
	to := fresh(t, filepath.Join(t.TempDir(), "b"))
	kept := add(t, to, said("mine"))
	clash, _, _ := strings.Cut(with(3, strings.Replace(strings.Replace(lines[2], string(everything(t, from)[1].ID), string(kept[0].ID), 1), `"ann"`, `"bob"`, 1)), `{"end":`)
	for _, tt := range []struct{ name, file, want string }{
		{"nothing", "", "line 1: the file ends here"},
		{"something else", "PNG\r\n\x1a\n", "line 1: it is not an export of earshot"},
		{"another kind of JSON", `{"format":"other"}` + "\n", "line 1: it is not an export of earshot"},
		{"newer", with(1, strings.Replace(lines[0], `"version":`, `"version":9`, 1)), "line 1: it was made by a newer earshot (version 9"},
		{"older than the first", with(1, `{"format":"earshot export 1","version":0}`+"\n"), "line 1: its version is 0"},
		{"cut between lines", strings.Join(lines[:4], ""), "line 5: the file ends here"},
		{"cut in a line", string(whole[:len(whole)/2]), ": the file ends here"},
		{"cut before its end", string(whole[:len(whole)-1]), "line 7: the file ends here"},
		{"a line is missing", with(3, ""), "line 6: the export had 5 events when it was written and has 4 now"},
		{"a letter is another", with(3, strings.Replace(lines[2], "word", "ward", 1)), "line 7: the export was changed"},
		{"twice the same", with(3, lines[1]), "line 3: its sequence is 1, after 1"},
		{"more behind the end", string(whole) + "x", "line 7: something follows"},
		{"no JSON", with(3, "tide\n"), "line 3: it is neither an event"},
		{"half an event", with(3, `{"id":"x","kind":"message"`+"\n"), "line 3: "},
		{"an event without a body", with(3, `{"id":"x","sequence":2}`+"\n"), "line 3: "},
		{"an event of no kind", with(3, strings.Replace(lines[2], `"message"`, `"massage"`, 1)), "line 3: "},
		{"an event that is not kept", with(3, strings.Replace(lines[2], `"kind":"message","body":{`, `"kind":"typing","body":{"began":true,`, 1)), "line 3: a typing acts at once"},
		{"no ID", with(3, `{"id":"","sequence":2,"at":"2026-02-03T04:05:06Z","room":"desk","from":{"provider":"","id":""},"visibility":{"scope":"public"},"kind":"memo","body":{"text":"x"}}`+"\n"), "line 3: the event has no ID"},
		{"an ID that is taken", clash + store.End(clash), "line 3: keeping event"},
		{"a line without end", with(3, `{"id":"`+strings.Repeat("x", 9<<20)), "line 3: it is longer than"},
		{"deep", with(3, `{"id":`+strings.Repeat("[", 1<<20)+"\n"), "line 3: "},
		{"control bytes in an error", with(3, `{"id":"x","at":"`+`\u001b[2J`+"\"}\n"), "line 3: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := to.Import(t.Context(), strings.NewReader(tt.file), false)
			var at *store.ErrImport
			if !errors.As(err, &at) || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 400 || strings.ContainsAny(err.Error(), "\x1b\n") {
				t.Errorf("import = %v, want %s", err, tt.want)
			}
			if got := texts(everything(t, to)); got != "mine" {
				t.Errorf("then there is %s", got)
			}
		})
	}
	done, err := to.Import(t.Context(), bytes.NewReader(whole), true)
	if err != nil || done.Added != 5 || texts(everything(t, to)) != "mine" {
		t.Errorf("the rehearsal: %+v, %v, and there is %s", done, err, texts(everything(t, to)))
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := to.Import(ended, bytes.NewReader(whole), false); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end: %v", err)
	}
}

// TestImportNeedsLittleMemory imports a file that is larger than the memory that the import may
// take.
func TestImportNeedsLittleMemory(t *testing.T) {
	from := fresh(t, filepath.Join(t.TempDir(), "a"))
	text := earshot.Text(strings.Repeat("springs and neaps ", 1_500))
	for range 10 {
		var some []earshot.Event
		for range 80 {
			e := said("")
			e.Body = earshot.Thought{Cause: earshot.ByCheckIn, Text: text, Outcome: earshot.Completed} // which is not searchable
			some = append(some, e)
		}
		add(t, from, some...)
	}
	path := filepath.Join(t.TempDir(), "export")
	f, err := os.Create(path)
	must(t, err)
	_, err = store.WriteExport(f, store.ExportHeader{}, from.Export(t.Context()))
	must(t, errors.Join(err, f.Close()))
	f, err = os.Open(path)
	must(t, err)
	defer f.Close()
	to := fresh(t, filepath.Join(t.TempDir(), "b"))
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	in := &watched{File: f}
	done, err := to.Import(t.Context(), in, false)
	if err != nil || done.Added != 800 {
		t.Fatalf("%+v, %v", done, err)
	}
	if size, err := f.Stat(); err != nil || size.Size() < 20<<20 || in.most > before.HeapAlloc+8<<20 {
		t.Errorf("%d MB more than %d MB were needed, %v", in.most>>20, before.HeapAlloc>>20, err)
	}
}

// A watched file records the most memory that was in use while it was read.
type watched struct {
	*os.File
	reads int
	most  uint64
}

func (w *watched) Read(p []byte) (int, error) {
	if w.reads++; w.reads%100 == 0 {
		var now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&now)
		w.most = max(w.most, now.HeapAlloc)
	}
	return w.File.Read(p)
}

// FuzzImport: any file is imported as it is, or refused without any change.
func FuzzImport(f *testing.F) {
	s := fresh(f, filepath.Join(f.TempDir(), "a"))
	add(f, s, numbered(3)...)
	_, err := s.Delete(f.Context(), everything(f, s)[1].ID)
	must(f, err)
	f.Add(exported(f, s), true)
	f.Add([]byte(`{"format":"earshot export 1","version":1}`+"\n"+`{"beside":"speakers.json","content":{}}`+"\n"), true)
	f.Fuzz(func(t *testing.T, data []byte, mend bool) {
		if body, _, found := bytes.Cut(data, []byte(`{"end":`)); mend && found {
			data = []byte(string(body) + store.End(string(body)))
		}
		to := fresh(t, filepath.Join(t.TempDir(), "state"))
		done, err := to.Import(t.Context(), bytes.NewReader(data), false)
		got := everything(t, to)
		if err != nil && len(got) > 0 || err == nil && len(got) != done.Events {
			t.Fatalf("%v, and there are %d events; %+v", err, len(got), done)
		}
		if err != nil {
			return
		}
		again := fresh(t, filepath.Join(t.TempDir(), "again"))
		out := exported(t, to)
		if _, err := again.Import(t.Context(), bytes.NewReader(out), false); err != nil || !bytes.Equal(out, exported(t, again)) {
			t.Fatalf("an export of what was imported is not imported: %v", err)
		}
	})
}
