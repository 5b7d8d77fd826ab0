package main

import (
	"cmp"
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
	"golang.org/x/term"

	"earshot"
	"earshot/internal/field"
	"earshot/internal/probe"
	"earshot/internal/terminal"
	"earshot/participants"
)

// An identityFlags is how somebody says on the command line who they are.
type identityFlags struct {
	Identity string `help:"Who you are: a name, or last for the one used last." placeholder:"NAME"`
}

// lastIdentity is what somebody says who wants to be who they were.
const lastIdentity = "last"

// anonymous is what somebody says who does not say who they are.
const anonymous = "anonymous"

// tries is how often somebody is asked who they are: two slips are forgiven.
const tries = 3

// A loginPrompt is where somebody says who they are before they are let in.
type loginPrompt struct {
	known     []participants.Participant // whom one can say to be
	own       earshot.ParticipantID      // whose account it is; empty if nobody's
	usual     string                     // who is meant where nobody is named; empty if nobody is
	strangers bool                       // new names are welcome
	anonymous bool                       // and so is having none

	// claim lets somebody in who says that they are called name, or says why
	// not. An empty name is the account's own person.
	claim func(ctx context.Context, name string, secret field.Secret) error
}

// speaker is who somebody is who does not say it and cannot be asked: the
// account's own person, or a script where there is no terminal at all.
func (a *app) speaker() string {
	for _, f := range []*os.File{a.in, a.out.file, a.err} {
		if term.IsTerminal(int(f.Fd())) {
			return ""
		}
	}
	return string(participants.Generic)
}

// An entrance lets somebody in who said on the command line what is in i. It
// returns as whom, and by which token.
type entrance func(ctx context.Context, i identityFlags, p loginPrompt) (name string, secret field.Secret, err error)

// enter is the entrance of who may be asked.
func (a *app) enter(ctx context.Context, i identityFlags, p loginPrompt) (string, field.Secret, error) {
	if i.Identity == "" && a.person() {
		return a.ask(ctx, p.ordered().as(lastName()))
	}
	return a.enterAs(a.speaker())(ctx, i, p)
}

// enterAs is the entrance of who is not asked, and is usually called so.
func (a *app) enterAs(usual string) entrance {
	return func(ctx context.Context, i identityFlags, p loginPrompt) (string, field.Secret, error) {
		name, err := i.name(usual)
		if err != nil {
			return "", "", err
		}
		return a.introduce(ctx, name, p)
	}
}

