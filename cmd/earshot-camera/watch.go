//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"image"
	"io"
	"runtime"
	"time"

	"gocv.io/x/gocv"
	"golang.org/x/sys/unix"

	"earshot"
	"earshot/internal/helper"
	"earshot/models/see/scenery"
	"earshot/models/see/wire"
)

const (
	// smallWidth and smallHeight are the size in which pictures are compared for motion.
	smallWidth  = 160
	smallHeight = 120

	// kept is the side of the largest picture that is kept, in pixels: more than vision models use.
	kept = 1280

	// stays is how long pictures are taken at the higher rate after something moved.
	stays = 3 * time.Second

	// around is how old detections may be to be attributed to another picture.
	around = time.Second
)

// Rates, in pictures per second, if the daemon gives none; and their limits.
const (
	idle, active     = 2, 4
	slowest, fastest = 0.05, 30
)

// A watcher looks at the pictures of one source.
type watcher struct {
	server        *helper.Server
	open          wire.Open
	pictureBuffer *pictureBuffer
	sampler       *sampler
	detectors     *detectors
	scenery       *scenery.Scenery
	looks         scenery.Looks
	seed          maphash.Seed

	number      uint64
	moved       time.Time      // when something last did
	detected    time.Time      // when the detectors looked
	seen        []earshot.Seen // what they found then
	picture     gocv.Mat       // unchanged except for the masks
	grey, small gocv.Mat
}

