package voice

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// sound returns the frame of packet n: 20 ms, mono, with its number as a tag.
func sound(n int) []byte { return []byte{0xF8, byte(n >> 8), byte(n), 0x55} }

func tag(opus []byte) int { return int(opus[1])<<8 | int(opus[2]) }

// letter draws packets 0, 1, 2 as a, b, c.
func letter(n int) string { return string(rune('a' + n)) }

// perform puts the packets of a picture, in which each field is 20 ms: a letter is a packet that
// comes then, a capital letter a packet of silence, - nothing. It draws what is handed over in the
// same way: a digit is how many are lost, a full stop is the end of speech.
func perform(j *jitter, picture string) string {
	var out []string
	for tick, field := range strings.Fields(picture) {
		now := noon.Add(time.Duration(tick) * frame)
		for _, r := range field {
			switch {
			case r >= 'a' && r <= 'z':
				n := int(r - 'a')
				j.put(now, uint16(65530+n), uint32(1<<32-3*samples+int64(n)*samples), sound(n))
			case r >= 'A' && r <= 'Z':
				n := int(r - 'A')
				j.put(now, uint16(65530+n), uint32(1<<32-3*samples+int64(n)*samples), silence)
			}
		}
		drawn := ""
		for {
			p, ok := j.step(now)
			if !ok {
				break
			}
			if p.Lost > 0 {
				drawn += fmt.Sprint(p.Lost)
			}
			switch {
			case string(p.Opus) == string(silence):
				drawn += "~"
			case len(p.Opus) > 0:
				drawn += letter(tag(p.Opus))
			}
			if p.Ends {
				drawn += "."
			}
		}
		if drawn == "" {
			drawn = "-"
		}
		out = append(out, drawn)
	}
	return strings.Join(out, " ")
}

func TestJitter(t *testing.T) {
	for _, tt := range []struct{ name, comes, want string }{
		{"in order",
			"a b c d e f g h i j",
			"a b c d e f g h i j"},
		{"one missing is waited for, then lost",
			"a b c - e f g h",
			"a b c - - 1ef g h"},
		{"two have changed places",
			"a b d c e f",
			"a b - cd e f"},
		{"one twice",
			"a b bc c d",
			"a b c - d"},
		{"all late by 60 ms and then at once",
			"a b - - - cdef g h",
			"a b - - - cdef g h"},
		{"three lost in a row",
			"a b - - - f g h i",
			"a b - - - - 3fg h i"},
		{"absence ends speech",
			"a b c - - - - - - - - - - -",
			"a b c - - - - - - - - - . -"},
		{"silence ends it sooner, and the rest of it is nothing",
			"a b c D E F G H - - - - - - - - - -",
			"a b c ~ ~ ~. - - - - - - - - - - - -"},
		{"a little silence ends nothing",
			"a b C D e f",
			"a b ~ ~ e f"},
		{"a second stretch begins without loss",
			"a b - - - - - - - - - - - - - - c d",
			"a b - - - - - - - - - . - - - - c d"},
		{"silence alone is nothing",
			"A B C - D E F - - - - - - -",
			"- - - - - - - - - - - - - -"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var j jitter
			if got := perform(&j, tt.comes); got != tt.want {
				t.Errorf("\ncomes %s\n  got %s\n want %s", tt.comes, got, tt.want)
			}
		})
	}
}

func TestJitterLearns(t *testing.T) {
	var j jitter
	j.learn(0)
	if j.patient != least {
		t.Errorf("waits %v on a quiet network, want %v", j.patient, least)
	}
	for i := range 200 {
		j.learn(time.Duration(i%7) * 15 * time.Millisecond)
	}
	if j.patient < 80*time.Millisecond || j.patient > 110*time.Millisecond {
		t.Errorf("waits %v where packets are late by up to 90 ms", j.patient)
	}
	for range 200 {
		j.learn(time.Second)
	}
	if j.patient != longest {
		t.Errorf("waits %v on a hopeless network, want %v", j.patient, longest)
	}
	for range 400 {
		j.learn(0)
	}
	if j.patient != least {
		t.Errorf("waits %v when all is well again, want %v", j.patient, least)
	}
}

