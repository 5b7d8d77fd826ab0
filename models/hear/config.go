package hear

import (
	"cmp"
	"errors"
	"time"

	"earshot/internal/audio"
	"earshot/internal/field"
)

// Config is how an ear listens. [DefaultConfig] has good values.
type Config struct {
	// Duck is how many of 5 frames in sequence, 100 ms, must be voiced for [Began].
	Duck int `yaml:"duck_frames"`

	// Begin is how many of 8 frames in sequence, 160 ms, must be voiced for
	// [Lasts].
	Begin int `yaml:"begin_frames"`

	// End is how much silence ends an utterance. The other fields apply when its words say more:
	// EndFinished after clearly complete words, such as a question, if the words have settled;
	// EndOpen in an open sentence, and in the first words of an answer; EndDictated while somebody
	// thinks, or dictates a number, an address, a date or letters; EndWait after "one moment". The
	// first is never longer than End, and the last two never shorter than EndOpen.
	End         field.Seconds `yaml:"end_seconds"`
	EndFinished field.Seconds `yaml:"end_finished_seconds"`
	EndOpen     field.Seconds `yaml:"end_open_seconds"`
	EndDictated field.Seconds `yaml:"end_dictated_seconds"`
	EndWait     field.Seconds `yaml:"end_wait_seconds"`

	// PreRoll is how much sound is kept from before the onset: words begin with consonants that no
	// detector takes for a voice.
	PreRoll field.Seconds `yaml:"pre_roll_seconds"`

	// Longest is the length at which an utterance is ended although the voice goes on.
	Longest field.Seconds `yaml:"longest_seconds"`

	// Margin is how much louder than the background a voice must be, in dB.
	Margin float64 `yaml:"margin_db"`
}

// DefaultConfig returns values that by measurement are quick and not nervous: a voice is noticed
// after 60 ms and believed after 100 ms, and a sentence is over at once when it is clearly
// finished, and otherwise when a pause for thought would be: most within sentences last 0.3 to 0.8
// s.
func DefaultConfig() Config {
	return Config{
		Duck: 3, Begin: 5,
		End: 0.86, EndFinished: 0.22, EndOpen: 0.9, EndDictated: 2, EndWait: 4,
		PreRoll: 0.3, Longest: 30,
		Margin: 9,
	}
}

// Validate returns every fault in c, each under its key.
func (c Config) Validate() error {
	return errors.Join(
		within("duck_frames", c.Duck, 1, duckOf),
		within("begin_frames", c.Begin, 1, beginOf),
		within("end_seconds", c.End, 0.1, 3),
		within("end_finished_seconds", c.EndFinished, 0.1, 3),
		within("end_open_seconds", c.EndOpen, c.End, 5),
		within("end_dictated_seconds", c.EndDictated, 0.1, 10),
		within("end_wait_seconds", c.EndWait, 0.1, 10),
		within("pre_roll_seconds", c.PreRoll, 0, 1),
		within("longest_seconds", c.Longest, 5, 30), // a recogniser keeps no more
		within("margin_db", c.Margin, 3, 30),
	)
}

// within returns a fault if v is not from least to most.
func within[T cmp.Ordered](key string, v, least, most T) error {
	if !(v >= least && v <= most) { // which NaN is not
		return field.Errorf(key, "is %v; must be from %v to %v", v, least, most)
	}
	return nil
}

// inFrames returns s in whole frames.
func inFrames(s field.Seconds) int64 {
	return int64((s.Duration() + audio.Time/2) / audio.Time)
}

// inTime returns how long n frames are.
func inTime(n int64) time.Duration { return time.Duration(n) * audio.Time }
