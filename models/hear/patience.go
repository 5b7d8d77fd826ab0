package hear

import (
	"math"
	"time"

	"earshot/internal/field"
)

// An Ending says how complete the words so far sound when nothing follows.
type Ending int

// The endings, each with more patience than the one before.
const (
	Finished  Ending = iota // a whole question, a command, an answer, "please"
	Unclear                 // it may be complete or not, or there are no words
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

// Evidence is what is known about whether an utterance is over.
type Evidence struct {
	// Words are what was said so far, English, with or without punctuation, and Before what they were
	// before they last changed. No words are no evidence: they may be late, or never come.
	Words, Before string

	// Changed is how much silence there was in the sound that the recogniser had processed when the
	// words last changed. It is negative if they end before the voice did.
	Changed time.Duration

	// Lag is how long after they were said words may come, because the recogniser waits for more
	// sound; 0 if they are never late.
	Lag time.Duration

	// Turn is the probability, by the sound alone, that the speaker has finished: NaN if nobody
	// listens to that, and [Undecided] while it is not known yet.
	Turn float64

	About Talk
}

// Undecided is the probability of what is not known yet.
const Undecided = 0.5

const (
	// unsettled is how far into a silence words may still change and be believed at once. A late
	// change does not tell a pause from an end: in bench it happens at one of six ends and in one
	// of seven pauses. It means that the last word is unreliable. Both values were chosen with
	// heartest/pauses.txt. Words that lag may change later by that, by settling at most.
	unsettled = 120 * time.Millisecond

	// settling is how long words that have changed late must stay the same.
	settling = 160 * time.Millisecond

	// answered is how much silence leaves time for what the sound says: a model is asked after 200 ms
	// and answers within 60 ms on a slow machine.
	answered field.Seconds = 0.3

	// likely is the probability from which on the sound says that the speaker has finished, and
	// unlikely that up to which it says that they go on. With 0.7 and 0.3, twice as many pauses of
	// heartest are taken for the end.
	likely, unlikely = 0.8, 0.4
)

// A verdict is what the sound says.
type verdict int

const (
	unheard   verdict = iota // nothing
	over                     // that the speaker has finished
	undecided                // that it cannot be told
	goesOn                   // that they go on
)

// judgeSound returns what the sound says by the probability that the speaker has finished.
func judgeSound(turn float64) verdict {
	switch {
	case math.IsNaN(turn):
		return unheard
	case turn >= likely:
		return over
	case turn <= unlikely:
		return goesOn
	}
	return undecided
}

// silence returns how much silence ends an utterance whose words have an ending and whose sound says
// v. It grows from one ending to the next, and from over to goesOn.
func (c Config) silence(words Ending, v verdict) time.Duration {
	end, finished, dictated := c.End, min(c.EndFinished, c.End), max(c.EndDictated, c.EndOpen)
	soon, wait := min(max(finished, answered), end), max(c.EndWait, c.EndOpen)
	return [...][4]field.Seconds{
		//          unheard, over, undecided, goesOn
		Finished:  {finished, finished, soon, end},
		Unclear:   {end, soon, end, (c.EndOpen + dictated) / 2},
		Hanging:   {c.EndOpen, (soon + end) / 2, c.EndOpen, dictated},
		Hesitates: {dictated, c.EndOpen, dictated, max(dictated, (dictated+wait)/2)},
		Waits:     {wait, wait, wait, wait},
	}[words][v].Duration()
}

// Patience returns how much silence ends an utterance. If only a late change made its words sound
// finished, its ending counts as unclear. If the words do not reach the end of the voice yet, others
// may follow, so they only lengthen the silence.
func (c Config) Patience(e Evidence) time.Duration {
	words, sound := Judge(e.Words, e.About), judgeSound(e.Turn)
	if words != Finished {
		return c.silence(words, sound)
	}
	finished, unclear := c.silence(Finished, sound), c.silence(Unclear, sound)
	settled := min(e.Changed+settling, c.End.Duration())
	switch {
	case e.Lag > 0 && e.Changed < 0:
		return min(max(finished, e.Lag), unclear)
	case e.Changed < unsettled+min(e.Lag, settling):
		return finished
	case Judge(e.Before, e.About) == Finished:
		return max(finished, settled)
	}
	return max(unclear, settled)
}
