package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"earshot/config"
	"earshot/daemon/access"
	"earshot/internal/export"
	"earshot/internal/terminal"
	"earshot/participants"
	"earshot/server/token"
	"earshot/store"
)

type tokenCommand struct {
	Create tokenCreate `cmd:"" help:"Create a token by which somebody proves who they are. It is shown once."`
	List   tokenList   `cmd:"" help:"List the tokens, without their secrets."`
	Revoke tokenRevoke `cmd:"" help:"Revoke a token. Whoever came in with it is disconnected."`
}

type tokenCreate struct {
	Name    string `arg:"" help:"Its owner."`
	Note    string `help:"What it is for." placeholder:"TEXT"`
	Expires string `help:"When it expires: a date such as 2027-01-31, or a duration such as 90d or 12h." placeholder:"WHEN"`
	JSON    bool   `help:"Print it as JSON."`
}

// Run makes a token. Standard output is the secret alone, so that it can be
// piped to where it is kept.
func (c tokenCreate) Run(a *app) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	who, err := a.somebody(cfg, c.Name)
	if err != nil {
		return err
	}
	expires, err := export.ParseMoment(c.Expires, time.Now())
	if err != nil {
		return &verdict{misused, err}
	}
	if err := os.MkdirAll(cfg.Store.Directory, 0o700); err != nil {
		return fmt.Errorf("creating the folder of the tokens: %w", err)
	}
	made, secret, err := token.In(cfg.Store.Directory).Create(who.ID, c.Note, expires)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.json(struct {
			token.Token
			Secret string `json:"token"`
		}{made, secret.Reveal()})
	}
	fmt.Fprintf(a.err, "A token of %s. It is shown only now; to revoke it: earshot token revoke %s\n", terminal.Safe(who.Name), made.ID)
	if !who.RequiresAuth && !who.Can(participants.Operate) {
		fmt.Fprintf(a.err, "Clients of server.listen always need it; here it is not needed unless requires_auth of %s is true in external_actors.\n", terminal.Safe(who.Name))
	}
	_, err = fmt.Fprintln(a.out, secret.Reveal())
	return err
}

// people returns who exists, whether or not earshot runs or ever ran.
func (a *app) people(cfg *config.Config) (*participants.Registry, error) {
	handle, user := access.Self()
	c := access.RegistryBuilder{Config: cfg, Account: handle, Name: user}
	archive, err := store.OpenReader(a.ctx, cfg.Store)
	if errors.Is(err, fs.ErrNotExist) {
		return c.Build(a.ctx, nil)
	}
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	return c.BuildFrom(a.ctx, archive)
}

// somebody returns who is called name.
func (a *app) somebody(cfg *config.Config, name string) (participants.Participant, error) {
	people, err := a.people(cfg)
	if err != nil {
		return participants.Participant{}, err
	}
	who, ok := people.Find(name)
	if !ok || who.Type == participants.Internal {
		var known []string
		for _, p := range people.Known() {
			known = append(known, p.Name)
		}
		return who, &verdict{notFound, fmt.Errorf("nobody is called %q; known are: %s", name, strings.Join(known, ", "))}
	}
	return who, nil
}

type tokenList struct {
	JSON bool `help:"Print them as JSON."`
}

// Run lists the tokens.
func (l tokenList) Run(a *app) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	all, err := token.In(cfg.Store.Directory).List()
	if err != nil {
		return err
	}
	if l.JSON {
		return a.json(all)
	}
	if len(all) == 0 {
		fmt.Fprintln(a.err, "There are no tokens.")
	}
	people, err := a.people(cfg)
	if err != nil {
		return err
	}
	owner := func(t token.Token) string {
		if who, ok := people.Get(t.Participant); ok {
			return who.Name
		}
		return string(t.Participant) // nobody has it any more
	}
	widest := 0
	for _, t := range all {
		widest = max(widest, utf8.RuneCountInString(owner(t)))
	}
	for _, t := range all {
		fmt.Fprintln(a.out, terminal.Safe(described(t, fmt.Sprintf("%-*s", widest, owner(t)), time.Now())))
	}
	return nil
}

// described is a token in one line.
func described(t token.Token, owner string, now time.Time) string {
	until := "until it is revoked"
	switch {
	case t.Expires.IsZero():
	case t.Expires.After(now):
		until = "until " + t.Expires.Local().Format("2006-01-02 15:04")
	default:
		until = "expired"
	}
	return strings.TrimSpace(fmt.Sprintf("%s  %s  created %s, %s  %s", t.ID, owner, t.Created.Local().Format(time.DateOnly), until, t.Note))
}

type tokenRevoke struct {
	ID string `arg:"" help:"The ID of the token, as \"earshot token list\" shows it."`
}

// Run takes a token away.
func (r tokenRevoke) Run(a *app) error {
	cfg, err := a.asking("store.directory")
	if err != nil {
		return err
	}
	err = token.In(cfg.Store.Directory).Revoke(r.ID)
	if errors.Is(err, token.ErrNone) {
		return &verdict{notFound, err}
	}
	if err == nil {
		_, err = fmt.Fprintln(a.out, "Revoked.")
	}
	return err
}
