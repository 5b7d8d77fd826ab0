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

// A section is what one part of the configuration makes: some parts that run beside the
// rooms. It can be made anew while the daemon serves, and nothing else notices.
type section struct {
	name string // as people call it, such as "the microphone"

	// make returns what it is, as the configuration in force says. It may take seconds:
	// what was runs meanwhile. If nil, it is never made anew.
	build func(context.Context) sectionBuild

	// rests returns when nothing is cut short by ending it, or when it is no use waiting
	// any longer. If nil, it may be ended at any time.
	awaitRest func(context.Context)

	is      sectionBuild  // while the daemon serves, of whoever attends it
	rebuild chan struct{} // of capacity 1
}

// A sectionBuild is what a section is made of.
type sectionBuild struct {
	parts    []part
	findings []probe.Finding // what was found out about them
	started  func()          // once what was before has ended; may be nil
}

// A runningPart is a part that runs.
type runningPart struct {
	part
	stop context.CancelFunc
	life sync.WaitGroup
}

// install gives the daemon a section, before any runs, and returns what was found out.
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

// runSections runs the parts until ctx ends.
func (d *Daemon) runSections(ctx context.Context, rest *sync.WaitGroup) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.sections {
		rest.Go(func() { d.runSection(ctx, s) })
	}
}

// runSection runs a section until ctx ends, and makes it anew whenever it is to be.
func (d *Daemon) runSection(ctx context.Context, s *section) {
	run := make(map[string]*runningPart)
	defer stopParts(run, nil)
	d.startParts(ctx, run, s.is.parts)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.rebuild:
			d.rebuildSection(ctx, s, run)
		}
	}
}

// rebuildSection makes a section anew. A part that is the same as it was goes on.
func (d *Daemon) rebuildSection(ctx context.Context, s *section, run map[string]*runningPart) {
	next := s.build(ctx)
	if s.awaitRest != nil {
		s.awaitRest(ctx)
	}
	if ctx.Err() != nil {
		return
	}
	for _, name := range stopParts(run, next.parts) {
		d.desk.Know(earshot.Notice{Key: name, Over: true}) // it is another from now on
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
	d.startParts(ctx, run, next.parts)
	d.log.Info("a part follows the configuration again", "part", s.name)
}

// same reports whether p is what is running already.
func (p part) same(is *runningPart) bool {
	return is != nil && p.as != nil && reflect.DeepEqual(p.as, is.as)
}

// stopParts ends what runs, but for what is to go on as it is. It returns the names.
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

// startParts runs those parts that do not run yet, until they are ended or ctx is.
func (d *Daemon) startParts(ctx context.Context, run map[string]*runningPart, parts []part) {
	for _, p := range parts {
		if run[p.name] != nil {
			continue
		}
		r := &runningPart{part: p}
		run[p.name] = r
		var life context.Context
		life, r.stop = context.WithCancel(ctx)
		cfg := d.options.Restarts
		cfg.Report, cfg.Lost, cfg.Pulse = d.report, p.lost, p.pulse
		cfg.Began = d.health.CountStarts(p.name)
		does := p.run
		if p.modes != nil {
			does = runInMode(d.desk.Mode, p.modes, does)
		}
		r.life.Go(func() {
			if err := supervise.Run(life, p.name, does, cfg); err != nil {
				d.log.Error("a part cannot run", "part", p.name, "err", err)
			}
		})
	}
}

// rebuild has a section be made anew, and reports whether there is one that can be.
func (d *Daemon) rebuild(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.sections, func(s *section) bool { return s.name == name && s.build != nil })
	if i < 0 {
		return false
	}
	select {
	case d.sections[i].rebuild <- struct{}{}:
	default: // it is going to be already, by what is in force then
	}
	return true
}

// restInterval is how often it is looked whether something has come to rest: a pause between
// two words is longer.
const restInterval = 20 * time.Millisecond

// await returns when over is true, or after so long, or when ctx ends. It reports whether
// it is.
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
