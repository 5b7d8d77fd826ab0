package earshot_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"earshot"
)

// TestTook: what an older journal does not say was a fact if the program took it back itself.
func TestTook(t *testing.T) {
	for _, tt := range []struct {
		body, provider string
		want           earshot.Kind
	}{
		{`{"of":"1"}`, "console", earshot.KindMessage}, {`{"of":"1"}`, "earshot", earshot.KindFact},
		{`{"of":"1","was":"reply"}`, "discord", earshot.KindReply}, {`{"of":"1","was":"message"}`, "earshot", earshot.KindMessage}, {`{"of":"1","was":"fact"}`, "console", earshot.KindFact},
	} {
		var w earshot.Withdrawal
		if err := json.Unmarshal([]byte(tt.body), &w); err != nil {
			t.Fatal(err)
		}
		if got := w.Took(earshot.Handle{Provider: tt.provider}); got != tt.want {
			t.Errorf("%s from %s took back a %s, want a %s", tt.body, tt.provider, got, tt.want)
		}
	}
}

func TestEventJSON(t *testing.T) {
	at := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	for _, body := range []earshot.Body{
		earshot.Message{Text: "hello"},
		earshot.Message{Text: "hello", ReplyTo: "1", Attachments: []earshot.Attachment{{Name: "photo.png", Type: "image/png", Size: 120_000}}, Revised: at},
		earshot.Revision{Of: "1", Text: "hello again"},
		earshot.Withdrawal{Of: "1", Was: earshot.KindFact},
		earshot.Typing{Began: true},
		earshot.Presence{Session: "tty1", Here: true},
		earshot.Command{Name: "why", Args: "now"},
		earshot.Decision{About: "1", Agent: "earshot", Verdict: earshot.Speak, Reasons: []string{"addressed"}, Turn: "2"},
		earshot.Reply{Turn: "2", About: "1", Outcome: earshot.Interrupted, Offered: "one two", Heard: []earshot.Delivery{{Outlet: "console", Bytes: 3}}, Cut: &earshot.Interruption{By: "ann", Signal: "message", At: at}, Handover: &earshot.Handover{Why: earshot.Passed, To: "ann"}},
		earshot.Notice{Key: "llm", Text: "gone", Cure: "ollama serve"},
		earshot.Agent{Act: earshot.Created, ID: "01A", Path: "/owner/agent/coder", User: "owner", PathKind: "agent", Role: "user", Configured: true, Profile: &earshot.Profile{Name: "Coder", Prompt: "You code.", Version: 1, Rooms: []earshot.RoomID{"desk"}, AutoReply: true}},
		earshot.Use{Turn: "2", Tool: "read_file", Arguments: "{}", Result: "one two", Took: time.Second},
		earshot.Reminder{Act: earshot.Fired, Of: "1", Due: at, Text: "tea"},
		earshot.Thought{Of: "1", Cause: earshot.ByTrigger, About: "2", Question: "why", Text: "because", Tokens: 3, Outcome: earshot.Interrupted, Cut: &earshot.Interruption{By: "ann", Signal: "typing", At: at}, Dropped: true},
		earshot.Finding{Thought: "1", Text: "the tide rises", Confidence: 0.8, Until: at, Answers: "2", Worth: true, Merges: []earshot.EventID{"3"}},
		earshot.Edit{Act: earshot.Changed, Field: "notes", Item: "1", Was: "one", Text: "two", Undoes: "2"},
		earshot.Snooze{Until: at},
		earshot.Utterance{Text: "hello", Confidence: 0.9, Lasted: time.Second, Own: 0.1, Overlaps: true, Speaker: earshot.Handle{Provider: "voice", ID: "3"}, Sure: 0.7},
		earshot.Attribution{Of: "1", Speaker: earshot.Handle{Provider: "voice", ID: "4"}, Author: "ann", Sure: 1, By: "bob"},
		earshot.Tombstone{Was: earshot.KindMessage},
		earshot.ErasureRecord{Events: 3},
		earshot.Settled{About: "1"},
	} {
		t.Run(string(body.Kind()), func(t *testing.T) {
			want := earshot.Event{
				ID: "01J", Sequence: 7, At: at, Room: earshot.Desk,
				From: earshot.Handle{Provider: "console", ID: "uid1000"}, Author: "ann",
				To: []earshot.ParticipantID{"earshot"}, Visibility: earshot.Visibility{Scope: earshot.Public},
				Sources: []earshot.EventID{"01H"}, Body: body,
			}
			data, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			var got earshot.Event
			if err := json.Unmarshal(data, &got); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("read back %#v, want %#v", got, want)
			}
		})
	}
}

func TestEventJSONRefusesUnknownKinds(t *testing.T) {
	var e earshot.Event
	if err := json.Unmarshal([]byte(`{"kind":"sermon","body":{}}`), &e); err == nil {
		t.Error("an unknown kind was accepted")
	}
	if _, err := json.Marshal(earshot.Event{}); err == nil {
		t.Error("an event without a body was encoded")
	}
}

// TestTextIsNotPrinted plants a sentence and looks for it in everything that
// prints.
func TestTextIsNotPrinted(t *testing.T) {
	const canary = "the canary sings at noon"
	text := earshot.Text(canary)
	var log strings.Builder
	lg := slog.New(slog.NewJSONHandler(&log, nil))
	lg.Info("said", "text", text)
	out := log.String()
	for _, verb := range []string{"%s", "%v", "%+v", "%#v", "%q", "%x", "%d"} {
		out += fmt.Sprintf(verb, text) + fmt.Sprintf(verb, earshot.Message{Text: text})
	}
	if strings.Contains(out, "canary") || strings.Contains(out, "63616e617279") {
		t.Errorf("what was said was printed: %s", out)
	}
}

func TestReplyParts(t *testing.T) {
	for _, tt := range []struct {
		name                 string
		heard                []earshot.Delivery
		delivered, remainder earshot.Text
	}{
		{"nobody", nil, "", "one two"},
		{"the longest counts", []earshot.Delivery{{Outlet: "a", Bytes: 3}, {Outlet: "b", Bytes: 1}}, "one", " two"},
		{"all", []earshot.Delivery{{Outlet: "a", Bytes: 7}}, "one two", ""},
		{"a position beyond the end", []earshot.Delivery{{Outlet: "a", Bytes: 70}}, "one two", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := earshot.Reply{Offered: "one two", Heard: tt.heard}
			if d, rest := r.Delivered(), r.Remainder(); d != tt.delivered || rest != tt.remainder {
				t.Errorf("delivered %q and kept %q, want %q and %q", string(d), string(rest), string(tt.delivered), string(tt.remainder))
			}
		})
	}
}

// TestAnEditOfBefore: a journal of before says what was heard, and now also what was written.
func TestAnEditOfBefore(t *testing.T) {
	body, err := earshot.DecodeBody(earshot.KindEdit, []byte(`{"act":"changed","field":"recent_audio","item":"1","was":"shop","text":"ship"}`))
	if got, ok := body.(earshot.Edit); err != nil || !ok || got.Field != "recent_messages" || got.Text != "ship" {
		t.Errorf("%+v, %v", body, err)
	}
}
