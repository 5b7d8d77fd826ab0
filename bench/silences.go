package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A partial is what a recogniser makes of an utterance once it has heard it up to
// some time.
type partial struct {
	at    time.Time
	words string
	final bool
}

// transcribe writes what the recogniser made of each silence in what was told to a
// file: those of both sets are pauses.txt of models/hear/heartest.
func (b bench) transcribe(sets ...[]*answered) error {
	var text strings.Builder
	for n, set := range sets {
		fmt.Fprintf(&text, "# set %d\n", n+1)
		for _, a := range set {
			a.transcribe(&text)
		}
	}
	return os.WriteFile(filepath.Join(b.dir, "pauses.txt"), []byte(text.String()), 0o600)
}

// transcribe writes a line for each silence: how long it is, and by tabs what had been
// understood by then, and what became of it in the meantime, each with the millisecond
// of the silence at which it had been heard.
func (a *answered) transcribe(to *strings.Builder) {
	silences := a.pauses
	silences = append(silences[:len(silences):len(silences)], [2]int{a.end, a.end + inSamples(tail)})
	for i, s := range silences {
		kind := fmt.Sprint("pause ", inTime(s[1]-s[0]).Milliseconds())
		if i == len(a.pauses) {
			kind = "end"
			if a.finished {
				kind = "finished"
			}
		}
		to.WriteString(kind)
		said, words, last := "", "", ""
		for _, p := range a.partials {
			if at := p.at.Sub(a.began.Add(inTime(s[1]))); at >= 0 && !p.final {
				break
			}
			if p.final {
				said += p.words + " " // the next is of the utterance that follows
				continue
			}
			words = strings.TrimSpace(said + p.words)
			at := p.at.Sub(a.began.Add(inTime(s[0]))).Milliseconds()
			if entry := fmt.Sprintf("\t%d %s", at, words); at < 0 {
				last = entry
			} else {
				to.WriteString(last + entry)
				last = ""
			}
		}
		to.WriteString(last + "\n")
	}
}
