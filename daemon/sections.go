package daemon

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	"earshot"
	"earshot/internal/probe"
	"earshot/internal/supervise"
)

// A section is what one part of the configuration makes: some parts that run beside the rooms. It
// can be rebuilt while the daemon serves, without affecting anything else.
type section struct {
	name string // for people, such as "the microphone"

	// outlasts says that it ends after the rooms.
	outlasts bool

	// atDesk says that its parts are at the desk, and run only while that is here.
	atDesk bool

	// make returns the build for the configuration in force. It may take seconds: the old parts run
	// meanwhile. If nil, the section is never rebuilt.
	build func(context.Context) sectionBuild

	// rests returns when ending the section cuts nothing short, or when waiting longer is no use.
	// If nil, it may be ended at any time.
	awaitRest func(context.Context)

	is      sectionBuild  // while the daemon serves, owned by runSection
	rebuild chan struct{} // of capacity 1
}

// A sectionBuild is what a section consists of.
type sectionBuild struct {
	parts    []part
	findings []probe.Finding // about the parts
	started  func()          // called once the old parts have ended; may be nil
}

// A runningPart is a part that runs.
type runningPart struct {
	part
	stop context.CancelFunc
	life sync.WaitGroup
}

// install adds a section to the daemon, before any runs, and returns the findings.
func (d *Daemon) install(ctx context.Context, s *section) []probe.Finding {
	s.rebuild = make(chan struct{}, 1)
	if s.build != nil {
		s.is = s.build(ctx)
	}
	if s.is.started != nil {
		s.is.started()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sections = append(d.sections, s)
	return s.is.findings
}

// runSections runs the parts of sections that outlast the rooms, or of the others, until ctx ends.
func (d *Daemon) runSections(ctx context.Context, outlast bool, rest *sync.WaitGroup) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.sections {
		if s.outlasts == outlast {
			rest.Go(func() { d.runSection(ctx, s) })
		}
	}
}

// runSection runs a section until ctx ends, and rebuilds it on request.
func (d *Daemon) runSection(ctx context.Context, s *section) {
	run := make(map[string]*runningPart)
	defer stopParts(run, nil)
	d.startParts(ctx, s, run)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.rebuild:
			d.rebuildSection(ctx, s, run)
		}
	}
}

// rebuildSection rebuilds a section. An unchanged part goes on.
func (d *Daemon) rebuildSection(ctx context.Context, s *section, run map[string]*runningPart) {
	next := s.build(ctx)
	if s.awaitRest != nil {
		s.awaitRest(ctx)
	}
	if ctx.Err() != nil {
		return
	}
	for _, name := range stopParts(run, next.parts) {
		for _, r := range d.rooms.now() {
			r.Know(earshot.Notice{Key: name, Over: true}) // the section is a new one now
		}
		d.health.Remove(name)
	}
	for _, f := range s.is.findings {
		d.removeWorking(f.Thing)
		d.health.Remove(f.Thing)
	}
	if next.started != nil {
		next.started()
	}
	s.is = next
	for _, f := range next.findings {
		d.AddWorking(f.Thing)
		d.health.NoteFinding(f)
		if !f.Works {
			d.report(f.Notice())
		}
	}
	d.startParts(ctx, s, run)
	d.log.Info("a part follows the configuration again", "part", s.name)
}

// same reports whether p equals the part that is running.
func (p part) same(is *runningPart) bool {
	return is != nil && p.as != nil && reflect.DeepEqual(p.as, is.as)
}

// stopParts ends the running parts, except those that go on unchanged. It returns the names.
func stopParts(run map[string]*runningPart, next []part) (ended []string) {
	for name, r := range run {
		if !slices.ContainsFunc(next, func(p part) bool { return p.name == name && p.same(r) }) {
			r.stop()
			ended = append(ended, name)
		}
	}
	for _, name := range ended {
		run[name].life.Wait()
		delete(run, name)
	}
	return ended
}

// startParts runs the parts of a section that do not run yet, until they are ended or ctx is.
func (d *Daemon) startParts(ctx context.Context, s *section, run map[string]*runningPart) {
	for _, p := range s.is.parts {
		if run[p.name] != nil {
			continue
		}
		r := &runningPart{part: p}
		run[p.name] = r
		var life context.Context
		life, r.stop = context.WithCancel(ctx)
		cfg := d.options.Restarts
		cfg.Report, cfg.Lost, cfg.Pulse = d.report, p.lost, p.pulse
		if p.report != nil {
			cfg.Report = p.report
		}
		cfg.Began = d.health.CountStarts(p.name)
		does := p.run
		if p.modes != nil {
			does = runInMode(func() (earshot.Mode, <-chan struct{}) { return d.deskRoom().Mode() }, p.modes, does)
		}
		if s.atDesk && d.cluster != nil {
			does = runInMode(d.cluster.deskMode, earshot.Mode.Listens, does)
		}
		r.life.Go(func() {
			if err := supervise.Run(life, p.name, does, cfg); err != nil {
				d.log.Error("a part cannot run", "part", p.name, "err", err)
			}
		})
	}
}

// rebuild requests that a section be rebuilt, and reports whether it can be.
func (d *Daemon) rebuild(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.sections, func(s *section) bool { return s.name == name && s.build != nil })
	if i < 0 {
		return false
	}
	select {
	case d.sections[i].rebuild <- struct{}{}:
	default: // a rebuild is pending, and will use the configuration in force then
	}
	return true
}

// restInterval is how often to check whether something has come to rest: a pause between two words
// is longer.
const restInterval = 20 * time.Millisecond

// await returns when over is true, after a timeout, or when ctx ends. It returns the value of
// over.
func await(ctx context.Context, most time.Duration, over func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	look := time.NewTicker(restInterval)
	defer look.Stop()
	for !over() {
		select {
		case <-look.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// runInMode returns a run that runs only while the mode of a room allows it: when the mode forbids
// it, capture ends at the source, and starts again when it is allowed. Mode is as
// [room.Room.Mode].
func runInMode(mode func() (earshot.Mode, <-chan struct{}), lets func(earshot.Mode) bool, run func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		for ctx.Err() == nil {
			if m, changed := mode(); !lets(m) {
				select {
				case <-changed:
				case <-ctx.Done():
				}
				continue
			}
			if over, err := runUntilMode(ctx, mode, lets, run); over {
				return err
			}
		}
		return nil
	}
}

// runUntilMode runs run until it ends by itself, when it returns true, or until the mode forbids
// it. If the mode is the same after a change, it was different in between, and may have forbidden
// it: what was captured then is thrown away as well.
func runUntilMode(ctx context.Context, mode func() (earshot.Mode, <-chan struct{}), lets func(earshot.Mode) bool, run func(context.Context) error) (bool, error) {
	was, changed := mode()
	if !lets(was) {
		return false, nil
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	for {
		select {
		case err := <-ended:
			return true, err
		case <-changed:
		}
		var is earshot.Mode
		if is, changed = mode(); is == was || !lets(is) {
			stop()
			<-ended
			return false, nil
		}
		was = is
	}
}
