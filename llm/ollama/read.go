package ollama

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/ollama/ollama/api"

	"earshot/llm"
)

// What can be wrong with a reply, beside its limits.
var (
	errNoReply = errors.New("sent what is not a reply of Ollama's")
	errCut     = errors.New("the stream ended in mid-reply")
)

// A complaint is an error that the server sends in the stream of a reply.
type complaint string

// Error returns what the server said.
func (c complaint) Error() string { return string(c) }

// A line is one line of a reply: a piece of it, its end, or a complaint.
type line struct {
	api.ChatResponse
	Error string `json:"error"`
}

// read hands the pieces of a reply to give, thoughts apart, and the end of it
// last. A reply that does not say that it has ended is an error, however
// politely the server closed the connection.
func read(body io.Reader, thoughts *llm.Thoughts, give func(llm.Delta) error) error {
	lines := bufio.NewReader(body)
	for {
		l, err := next(lines)
		if err != nil {
			return err
		}
		if err := pieces(l, thoughts, give); err != nil {
			return err
		}
		if l.Done {
			return give(llm.Delta{Done: &llm.Done{
				Truncated:    l.DoneReason == "length",
				PromptTokens: max(l.PromptEvalCount, 0),
				ReplyTokens:  max(l.EvalCount, 0),
			}})
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

// pieces hands on what l says.
func pieces(l *line, thoughts *llm.Thoughts, give func(llm.Delta) error) error {
	if l.Message.Thinking != "" {
		if err := give(llm.Delta{Thinking: l.Message.Thinking}); err != nil {
			return err
		}
	}
	deltas := thoughts.Next(l.Message.Content)
	for _, d := range deltas {
		if err := give(d); err != nil {
			return err
		}
	}
	if !l.Done {
		return nil
	}
	for _, d := range thoughts.End() {
		if err := give(d); err != nil {
			return err
		}
	}
	return nil
}
