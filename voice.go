package earshot

import (
	"fmt"
	"time"
)

// A Stage is how far a voice that speaks has come.
type Stage string

// The stages, in the order in which they come. The last ends every voice that
// does not become an [Utterance].
const (
	VoiceBegan Stage = "began" // a voice may have begun; half of these are nothing
	VoiceLasts Stage = "lasts" // it is still there when a cough would be over
	VoiceWords Stage = "words" // Words were understood, as far as it goes
	VoiceCalls Stage = "calls" // Words are a phrase that was listened for, such as "stop talking"
	VoiceOver  Stage = "over"  // nothing came of it
)

// Speech says how far a voice has come, before it is known what it says. It is
// a signal for the floor and is not kept.
type Speech struct {
	Stage      Stage   `json:"stage"`
	Words      Text    `json:"words,omitempty"` // since the voice began; the next may revise them
	Confidence float64 `json:"confidence"`      // that Stage is right, 0 to 1
	Own        bool    `json:"own,omitempty"`   // the agent's own sound is audible where it was heard

	// Stable says that Words have not changed for a while and sound like all of
	// it: an answer to them may be prepared.
	Stable bool `json:"stable,omitempty"`

	// Pause says that the voice is silent for the moment after these Words, which sound as
	// if it will go on.
	Pause bool `json:"pause,omitempty"`

	// LikeAgent says that it sounds like the agent's own voice, and is not its sound
	// come back. The room fills it in.
	LikeAgent bool `json:"like_agent,omitempty"`

	// Voice is what it sounds like so far; nil if nobody can tell yet.
	Voice *Voice `json:"-"`
}

// An Utterance is one stretch of speech by one voice, as a recogniser
// understood it. It began at the At of its event.
type Utterance struct {
	Text       Text          `json:"text"`
	Confidence float64       `json:"confidence"`          // in the words, 0 to 1
	Lasted     time.Duration `json:"lasted"`              // from its first sound to its last
	Own        float64       `json:"own,omitempty"`       // how much of it fell together with the agent's own sound, 0 to 1
	Truncated  bool          `json:"truncated,omitempty"` // it was longer than an ear listens to at once
	Overlaps   bool          `json:"overlaps,omitempty"`  // somebody else spoke at the same time

	// Continues is the utterance before it of the same voice, which had only paused:
	// both are one sentence, and are answered as one. The room fills it in.
	Continues EventID `json:"continues,omitempty"`

	// Voice is what it sounded like; nil if there was too little of it. The room
	// asks whose it is, and writes it down nowhere.
	Voice *Voice `json:"-"`

	// Faint says that it is understood so little that it is not written down, but where
	// the agent asks back.
	Faint bool `json:"-"`

	// Speaker is whose voice it was taken for when it was written down, such as
	// voice:3, and Sure how likely that is, 0 to 1. The room fills them in; a
	// [Attribution] may know better later.
	Speaker Handle  `json:"speaker,omitzero"`
	Sure    float64 `json:"sure,omitempty"`

	// LikeAgent says that it sounded like the agent's own voice while that was silent:
	// a recording of it, or a machine with the same voice. It is nobody's who is known.
	// The room fills it in.
	LikeAgent bool `json:"like_agent,omitempty"`
}

// A Voice is what somebody sounds like, for who compares voices: how long it
// was heard, and numbers that mean nothing to others. It tells who somebody is,
// as a fingerprint does: it stands in no log and in no journal.
type Voice struct {
	Heard   time.Duration // of voice alone
	Print   []float32
	Channel string // what it was heard through, such as one microphone: the same voice differs between two

	// Overlapped says that somebody else was heard at the same time: it may be a mixture
	// of both, from which nothing is to be learnt.
	Overlapped bool
}

// Format prints nothing of the voice, for every verb: a print is a secret.
func (v Voice) Format(f fmt.State, _ rune) { fmt.Fprint(f, "a voice") }

// An Attribution says whose voice an utterance was, better than was known before. The
// last one counts. It changes what is shown and told to models, and gives nobody
// more rights and no sight of anything.
type Attribution struct {
	Of      EventID       `json:"of"`
	Speaker Handle        `json:"speaker,omitzero"` // empty: it is not known after all
	Author  ParticipantID `json:"author,omitempty"` // who that is; the room fills it in
	Sure    float64       `json:"sure"`             // 0 to 1
	By      ParticipantID `json:"by,omitempty"`     // who said so; empty if it was the voice itself
}
