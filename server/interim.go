package server

import (
	"encoding/json"

	"earshot"
)

// interims are the last interim words sent for each voice. The zero value means that none were
// sent.
type interims map[earshot.Handle]earshot.Event

// lines returns the changes in the words being said, one event per line: new or changed words, and
// the end of those that are gone.
func (i *interims) lines(words []earshot.Event) (lines []byte) {
	now := make(interims, len(words))
	tell := func(e earshot.Event) {
		if line, err := json.Marshal(e); err == nil { // marshalling cannot fail
			lines = append(append(lines, line...), '\n')
		}
	}
	for _, e := range words {
		now[e.From] = e
		if was, told := (*i)[e.From]; !told || !same(was, e) {
			tell(e)
		}
	}
	for from, was := range *i {
		if _, still := now[from]; !still {
			was.Body = earshot.Speech{Stage: earshot.VoiceOver, Confidence: 1}
			tell(was)
		}
	}
	*i = now
	return lines
}

// same reports whether two events have the same words by the same person.
func same(a, b earshot.Event) bool {
	is, _ := a.Body.(earshot.Speech)
	was, _ := b.Body.(earshot.Speech)
	return a.At.Equal(b.At) && a.Author == b.Author && is.Words == was.Words
}
