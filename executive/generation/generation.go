// Package generation streams the words of a reply from a language model: those that may be heard,
// asked for once more where that helps, continued after a cut, and with a sign to whoever waits for
// a model that stays silent. It says what went wrong in words that may be shown. It knows no room.
package generation

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/latency"
	"earshot/executive/turn"
	"earshot/llm"
)

// A Request is one question to the model, and its result besides words. It belongs to the goroutine
// that reads the words, and afterwards to whoever waited for that.
type Request struct {
	Prompt *llm.Request
	Model  llm.Service // with its tools
	Filter conversation.ReplyFilter
	Trace  *latency.Trace // of the turn; nil for what is answered within one
	Now    func() time.Time
	Log    *slog.Logger

	SlowAfter time.Duration // after which Slow is called if nothing has come yet; 0 means never
	Slow      func()

	Continues bool // it continues words that were said already, so it may have nothing to add

	// Parting is said, to To, in place of a reply that passes control without a word.
	Parting string
	To      earshot.ParticipantID

	// The result.
	Truncated bool // the reply ended at its length limit
	Halved    bool // the dialogue was too long for the model
	Passed    bool // Parting was said
}

// Words asks the model, and yields the part of its answer that may be heard. A prompt that is too
// long loses the older half of its dialogue until it fits, and a model that says nothing is asked
// once more.
func (g *Request) Words(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for mute := false; ; {
			said, err := g.ask(ctx, yield)
			fault, faulty := errors.AsType[*llm.Error](err)
			switch {
			case said || ctx.Err() != nil:
				return // err, if any, was yielded
			case g.Filter.Tags.Passed:
				g.Passed = true
				yield(g.Parting, nil)
				return
			case faulty && fault.Fault == llm.TooLong && g.shorten():
				g.Halved = true
			case err != nil:
				yield("", err)
				return
			case g.Continues:
				return
			case mute:
				yield("", errMute)
				return
			default:
				mute = true
			}
		}
	}
}

// ask asks once. It reports whether anything was yielded; an error before that is returned, one
// after it is yielded. It stops reading when the model passes control.
func (g *Request) ask(ctx context.Context, yield func(string, error) bool) (said bool, err error) {
	g.Filter.Restart()
	foreign, stray := g.Filter.Envelopes.Foreign, g.Filter.Tags.Stray
	defer func() {
		if n := g.Filter.Envelopes.Foreign - foreign; n > 0 {
			g.Log.Warn("the model put other people's names before its reply; they were removed", "count", n)
		}
		if n := g.Filter.Tags.Stray - stray; n > 0 {
			g.Log.Warn("the model wrote meaningless tags; they were removed", "count", n)
		}
	}()
	emit := func(text string) bool {
		said = said || text != ""
		return text == "" || yield(text, nil)
	}
	g.Trace.MarkRequest(g.Now())
	first, comes := true, g.warnWhenSlow()
	defer comes()
	for delta, err := range g.Model.Stream(ctx, g.Prompt) {
		comes()
		if first && err == nil {
			g.Trace.MarkFirstToken(g.Now())
			first = false
		}
		if err != nil {
			if said {
				yield("", err)
			}
			return said, err
		}
		g.Truncated = delta.Done != nil && delta.Done.Truncated
		if !emit(g.Filter.Next(delta.Text)) {
			return true, nil
		}
		if g.Filter.Tags.Passed {
			return said, nil
		}
	}
	emit(g.Filter.End())
	return said, nil
}

// warnWhenSlow calls Slow if the model says nothing for too long. The returned function must be
// called when something has come.
func (g *Request) warnWhenSlow() (comes func()) {
	if g.SlowAfter <= 0 {
		return func() {}
	}
	t := time.AfterFunc(g.SlowAfter, g.Slow)
	return func() { t.Stop() }
}

// shorten drops the older half of the dialogue, except the last two messages: the question, and the
// situation. It reports whether there was anything to drop.
func (g *Request) shorten() bool {
	prompt, shorter := g.Prompt.Shorten(2)
	if shorter {
		g.Prompt = prompt
	}
	return shorter
}

// Resume yields the words that continue a reply which was cut off: first rest, which is kept of it,
// and then what the model adds, in words, without what repeats the rest. If that adds nothing, last
// is said, the part of the reply with which a model could have continued.
func Resume(ctx context.Context, rest, last string, words iter.Seq2[string, error]) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if rest != "" && !yield(rest, nil) {
			return
		}
		c := conversation.NewContinuation(rest)
		more, blank := false, "" // the model has added something; the space before that
		for text, err := range words {
			if err != nil && !more && last != "" && !yield(last, nil) {
				return
			}
			text, blank = blank+c.Next(text), ""
			if !more && strings.TrimSpace(text) == "" {
				text, blank = "", text
			}
			more = more || text != ""
			if (text != "" || err != nil) && !yield(text, err) || err != nil {
				return
			}
		}
		text := blank + c.End()
		if !more && strings.TrimSpace(text) == "" {
			text = last
		}
		if text != "" && ctx.Err() == nil {
			yield(text, nil)
		}
	}
}

// Fixed returns words that need no model.
func Fixed(text string) func(context.Context) iter.Seq2[string, error] {
	return func(context.Context) iter.Seq2[string, error] {
		return func(yield func(string, error) bool) { yield(text, nil) }
	}
}

// Unable returns the words of a reply for which there is no model: [ErrNoModel].
func Unable(context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) { yield("", ErrNoModel) }
}

// ErrNoModel says that there is no model for something that needs one.
var ErrNoModel = errors.New("no language model is set up")

// errMute says that the model returned nothing, twice.
var errMute = errors.New("the model returned nothing, twice")

// FaultKey is the key of the faults of the model.
const FaultKey = "model"

// FaultKind returns what went wrong, for the log and for those who may not know what was asked: a
// server may quote the prompt in its own words, so those do not get there.
func FaultKind(err error) string {
	switch e, faulty := errors.AsType[*llm.Error](err); {
	case faulty:
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
	switch e, faulty := errors.AsType[*llm.Error](err); {
	case faulty:
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
