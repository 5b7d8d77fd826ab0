package monitor

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/monitor/model"
)

const (
	// frames is how many times a second the screen is drawn at most: more than the eye needs to
	// read, and little for a slow line.
	frames = 20

	// glances is how many times a second the program checks whether there is something to draw.
	glances = 60

	// tick is how often the ages are redrawn while nothing happens.
	tick = time.Second
)

// Config is what a monitor needs. Every field must be set unless its comment says otherwise.
type Config struct {
	Daemon Daemon
	Door   Door
	Handle earshot.Handle         // the person at the terminal
	Via    string                 // the name of the outlet
	NewID  func() earshot.EventID // makes the IDs for what is typed

	ASCII  bool // the terminal shows only ASCII
	In     io.Reader
	Out    io.Writer
	Env    []string // of the terminal; nil means the environment of the program
	Width  int      // for an output that is not a terminal; 0 for one that is
	Height int

	Drawn func(model.Screen) // receives what was drawn, for measurements; may be nil
}

// Run shows the monitor until the person leaves, ctx ends, or the daemon refuses.
func Run(ctx context.Context, c Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in := newInbox()
	f := &feed{from: c.Daemon, to: in}
	s := newSeat(c.Door, c.Handle, c.Via, c.NewID, in)
	g, gctx := errgroup.WithContext(ctx)
	sc := &teaModel{cfg: c, model: model.New(c.ASCII), inbox: in, feed: f, seat: s, beside: func(f func(context.Context)) {
		g.Go(func() error {
			f(gctx)
			return nil
		})
	}}
	options := []tea.ProgramOption{
		tea.WithContext(gctx), tea.WithInput(c.In), tea.WithOutput(c.Out), tea.WithFPS(glances),
		tea.WithoutSignalHandler(), tea.WithoutCatchPanics(),
	}
	if c.Env != nil {
		options = append(options, tea.WithEnvironment(c.Env))
	}
	if c.Width > 0 {
		options = append(options, tea.WithWindowSize(c.Width, c.Height))
	}
	program := tea.NewProgram(sc, options...)
	g.Go(func() error { return f.run(gctx) })
	g.Go(func() error { return s.run(gctx) })
	g.Go(func() error { return pump(gctx, in, program) })
	_, err := program.Run()
	cancel()
	in.close()
	failed := g.Wait()
	if failed != nil && !errors.Is(failed, context.Canceled) {
		return failed
	}
	if errors.Is(err, tea.ErrProgramKilled) || errors.Is(err, tea.ErrInterrupted) || errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// pump wakes the program when something has come, at most as often as it draws.
func pump(ctx context.Context, in *inbox, program *tea.Program) error {
	old := time.NewTicker(tick)
	defer old.Stop()
	for {
		select {
		case <-in.wake:
		case <-old.C:
		case <-ctx.Done():
			return nil
		}
		program.Send(inboxMsg{})
		select {
		case <-time.After(time.Second / frames):
		case <-ctx.Done():
			return nil
		}
	}
}

// inboxMsg says that something has arrived.
type inboxMsg struct{}

// A teaModel runs a Model on a terminal.
type teaModel struct {
	cfg    Config
	model  *model.Model
	inbox  *inbox
	feed   *feed
	seat   *seat
	beside func(func(context.Context)) // runs a slow operation, for which Run waits

	stale   bool
	content string
	screen  model.Screen
}

// Init implements [tea.Model].
func (s *teaModel) Init() tea.Cmd { return nil }

// Update implements [tea.Model].
func (s *teaModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	now := time.Now()
	var effects []model.Effect
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		effects = s.model.Step(now, model.Size{Width: msg.Width, Height: msg.Height})
	case tea.KeyPressMsg:
		effects = s.model.Step(now, model.Key{Name: msg.Keystroke(), Text: msg.Text})
	case tea.PasteMsg:
		effects = s.model.Step(now, model.Key{Name: "paste", Text: strings.ReplaceAll(msg.Content, "\r", "\n")})
	case inboxMsg:
		effects = s.model.Step(now, model.Tick{})
		for _, what := range s.inbox.take() {
			effects = append(effects, s.model.Step(now, what)...)
		}
	default:
		return s, nil
	}
	s.stale = true
	for _, e := range effects {
		if cmd := s.do(e); cmd != nil {
			return s, cmd
		}
	}
	return s, nil
}

// do carries out an effect of the model.
func (s *teaModel) do(e model.Effect) tea.Cmd {
	switch e := e.(type) {
	case model.Quit:
		return tea.Quit
	case model.Older:
		s.beside(func(ctx context.Context) { s.feed.older(ctx, e.Before) })
	case model.Seek:
		s.beside(func(ctx context.Context) { s.feed.seek(ctx, e.Words, e.Before) })
	case model.Around:
		s.beside(func(ctx context.Context) { s.feed.around(ctx, e.At) })
	case model.Reload:
		s.beside(s.feed.reload)
	case model.JoinRequest:
		s.seat.sit()
	case model.Emit:
		s.seat.say(e.Body)
	}
	return nil
}

// View implements [tea.Model].
func (s *teaModel) View() tea.View {
	if s.stale {
		s.screen, s.stale = s.model.Screen(), false
		s.content = strings.Join(s.screen.Rows, "\n")
		if reply, shown := s.model.Reply(); shown {
			s.seat.drawn(reply)
		}
		if s.cfg.Drawn != nil {
			s.cfg.Drawn(s.screen)
		}
	}
	v := tea.NewView(s.content)
	v.AltScreen = true
	v.WindowTitle = "earshot"
	if s.screen.Cursor {
		v.Cursor = tea.NewCursor(s.screen.X, s.screen.Y)
	}
	return v
}
