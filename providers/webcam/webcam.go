// Package webcam is the provider that sees what is in front of a camera: from what its helper
// finds in single pictures it derives who is there, whether anything can be seen at all, and which
// codes were held up. What the agent sees at the moment comes with each picture, as an
// [earshot.Glance]; a change is an [earshot.Sight], and there are never more of those than
// changes: people and light come and go, detectors err, and none of that flickers.
//
// Pictures never wait. When the room is slow, some are queued, and then the oldest one without a
// detection is dropped, counted and logged; of several queued ones only the last is reported as a
// Glance. All times are those of the pictures, in order.
//
// What nobody may see does not come here: masked areas are black before anything looks, and
// outside its hours the camera is closed.
package webcam

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"earshot"
	"earshot/internal/mailbox"
	"earshot/models/see"
	"earshot/providers"
)

// A CameraSource is a camera, or a substitute.
type CameraSource interface {
	// Run looks until ctx ends or the source ends by itself, neither of which is an error, or until
	// the camera is lost. It passes what it sees to [Provider.Observe].
	Run(ctx context.Context) error
}

// Parts are the dependencies of the provider of a camera.
type Parts struct {
	Source CameraSource

	// Notice receives faults of the picture and their ends, but not the loss of the camera, which
	// is the error of Run. It may be nil, and must not block.
	Notice func(earshot.Notice)

	// Dropped, if set, receives the number of pictures that were dropped, since the room was slow.
	// It returns at once.
	Dropped func(n int)

	Log *slog.Logger // may be nil
}

// A Provider is the provider for one camera. Its methods may be called from any goroutine; it runs
// once at a time. What it knows of the people there outlives a run, for some minutes.
type Provider struct {
	camera Camera
	parts  Parts
	queue  *mailbox.Queue[see.Observation]
	watch  *sceneTracker // used by Run alone
	logged time.Time
	lost   int // dropped pictures that were not logged yet
}

// most is how many pictures wait for the room: some seconds of them, as long as a disk takes to
// recover. The latest picture is the one that matters.
const most = 32

// dropPicture drops the oldest observation without a detection, or else the oldest, when more than
// most wait. The latest is not dropped.
func dropPicture(all []see.Observation) (kept []see.Observation, dropped int) {
	if len(all) <= most {
		return all, 0
	}
	i := max(0, slices.IndexFunc(all[:most], func(o see.Observation) bool { return !o.Detected && !o.Cut }))
	return slices.Delete(all, i, i+1), 1
}

// New returns the provider for a camera, whose configuration must be valid. It opens nothing until
// it runs.
func New(c Camera, parts Parts) *Provider {
	if parts.Notice == nil {
		parts.Notice = func(earshot.Notice) {}
	}
	if parts.Log == nil {
		parts.Log = slog.New(slog.DiscardHandler)
	}
	c = c.withDefaults()
	return &Provider{camera: c, parts: parts, queue: mailbox.New(dropPicture), watch: newWatch(c.Name)}
}

// Name implements [providers.Provider].
func (p *Provider) Name() string { return "webcam" }

// Observe handles what the helper found in a picture. It does not block.
func (p *Provider) Observe(o see.Observation) {
	p.queue.Put(o)
}

// look is how often to check whether there are pictures at all, and whether it is time to close
// the camera.
const look = time.Second

// Run implements [providers.Provider]. When ctx ends, nothing more is reported: whoever ended it
// knows that the camera is closed then.
func (p *Provider) Run(ctx context.Context, emit providers.Emit) error {
	p.queue.TakeAll(nil) // left by the previous run
	for ctx.Err() == nil {
		p.shut(ctx)
		if ctx.Err() != nil {
			break
		}
		if over, err := p.open(ctx, emit); over {
			return err
		}
	}
	return nil
}

// allowed reports whether the camera may look at a time.
func (p *Provider) allowed(now time.Time) bool {
	return p.camera.Hours == "" || p.camera.Hours.Has(now)
}

// shut waits until the camera may look.
func (p *Provider) shut(ctx context.Context) {
	if p.allowed(time.Now()) {
		return
	}
	t := time.NewTicker(look)
	defer t.Stop()
	for !p.allowed(time.Now()) {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// open looks through the camera until its hours or the source end, or ctx ends.
func (p *Provider) open(ctx context.Context, emit providers.Emit) (over bool, err error) {
	looking, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- p.parts.Source.Run(looking) }() // waited for below, on every path
	t := time.NewTicker(look)
	defer t.Stop()
	for over = false; ; {
		select {
		case <-p.queue.More():
			err = p.told(ctx, emit)
		case now := <-t.C:
			if err = p.tell(ctx, emit, p.watch.wait(now)); err == nil && !p.allowed(now) {
				stop()
			}
			p.notice(now)
		case lost := <-ended:
			if ctx.Err() != nil {
				p.watch.close(time.Now())
				return true, nil
			}
			if err = p.told(ctx, emit); err == nil {
				err = p.tell(ctx, emit, p.watch.close(time.Now()))
			}
			if lost != nil && looking.Err() == nil {
				err = lost
			}
			return looking.Err() == nil || err != nil, err
		}
		if err != nil {
			stop()
			<-ended
			p.watch.close(time.Now())
			if ctx.Err() != nil {
				err = nil
			}
			return true, err
		}
	}
}

// told tells the room about the queued pictures.
func (p *Provider) told(ctx context.Context, emit providers.Emit) error {
	all, dropped := p.queue.TakeAll(nil)
	p.drop(dropped)
	for i, o := range all {
		glance, sights := p.watch.look(o, time.Now())
		if err := p.tell(ctx, emit, sights); err != nil {
			return err
		}
		if i == len(all)-1 {
			if err := p.emit(ctx, emit, glance); err != nil {
				return err
			}
		}
	}
	p.notice(time.Now())
	return nil
}

// tell tells the room what changed.
func (p *Provider) tell(ctx context.Context, emit providers.Emit, sights []earshot.Sight) error {
	for _, s := range sights {
		if err := p.emit(ctx, emit, s); err != nil {
			return err
		}
	}
	return nil
}

func (p *Provider) emit(ctx context.Context, emit providers.Emit, b earshot.Body) error {
	e := earshot.Event{At: p.watch.at, From: earshot.Handle{Provider: "webcam", ID: p.camera.Name}, Body: b}
	if err := emit(ctx, e); err != nil {
		return fmt.Errorf("reporting what the camera %s sees: %w", p.camera.Name, err)
	}
	return nil
}

// notice tells people about faults of the picture and their ends.
func (p *Provider) notice(now time.Time) {
	if n, ok := p.watch.eyes.tell(p.camera.Name, now); ok {
		p.parts.Notice(n)
	}
}

// drop counts dropped pictures, and logs that once a second at most.
func (p *Provider) drop(n int) {
	p.lost += n
	if p.parts.Dropped != nil && n > 0 {
		p.parts.Dropped(n)
	}
	if now := time.Now(); p.lost > 0 && now.Sub(p.logged) >= time.Second {
		p.parts.Log.Info("pictures were dropped, since the room is slow", "camera", p.camera.Name, "pictures", p.lost)
		p.logged, p.lost = now, 0
	}
}
