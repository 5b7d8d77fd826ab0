// Package login is how somebody says who they are before they are let in: by a number of those who
// are known, or by a name.
package login

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/adrg/xdg"

	"earshot"
	"earshot/internal/field"
	"earshot/internal/terminal"
	"earshot/participants"
)

// Anonymous is what somebody says who does not say who they are.
const Anonymous = "anonymous"

// A Prompt is where somebody says who they are before they are let in.
type Prompt struct {
	Known     []participants.Participant // whom one can say to be
	Own       earshot.ParticipantID      // whose account it is; empty if nobody's
	Usual     string                     // who is meant where nobody is named; empty if nobody is
	Strangers bool                       // new names are welcome
	Anonymous bool                       // and so is having none

	// claim lets somebody in who says that they are called name, or says why
	// not. An empty name is the account's own person.
	Claim func(ctx context.Context, name string, secret field.Secret) error
}

// NeedsToken reports whether a name alone will not do.
func (p Prompt) NeedsToken(name string) bool {
	i := p.find(name)
	return i >= 0 && p.Known[i].ID != p.Own && (p.Known[i].RequiresAuth || p.Known[i].Can(participants.Operate))
}

// find returns the index of who is called so among those who are known; -1 if nobody is.
func (p Prompt) find(name string) int {
	return slices.IndexFunc(p.Known, func(k participants.Participant) bool { return participants.Key(k.Name) == participants.Key(name) })
}

// Question says how one can answer.
func (p Prompt) Question() string {
	answers := []string{"a number"}
	if p.Strangers {
		answers = append(answers, "a new name")
	}
	if p.Anonymous {
		answers = append(answers, Anonymous)
	}
	usual := ""
	switch {
	case p.Usual == "":
	case p.Own != "" && p.Usual == p.Known[0].Name:
		usual = " [1]"
	default:
		usual = " [" + terminal.Safe(p.Usual) + "]"
	}
	return strings.Join(answers, ", ") + usual + ": "
}

// Parse returns whom an answer to the question names.
func (p Prompt) Parse(line string) (string, error) {
	line = strings.TrimSpace(line)
	if line == "/exit" || line == "/quit" { // as the opening screen says
		return "", ErrLeft
	}
	if strings.HasPrefix(line, "/") || strings.HasPrefix(line, "@") {
		return "", errors.New("this asks only for your name; write that again once you are in")
	}
	if line == "" && p.Usual == "" {
		return "", errors.New("the name is empty")
	}
	if line == "" {
		return p.Usual, nil
	}
	n, err := strconv.Atoi(line)
	switch {
	case err != nil:
		return line, nil
	case n < 1 || n > len(p.Known):
		return "", fmt.Errorf("there is no number %d", n)
	}
	return p.Known[n-1].Name, nil
}

// OwnFirst puts whose account it is first.
func (p Prompt) OwnFirst() Prompt {
	i := slices.IndexFunc(p.Known, func(k participants.Participant) bool { return k.ID == p.Own })
	if i < 0 {
		p.Own = ""
		return p
	}
	p.Known = slices.Concat(p.Known[i:i+1], p.Known[:i], p.Known[i+1:])
	return p
}

// Offer offers whoever came in last, if they may come in again, and else whose account it is.
func (p Prompt) Offer(last string) Prompt {
	if p.Own != "" {
		p.Usual = p.Known[0].Name
	}
	i := p.find(last)
	switch {
	case last == "":
	case i >= 0:
		p.Usual = p.Known[i].Name
	case p.Strangers:
		p.Usual = last
	}
	return p
}

// LastName returns as whom this user came in last; nothing if they did not, or nobody can
// tell.
func LastName() string {
	text, err := os.ReadFile(LastFile())
	name := strings.TrimSpace(string(text))
	if err != nil || len(name) > maxName {
		return ""
	}
	return name
}

// LastFile is where it is kept as whom this user came in last.
func LastFile() string { return filepath.Join(xdg.StateHome, "earshot", "identity") }

// Keep keeps as whom somebody came in, for --identity last. A script or a
// guest is nobody to come back as.
func Keep(who participants.Participant) error {
	if who.ID == "" || who.ID == participants.Generic || who.Guest() {
		return nil
	}
	file := LastFile()
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = os.WriteFile(file, []byte(who.Name+"\n"), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keeping the last identity: %w", err)
	}
	return nil
}

// Forget forgets that somebody of a name came in last, if it was they.
func Forget(name string) error {
	had, err := os.ReadFile(LastFile())
	if err == nil && strings.TrimSpace(string(had)) == name {
		err = os.Remove(LastFile())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forgetting the last identity: %w", err)
	}
	return nil
}

// ErrLeft says that somebody went away instead of answering.
var ErrLeft = errors.New("nobody answered")

// maxName is how many bytes of a remembered name are believed: no real one is longer.
const maxName = 256

// MaxAnswer is how much of a line is taken, in bytes: more than any token or code has.
const MaxAnswer = 8 << 10
