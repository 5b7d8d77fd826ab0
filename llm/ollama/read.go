package ollama

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"earshot/llm"
)

// What can be wrong with a reply, beside its limits.
var (
	errNoReply = errors.New("sent something that is not a reply of Ollama")
	errCut     = errors.New("the stream ended in the middle of the reply")
)

// A complaint is an error that the server sends in the stream of a reply.
type complaint string

// Error returns what the server said.
func (c complaint) Error() string { return string(c) }

// A line is one line of a reply: a piece of it, its end, or a complaint. It is
// an [github.com/ollama/ollama/api.ChatResponse] as far as it concerns us, with the arguments of calls as
// the model wrote them.
type line struct {
	Message struct {
		Content   string `json:"content"`
		Thinking  string `json:"thinking"`
		ToolCalls []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
	Done            bool   `json:"done"`
	DoneReason      string `json:"done_reason"`
	PromptEvalCount int    `json:"prompt_eval_count"`
	EvalCount       int    `json:"eval_count"`
	Error           string `json:"error"`
}

// A reply is one that is being read.
type reply struct {
	thoughts llm.Thoughts
	calls    llm.Calls
	called   int
	give     func(llm.Delta) error
}

// read hands on the pieces of a reply, thoughts apart, its calls behind them,
// and the end of it last. A reply that does not say that it has ended is an
// error, however politely the server closed the connection.
func (r *reply) read(body io.Reader) error {
	lines := bufio.NewReader(body)
	for {
		l, err := next(lines)
		if err != nil {
			return err
		}
		if err := r.pieces(l); err != nil {
			return err
		}
		if l.Done {
			return r.end(l)
		}
	}
}

// next returns the next line. A reply in one piece is a line without an end.
func next(lines *bufio.Reader) (*line, error) {
	var data []byte
	var err error
	for len(data) == 0 && err == nil {
		data, err = lines.ReadBytes('\n') // bounded by [limits]
		data = bytes.TrimSpace(data)
	}
	if err != nil && (err != io.EOF || len(data) == 0) {
		return nil, ended(err)
	}
	l := new(line)
	if json.Unmarshal(data, l) != nil {
		if err == io.EOF && data[0] == '{' {
			return nil, errCut
		}
		return nil, errNoReply // the reason may quote what was said
	}
	if l.Error != "" {
		return nil, complaint(l.Error)
	}
	return l, nil
}

// ended returns what it means that reading failed with err.
func ended(err error) error {
	if err == io.EOF {
		return errCut
	}
	return err
}

// pieces hands on what l says, and keeps what it calls. A line that says nothing
// is a sign of life, and handed on as such.
func (r *reply) pieces(l *line) error {
	if l.Message.Thinking != "" || l.Message.Content == "" && !l.Done {
		if err := r.give(llm.Delta{Thinking: l.Message.Thinking}); err != nil {
			return err
		}
	}
	if err := r.pass(r.thoughts.Next(l.Message.Content)); err != nil {
		return err
	}
	for _, c := range l.Message.ToolCalls { // whole, and not always numbered
		if err := r.calls.Add(r.called, c.ID, c.Function.Name, string(c.Function.Arguments)); err != nil {
			return err
		}
		r.called++
	}
	return nil
}

// end hands on what was kept, and the end that l is.
func (r *reply) end(l *line) error {
	done := &llm.Done{
		Truncated:    l.DoneReason == "length",
		PromptTokens: max(l.PromptEvalCount, 0),
		ReplyTokens:  max(l.EvalCount, 0),
	}
	if err := r.pass(r.thoughts.End()); err != nil {
		return err
	}
	calls, err := r.calls.End(done.Truncated)
	if err != nil {
		return err
	}
	return r.pass(append(calls, llm.Delta{Done: done}))
}

// pass hands deltas on.
func (r *reply) pass(deltas []llm.Delta) error {
	for _, d := range deltas {
		if err := r.give(d); err != nil {
			return err
		}
	}
	return nil
}
