package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/ollama/ollama/api"

	"earshot/llm"
)

// errNameless says that neither the request nor the configuration names a model.
var errNameless = errors.New("no model is named")

// fault converts err to a fault, with its cure.
func (e *Engine) fault(name string, err error) *llm.Error {
	f := &llm.Error{Fault: llm.Broken, Engine: e.Name(), Model: name, Err: plain(err)}
	status, refused := errors.AsType[api.StatusError](err)
	_, stranger := errors.AsType[api.AuthorizationError](err)
	complained, _ := errors.AsType[complaint](err)
	switch {
	case errors.Is(err, errNameless):
		f.Fault, f.Cure = llm.NoModel, "set executive.llm.model; `ollama list` shows those installed"
	case stranger:
		f.Fault, f.Cure = llm.Refused, "ollama signin"
	case refused:
		f.Fault, f.Cure = e.refused(name, status)
	case complained != "":
		f.Fault, f.Cure = complainedOf(string(complained), llm.Broken)
	case errors.Is(err, llm.ErrCall):
		f.Fault, f.Cure = llm.BadAnswer, "set executive.llm.model to one that can call tools; `earshot doctor` shows which can"
	case errors.Is(err, llm.ErrNoVision):
		f.Fault, f.Cure = llm.Unsupported, "set executive.llm.model to one that can look at pictures; `earshot doctor` says whether it can"
	case errors.Is(err, errTool):
		f.Fault = llm.Unsupported
	case violation(err) != nil:
		f.Fault, f.Cure = llm.BadAnswer, e.elsewhere()
	case llm.NobodyAnswers(err):
		f.Fault, f.Cure, f.Model = llm.Unreachable, e.start(), ""
	case timedOut(err):
		f.Fault, f.Cure = llm.Stalled, "ollama stop "+name
	}
	return f
}

// unquoted returns f without the server's sentence, if that repeats the request.
func unquoted(f *llm.Error, req *llm.Request) *llm.Error {
	if f.Err != nil && llm.Repeats(f.Err.Error(), req) {
		f.Err = errors.New("it repeats the question")
	}
	return f
}

// refused returns the meaning of a status, and its cure.
func (e *Engine) refused(name string, s api.StatusError) (llm.Fault, string) {
	switch s.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return llm.Refused, "ollama signin"
	case http.StatusNotFound:
		if strings.Contains(s.ErrorMessage, "model") {
			return llm.NoModel, "earshot models list   (choose one with: earshot models use NAME), or: ollama pull " + name
		}
		return llm.BadAnswer, e.elsewhere()
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return llm.Busy, "wait, or `OLLAMA_NUM_PARALLEL=2 ollama serve`"
	case http.StatusBadRequest:
		return complainedOf(s.ErrorMessage, llm.Unsupported)
	}
	if s.StatusCode >= http.StatusInternalServerError {
		return complainedOf(s.ErrorMessage, llm.Broken)
	}
	return llm.BadAnswer, e.elsewhere()
}

// A meaning is what a part of an error text of Ollama's means.
type meaning struct {
	says  string
	fault llm.Fault
	cure  string
}

// complaints are the meanings of Ollama's error texts; the first match counts.
var complaints = []meaning{
	{"exceeds the context length", llm.TooLong, "OLLAMA_CONTEXT_LENGTH=16384 ollama serve"},
	{"exceeds maximum context", llm.TooLong, "OLLAMA_CONTEXT_LENGTH=16384 ollama serve"},
	{"more system memory", llm.Unsupported, "set executive.llm.model to a smaller one; `ollama list` shows those installed"},
	{"invalid model name", llm.NoModel, "set executive.llm.model; `ollama list` shows those installed"},
	{"does not support", llm.Unsupported, "set executive.llm.model to another; `ollama list` shows those installed"},
	{"schema", llm.Unsupported, ""},
	{"grammar", llm.Unsupported, ""},
}

// complainedOf returns the meaning of a complaint, or otherwise the usual one.
func complainedOf(text string, usual llm.Fault) (llm.Fault, string) {
	return meant(complaints, text, usual, "")
}

// meant returns the first of some meanings that a text has, or otherwise the usual one.
func meant(meanings []meaning, text string, usual llm.Fault, cure string) (llm.Fault, string) {
	for _, m := range meanings {
		if strings.Contains(text, m.says) {
			return m.fault, m.cure
		}
	}
	return usual, cure
}

// lacks reports whether the server says that the model does not support something.
func lacks(err error, what string) bool {
	s, ok := errors.AsType[api.StatusError](err)
	return ok && s.StatusCode == http.StatusBadRequest && strings.Contains(s.ErrorMessage, "does not support "+what)
}

// violation returns what shows that the server is not Ollama, or broken, without the page that err
// may quote; nil if nothing does.
func violation(err error) error {
	for _, is := range []error{llm.ErrLine, llm.ErrReply, llm.ErrRedirect} {
		if errors.Is(err, is) {
			return is
		}
	}
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, wrong := errors.AsType[*json.UnmarshalTypeError](err)
	text := err.Error() // net/http has no types for these
	if errors.Is(err, errNoReply) || syntax || wrong || strings.Contains(text, "malformed HTTP") || strings.Contains(text, "headers exceeded") {
		return errNoReply
	}
	return nil
}

// timedOut reports whether err says that the server took too long.
func timedOut(err error) bool {
	slow, ok := errors.AsType[net.Error](err)
	return errors.Is(err, context.DeadlineExceeded) || ok && slow.Timeout()
}

// start says how to get a server where none is running.
func (e *Engine) start() string {
	if loopback(e.base) {
		return "ollama serve"
	}
	return fmt.Sprintf("set executive.llm.host, or run `OLLAMA_HOST=0.0.0.0 ollama serve` on %s", e.base.Hostname())
}

// elsewhere says what to do about a server that is not Ollama.
func (e *Engine) elsewhere() string {
	return fmt.Sprintf("set executive.llm.host: what answers at %s is not Ollama", e.base.Host)
}

// plain returns err in a form that anybody may see. A server that is not Ollama may send anything,
// even what it was sent: only a sentence in the place where Ollama puts one is quoted, without
// control characters and shortened.
func plain(err error) error {
	if s, ok := errors.AsType[api.StatusError](err); ok {
		text := fmt.Sprint(s.StatusCode, " ", http.StatusText(s.StatusCode))
		if said := sentence(s.ErrorMessage); said != "" {
			text += ": " + said
		}
		return errors.New(strings.TrimSpace(text))
	}
	if c, ok := errors.AsType[complaint](err); ok {
		return errors.New(sentence(string(c)))
	}
	if known := violation(err); known != nil {
		return known
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err // without the address, which is in the engine's name already
	}
	return err
}

// sentence returns the server's text as one printable line, or "" if it begins like a page or an
// object.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "<") || strings.HasPrefix(text, "{") {
		return ""
	}
	return llm.Printable(text)
}
