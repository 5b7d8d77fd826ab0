package room_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/llm"
	"earshot/llm/llmtest"
)

// TestAnOutageThatFlaps: an outage that comes and goes is reported once when it begins and once
// when it is over, with how often it happened, on the screen and in the log. That holds for a part
// of the house and for the model, and at each moment it is known what is at fault.
func TestAnOutageThatFlaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		gone := &llm.Error{Fault: llm.Unreachable, Engine: "ollama", Cure: "ollama serve"}
		for range 50 {
			h.model.Troubles = append(h.model.Troubles, llmtest.Trouble{Err: gone}, llmtest.Trouble{})
		}
		h.open(t.Context())
		for i := range 100 {
			lost := i%2 == 0
			h.Report(earshot.Notice{Key: "microphone", Text: map[bool]string{true: "microphone was lost", false: "microphone is back"}[lost], Over: !lost})
			h.say(t, "hello")
			time.Sleep(3 * time.Second)
			if n := len(h.state().Faults); n != map[bool]int{true: 2}[lost] {
				t.Fatalf("after %d changes %d faults are known", i, n)
			}
		}
		time.Sleep(time.Minute)
		h.stop()
		log := h.logged.String()
		for text, times := range map[string]int{
			"text=\"microphone was lost": 1, "text=\"microphone is back": 1, "level=WARN msg=\"the turn failed": 1,
			"after it was lost 50 times within 4m5": 1, // and so many seconds
		} {
			if n := strings.Count(log, text); n != times {
				t.Errorf("the log has %q %d times, want %d", text, n, times)
			}
		}
		var kept []string
		for _, e := range h.journal.Events() {
			if n, ok := e.Body.(earshot.Notice); ok {
				kept = append(kept, fmt.Sprint(n.Over, " ", n.Text))
			}
		}
		if len(kept) != 2 || kept[0] != "false ollama: unreachable" || !strings.HasPrefix(kept[1], "true the model answers again, after it was lost 50 times") {
			t.Errorf("the journal has %q", kept)
		}
	})
}
