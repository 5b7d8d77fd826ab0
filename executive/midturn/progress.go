package midturn

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"sync"
	"time"

	"earshot"
	"earshot/executive/tool"
)

// A Progress is what a turn is doing besides talking. The goroutine of the text writes it, and
// whoever reports the progress reads it. It is safe for concurrent use. Use [NewProgress].
type Progress struct {
	on    earshot.Text
	began time.Time

	mu     sync.Mutex
	tools  []string // all tools used so far, in order
	using  []string // tools in use; a tool that asks another agent contains that agent's tools
	spoken bool     // a word of the reply has come
	silent bool     // no word has come since the last tool
}

// NewProgress returns the progress of a turn that answers some words and begins now.
func NewProgress(on earshot.Text, now time.Time) *Progress { return &Progress{on: on, began: now} }

// On returns the words that the turn answers.
func (l *Progress) On() earshot.Text { return l.on }

// Watch returns the tools wrapped so that their use is noted. A nil progress notes nothing.
func (l *Progress) Watch(t tool.Table) tool.Table {
	if l == nil {
		return t
	}
	t = slices.Clone(t)
	for i := range t {
		do, name := t[i].Do, t[i].Name
		t[i].Do = func(ctx context.Context, s tool.Scope, arguments json.RawMessage) (tool.Answer, error) {
			l.uses(name)
			defer l.used()
			return do(ctx, s, arguments)
		}
	}
	return t
}

// uses notes that a tool is in use; used notes that its use is over.
func (l *Progress) uses(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tools, l.using, l.silent = append(l.tools, name), append(l.using, name), true
}

func (l *Progress) used() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.using = l.using[:len(l.using)-1]
}

// Listen notes when words come.
func (l *Progress) Listen(words iter.Seq2[string, error]) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for text, err := range words {
			l.mu.Lock()
			l.spoken, l.silent = true, false
			l.mu.Unlock()
			if !yield(text, err) {
				return
			}
		}
	}
}

// Quiet reports whether the turn works on something silently, and whether it has said anything yet.
func (l *Progress) Quiet() (works, spoken bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.silent, l.spoken
}

// Work returns what the turn has done so far.
func (l *Progress) Work(now time.Time) Work {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := Work{On: l.on, For: now.Sub(l.began), Spoken: l.spoken && !l.silent, Tools: slices.Clone(l.tools)}
	if n := len(l.using); n > 0 {
		w.Using = l.using[n-1]
		w.Tools = w.Tools[:len(w.Tools)-n]
	}
	return w
}
