// Package console lets somebody talk with a daemon at the terminal in which it runs. It also looks up
// what helps people at any terminal to write; see [Known].
package console

import (
	"context"
	"errors"
	"slices"
	"time"

	"earshot"
	"earshot/config"
	"earshot/daemon/access"
	"earshot/executive/room"
	"earshot/internal/field"
	"earshot/internal/login"
	"earshot/internal/terminal"
	outlet "earshot/outlets/console"
	"earshot/participants"
	"earshot/providers"
	sense "earshot/providers/console"
	"earshot/server"
)

// Name is the name of a terminal, as a sense and as an outlet.
const Name = "console"

// A Daemon is the [earshot/daemon.Daemon], as its own terminal needs it.
type Daemon interface {
	Config() *config.Config
	People() *participants.Registry
	Gate() access.Gate
	Desk() *room.Room
	Backend() server.Service
	Account() earshot.Handle
	Owner() participants.Participant
	Audience() earshot.Audience
	NewID() earshot.EventID
}

// A Console is the sense of the terminal that a daemon runs in. Somebody is there as long as it
// runs.
type Console struct {
	Daemon Daemon
	Enter  func(context.Context, login.Prompt) error // finds out who comes
	Open   func() (t *terminal.Terminal, done func() error, err error)
	Says   string           // the name that was given on the command line
	Person bool             // somebody sits there
	Known  []earshot.Notice // faults that were told before they came
	Err    error            // why nobody came in
}

// Name implements [providers.Provider].
func (r *Console) Name() string { return Name }

// Run implements [providers.Provider]. That somebody is not let in is no fault
// that trying again would mend, so it comes to its end.
func (r *Console) Run(ctx context.Context, emit providers.Emit) error {
	who, around, err := r.comes(ctx)
	if err != nil {
		if !errors.Is(err, login.ErrLeft) {
			r.Err = err
		}
		return nil
	}
	t, done, err := r.Open()
	if err != nil {
		return err
	}
	defer done()
	session := string(r.Daemon.NewID())
	handle, leave := r.Daemon.Backend().Join(participants.Session{
		ID: session, Room: earshot.Desk, Participant: who.ID, Account: r.Daemon.Account(),
		Outlet: Name, Connection: Name, Since: time.Now(),
	}, nil, around)
	defer leave()
	if r.Daemon.Config().Outlets.Console.Enabled {
		o := outlet.New(outlet.Config{Outlet: Name, Name: r.Daemon.People().Name, Reader: who.ID}, t)
		defer r.Daemon.Desk().Enter(o, around)()
		for _, n := range r.Daemon.Desk().State(around).Faults { // those that the opening screen did not show
			if !slices.Contains(r.Known, n) {
				o.Show(earshot.Event{Body: n})
			}
		}
	}
	if !r.Daemon.Config().Providers.Console.Enabled {
		<-ctx.Done()
		return nil
	}
	types := sense.New(sense.Config{
		Handle: r.Daemon.Account(), Via: Name, NewID: r.Daemon.NewID,
		Known: knownHere(r.Daemon, func() participants.Participant { return r.Daemon.People().Resolve(handle()) }),
	}, t)
	return r.present(ctx, session, types, func(ctx context.Context, e earshot.Event) error {
		e.From = handle() // who it is may change meanwhile
		return emit(ctx, e)
	})
}

// comes returns who is at the terminal, when they have said so, and who reads
// there.
func (r *Console) comes(ctx context.Context) (who participants.Participant, around earshot.Audience, err error) {
	p := login.Prompt{
		Known: r.Daemon.People().Known(), Own: r.Daemon.Owner().ID,
		Strangers: r.Daemon.Config().ExternalActors.AllowDynamicCreation, Anonymous: r.Daemon.Config().ExternalActors.AllowAnonymous,
		Claim: func(ctx context.Context, name string, secret field.Secret) error {
			if err := r.nameOwner(ctx, name); err != nil {
				return err
			}
			who, around, err = r.Daemon.Gate().Identify(ctx, r.Daemon.Account(), server.Claim{Name: name, Token: secret, New: true})
			return err
		},
	}
	if !r.Daemon.Config().Providers.Console.Enabled && r.Says == "" {
		return r.Daemon.Owner(), r.Daemon.Audience(), nil // nothing that is typed is read
	}
	if err := r.Enter(ctx, p); err != nil {
		return who, around, err
	}
	return who, around, login.Keep(who)
}

// nameOwner gives the person whose account this is the name that is typed at the first start,
// where nobody else is known. Otherwise a new name would be a second person, who may change
// no settings.
func (r *Console) nameOwner(ctx context.Context, name string) error {
	known := r.Daemon.People().Known()
	if !r.Person || r.Says != "" || login.LastName() != "" || len(known) != 1 || known[0].ID != r.Daemon.Owner().ID || name == login.Anonymous ||
		participants.Key(name) == participants.Key(known[0].Name) || !r.Daemon.Config().ExternalActors.AllowDynamicCreation {
		return nil
	}
	if err := r.Daemon.People().Rename(ctx, known[0], r.Daemon.Owner().ID, name); !errors.Is(err, participants.ErrNotYours) { // the configuration has named them
		return err
	}
	return nil
}

// present lets somebody be here as long as they type.
func (r *Console) present(ctx context.Context, session string, types *sense.Console, emit providers.Emit) error {
	presence := earshot.Presence{Session: session, Here: true}
	if err := emit(ctx, earshot.Event{Via: Name, Body: presence}); err != nil {
		return err
	}
	err := types.Run(ctx, emit)
	presence.Here = false
	return errors.Join(err, emit(context.WithoutCancel(ctx), earshot.Event{Via: Name, Body: presence}))
}
