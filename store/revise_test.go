package store_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/testkit"
	"earshot/store"
)

// about returns an event with the given body, such as one about another event.
func about(body earshot.Body) earshot.Event {
	e := said("")
	e.Body = body
	return e
}

// traceless waits until no file of a journal has any of the words.
func traceless(t *testing.T, s *store.Store, words ...string) {
	t.Helper()
	testkit.Await(t, 30*time.Second, "no trace of what was overwritten", func() bool {
		return len(traces(t, filepath.Dir(s.Path()), words)) == 0
	})
}

// TestRevision: a revised message has its new text, for every reader, and its old text is in no
// file.
func TestRevision(t *testing.T) {
	s := open(t, store.Config{})
	m := add(t, s, said("the xylophone plays at nine"))[0]
	edited := about(earshot.Edit{Act: earshot.Changed, Field: "recent_messages", Item: string(m.ID), Was: "the xylophone plays at nine", Text: "the kettledrum plays"})
	edited.Sources = []earshot.EventID{m.ID}
	add(t, s, edited)
	first := add(t, s, about(earshot.Revision{Of: m.ID, Text: "the glockenspiel plays at ten"}))[0]
	second := about(earshot.Revision{Of: m.ID, Text: "the harp plays at ten"})
	second.ID, second.At = "second", began.Add(time.Minute)
	add(t, s, second)
	add(t, s, second) // a retry
	got := everything(t, s)
	if len(got) != 4 {
		t.Fatalf("there are %d events, want 4", len(got))
	}
	if b := got[0].Body.(earshot.Message); b.Text != "the harp plays at ten" || !b.Revised.Equal(second.At) {
		t.Errorf("the message is %q, revised at %v", string(b.Text), b.Revised)
	}
	if got[1].Body.Kind() != earshot.KindErased {
		t.Errorf("the edit of what is no longer there is a %s", got[1].Body.Kind())
	}
	if b := got[2].Body.(earshot.Revision); got[2].ID != first.ID || b.Text != "" {
		t.Errorf("the first revision says %q", string(b.Text))
	}
	if b := got[3].Body.(earshot.Revision); b.Text != "the harp plays at ten" || len(got[3].Sources) != 1 {
		t.Errorf("the second revision says %q, and rests on %v", string(b.Text), got[3].Sources)
	}
	for query, want := range map[string]int{"harp": 1, "xylophone": 0, "glockenspiel": 0} {
		if found, err := s.For(everybody).Search(t.Context(), query, 10); err != nil || len(found) != want {
			t.Errorf("%s is found in %d events, %v; want %d", query, len(found), err, want)
		}
	}
	traceless(t, s, "xylophone", "kettledrum", "glockenspiel")
	must(t, s.Rebuild(t.Context()))
	if found, err := s.For(everybody).Search(t.Context(), "harp", 10); err != nil || len(found) != 1 {
		t.Errorf("made again, it is found in %d events, %v", len(found), err)
	}
}

// TestRevisionsThatCannotBe: a message that does not exist, is of another kind, is in another room
// or was erased cannot be revised.
func TestRevisionsThatCannotBe(t *testing.T) {
	s := open(t, store.Config{})
	m := add(t, s, said("the xylophone plays"))[0]
	note := add(t, s, about(earshot.Memo{Text: "tea"}))[0]
	elsewhere := said("elsewhere")
	elsewhere.Room = "garden"
	other := add(t, s, elsewhere)[0]
	for _, body := range []earshot.Body{
		earshot.Revision{Of: "nothing", Text: "x"}, earshot.Revision{Of: note.ID, Text: "x"}, earshot.Revision{Of: other.ID, Text: "x"}, earshot.Revision{Text: "x"},
		earshot.Withdrawal{Of: "nothing"}, earshot.Withdrawal{Of: note.ID}, earshot.Withdrawal{Of: other.ID}, earshot.Withdrawal{},
	} {
		if kept, err := s.Append(t.Context(), about(body)); err == nil {
			t.Errorf("a %s of nothing was kept as %s", body.Kind(), texts(kept))
		}
	}
	add(t, s, about(earshot.Withdrawal{Of: m.ID}))
	if late := add(t, s, about(earshot.Revision{Of: m.ID, Text: "the xylophone again"}))[0]; late.Body.Kind() != earshot.KindErased {
		t.Errorf("a revision of what was taken back is kept as a %s", late.Body.Kind())
	}
	if got, want := texts(everything(t, s)), "erased|memo|elsewhere|withdrawal|erased"; got != want {
		t.Errorf("there is %s, want %s", got, want)
	}
}

