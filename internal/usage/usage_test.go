package usage_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"earshot/api"
	"earshot/internal/usage"
)

var (
	reply   = api.UsagePurpose{Kind: usage.Reply, Asked: true, Agent: "agent", Engine: "ollama"}
	thought = api.UsagePurpose{Kind: usage.Thought, Agent: "agent", Engine: "ollama"}
)

// saved returns what l writes, or nil if it writes nothing.
func saved(t *testing.T, l *usage.Ledger) (data []byte) {
	t.Helper()
	if err := l.Save(func(b []byte) error { data = b; return nil }); err != nil {
		t.Fatal(err)
	}
	return data
}

// TestLedger: a ledger counts, and has the same after it was written and read.
func TestLedger(t *testing.T) {
	now := time.Date(2026, 11, 22, 20, 0, 0, 0, time.UTC)
	var l usage.Ledger
	if saved(t, &l) != nil {
		t.Error("nothing was counted, and it is written down")
	}
	l.Asked(now, reply, "", api.UsageAmount{PromptTokens: 100, ReplyTokens: 10, Seconds: 2})
	l.Asked(now, reply, "", api.UsageAmount{PromptTokens: 110, ReplyTokens: 5, Seconds: 1, Estimated: 1})
	l.Made(now, usage.Reply, true, "agent")
	l.Asked(now, thought, "t1", api.UsageAmount{PromptTokens: 500, ReplyTokens: 50})
	l.Asked(now, thought, "t1", api.UsageAmount{PromptTokens: 600, ReplyTokens: 60})
	l.Asked(now, thought, "t2", api.UsageAmount{PromptTokens: 1})
	l.Asked(now, reply, "", api.UsageAmount{PromptTokens: -1})
	want := []api.UsageDay{{Date: "2026-11-22", Lines: []api.UsageLine{
		{UsagePurpose: reply, UsageAmount: api.UsageAmount{Made: 1, Requests: 2, PromptTokens: 210, ReplyTokens: 15, Estimated: 1, Seconds: 3}},
		{UsagePurpose: thought, UsageAmount: api.UsageAmount{Made: 2, Requests: 3, PromptTokens: 1101, ReplyTokens: 110}},
	}}}
	if got := l.Days(now, 7); !reflect.DeepEqual(got, want) {
		t.Errorf("has %+v\nwant %+v", got, want)
	}
	if n := l.Unasked(now); n != 1211 {
		t.Errorf("%d tokens were thought unasked, want 1211", n)
	}
	failed := errors.New("the disk is full")
	if err := l.Save(func([]byte) error { return failed }); err != failed {
		t.Errorf("not to be written is %v", err)
	}
	again, err := usage.Read(saved(t, &l))
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Days(now, 7); !reflect.DeepEqual(got, want) {
		t.Errorf("read again it has %+v\nwant %+v", got, want)
	}
	if saved(t, &l) != nil || saved(t, again) != nil {
		t.Error("it is written down although nothing has changed")
	}
}

// TestDays: a day is a day by the clock, even if it has not 24 hours or the clock is set back.
func TestDays(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("this machine knows of no time zones")
	}
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 10, day, hour, minute, 59, 0, berlin) }
	var l usage.Ledger
	spend := func(now time.Time, n int64) { l.Asked(now, thought, "", api.UsageAmount{ReplyTokens: n}) }
	for _, step := range []struct {
		name  string
		now   time.Time
		spent int64
		want  int64 // total of the day so far
	}{
		{"an evening", at(24, 23, 59), 10, 10},
		{"after midnight", at(25, 0, 0), 1, 1},
		{"before the clocks go back", at(25, 2, 30), 2, 3},
		{"an hour later, at the same hour", at(25, 2, 30).Add(time.Hour), 4, 7},
		{"the end of a day of 25 hours", at(25, 23, 59), 8, 15},
		{"the next day", at(26, 0, 0), 0, 0},
		{"the clock is set back", at(24, 12, 0), 5, 15},
		{"and put right", at(26, 0, 1), 3, 3},
	} {
		if spend(step.now, step.spent); l.Unasked(step.now) != step.want {
			t.Errorf("%s: %d, want %d", step.name, l.Unasked(step.now), step.want)
		}
	}
	var dates []string
	for _, d := range l.Days(at(25, 12, 0), 9) {
		dates = append(dates, d.Date)
	}
	if got := strings.Join(dates, " "); got != "2026-10-24 2026-10-25" {
		t.Errorf("at noon of the 25th there are the days %s", got)
	}
	if got := l.Days(at(31, 0, 0), 2); len(got) != 2 || got[1].Date != "2026-10-31" || len(got[1].Lines) != 0 {
		t.Errorf("on a day of nothing there are %+v", got)
	}
}

