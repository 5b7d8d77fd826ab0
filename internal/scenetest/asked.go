package scenetest

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"earshot/llm"
	"earshot/llm/llmtest"
)

// A prompter is a scene's model, which keeps what it was asked.
type prompter struct {
	script *llmtest.Script

	mu    sync.Mutex
	times []time.Time
	asked []*llm.Request
}

// Stream implements [llm.Service].
func (p *prompter) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	p.mu.Lock()
	p.times, p.asked = append(p.times, time.Now()), append(p.asked, req)
	p.mu.Unlock()
	return p.script.Stream(ctx, req)
}

// told are the beginnings of those lines of the house's own instructions that
// change from turn to turn, and are no clock.
var told = []string{"You are ", "External: ", "Internal: ", "In your last reply"}

// String returns what was asked.
func (p *prompter) String(began time.Time) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	for i, req := range p.asked {
		fmt.Fprintf(&b, "%.1fs\n", p.times[i].Sub(began).Seconds())
		for _, m := range req.Messages {
			if m.Role != llm.System {
				fmt.Fprintf(&b, "  %s: %s\n", m.Role, strings.ReplaceAll(m.Text, "\n", "\n    "))
				continue
			}
			for l := range strings.Lines(m.Text) {
				for _, begin := range told {
					if strings.HasPrefix(l, begin) {
						fmt.Fprintf(&b, "  %s: %s\n", m.Role, strings.TrimSpace(l))
					}
				}
			}
		}
	}
	return b.String()
}