// TestWithdrawal: a withdrawn message is erased while the journal is in use, with everything made
// from it, even if that comes later.
func TestWithdrawal(t *testing.T) {
	s := open(t, store.Config{})
	m := add(t, s, said("the xylophone plays at nine"))[0]
	reply := about(earshot.Reply{Turn: "t", About: m.ID, Outcome: earshot.Completed, Offered: "so the xylophone it is", Heard: []earshot.Delivery{{Outlet: "console", Bytes: 22}}})
	reply.Sources = []earshot.EventID{m.ID}
	r := add(t, s, reply)[0]
	stays := add(t, s, said("the harp stays"))[0]
	revised := add(t, s, about(earshot.Revision{Of: m.ID, Text: "the glockenspiel plays"}))[0]
	gone := add(t, s, about(earshot.Withdrawal{Of: m.ID, With: []earshot.EventID{"a lie"}}))[0]
	if b := gone.Body.(earshot.Withdrawal); b.Was != earshot.KindMessage || len(b.With) != 2 || b.With[0] != r.ID || b.With[1] != revised.ID {
		t.Errorf("a %s was taken back and with it went %v, want %s and %s", b.Was, b.With, r.ID, revised.ID)
	}
	late := about(earshot.Finding{Thought: "x", Text: "the xylophone was heard"})
	late.Sources = []earshot.EventID{r.ID}
	add(t, s, late)
	again := add(t, s, about(earshot.Withdrawal{Of: m.ID}))[0]
	if b := again.Body.(earshot.Withdrawal); b.Was != earshot.KindMessage || len(b.With) != 0 {
		t.Errorf("taken back again as a %s, %v went", b.Was, b.With)
	}
	if got, want := texts(everything(t, s)), "erased|erased|the harp stays|erased|withdrawal|erased|withdrawal"; got != want {
		t.Errorf("there is %s, want %s", got, want)
	}
	if e, ok, err := s.Event(t.Context(), stays.Room, stays.ID); err != nil || !ok || e.Sequence != stays.Sequence {
		t.Errorf("what stays is %v, %v, %v", e, ok, err)
	}
	if e, ok, err := s.Event(t.Context(), m.Room, m.ID); err != nil || !ok || e.Body != (earshot.Body(earshot.Tombstone{Was: earshot.KindMessage})) {
		t.Errorf("what is gone is %v, %v, %v", e, ok, err)
	}
	if _, ok, err := s.Event(t.Context(), "garden", m.ID); err != nil || ok {
		t.Errorf("in another room there is %v, %v", ok, err)
	}
	traceless(t, s, "xylophone", "glockenspiel")
}

// TestAReplyIsTakenBack: a withdrawn reply is erased, and the message that it answers stays.
func TestAReplyIsTakenBack(t *testing.T) {
	s := open(t, store.Config{})
	m := add(t, s, said("where is the xylophone?"))[0]
	reply := about(earshot.Reply{Turn: "t", About: m.ID, Outcome: earshot.Completed, Offered: "beside the glockenspiel", Heard: []earshot.Delivery{{Outlet: "console", Bytes: 23}}})
	reply.Sources = []earshot.EventID{m.ID}
	r := add(t, s, reply)[0]
	if b := add(t, s, about(earshot.Withdrawal{Of: r.ID, Was: "a lie"}))[0].Body.(earshot.Withdrawal); b.Was != earshot.KindReply {
		t.Errorf("a %s was taken back, want a reply", b.Was)
	}
	if got, want := texts(everything(t, s)), "where is the xylophone?|erased|withdrawal"; got != want {
		t.Errorf("there is %s, want %s", got, want)
	}
	traceless(t, s, "glockenspiel")
}

