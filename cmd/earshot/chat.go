package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"golang.org/x/term"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/conversation"
	"earshot/daemon/access"
	"earshot/daemon/console"
	"earshot/internal/field"
	"earshot/internal/login"
	"earshot/internal/terminal"
	outlet "earshot/outlets/console"
	"earshot/participants"
	"earshot/providers"
	sense "earshot/providers/console"
	"earshot/server/attach"
	"earshot/server/client"
	"earshot/server/reconnect"
	"earshot/store"
)

type chatCommand struct {
	identityFlags
	Room earshot.RoomID `help:"The room; the desk by default." placeholder:"ROOM"`
}

// Run attaches this terminal.
func (c chatCommand) Run(a *app) error {
	cfg, err := a.asking()
	if err != nil {
		return err
	}
	return a.attach(cfg, c.identityFlags, c.Room)
}

// attach makes this terminal a sense and an outlet of the earshot that runs,
// until the person leaves.
func (a *app) attach(cfg *config.Config, i identityFlags, room earshot.RoomID) error {
	c, s, err := a.arrive(cfg, i, room, true, a.enter)
	if errors.Is(err, login.ErrLeft) {
		return nil
	}
	if err == nil && a.API == "" {
		err = login.Keep(s.You)
	}
	if err != nil {
		return err
	}
	t, done, err := a.terminal(a.in, a.out)
	if err != nil {
		return err
	}
	defer done()
	called := names(s)
	return a.converse(t, c, s.You.ID, called, func(o *outlet.Console) sense.Known {
		return console.KnownThere(c, func() string {
			if is := o.Reader(); s.You.ID != "" && is != s.You.ID { // they have said that they are somebody else
				return called.Name(is)
			}
			return c.Identity
		})
	})
}

// converse attaches a terminal to the daemon of c until the person there, who is reader at first, leaves.
// known, if it is not nil, returns what they may know that helps them to write.
func (a *app) converse(t *terminal.Terminal, c *client.Client, reader earshot.ParticipantID, called *attach.Names, known func(*outlet.Console) sense.Known) error {
	o := outlet.New(outlet.Config{Outlet: console.Name, Name: called.Name, Reader: reader}, t)
	handle, _ := access.Self()
	cfg := sense.Config{Handle: handle, Via: console.Name, NewID: store.NewIDs()}
	if known != nil {
		cfg.Known = known(o)
	}
	types := sense.New(cfg, t)
	if t.ByKeys() { // what was prepared in a pipe wants its answers, or a failure
		return reconnect.Attach(a.ctx, c, types, o, called, connection(t))
	}
	return c.Attach(a.ctx, types, o, called)
}

// reach connects to the earshot that runs, for a command that only reads; see [app.visit].
func (a *app) reach(i identityFlags, room earshot.RoomID) (*client.Client, api.Status, error) {
	cfg, err := a.asking()
	if err != nil {
		return nil, api.Status{}, err
	}
	return a.visit(cfg, i, room)
}

// either lets running ask the earshot that runs or, where none does, alone look at what is here,
// which needs a valid configuration.
func (a *app) either(i identityFlags, running func(*client.Client) error, alone func(*config.Config) error) error {
	c, _, err := a.reach(i, "")
	if errors.Is(err, client.ErrNotRunning) {
		cfg, err := a.config()
		if err != nil {
			return err
		}
		return alone(cfg)
	}
	if err != nil {
		return err
	}
	return running(c)
}

// visit is arrive for a command that only reads: nobody is asked who they are, and somebody
// unknown is refused.
func (a *app) visit(cfg *config.Config, i identityFlags, room earshot.RoomID) (*client.Client, api.Status, error) {
	return a.arrive(cfg, i, room, false, a.enterAs(""))
}

