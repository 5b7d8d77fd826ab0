package dave

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

var base = []byte("0123456789abcdef")

// at returns a frame with a nonce whose generation may exceed its 32 bits.
func at(nonce uint64) []byte {
	s := newSender(base)
	s.nonce = nonce - 1
	return s.seal(nil, []byte("some Opus"))
}

const perGeneration = 1 << generationShift

// TestGenerations: a key opens frames until ten seconds after the first frame with the next one.
func TestGenerations(t *testing.T) {
	r := newReceiver(base, begin)
	for i, step := range []struct {
		after time.Duration // since the beginning of the epoch
		nonce uint64
		ok    bool
	}{
		{time.Minute, 1, true},
		{time.Minute, perGeneration, false}, // nobody sends that fast
		{5 * time.Hour, perGeneration - 1, true},
		{5 * time.Hour, perGeneration, true},
		{5*time.Hour + 9*time.Second, perGeneration - 2, true}, // late
		{5*time.Hour + 9*time.Second, perGeneration - 2, false},
		{5*time.Hour + 10*time.Second, perGeneration - 3, false}, // too late: its key was forgotten
		{6 * time.Hour, perGeneration + 7, true},
		{50 * time.Hour, 9 * perGeneration, true},
		{50 * time.Hour, 8*perGeneration + 1, false}, // this generation was skipped
		{50 * time.Hour, 12 * perGeneration, false},
		{1500 * time.Hour, 255*perGeneration + 3, true},
		{1500 * time.Hour, 256*perGeneration - 2, true},
		{1500 * time.Hour, 256*perGeneration + 4, true}, // transmitted as generation 0 again
		{1500 * time.Hour, 256*perGeneration - 1, true}, // late
		{1501 * time.Hour, 256*perGeneration + 5, true},
		{2000 * time.Hour, 300*perGeneration + 5, true},
		{3000 * time.Hour, 512*perGeneration + 5, true},
		{3000 * time.Hour, 5, false},
	} {
		if _, ok := openWith(r, at(step.nonce), begin.Add(step.after)); ok != step.ok {
			t.Errorf("step %d: nonce %#x after %v is opened: %v", i, step.nonce, step.after, ok)
		}
	}
}

// TestLies: a frame with a false generation changes nothing, and costs no keys.
func TestLies(t *testing.T) {
	r := newReceiver(base, begin)
	now := begin.Add(1200 * time.Hour)
	for generation := range uint64(256) {
		lie := at(generation*perGeneration + 1)
		lie[0] ^= 1
		if _, ok := openWith(r, lie, now); ok {
			t.Fatal("it is opened")
		}
	}
	if len(r.kept) > 1 || r.ratchet.next != 0 {
		t.Errorf("%d keys are kept, and the next is %d", len(r.kept), r.ratchet.next)
	}
	if _, ok := openWith(r, at(1), now); !ok {
		t.Error("the truth is not opened any more")
	}
}

// TestWindow: each nonce is fresh until it is taken or too far behind the newest.
func TestWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w window
		used := make(map[uint64]bool)
		top := uint64(0)
		for range rapid.IntRange(1, 400).Draw(t, "frames") {
			n := rapid.OneOf(
				rapid.Uint64Range(0, 100),
				rapid.Uint64Range(max(top, 70)-70, top+70),
				rapid.Uint64Range(max(top, windowSize+5)-windowSize-5, top+windowSize+5),
			).Draw(t, "nonce")
			want := !used[n] && (top < windowSize || n > top-windowSize)
			if got := w.fresh(n); got != want {
				t.Fatalf("%d is fresh: %v; the newest is %d", n, got, top)
			}
			if want {
				w.take(n)
				used[n] = true
				top = max(top, n)
			}
		}
	})
}

func TestNoAllocations(t *testing.T) {
	opus := make([]byte, 160)
	p, q := pair()
	buffer := make([]byte, 0, 512)
	var sealed []byte
	allocs := testing.AllocsPerRun(1000, func() {
		sealed, _ = p.seal(buffer[:0], opus)
	})
	if allocs != 0 {
		t.Errorf("sealing a frame allocates %v times", allocs)
	}
	out := make([]byte, 0, 512)
	var opened bool
	allocs = testing.AllocsPerRun(1000, func() {
		sealed, _ = p.seal(buffer[:0], opus)
		_, err := q.open(out[:0], 1, sealed, begin)
		opened = err == nil
	})
	if allocs != 0 || !opened {
		t.Errorf("opening a frame, %v, allocates %v times", opened, allocs)
	}
}

// pair returns a sender and a receiver.
func pair() (p, q *frameCrypto) {
	e := &epoch{send: newSender(base)}
	p = new(frameCrypto)
	p.add(e, begin)
	p.execute(1, e, nil, begin)
	q = new(frameCrypto)
	q.add(&epoch{send: newSender(base), receivers: map[uint64]*receiver{1: newReceiver(base, begin)}}, begin)
	return p, q
}

func BenchmarkSeal(b *testing.B) {
	p, _ := pair()
	opus, buffer := make([]byte, 160), make([]byte, 0, 512)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.seal(buffer[:0], opus); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen measures opening a frame of one sender with three epochs.
func BenchmarkOpen(b *testing.B) {
	p, q := pair()
	for range 2 { // the newest are tried first, and have other keys
		q.add(&epoch{send: newSender(base), receivers: map[uint64]*receiver{1: newReceiver([]byte("0123456789abcdeX"), begin)}}, begin)
	}
	opus, out := make([]byte, 160), make([]byte, 0, 512)
	const many = 1 << 14
	frames := make([][]byte, many)
	for i := range frames {
		frames[i], _ = p.seal(nil, opus)
	}
	fresh := q.epochs[0].receivers[1]
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if i == many {
			fresh.seen = window{}
			i = 0
		}
		if _, err := q.open(out[:0], 1, frames[i], begin); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
