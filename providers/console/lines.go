package console

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"earshot"
	"earshot/internal/terminal"
	"earshot/providers"
)

// errOrder is the reason for not running a command from prepared input.
var errOrder = errors.New("it begins with a slash like a command, and commands need a terminal: earshot chat. To send a text that begins with a slash, write //")

// lines reads lines. At a terminal, commands are run; in a pipe, where nobody can be asked whether
// they were meant, they are refused. After a refused private command nothing more is sent, since
// it may have been just as private.
func (c *Console) lines(ctx context.Context, emit providers.Emit) error {
	if c.cfg.Whole {
		return c.whole(ctx, emit)
	}
	failed, withheld := 0, false
	for q, err := range c.questions(ctx) {
		if err != nil {
			return err
		}
		body := c.read(q)
		if body == nil {
			continue
		}
		if left(body) && !c.term.Piped() {
			break
		}
		if !withheld && c.term.Piped() && hides(q.Text) {
			withheld = true
			c.term.Note(terminal.Line{Text: fmt.Sprintf("line %d and everything after it were not sent: /msg and /offrecord need a terminal: earshot chat", q.Line)})
		}
		_, order := body.(earshot.Command)
		if order && c.term.Piped() && !withheld {
			c.term.Note(terminal.Line{Text: fmt.Sprintf("line %d was not sent: %v", q.Line, errOrder)})
		}
		if withheld || order && c.term.Piped() {
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
		return fmt.Errorf("%d of the lines were not sent", failed)
	}
	return ctx.Err()
}

// questions yields what is read; from lines that a person gave at once, each command by itself.
func (c *Console) questions(ctx context.Context) iter.Seq2[terminal.Question, error] {
	return func(yield func(terminal.Question, error) bool) {
		for q, err := range c.term.Questions(ctx) {
			parts := []string{q.Text}
			if !c.term.Piped() {
				parts = split("", q.Text)
			}
			for _, q.Text = range parts {
				if !yield(q, err) {
					return
				}
			}
		}
	}
}

// whole sends all input as one message, or nothing.
func (c *Console) whole(ctx context.Context, emit providers.Emit) error {
	var all strings.Builder
	for q, err := range c.term.Questions(ctx) {
		switch {
		case err != nil:
			return err
		case q.Over || all.Len()+len(q.Text) > earshot.MaxText:
			return fmt.Errorf("nothing was sent: a message can have at most %d bytes; send it in parts", earshot.MaxText)
		case hides(q.Text):
			return fmt.Errorf("nothing was sent: line %d begins with /msg or /offrecord, which need a terminal: earshot chat", q.Line)
		}
		all.WriteString(q.Text + "\n")
	}
	text := strings.Trim(all.String(), "\n")
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case earshot.Text(text).Blank():
		return errors.New("there is nothing to say: the text is empty")
	}
	message, is := earshot.Typed(text).(earshot.Message)
	if !is {
		return fmt.Errorf("nothing was sent: %w", errOrder)
	}
	return c.ask(ctx, emit, message)
}

// read returns the body for q, or nil if it is empty.
func (c *Console) read(q terminal.Question) earshot.Body {
	switch {
	case q.Over:
		c.term.Note(terminal.Line{Text: fmt.Sprintf("line %d is longer than %d bytes and was skipped", q.Line, earshot.MaxText)})
		return nil
	case earshot.Text(q.Text).Blank():
		return nil
	}
	return earshot.Typed(q.Text)
}

// left reports whether body means to leave.
func left(body earshot.Body) bool {
	c, ok := body.(earshot.Command)
	return ok && (c.Name == "exit" || c.Name == "quit")
}

// ask emits body, and waits for the answer if it is a prepared question.
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
