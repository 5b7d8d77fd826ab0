package generation

import (
	"errors"

	"earshot"
	"earshot/executive/turn"
	"earshot/llm"
)

// ErrNoModel says that there is no model for something that needs one.
var ErrNoModel = errors.New("no language model is set up")

// errMute says that the model returned nothing, twice.
var errMute = errors.New("the model returned nothing, twice")

// FaultKey is the key of the faults of the model.
const FaultKey = "model"

// FaultKind returns what went wrong, for the log and for those who may not know what was asked: a
// server may quote the prompt in its own words, so those do not get there.
func FaultKind(err error) string {
	var e *llm.Error
	switch {
	case errors.As(err, &e):
		return e.Engine + ": " + string(e.Fault)
	case errors.Is(err, turn.ErrUnheard), errors.Is(err, ErrNoModel), errors.Is(err, errMute), errors.Is(err, llm.ErrParked):
		return err.Error()
	}
	return "the model failed in an unknown way"
}

// FaultNotice returns what is wrong with the model, and the cure, for those who may know what was
// asked.
func FaultNotice(err error) earshot.Notice {
	n := earshot.Notice{Key: FaultKey, Text: err.Error()}
	var e *llm.Error
	switch {
	case errors.As(err, &e):
		if e.Fault == llm.Unreachable { // how the connection failed is for the log
			brief := *e
			brief.Err = nil
			e = &brief
		}
		n.Text, n.Cure = e.Error(), e.Cure
	case errors.Is(err, ErrNoModel):
		n.Cure = "install Ollama, then run: ollama pull llama3.2"
	}
	return n
}
