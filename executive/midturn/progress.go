package midturn

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
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

// Work is what an agent is doing, as somebody may know it who asks how far it has come.
type Work struct {
	On     earshot.Text  // what it was asked
	For    time.Duration // how long it has been at it
	Tools  []string      // that it has used, in order
	Using  string        // the tool in use; empty if there is none
	Spoken bool          // part of the answer has been said

	// For a thought: that it is one, its length in words, how often it gave way, whether it has
	// been put aside, and how many thoughts come before it.
	Thought bool
	Words   int
	GaveWay int
	Aside   bool
	Behind  int
}

// Report says in words how far the work has come. who is the agent's name, or empty if the agent
// speaks for itself.
func (w Work) Report(who string) string {
	is, has := "I am", "I have"
	if who != "" {
		is, has = who+" is", "it has"
	}
	if w.Thought {
		return w.thinks(is)
	}
	report := fmt.Sprintf("%s at %s, for %s", is, quoted(w.On), lasting(w.For))
	var did []string
	if used := slices.Compact(slices.Sorted(slices.Values(w.Tools))); len(used) > 0 {
		did = append(did, has+" used "+strings.Join(used, ", "))
	}
	switch {
	case w.Using != "":
		did = append(did, w.Using+" is under way")
	case !w.Spoken:
		did = append(did, "the first word of the answer has not come yet")
	}
	if len(did) == 0 {
		return report + "."
	}
	return report + ": " + strings.Join(did, "; ") + "."
}

// thinks says how far a thought has come.
func (w Work) thinks(is string) string {
	switch {
	case w.Behind > 0:
		return fmt.Sprintf("%s to think about %s; %s before it.", is, quoted(w.On), things(w.Behind, "question comes", "questions come"))
	case w.Aside:
		return fmt.Sprintf("%s thinking about %s, which goes on when the room is quiet: %s so far.", is, quoted(w.On), things(w.Words, "word", "words"))
	}
	report := fmt.Sprintf("%s thinking about %s, for %s: %s so far", is, quoted(w.On), lasting(w.For), things(w.Words, "word", "words"))
	if w.GaveWay > 0 {
		report += fmt.Sprintf(", interrupted %s", things(w.GaveWay, "time", "times"))
	}
	return report + "."
}

// mostRepeated is how many runes of the request a report repeats: enough to recognise it.
const mostRepeated = 60

// quoted returns the first words of text, as one line in quotation marks.
func quoted(text earshot.Text) string {
	line := []rune(strings.Join(strings.Fields(string(text)), " "))
	if len(line) > mostRepeated {
		line = append(line[:mostRepeated-1], '…')
	}
	return "“" + string(line) + "”"
}

func things(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// lasting returns a duration as people say it.
func lasting(d time.Duration) string {
	switch {
	case d < 2*time.Second:
		return "a moment"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h", int(d.Hours()))
}
