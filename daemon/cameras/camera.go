// Package cameras manages the cameras of this machine and of its satellites: which exist, how well each
// sees, and what a person who looks through one is shown.
package cameras

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/daemon/admin"
	"earshot/internal/helper"
	"earshot/internal/probe"
	"earshot/internal/redact"
	"earshot/models/see"
	"earshot/providers"
	"earshot/providers/webcam"
)

// A Camera is a camera that is watched while it runs. Each run opens it anew: the device may have
// moved to another path.
type Camera struct {
	Name   string
	Source string // in a form that anybody may see
	Config webcam.Camera
	Room   earshot.RoomID                 // of a satellite's camera; empty for those of this machine
	Away   func() string                  // why a satellite's camera cannot be opened at present; nil for those of this machine
	open   func(alive func()) *see.Camera // alive is called for each picture
	hides  redact.SourceRedactor
	tell   func(string) // tells those who may be in the picture; may be nil

	mu            sync.Mutex
	camera        *see.Camera // nil while nobody looks
	now           state
	closedByHours bool                                // it was closed by its hours
	told          map[earshot.ParticipantID]time.Time // when people were told that somebody looked
}

// A state is how well a camera sees.
type state struct {
	eyes   earshot.Eyesight
	since  time.Time // since when; zero before the first look
	glance earshot.Glance
	fault  error // why it was lost, until it sees again
}

// errBlind is the fault of a camera that is open and gives no pictures at all.
var errBlind = errors.New("it is open but gives no pictures")

// Run implements [webcam.CameraSource]. It starts no helper for a device that is missing.
func (e *Camera) Run(ctx context.Context) error {
	if f := e.probe(); !f.Works {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.now.fault = &absence{f}
		return e.now.fault
	}
	e.announceOpen()
	defer e.announceClosed(ctx, time.Now)
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

// probe looks for the device, if it is one of this machine.
func (e *Camera) probe() api.CheckResult {
	if e.Away != nil {
		return api.CheckResult{Works: true}
	}
	return probe.Camera(e.Config)
}

// announceOpen says that the camera is open again, if its hours had closed it.
func (e *Camera) announceOpen() { e.announce(false, "open") }

// announceClosed says that the camera is closed, if only its hours closed it.
func (e *Camera) announceClosed(ctx context.Context, now func() time.Time) {
	if ctx.Err() != nil && e.Config.Hours != "" && !e.Config.Hours.Has(now()) {
		e.announce(true, "closed")
	}
}

// announce records whether its hours have closed the camera, and says so if that is news.
func (e *Camera) announce(closed bool, word string) {
	e.mu.Lock()
	was := e.closedByHours
	e.closedByHours = closed
	e.mu.Unlock()
	if was != closed && e.tell != nil {
		e.tell(fmt.Sprintf("%s is now %s: its hours are %s.", admin.CameraTitle(e.Name), word, e.Config.Hours))
	}
}

// An absence is the error of a camera that cannot be opened, or not now.
type absence struct{ api.CheckResult }

func (a *absence) Error() string { return a.Text }

// Cure says what to do about it.
func (a *absence) Cure() string { return a.CheckResult.Cure }

// state returns how well it sees now.
func (e *Camera) state() state {
	e.mu.Lock()
	defer e.mu.Unlock()
	v := e.now
	v.eyes = cmp.Or(v.eyes, earshot.Away)
	return v
}

// Running reports whether pictures may be taken.
func (e *Camera) Running() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.camera != nil
}

// Look returns a picture; see [see.Camera.Look].
func (e *Camera) Look(ctx context.Context, at time.Time, boxes bool) (earshot.Picture, error) {
	e.mu.Lock()
	c := e.camera
	e.mu.Unlock()
	if c == nil {
		return earshot.Picture{}, see.ErrAway
	}
	p, err := c.Look(ctx, at, boxes)
	return p, e.hides.Error(err)
}

