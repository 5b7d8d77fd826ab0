package openai

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"earshot/internal/lazyregexp"
	"earshot/llm"
)

// Violations in a stream, and causes of its end.
var (
	errUnfinished = errors.New("the stream ended before the reply did")
	errFiltered   = errors.New("the server's filter ended the reply")
	errNoAnswer   = errors.New("the answer does not follow the protocol")
	errLongest    = fmt.Errorf("took longer than %v", longest)
	errLeft       = errors.New("the reader has left")
)

// A status is a server's refusal.
type status struct {
	code int    // 0 if it came within a stream
	kind string // its own code or type for it, and other hints about the subject
	text string // its own text
}

// Error returns only the status: the text may repeat the prompt.
func (s *status) Error() string {
	if s.code == 0 {
		return "an error in the stream"
	}
	return strings.TrimSpace(fmt.Sprint(s.code, " ", http.StatusText(s.code)))
}

// newStatus reads the server's explanation of its refusal.
func newStatus(resp *http.Response) *status {
	page, _ := io.ReadAll(io.LimitReader(resp.Body, maxFault)) // half a sentence is better than none
	return said(resp.StatusCode, page)
}

// said parses the various forms of servers' error messages.
func said(code int, page []byte) *status {
	s := &status{code: code}
	var answer struct {
		Error   json.RawMessage `json:"error"`
		Message any             `json:"message"`
		Detail  any             `json:"detail"`
	}
	var detail struct {
		Message  any `json:"message"`
		Code     any `json:"code"`
		Type     any `json:"type"`
		Metadata struct {
			Raw any `json:"raw"` // from the server behind a gateway
		} `json:"metadata"`
	}
	if json.Unmarshal(page, &answer) != nil {
		if plain := strings.TrimSpace(string(page)); !strings.HasPrefix(plain, "<") { // otherwise it is a page for people
			s.kind = plain // from an unknown source, so it is not quoted
		}
		return s
	}
	var plain string
	switch {
	case json.Unmarshal(answer.Error, &plain) == nil && plain != "":
		s.text = plain
	case json.Unmarshal(answer.Error, &detail) == nil:
		raw := text(detail.Metadata.Raw)
		inner := said(code, []byte(raw))
		s.text, s.kind = cmp.Or(inner.text, text(detail.Message)), strings.Join([]string{text(detail.Code), text(detail.Type), inner.kind, raw}, " ")
	default:
		s.text = text(answer.Message) + text(answer.Detail)
	}
	if i := strings.LastIndex(s.text, raised); i > 0 { // it follows some lines of the template
		s.text = s.text[i:]
	}
	return s
}

// raised precedes a template's own message in llama.cpp.
const raised = "Jinja Exception: "

// text returns v if it is a string.
func text(v any) string {
	s, _ := v.(string)
	return s
}

// fault returns the fault that ended req, with its cure, or the cause of ctx.
func (e *Engine) fault(ctx context.Context, req *llm.Request, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	f := &llm.Error{Fault: llm.Broken, Engine: e.Name(), Model: e.model(req), Err: errNoAnswer}
	var refusal *status
	switch {
	case errors.As(err, &refusal):
		f.Fault, f.Cure = e.refused(refusal)
		if req != nil && llm.Shows(req) && refusal.refusesPictures() {
			f.Fault, f.Cure = llm.Unsupported, "choose an executive.llm.model that can look at pictures, or set vision: false"
		}
		f.Err = quoted(refusal, req)
	case one(err, errUnfinished, errFiltered, errWhole) != nil:
		f.Err = one(err, errUnfinished, errFiltered, errWhole)
	case errors.Is(err, llm.ErrNoVision):
		f.Fault, f.Err, f.Cure = llm.Unsupported, err, "choose an executive.llm.model that can look at pictures; if it can, set vision: true"
	case errors.Is(err, errLongest):
		f.Fault, f.Err, f.Cure = llm.Stalled, errLongest, "choose a smaller model: executive.llm.model"
	case errors.Is(err, llm.ErrCall):
		f.Fault, f.Err, f.Cure = llm.BadAnswer, err, "choose another executive.llm.model, or set executive.llm.tools to none"
	case errors.Is(err, http.ErrSchemeMismatch):
		f.Fault, f.Err, f.Cure = llm.BadAnswer, http.ErrSchemeMismatch, "begin executive.llm.host with http://"
	case unreachable(err):
		f.Fault, f.Model, f.Err = llm.Unreachable, "", err
		if u, ok := errors.AsType[*url.Error](err); ok {
			f.Err = u.Err // without the address, which is in the engine's name already
		}
		f.Cure = "start the server, or set executive.llm.host: nothing answers at " + e.base.Host
	case lost(err):
		f.Err = errUnfinished
	default:
		f.Fault, f.Cure = llm.BadAnswer, "set executive.llm.host to a server that speaks OpenAI's protocol"
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			err = llm.ErrReply
		}
		if known := one(err, llm.ErrLine, llm.ErrReply, llm.ErrRedirect, errPage); known != nil {
			f.Err = known
		}
	}
	return f
}

// A refusalReason is why a server refuses a request.
type refusalReason int

// The reasons. Only some servers send a code for a few of them; mostly the text must be matched.
const (
	something  refusalReason = iota
	order                    // the template: the order of messages and roles
	systemless               // the template: it accepts no system message
	template                 // the template: anything else
	length
	memory
	model
	key
	credit
	busy
	loading
	tools
	schema
)

