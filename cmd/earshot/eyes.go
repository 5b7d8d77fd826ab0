package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"earshot"
	"earshot/executive/room"
	"earshot/internal/helper"
	"earshot/internal/probe"
	"earshot/internal/redact"
	"earshot/internal/supervise"
	"earshot/models/see"
	"earshot/providers"
	"earshot/providers/webcam"
)

// eyes are the cameras of the house. Where agents may look through them is for
// executive.sight.rooms to say.
type eyes struct {
	mu       sync.Mutex
	all      []*camera
	expected []string // the names of those that the start still looks for
}

// expect takes in which cameras are configured, before the start has looked for any: none of
// them works yet, which is not the same as that there is none.
func (all *eyes) expect(c webcam.Config) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if c.Enabled {
		for _, one := range c.List() {
			all.expected = append(all.expected, one.Name)
		}
	}
}

// are makes these the cameras.
func (all *eyes) are(list []*camera) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.all, all.expected = list, nil
}

// list returns the cameras, in the order of the configuration.
func (all *eyes) list() []*camera {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.all[:len(all.all):len(all.all)]
}

// find returns the camera of that name; the first if nothing is said.
func (all *eyes) find(name string) *camera {
	for _, e := range all.list() {
		if name == "" || e.name == name {
			return e
		}
	}
	return nil
}

// errNoCamera is that there is none, or none of that name.
var errNoCamera = errors.New("there is no such camera")

