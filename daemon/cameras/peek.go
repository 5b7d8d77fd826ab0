package cameras

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/internal/redact"
	"earshot/providers/webcam"
)

const (
	// opening is how long a camera that is opened for one look may take until its first picture: a
	// network stream takes some seconds, and a silent one is not waited for.
	opening = 15 * time.Second

	// leastLook is how long it looks, since people who move are seen better than those who do not;
	// mostLook is the limit if it does not see clearly, since one picture does not make a room
	// dark.
	leastLook, mostLook = time.Second, 5 * time.Second
)

// Peek opens a camera, looks for a while, and closes it. S holds what is known beforehand.
func Peek(ctx context.Context, c webcam.Camera, s api.CameraView, want api.LookRequest) api.CameraView {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sees := make(chan struct{})
	var once sync.Once
	e, sense := New(c, redact.ForSources(c.Device), slog.New(slog.DiscardHandler), nil, nil, func() { once.Do(func() { close(sees) }) })
	ended := make(chan error, 1)
	go func() {
		ended <- sense.Run(ctx, e.Observe(func(context.Context, earshot.Event) error { return nil }))
	}()
	late := time.NewTimer(opening)
	defer late.Stop()
	over := false
	fault := errors.New("it gave no picture within " + opening.String())
	select {
	case <-sees:
		p, err := e.settled(ctx, want.Boxes)
		v := e.state()
		s.Eyes, s.Since, fault = v.eyes, v.since, err
		if err == nil {
			s.People, s.Faces, s.Brightness, s.Motion = v.glance.People, v.glance.Faces, v.glance.Brightness, v.glance.Motion
			SetPicture(&s, p, want.Picture)
		}
	case fault = <-ended:
		over = true
		if fault == nil {
			fault = errors.New("it stopped before its first picture")
		}
	case <-late.C:
	case <-ctx.Done():
		fault = context.Cause(ctx)
	}
	cancel()
	if !over {
		if err := <-ended; err != nil && fault != nil {
			fault = err // it has more detail
		}
	}
	if fault != nil {
		SetFault(&s, fault)
	}
	return s
}

// settled returns the picture after a while.
func (e *Camera) settled(ctx context.Context, boxes bool) (p earshot.Picture, err error) {
	for began := time.Now(); ; {
		next, bad := e.Look(ctx, time.Time{}, boxes)
		if bad != nil {
			if len(p.JPEG) > 0 { // for example, of a short recording
				return p, nil
			}
			return p, bad
		}
		p = next
		if took := time.Since(began); took >= mostLook || took >= leastLook && e.state().eyes == earshot.Clear {
			return p, nil
		}
	}
}
