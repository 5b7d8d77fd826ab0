package login

import (
	"context"
	"earshot"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"earshot/internal/field"
	"earshot/internal/terminal"
)

// tries is how often somebody is asked who they are: two slips are forgiven.
const tries = 3

// Ask asks the person at a terminal who they are, until introduce lets them in. It returns as whom, and
// by which token. Out returns the beginning of a row of the terminal.
func (p Prompt) Ask(ctx context.Context, in *os.File, out func() io.Writer,
	introduce func(ctx context.Context, name string, p Prompt) (string, field.Secret, error)) (name string, secret field.Secret, err error) {
	p.list(out())
	for range tries {
		fmt.Fprint(out(), p.Question())
		line, err := ReadLine(ctx, in)
		if err != nil {
			fmt.Fprintln(out())
			return "", "", err
		}
		if name, err = p.Parse(line); err == nil {
			name, secret, err = introduce(ctx, name, p)
		}
		if err == nil || errors.Is(err, ErrLeft) {
			return name, secret, err
		}
		problem, cure := earshot.Explain(err)
		fmt.Fprintln(out(), terminal.Safe(problem))
		if cure != "" {
			fmt.Fprintf(out(), "  → %s\n", terminal.Safe(cure))
		}
	}
	return "", "", fmt.Errorf("no valid identity after %d tries", tries)
}

// list shows whom one can say to be, whose account it is first.
func (p Prompt) list(w io.Writer) {
	fmt.Fprint(w, "Who are you?\n\n")
	widest := 0
	for _, k := range p.Known {
		widest = max(widest, len([]rune(k.Name)))
	}
	for i, k := range p.Known {
		about := k.Description
		if about == "" && k.ID == p.Own && p.Own != "" {
			about = "may change settings"
		}
		line := fmt.Sprintf("  %2d  %-*s  %s", i+1, widest, k.Name, about)
		fmt.Fprintln(w, strings.TrimRight(terminal.Safe(line), " "))
	}
	fmt.Fprintln(w)
}
