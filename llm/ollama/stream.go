package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/ollama/ollama/api"

	"earshot/llm"
)

// defaultTokens bounds a reply without a bound of its own, thoughts included: some 3,000 words, at
// ten tokens a second seven minutes. Without a number, Ollama lets a model that has lost its
// thread talk for ever.
const defaultTokens = 4096

// errLeft says that the caller left the loop.
var errLeft = errors.New("left the loop")

// Stream implements [llm.Service]. The request is closed as soon as ctx ends, even while the
// caller is busy with a piece.
func (e *Engine) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		name := e.model(req.Model)
		err := e.answer(ctx, name, req, func(d llm.Delta) error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if !yield(d, nil) {
				return errLeft
			}
			return nil
		})
		switch {
		case err == nil:
			e.did(name)
		case errors.Is(err, errLeft):
		case ctx.Err() != nil:
			yield(llm.Delta{}, context.Cause(ctx))
		default:
			e.forget(name)
			yield(llm.Delta{}, unquoted(e.fault(name, err), req))
		}
	}
}

// answer sends the request and passes the pieces of the reply to give, until that fails. It asks
// for thoughts and calls only if the model has those abilities. If the server disagrees, the model
// has been replaced since we asked.
func (e *Engine) answer(ctx context.Context, name string, req *llm.Request, give func(llm.Delta) error) error {
	if name == "" {
		return errNameless
	}
	can, err := e.ability(ctx, name)
	if err != nil {
		return err
	}
	if req.MustSee && !can.vision {
		return llm.ErrNoVision
	}
	req = llm.FitImages(req, can.vision)
	switch e.config.Tools {
	case llm.Native:
		can.tools = true
	case llm.BySchema:
		can.tools = false
	case llm.NoTools:
		can.tools, req = false, llm.WithoutTools(req)
	}
	for {
		switch err = e.chat(ctx, name, req, can, give); {
		case can.think && lacks(err, "thinking"):
			can.think = false
		case can.tools && lacks(err, "tools") && e.config.Tools != llm.Native:
			can.tools = false
		case errors.Is(err, llm.ErrNoChoice): // its server does not enforce the schema
			req = llm.WithoutTools(req)
		default:
			return err
		}
	}
}

// chat requests a reply to req, from a model with those abilities.
func (e *Engine) chat(ctx context.Context, name string, req *llm.Request, can modelCapabilities, give func(llm.Delta) error) error {
	think, choice := req.Think && can.think, false
	if !can.tools {
		req, choice = llm.EmulateTools(req)
	}
	c, err := request(name, req, think)
	if err != nil {
		return err
	}
	return e.ask(ctx, c, &llm.ReplyReader{Give: give, Choice: choice, Thoughts: llm.Thoughts{Opened: can.opened && !think, Leading: choice}})
}

// ask sends c and reads the reply, to its last line. The connection is free again, or closed, when
// it returns.
func (e *Engine) ask(ctx context.Context, c *api.ChatRequest, r *llm.ReplyReader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	body, err := e.post(ctx, "/api/chat", c)
	if err != nil {
		return err
	}
	defer body.Close()
	err = read(r, body)
	if err == nil {
		drain(body, cancel)
	}
	return err
}

// post sends a request to path, and returns the body of a successful answer.
func (e *Engine) post(ctx context.Context, path string, asked any) (io.ReadCloser, error) {
	data, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.base.JoinPath(path).String(), bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/x-ndjson")
	resp, err := e.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, refusal(resp)
	}
	return resp.Body, nil
}

// refusal returns a server's text with an unsuccessful status.
func refusal(resp *http.Response) error {
	refused := api.StatusError{StatusCode: resp.StatusCode}
	data, _ := io.ReadAll(io.LimitReader(resp.Body, llm.MaxHeader)) // half an explanation is ignored, which does no harm
	json.Unmarshal(data, &refused)                                  // anything but JSON is another server's page, and is not quoted
	return refused
}

// linger is how long a server may take to close a finished reply. It does so at once, and then the
// connection can be reused.
const linger = 100 * time.Millisecond

// drain reads what follows the end of a reply, which is nothing.
func drain(body io.Reader, cancel context.CancelFunc) {
	defer time.AfterFunc(linger, cancel).Stop()
	io.Copy(io.Discard, body)
}
