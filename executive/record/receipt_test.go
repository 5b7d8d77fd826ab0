package record_test

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive/record"
)

// lostReply returns how a turn ends of which something was heard at an outlet.
func lostReply(outlet string, heard earshot.Text) earshot.Event {
	return earshot.Event{
		ID: "e", Author: "scout", Visibility: earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann"}}, Sources: []earshot.EventID{"q", "secret"},
		Body: earshot.Reply{Turn: "t", About: "q", Outcome: earshot.Interrupted, Offered: heard, Heard: []earshot.Delivery{{Outlet: outlet, Bytes: len(heard)}}},
	}
}

// TestReceipt: a receipt is read by those with the same key and the same fence or a later one, and gives
// all of the reply. Whatever else is in it is refused.
func TestReceipt(t *testing.T) {
	end := lostReply("kitchen", "one two")
	key := []byte("the key of the daemons")
	made := record.NewSealer(key, 4).Seal(end)
	for _, tt := range []struct {
		name    string
		by      *record.Sealer
		receipt []byte
		own, ok bool
	}{
		{"the next owner", record.NewSealer(key, 5), made, false, true},
		{"a later owner", record.NewSealer(key, 9), made, false, true},
		{"itself", record.NewSealer(key, 4), made, true, true},
		{"an earlier owner", record.NewSealer(key, 3), made, false, false},
		{"another cluster", record.NewSealer([]byte("another key"), 5), made, false, false},
		{"nothing", record.NewSealer(key, 5), nil, false, false},
		{"half of it", record.NewSealer(key, 5), made[:len(made)/2], false, false},
		{"other words", record.NewSealer(key, 5), bytes.Replace(made, []byte("two"), []byte("six"), 1), false, false},
		{"another turn", record.NewSealer(key, 5), bytes.Replace(made, []byte(`"turn":"t"`), []byte(`"turn":"u"`), 1), false, false},
		{"a later fence", record.NewSealer(key, 5), bytes.Replace(made, []byte(`"fence":4`), []byte(`"fence":5`), 1), false, false},
		{"something else", record.NewSealer(key, 5), record.NewSealer(key, 4).Seal(earshot.Event{Body: earshot.Message{Text: "one"}}), false, false},
		{"too much", record.NewSealer(key, 5), record.NewSealer(key, 4).Seal(lostReply("kitchen", earshot.Text(strings.Repeat("a", earshot.MaxReceipt)))), false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, own, err := tt.by.Open(tt.receipt)
			if (err == nil) != tt.ok || own != tt.own {
				t.Fatalf("own: %v, err: %v", own, err)
			}
			if tt.ok && !reflect.DeepEqual(got, end) {
				t.Errorf("it says %+v, want %+v", got, end)
			}
		})
	}
}

// FuzzReceipt: no bytes but those of a receipt are taken for one.
func FuzzReceipt(f *testing.F) {
	by := record.NewSealer([]byte("key"), 5)
	made := record.NewSealer([]byte("key"), 4).Seal(lostReply("kitchen", "one"))
	f.Add(made)
	f.Add(made[:40])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, _, err := by.Open(b); (err == nil) != bytes.Equal(b, made) {
			t.Errorf("%d bytes: %v", len(b), err)
		}
	})
}

// TestSettle: of several outlets, the one at which the most was heard counts, in whatever order they come.
func TestSettle(t *testing.T) {
	const text = "one two three four"
	rapid.Check(t, func(t *rapid.T) {
		known := earshot.Event{ID: "lost", Body: earshot.Reply{Turn: "t", About: "q", Outcome: earshot.Failed, Fault: "lost"}}
		var most int
		var heard []earshot.Delivery
		for _, n := range rapid.SliceOf(rapid.IntRange(0, len(text))).Draw(t, "heard") {
			shown := lostReply("o", earshot.Text(text[:n]))
			heard = append(heard, shown.Body.(earshot.Reply).Heard...)
			known, most = record.Settle(known, shown), max(most, n)
		}
		r := known.Body.(earshot.Reply)
		if string(r.Delivered()) != text[:most] || r.Offered != r.Delivered() || !slices.Equal(r.Heard, heard) || r.Turn != "t" || r.About != "q" {
			t.Errorf("of %v on record is %+v", heard, r)
		}
		if lost := r.Outcome == earshot.Failed; lost != (most == 0) || lost != (r.Fault != "") || lost == (len(known.Sources) == 2) {
			t.Errorf("it ended with %s, and rests on %v", r.Outcome, known.Sources)
		}
	})
}
