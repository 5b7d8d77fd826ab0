package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/internal/helper"
	"earshot/models/see"
	"earshot/models/see/seetest"
	"earshot/providers/webcam"
)

const (
	// glances is how many pictures are waited for.
	glances = 60

	// lights is in how many lights the same room is shown, and dimmest the least of them,
	// as a share of daylight: each is told from the next by its brightness.
	lights  = 8
	dimmest = 0.4

	// beat is how long it is from one look to the next while nothing happens.
	beat = 500 * time.Millisecond
)

// An onlooker knows when the scene has a picture, by its brightness.
type onlooker struct {
	mu    sync.Mutex
	first chan float64 // the brightness of daylight
	want  float64      // 0 is none
	sent  time.Time
	came  chan time.Duration
}

// saw is told of what the scene has from now on.
func (o *onlooker) saw(g earshot.Glance) {
	now := time.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.first <- g.Brightness:
	default:
	}
	if o.want > 0 && math.Abs(g.Brightness/o.want-1) < 0.03 {
		o.want = 0
		o.came <- now.Sub(o.sent)
	}
}

// awaits begins to wait for a picture that is sent now.
func (o *onlooker) awaits(brightness float64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.want, o.sent = brightness, time.Now()
}

// glance measures how long it takes from when a camera sends a picture of a room in another
// light to when the scene has it, with the usual rates: by the helper, the sense and the
// room.
func (b bench) glance(ctx context.Context, binary string) (_ Row, err error) {
	s, err := b.openStore(ctx, "glance")
	if err != nil {
		return Row{}, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	h := open(ctx, furniture{model: ladder(&engine{}), journal: s, outlet: sink{}, settings: executive.DefaultConfig()})
	defer h.leave()
	camera := seetest.NewCamera(eyeRate)
	defer camera.Close()
	o := &onlooker{first: make(chan float64, 1), came: make(chan time.Duration, 1)}
	during, stop := beside(ctx, look(binary, webcam.Camera{Device: camera.URL()}, func(ctx context.Context, e earshot.Event) error {
		err := h.Admit(ctx, e)
		if g, ok := e.Body.(earshot.Glance); ok && err == nil {
			o.saw(g)
		}
		return err
	}))
	defer func() { err = errors.Join(err, stop()) }()
	daylight, err := await("the first picture has come", o.first)
	if err != nil {
		return Row{}, err
	}
	var took []float64
	for n := range min(b.rounds, glances) {
		share := dimmest + (1-dimmest)*float64(n*3%lights)/lights
		picture := seetest.JPEG(seetest.Lit(seetest.Room(), share))
		select { // since the last was looked at just now, and the world has another beat
		case <-time.After(time.Duration(n*7%10) * beat / 10):
		case <-during.Done():
			return Row{}, context.Cause(during)
		}
		o.awaits(daylight * share)
		camera.ShowJPEG(picture)
		d, err := await("the next picture has come", o.came)
		if err != nil {
			return Row{}, errors.Join(err, context.Cause(during))
		}
		took = append(took, d.Seconds()*1000)
	}
	all := spread(took)
	p95 := took[int(0.95*float64(len(took)-1)+0.5)] // they are in order now
	usual := webcam.Camera{}.Open(nil)
	return Row{
		Name: "I: a picture is sent → the scene has it", Unit: "ms", Ours: all,
		Note: fmt.Sprintf("p95 %s ms; %v pictures a second are looked at while nothing happens, %v afterwards", number(p95), usual.Idle, usual.Active),
	}, nil
}

// look returns what looks through a camera, and tells what it sees.
func look(binary string, c webcam.Camera, emit func(context.Context, earshot.Event) error) func(context.Context) error {
	var sense *webcam.Provider
	sense = webcam.New(c, webcam.Parts{Source: see.New(see.Config{
		Name: "camera", Open: c.Open(nil), On: func(o see.Observation) { sense.Observe(o) },
		Dial: func() (helper.Link, error) {
			p, err := helper.Start(helper.Command{Name: cameraHelper, Path: binary, Log: silent})
			if err != nil {
				return nil, err
			}
			return p, nil
		},
	})})
	return func(ctx context.Context) error { return sense.Run(ctx, emit) }
}
