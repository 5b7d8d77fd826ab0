package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/term"

	"earshot/internal/field"
	"earshot/internal/login"
	"earshot/internal/terminal"
	"earshot/participants"
)

// An identityFlags is how somebody says on the command line who they are.
type identityFlags struct {
	Identity string `help:"Who you are: a name, or last for the one used last." placeholder:"NAME"`
}

// lastIdentity is what somebody says who wants to be who they were.
const lastIdentity = "last"

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
type entrance func(ctx context.Context, i identityFlags, p login.Prompt) (name string, secret field.Secret, err error)

// enter is the entrance of who may be asked.
func (a *app) enter(ctx context.Context, i identityFlags, p login.Prompt) (string, field.Secret, error) {
	if i.Identity == "" && a.person() {
		return p.OwnFirst().Offer(login.LastName()).Ask(ctx, a.in, a.printed, a.introduce)
	}
	return a.enterAs(a.speaker())(ctx, i, p)
}

// enterAs is the entrance of who is not asked, and is usually called so.
func (a *app) enterAs(usual string) entrance {
	return func(ctx context.Context, i identityFlags, p login.Prompt) (string, field.Secret, error) {
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
	text, err := os.ReadFile(login.LastFile())
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("this account has not been used here yet, so there is no last identity\n  → earshot chat --identity NAME")
	}
	if err != nil {
		return "", fmt.Errorf("reading the last identity: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// introduce lets somebody in who has said who they are.
func (a *app) introduce(ctx context.Context, name string, p login.Prompt) (string, field.Secret, error) {
	secret, err := a.secret()
	if err != nil {
		return "", "", err
	}
	if secret == "" && p.NeedsToken(name) {
		if secret, err = a.typedSecret(ctx, fmt.Sprintf("The token of %s: ", terminal.Safe(name))); err != nil {
			return "", "", err
		}
	}
	return name, secret, p.Claim(ctx, name, secret)
}

// typedSecret asks for a token at the terminal; it is empty if there is no terminal.
func (a *app) typedSecret(ctx context.Context, question string) (field.Secret, error) {
	if !term.IsTerminal(int(a.in.Fd())) {
		return "", nil
	}
	typed, err := login.ReadSecret(ctx, a.in, a.err, question)
	fmt.Fprintln(a.err)
	return field.Secret(typed), err
}
