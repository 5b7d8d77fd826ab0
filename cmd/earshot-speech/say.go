//go:build cgo

package main

import (
	"context"
	"slices"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/models/wire"
)

// say speaks; see package wire. When the daemon is slow to take the sound, the voice waits in the
// middle of it.
func say(ctx context.Context, s *helper.Server, _ []string) error {
	t := &synthesiser{s: s, Requests: wire.NewRequests[wire.OpenSay]()}
	return t.Serve(s, t.Control, t.open, t.take)
}

// A synthesiser turns texts into sound. All of it but its requests belongs to one goroutine.
type synthesiser struct {
	*wire.Requests[wire.OpenSay]
	s *helper.Server

	voice *voice
	buf   []byte
	err   error // why nothing more can be sent
}

func (t *synthesiser) open() (ready any, err error) {
	defer t.s.Guard(opens)()
	if t.voice, err = openVoice(t.Config.Voice, t.Config.Speed); err != nil {
		return nil, helper.Fault{Text: err.Error(), Lasting: true}.Err()
	}
	return nil, nil
}

// take says one text.
func (t *synthesiser) take(m helper.Sound) error {
	working := t.s.Guard(steps)
	// Waiting for the daemon does not count as being stuck.
	send := func(stream uint32, data []byte) bool {
		working()
		if t.err == nil && m.Stream > t.Cancelled.Load() {
			t.err = t.s.SendSound(stream, data)
		}
		working = t.s.Guard(steps)
		return t.err == nil && m.Stream > t.Cancelled.Load()
	}
	defer func() { working() }()
	t.voice.say(&speaker{
		text:  sayable(m.Data),
		words: func(marks []wire.Mark) bool { return t.sendMarks(marks, m.Stream, send) },
		pcm: func(pcm []int16) bool {
			t.buf = audio.AppendPCM(t.buf[:0], pcm)
			return send(m.Stream, t.buf)
		},
	})
	send(m.Stream, nil)
	return t.err
}

// sendMarks sends where the words begin.
func (t *synthesiser) sendMarks(marks []wire.Mark, stream uint32, send func(uint32, []byte) bool) bool {
	for some := range slices.Chunk(marks, wire.MaxMarks) {
		t.buf = wire.AppendMarks(t.buf[:0], some...)
		if !send(stream|wire.Words, t.buf) {
			return false
		}
	}
	return true
}

// sayable returns text without NULs, which would end it; every byte keeps its position.
func sayable(text []byte) string {
	text = slices.Clone(text)
	for i, b := range text {
		if b == 0 {
			text[i] = ' '
		}
	}
	return string(text)
}

// checkSay tries what say needs.
func checkSay([]string) helper.RoleCheck {
	v, err := openVoice("slt", 1)
	if err != nil {
		return helper.RoleCheck{Text: err.Error()}
	}
	n := 0
	v.say(&speaker{
		text:  "hello",
		words: func([]wire.Mark) bool { return true },
		pcm:   func(pcm []int16) bool { n += len(pcm); return true },
	})
	if n == 0 {
		return helper.RoleCheck{Text: "flite says nothing", Cure: "sudo apt-get install --reinstall libflite1"}
	}
	return helper.RoleCheck{Works: true, Text: flite + " speaks English"}
}
