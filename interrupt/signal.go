// Package interrupt holds the floor of a room: who may be heard in it, and
// what makes them duck, pause, go on or fall silent.
//
// A turn takes the [Floor]. Whatever may end the turn is a typed [Signal], which
// [Judge] judges: a pure table of signal and style. The floor acts at once, on the
// goroutine that brought the signal: an interruption is not a stream, so there
// is no queue for it to wait in, and nothing to drop.
package interrupt

import (
	"fmt"
	"slices"
	"time"

	"earshot"
)

// A Kind is what a signal is evidence of.
type Kind int

// The kinds of signals.
const (
	Ambient     Kind = iota // something happened around: a door, music
	OtherAgent              // another agent wants the floor
	Echo                    // the agent's own voice came back
	Noise                   // a cough, a keyboard
	Backchannel             // "mm-hm": somebody listens, and does not want the floor
	Bystanders              // people talk to each other
	Onset                   // a voice begins
	Voice                   // it is still there when a cough would be over
	Unclear                 // it has said words, and nobody can tell yet what they are
	Typing                  // the first key of a line
	Words                   // real words, not addressed to the agent
	Addressed               // a message or speech to the agent
	Command                 // a command word, such as "stop"
	Shutdown                // the program ends
	Over                    // what the same source showed before is gone: silence, an emptied line
)

var kinds = [...]string{
	Ambient: "ambient", OtherAgent: "other agent", Echo: "echo", Noise: "noise",
	Backchannel: "backchannel", Bystanders: "bystanders", Onset: "onset", Voice: "voice",
	Unclear: "unclear", Typing: "typing", Words: "words", Addressed: "addressed", Command: "command", Shutdown: "shutdown", Over: "over",
}

// String returns the kind as it stands in the journal.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kinds) {
		return fmt.Sprintf("kind %d", int(k))
	}
	return kinds[k]
}

// Kinds returns all kinds, as they stand in the journal.
func Kinds() []string { return slices.Clone(kinds[:]) }

// sounds reports whether k is heard rather than written.
func (k Kind) sounds() bool { return k == Onset || k == Voice || k == Words }

// A Signal is evidence that somebody wants the floor. It is an error so that
// it can be the cause of a cancelled context.
type Signal struct {
	Kind       Kind
	From       earshot.Handle        // the source, known even where the person is not
	Via        string                // the connection it came by, such as one of two terminals
	By         earshot.ParticipantID // empty if unknown
	Operator   bool                  // By may operate the daemon
	Confidence float64               // that Kind is right, 0 to 1; text is 1
	Words      earshot.Text          // as far as they are known
	At         time.Time             // when the interruption began, not when it was noticed
}

// Error says that a turn was interrupted and by what, never by which words.
func (s *Signal) Error() string { return fmt.Sprintf("interrupted: %v by %v", s.Kind, s.From) }

// Rank orders signals that come together; the highest acts, the others are
// context. From the top: a command word, the operator, a direct address, other
// people's words, the onset of speech, another agent, what happens around.
func (s *Signal) Rank() int {
	switch {
	case s.Kind == Command || s.Kind == Shutdown:
		return 6
	case s.Operator && s.Kind >= Words && s.Kind != Over:
		return 5
	case s.Kind == Addressed:
		return 4
	case s.Kind == Words:
		return 3
	case s.Kind == Onset || s.Kind == Voice || s.Kind == Typing:
		return 2
	case s.Kind == OtherAgent:
		return 1
	}
	return 0
}
