package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/models/stt"
	"earshot/outlets/loudspeaker"
	"earshot/providers/microphone"
)

// somebody talks with the agent at the microphone.
var somebody = earshot.Handle{Provider: "microphone", ID: "default"}

// A stage is where the agent speaks and is interrupted: a recogniser, and for
// each scene a house with a voice in it.
type stage struct {
	*pupil
	mic atomic.Pointer[microphone.Provider] // of the scene
}

func newStage(d dial) *stage {
	s := new(stage)
	s.pupil = &pupil{rest: make(chan struct{}, 1), Recogniser: stt.New(stt.Config{
		Dial: d.to(speechHelper, "hear"), Names: []string{executive.DefaultConfig().Name}, Phrases: stops, Log: silent,
		On: func(p stt.Phrase) {
			if mic := s.mic.Load(); mic != nil {
				mic.Called(p.Text, p.At)
			}
		},
	})}
	return s
}

// play lets the agent speak on l, and when it can be heard plays t until the
// agent is cut or t ends. It returns when t began.
func (s *stage) play(ctx context.Context, t *tape, l *loudspeaker.Loudspeaker, cut <-chan struct{}) (began time.Time, err error) {
	entered := make(chan struct{})
	ctx, stop := beside(ctx, func(ctx context.Context) error {
		return l.Run(ctx, func(earshot.Outlet) func() {
			close(entered)
			return func() {}
		})
	})
	if _, err = await(entered); err == nil {
		began, err = s.interrupt(ctx, t, l, cut)
	}
	if fault := stop(); err == nil {
		err = fault
	}
	return began, err
}

// interrupt does so, in a house whose voice is l.
func (s *stage) interrupt(ctx context.Context, t *tape, l *loudspeaker.Loudspeaker, cut <-chan struct{}) (time.Time, error) {
	h := open(ctx, furniture{model: ladder(new(engine)), journal: new(blank), outlet: l, settings: executive.DefaultConfig()})
	defer h.leave()
	ask := earshot.Event{ID: newID(), From: somebody, Body: earshot.Utterance{Text: "earshot tell me about the tides", Confidence: 1}}
	if err := h.Admit(ctx, ask); err != nil {
		return time.Time{}, err
	}
	if _, err := await(h.first); err != nil {
		return time.Time{}, err
	}
	hearing, end := context.WithCancel(ctx)
	defer end()
	began := time.Now()
	mic := microphone.New(microphone.DefaultConfig(), microphone.Parts{Capture: rolling{t, began}, Recogniser: s.pupil})
	s.mic.Store(mic)
	defer s.mic.Store(nil)
	var listening sync.WaitGroup
	defer listening.Wait()
	listening.Go(func() {
		select {
		case <-cut:
			end()
		case <-hearing.Done():
		}
	})
	err := mic.Run(hearing, h.Admit)
	if hearing.Err() != nil && ctx.Err() == nil {
		err = nil
	}
	end()
	return began, err
}
