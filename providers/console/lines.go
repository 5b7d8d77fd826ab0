package console

import (
	"context"
	"fmt"
	"strings"

	"earshot"
	"earshot/internal/terminal"
	"earshot/providers"
)

// lines reads lines. At a terminal, commands are commands; in a pipe, whatever
// was prepared is a question. Only what was to be hidden is not one, and nothing
// after it is asked, which may have been meant for as few.
func (c *Console) lines(ctx context.Context, emit providers.Emit) error {
	failed, withheld := 0, false
	for q, err := range c.term.Questions(ctx) {
		if err != nil {
			return err
		}
		body := c.read(q)
		if body == nil {
			continue
		}
		if left(body) {
			break
		}
		if !withheld && c.term.Piped() && hides(q.Text) {
			withheld = true
			c.term.Note(terminal.Line{Text: fmt.Sprintf("line %d was not sent, nor is what comes after it: /msg and /offrecord take a terminal: earshot chat", q.Line)})
		}
		if withheld {
			failed++
			continue
		}
		if err := c.ask(ctx, emit, body); err != nil {
			if ctx.Err() != nil {
				break
			}
			failed++
			c.term.Note(terminal.Line{Text: fmt.Sprintf("line %d was not sent: %v", q.Line, err)})
		}
	}
	if ctx.Err() == nil && failed > 0 {
		return fmt.Errorf("asking: lines that were not sent: %d", failed)
	}
	return ctx.Err()
}

// read returns what q says, nil if that is nothing.
func (c *Console) read(q terminal.Question) earshot.Body {
	switch {
	case q.Over:
		c.term.Note(terminal.Line{Text: fmt.Sprintf("line %d is longer than %d bytes and was skipped", q.Line, earshot.MaxText)})
		return nil
	case strings.TrimSpace(q.Text) == "":
		return nil
	case c.term.Piped():
		return earshot.Message{Text: earshot.Text(q.Text)}
	}
	return parse(q.Text)
}

// left reports whether body means to leave.
func left(body earshot.Body) bool {
	c, ok := body.(earshot.Command)
	return ok && (c.Name == "exit" || c.Name == "quit")
}

// ask emits body, and waits for the answer if it is a question that was
// prepared.
func (c *Console) ask(ctx context.Context, emit providers.Emit, body earshot.Body) error {
	e := c.event(body)
	answered := c.term.Expect(e.ID)
	if err := emit(ctx, e); err != nil {
		c.term.Settle(e.ID)
		return err
	}
	if !c.term.Piped() {
		c.term.Settle(e.ID)
		return nil
	}
	select {
	case <-answered:
	case <-ctx.Done():
	}
	return ctx.Err()
}
