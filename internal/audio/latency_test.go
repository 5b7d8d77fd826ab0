package audio_test

import (
	"math"
	"testing"
	"time"

	"earshot/internal/audio"
)

// TestLatency: the latency stays as it was while a server reports about the same, now more and now
// less, and follows when the server insists on another.
func TestLatency(t *testing.T) {
	const ms = time.Millisecond
	many := func(n int, said ...time.Duration) (all []time.Duration) {
		for range n {
			all = append(all, said...)
		}
		return all
	}
	for _, tt := range []struct {
		name string
		said []time.Duration
		want time.Duration
	}{
		{"the first", []time.Duration{20 * ms}, 20 * ms},
		{"a buffer that fills and empties", many(30, 4*ms, 7*ms, 13*ms, 1*ms), 4 * ms},
		{"once wrong", append(many(20, 20*ms), 90*ms), 20 * ms},
		{"wrong for a while", append(many(20, 20*ms), many(9, 90*ms)...), 20 * ms},
		{"wrong now and then", many(20, 20*ms, 90*ms, 95*ms), 20 * ms},
		{"on both sides", append([]time.Duration{40 * ms}, many(20, 10*ms, 70*ms)...), 40 * ms},
		{"another device", append(many(20, 20*ms), many(5, 88*ms, 92*ms)...), 92 * ms},
		{"and back", append(many(20, 20*ms), append(many(10, 90*ms), many(10, 25*ms)...)...), 25 * ms},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var l audio.Latency
			var got time.Duration
			for _, said := range tt.said {
				got = l.Note(said)
			}
			if got != tt.want {
				t.Errorf("is %v, want %v", got, tt.want)
			}
		})
	}
}

// TestLatencyIsNoDrift: a virtual device of 7 ms, about which the server is asked once a second,
// seems to be 150 millionths faster for a minute, and slower all at once. A pace that gets the
// filtered latency is even.
func TestLatencyIsNoDrift(t *testing.T) {
	var l audio.Latency
	var bare, steady audio.Pace
	start := time.Unix(1e6, 0)
	var said, held time.Duration
	most := 0.0
	for n := range 6000 { // blocks of 10 ms for a minute
		if n%100 == 0 {
			said = time.Duration(math.Mod(0.0003*float64(n/100), 0.007) * float64(time.Second))
			held = l.Note(said)
		}
		at := start.Add(time.Duration(n) * 10 * time.Millisecond)
		bare.Note(int64(n*160), at.Add(said))
		steady.Note(int64(n*160), at.Add(held))
		if n > 500 {
			most = max(most, math.Abs(steady.Speed()-1))
		}
	}
	if most > 5e-6 {
		t.Errorf("the device seems to be off by %.0f millionths, want none", most*1e6)
	}
	t.Logf("as the server says: %.0f millionths", math.Abs(bare.Speed()-1)*1e6)
}
