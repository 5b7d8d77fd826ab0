package hear

import "time"

// An Ending is what the words that somebody has said so far sound like, when
// nothing follows.
type Ending int

// The endings, each with more patience than the one before.
const (
	Finished  Ending = iota // a whole question, a command, an answer, "please"
	Unclear                 // it may be all, or not
	Hanging                 // it asks for another word, as after "and"
	Hesitates               // they think, or dictate a number, an address, a date, or letter by letter
	Waits                   // they ask for time, as with "one moment"
)

// String returns the name of the ending.
func (e Ending) String() string {
	return [...]string{"finished", "unclear", "hanging", "hesitates", "waits"}[e]
}

// A Talk is what is known of a talk beside the words that are being said.
type Talk struct {
	Name      string // of the agent: whoever has said no more than that is not done
	Asked     bool   // the agent has just asked, so these are the first words of an answer
	Dictation bool   // it has asked for something that is dictated, such as a number
	List      bool   // it has asked for what may be several things
}

const (
	// unsettled is how far into a silence words may still change and be believed in at
	// once. That they change late does not tell a pause from an end: of what is said in
	// bench it happens at one of six ends and in one of seven pauses. It means
	// that the last word is not to be relied on. Both values were chosen on what is in
	// testdata/pauses.txt.
	unsettled = 120 * time.Millisecond

	// settling is how long words that have changed late must stay the same.
	settling = 160 * time.Millisecond
)

// Patience returns how much silence ends what somebody says, who has said these
// words so far. They are English, with or without punctuation. They have last changed
// when it had been silent for that long in what the recogniser had heard, and were
// others before. Who sounds finished only because of a word that has changed late is
// given the time of somebody of whom nobody can tell; who does so either way is not.
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
