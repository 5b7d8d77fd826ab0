//go:build cgo

package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/models/mel"
	"earshot/models/wire"
)

// sense says whether there is a voice, and whether its speaker has finished; see package wire. It
// takes one message after the other: when it is slow, sound waits in the pipe.
func sense(_ context.Context, s *helper.Server, _ []string) error {
	n := &sensing{s: s, Requests: wire.NewRequests[wire.OpenSense](), streams: make(map[uint32]*sensed)}
	return n.Serve(s, n.Control, n.open, n.take)
}

// A sensing is all that is sensed by one process, in one goroutine.
type sensing struct {
	*wire.Requests[wire.OpenSense]
	s       *helper.Server
	voices  *voiceModel // nil if it is not asked for
	turns   *turnModel  // nil if it is not asked for
	streams map[uint32]*sensed
	count   int // messages, for what was used last
	buf     []byte
}

// A sensed stream is the sound of one listener.
type sensed struct {
	heard  uint32 // samples
	used   int
	voices voiceState
	recent []float32 // the last samples, the newest before heard modulo its length; nil if they are not asked for
}

// open loads the models.
func (n *sensing) open() (ready any, err error) {
	defer n.s.Guard(opens)()
	if n.Config.VAD != "" {
		if n.voices, err = openVoices(n.Config.VAD); err != nil {
			return nil, err
		}
	}
	if n.Config.Turn != "" {
		n.turns, err = openTurns(n.Config.Turn)
	}
	return nil, err
}

// take handles a message.
func (n *sensing) take(m helper.Sound) error {
	defer n.s.Guard(steps)()
	number := m.Stream &^ wire.Turn
	st := n.streams[number]
	switch {
	case m.Stream != number:
		return n.answer(m, st)
	case len(m.Data) == 0:
		delete(n.streams, number)
		return nil
	case len(m.Data) != 2*audio.Samples:
		return fmt.Errorf("%w: a frame of %d bytes", helper.ErrProtocol, len(m.Data))
	case st == nil:
		st = n.begin(number)
	}
	n.count++
	st.used = n.count
	var pcm [audio.Samples]int16
	audio.DecodePCM(pcm[:], m.Data)
	for _, v := range pcm {
		sample := float32(v) / (1 << 15)
		if st.recent != nil {
			st.recent[st.heard%uint32(len(st.recent))] = sample
		}
		st.heard++
		if n.voices == nil || !st.voices.add(sample) {
			continue
		}
		p, err := n.voices.judge(&st.voices)
		if err != nil {
			return err
		}
		if err := n.send(number, wire.Probability{Of: st.heard, P: p}); err != nil {
			return err
		}
	}
	return nil
}

// begin begins a stream, in place of the one without sound for longest if there are too many.
func (n *sensing) begin(number uint32) *sensed {
	if len(n.streams) == wire.MaxSenses {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(n.streams)), func(a, b uint32) int {
			return cmp.Compare(n.streams[a].used, n.streams[b].used)
		})
		delete(n.streams, oldest)
	}
	st := new(sensed)
	if n.turns != nil {
		st.recent = make([]float32, mel.Samples)
	}
	n.streams[number] = st
	return st
}

// answer answers a question.
func (n *sensing) answer(m helper.Sound, st *sensed) error {
	q, err := wire.DecodeQuestion(m.Data)
	if err != nil || st == nil || n.turns == nil {
		return err
	}
	p, err := n.turns.judge(st.last(q.Samples, n.turns.scratch[:]))
	if err != nil {
		return err
	}
	return n.send(m.Stream, wire.Probability{Of: q.Number, P: p})
}

// last returns the last samples, n at most, in buf.
func (st *sensed) last(n uint32, buf []float32) []float32 {
	size := uint32(len(st.recent))
	n = min(n, st.heard, size)
	for i := range n {
		buf[i] = st.recent[(st.heard-n+i)%size]
	}
	return buf[:n]
}

func (n *sensing) send(stream uint32, p wire.Probability) error {
	n.buf = p.Append(n.buf[:0])
	return n.s.SendSound(stream, n.buf)
}
