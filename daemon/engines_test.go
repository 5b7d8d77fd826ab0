package daemon

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot/llm"
)

// TestAModelThatFlapsInTheLog: if a model is lost again and again, the log has one line with the
// cure, and one that it answers again, with how often it was lost.
func TestAModelThatFlapsInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		log, h := slog.New(slog.NewTextHandler(&text, nil)), new(engineOutages)
		gone := &llm.Error{Fault: llm.Unreachable, Engine: "ollama"}
		for range 50 {
			h.log(log, llm.Step{Engine: "ollama", Kind: llm.GaveUp, Err: gone})
			time.Sleep(3 * time.Second)
			h.log(log, llm.Step{Engine: "ollama", Kind: llm.Answered})
			h.log(log, llm.Step{Engine: "vllm", Kind: llm.Answered})
			time.Sleep(4 * time.Second)
		}
		time.Sleep(time.Minute)
		h.log(log, llm.Step{Engine: "ollama", Kind: llm.Answered})
		if got := text.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "was helped") || !strings.Contains(got, "lost 50 times") {
			t.Errorf("logged:\n%s", got)
		}
	})
}
