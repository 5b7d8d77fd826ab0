//go:build cgo

package main

import (
	"context"
	"errors"
	"io"
	"time"

	"gocv.io/x/gocv"

	"earshot/internal/helper"
	"earshot/models/see/wire"
)

const (
	// warming is how long a camera that was just switched on adjusts its exposure, and warmings how
	// many pictures of that time are skipped at most.
	warming  = time.Second
	warmings = 60

	// usual is the rate of a recording that does not state one, in pictures per second.
	usual = 25

	// rarest is the longest that pictures are taken to be apart.
	rarest = 2 * time.Second
)

// A sampler takes the pictures of a source that are to be examined, when they are due, and skips
// the others. The time of a recording continues when it starts over.
type sampler struct {
	source     source
	server     *helper.Server
	sourceInfo sourceInfo
	loop       bool
	unpaced    bool

	at    time.Time     // when the last one was taken that is looked at
	gap   time.Duration // from one picture of the source to the next, as far as is known
	last  time.Time     // when the last one came
	began time.Time     // the recording
	taken int64         // pictures of it
	fresh bool          // it has just begun again
}

func newSampler(s source, n sourceInfo, o wire.Open, server *helper.Server) *sampler {
	now := time.Now()
	p := &sampler{source: s, server: server, sourceInfo: n, loop: o.Loop && !n.live, unpaced: o.Unpaced && !n.live, began: now, last: now}
	switch {
	case n.rate > 0:
		p.gap = time.Duration(float64(time.Second) / n.rate)
	case !n.live:
		p.gap = time.Second / usual
	}
	return p
}

// first takes the first picture.
func (p *sampler) first(ctx context.Context, m *gocv.Mat) error {
	for n := 0; p.sourceInfo.warm && n < warmings && time.Since(p.began) < warming && ctx.Err() == nil; n++ {
		if err := p.source.take(nil); err != nil {
			return err
		}
	}
	if !p.sourceInfo.live {
		p.began = time.Now()
	}
	p.at = time.Now()
	return p.take(m)
}

// next takes the next picture to be examined, at a rate; or the very next, if one is wanted.
func (p *sampler) next(ctx context.Context, rate float64, a *pictureBuffer, m *gocv.Mat) error {
	due := p.at.Add(time.Duration(float64(time.Second) / rate))
	if p.sourceInfo.live {
		return p.await(ctx, due, a, m)
	}
	for p.time().Before(due.Add(-p.gap/2)) && !a.wanted() {
		if err := p.take(nil); err != nil {
			return err
		}
	}
	if !p.unpaced {
		if late := time.Since(p.time()); late > rarest { // the machine cannot keep up, and never will
			p.began = p.began.Add(late)
		}
		wait := time.NewTimer(time.Until(p.time()))
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-a.wish:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	at := p.time()
	if now := time.Now(); !p.unpaced && at.After(now) {
		at = now
	}
	p.at = at
	return p.take(m)
}

// time is when the next picture of the recording was taken.
func (p *sampler) time() time.Time { return p.began.Add(time.Duration(p.taken) * p.gap) }

// await takes the live picture nearest to its due time.
func (p *sampler) await(ctx context.Context, due time.Time, a *pictureBuffer, m *gocv.Mat) error {
	for ctx.Err() == nil {
		expected := p.last.Add(p.gap)
		if now := time.Now(); expected.Before(now) {
			expected = now
		}
		if expected.Before(due.Add(-p.gap/2)) && !a.wanted() {
			if err := p.take(nil); err != nil {
				return err
			}
			continue
		}
		err := p.take(m)
		p.at = p.last
		return err
	}
	return context.Cause(ctx)
}

// take takes a picture of the source, within its time limit. At the end of a recording that is to
// be looped it starts over.
func (p *sampler) take(m *gocv.Mat) error {
	defer p.server.Guard(silence + stuck)()
	err := p.source.take(m)
	if errors.Is(err, io.EOF) && p.loop && !p.fresh {
		if err = p.source.rewind(); err == nil {
			p.fresh = true
			err = p.source.take(m)
		}
	}
	if err != nil {
		return err
	}
	p.taken++
	p.fresh = p.fresh && m == nil // gocv does not say whether one that is passed over was there
	now := time.Now()
	if p.sourceInfo.live {
		p.learn(min(now.Sub(p.last), rarest))
	}
	p.last = now
	return nil
}

// learn records how long a live picture took to come.
func (p *sampler) learn(gap time.Duration) {
	if p.gap == 0 {
		p.gap = gap
	}
	p.gap += (gap - p.gap) / 8
}
