package remote

import (
	"context"
	"io"
	"sync/atomic"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/models/wire"
)

// Hear returns a dialer, for package stt, of the recogniser r, which people know by name. It seeks
// no phrases.
func Hear(name string, r Recogniser) helper.Dialer {
	return func() (helper.Link, error) {
		return &hearing{link: newLink(name, r.Check, nil), of: r}, nil
	}
}

// A hearing is a recogniser as package stt sees it. Its client sends from one goroutine.
type hearing struct {
	*link
	of  Recogniser
	now *utterance // is being sent; nil before the first and after a cancel
}

// An utterance is being heard.
type utterance struct {
	stream uint32
	sound  *io.PipeWriter
	cancel context.CancelFunc
	sent   atomic.Int64 // bytes
}

// Send implements [helper.Link]. Names that people call make nothing likelier here.
func (h *hearing) Send(name string, body any) error {
	if c, is := body.(wire.Cancel); is && h.now != nil && h.now.stream == c.Stream {
		h.now.cancel()
		h.now = nil
	}
	return nil
}

// SendSound implements [helper.Link].
func (h *hearing) SendSound(stream uint32, data []byte) (err error) {
	if stream&wire.Spot != 0 {
		return nil
	}
	if h.now == nil || h.now.stream != stream {
		if h.now, err = h.listen(stream); err != nil {
			return err
		}
	}
	if len(data) == 0 {
		return h.now.sound.Close()
	}
	h.now.sent.Add(int64(len(data)))
	if _, err := h.now.sound.Write(data); err != nil {
		return helper.ErrGone // the link has ended, and says why
	}
	return nil
}

// listen begins an utterance.
func (h *hearing) listen(stream uint32) (u *utterance, err error) {
	pcm, sound := io.Pipe()
	u = &utterance{stream: stream, sound: sound}
	u.cancel, err = h.begin(func(ctx context.Context) {
		defer context.AfterFunc(ctx, func() { sound.CloseWithError(context.Cause(ctx)) })()
		defer pcm.Close()
		h.recognise(ctx, u, pcm)
	})
	return u, err
}

// recognise recognises one utterance.
func (h *hearing) recognise(ctx context.Context, u *utterance, pcm io.Reader) {
	told := int64(0)
	text, err := h.of.Transcribe(ctx, pcm, func(text string) {
		// Package stt takes no more than one for each 100 ms of sound.
		if sent := u.sent.Load(); sent >= told+2*audio.Rate/10 {
			told = sent
			h.control(ctx, wire.PartialName, wire.Hypothesis{Stream: u.stream, Text: shorten(text)})
		}
	})
	if err != nil && ctx.Err() == nil {
		h.died(err)
	}
	if err != nil {
		return
	}
	h.control(ctx, wire.FinalName, wire.Hypothesis{Stream: u.stream, Text: shorten(text), Heard: int(u.sent.Load() / 2), Confidence: 1})
}

// shorten bounds what a recogniser says.
func shorten(text string) earshot.Text { return earshot.Text(text[:min(len(text), earshot.MaxText)]) }
