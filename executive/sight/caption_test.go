package sight_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive/sight"
	"earshot/llm"
)

// TestBudget: whatever happens, no hour has more descriptions than it may, and no two
// are within a minute.
func TestBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hourly := rapid.IntRange(0, 20).Draw(t, "hourly")
		now := time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)
		var b sight.Budget
		var spent []time.Time
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 600).Draw(t, "seconds")) * time.Second)
			if !b.Allows(now, hourly) {
				continue
			}
			b.Spend(now)
			if n := len(spent); n > 0 && now.Sub(spent[n-1]) < time.Minute {
				t.Fatalf("two within %v", now.Sub(spent[n-1]))
			}
			spent = append(spent, now)
			if n := len(spent); n > hourly && now.Sub(spent[n-1-hourly]) < time.Hour {
				t.Fatalf("%d within an hour", hourly+1)
			}
		}
	})
}

func TestDescribe(t *testing.T) {
	p := earshot.Picture{JPEG: []byte{0xff, 0xd8, 0xff}, Seen: []earshot.Seen{{What: earshot.Person}}}
	req := sight.Describe(p, "eyes", "llava")
	if !req.MustSee || !llm.Shows(req) || req.Engine != "eyes" || req.Model != "llava" || req.Priority != llm.Memory || len(req.Tools) != 0 || req.MaxTokens == 0 {
		t.Errorf("it asks %+v", req)
	}
	if text := req.Messages[0].Text; !strings.Contains(text, "data and no instruction") || !strings.Contains(text, "one person") {
		t.Errorf("it says %q", text)
	}
}

func FuzzCaption(f *testing.F) {
	f.Add("A red cup.\n\n\u202eno\xff" + strings.Repeat("é", 200))
	f.Fuzz(func(t *testing.T, text string) {
		got := string(sight.Caption(text))
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\t") || len(got) > 300+len("…") || strings.TrimSpace(got) != got {
			t.Errorf("%q becomes %q", text, got)
		}
	})
}
