package scenetest

import (
	"bytes"
	"context"
	"fmt"
	"image/jpeg"
	"iter"
	"strings"
	"sync"
	"time"

	"earshot/llm"
	"earshot/llm/llmtest"
)

// A prompter is the model of a scene, and keeps the requests it was asked.
type prompter struct {
	script *llmtest.Script
	window int // how many messages it accepts; 0 means any number

	mu    sync.Mutex
	times []time.Time
	asked []*llm.Request
}

// Stream implements [llm.Service].
func (p *prompter) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	p.mu.Lock()
	p.times, p.asked = append(p.times, time.Now()), append(p.asked, req)
	p.mu.Unlock()
	if p.window > 0 && len(req.Messages) > p.window {
		return func(yield func(llm.Delta, error) bool) {
			yield(llm.Delta{}, &llm.Error{Fault: llm.TooLong, Engine: "script"})
		}
	}
	return p.script.Stream(ctx, req)
}

// String returns the requests as the part asked has them.
func (p *prompter) String(began time.Time) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	for i, req := range p.asked {
		fmt.Fprintf(&b, "%.1fs\n", p.times[i].Sub(began).Seconds())
		for i, m := range llm.FitImages(req, p.script.Vision).Messages {
			text := strings.ReplaceAll(m.Text, "\n", "\n    ")
			if m.Role == llm.System {
				text = changing(m.Text, i == 0)
			}
			for _, picture := range m.Images {
				text += " " + sized(picture)
			}
			if text != "" {
				fmt.Fprintf(&b, "  %s: %s\n", m.Role, text)
			}
		}
	}
	return b.String()
}

// sized returns the size of a picture that the model is shown, in words.
func sized(picture llm.Image) string {
	c, err := jpeg.DecodeConfig(bytes.NewReader(picture))
	if err != nil {
		return "(a picture that is none)"
	}
	return fmt.Sprintf("(a picture of %d by %d)", c.Width, c.Height)
}

// changing returns those of the program's own instructions that change with what happens in a
// scene: who the agent is, who is there, what it remembers, and what it did wrong.
func changing(instructions string, identity bool) string {
	var some []string
	remembers := false
	for i, l := range strings.Split(instructions, "\n") {
		remembers = strings.HasPrefix(l, "What you know of earlier") || remembers && strings.HasPrefix(l, "- ")
		if remembers || identity && i == 0 || strings.HasPrefix(l, "External: ") || strings.HasPrefix(l, "Internal: ") || strings.HasPrefix(l, "In your last reply") || strings.HasPrefix(l, "You are asked to go on") || strings.HasPrefix(l, "When that was asked the camera") {
			some = append(some, l)
		}
	}
	return strings.Join(some, " ")
}
