package store_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/search"
	"earshot/store"
)

// matches reports whether a text matches a query, and whether the query is valid.
func matches(text, query string) (bool, bool) {
	q, err := search.Parse(query, time.Now())
	return err == nil && q.Match(text), err == nil
}

// searchBefore searches the events before a sequence; 0 means all.
func searchBefore(ctx context.Context, r *store.Reader, query string, before int64, limit int) ([]earshot.Event, error) {
	q, err := search.Parse(query, time.Now())
	if err != nil {
		return nil, err
	}
	return r.Match(ctx, q, nil, before, limit)
}

// TestMatches shows which queries match which texts.
func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		text, query string
		want        bool
	}{
		{"The tide is high", "tide HIGH", true},
		{"The tide is high", "tides", true},
		{"The tides are high", "tide", true},
		{"Überraschung im Café", "uberraschung cafe", true},
		{"uberraschung", "ÜBERRASCHUNG", true},
		{"U\u0308berraschung", "überraschung", true},
		{"cafe\u0301s", "cafés", true},
		{"Ελλάδα", "ελλαδα", true},
		{"ёлка", "елка", false}, // a different letter
		{"йод", "иод", false},
		{"が", "か", false},
		{"潮汐表を見る", "潮汐", true},
		{"潮汐表を見る", "汐表", true},
		{"潮汐表を見る", "表", true},
		{"潮汐表を見る", "潮表", false},
		{"見る潮 汐表", "潮汐", false},
		{"ｶﾞｷﾞ", "ガギ", true}, // the same in half width
		{"ตารางน้ำขึ้นน้ำลง", "น้ำขึ้น", true},
		{"한국어 문장", "한국어", true},
		{"한국어 문장", "한국", false}, // Korean has spaces between its words
		{"iPhoneの潮汐表", "iphone 潮汐", true},
		{"version ２", "2", true},
		{"a\xffb", "b a", true},
		{"word", "word word WORD", true},
		{strings.Repeat("a", 100) + "b", strings.Repeat("a", 100), false},
		{strings.Repeat("a", 100) + "b", strings.Repeat("a", 100) + "B", true},
		{"\u0301 alone", "alone", true},
	} {
		if got, ok := matches(tt.text, tt.query); got != tt.want || !ok {
			t.Errorf("%q has %q: %v, %v; want %v", tt.text, tt.query, got, ok, tt.want)
		}
	}
}

// TestSearchAgreesWithLooking: for any history with messages that are revised, withdrawn and
// deleted, and for any query, a search finds what a look at every message would, newest first.
func TestSearchAgreesWithLooking(t *testing.T) {
	some := []string{"tide", "Tïde", "moon", "sea's", "潮汐表", "潮", "汐表を", "ebb", "flow", "42", "日本語", strings.Repeat("long", 30), strings.Repeat("long", 30) + "er"}
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(some), 0, 5).Draw(t, "words"), rapid.SampledFrom([]string{" ", ""}).Draw(t, "between"))
	})
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.SampledFrom([]int64{1, 4, 64, 0}).Draw(rt, "size")
		s, err := store.Open(t.Context(), store.Indexed(store.Config{Directory: t.TempDir()}, size))
		must(t, err)
		defer func() { must(t, s.Close()) }()
		var ids []earshot.EventID
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			var events []earshot.Event
			for range rapid.IntRange(1, 12).Draw(rt, "events") {
				e := said(earshot.Text(text.Draw(rt, "text")))
				if rapid.IntRange(0, 3).Draw(rt, "other") == 0 {
					e.Body = earshot.Decision{About: "x", Agent: "earshot", Verdict: earshot.Silent}
				}
				events = append(events, e)
			}
			for _, e := range add(t, s, events...) {
				if e.Body.Kind() == earshot.KindMessage {
					ids = append(ids, e.ID)
				}
			}
			if len(ids) == 0 {
				continue
			}
			at := rapid.IntRange(0, len(ids)-1).Draw(rt, "which")
			switch id := ids[at]; rapid.SampledFrom([]string{"", "revise", "withdraw", "delete", "rebuild"}).Draw(rt, "then") {
			case "revise":
				e := said("")
				e.Body = earshot.Revision{Of: id, Text: earshot.Text(text.Draw(rt, "now"))}
				add(t, s, e)
			case "withdraw":
				e := said("")
				e.Body = earshot.Withdrawal{Of: id}
				add(t, s, e)
				ids = slices.Delete(ids, at, at+1)
			case "delete":
				_, err := s.Delete(t.Context(), id)
				must(t, err)
				ids = slices.Delete(ids, at, at+1)
			case "rebuild":
				must(t, s.Rebuild(t.Context()))
			}
		}
		history := everything(t, s)
		for range 5 {
			query, limit := text.Draw(rt, "query"), rapid.IntRange(1, 20).Draw(rt, "limit")
			before := rapid.Int64Range(0, int64(len(history)+1)).Draw(rt, "before")
			var want []int64
			_, asked := matches("", query)
			for _, e := range slices.Backward(history) {
				m, ok := e.Body.(earshot.Message)
				if found, _ := matches(string(m.Text), query); ok && found && len(want) < limit && (before == 0 || e.Sequence < before) {
					want = append(want, e.Sequence)
				}
			}
			got, err := searchBefore(t.Context(), s.For(everybody), query, before, limit)
			if (err == nil) != asked {
				rt.Fatalf("%q: %v", query, err)
			}
			var found []int64
			for _, e := range got {
				found = append(found, e.Sequence)
			}
			if !slices.Equal(found, want) {
				rt.Fatalf("%q before %d finds %v, want %v", query, before, found, want)
			}
		}
	})
}

