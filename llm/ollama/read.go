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

// read passes on the pieces of a reply, with thoughts separate, then its calls, and its end last.
// A reply that does not say that it has ended is an error, however cleanly the server closed the
// connection.
func read(r *llm.ReplyReader, body io.Reader) error {
	calls := 0
	for lines := bufio.NewReader(body); ; {
		l, err := next(lines)
		if err != nil {
			return err
		}
		if err := l.give(r, &calls); err != nil {
			return err
		}
		if l.Done {
			return r.End(llm.Done{
				Truncated:    l.DoneReason == "length",
				PromptTokens: max(l.PromptEvalCount, 0),
				ReplyTokens:  max(l.EvalCount, 0),
			})
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

// give passes on the text in l, and keeps its calls, of which there were so many before. A line
// without content is a sign of life, and passed on as such.
func (l *line) give(r *llm.ReplyReader, calls *int) error {
	if l.Message.Thinking != "" || l.Message.Content == "" && !l.Done {
		if err := r.Think(l.Message.Thinking); err != nil {
			return err
		}
	}
	if err := r.Text(l.Message.Content); err != nil {
		return err
	}
	for _, c := range l.Message.ToolCalls { // complete, and not always numbered
		if err := r.Calls.Add(*calls, c.ID, c.Function.Name, string(c.Function.Arguments)); err != nil {
			return err
		}
		*calls++
	}
	return nil
}
