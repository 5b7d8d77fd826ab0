package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"earshot"
	"earshot/daemon"
	"earshot/internal/field"
	"earshot/internal/login"
	outlet "earshot/outlets/console"
	"earshot/participants"
	"earshot/providers"
	sense "earshot/providers/console"
	"earshot/server"
)

// local is the name of the console of the terminal that earshot runs in.
const local = "console"

// A localConsole is the sense of the terminal that earshot runs in. Somebody is
// there as long as it runs.
type localConsole struct {
	daemon *daemon.Daemon
	app    *app
	says   identityFlags
	known  []earshot.Notice // faults that were told before they came
	err    error            // why nobody came in
}

// Name implements [providers.Provider].
func (r *localConsole) Name() string { return local }

// Run implements [providers.Provider]. That somebody is not let in is no fault
// that trying again would mend, so it comes to its end.
func (r *localConsole) Run(ctx context.Context, emit providers.Emit) error {
	who, around, err := r.comes(ctx)
	if err != nil {
		if !errors.Is(err, login.ErrLeft) {
			r.err = err
		}
		return nil
	}
	t, done, err := r.app.terminal(r.app.in, r.app.out)
	if err != nil {
		return err
	}
	defer done()
	session := string(r.daemon.NewID())
	handle, leave := r.daemon.Backend().Join(participants.Session{
		ID: session, Room: earshot.Desk, Participant: who.ID, Account: r.daemon.Account(),
		Outlet: local, Connection: local, Since: time.Now(),
	}, nil, around)
	defer leave()
	if r.daemon.Config().Outlets.Console.Enabled {
		o := outlet.New(outlet.Config{Outlet: local, Name: r.daemon.People().Name, Reader: who.ID}, t)
		defer r.daemon.Desk().Enter(o, around)()
		for _, n := range r.daemon.Desk().State(around).Faults { // those that the opening screen did not show
			if !slices.Contains(r.known, n) {
				o.Show(earshot.Event{Body: n})
			}
		}
	}
	if !r.daemon.Config().Providers.Console.Enabled {
		<-ctx.Done()
		return nil
	}
	types := sense.New(sense.Config{
		Handle: r.daemon.Account(), Via: local, NewID: r.daemon.NewID,
		Known: knownHere(r.daemon, func() participants.Participant { return r.daemon.People().Resolve(handle()) }),
	}, t)
	return r.present(ctx, session, types, func(ctx context.Context, e earshot.Event) error {
		e.From = handle() // who it is may change meanwhile
		return emit(ctx, e)
	})
}

// comes returns who is at the terminal, when they have said so, and who reads
// there.
func (r *localConsole) comes(ctx context.Context) (who participants.Participant, around earshot.Audience, err error) {
	p := login.Prompt{
		Known: r.daemon.People().Known(), Own: r.daemon.Owner().ID,
		Strangers: r.daemon.Config().ExternalActors.AllowDynamicCreation, Anonymous: r.daemon.Config().ExternalActors.AllowAnonymous,
		Claim: func(ctx context.Context, name string, secret field.Secret) error {
			if err := r.nameOwner(ctx, name); err != nil {
				return err
			}
			who, around, err = r.daemon.Gate().Identify(ctx, r.daemon.Account(), server.Claim{Name: name, Token: secret, New: true})
			return err
		},
	}
	if !r.daemon.Config().Providers.Console.Enabled && r.says.Identity == "" {
		return r.daemon.Owner(), r.daemon.Audience(), nil // nothing that is typed is read
	}
	if _, _, err := r.app.enter(ctx, r.says, p); err != nil {
		return who, around, err
	}
	return who, around, login.Keep(who)
}

// nameOwner gives the person whose account this is the name that is typed at the first start,
// where nobody else is known. Otherwise a new name would be a second person, who may change
// no settings.
func (r *localConsole) nameOwner(ctx context.Context, name string) error {
	known := r.daemon.People().Known()
	if !r.app.person() || r.says.Identity != "" || login.LastName() != "" || len(known) != 1 || known[0].ID != r.daemon.Owner().ID || name == login.Anonymous ||
		participants.Key(name) == participants.Key(known[0].Name) || !r.daemon.Config().ExternalActors.AllowDynamicCreation {
		return nil
	}
	if err := r.daemon.People().Rename(ctx, known[0], r.daemon.Owner().ID, name); !errors.Is(err, participants.ErrNotYours) { // the configuration has named them
		return err
	}
	return nil
}

// present lets somebody be here as long as they type.
func (r *localConsole) present(ctx context.Context, session string, types *sense.Console, emit providers.Emit) error {
	presence := earshot.Presence{Session: session, Here: true}
	if err := emit(ctx, earshot.Event{Via: local, Body: presence}); err != nil {
		return err
	}
	err := types.Run(ctx, emit)
	presence.Here = false
	return errors.Join(err, emit(context.WithoutCancel(ctx), earshot.Event{Via: local, Body: presence}))
}
