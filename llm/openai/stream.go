package openai

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"time"

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
	body, err := e.ask(ctx, "chat/completions", e.params(req), true)
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	defer body.Close()
	ended := false
	for data, failed := range events(body) {
		if ended = string(data) == lastEvent; ended {
			defer time.AfterFunc(linger, cancel).Stop()
			io.CopyN(io.Discard, body, 1<<10) // the end of the last chunk is a few bytes; then the connection can be reused
			break
		}
		var c answer
		if err = cmp.Or(failed, c.parse(data)); err != nil {
			break
		}
		finished := r.finished
		if err := r.take(&c); err != nil {
			return err
		}
		if r.finished && !finished {
			defer time.AfterFunc(grace, cancel).Stop()
		}
	}
	if !r.finished && !ended {
		return cmp.Or(context.Cause(ctx), err, errUnfinished)
	}
	return r.End(r.done)
}

// lastEvent is the data of the event that ends a stream.
const lastEvent = "[DONE]"

// events yields the data of the events of a stream, each valid until the next, and an error at most
// once, last.
func events(body io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewScanner(body)
		lines.Buffer(nil, llm.MaxLine+len("\r\n"))
		var data []byte
		for lines.Scan() {
			value, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
			value = bytes.TrimPrefix(value, []byte(" "))
			last := ok && string(value) == lastEvent
			if (last || len(lines.Bytes()) == 0) && len(data) > 0 {
				if !yield(data, nil) {
					return
				}
				data = data[:0]
			}
			if last {
				yield(value, nil)
				return
			}
			if ok {
				data = append(append(data, value...), '\n')
			}
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(nil, llm.ErrLine)
		case err != nil:
			yield(nil, err)
		}
	}
}

// whole requests a reply in one piece.
func (e *Engine) whole(ctx context.Context, req *llm.Request, r *reply) error {
	ctx, cancel := context.WithTimeoutCause(ctx, longest, errLongest)
	defer cancel()
	var a answer
	raw, err := e.fetch(ctx, "chat/completions", e.params(req), &a)
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	if len(a.Choices) == 0 {
		if s := said(0, raw); s.text != "" {
			return s
		}
		return errNoAnswer
	}
	first := &a.Choices[0]
	first.Index, first.Delta = 0, first.Message
	for i := range first.Delta.ToolCalls {
		first.Delta.ToolCalls[i].Index = i
	}
	if err := r.take(&a); err != nil {
		return err
	}
	return r.End(r.done)
}

// An answer is a reply in the protocol: all of it, or an event of a stream.
type answer struct {
	Error   json.RawMessage `json:"error"`
	Choices []struct {
		Index        int         `json:"index"`
		Delta        messageBody `json:"delta"`
		Message      messageBody `json:"message"` // in place of Delta in a whole reply
		FinishReason string      `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
	} `json:"usage"`
}

// A messageBody is what the model says, or a piece of it. The protocol has no field for thoughts that the
// server separates from the text; two are in use, and some servers send the same in both.
type messageBody struct {
	Content          any        `json:"content"`
	Refusal          any        `json:"refusal"`
	ReasoningContent any        `json:"reasoning_content"`
	Reasoning        any        `json:"reasoning"`
	ToolCalls        []toolCall `json:"tool_calls"`
}

// A toolCall is a call, or a piece of it.
type toolCall struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Function *struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // a text; some servers send the object itself
	} `json:"function"`
}

// parse parses an event. One that tells of an error is that error.
func (a *answer) parse(data []byte) error {
	if err := unmarshal(data, a); err != nil {
		return err
	}
	if a.Error != nil {
		return said(0, data)
	}
	return nil
}

// unmarshal parses data. Servers are not strict with types: a field that has another one is left
// empty.
func unmarshal(data []byte, into any) error {
	err := json.Unmarshal(data, into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return nil
	}
	return err
}

// A reply is a reply being passed on.
type reply struct {
	llm.ReplyReader
	finished bool // the server said why it ended
	done     llm.Done
}

// take passes on the content of a, and records the tokens, which come once if at all.
func (r *reply) take(a *answer) error {
	if u := a.Usage; u.PromptTokens != 0 || u.CompletionTokens != 0 {
		r.done.PromptTokens, r.done.ReplyTokens = u.PromptTokens, u.CompletionTokens
	}
	for _, choice := range a.Choices {
		if choice.Index != 0 {
			continue // nobody requested a second one
		}
		if err := r.say(&choice.Delta); err != nil {
			return err
		}
		if choice.FinishReason != "" {
			r.finished = true
			return r.finish(choice.FinishReason)
		}
	}
	return nil
}

// say passes on a piece.
func (r *reply) say(s *messageBody) error {
	if _, ok := s.Content.(string); !ok && s.Content != nil {
		return errNoAnswer
	}
	if t := cmp.Or(text(s.ReasoningContent), text(s.Reasoning)); t != "" {
		if err := r.Think(t); err != nil {
			return err
		}
	}
	if t := text(s.Content) + text(s.Refusal); t != "" {
		if err := r.Text(t); err != nil {
			return err
		}
	}
	for _, c := range s.ToolCalls {
		if c.Function == nil {
			continue
		}
		var arguments string
		if json.Unmarshal(c.Function.Arguments, &arguments) != nil {
			arguments = string(c.Function.Arguments)
		}
		if err := r.Calls.Add(c.Index, c.ID, c.Function.Name, arguments); err != nil {
			return err
		}
		if err := r.Give(llm.Delta{}); err != nil { // a sign of life
			return err
		}
	}
	return nil
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
