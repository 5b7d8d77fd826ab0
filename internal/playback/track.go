package playback

import (
	"unicode/utf8"

	"earshot"
	"earshot/models/tts"
)

// A track maps what the device has played to what was heard of the text. It
// has neither lock nor clock. It holds only the clauses that are not over.
type track struct {
	clauses []clauseSound
	made    int64 // samples of all clauses so far
	played  int64
	at      earshot.Heard
}

// A clauseSound is one clause and its sound.
type clauseSound struct {
	n      int
	text   earshot.Text
	speech tts.Speech
	from   int64      // its first sample
	words  []tts.Word // as far as they are known
	length int64      // in samples, so far
	whole  bool       // it grows no more
}

// begin appends a clause.
func (t *track) begin(c earshot.Clause, speech tts.Speech) {
	t.clauses = append(t.clauses, clauseSound{n: c.N, text: c.Text, speech: speech, from: t.made})
}

// add appends sound to the last clause. Words that are told again begin elsewhere than was told.
func (t *track) add(c tts.Chunk) {
	last := &t.clauses[len(t.clauses)-1]
	for n := len(last.words); len(c.Words) > 0 && n > 0 && last.words[n-1].Byte >= c.Words[0].Byte; n-- {
		last.words = last.words[:n-1]
	}
	last.words = append(last.words, c.Words...)
	last.length += int64(len(c.PCM))
	t.made += int64(len(c.PCM))
}

// end says that the last clause has all its sound.
func (t *track) end() { t.clauses[len(t.clauses)-1].whole = true }

// look returns how far one has heard when the device has played so many
// samples, and whether that is further than before.
func (t *track) look(played int64) (earshot.Heard, bool) {
	t.played = max(t.played, min(played, t.made))
	before := t.at
	for len(t.clauses) > 0 {
		c := &t.clauses[0]
		n, over := c.heard(t.played - c.from)
		if n > 0 || over {
			t.at = earshot.Heard{Clause: c.n, Byte: n}
		}
		if !over {
			break
		}
		t.clauses = t.clauses[1:]
	}
	return t.at, t.at != before
}

// heard returns how many bytes of the text one has heard after so many samples
// of the clause, and whether that was all of it. A word counts when half of
// its sound was played.
func (c *clauseSound) heard(samples int64) (bytes int, over bool) {
	if c.whole && samples >= c.length {
		return len(c.text), true
	}
	spoken := 0
	for i, w := range c.words {
		end, next := c.length, len(c.speech.Spoken)
		if i+1 < len(c.words) {
			end, next = int64(c.words[i+1].Sample), c.words[i+1].Byte
		} else if !c.whole {
			break // nobody knows where it ends
		}
		if from := int64(w.Sample); 2*samples < from+end {
			break
		}
		spoken = next
	}
	return c.edge(c.speech.Text(spoken)), false
}

// edge returns n within the text, on the edge of a rune.
func (c *clauseSound) edge(n int) int {
	n = min(max(n, 0), len(c.text))
	for n > 0 && n < len(c.text) && !utf8.RuneStart(c.text[n]) {
		n--
	}
	return n
}
