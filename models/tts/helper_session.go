package tts

import (
	"context"
	"fmt"
	"sync"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/models/wire"
)

// A helperSession is one life of the helper.
type helperSession struct {
	link helper.Link
	kill context.CancelCauseFunc
	dead chan struct{} // closed at its end
	says wire.ReadySay // once it is ready

	mu      sync.Mutex
	stream  uint32   // the last that was asked for
	request *request // the one that is wanted, or nil

	// Owned by the goroutine that handles sound: one buffer is read while the other is filled.
	pcm   [2][helper.MaxSound / 2]int16
	which int
}

// A request is one text for one life of the helper.
type request struct {
	stream uint32
	text   int // its length, in bytes
	most   int // samples that are still plausible
	pieces chan piece
	left   chan struct{} // closed when nobody reads pieces any more

	// Of the goroutine that takes sound:
	samples int         // that have come
	last    []wire.Mark // the last one that has come, if one has
}

// A piece is what the helper sent at once.
type piece struct {
	pcm   []int16
	marks []wire.Mark
	end   bool
}

// ask begins a request.
func (l *helperSession) ask(text, most int) *request {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stream++
	l.request = &request{
		stream: l.stream, text: text, most: most,
		pieces: make(chan piece), left: make(chan struct{}),
	}
	return l.request
}

// leave ends a request. What the helper still sends for it is discarded, so that it can read the
// next.
func (l *helperSession) leave(r *request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.request = nil
	close(r.left)
}

// sound handles the helper's sound, and waits until it is wanted.
func (l *helperSession) sound(ctx context.Context, m helper.Sound) error {
	stream := m.Stream &^ wire.Words
	l.mu.Lock()
	r, last := l.request, l.stream
	l.mu.Unlock()
	if stream == 0 || stream > last {
		return fmt.Errorf("%w: the helper spoke something that was not requested", helper.ErrProtocol)
	}
	if r == nil || stream != r.stream {
		return nil
	}
	p, err := l.piece(r, m)
	if err != nil {
		return err
	}
	select {
	case r.pieces <- p:
	case <-r.left:
	case <-ctx.Done():
	}
	return nil
}

// piece decodes the helper's message, and refuses what is impossible.
func (l *helperSession) piece(r *request, m helper.Sound) (p piece, err error) {
	if m.Stream&wire.Words != 0 {
		marks, err := wire.DecodeMarks(r.last, m.Data, r.text)
		if err != nil {
			return p, err
		}
		p.marks = marks[len(r.last):]
		for _, m := range p.marks {
			if int(m.Sample) < r.samples {
				return p, fmt.Errorf("%w: a word after its sound", helper.ErrProtocol)
			}
			r.last = []wire.Mark{m}
		}
		return p, nil
	}
	n := len(m.Data) / 2
	r.samples += n
	if r.most -= n; r.most < 0 || len(m.Data)%2 != 0 {
		return p, fmt.Errorf("%w: invalid sound", helper.ErrProtocol)
	}
	l.which = 1 - l.which
	p.pcm, p.end = l.pcm[l.which][:n], n == 0
	audio.DecodePCM(p.pcm, m.Data)
	return p, nil
}
