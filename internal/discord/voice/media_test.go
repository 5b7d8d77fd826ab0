package voice

import (
	"fmt"
	"testing"
	"time"
)

// begun returns a session without end-to-end encryption, with users 1 to n, whose streams are ten
// times their number. What encryption costs in addition is measured elsewhere.
func begun(n int) *media {
	m := newMedia(99, 7)
	m.dave.Select(0, noon)
	for u := 1; u <= n; u++ {
		m.speaking(noon, uint32(10*u), uint64(u))
	}
	return m
}

func TestMediaHoldsWhatIsNobodys(t *testing.T) {
	m := begun(0)
	var b batch
	for n := range 150 { // 3 s, of which the last two are kept
		m.take(noon.Add(time.Duration(n)*frame), packet{10, uint16(n), uint32(n * 960), sound(n)})
		if m.step(noon.Add(time.Duration(n)*frame), &b); len(b.packets) > 0 {
			t.Fatalf("heard of nobody: %+v", b.packets)
		}
	}
	now := noon.Add(150 * frame)
	m.speaking(now, 10, 1)
	m.step(now, &b)
	if len(b.packets) < 99 || len(b.packets) > 101 {
		t.Fatalf("%d packets were held", len(b.packets))
	}
	for i, p := range b.packets {
		n := 150 - len(b.packets) + i
		if p.User != 1 || tag(p.Opus) != n || !p.At.Equal(noon.Add(time.Duration(n)*frame)) || p.Lost > 0 {
			t.Fatalf("packet %d: %+v", i, p)
		}
	}
	if c := m.counts(new([steps]float64)); c.unknown != int64(150-len(b.packets)) {
		t.Errorf("%d of nobody are said to be dropped", c.unknown)
	}
}

func TestMediaFinishes(t *testing.T) {
	m := begun(2)
	var b batch
	m.take(noon, packet{10, 1, 0, sound(1)})
	m.step(noon, &b)
	m.take(noon, packet{10, 3, 1920, sound(3)}) // the second is waited for
	b.reset()
	m.finish(noon, &b)
	if len(b.packets) != 2 || tag(b.packets[0].Opus) != 3 || b.packets[0].Lost != 1 || !b.packets[1].Ends {
		t.Errorf("at the end: %+v", b.packets)
	}
	b.reset()
	if m.step(noon.Add(time.Hour), &b); len(b.packets) != 0 {
		t.Errorf("after the end: %+v", b.packets)
	}
}

// TestMediaCountsWhatSaysNothing: padding, unencrypted silence and repeated packets do not tell
// whether the keys are right: they count neither as a call that is deaf nor as one that hears.
func TestMediaCountsWhatSaysNothing(t *testing.T) {
	m := begun(1)
	for _, p := range []packet{
		{10, 1, 0, nil},
		{10, 2, 960, silence},
		{10, 2, 960, silence},
		{20, 2, 960, silence}, // belongs to nobody
		{10, 3, 1920, sound(1)},
		{10, 3, 1920, sound(1)},
	} {
		m.take(noon, p)
	}
	if c := m.counts(new([steps]float64)); c.packets != 6 || c.blank != 5 || c.decrypted-c.silent != 1 {
		t.Errorf("%d packets, %d say nothing, %d were opened, of which %d are silence", c.packets, c.blank, c.decrypted, c.silent)
	}
}

// TestMediaIsBounded: made-up streams cost no more than the number that is allowed.
func TestMediaIsBounded(t *testing.T) {
	m := begun(0)
	for n := range uint32(10_000) {
		m.speaking(noon, 1000+n, uint64(n%3+1))
		m.take(noon, packet{1000 + n, 1, 0, sound(1)})
	}
	if len(m.streams) != streams {
		t.Errorf("%d streams", len(m.streams))
	}
	var b batch
	m.step(noon.Add(time.Minute), &b)
	if m.step(noon.Add(2*time.Minute), &b); len(m.streams) != 0 {
		t.Errorf("%d streams are kept", len(m.streams))
	}
}

// receives returns a function that receives 20 ms of some speakers, from datagrams to a batch.
func receives(tb testing.TB, speakers int) func() {
	m := begun(speakers)
	aead, err := newCipher(modeGCM, key)
	if err != nil {
		tb.Fatal(err)
	}
	o, s := newOpener(aead), newSealer(aead)
	opus := make([]byte, 160)
	opus[0] = 0xF8
	var b batch
	var datagram []byte
	now, n := noon, 0
	return func() {
		for u := 1; u <= speakers; u++ {
			datagram, _ = s.seal(datagram[:0], packet{uint32(10 * u), uint16(n), uint32(n * 960), opus})
			p, err := o.open(datagram)
			if err != nil {
				tb.Fatal(err)
			}
			m.take(now, p)
		}
		b.reset()
		if m.step(now, &b); len(b.packets) != speakers {
			tb.Fatalf("%d packets of %d speakers", len(b.packets), speakers)
		}
		now, n = now.Add(frame), n+1
	}
}

func TestReceivingAllocatesNothing(t *testing.T) {
	tick := receives(t, 4)
	for range 2 * places {
		tick() // until every place has its bytes
	}
	if n := testing.AllocsPerRun(100, tick); n != 0 {
		t.Errorf("20 ms of four speakers allocate %v times", n)
	}
}

// BenchmarkReceive measures 20 ms of some speakers: sealing and opening for the transport, and the
// jitter buffers.
func BenchmarkReceive(b *testing.B) {
	for _, n := range []int{1, 8} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			tick := receives(b, n)
			for range 2 * places {
				tick()
			}
			b.ReportAllocs()
			for b.Loop() {
				tick()
			}
		})
	}
}

// BenchmarkJitter measures a packet through the jitter buffer, on a network that loses and swaps
// some, and reports how long packets wait there.
func BenchmarkJitter(b *testing.B) {
	var j jitter
	opus := sound(1)
	now, n := noon, 0
	b.ReportAllocs()
	for b.Loop() {
		switch {
		case n%10 == 3:
		case n%10 == 5:
			j.put(now, uint16(n+1), uint32((n+1)*960), opus)
		case n%10 == 6:
			j.put(now, uint16(n-1), uint32((n-1)*960), opus)
		default:
			j.put(now, uint16(n), uint32(n*960), opus)
		}
		for _, ok := j.step(now); ok; _, ok = j.step(now) {
		}
		now, n = now.Add(frame), n+1
	}
	b.ReportMetric(float64(quantile(&j.waited, 0.5)/time.Millisecond), "ms-wait-p50")
	b.ReportMetric(float64(quantile(&j.waited, 0.95)/time.Millisecond), "ms-wait-p95")
}
