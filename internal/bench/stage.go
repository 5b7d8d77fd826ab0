package main

import (
	"context"
	"sync"
	"sync/atomic"

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

// A scene is one reply that is interrupted.
type scene struct {
	loud    *loudspeaker.Loudspeaker
	capture microphone.Capture

	// act is called when the agent can be heard, with a context that ends when
	// the capture does. The scene is over when it returns.
	act func(context.Context) error
}

// play plays a scene.
func (s *stage) play(ctx context.Context, c scene) error {
	entered := make(chan struct{})
	ctx, stop := beside(ctx, func(ctx context.Context) error {
		return c.loud.Run(ctx, func(earshot.Outlet) func() {
			close(entered)
			return func() {}
		})
	})
	_, err := await(entered)
	if err == nil {
		err = s.perform(ctx, c)
	}
	if fault := stop(); err == nil {
		err = fault
	}
	return err
}

// perform does so, in a house with that voice.
func (s *stage) perform(ctx context.Context, c scene) error {
	h := open(ctx, furniture{model: ladder(new(engine)), journal: new(blank), outlet: c.loud, settings: executive.DefaultConfig()})
	defer h.leave()
	hearing, end := context.WithCancel(ctx)
	mic := microphone.New(microphone.DefaultConfig(), microphone.Parts{Capture: c.capture, Recogniser: s.pupil})
	s.mic.Store(mic)
	defer s.mic.Store(nil)
	var listening sync.WaitGroup
	defer listening.Wait()
	defer end()
	var fault error
	listening.Go(func() {
		defer end()
		if err := mic.Run(hearing, h.Admit); hearing.Err() == nil {
			fault = err
		}
	})
	ask := earshot.Event{ID: newID(), From: somebody, Body: earshot.Utterance{Text: "earshot tell me about the tides", Confidence: 1}}
	err := h.Admit(ctx, ask)
	if err == nil {
		_, err = await(h.first)
	}
	if err == nil {
		err = c.act(hearing)
	}
	end()
	listening.Wait()
	if err == nil {
		err = fault
	}
	return err
}
