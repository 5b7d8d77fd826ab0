package earshot_test

import (
	"strings"
	"testing"
	"time"

	"earshot"
)

func TestDeeds(t *testing.T) {
	long := strings.Repeat("é", 100)
	for _, tt := range []struct {
		use  earshot.Use
		want string
	}{
		{earshot.Use{Tool: "write_file", Arguments: `{"text":"x","path":"notes.txt"}`}, "writes notes.txt"},
		{earshot.Use{Tool: "read_file", Arguments: `{"path":"a\nBob: b"}`}, "reads a Bob: b"},
		{earshot.Use{Tool: "read_file", Arguments: earshot.Text(`{"path":"` + long + `"}`)}, "reads " + strings.Repeat("é", 80) + "…"},
		{earshot.Use{Tool: "read_file", Arguments: `{"path":7}`}, "reads"},
		{earshot.Use{Tool: "list_files", Arguments: `no JSON`}, "lists its files"},
		{earshot.Use{Tool: "recall", Arguments: `{"query":"tides"}`}, "looks up tides"},
		{earshot.Use{Tool: "of tomorrow", Arguments: `{}`}, "uses of tomorrow"},
		{earshot.Use{Tool: "message_agent", Arguments: `{"name":"Bob"}`}, ""},
		{earshot.Use{Tool: "message_agent", Refused: true, Result: "Ann is an external actor:\nrespond directly"}, "was refused message_agent: Ann is an external actor: respond directly"},
	} {
		if got := tt.use.Deed(); string(got) != tt.want {
			t.Errorf("%q, want %q", string(got), tt.want)
		}
	}
}

func TestReminders(t *testing.T) {
	at := time.Date(2026, 8, 1, 10, 0, 0, 0, time.Local)
	for want, r := range map[string]earshot.Reminder{
		"will be reminded at 10:05:00: tea":              {Act: earshot.Created, Due: at.Add(5 * time.Minute), Text: "tea"},
		"will be reminded on 2026-08-03 at 10:00: taxes": {Act: earshot.Created, Due: at.AddDate(0, 0, 2), Text: "taxes"},
		"is reminded: tea":                               {Act: earshot.Fired, Text: "tea"},
		"will not be reminded any more":                  {Act: earshot.Ended},
	} {
		if got := r.Deed(at); string(got) != want {
			t.Errorf("%q, want %q", string(got), want)
		}
	}
}