// feed puts a packet, and returns everything that is handed over.
func feed(j *jitter, now time.Time, seq uint16, stamp uint32, opus []byte) (out []Packet) {
	j.put(now, seq, stamp, opus)
	for {
		p, ok := j.step(now)
		if !ok {
			return out
		}
		p.Opus = slices.Clone(p.Opus)
		out = append(out, p)
	}
}

func TestJitterStreamBeginsAnew(t *testing.T) {
	var j jitter
	now, seen := noon, 0
	for n := range 10 {
		seen += len(feed(&j, now, uint16(1000+n), uint32(n*960), sound(n)))
		now = now.Add(frame)
	}
	var after []Packet
	for n := range 10 { // another encoder has other numbers and another time
		after = append(after, feed(&j, now, uint16(40000+n), uint32(777_000_000+n*960), sound(100+n))...)
		now = now.Add(frame)
	}
	if seen != 10 || len(after) != 9 { // the first of them might have been a stray
		t.Fatalf("handed over %d and %d, want 10 and 9", seen, len(after))
	}
	for i, p := range after {
		if tag(p.Opus) != 101+i || p.Lost > 0 {
			t.Errorf("packet %d is %d with %d lost", i, tag(p.Opus), p.Lost)
		}
		if want := noon.Add(time.Duration(11+i) * frame); p.At != want {
			t.Errorf("packet %d is due at %v, want %v", i, p.At.Sub(noon), want.Sub(noon))
		}
	}
	if j.lost != 0 || j.late != 1 {
		t.Errorf("%d lost and %d late, want 0 and 1", j.lost, j.late)
	}
}