// name returns what the command line says, or otherwise what is usual.
func (i identityFlags) name(usual string) (string, error) {
	if i.Identity != lastIdentity {
		return cmp.Or(i.Identity, usual), nil
	}
	text, err := os.ReadFile(lastFile())
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("this account has not been used here yet, so there is no last identity\n  → earshot chat --identity NAME")
	}
	if err != nil {
		return "", fmt.Errorf("reading the last identity: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// introduce lets somebody in who has said who they are.
func (a *app) introduce(ctx context.Context, name string, p loginPrompt) (string, field.Secret, error) {
	secret, err := a.secret()
	if err != nil {
		return "", "", err
	}
	if secret == "" && p.proves(name) && term.IsTerminal(int(a.in.Fd())) {
		typed, err := a.readSecret(ctx, fmt.Sprintf("The token of %s: ", terminal.Safe(name)))
		fmt.Fprintln(a.err)
		if err != nil {
			return "", "", err
		}
		secret = field.Secret(typed)
	}
	return name, secret, p.claim(ctx, name, secret)
}

// proves reports whether a name alone will not do.
func (p loginPrompt) proves(name string) bool {
	i := slices.IndexFunc(p.known, func(k participants.Participant) bool { return participants.Key(k.Name) == participants.Key(name) })
	return i >= 0 && p.known[i].ID != p.own && (p.known[i].RequiresAuth || p.known[i].Can(participants.Operate))
}

// ask asks the person at this terminal who they are, until they can be let in.
func (a *app) ask(ctx context.Context, p loginPrompt) (name string, secret field.Secret, err error) {
	a.list(p)
	for range tries {
		fmt.Fprint(a.printed(), p.question())
		line, err := readLine(ctx, a.in)
		if err != nil {
			fmt.Fprintln(a.out)
			return "", "", err
		}
		if name, err = p.meant(line); err == nil {
			name, secret, err = a.introduce(ctx, name, p)
		}
		if err == nil || errors.Is(err, errLeft) {
			return name, secret, err
		}
		problem, cure := probe.Explain(err)
		fmt.Fprintln(a.printed(), terminal.Safe(problem))
		if cure != "" {
			fmt.Fprintf(a.printed(), "  → %s\n", terminal.Safe(cure))
		}
	}
	return "", "", &verdict{failed, fmt.Errorf("no valid identity after %d tries", tries)}
}

// list shows whom one can say to be, whose account it is first.
func (a *app) list(p loginPrompt) {
	fmt.Fprint(a.out, "Who are you?\n\n")
	widest := 0
	for _, k := range p.known {
		widest = max(widest, len([]rune(k.Name)))
	}
	for i, k := range p.known {
		about := k.Description
		if about == "" && k.ID == p.own && p.own != "" {
			about = "may change settings"
		}
		line := fmt.Sprintf("  %2d  %-*s  %s", i+1, widest, k.Name, about)
		fmt.Fprintln(a.printed(), strings.TrimRight(terminal.Safe(line), " "))
	}
	fmt.Fprintln(a.out)
}

// question says how one can answer.
func (p loginPrompt) question() string {
	answers := []string{"a number"}
	if p.strangers {
		answers = append(answers, "a new name")
	}
	if p.anonymous {
		answers = append(answers, anonymous)
	}
	usual := ""
	switch {
	case p.usual == "":
	case p.own != "" && p.usual == p.known[0].Name:
		usual = " [1]"
	default:
		usual = " [" + terminal.Safe(p.usual) + "]"
	}
	return strings.Join(answers, ", ") + usual + ": "
}

// meant returns whom an answer to the question names.
func (p loginPrompt) meant(line string) (string, error) {
	line = strings.TrimSpace(line)
	if line == "/exit" || line == "/quit" { // as the opening screen says
		return "", errLeft
	}
	if strings.HasPrefix(line, "/") || strings.HasPrefix(line, "@") {
		return "", errors.New("this asks only for your name; write that again once you are in")
	}
	if line == "" && p.usual == "" {
		return "", errors.New("the name is empty")
	}
	if line == "" {
		return p.usual, nil
	}
	n, err := strconv.Atoi(line)
	switch {
	case err != nil:
		return line, nil
	case n < 1 || n > len(p.known):
		return "", fmt.Errorf("there is no number %d", n)
	}
	return p.known[n-1].Name, nil
}

// ordered puts whose account it is first.
func (p loginPrompt) ordered() loginPrompt {
	p.known = slices.Clone(p.known)
	slices.SortStableFunc(p.known, func(a, b participants.Participant) int {
		switch p.own {
		case a.ID:
			return -1
		case b.ID:
			return 1
		}
		return 0
	})
	if len(p.known) == 0 || p.known[0].ID != p.own {
		p.own = ""
	}
	return p
}

// as offers whoever came in last, if they may come in again, and else whose account it is.
func (p loginPrompt) as(last string) loginPrompt {
	if p.own != "" {
		p.usual = p.known[0].Name
	}
	i := slices.IndexFunc(p.known, func(k participants.Participant) bool { return participants.Key(k.Name) == participants.Key(last) })
	switch {
	case last == "":
	case i >= 0:
		p.usual = p.known[i].Name
	case p.strangers:
		p.usual = last
	}
	return p
}

// lastName returns as whom this user came in last; nothing if they did not, or nobody can
// tell.
func lastName() string {
	text, err := os.ReadFile(lastFile())
	name := strings.TrimSpace(string(text))
	if err != nil || len(name) > longestAnswer {
		return ""
	}
	return name
}

// lastFile is where it is kept as whom this user came in last.
func lastFile() string { return filepath.Join(xdg.StateHome, "earshot", "identity") }

// keepIdentity keeps as whom somebody came in, for --identity last. A script or a
// guest is nobody to come back as.
func keepIdentity(who participants.Participant) error {
	if who.ID == "" || who.ID == participants.Generic || who.Guest() {
		return nil
	}
	file := lastFile()
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = os.WriteFile(file, []byte(who.Name+"\n"), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keeping the last identity: %w", err)
	}
	return nil
}

// forgetIdentity forgets that somebody of a name came in last, if it was they.
func forgetIdentity(name string) error {
	had, err := os.ReadFile(lastFile())
	if err == nil && strings.TrimSpace(string(had)) == name {
		err = os.Remove(lastFile())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forgetting the last identity: %w", err)
	}
	return nil
}
