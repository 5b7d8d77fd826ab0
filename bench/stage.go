package main

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"

	"earshot"
	"earshot/executive"
	"earshot/models/stt"
	"earshot/outlets/loudspeaker"
	"earshot/providers/microphone"
	"earshot/speakers"
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
	s.pupil = newPupil(d, func(p stt.Phrase) {
		if mic := s.mic.Load(); mic != nil {
			mic.Called(p.Text, p.At)
		}
	}, stops...)
	return s
}

// A scene is one reply that is interrupted.
type scene struct {
	loud    *loudspeaker.Loudspeaker
	capture microphone.Capture

	// voices tells voices apart, of which asker is that of who asks for the reply; nil
	// if nobody does.
	voices *speakers.Registry
	asker  *earshot.Voice
	asks   bool // the capture begins with a sentence of theirs, which the room is not told

	style string               // how the agent yields; politely if empty
	notes func(*earshot.Event) // is shown what the microphone tells the room; may be nil

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
	_, err := await("the loudspeaker has entered the room", entered)
	if err == nil {
		err = s.perform(ctx, c)
	}
	return cmp.Or(err, stop())
}

// perform does so, in a house with that voice.
func (s *stage) perform(ctx context.Context, c scene) error {
	f := furniture{model: ladder(new(engine)), journal: new(blank), outlet: c.loud, settings: executive.DefaultConfig()}
	if c.voices != nil {
		f.voices = c.voices
	}
	f.settings.MultiParty.TurnTakingProtocol = cmp.Or(c.style, f.settings.MultiParty.TurnTakingProtocol)
	h := open(ctx, f)
	defer h.leave()
	var speaks atomic.Bool
	asked := make(chan struct{}, 1)
	admit := func(ctx context.Context, e earshot.Event) error {
		if c.asks && !speaks.Load() {
			if e.Body.Kind() == earshot.KindUtterance {
				select {
				case asked <- struct{}{}:
				default:
				}
			}
			return nil
		}
		if c.notes != nil {
			c.notes(&e)
		}
		return h.Admit(ctx, e)
	}
	mic := microphone.New(microphone.DefaultConfig(), microphone.Parts{Capture: c.capture, Recogniser: s.pupil, Voices: c.voices != nil})
	s.mic.Store(mic)
	defer s.mic.Store(nil)
	hearing, end := context.WithCancel(ctx)
	var fault error
	var listening sync.WaitGroup
	listening.Go(func() {
		if err := mic.Run(hearing, admit); hearing.Err() == nil {
			fault = err
		}
		end()
	})
	var err error
	if c.asks {
		_, err = await("who asks is understood", asked)
		speaks.Store(true)
	}
	if err == nil {
		err = h.hold(hearing, c.asker)
	}
	if err == nil {
		err = c.act(hearing)
	}
	end()
	listening.Wait()
	return cmp.Or(err, fault)
}

// hold has the agent hold a speech for somebody at the microphone, of that voice if
// it is known, and returns when it can be heard.
func (h *house) hold(ctx context.Context, asker *earshot.Voice) error {
	ask := earshot.Event{ID: newID(), From: somebody, Body: earshot.Utterance{Text: "earshot tell me about the tides", Confidence: 1, Voice: asker}}
	if err := h.Admit(ctx, ask); err != nil {
		return err
	}
	_, err := await("the first of a speech is out", h.first)
	return err
}
