package llm

import (
	"encoding/base64"
	"errors"
	"strings"
)

// A Fault is the kind of failure of a request, by which callers decide what to do next.
type Fault string

// The faults.
const (
	Unreachable Fault = "unreachable" // no server answers
	NoModel     Fault = "no model"    // the server has no model of that name
	Unsupported Fault = "unsupported" // the model cannot do what was asked
	TooLong     Fault = "too long"    // the prompt exceeds the model's context
	Template    Fault = "template"    // the model's chat template accepts the prompt in no form
	NoMemory    Fault = "no memory"   // the server lacks memory for the model
	NoDisk      Fault = "disk full"   // the server lacks disk space for the model
	Stalled     Fault = "stalled"     // nothing came for too long
	Broken      Fault = "broken"      // the stream ended before the reply did
	Refused     Fault = "refused"     // the key is missing or wrong
	Busy        Fault = "busy"        // the server is overloaded
	BadAnswer   Fault = "bad answer"  // the answer does not follow the protocol
)

// An Error is a failed request. Its text never repeats a prompt or a reply.
type Error struct {
	Fault  Fault
	Engine string // its name for people
	Model  string // empty if no model is concerned
	Cure   string // what to do about it, as a command if there is one
	Err    error  // what the engine said; may be nil
}

// Error returns what happened, without the cure.
func (e *Error) Error() string {
	text := e.Engine + ": " + string(e.Fault)
	if e.Model != "" {
		text += " (model " + e.Model + ")"
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unquoted returns an error without what an engine said in its own words, which may quote the prompt: for
// the log, and for those who may not know what was asked.
func Unquoted(err error) error {
	e, faulty := errors.AsType[*Error](err)
	if !faulty {
		return err
	}
	brief := *e
	brief.Err = nil
	return &brief
}

// Unwrap returns what the engine said.
func (e *Error) Unwrap() error { return e.Err }

// ErrParked is the cause of a stream that ended because a request of higher priority needed its
// slot. What had come until then is still valid.
var ErrParked = errors.New("parked for a more urgent request")

// Repeats reports whether a server's line repeats a part of the text of req, so that it must not
// become part of an [Error]. A part is sixteen bytes, about three words; shorter ones occur in
// every sentence.
func Repeats(line string, req *Request) bool {
	const stretch = 16
	if req == nil {
		return false
	}
	for _, asked := range words(req) {
		if asked != "" && len(asked) < stretch && strings.Contains(line, asked) {
			return true
		}
		for i := 0; i+stretch <= len(line); i++ {
			if strings.Contains(asked, line[i:i+stretch]) {
				return true
			}
		}
	}
	return false
}

// words returns the text of the messages of req, and the arguments of its calls.
func words(req *Request) (all []string) {
	for _, m := range req.Messages {
		all = append(all, strings.Join(strings.Fields(m.Text), " "))
		for _, image := range m.Images {
			all = append(all, base64.StdEncoding.EncodeToString(image))
		}
		for _, c := range m.Calls {
			all = append(all, strings.Trim(string(c.Arguments), "{}"))
		}
	}
	return all
}