// Cameras implements [room.Cameras].
func (all *eyes) Cameras() (list []room.Camera) {
	for _, e := range all.list() {
		now := e.sees()
		list = append(list, room.Camera{Name: e.name, Eyesight: now.eyes, Since: now.since})
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, name := range all.expected {
		list = append(list, room.Camera{Name: name, Eyesight: earshot.Away})
	}
	return list
}

// Look implements [room.Cameras].
func (all *eyes) Look(ctx context.Context, camera string, at time.Time) (earshot.Picture, error) {
	e := all.find(camera)
	if e == nil {
		return earshot.Picture{}, errNoCamera
	}
	p, err := e.look(ctx, at, false)
	if err != nil {
		return p, fmt.Errorf("looking through the %s: %w", earshot.CameraCalled(e.name), err)
	}
	return p, nil
}

// A camera is a camera that is looked through as long as it runs. It is opened anew by
// each run: the device may stand at another place then.
type camera struct {
	name   string
	source string // as anybody may see it
	config webcam.Camera
	open   func(alive func()) *see.Camera // alive is called for each picture
	hides  redact.SourceRedactor
	tell   func(string) // tells those who may be seen; may be nil

	mu     sync.Mutex
	camera *see.Camera // nil while nobody looks
	now    view
	rests  bool                                // it was closed by its hours
	told   map[earshot.ParticipantID]time.Time // when people were told that somebody looked
}

// A view is how a camera sees.
type view struct {
	eyes   earshot.Eyesight
	since  time.Time // since when; zero before it has looked for the first time
	glance earshot.Glance
	fault  error // why it was lost, until it sees again
}

// errBlind is what a camera is lost for that is open and sees nothing at all.
var errBlind = errors.New("it is open but gives no pictures")

// Run implements [webcam.CameraSource]. No helper is started for a device that is not there.
func (e *camera) Run(ctx context.Context) error {
	if f := probe.Camera(e.config); !f.Works {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.now.fault = &absence{f}
		return e.now.fault
	}
	e.wakes()
	defer e.resting(ctx, time.Now)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	blind := time.AfterFunc(webcam.Deaf, func() { stop(errBlind) })
	defer blind.Stop()
	c := e.open(func() { blind.Reset(webcam.Deaf) })
	e.mu.Lock()
	e.camera = c
	e.mu.Unlock()
	err := e.hides.Error(c.Run(ctx))
	if cause := context.Cause(ctx); errors.Is(cause, errBlind) {
		err = cause
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.camera = nil
	e.changed(earshot.Away, time.Now())
	e.now.fault = err
	return err
}

// wakes says that it is open again, if its hours had closed it.
func (e *camera) wakes() {
	e.mu.Lock()
	rested := e.rests
	e.rests = false
	e.mu.Unlock()
	if rested && e.tell != nil {
		e.tell(fmt.Sprintf("%s is now open: its hours are %s.", titled(e.name), e.config.Hours))
	}
}

// resting says that it is closed, if its hours have closed it and nothing else has.
func (e *camera) resting(ctx context.Context, now func() time.Time) {
	if ctx.Err() == nil || e.config.Hours == "" || e.config.Hours.Has(now()) {
		return
	}
	e.mu.Lock()
	rested := e.rests
	e.rests = true
	e.mu.Unlock()
	if !rested && e.tell != nil {
		e.tell(fmt.Sprintf("%s is now closed: its hours are %s.", titled(e.name), e.config.Hours))
	}
}

// An absence is a camera that cannot be opened, or not now.
type absence struct{ probe.Finding }

func (a *absence) Error() string { return a.Text }

// Cure says what mends it.
func (a *absence) Cure() string { return a.Finding.Cure }

// sees returns how it sees now.
func (e *camera) sees() view {
	e.mu.Lock()
	defer e.mu.Unlock()
	v := e.now
	v.eyes = cmp.Or(v.eyes, earshot.Away)
	return v
}

// running reports whether pictures may be taken.
func (e *camera) running() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.camera != nil
}

// look returns a picture; see [see.Camera.Look].
func (e *camera) look(ctx context.Context, at time.Time, boxes bool) (earshot.Picture, error) {
	e.mu.Lock()
	c := e.camera
	e.mu.Unlock()
	if c == nil {
		return earshot.Picture{}, see.ErrAway
	}
	p, err := c.Look(ctx, at, boxes)
	return p, e.hides.Error(err)
}

// notes returns an emit that remembers how it sees; once it is closed, nothing does.
func (e *camera) notes(emit providers.Emit) providers.Emit {
	return func(ctx context.Context, event earshot.Event) error {
		e.mu.Lock()
		if err := ctx.Err(); err != nil { // before Run has noted that it is away
			e.mu.Unlock()
			return err
		}
		switch body := event.Body.(type) {
		case earshot.Glance:
			e.now.glance = body
			e.changed(body.Eyes, event.At)
		case earshot.Sight:
			e.changed(body.Eyes, event.At)
		}
		e.mu.Unlock()
		return emit(ctx, event)
	}
}

// changed notes how it sees since at. Its mutex is held.
func (e *camera) changed(is earshot.Eyesight, at time.Time) {
	if is != cmp.Or(e.now.eyes, earshot.Away) {
		e.now.eyes, e.now.since = is, at
	}
	if is != earshot.Away {
		e.now.fault = nil
	}
}

// look returns the cameras, of which looks was found out. One that is missing may still
// come; one that is as it was goes on.
func (d *daemon) look(looks []probe.Finding) sectionBuild {
	is := sectionBuild{findings: looks}
	hidden := redact.ForSources(sources(d.config().Providers.Webcam)...)
	var all []*camera
	for i, c := range d.config().Providers.Webcam.List() {
		if i == len(looks) {
			break // it is switched off
		}
		e, p := d.watch(c, hidden, !looks[i].Works)
		if was := d.eyes.find(c.Name); was != nil && reflect.DeepEqual(was.config, c) {
			e = was
		}
		all, is.parts = append(all, e), append(is.parts, p)
	}
	is.begins = func() { d.eyes.are(all) }
	return is
}

// sight looks for the cameras that the house could see with, and gives it those.
func (a *app) sight(d *daemon, wanted bool) []probe.Finding {
	if !wanted {
		return nil
	}
	looks := d.install(a.ctx, &section{name: theCameras, make: func(ctx context.Context) sectionBuild { return d.look(probe.Cameras(ctx, d.config())) }})
	for _, f := range looks {
		if !f.Works {
			d.shows(f.Notice())
		}
	}
	return looks
}

// sources returns where the pictures come from.
func sources(c webcam.Config) (all []string) {
	for _, one := range c.List() {
		all = append(all, one.Device)
	}
	return all
}

// watch returns a camera, and the part that sees through it.
func (d *daemon) watch(c webcam.Camera, hidden redact.SourceRedactor, lost bool) (*camera, part) {
	there := new(supervise.Pulse)
	e, sense := newEye(c, hidden, d.log, d.report, d.drops("webcam"), there.Beat)
	e.tell, e.rests = func(text string) { d.desk.Mention(text) }, probe.Closed(earshot.Live, c.Hours, time.Now()) != ""
	return e, part{
		name: earshot.CameraCalled(c.Name), lets: earshot.Mode.Watches, lost: lost, pulse: there, as: c,
		run: func(ctx context.Context) error { return sense.Run(ctx, e.notes(d.Admit)) },
	}
}

// newEye returns a camera, and the sense that sees through it. Looked is called for each
// picture that was looked at.
func newEye(c webcam.Camera, hidden redact.SourceRedactor, log *slog.Logger, notice func(earshot.Notice), dropped func(int), looked func()) (*camera, *webcam.Provider) {
	e := &camera{name: c.Name, hides: hidden, source: probe.CameraSource(c), config: c}
	sense := webcam.New(c, webcam.Parts{Source: e, Notice: notice, Dropped: dropped, Log: log})
	log = hidden.Log(log.With("camera", c.Name))
	start := helper.NewDialer(log, helper.CameraProgram)
	e.open = func(alive func()) *see.Camera {
		return see.New(see.Config{
			Name: c.Name, Dial: start, Open: c.Open(probe.ConnectedCameras()), Log: log,
			On: func(o see.Observation) {
				looked()
				alive()
				sense.Observe(o)
			},
		})
	}
	return e, sense
}