// arrive connects to the earshot that runs. Enter finds out who the person at this terminal is, who
// may be somebody new if isNew is set, for a command that says something.
func (a *app) arrive(cfg *config.Config, i identityFlags, room earshot.RoomID, isNew bool, enter entrance) (*client.Client, api.Status, error) {
	if a.API != "" {
		return a.visitAway(i, room)
	}
	c := &client.Client{Socket: cfg.Server.Path(), New: isNew}
	var s api.Status
	read := func() (err error) { s, err = state(a.ctx, c); return err }
	err := read()
	if isNew && client.Moving(err) {
		err = client.AwaitMove(a.ctx, func() { fmt.Fprintf(a.err, "earshot: %s\n", roomMoves) }, read)
	}
	if err != nil {
		return nil, s, err
	}
	p := login.Prompt{Known: s.Known, Own: s.You.ID, Strangers: s.Strangers, Anonymous: s.Anonymous}
	p.Claim = func(ctx context.Context, name string, secret field.Secret) error {
		c.Identity, c.Room, c.Token = name, room, secret
		if p.Anonymous && participants.Key(name) == participants.Key(login.Anonymous) {
			s.You = participants.Participant{} // only who stays becomes somebody
			return nil
		}
		var err error
		s, err = state(ctx, c)
		return err
	}
	_, _, err = enter(a.ctx, i, p)
	return c, s, err
}

// roomMoves says what is waited for.
const roomMoves = "the room is moving to another daemon: waiting until it is there"

// names is what the participants are called whom a daemon told of.
func names(s api.Status) *attach.Names {
	called := make(map[earshot.ParticipantID]string)
	for _, a := range s.Agents {
		called[a.ID] = a.Name
	}
	for _, p := range append(s.Known, s.You) {
		called[p.ID] = p.Name
	}
	names := new(attach.Names)
	names.Learn(called)
	return names
}

// state asks the daemon how everything is.
func state(ctx context.Context, c *client.Client) (api.Status, error) {
	return c.StateWithin(ctx, client.StateTimeout)
}

// A sayCommand waits until nothing more comes to what was said: where agents
// answer each other, until the floor is a person's again. How long that can be is
// bounded by executive.multi_party.turn_limit.
type sayCommand struct {
	identityFlags
	Room earshot.RoomID `help:"The room; the desk by default." placeholder:"ROOM"`
	To   string         `help:"Say it to the agent at this address: a path, an ID, or a pattern such as /owner/agent/*; see: earshot agents." placeholder:"ADDRESS"`
	Text []string       `arg:"" optional:"" help:"What to say. - sends all of standard input as one message; without a text, each line of it is a message. To begin a text with a slash, write //."`
	JSON bool           `help:"Print each reply and how it ended, and whom it did not reach, as JSON."`
}

// Run says something, and prints the reply.
func (s sayCommand) Run(a *app) error {
	cfg, err := a.asking()
	if err != nil {
		return err
	}
	c, at, err := a.arrive(cfg, s.identityFlags, s.Room, true, a.enterAs(a.speaker()))
	if err != nil {
		return err
	}
	in, typed, err := s.input(a)
	if err != nil {
		return err
	}
	defer in.Close()
	out := a.out
	if s.JSON {
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer null.Close()
		out = outputTo(null)
	}
	t, done, err := a.terminal(in, out)
	if err != nil {
		return err
	}
	called := names(at)
	o := outlet.NewRecorder(outlet.New(outlet.Config{Outlet: console.Name, Name: called.Name, Reader: at.You.ID}, t), t, len(at.Agents) > 1, store.NewIDs())
	g, ctx := errgroup.WithContext(a.ctx)
	g.Go(typed)
	handle, _ := access.Self()
	said := sense.New(sense.Config{Handle: handle, Via: console.Name, NewID: o.NewID, Whole: len(s.Text) > 0}, t)
	g.Go(func() error { return c.Attach(ctx, calling(said, at, s.To), o, called) })
	err = errors.Join(g.Wait(), done())
	return errors.Join(err, s.verdict(a, c, o))
}

// A caller is a sense of what is all for an agent: among several people it calls
// the main one by name, where nobody is called, so that it is answered.
type caller struct {
	providers.Provider
	names *conversation.Directory
	me    participants.Participant
	agent string
	to    string // the address to which all goes; empty if names decide
}