// Observe returns an emit that also records how well the camera sees; after the camera is closed,
// it records nothing.
func (e *Camera) Observe(emit providers.Emit) providers.Emit {
	return func(ctx context.Context, event earshot.Event) error {
		e.mu.Lock()
		if err := ctx.Err(); err != nil { // before Run has recorded that it is away
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

// changed records how well it sees since at. The caller holds the mutex.
func (e *Camera) changed(is earshot.Eyesight, at time.Time) {
	if is != cmp.Or(e.now.eyes, earshot.Away) {
		e.now.eyes, e.now.since = is, at
	}
	if is != earshot.Away {
		e.now.fault = nil
	}
}

// New returns a camera of this machine, and the provider that watches through it. Looked is called for
// each picture that was examined.
func New(c webcam.Camera, hidden redact.SourceRedactor, log *slog.Logger, notice func(earshot.Notice), dropped func(int), looked func()) (*Camera, *webcam.Provider) {
	e := &Camera{Name: c.Name, hides: hidden, Source: probe.CameraSource(c), Config: c}
	return e, e.watched(helper.NewDialer(hidden.Log(log.With("camera", c.Name)), helper.CameraProgram), log, notice, dropped, looked)
}

// NoCamera is what Away says of a satellite that has none.
const NoCamera = "its satellite has no camera"

// NewFar is like New for the camera of a satellite, in whose room it looks.
func NewFar(satellite string, room earshot.RoomID, away func() string, start helper.Dialer, log *slog.Logger, notice func(earshot.Notice), dropped func(int), looked func()) (*Camera, *webcam.Provider) {
	c := webcam.Config{Cameras: []webcam.Camera{{Name: "satellite-" + satellite}}}.List()[0]
	e := &Camera{Name: c.Name, Source: "satellite " + satellite, hides: redact.ForSources(), Config: c, Room: room, Away: away}
	return e, e.watched(start, log, notice, dropped, looked)
}

// watched returns the provider that watches through the camera.
func (e *Camera) watched(start helper.Dialer, log *slog.Logger, notice func(earshot.Notice), dropped func(int), looked func()) *webcam.Provider {
	c := e.Config
	sense := webcam.New(c, webcam.Parts{Source: e, Notice: notice, Dropped: dropped, Log: log})
	log = e.hides.Log(log.With("camera", c.Name))
	e.open = func(alive func()) *see.Camera {
		var here []see.Device // a satellite chooses its own
		if e.Away == nil {
			here = probe.ConnectedCameras()
		}
		return see.New(see.Config{
			Name: c.Name, Dial: start, Open: c.Open(here), Log: log,
			On: func(o see.Observation) {
				looked()
				alive()
				sense.Observe(o)
			},
		})
	}
	return sense
}

// ShouldTell reports whether people must be told that somebody looks at now.
func (e *Camera) ShouldTell(who earshot.ParticipantID, now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if last, ok := e.told[who]; ok && now.Sub(last) < seldomTold {
		return false
	}
	if e.told == nil {
		e.told = make(map[earshot.ParticipantID]time.Time)
	}
	e.told[who] = now
	return true
}

// AnnounceHours has tell called when the hours of the camera close it, and when they open it
// again. Closed says whether they close it now.
func (e *Camera) AnnounceHours(tell func(string), closed bool) {
	e.tell, e.closedByHours = tell, closed
}

// View returns what is known of the camera without sight. Closed says why it is not to look now.
func (e *Camera) View(closed string) api.CameraView {
	v := e.state()
	g := v.glance
	if v.eyes == earshot.Away { // who was in view is nobody's business any more
		g = earshot.Glance{}
	}
	s := api.CameraView{
		Camera: e.Name, Source: e.Source, Eyes: v.eyes, Since: v.since, Closed: closed,
		People: g.People, Faces: g.Faces, Brightness: g.Brightness, Motion: g.Motion,
	}
	if s.Closed == "" && v.fault != nil {
		SetFault(&s, v.fault)
	}
	return s
}