// TestBounds: however much is counted, and under however many names, the ledger stays small, and
// what is counted now is kept.
func TestBounds(t *testing.T) {
	now := time.Date(2026, 11, 22, 20, 0, 0, 0, time.UTC)
	var l usage.Ledger
	for day := range 400 {
		for agent := range 3 {
			l.Made(now.AddDate(0, 0, day), usage.Reply, true, fmt.Sprint(agent))
		}
	}
	last := now.AddDate(0, 0, 399)
	for agent := range 1000 {
		for _, kind := range []api.UsageKind{usage.Reply, usage.Thought, usage.Other} {
			l.Asked(last, api.UsagePurpose{Kind: kind, Asked: agent%2 == 0, Agent: strings.Repeat("ü", 200) + fmt.Sprint(agent), Engine: fmt.Sprint(agent)}, "", api.UsageAmount{ReplyTokens: 1 << 49})
		}
	}
	l.Made(now.AddDate(-1, 0, 0), usage.Reply, true, "agent")
	if got := l.Days(now.AddDate(-1, 0, 0), 1); usage.Sum(got[0], nil).Made != 1 {
		t.Errorf("with the clock set back it has %+v", got)
	}
	data := saved(t, &l)
	if len(data) > 1<<16 {
		t.Errorf("%d bytes are written", len(data))
	}
	again, err := usage.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	days := again.Days(last, 1000)
	if len(days) != 92 || len(days[91].Lines) > 64 {
		t.Errorf("%d days are kept, the last of %d lines", len(days), len(days[91].Lines))
	}
	if got := usage.Sum(days[91], nil); got.Requests != 3000 || got.ReplyTokens != 1<<50 {
		t.Errorf("the last day is %+v", got)
	}
}

// FuzzRead: a file that cannot be read leads to an error and nothing worse. One that can be read
// can be counted on, and is written and read again unchanged.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		``, `{}`, `{"version":1}`, `{"version":2,"days":[]}`, `{"version":1,"days":[{"date":"2026-11-22","lines":[]}]}`,
		`{"version":1,"days":[{"date":"2026-11-22","lines":[{"kind":"thought","asked":false,"made":1,"requests":2,"prompt_tokens":3,"reply_tokens":4,"seconds":5.5}]}]}`,
		`{"version":1,"days":[{"date":"2026-11-22","lines":[{"kind":"poem"}]}]}`, `{"version":1,"days":[{"date":"2026-11-22"},{"date":"2026-11-22"}]}`,
		`{"version":1,"days":[{"date":"tomorrow"}]}`, `{"version":1,"days":[{"date":"2026-11-22","lines":[{"kind":"reply","made":-1}]}]}`,
		`{"version":1,"days":[{"date":"2026-11-22","lines":[{"kind":"reply","seconds":1e300}]}]}`,
	} {
		f.Add([]byte(text))
	}
	now := time.Date(2026, 11, 22, 20, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := usage.Read(data)
		if err != nil {
			return
		}
		before := l.Unasked(now)
		l.Asked(now, thought, "x", api.UsageAmount{ReplyTokens: 5})
		if l.Unasked(now) < before {
			t.Errorf("%d tokens, and 5 more, are %d", before, l.Unasked(now))
		}
		again, err := usage.Read(saved(t, l))
		if err != nil || !reflect.DeepEqual(again.Days(now, 1000), l.Days(now, 1000)) {
			t.Errorf("it is not read as it was written: %v", err)
		}
	})
}

// TestMerge: what was spent elsewhere on the same day is added to what is for the same purpose.
func TestMerge(t *testing.T) {
	line := func(u api.UsagePurpose, requests int64) api.UsageLine {
		return api.UsageLine{UsagePurpose: u, UsageAmount: api.UsageAmount{Requests: requests}}
	}
	here := api.UsageDay{Date: "2026-11-22", Lines: []api.UsageLine{line(reply, 1)}}
	got := usage.Merge(here, api.UsageDay{Date: "2026-11-22", Lines: []api.UsageLine{line(thought, 2), line(reply, 4)}}, api.UsageDay{Date: "2026-11-21", Lines: []api.UsageLine{line(reply, 8)}})
	if want := []api.UsageLine{line(reply, 5), line(thought, 2)}; !reflect.DeepEqual(got.Lines, want) {
		t.Errorf("is %+v, want %+v", got.Lines, want)
	}
	if here.Lines[0].Requests != 1 {
		t.Error("what it is added to has changed")
	}
}