// calling returns p for a room that is as s says, for what is said to an address if there is one.
func calling(p providers.Provider, s api.Status, to string) providers.Provider {
	alone := len(s.Here) == 0 || len(s.Here) == 1 && (s.You.ID == participants.Generic || s.Here[0].ID == s.You.ID)
	if alone && to == "" {
		return p
	}
	all := slices.Clone(s.Known)
	for _, a := range s.Agents {
		all = append(all, participants.Participant{ID: a.ID, Name: a.Name, Username: a.Username, Type: participants.Internal})
	}
	agent := s.Agent
	for _, a := range s.Agents {
		if a.Kind == earshot.PathConnector && strings.HasSuffix(string(a.Path), "/console") {
			agent = a.Name
		}
	}
	return caller{p, conversation.NewDirectory(all), s.You, agent, to}
}

// Run implements [providers.Provider].
func (c caller) Run(ctx context.Context, emit providers.Emit) error {
	return c.Provider.Run(ctx, func(ctx context.Context, e earshot.Event) error {
		if m, ok := e.Body.(earshot.Message); ok && c.to != "" {
			e.Body = earshot.Command{Name: earshot.PostTo, Args: earshot.Text(c.to+" ") + m.Text}
		} else if ok && !c.names.Direct(m.Text, c.me.ID).Addressed() {
			e.Body = earshot.Message{Text: earshot.Text("@"+c.agent+" ") + m.Text}
		}
		return emit(ctx, e)
	})
}

// verdict prints what came of it for programs, and fails if a reply did.
func (s sayCommand) verdict(a *app, c *client.Client, o *outlet.Recorder) error {
	code := success
	for _, e := range o.Outcomes {
		r, replied := e.Body.(earshot.Reply)
		if replied && r.Outcome == earshot.Failed {
			code = failed
		}
		if replied && o.SupersededElsewhere(r) {
			code = failed
			fmt.Fprintln(a.err, "! there is no reply: somebody asked something else in the same conversation first, and the answer is to that")
		}
		if replied && len(s.Text) > 0 && outlet.CutUnheard(r) { // of several lines one may have cut the reply to another
			code = failed
			fmt.Fprintln(a.err, "! there is no reply: something that was said afterwards cut it off before a word of it was heard")
		}
		if s.JSON {
			if err := json.NewEncoder(a.out).Encode(e); err != nil {
				return err
			}
		}
	}
	if code != success {
		return errors.Join(faults(a.ctx, c, a.err), &verdict{code: code})
	}
	return nil
}

// faults prints what is wrong with the daemon. It was said when it began, to
// whoever was there, and that was perhaps not this terminal.
func faults(ctx context.Context, c *client.Client, w io.Writer) error {
	s, err := state(ctx, c)
	if err != nil {
		return err
	}
	for _, n := range s.Faults {
		fmt.Fprintf(w, "! %s\n", terminal.Safe(n.Text))
		if n.Cure != "" {
			fmt.Fprintf(w, "  → %s\n", terminal.Safe(n.Cure))
		}
	}
	return nil
}

// input is what is said, as a file that a terminal can be opened on, and what
// writes it there.
func (s sayCommand) input(a *app) (*os.File, func() error, error) {
	text := strings.Join(s.Text, " ")
	switch {
	case len(s.Text) == 0, text == "-" && !term.IsTerminal(int(a.in.Fd())):
		return a.in, func() error { return nil }, nil
	case text == "-":
		return nil, nil, &verdict{misused, errors.New("say - reads one message from a file or a pipe: earshot say - < FILE\n  → to talk at a terminal: earshot chat")}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	return r, func() error {
		_, err := io.WriteString(w, text)
		if errors.Is(err, os.ErrClosed) {
			err = nil
		}
		return errors.Join(err, w.Close())
	}, nil
}

// connection says on a terminal that the connection was lost, or is back.
func connection(t *terminal.Terminal) func(lost error) {
	return func(lost error) {
		switch {
		case client.Moving(lost):
			t.Note(terminal.Line{Text: roomMoves, Quiet: true})
		case lost != nil:
			t.Hear("", terminal.Line{}) // nobody says what becomes of it
			t.Note(terminal.Line{Head: "! ", Text: "the connection to earshot was lost; what you write will be sent when it is back (/exit leaves)"})
		default:
			t.Note(terminal.Line{Text: "earshot is back", Quiet: true})
		}
	}
}
