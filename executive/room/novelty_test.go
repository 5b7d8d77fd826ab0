package room_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/llm"
	"earshot/llm/llmtest"
)

// curious returns a house whose agent thinks about what is new.
func curious() *house {
	h := byDay()
	h.config.Parallel.ReasoningContinuous = true
	h.model.Rules = append(h.model.Rules, llmtest.Rule{For: llmtest.ForThought, Reply: "Something is going on here."})
	return h
}

// causes returns the cause of each thought, in order.
func (h *house) causes() (causes []string) {
	for _, e := range h.journal.Events() {
		if th, ok := e.Body.(earshot.Thought); ok && th.Of == "" {
			causes = append(causes, string(th.Cause))
		}
	}
	return causes
}

// reasoned counts the requests for thoughts.
func (h *house) reasoned() (n int) {
	for _, req := range h.model.Seen() {
		if req.Priority == llm.Reasoning {
			n++
		}
	}
	return n
}

// TestThinksAboutWhatIsNew: the agent thinks about new things that people say to each other. The
// same word again and again brings no more than a few check-ins, and twelve hours in which nothing
// happens bring nothing.
func TestThinksAboutWhatIsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := gather(t, curious(), "bob")
		time.Sleep(time.Hour)
		if n := c.reasoned(); n != 0 {
			t.Errorf("%d requests although nothing has happened", n)
		}
		c.must(t, "ann", "The roof leaks above the attic window since yesterday's storm", time.Minute)
		c.must(t, "bob", "Then somebody must repair those broken tiles before winter comes", 10*time.Minute)
		if got := strings.Join(c.causes(), " "); !strings.HasPrefix(got, "novelty") {
			t.Errorf("it thought because of %q", got)
		}
		before := c.reasoned()
		for range 10 {
			c.must(t, "bob", "yes", time.Minute)
		}
		time.Sleep(3 * time.Hour)
		quiet := c.reasoned()
		time.Sleep(12 * time.Hour)
		if n := c.reasoned(); n != quiet {
			t.Errorf("%d requests in twelve hours in which nothing happened", n-quiet)
		}
		if quiet-before > 4 {
			t.Errorf("%d requests about the same word again and again", quiet-before)
		}
		c.stop()
	})
}

// wakesUp returns whether a second piece of news, after a first, makes the agent think soon, within
// 40 s of the first, or late.
func wakesUp(t *testing.T, h *house) string {
	h.model.Rules = append(h.model.Rules, llmtest.Rule{For: llmtest.ForThought, Reply: "Hm."})
	h.config.Parallel.ReasoningContinuous = true
	c := gather(t, h, "bob")
	c.must(t, "ann", "The roof leaks above the attic window since yesterday's storm", 0)
	began := time.Now()
	for len(c.causes()) < 1 {
		time.Sleep(time.Second)
	}
	c.must(t, "bob", "Meanwhile purple elephants juggle seventeen burning violins underwater", 0)
	for len(c.causes()) < 2 && time.Since(began) < 10*time.Minute {
		time.Sleep(time.Second)
	}
	if time.Since(began) > 40*time.Second {
		return "late"
	}
	return "soon"
}

// TestADay: in a day in which people talk in the morning and in the evening, the agent thinks only
// when something is new, and the memory that it uses does not grow.
func TestADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := curious()
		h.model.Rules = append(h.model.Rules, llmtest.Rule{For: llmtest.ForFindings, Reply: `{"findings":[]}`})
		c := gather(t, h, "bob")
		talk := func(day, lines int) {
			for i := range lines {
				who := []string{"ann", "bob"}[i%2]
				c.must(t, who, fmt.Sprintf("now about subject%dx%d and topic%dx%d with matter%dx%d again", day, i, day, i+1, day, i+2), time.Minute)
			}
		}
		var memory []uint64
		var hours []int
		for hour := range 24 {
			n := len(c.causes())
			if hour%12 == 7 {
				talk(hour, 30)
				time.Sleep(30 * time.Minute)
			} else {
				time.Sleep(time.Hour)
			}
			hours = append(hours, len(c.causes())-n)
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			memory = append(memory, m.HeapAlloc)
		}
		for hour, n := range hours {
			switch talks := hour%12 == 7; {
			case talks && n == 0:
				t.Errorf("it did not wake in the talk of hour %d", hour)
			case !talks && hour%12 != 8 && n > 0:
				t.Errorf("%d thoughts in hour %d, in which nothing happened", n, hour)
			}
		}
		t.Logf("thoughts by the hour: %v; heap in KiB after each: %v; goroutines %d", hours, kib(memory), runtime.NumGoroutine())
		if first, last := memory[8], memory[23]; last > 2*first+1<<20 {
			t.Errorf("the heap grew from %d to %d bytes", first, last)
		}
		c.stop()
	})
}

func kib(of []uint64) (all []uint64) {
	for _, n := range of {
		all = append(all, n>>10)
	}
	return all
}

// TestNothingIsThoughtAfterAReflex: what a reflex has answered is not new enough to think about.
func TestNothingIsThoughtAfterAReflex(t *testing.T) {
	for _, tt := range []struct {
		name, said string
		thinks     bool
	}{
		{"the time", "what time is it?", false},
		{"the day", "what day is it?", false},
		{"what works", "what works?", false},
		{"stop", "stop talking", false},
		{"what takes thought", "the roof leaks above the attic window since yesterday's storm, whom do I call?", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := gather(t, curious())
				for range 3 {
					c.must(t, "ann", tt.said, time.Minute)
				}
				time.Sleep(3 * time.Hour)
				if n := c.reasoned(); n > 0 != tt.thinks {
					t.Errorf("%d requests for thoughts after %q", n, tt.said)
				}
				c.stop()
			})
		})
	}
}

// TestUnaskedThoughtEnds: once nothing is to be thought unasked, an unasked thought ends at once
// and none begins until that is allowed again.
func TestUnaskedThoughtEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := curious()
		h.model.Rules[len(h.model.Rules)-1].Every = time.Minute
		unasked := func(lets bool) {
			set := h.config
			set.Parallel.ReasoningContinuous = lets
			h.reset.Store(&set)
			h.Reseat()
			synctest.Wait()
		}
		c := gather(t, h, "bob")
		c.must(t, "ann", "The roof leaks above the attic window since yesterday's storm", time.Minute)
		if n := c.reasoned(); n != 1 {
			t.Fatalf("%d requests for thoughts", n)
		}
		unasked(false)
		if h.Busy() {
			t.Error("it thinks on")
		}
		c.must(t, "bob", "Meanwhile purple elephants juggle seventeen burning violins underwater", 3*time.Hour)
		if n := c.reasoned(); n != 1 {
			t.Errorf("%d requests although nothing unasked is to be thought", n)
		}
		unasked(true)
		c.must(t, "bob", "Seventeen orange walruses applaud politely between marble columns", 10*time.Minute)
		if n := c.reasoned(); n < 2 {
			t.Errorf("%d requests although it may think again", n)
		}
		c.stop()
	})
}
