package store_test

import (
	"bytes"
	"context"
	"earshot/internal/testkit"
	"encoding/binary"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot"
	"earshot/store"
)

// traces returns which of the words are in any file of the directory, and in which.
func traces(t testing.TB, directory string, words []string) (found []string) {
	t.Helper()
	testkit.Files(t, directory, func(path string, data []byte) {
		data = lower(data)
		for _, w := range words {
			if bytes.Contains(data, []byte(w)) {
				found = append(found, w+" in "+filepath.Base(path))
			}
		}
	})
	return found
}

// untidy counts the pages with leftover bytes that belong to no row. Whether a deleted word is
// among them is a matter of luck. Two such bytes are ignored, since they are no word: the mark of
// the deletion, which is cleared last, leaves these traces in its own page.
func untidy(t testing.TB, path string) (n int) {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	for at := 0; at < len(data); at += page {
		old, cleaned, stale := data[at:at+page], bytes.Clone(data[at:at+page]), 0
		clean(cleaned, at == 0)
		for i := range old {
			if old[i] != cleaned[i] {
				stale++
			}
		}
		if stale > 2 {
			n++
		}
	}
	return n
}

// clean zeroes the bytes of a page that belong to no row, and reports whether any were not zero.
func clean(page []byte, first bool) (changed bool) {
	for gap := range unowned(page, first) {
		changed = wipe(gap) || changed
	}
	return changed
}

// unowned yields the parts of a page that belong to no row. It yields nothing for a page outside a
// tree: such a page begins with the number of another page, whose first byte is zero in a file of
// this size. See sqlite.org/fileformat2.html.
func unowned(page []byte, first bool) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		head := 0
		if first {
			head = 100
		}
		if len(page) < head+12 {
			return
		}
		start := head
		switch page[head] {
		case 0x02, 0x05:
			start += 12
		case 0x0a, 0x0d:
			start += 8
		default:
			return
		}
		at := func(i int) int { return int(binary.BigEndian.Uint16(page[i:])) }
		start += 2 * at(head+3)
		content := at(head + 5)
		if content == 0 {
			content = 65536
		}
		if start > content || content > len(page) {
			return // damaged; the next read will report that
		}
		if !yield(page[start:content]) {
			return
		}
		for block := at(head + 1); block >= content && block+4 <= len(page); {
			next, size := at(block), at(block+2)
			if size < 4 || block+size > len(page) {
				return
			}
			if !yield(page[block+4:block+size]) || next <= block {
				return
			}
			block = next
		}
	}
}

// wipe zeroes bytes, and reports whether any was not zero.
func wipe(some []byte) (changed bool) {
	changed = !zero(some)
	clear(some)
	return changed
}

// zero reports whether all bytes are zero.
func zero(some []byte) bool { return len(bytes.Trim(some, "\x00")) == 0 }

// lower makes ASCII letters lower case and leaves every other byte alone.
func lower(data []byte) []byte {
	for i, b := range data {
		if 'A' <= b && b <= 'Z' {
			data[i] = b + 'a' - 'A'
		}
	}
	return data
}

// secret returns a word that occurs in no other text, neither whole nor in part: the index stores
// words without the beginning that they share with the previous word.
func secret(r *rand.Rand) string {
	letters := make([]byte, 14)
	for i := range letters {
		letters[i] = byte('a' + r.IntN(26))
	}
	return string(letters)
}

// TestDeleteLeavesNoTrace puts words into hundreds of messages of all sizes, deletes half of the
// messages in several rounds, and looks for their words in every byte of every file, while the
// store is open.
func TestDeleteLeavesNoTrace(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := open(t, store.Config{})
	var gone, stay []string
	var victims []earshot.EventID
	for range 30 {
		var events []earshot.Event
		var words []string
		for range 20 {
			w := secret(r)
			e := said(earshot.Text(w + strings.Repeat(" filler", r.IntN(40))))
			if r.IntN(10) == 0 {
				e = said(earshot.Text(strings.Repeat(w+" filler ", 1000))) // in overflow pages
			}
			events, words = append(events, e), append(words, w)
		}
		for i, e := range add(t, s, events...) {
			if r.IntN(2) == 0 {
				gone, victims = append(gone, words[i][4:]), append(victims, e.ID)
			} else {
				stay = append(stay, words[i])
			}
		}
	}
	directory := filepath.Dir(s.Path())
	if found := traces(t, directory, gone); len(found) < len(gone) {
		t.Fatalf("only %d of %d words are found before they are deleted: the test looks in the wrong way", len(found), len(gone))
	}
	r.Shuffle(len(victims), func(i, j int) { victims[i], victims[j] = victims[j], victims[i] })
	for len(victims) > 0 {
		some := victims[:min(len(victims), 1+r.IntN(80))]
		victims = victims[len(some):]
		n, err := s.Delete(t.Context(), some...)
		if err != nil || n != len(some) {
			t.Fatalf("deleted %d, %v; want %d", n, err, len(some))
		}
	}
	if found := traces(t, directory, gone); len(found) > 0 {
		t.Errorf("%d traces of %d deleted words, such as %s", len(found), len(gone), found[0])
	}
	if n := untidy(t, s.Path()); n > 0 {
		t.Errorf("%d pages have something lying between their rows", n)
	}
	for _, w := range stay {
		if got, err := s.For(everybody).Search(t.Context(), w, 2); err != nil || len(got) != 1 {
			t.Fatalf("a word that was not deleted is found in %d messages, %v", len(got), err)
		}
	}
	must(t, s.Rebuild(t.Context()))
	if found := traces(t, directory, gone); len(found) > 0 {
		t.Errorf("%d traces after the views were made again, such as %s", len(found), found[0])
	}
}

