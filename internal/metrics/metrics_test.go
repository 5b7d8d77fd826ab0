package metrics_test

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/metrics"
)

var lists = metrics.Lists{
	Reasons: []string{"it calls me by name", "these are the quiet hours"}, Signals: []string{"addressed", "voice"},
	Parts: []string{"microphone", "journal"}, Queues: []string{"terminal"},
}

func newMetrics() *metrics.Metrics {
	return metrics.New("1.2.3", lists, func() float64 { return 4096 })
}

// scrape returns the metrics page, as a scraper would read it.
func scrape(t interface {
	Fatal(...any)
}, m *metrics.Metrics) string {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	text, err := io.ReadAll(w.Body)
	if err != nil || w.Code != 200 {
		t.Fatal(w.Code, err, string(text))
	}
	return string(text)
}

// TestMetrics: everything that happens is counted under the right labels. A label that is not on
// the lists becomes "other".
func TestMetrics(t *testing.T) {
	m := newMetrics()
	m.Kept(earshot.Event{Body: earshot.Message{Text: "hello"}})
	m.Kept(earshot.Event{Body: earshot.Reply{Outcome: earshot.Interrupted, Cut: &earshot.Interruption{Signal: "voice"}}})
	m.Kept(earshot.Event{Body: earshot.Decision{Verdict: earshot.Silent, Reasons: []string{"these are the quiet hours", "somebody new says so"}}})
	m.Took("first_heard", 300*time.Millisecond)
	m.Took("no such stage", time.Second)
	m.Committed(3*time.Millisecond, nil)
	m.Committed(0, io.EOF)
	m.Dropped("terminal", 3)
	m.Dropped("terminal", 0)
	m.Lost("microphone")
	m.Restarted("a camera in Ann's room")
	text := scrape(t, m)
	for _, want := range []string{
		`earshot_events_total{kind="message"} 1`,
		`earshot_turns_total{outcome="interrupted"} 1`,
		`earshot_turns_total{outcome="completed"} 0`,
		`earshot_cuts_total{signal="voice"} 1`,
		`earshot_decisions_total{reason="these are the quiet hours",verdict="silent"} 1`,
		`earshot_decisions_total{reason="other",verdict="silent"} 1`,
		`earshot_turn_stage_seconds_count{stage="first_heard"} 1`,
		`earshot_journal_commit_seconds_count 1`,
		`earshot_journal_refused_total 1`,
		`earshot_dropped_total{queue="terminal"} 3`,
		`earshot_outages_total{part="microphone"} 1`,
		`earshot_restarts_total{part="other"} 1`,
		`earshot_journal_bytes 4096`,
		`earshot_build_info{version="1.2.3"} 1`,
		"go_goroutines ", "process_resident_memory_bytes ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s", want)
		}
	}
	if strings.Contains(text, "Ann") || strings.Contains(text, "hello") {
		t.Error("a name or a text is in it")
	}
}

// TestSeriesAreBounded: whatever is counted adds no series and changes no label.
func TestSeriesAreBounded(t *testing.T) {
	series := func(text string) (names []string) {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "earshot_") {
				names = append(names, line[:strings.LastIndex(line, " ")])
			}
		}
		return names
	}
	before := series(scrape(t, newMetrics()))
	rapid.Check(t, func(rt *rapid.T) {
		m := newMetrics()
		word := rapid.String()
		for range rapid.IntRange(0, 50).Draw(rt, "times") {
			switch rapid.IntRange(0, 5).Draw(rt, "what") {
			case 0:
				m.Kept(earshot.Event{Body: earshot.Reply{Outcome: earshot.Outcome(word.Draw(rt, "outcome")), Cut: &earshot.Interruption{Signal: word.Draw(rt, "signal")}}})
			case 1:
				m.Kept(earshot.Event{Body: earshot.Decision{Verdict: earshot.Verdict(word.Draw(rt, "verdict")), Reasons: rapid.SliceOf(word).Draw(rt, "reasons")}})
			case 2:
				m.Dropped(word.Draw(rt, "queue"), 1)
			case 3:
				m.Lost(word.Draw(rt, "part"))
			case 4:
				m.Restarted(word.Draw(rt, "part"))
			case 5:
				m.Took(word.Draw(rt, "stage"), time.Duration(rapid.Int64().Draw(rt, "took")))
			}
		}
		if after := series(scrape(rt, m)); strings.Join(before, "\n") != strings.Join(after, "\n") {
			rt.Fatalf("there were %d series, and now there are %d", len(before), len(after))
		}
	})
	if len(before) > 1000 {
		t.Errorf("there are %d series, which is no bound", len(before))
	}
}

// TestCountingAllocatesNothing: counting allocates no memory, because it happens while a reply is
// on its way.
func TestCountingAllocatesNothing(t *testing.T) {
	m := newMetrics()
	var none *metrics.Metrics
	for name, does := range map[string]func(){
		"a stage":  func() { m.Took("first_token", time.Second) },
		"a drop":   func() { m.Dropped("terminal", 1) },
		"a commit": func() { m.Committed(time.Millisecond, nil) },
		"nothing":  func() { none.Took("total", time.Second); none.Dropped("terminal", 1); none.Lost("x") },
	} {
		if n := testing.AllocsPerRun(100, does); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

// TestValues: a report holds what was counted and leaves out what is zero.
func TestValues(t *testing.T) {
	m := newMetrics()
	m.Dropped("terminal", 2)
	m.Took("wait", time.Second)
	m.Took("wait", 3*time.Second)
	all, err := m.Values()
	if err != nil {
		t.Fatal(err)
	}
	if all["dropped_total terminal"] != 2 || all["turn_stage_seconds wait count"] != 2 || all["turn_stage_seconds wait mean"] != 2 {
		t.Errorf("what was counted is not in %v", all)
	}
	if _, there := all["turns_total completed"]; there {
		t.Errorf("what is at zero is in %v", all)
	}
}