// TestImportedPast searches in an imported past in which only every eighth sequence has an event.
func TestImportedPast(t *testing.T) {
	s, err := store.Open(t.Context(), store.Config{Directory: t.TempDir()})
	must(t, err)
	defer func() { must(t, s.Close()) }()
	const many, victim = 2_200, 1_100
	events := numbered(many)
	var file bytes.Buffer
	_, err = store.WriteExport(&file, store.ExportHeader{}, func(yield func(earshot.Event, error) bool) {
		for i := range events {
			e := &events[i]
			if i%3 == 0 {
				e.Visibility = earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann", "zoe"}}
			}
			if i%7 == 0 {
				e.Room = "attic"
			}
			e.ID, e.Sequence = earshot.EventID(fmt.Sprint("e", i)), int64(8*i+1)
			if !yield(*e, nil) {
				return
			}
		}
	})
	must(t, err)
	if done, err := s.Import(t.Context(), bytes.NewReader(file.Bytes()), false); err != nil || done.Added != many {
		t.Fatalf("%+v, %v", done, err)
	}
	got, err := s.For(everybody).Search(t.Context(), fmt.Sprint("word", victim+1), 5)
	if err != nil || len(got) != 1 {
		t.Fatalf("found %s, %v", texts(got), err)
	}
	if _, err = s.Delete(t.Context(), got[0].ID); err != nil {
		t.Fatal(err)
	}
	zoe, bob := everybody, earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{"bob"}}
	for _, tt := range []struct {
		who  earshot.Audience
		sees func(i int) bool
	}{
		{zoe, func(i int) bool { return i%7 != 0 }},
		{bob, func(i int) bool { return i%7 != 0 && i%3 != 0 }},
		{earshot.Audience{Room: "attic"}, func(i int) bool { return i%7 == 0 && i%3 != 0 }},
	} {
		var want []string
		for i := range slices.Backward(events) {
			if tt.sees(i) && i != victim && len(want) < 1_200 {
				want = append(want, fmt.Sprintf("word%d is the word of message %d", i+1, i+1))
			}
		}
		got, err := s.For(tt.who).Search(t.Context(), "message word of", 1_200)
		if err != nil || texts(got) != strings.Join(want, "|") {
			t.Errorf("%v finds %d, %v; want %d", tt.who, len(got), err, len(want))
		}
	}
	if got, err := s.For(zoe).Search(t.Context(), fmt.Sprint("word", victim+1), 5); err != nil || len(got) != 0 {
		t.Errorf("found %s, %v after it was deleted", texts(got), err)
	}
}

// TestPartsAreJoinedBehindTheMessage: the author of a long message does not wait while parts of the
// index are joined. This happens afterwards, in separate transactions, and keeps up with a flood of
// messages.
func TestPartsAreJoinedBehindTheMessage(t *testing.T) {
	s := open(t, store.Config{})
	r := rand.New(rand.NewPCG(1, 2))
	commits := s.CountCommits()
	_, err := s.Do(t.Context(), func(earshot.View) ([]earshot.Event, error) {
		return []earshot.Event{said(gibberish(r, earshot.MaxText))}, nil
	})
	must(t, err)
	if n := s.Parts(t); n != 1 {
		t.Errorf("the message was kept with %d parts of the index", n)
	}
	must(t, s.Run(t.Context(), "SELECT 1")) // runs after the pending work
	if n := commits.Load(); n != 3 {
		t.Errorf("it was %d transactions: want the message, one that joins, and ours", n)
	}
	for range 60 {
		add(t, s, said(gibberish(r, earshot.MaxText)))
	}
	if n := s.Parts(t); n > 40 {
		t.Errorf("after a flood there are %d parts", n)
	}
}