// TestTracesAreGoneAfterClose: a withdrawal just before Close leaves no traces.
func TestTracesAreGoneAfterClose(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "state")
	s, err := store.Open(t.Context(), store.Config{Directory: directory})
	must(t, err)
	for range 3 { // the second has to wait for the first
		m := add(t, s, said(earshot.Text("the xylophone "+strings.Repeat("plays ", 50))))[0]
		add(t, s, about(earshot.Withdrawal{Of: m.ID}))
	}
	must(t, s.Close())
	if found := traces(t, directory, []string{"xylophone"}); len(found) > 0 {
		t.Errorf("there are %s", found)
	}
}

// TestReviseAndRebuildAgree: for any history with revisions and withdrawals, the views kept in step
// answer like rebuilt ones, and a message has its last revised text.
func TestReviseAndRebuildAgree(t *testing.T) {
	s := open(t, store.Config{})
	rapid.Check(t, func(rt *rapid.T) {
		var ids []earshot.EventID
		says := make(map[earshot.EventID]earshot.Text)
		words := rapid.SampledFrom([]earshot.Text{"tide", "moon", "sea tide", "ebb", "Mön"})
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			pick := rapid.IntRange(0, 3).Draw(rt, "step")
			if pick == 0 || len(ids) == 0 {
				text := words.Draw(rt, "text")
				id := add(t, s, said(text))[0].ID
				ids, says[id] = append(ids, id), text
				continue
			}
			of := rapid.SampledFrom(ids).Draw(rt, "of")
			_, there := says[of]
			switch {
			case pick == 1:
				add(t, s, about(earshot.Withdrawal{Of: of}))
				delete(says, of)
			case there:
				text := words.Draw(rt, "text")
				add(t, s, about(earshot.Revision{Of: of, Text: text}))
				says[of] = text
			}
		}
		for _, id := range ids {
			e, ok, err := s.Event(t.Context(), earshot.Desk, id)
			if m, is := e.Body.(earshot.Message); err != nil || !ok || is && m.Text != says[id] {
				rt.Fatalf("%s is %v, %v", id, ok, err)
			}
		}
		before := answers(rt, s.For(everybody))
		must(t, s.Rebuild(t.Context()))
		if after := answers(rt, s.For(everybody)); after != before {
			rt.Fatalf("the views answered\n%s\nand then\n%s", before, after)
		}
	})
}

// TestAttachmentsAreFound: an attachment is found by its name.
func TestAttachmentsAreFound(t *testing.T) {
	s := open(t, store.Config{})
	add(t, s, about(earshot.Message{Attachments: []earshot.Attachment{{Name: "tides.png", Type: "image/png", Size: 120_000}}}))
	if found, err := s.For(everybody).Search(t.Context(), "tides", 10); err != nil || len(found) != 1 {
		t.Errorf("found in %d events, %v", len(found), err)
	}
}

// TestReviseWhatWasEditedInAnyOrder: the IDs of what was derived from a message need not rise.
func TestReviseWhatWasEditedInAnyOrder(t *testing.T) {
	s := open(t, store.Config{})
	add(t, s, by("hello", "ann", earshot.Message{Text: "hallo"}))
	for _, id := range []earshot.EventID{"b", "c", "a"} {
		add(t, s, by(id, "ann", earshot.Edit{Act: earshot.Changed, Item: "hello", Text: "helo"}, "hello"))
	}
	add(t, s, by("revision", "ann", earshot.Revision{Of: "hello", Text: "hello"}))
	if got := left(t, s); !slices.Equal(got, []earshot.EventID{"hello", "revision"}) {
		t.Errorf("left are %q", got)
	}
}
