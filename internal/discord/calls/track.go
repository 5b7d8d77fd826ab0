package calls

import (
	"context"
	"errors"
	"iter"
	"math"
	"sync"
	"time"

	"earshot/internal/audio"
)

const (
	// ahead is how many frames of a person wait for their ear: two seconds, since Discord may first
	// have to be asked who they are. Then the oldest are dropped.
	ahead = 100

	// bridged is how many frames of silence are put into a gap at most; for a longer gap, one frame
	// says how many are missing, which is the same to an ear.
	bridged = 25

	// unsaid is how long nothing must come until a speaker counts as silent although no end of
	// speech was announced: longer than a call waits for a packet, plus the decoder.
	unsaid = 400 * time.Millisecond

	// decoding is how long the decoder may take for the last frames before an announced end of
	// speech.
	decoding = 100 * time.Millisecond

	// lingers is how long silence goes on after the last word: longer than an ear waits for more
	// words, which is 10 s at most. After that a track rests.
	lingers = 11 * time.Second
)

// errLeft ends a track whose speaker has left.
var errLeft = errors.New("they left the call")

// A Capture is the track of one person in a call, in the form that an ear takes.
type Capture interface {
	// Frames yields 20 ms at a time, valid until the next, until ctx ends or the person
	// has left, which is an error.
	Frames(ctx context.Context) iter.Seq2[*audio.Frame, error]
}

// A track is what one person says in a call. Nothing is sent while they are silent, so the track
// makes the silence. That nothing comes counts as silence as soon as the call announces that they
// have stopped, and so does an unannounced gap after a while. When the silence has lasted, the
// track makes no more, and costs nothing.
//
// Its own methods are steps; time is an argument. Frames is the loop around them.
type track struct {
	more bell // check again

	mu    sync.Mutex
	ring  [ahead]audio.Frame
	first int
	kept  int
	next  time.Time // when the frame after the last one taken is due; zero before the first
	spoke time.Time // when the last frame that was sent ended
	ended time.Time // when they stopped, if that was announced; zero if not
	told  time.Time // when it was announced
	left  bool
}

func newTrack() *track { return &track{more: newBell()} }

// Frames implements [Capture].
func (t *track) Frames(ctx context.Context) iter.Seq2[*audio.Frame, error] {
	return func(yield func(*audio.Frame, error) bool) {
		var f audio.Frame
		defer func() { f = audio.Frame{} }()
		due := time.NewTimer(time.Hour)
		defer due.Stop()
		for ctx.Err() == nil {
			ok, wait := t.take(time.Now(), &f)
			if ok {
				if !yield(&f, nil) {
					return
				}
				continue
			}
			if t.over() {
				yield(nil, errLeft)
				return
			}
			due.Stop()
			if wait > 0 {
				due.Reset(wait)
			}
			select {
			case <-t.more:
			case <-due.C:
			case <-ctx.Done():
			}
		}
	}
}

// put takes a frame that was sent. It does not block.
func (t *track) put(f *audio.Frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.left {
		return
	}
	if t.kept == len(t.ring) {
		t.first = (t.first + 1) % len(t.ring)
		t.kept--
	}
	t.ring[(t.first+t.kept)%len(t.ring)] = *f
	t.kept++
	t.more.ring()
}

// ends records at now that the speaker had stopped at a time.
func (t *track) ends(now, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended, t.told = at, now
	t.more.ring()
}

// leave says that nothing more will come. What came is still taken.
func (t *track) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left = true
	t.more.ring()
}

// wipe overwrites what waits, and ends the track.
func (t *track) wipe() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.ring[:])
	t.kept, t.left = 0, true
	t.more.ring()
}

func (t *track) over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.left && t.kept == 0
}

// take puts the next frame at now into f. It returns false if there is none, and then how long
// nothing will be due, or 0 for as long as nothing comes.
func (t *track) take(now time.Time, f *audio.Frame) (ok bool, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept > 0 {
		t.sent(f)
		return true, 0
	}
	if t.next.IsZero() || t.left || t.next.Sub(t.spoke) >= lingers {
		return false, 0
	}
	if silent := t.silent(); now.Before(silent) {
		return false, silent.Sub(now)
	}
	if due := t.next.Add(audio.Time); now.Before(due) {
		return false, due.Sub(now)
	}
	t.blank(f)
	return true, 0
}

// sent puts the oldest received frame into f, or the silence that belongs before it.
func (t *track) sent(f *audio.Frame) {
	head := &t.ring[t.first]
	missing := 0
	if !t.next.IsZero() {
		missing = int((head.At.Sub(t.next) + audio.Time/2) / audio.Time)
	}
	if missing > 0 && missing <= bridged {
		t.blank(f)
		return
	}
	*f, *head = *head, audio.Frame{}
	t.first = (t.first + 1) % len(t.ring)
	t.kept--
	f.Lost = uint16(min(max(0, missing), math.MaxUint16)) // its time says how many are missing in all
	t.next = f.At.Add(audio.Time)
	t.spoke = t.next
	if !f.At.Before(t.ended) {
		t.ended = time.Time{} // they speak again
	}
}

// silent returns the time from which on the absence of frames counts as silence.
func (t *track) silent() time.Time {
	switch {
	case t.ended.IsZero():
		return t.spoke.Add(unsaid)
	case t.spoke.Before(t.ended.Add(-audio.Time / 2)):
		return t.told.Add(decoding)
	}
	return t.told
}

// blank puts 20 ms of silence into f.
func (t *track) blank(f *audio.Frame) {
	*f = audio.Frame{At: t.next}
	t.next = t.next.Add(audio.Time)
}
