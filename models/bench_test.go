package models_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"earshot/internal/audio"
	"earshot/internal/testkit"
	"earshot/models/stt"
)

// BenchmarkEnd prints how soon after its end an utterance is understood whose sound comes at
// speaking pace.
func BenchmarkEnd(b *testing.B) {
	s, _ := mouth(b, "", 0)
	r, _ := ear(b, stt.Config{})
	ready(b, r)
	pcm, _ := say(b, s, plain[0])
	tick := time.NewTicker(audio.Time)
	defer tick.Stop()
	var all time.Duration
	for range b.N {
		done := make(chan time.Time, 1)
		u := r.Begin(func(res stt.Result) {
			if res.Final {
				done <- time.Now()
			}
		})
		for _, f := range frames(pcm) {
			<-tick.C
			u.Feed(f)
		}
		ended := time.Now()
		u.End()
		all += testkit.Receive(b, testkit.Patience, "the words", done).Sub(ended)
	}
	b.ReportMetric(float64(all.Microseconds())/1000/float64(b.N), "ms/final")
}

// BenchmarkSay prints what a voice costs: when its first sound comes, how long a second of sound
// takes to make, and how soon after one text is left the next one is heard.
func BenchmarkSay(b *testing.B) {
	const text = "i think we should go to the store after lunch and rest"
	for _, name := range voices {
		b.Run(name, func(b *testing.B) {
			s, r := mouth(b, name, 0)
			say(b, s, "hello")
			var first, all, again time.Duration
			samples := 0
			b.ResetTimer()
			for range b.N {
				began := time.Now()
				for c, err := range s.Say(b.Context(), text) {
					if err != nil {
						b.Fatal(err)
					}
					if samples += len(c.PCM); len(c.Words) > 0 {
						first += time.Since(began)
					}
				}
				all += time.Since(began)
				for range s.Say(b.Context(), strings.Repeat(text+", ", 20)) {
					break
				}
				left := time.Now()
				for range s.Say(b.Context(), "yes") {
					break
				}
				again += time.Since(left)
			}
			n := float64(b.N)
			b.ReportMetric(float64(first.Milliseconds())/n, "ms/first")
			b.ReportMetric(all.Seconds()*audio.Rate/float64(samples), "rtf")
			b.ReportMetric(float64(again.Milliseconds())/n, "ms/next-after-leaving")
			b.ReportMetric(float64(memory(b, r.process().Pid())), "MB")
		})
	}
}

// memory returns how much memory a process holds, in MB.
func memory(tb testing.TB, pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		tb.Skip(err)
	}
	kb := 0
	for line := range strings.Lines(string(status)) {
		fmt.Sscanf(line, "VmRSS: %d kB", &kb)
	}
	return kb >> 10
}