// watch opens a camera and examines its pictures until ctx ends, which is not an error, or there
// are no more, which is nil at the end of a recording.
func watch(ctx context.Context, s *helper.Server, o wire.Open, a *pictureBuffer) error {
	runtime.LockOSThread() // whose time is measured
	defer runtime.UnlockOSThread()
	o.Idle, o.Active = rateOf(o.Idle, idle), rateOf(o.Active, active)
	e := &watcher{
		server: s, open: o, pictureBuffer: a, seed: maphash.MakeSeed(),
		picture: gocv.NewMat(), grey: gocv.NewMat(), small: gocv.NewMat(),
		scenery: scenery.New(smallWidth, smallHeight, o.Masks),
	}
	defer func() {
		e.picture.Close()
		e.grey.Close()
		e.small.Close()
	}()
	var err error
	if e.detectors, err = openDetectors(); err != nil {
		return err
	}
	defer e.detectors.close()
	defer func() {
		if e.sampler != nil {
			e.sampler.source.close()
		}
	}()
	err = e.begin(ctx)
	for err == nil && ctx.Err() == nil {
		err = e.next(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.Is(err, io.EOF):
		return s.Send(wire.EndName, nil)
	}
	return err
}

func rateOf(r, usual float64) float64 {
	if !(r > 0) {
		return usual
	}
	return min(max(r, slowest), fastest)
}

// begin opens the source, takes its first picture, and reports what the pictures are like.
func (e *watcher) begin(ctx context.Context) error {
	where, err := parse(e.open.Source)
	if err != nil {
		return err
	}
	done := e.server.Guard(opening + stuck)
	defer done()
	source, n, err := open(ctx, where, e.open.Width, e.open.Height, e.open.Active)
	if err != nil {
		return err
	}
	e.sampler = newSampler(source, n, e.open, e.server)
	e.pictureBuffer.alone(e.sampler.unpaced)
	if err := e.sampler.first(ctx, &e.picture); err != nil {
		if errors.Is(err, io.EOF) {
			return &fault{text: where.says + " has no pictures", cure: "give another file", lasting: true}
		}
		return err
	}
	if err := e.check(); err != nil {
		return err
	}
	if err := e.server.Send(wire.ReadyName, wire.Ready{Width: e.picture.Cols(), Height: e.picture.Rows(), Rate: n.rate}); err != nil {
		return err
	}
	return e.look(e.sampler.at, 0)
}

// next takes the next picture that is to be looked at, and looks.
func (e *watcher) next(ctx context.Context) error {
	began := cpu()
	rate := e.open.Idle
	if e.sampler.at.Sub(e.moved) < stays {
		rate = e.open.Active
	}
	err := e.sampler.next(ctx, rate, e.pictureBuffer, &e.picture)
	if err == nil {
		err = e.check()
	}
	if err != nil {
		return err
	}
	return e.look(e.sampler.at, cpu()-began)
}

// check refuses an invalid picture.
func (e *watcher) check() error {
	w, h := e.picture.Cols(), e.picture.Rows()
	switch {
	case w > largest || h > largest:
		return &fault{text: fmt.Sprintf("the picture has %d by %d pixels; at most %d by %[3]d", w, h, largest), cure: "have the camera send smaller pictures", lasting: true}
	case w < smallWidth/4 || h < smallHeight/4:
		return &fault{text: fmt.Sprintf("the picture has only %d by %d pixels", w, h), cure: "have the camera send larger pictures", lasting: true}
	case e.picture.Type() != gocv.MatTypeCV8UC3:
		return &fault{text: "the pictures are of an unknown kind", lasting: true}
	}
	return nil
}

// look looks at the picture that was taken at a time, and says what it sees.
func (e *watcher) look(at time.Time, read time.Duration) error {
	e.number++
	o := wire.Observation{Number: e.number, Width: e.picture.Cols(), Height: e.picture.Rows()}
	o.Cost.Read = read
	var v scenery.View
	o.Cost.Motion = timed(func() { v = e.compare(at) })
	o.Brightness, o.Contrast, o.Motion, o.Novelty, o.Cut, o.Same = v.Brightness, v.Contrast, v.Motion, v.Novelty, v.Cut, v.Same
	if v.Motion > scenery.Still || v.Cut {
		e.moved = at
	}
	if e.due(at, v) {
		e.seen, e.detected = e.detectors.look(e.grey, &o.Cost), at
		o.Detected, o.Seen = true, e.seen
	}
	o.Cost.Keep = timed(func() { e.keep(at) })
	if !e.sampler.unpaced {
		o.Age = bounded(time.Since(at))
	}
	return e.server.Send(wire.ObservationName, o)
}

// due reports whether the detectors are to run: when something moves, as [scenery.Looks] says; on
// the first picture, since a person who sits still is there too; and on request.
func (e *watcher) due(at time.Time, v scenery.View) bool {
	due := e.looks.Due(at, v)
	return due || e.number == 1 || e.pictureBuffer.wanted()
}

// compare blackens the masks, and compares the picture with the earlier ones.
func (e *watcher) compare(at time.Time) scenery.View {
	for _, m := range e.open.Masks {
		if r := pixels(m, e.picture.Cols(), e.picture.Rows()); !r.Empty() {
			region := e.picture.Region(r)
			region.SetTo(gocv.NewScalar(0, 0, 0, 0))
			region.Close()
		}
	}
	all, err := e.picture.DataPtrUint8()
	sum := uint64(e.number) // never the same
	if err == nil {
		sum = maphash.Bytes(e.seed, all)
	}
	gocv.CvtColor(e.picture, &e.grey, gocv.ColorBGRToGray)
	gocv.Resize(e.grey, &e.small, image.Pt(smallWidth, smallHeight), 0, 0, gocv.InterpolationArea)
	small, err := e.small.DataPtrUint8()
	if err != nil {
		return scenery.View{}
	}
	return e.scenery.Look(at, small, sum)
}

// keep keeps the picture for later requests.
func (e *watcher) keep(at time.Time) {
	p := &bufferedPicture{at: at, width: e.picture.Cols(), height: e.picture.Rows()}
	m := e.picture
	if side := max(p.width, p.height); side > kept {
		p.width, p.height = max(1, p.width*kept/side), max(1, p.height*kept/side)
		m = gocv.NewMat()
		defer m.Close()
		gocv.Resize(e.picture, &m, image.Pt(p.width, p.height), 0, 0, gocv.InterpolationArea)
	}
	for _, q := range []int{quality, poor} {
		if p.jpeg = encoded(m, q); len(p.jpeg) <= earshot.MaxPicture {
			break
		}
	}
	if len(p.jpeg) == 0 || len(p.jpeg) > earshot.MaxPicture {
		e.pictureBuffer.miss()
		return
	}
	if at.Sub(e.detected) <= around {
		p.seen, p.searched = e.seen, at.Equal(e.detected)
	}
	e.pictureBuffer.put(p)
}

// encoded returns a picture as JPEG, nil if that cannot be.
func encoded(m gocv.Mat, quality int) []byte {
	b, err := gocv.IMEncodeWithParams(gocv.JPEGFileExt, m, []int{gocv.IMWriteJpegQuality, quality})
	if err != nil {
		return nil
	}
	defer b.Close()
	return append([]byte(nil), b.GetBytes()...)
}

// timed returns how much of this thread's time something takes.
func timed(do func()) time.Duration {
	began := cpu()
	do()
	return cpu() - began
}

// cpu returns for how long this thread has run.
func cpu() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
