package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/respjson"

	"earshot/llm"
)

// grace is how long the server may take to end the stream of a complete reply: the token counts
// follow at once, or never.
const grace = 2 * time.Second

// Stream implements [llm.Service].
func (e *Engine) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		req, err := e.shown(ctx, req)
		if err == nil {
			err = e.adapt(ctx, req, yield)
		}
		if err != nil && err != errLeft {
			e.sightlessBy(err, req)
			yield(llm.Delta{}, e.fault(ctx, req, err))
		}
	}
}

// adapt requests a reply to req in the mode that its model is known to accept, and in others if it
// refuses that one before anything was said. It remembers the mode that worked.
func (e *Engine) adapt(ctx context.Context, req *llm.Request, yield func(llm.Delta, error) bool) error {
	w := e.way(req)
	for {
		suited, choice := w.apply(req, e.config.Tools)
		said := false
		err := e.answer(ctx, suited, choice, func(d llm.Delta, err error) bool {
			said = said || d != llm.Delta{}
			return yield(d, err)
		})
		if said || err == nil {
			e.takes(w, req)
		}
		if err == nil || said && !errors.Is(err, llm.ErrNoChoice) || !w.next(err, req, e.config.Tools) {
			return err
		}
	}
}

// answer requests a reply and passes it on.
func (e *Engine) answer(ctx context.Context, req *llm.Request, choice bool, yield func(llm.Delta, error) bool) error {
	r := &reply{ReplyReader: llm.ReplyReader{Choice: choice, Thoughts: llm.Thoughts{Leading: choice}}}
	r.Give = func(d llm.Delta) error {
		if !yield(d, nil) {
			return errLeft
		}
		return nil
	}
	if req.Whole {
		return e.whole(ctx, req, r)
	}
	return e.pieces(ctx, req, r)
}

// pieces requests a reply piece by piece. The connection is released when it returns.
func (e *Engine) pieces(ctx context.Context, req *llm.Request, r *reply) error {
	ctx, cancel := context.WithTimeoutCause(ctx, longest, errLongest)
	defer cancel()
	g := &guard{stream: true, cancel: cancel}
	s := e.chat.NewStreaming(ctx, e.params(req), option.WithMiddleware(g.do))
	defer s.Close()
	for s.Next() {
		chunk, finished := s.Current(), r.finished
		if err := r.chunk(&chunk); err != nil {
			return err
		}
		if r.finished && !finished {
			defer time.AfterFunc(grace, cancel).Stop()
		}
	}
	if !r.finished && !g.ended {
		return cmp.Or(context.Cause(ctx), broken(s.Err()), errUnfinished)
	}
	return r.End(r.done)
}

// whole requests a reply in one piece.
func (e *Engine) whole(ctx context.Context, req *llm.Request, r *reply) error {
	ctx, cancel := context.WithTimeoutCause(ctx, longest, errLongest)
	defer cancel()
	answer, err := e.chat.New(ctx, e.params(req), option.WithMiddleware(new(guard).do))
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	if answer == nil {
		return errNoAnswer
	}
	if len(answer.Choices) == 0 {
		if s := said(0, []byte(answer.RawJSON())); s.text != "" {
			return s
		}
		return errNoAnswer
	}
	choice := answer.Choices[0]
	m := choice.Message
	if err := r.take(m.JSON.ExtraFields, m.JSON.Content, m.Content+m.Refusal); err != nil {
		return err
	}
	for i, c := range m.ToolCalls {
		if err := r.Calls.Add(i, c.ID, c.Function.Name, c.Function.Arguments); err != nil {
			return err
		}
	}
	r.usage(answer.Usage)
	if err := r.finish(choice.FinishReason); err != nil {
		return err
	}
	return r.End(r.done)
}

// A reply is a reply being passed on.
type reply struct {
	llm.ReplyReader
	finished bool // the server said why it ended
	done     llm.Done
}

// chunk passes on the content of one event of a stream.
func (r *reply) chunk(c *openai.ChatCompletionChunk) error {
	r.usage(c.Usage)
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // nobody requested a second one
		}
		d := choice.Delta
		if err := r.take(d.JSON.ExtraFields, d.JSON.Content, d.Content+d.Refusal); err != nil {
			return err
		}
		for _, c := range d.ToolCalls {
			if err := r.Calls.Add(int(c.Index), c.ID, c.Function.Name, c.Function.Arguments); err != nil {
				return err
			}
			if err := r.Give(llm.Delta{}); err != nil { // a sign of life
				return err
			}
		}
		if choice.FinishReason != "" {
			r.finished = true
			return r.finish(choice.FinishReason)
		}
	}
	return nil
}

// take passes on a piece. Content is the JSON of its text: a number or a list there would be
// decoded as nothing.
func (r *reply) take(extra map[string]respjson.Field, content respjson.Field, text string) error {
	if raw := content.Raw(); raw != "" && raw != "null" && raw[0] != '"' {
		return errNoAnswer
	}
	if t := thinking(extra); t != "" {
		if err := r.Think(t); err != nil {
			return err
		}
	}
	if text == "" {
		return nil
	}
	return r.Text(text)
}

// finish records why the reply ended.
func (r *reply) finish(reason string) error {
	switch reason {
	case "length":
		r.done.Truncated = true
	case "content_filter":
		return errFiltered
	case "error": // from a server behind a gateway
		return errUnfinished
	}
	return nil
}

// usage records the tokens, which come once if at all.
func (r *reply) usage(u openai.CompletionUsage) {
	if u.PromptTokens != 0 || u.CompletionTokens != 0 {
		r.done.PromptTokens, r.done.ReplyTokens = int(u.PromptTokens), int(u.CompletionTokens)
	}
}

// thinking returns the thoughts that a server has separated from the text. The protocol has no
// field for them; two are in use, and some servers send the same in both.
func thinking(extra map[string]respjson.Field) string {
	for _, name := range []string{"reasoning_content", "reasoning"} {
		var text string
		if json.Unmarshal([]byte(extra[name].Raw()), &text) == nil && text != "" {
			return strings.ToValidUTF8(text, "\ufffd")
		}
	}
	return ""
}