// sayings match servers' texts for each reason; the first match counts. Templates name tools among
// the roles that must alternate, and servers mention a template in which tools fail.
var sayings = []struct {
	of   refusalReason
	says *lazyregexp.Regexp
}{
	{length, lazyregexp.New(`context[_ ](length|size|window)|maximum context|exceed_context|maximum (sequence|model) length|(prompt|input) is too long|max_new_tokens`)},
	{memory, lazyregexp.New(`out ?of ?memory|(insufficient|not enough|more) (system )?(memory|resources)|(failed to|cannot) allocate|cudamalloc|bad_alloc`)},
	{credit, lazyregexp.New(`insufficient_quota|current quota|billing|insufficient (credits|balance|funds)`)},
	{systemless, lazyregexp.New(`system['"]? (role|message|prompt|instruction)s?\b.{0,20}\bnot (be )?(supported|enabled|allowed)|not support.{0,20}\bsystem\b|(developer|system) instruction`)},
	{order, lazyregexp.New(`\broles?\b|alternat(e|es|ing)\b|interleave|(successive|consecutive|adjacent) (user|assistant|system|messages)|(system|user) (message|prompt|turn)|user query|message order|call ids should|(message|turn) must be (from|by|a user)|assistant messages at the end|response prefill|single tool-call`)},
	{tools, lazyregexp.New(`tool`)},
	{template, lazyregexp.New(`jinja|(chat|prompt)[ _]template|template ?error`)},
	{model, noModel},
	{schema, lazyregexp.New(`json[_ ]schema|response_format|grammar|structured output`)},
}

// noModel matches servers' texts about a model that they do not have, or have not loaded.
var noModel = lazyregexp.New(`model_not_found|(no such|invalid|unknown) model|model.{0,120}(not found|not exist|not available)|not a valid model|no models? (is |are )?(currently )?loaded|model is not loaded|failed to load model`)

// about returns the reason of s.
func (s *status) about() refusalReason {
	switch s.code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return key
	case http.StatusPaymentRequired:
		return credit
	case http.StatusRequestEntityTooLarge:
		return length
	}
	said := strings.ToLower(s.kind + " " + s.text)
	if (s.code == http.StatusNotFound || strings.Contains(said, "model_not_found")) && noModel.MatchString(said) {
		return model // the model's name may contain any of the other words
	}
	for _, sign := range sayings {
		if sign.says.MatchString(said) && (!s.limits() || sign.of == credit || sign.of == memory) {
			return sign.of
		}
	}
	switch {
	case s.limits() && strings.Contains(said, "loading"):
		return loading
	case s.limits():
		return busy
	case s.code == http.StatusNotFound:
		return model
	}
	return something
}

// limits reports whether the server would answer at another time.
func (s *status) limits() bool {
	return s.code == http.StatusTooManyRequests || s.code == http.StatusServiceUnavailable || s.code == http.StatusRequestTimeout
}

// refused returns the meaning of a refusal, and its cure.
func (e *Engine) refused(s *status) (llm.Fault, string) {
	switch s.about() {
	case order, systemless, template:
		return llm.Template, "start the server with the chat template that belongs to the model, or choose another executive.llm.model"
	case length:
		return llm.TooLong, "start the server with a larger context, or choose another executive.llm.model"
	case memory:
		return llm.NoMemory, "choose a smaller executive.llm.model, start the server with a smaller context, or end what else fills its memory"
	case model:
		return llm.NoModel, "set executive.llm.model to one that `earshot doctor` lists; or executive.llm.host, if it lists none"
	case key:
		return llm.Refused, "set executive.llm.api_key to a key that " + e.base.Host + " accepts"
	case credit:
		return llm.Busy, "the account has nothing left; pay, or set executive.llm.host to another server"
	case busy:
		return llm.Busy, "wait, or lower executive.llm.slots"
	case loading:
		return llm.Busy, "wait until the server has loaded the model"
	case tools:
		return llm.Unsupported, "set executive.llm.tools to schema or none, or choose another executive.llm.model"
	case schema:
		return llm.Unsupported, "set executive.llm.tools to native or none, since the server cannot keep a reply to a schema; or choose another executive.llm.model"
	}
	switch {
	case s.code == http.StatusBadRequest, s.code == http.StatusUnprocessableEntity:
		return llm.Unsupported, "choose another executive.llm.model"
	case s.code >= http.StatusInternalServerError || s.code == 0:
		return llm.Broken, ""
	}
	return llm.BadAnswer, "set executive.llm.host to a server that speaks OpenAI's protocol"
}

// refusesPictures reports whether the server's text says that it cannot look at pictures. There is
// no code for that either.
func (s *status) refusesPictures() bool {
	switch s.code {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusNotImplemented:
		said := strings.ToLower(s.kind + " " + s.text)
		return strings.Contains(said, "image") || strings.Contains(said, "vision") || strings.Contains(said, "multimodal") || strings.Contains(said, "mmproj")
	}
	return false
}

// one returns the known error that err is.
func one(err error, known ...error) error {
	for _, k := range known {
		if errors.Is(err, k) {
			return k
		}
	}
	return nil
}

// unreachable reports whether err says that nobody answers at all, or nobody who can be trusted.
func unreachable(err error) bool {
	_, stranger := errors.AsType[*tls.CertificateVerificationError](err)
	return stranger || llm.NobodyAnswers(err)
}

// lost reports whether err is a broken connection.
func lost(err error) bool {
	_, ok := errors.AsType[*net.OpError](err)
	return ok || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// quoted returns s with the server's text, as one printable line, unless that repeats the request.
func quoted(s *status, req *llm.Request) error {
	line := strings.TrimSpace(llm.Printable(s.text))
	if line == "" || strings.HasPrefix(line, "<") || llm.Repeats(line, req) {
		return errors.New(s.Error()) // not s, which contains the text
	}
	return errors.New(s.Error() + ": " + line)
}
