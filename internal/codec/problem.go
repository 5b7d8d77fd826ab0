package codec

import "fmt"

// A Problem is what is wrong with a source.
type Problem string

// The problems.
const (
	Missing     Problem = "missing"     // there is no such file
	NoFile      Problem = "no file"     // it is a folder, a pipe or a device
	Empty       Problem = "empty"       // a file without a byte
	Forbidden   Problem = "forbidden"   // it may not be read
	Unreadable  Problem = "unreadable"  // damaged, or nothing that FFmpeg knows
	NoSound     Problem = "no sound"    // it can be read, and there is no sound in it
	NoDecoder   Problem = "no decoder"  // this FFmpeg does not know how its sound is coded
	TooMuch     Problem = "too much"    // streams, channels or samples a second
	TooLong     Problem = "too long"    // longer than was allowed
	Unreachable Problem = "unreachable" // the server is not there or refuses
	Silent      Problem = "silent"      // the server says nothing
	Broken      Problem = "broken"      // reading it failed on the way
	NoAddress   Problem = "no address"  // a URL that is none, or of a kind that is not allowed
)

// problems are how each is said, after the name of the source.
var problems = map[Problem]string{
	Missing:     "there is no such file",
	NoFile:      "is not a file",
	Empty:       "is empty",
	Forbidden:   "may not be read",
	Unreadable:  "is damaged, or is not a sound file",
	NoSound:     "has no sound in it",
	NoDecoder:   "has sound in an unknown format",
	TooMuch:     "is larger than allowed",
	TooLong:     "is too long",
	Unreachable: "cannot be reached",
	Silent:      "does not answer",
	Broken:      "broke off",
	NoAddress:   "is not an address that can be opened",
}

// known reports whether p is a problem that a helper may name.
func (p Problem) known() bool { _, ok := problems[p]; return ok }

// cures are the steps that mend a problem, for those that have one.
var cures = map[Problem]string{
	Forbidden:  "chmod u+r, or copy it to a folder that you may read",
	Unreadable: "play it with ffplay; if that works, convert it with ffmpeg -i FILE new.wav",
	NoDecoder:  "convert it with ffmpeg -i FILE new.wav, on a machine that can play it",
	TooMuch:    "convert it with ffmpeg -i FILE -ac 1 -ar 16000 new.wav",
	TooLong:    "cut it with ffmpeg -i FILE -t 3600 new.wav",
}

// An Error is a source that cannot be heard, or not to its end.
type Error struct {
	Source  string // its name, without what is secret in a URL
	Problem Problem
	Detail  string // more about it; may be empty
}

// Error says what is wrong with which source.
func (e *Error) Error() string {
	if e.Detail == "" {
		return fmt.Sprintf("%q %s", e.Source, problems[e.Problem])
	}
	return fmt.Sprintf("%q %s: %s", e.Source, problems[e.Problem], e.Detail)
}

// Cure says how to mend it, where that is known.
func (e *Error) Cure() string { return cures[e.Problem] }
