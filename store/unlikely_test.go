package store_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/store"
)

// TestImportRefusesWhatNobodyWrote: an event that no earshot accepts or writes is not imported. An
// event that some earshot may have written is.
func TestImportRefusesWhatNobodyWrote(t *testing.T) {
	long := earshot.Text(strings.Repeat("a", earshot.MaxText+1))
	ids := func(all ...string) (ids []earshot.EventID) {
		for _, id := range all {
			ids = append(ids, earshot.EventID(id))
		}
		return ids
	}
	answers := func(to string) earshot.Message { return earshot.Message{Text: "x", ReplyTo: earshot.EventID(to)} }
	type event struct {
		body    earshot.Body
		sources []earshot.EventID
	}
	for _, tt := range []struct {
		name   string
		events []event // called a, b, c, …
		change func(*earshot.Event)
		want   string // of the error; empty for none
	}{
		{"a thread", []event{{answers(""), nil}, {answers("a"), nil}, {answers("b"), ids("a")}}, nil, ""},
		{"an answer to what is not there", []event{{answers("z"), ids("y")}}, nil, ""},
		{"an answer that was kept late", []event{{answers("b"), ids("b")}, {answers(""), nil}}, nil, ""},
		{"a message that answers itself", []event{{answers("a"), nil}}, nil, "refers to itself"},
		{"two that answer each other", []event{{answers("b"), nil}, {answers("a"), nil}}, nil, "refers to itself"},
		{"three in a ring", []event{{answers("c"), nil}, {answers("a"), nil}, {answers("b"), nil}}, nil, "refers to itself"},
		{"a reply that is about what answers it", []event{{earshot.Reply{About: "b"}, nil}, {answers("a"), nil}}, nil, "refers to itself"},
		{"replies that go on with each other", []event{{earshot.Reply{Resumes: "b"}, nil}, {earshot.Reply{Resumes: "a"}, nil}}, nil, "refers to itself"},
		{"a thought that goes on with itself", []event{{earshot.Thought{Of: "b"}, nil}, {earshot.Thought{Of: "a"}, nil}}, nil, "refers to itself"},
		{"made of itself", []event{{answers(""), ids("a")}}, nil, "refers to itself"},
		{"made of each other", []event{{answers(""), ids("b")}, {answers(""), ids("a")}}, nil, "refers to itself"},
		{"made of what answers it", []event{{answers(""), ids("b")}, {answers("a"), nil}}, nil, "refers to itself"},
		{"a huge message", []event{{earshot.Message{Text: long}, nil}}, nil, "65537 bytes"},
		{"a huge question", []event{{earshot.Thought{Question: long}, nil}}, nil, "the question has 65537 bytes"},
		{"a huge thought", []event{{earshot.Thought{Text: long}, nil}}, nil, "the thought has 65537 bytes"},
		{"a huge finding", []event{{earshot.Finding{Text: long}, nil}}, nil, "the finding has 65537 bytes"},
		{"a huge notice", []event{{earshot.Notice{Text: string(long)}, nil}}, nil, "the notice has 65537 bytes"},
		{"huge reasons", []event{{earshot.Decision{Reasons: []string{string(long)}}, nil}}, nil, "a reason has 65537 bytes"},
		{"a huge ID", []event{{answers(strings.Repeat("a", 129)), nil}}, nil, "the ID has 129 bytes"},
		{"a huge source", []event{{answers(""), ids(strings.Repeat("a", 300))}}, nil, "not printable text"},
		{"an ID that is a line", []event{{answers("a\nb"), nil}}, nil, "not printable text"},
		{"an ID that steers a terminal", []event{{answers(""), ids("\x1b[2J")}}, nil, "not printable text"},
		{"an author who is a line", []event{{answers(""), nil}}, func(e *earshot.Event) { e.Author = "ann\nbob" }, "not printable text"},
		{"a reader who is huge", []event{{answers(""), nil}}, func(e *earshot.Event) {
			e.Visibility = earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{earshot.ParticipantID(strings.Repeat("a", 300))}}
		}, "not printable text"},
		{"an outlet that is huge", []event{{answers(""), nil}}, func(e *earshot.Event) { e.Via = string(long) }, "is too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var file strings.Builder
			fmt.Fprintf(&file, "%s\n", `{"format":"earshot export 1","version":9}`)
			for i, e := range tt.events {
				is := earshot.Event{
					ID: earshot.EventID(string(rune('a' + i))), Sequence: int64(i + 1), At: time.Unix(1e9, 0).UTC(), Room: "desk", Author: "ann",
					Visibility: earshot.Visibility{Scope: earshot.Public}, Sources: e.sources, Body: e.body,
				}
				if tt.change != nil {
					tt.change(&is)
				}
				line, err := json.Marshal(is)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&file, "%s\n", line)
			}
			whole := file.String() + store.End(file.String())
			for _, full := range []bool{false, true} {
				to := fresh(t, filepath.Join(t.TempDir(), "to"))
				had := 0
				if full {
					had = len(add(t, to, said("mine")))
				}
				done, err := to.Import(t.Context(), strings.NewReader(whole), false)
				switch {
				case tt.want == "" && (err != nil || done.Added != len(tt.events)):
					t.Errorf("import = %+v, %v", done, err)
				case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 400):
					t.Errorf("import = %v, want %s", err, tt.want)
				case tt.want != "" && len(everything(t, to)) != had:
					t.Errorf("then there is %s", texts(everything(t, to)))
				}
			}
		})
	}
}