func TestJitterTimestamps(t *testing.T) {
	t.Run("a pause in the sender's time is silence", func(t *testing.T) {
		var j jitter
		feed(&j, noon, 1, 0, sound(0))
		got := feed(&j, noon.Add(4*frame), 2, 4*960, sound(1))
		if len(got) != 1 || got[0].Lost != 3 || !got[0].At.Equal(noon.Add(4*frame)) || j.lost != 0 {
			t.Errorf("got %+v with %d lost", got, j.lost)
		}
	})
	t.Run("packets of 60 ms leave no gaps", func(t *testing.T) {
		var j jitter
		for n := range 10 {
			got := feed(&j, noon.Add(time.Duration(n)*3*frame), uint16(n), uint32(n*3*960), []byte{0x18, byte(n)})
			if len(got) != 1 || got[0].Lost != 0 || !got[0].At.Equal(noon.Add(time.Duration(n)*3*frame)) {
				t.Errorf("packet %d: %+v", n, got)
			}
		}
	})
	t.Run("a jump is not an hour of silence", func(t *testing.T) {
		var j jitter
		feed(&j, noon, 1, 0, sound(0))
		got := feed(&j, noon.Add(frame), 2, 3600*48000, sound(1))
		if len(got) != 1 || got[0].Lost != 0 || !got[0].At.Equal(noon.Add(frame)) {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("a sender's clock that is slow does not fall behind for ever", func(t *testing.T) {
		var j jitter
		now, last := noon, time.Time{}
		for n := range 30000 { // ten minutes, with a drift of one in a thousand
			now = now.Add(frame + 20*time.Microsecond)
			for _, p := range feed(&j, now, uint16(n), uint32(n*960), sound(n)) {
				if p.At.Before(last) {
					t.Fatalf("packet %d goes back in time", n)
				}
				if d := now.Sub(p.At); d > drift+era/1000+longest || d < -drift {
					t.Fatalf("packet %d is said to be due %v before it came", n, d)
				}
				last = p.At
			}
		}
		if j.lost > 0 {
			t.Errorf("%d lost", j.lost)
		}
	})
}

func TestJitterIsBounded(t *testing.T) {
	var j jitter
	j.put(noon, 0, 0, sound(0))
	j.step(noon)
	for n := 2; n < 400; n++ { // the second never comes, and nobody takes any
		j.put(noon, uint16(n), uint32(n*960), sound(n))
	}
	got := 0
	for now := noon; now.Before(noon.Add(20 * time.Second)); now = now.Add(frame) {
		for _, ok := j.step(now); ok; _, ok = j.step(now) {
			got++
		}
	}
	if got > kept+1 || j.dropped == 0 {
		t.Errorf("%d were kept, %d dropped", got, j.dropped)
	}
}

// TestJitterKeepsTime: whatever the network does to a stream, each packet is handed over at most
// once, in order, and the reported losses add up to the time that has passed.
func TestJitterKeepsTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "packets")
		type arrival struct {
			at time.Duration
			n  int
		}
		var arrivals []arrival
		kinds := rapid.SliceOfN(rapid.IntRange(0, 99), n, n).Draw(t, "fates")
		delays := rapid.SliceOfN(rapid.IntRange(0, 90), n, n).Draw(t, "delays")
		for i := range n {
			at := time.Duration(i)*frame + time.Duration(delays[i])*time.Millisecond
			if kinds[i] < 10 && i > 0 {
				continue
			}
			arrivals = append(arrivals, arrival{at, i})
			if kinds[i] > 90 {
				arrivals = append(arrivals, arrival{at + frame, i})
			}
		}
		slices.SortStableFunc(arrivals, func(a, b arrival) int { return int(a.at - b.at) })
		seq, stamp := rapid.Uint16().Draw(t, "seq"), rapid.Uint32().Draw(t, "stamp")

		var j jitter
		last, ends := -1, 0
		var at time.Time
		for now := time.Duration(0); now < time.Duration(n)*frame+2*time.Second; now += frame {
			for len(arrivals) > 0 && arrivals[0].at <= now {
				a := arrivals[0]
				arrivals = arrivals[1:]
				j.put(noon.Add(a.at), seq+uint16(a.n), stamp+uint32(a.n)*960, sound(a.n))
			}
			for {
				p, ok := j.step(noon.Add(now))
				if !ok {
					break
				}
				if p.At.Before(at) {
					t.Fatalf("time goes back")
				}
				if p.Ends {
					ends++
					last = -1
				}
				if len(p.Opus) == 0 {
					continue
				}
				n := tag(p.Opus)
				if last >= 0 {
					if n <= last {
						t.Fatalf("%d after %d", n, last)
					}
					if p.Lost != n-last-1 {
						t.Fatalf("%d after %d, with %d lost between them", n, last, p.Lost)
					}
					if want := at.Add(time.Duration(n-last) * frame); !p.At.Equal(want) {
						t.Fatalf("%d is due %v after %d", n, p.At.Sub(at), last)
					}
				}
				last, at = n, p.At
			}
		}
		if ends == 0 {
			t.Fatal("speech never ends")
		}
	})
}

func FuzzJitter(f *testing.F) {
	f.Add([]byte{0, 1, 0, 2, 0, 5, 200, 1, 3, 7})
	f.Fuzz(func(t *testing.T, script []byte) {
		var j jitter
		now := noon
		var seq uint16
		var stamp uint32
		for len(script) >= 2 {
			a, b := script[0], script[1]
			script = script[2:]
			switch a % 4 {
			case 0:
				seq, stamp = seq+1, stamp+960
			case 1:
				seq += uint16(b) << (a >> 4)
			case 2:
				stamp += uint32(b) << (a >> 3)
			case 3:
				now = now.Add(time.Duration(b) * time.Millisecond)
			}
			j.put(now, seq, stamp, script[:min(len(script), 3)])
			for n := 0; ; n++ {
				p, ok := j.step(now)
				if !ok {
					break
				}
				if n > 2*places || p.Lost < 0 || p.Lost > int(shelf) {
					t.Fatalf("%d packets at once, %d lost", n, p.Lost)
				}
			}
		}
	})
}