// TestDeleteTakesWhatWasDerived: everything made from a deleted event goes with it, even if it is
// added later. Everything else stays.
func TestDeleteTakesWhatWasDerived(t *testing.T) {
	s := open(t, store.Config{})
	from := func(text earshot.Text, sources ...earshot.Event) earshot.Event {
		e := said(text)
		for _, source := range sources {
			e.Sources = append(e.Sources, source.ID)
		}
		return e
	}
	a := add(t, s, said("a"))[0]
	b := add(t, s, said("b"))[0]
	ab := add(t, s, from("ab", a, b))[0]
	add(t, s, from("abc", ab), from("bc", b), said("d"))
	n, err := s.Delete(t.Context(), a.ID, "unknown")
	if err != nil || n != 3 {
		t.Fatalf("deleted %d, %v; want 3", n, err)
	}
	late := add(t, s, from("late", ab))[0]
	later := add(t, s, from("later", late, b))[0]
	if got, want := texts(everything(t, s)), "erased|b|erased|erased|bc|d|erased|erased"; got != want {
		t.Errorf("left %s, want %s", got, want)
	}
	if later.Body != (earshot.Tombstone{Was: earshot.KindMessage}) || later.Author != "" || later.From != (earshot.Handle{}) {
		t.Errorf("what came later is %+v", later)
	}
	if n, err := s.Delete(t.Context(), a.ID); err != nil || n != 0 {
		t.Errorf("deleted %d again, %v", n, err)
	}
	retry := said("a")
	retry.ID = a.ID
	if got := add(t, s, retry)[0]; got.Sequence != a.Sequence || got.Body.Kind() != earshot.KindErased {
		t.Errorf("a retry brought a deleted event back: %+v", got)
	}
}

// TestDeleteAndRebuildAgree: for any history and any deletions, the views kept in step answer like
// rebuilt ones.
func TestDeleteAndRebuildAgree(t *testing.T) {
	s := open(t, store.Config{})
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		room := earshot.RoomID(fmt.Sprint("room", n))
		who := earshot.Audience{Room: room, Members: []earshot.ParticipantID{"zoe"}}
		events := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) earshot.Event {
			e := said("")
			e.Room, e.Body = room, anyBody(rt)
			return e
		}), 1, 12).Draw(rt, "events")
		kept := add(t, s, events...)
		for _, e := range rapid.SliceOfN(rapid.SampledFrom(kept), 0, 4).Draw(rt, "deleted") {
			if _, err := s.Delete(t.Context(), e.ID); err != nil {
				rt.Fatal(err)
			}
		}
		before := answers(rt, s.For(who))
		must(t, s.Rebuild(t.Context()))
		if after := answers(rt, s.For(who)); after != before {
			rt.Fatalf("the views answered\n%s\nand then\n%s", before, after)
		}
	})
}

// anyBody draws a body that may be kept, made of few words.
func anyBody(t *rapid.T) earshot.Body {
	text := earshot.Text(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"tide", "moon", "Tïde", "sea's", "\"", "AND"}), 0, 4).Draw(t, "words"), " "))
	about := rapid.SampledFrom([]earshot.EventID{"", "one", "two"}).Draw(t, "about")
	turn := rapid.SampledFrom([]earshot.TurnID{"", "t1", "t2"}).Draw(t, "turn")
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return earshot.Reply{Turn: turn, About: about, Outcome: earshot.Interrupted, Offered: text + " ebb",
			Heard: []earshot.Delivery{{Outlet: "console", Bytes: rapid.IntRange(0, 12).Draw(t, "heard")}}}
	case 1:
		return earshot.Decision{About: about, Agent: "earshot", Verdict: earshot.Speak, Turn: turn}
	case 2:
		return earshot.Presence{Session: "tty1", Here: true}
	case 3:
		return earshot.Memo{Text: text}
	}
	return earshot.Message{Text: text}
}

// answers returns the answers of a reader to some queries.
func answers(t interface {
	Context() context.Context
	Fatal(args ...any)
}, r *store.Reader) string {
	var all strings.Builder
	say := func(events []earshot.Event, err error) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			fmt.Fprintf(&all, "%d %s, ", e.Sequence, e.Body.Kind())
		}
		fmt.Fprintln(&all)
	}
	for _, word := range []string{"tide", "moon", "sea", "and", "ebb"} {
		say(r.Search(t.Context(), word, 100))
	}
	say(r.Last(t.Context(), nil, 100))
	say(r.Decisions(t.Context(), "", 0, 100))
	say(r.Turns(t.Context(), 100))
	say(r.About(t.Context(), "one", 100))
	say(r.Turn(t.Context(), "t1"))
	say(r.Ends(t.Context(), []earshot.TurnID{"t1"}))
	return all.String()
}
