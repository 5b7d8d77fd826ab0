package hear

import "time"

// An Ending says how complete the words so far sound when nothing follows.
type Ending int

// The endings, each with more patience than the one before.
const (
	Finished  Ending = iota // a whole question, a command, an answer, "please"
	Unclear                 // it may be complete or not
	Hanging                 // it requires another word, as after "and"
	Hesitates               // they think, or dictate a number, an address, a date, or letters
	Waits                   // they ask for time, as with "one moment"
)

// String returns the name of the ending.
func (e Ending) String() string {
	return [...]string{"finished", "unclear", "hanging", "hesitates", "waits"}[e]
}

// A Talk is what is known about a conversation besides the current words.
type Talk struct {
	Name      string // of the agent: the name alone is not a complete utterance
	Asked     bool   // the agent has just asked, so these are the first words of an answer
	Dictation bool   // it has asked for something that is dictated, such as a number
	List      bool   // it has asked for what may be several things
}

const (
	// unsettled is how far into a silence words may still change and be believed at once. A late
	// change does not tell a pause from an end: in bench it happens at one of six ends and in one
	// of seven pauses. It means that the last word is unreliable. Both values were chosen with
	// testdata/pauses.txt.
	unsettled = 120 * time.Millisecond

	// settling is how long words that have changed late must stay the same.
	settling = 160 * time.Millisecond
)

// Patience returns how much silence ends an utterance with these words so far. They are English,
// with or without punctuation. They last changed after that much silence in the sound that the
// recogniser had processed, and were others before. If they sound finished only because of a word
// that has changed late, the patience is that of an unclear ending; if they sounded finished
// before, too, it is not.
func (c Config) Patience(words, before string, changed time.Duration, about Talk) time.Duration {
	switch Judge(words, about) {
	case Finished:
		switch {
		case changed < unsettled:
			return min(c.EndFinished, c.End).Duration()
		case Judge(before, about) == Finished:
			return min(max(c.EndFinished.Duration(), changed+settling), c.End.Duration())
		}
	case Hanging:
		return c.EndOpen.Duration()
	case Hesitates:
		return max(c.EndDictated, c.EndOpen).Duration()
	case Waits:
		return max(c.EndWait, c.EndOpen).Duration()
	}
	return c.End.Duration()
}
