package ollama

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"earshot/llm"
)

// Faults of a reply, besides its limits.
var (
	errNoReply = errors.New("sent something that is not a reply of Ollama")
	errCut     = errors.New("the stream ended in the middle of the reply")
)

// A complaint is an error that the server sends within a reply.
type complaint string

// Error returns the server's text.
func (c complaint) Error() string { return string(c) }

// A line is one line of a reply: a piece of it, its end, or a complaint. It is the part of
// [github.com/ollama/ollama/api.ChatResponse] that we need, with the arguments of calls as the
// model wrote them.
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

// A reply is a reply being read.
type reply struct {
	thoughts llm.Thoughts
	calls    llm.Calls
	called   int
	give     func(llm.Delta) error
}

// read passes on the pieces of a reply, with thoughts separate, then its calls, and its end last.
// A reply that does not say that it has ended is an error, however cleanly the server closed the
// connection.
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

// next returns the next line. A reply in one piece is a line without a line end.
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
		return nil, errNoReply // the reason may quote the line
	}
	if l.Error != "" {
		return nil, complaint(l.Error)
	}
	return l, nil
}

// ended returns the meaning of the read error err.
func ended(err error) error {
	if err == io.EOF {
		return errCut
	}
	return err
}

// pieces passes on the text in l, and keeps its calls. A line without content is a sign of life,
// and passed on as such.
func (r *reply) pieces(l *line) error {
	if l.Message.Thinking != "" || l.Message.Content == "" && !l.Done {
		if err := r.give(llm.Delta{Thinking: l.Message.Thinking}); err != nil {
			return err
		}
	}
	if err := r.pass(r.thoughts.Next(l.Message.Content)); err != nil {
		return err
	}
	for _, c := range l.Message.ToolCalls { // complete, and not always numbered
		if err := r.calls.Add(r.called, c.ID, c.Function.Name, string(c.Function.Arguments)); err != nil {
			return err
		}
		r.called++
	}
	return nil
}

// end passes on what was kept, and the end in l.
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

// pass passes deltas on.
func (r *reply) pass(deltas []llm.Delta) error {
	for _, d := range deltas {
		if err := r.give(d); err != nil {
			return err
		}
	}
	return nil
}
