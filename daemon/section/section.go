// Package section runs the parts of a daemon that the configuration makes, such as the microphone,
// and makes them anew when their section of the configuration changes, while all else goes on.
package section

import (
	"context"
	"log/slog"
	"reflect"
	"slices"
	"sync"

	"earshot"
	"earshot/api"
	"earshot/internal/supervise"
)

// A Part runs in the background until its section ends or is made without it. It is restarted when
// it fails, and each outage is reported once.
type Part struct {
	Name string
	Run  func(context.Context) error
	Lost bool // it is known not to work at first

	// Modes are the modes of the desk in which a capturing part runs; nil if it captures nothing.
	Modes func(earshot.Mode) bool

	Pulse *supervise.Pulse // where it shows that it is alive; nil if running is enough

	Report func(earshot.Notice) // is told of each outage; nil means that of the runner

	// Key is what the part is made of: when its section is rebuilt, a part with an equal key goes on.
	// If nil, the part always counts as changed.
	Key any
}

// equals reports whether p is the same as a part that runs.
func (p Part) equals(running *runningPart) bool {
	return running != nil && p.Key != nil && reflect.DeepEqual(p.Key, running.Key)
}

// A Section is what one part of the configuration makes: some parts that run beside the rooms.
type Section struct {
	Name string // for people, such as "the microphone"

	// Outlasts says that it ends after the rooms.
	Outlasts bool

	// AtDesk says that its parts are at the desk, and run only while that is here.
	AtDesk bool

	// Build returns what the configuration in force makes. It may take seconds: the old parts run
	// meanwhile. If nil, the section is never rebuilt.
	Build func(context.Context) Build

	// AwaitRest returns when ending the section cuts nothing short, or when waiting longer is no use.
	// If nil, it may be ended at any time.
	AwaitRest func(context.Context)

	Is Build // what it consists of; set before it is installed, if there is no Build

	rebuild chan struct{} // of capacity 1
}

// A Build is what a section consists of.
type Build struct {
	Parts    []Part
	Findings []api.CheckResult // about the parts
	Started  func()            // called once the old parts have ended; may be nil
}

// A Runner runs sections. Its fields are set before anything is installed; its methods may be called from
// many goroutines.
type Runner struct {
	Log      *slog.Logger
	Restarts supervise.Config         // how patiently failed parts are restarted
	Report   func(earshot.Notice)     // is told of outages
	Starts   func(part string) func() // returns what counts the starts of a part

	// Rebuilt is called when a section has been rebuilt, with the names of the parts that ended, and with
	// the findings before and now.
	Rebuilt func(ended []string, was, now []api.CheckResult)

	DeskMode Mode // of the desk
	DeskHere Mode // whose mode listens while the desk is here; nil if it always is

	mu  sync.Mutex
	all []*Section
}

// Install adds a section, before any runs, and returns the findings. It may be told to rebuild meanwhile.
func (r *Runner) Install(ctx context.Context, s *Section) []api.CheckResult {
	s.rebuild = make(chan struct{}, 1)
	r.mu.Lock()
	r.all = append(r.all, s)
	r.mu.Unlock()
	if s.Build != nil {
		s.Is = s.Build(ctx)
	}
	if s.Is.Started != nil {
		s.Is.Started()
	}
	return s.Is.Findings
}

// Run runs the sections that outlast the rooms, or the others, in goroutines of g until ctx ends.
func (r *Runner) Run(ctx context.Context, outlast bool, g *sync.WaitGroup) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.all {
		if s.Outlasts == outlast {
			g.Go(func() { r.run(ctx, s) })
		}
	}
}

// Rebuild requests that the section of a name be rebuilt, and reports whether it can be.
func (r *Runner) Rebuild(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.all, func(s *Section) bool { return s.Name == name && s.Build != nil })
	if i < 0 {
		return false
	}
	select {
	case r.all[i].rebuild <- struct{}{}:
	default: // a rebuild is pending, and will use the configuration in force then
	}
	return true
}

// A runningPart is a part that runs.
type runningPart struct {
	Part
	stop context.CancelFunc
	life sync.WaitGroup
}

// run runs a section until ctx ends, and rebuilds it on request.
func (r *Runner) run(ctx context.Context, s *Section) {
	running := make(map[string]*runningPart)
	defer stop(running, nil)
	r.start(ctx, s, running)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.rebuild:
			r.rebuild(ctx, s, running)
		}
	}
}

// rebuild rebuilds a section. An unchanged part goes on.
func (r *Runner) rebuild(ctx context.Context, s *Section, running map[string]*runningPart) {
	next := s.Build(ctx)
	if s.AwaitRest != nil {
		s.AwaitRest(ctx)
	}
	if ctx.Err() != nil {
		return
	}
	ended, was := stop(running, next.Parts), s.Is.Findings
	if next.Started != nil {
		next.Started()
	}
	s.Is = next
	r.Rebuilt(ended, was, next.Findings)
	r.start(ctx, s, running)
	r.Log.Info("a part follows the configuration again", "part", s.Name)
}

// stop ends the running parts, except those that go on unchanged. It returns their names.
func stop(running map[string]*runningPart, next []Part) (ended []string) {
	for name, r := range running {
		if !slices.ContainsFunc(next, func(p Part) bool { return p.Name == name && p.equals(r) }) {
			r.stop()
			ended = append(ended, name)
		}
	}
	for _, name := range ended {
		running[name].life.Wait()
		delete(running, name)
	}
	return ended
}

// start runs the parts of a section that do not run yet, until they are ended or ctx is.
func (r *Runner) start(ctx context.Context, s *Section, running map[string]*runningPart) {
	for _, p := range s.Is.Parts {
		if running[p.Name] != nil {
			continue
		}
		one := &runningPart{Part: p}
		running[p.Name] = one
		var life context.Context
		life, one.stop = context.WithCancel(ctx)
		cfg := r.Restarts
		cfg.Report, cfg.Lost, cfg.Pulse, cfg.Began = r.Report, p.Lost, p.Pulse, r.Starts(p.Name)
		if p.Report != nil {
			cfg.Report = p.Report
		}
		run := p.Run
		if p.Modes != nil {
			run = RunInMode(r.DeskMode, p.Modes, run)
		}
		if s.AtDesk && r.DeskHere != nil {
			run = RunInMode(r.DeskHere, earshot.Mode.Listens, run)
		}
		one.life.Go(func() {
			if err := supervise.Run(life, p.Name, run, cfg); err != nil {
				r.Log.Error("a part cannot run", "part", p.Name, "err", err)
			}
		})
	}
}
