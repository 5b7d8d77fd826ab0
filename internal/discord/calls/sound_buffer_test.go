package calls

import (
	"fmt"
	"testing"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/sound/deck"
)

// encodeAll lets the encoder take all frames that it gets from b, and returns their number.
func encodeAll(b *soundBuffer, all bool) (n int64) {
	buf := make([]int16, b.frame)
	for len(b.next(buf, all)) > 0 {
		b.frames++
		n++
	}
	return n
}

// TestSoundBuffer: at most 100 ms, plus the delay of the encoder, are under way. What has left is
// what was heard, and lags by that delay until the encoder has finished.
func TestSoundBuffer(t *testing.T) {
	for _, rate := range []int{audio.Rate, 22050, 24000} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) { leaves(t, newSoundBuffer(rate)) })
	}
}

func leaves(t *testing.T, b *soundBuffer) {
	b.write(make([]int16, 20*b.frame))
	if n := encodeAll(b, false); n != advance+b.delay/b.frame || b.starving() || !b.waiting() {
		t.Errorf("%d frames are encoded in advance", n)
	}
	b.leave(3)
	if got := b.position(); got != 3*b.frame-b.delay || b.end() != 20*b.frame {
		t.Errorf("after three frames %d samples have left", got)
	}
	b.leave(2)
	if got := b.position(); got != 3*b.frame-b.delay {
		t.Errorf("it goes back to %d", got)
	}
	for !b.starving() {
		b.leave(b.frames)
		encodeAll(b, true)
		b.complete = true
	}
	b.flushed = true
	b.leave(b.frames)
	if !b.allLeft() || b.waiting() || b.runOver() || b.position() != 20*b.frame || b.room() != advance*int(b.frame)+b.rate/5 {
		t.Errorf("at the end %+v", b)
	}
}

// TestSoundBufferRewinds: sound that was encoded and has not left is encoded again, and fades in to
// the current volume.
func TestSoundBufferRewinds(t *testing.T) {
	b := newSoundBuffer(audio.Rate)
	pcm := make([]int16, 20*audio.Samples)
	for i := range pcm {
		pcm[i] = 10000
	}
	b.write(pcm)
	encodeAll(b, false)
	b.leave(2)
	at := b.position()
	b.setVolume(earshot.Duck)
	b.rewind()
	var buf [audio.Samples]int16
	first := b.next(buf[:], false)
	if b.position() != at || b.given != at+audio.Samples || first[0] > 1000 {
		t.Errorf("at %d it goes on at %d with %d", at, b.given, first[0])
	}
	ducked := int16(10000 * audio.Decibels(deck.Ducked))
	if last := b.next(buf[:], false)[audio.Samples-1]; last < ducked-100 || last > ducked+100 {
		t.Errorf("it comes to %d, not %d", last, ducked)
	}
}
