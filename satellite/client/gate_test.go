package client

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot/internal/audio"
)

// perform steps a gate through a picture, a character per 100 ms: # a voice, o own sound, n a voice
// and its name is noticed after it, g the hub opens the gate, anything else is quiet. It returns a
// picture of what was sent when, by time of capture: # all of it, q a quiet packet began, . nothing;
// and | after the end of what was sent.
func perform(waits bool, picture string) string {
	g := gate{waits: waits}
	const each = int(100 * time.Millisecond / audio.Time)
	sent, quiets, ends := make([]int, len(picture)), make([]int, len(picture)), make([]int, len(picture))
	for i := range len(picture) * each {
		c := picture[i/each]
		f := audio.Frame{At: time.Unix(0, 0).Add(time.Duration(i) * audio.Time), Voiced: c == '#' || c == 'n', Own: c == 'o'}
		switch {
		case c == 'g' && i%each == 0:
			g.open(int(time.Second / audio.Time))
		case c == 'n' && i%each == each-1:
			g.open(asked)
		}
		is := g.step(&f)
		for _, f := range is.send {
			sent[int(f.At.Sub(time.Unix(0, 0))/audio.Time)/each]++
		}
		if is.quiet {
			quiets[i/each]++
		}
		if is.ends {
			ends[i/each]++
		}
	}
	var got strings.Builder
	for i := range picture {
		switch {
		case sent[i] == each:
			got.WriteByte('#')
		case sent[i] > 0:
			got.WriteByte('+')
		case quiets[i] > 0:
			got.WriteByte('q')
		default:
			got.WriteByte('.')
		}
		if ends[i] > 0 {
			got.WriteByte('|')
		}
	}
	return got.String()
}

func TestGate(t *testing.T) {
	for _, tt := range []struct {
		name          string
		waits         bool
		picture, want string
	}{
		{"quiet", false, "......................", "q.........q.........q."},
		{"a voice", false, ".....##..............", "q.###########|q......."},
		{"a pause is no end", false, ".....#.....#.........", "q.################|q.."},
		{"own sound", false, ".....oo..............", "q.###########|q......."},
		{"at once", false, "#.........", "#######|q.."},
		{"nobody said a name", true, "##.......##...........", "q.........q.........q."},
		{"a name lets out what was said", true, "......##.n............", "q..#############|q....."},
		{"only of the last three seconds", true, "#..............................#.....n......", "q.........q.........q.......################|"},
		{"after a name a voice may begin", true, "n....................#..............", "#######|q.........q##########|q......."},
		{"the hub opens", true, "....g...#..............", "q....##########|q......."},
		{"the hub opened too long ago", true, "....g..............#.............", "q.........q.........q.........q.."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := perform(tt.waits, tt.picture); got != tt.want {
				t.Errorf("%q\nsent %q\nwant %q", tt.picture, got, tt.want)
			}
		})
	}
}

// TestGateWaits: until a name is noticed nothing of the room leaves, whatever is heard in it, and
// quiet packets come as if nobody were there.
func TestGateWaits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, idle := gate{waits: true}, gate{waits: true}
		var silent audio.Frame
		for i := range rapid.IntRange(0, 500).Draw(t, "frames") {
			f := audio.Frame{At: time.Unix(rapid.Int64Range(0, 10).Draw(t, "at"), 0), Voiced: rapid.Bool().Draw(t, "voiced"), Own: rapid.Bool().Draw(t, "own")}
			f.PCM[0] = rapid.Int16().Draw(t, "sample")
			is, other := g.step(&f), idle.step(&silent)
			if len(is.send) > 0 || is.ends || is.quiet != other.quiet || g.background() != idle.background() {
				t.Fatalf("frame %d: %d frames are sent, quiet %t", i, len(is.send), is.quiet)
			}
			if len(g.back) > recent {
				t.Fatalf("%d frames wait", len(g.back))
			}
		}
	})
}

// TestGateOrder: whatever is heard and said, what is sent is a part of what was captured, in order,
// and everything near a voice is in it unless a name is waited for.
func TestGateOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := gate{waits: rapid.Bool().Draw(t, "waits")}
		last, voiced, sending := -1, -1000, false
		for i := range rapid.IntRange(0, 800).Draw(t, "frames") {
			f := audio.Frame{At: time.Unix(0, int64(i)*int64(audio.Time)), Voiced: rapid.IntRange(0, 30).Draw(t, "voiced") == 0, Lost: uint16(i)}
			if rapid.IntRange(0, 99).Draw(t, "named") == 0 {
				g.open(asked)
			}
			is := g.step(&f)
			for _, s := range is.send {
				if int(s.Lost) <= last || s.At.UnixNano() != int64(s.Lost)*int64(audio.Time) {
					t.Fatalf("frame %d was sent after %d", s.Lost, last)
				}
				last = int(s.Lost)
			}
			if f.Voiced {
				voiced = i
			}
			if near := i-voiced <= after; !g.waits && (near != (len(is.send) > 0) || near && last != i) {
				t.Fatalf("frame %d, %d after a voice: the last one sent is %d", i, i-voiced, last)
			}
			sending = (sending || len(is.send) > 0) && !is.ends
			if sending != g.passing || is.quiet && len(is.send) > 0 {
				t.Fatalf("frame %d: sending %t, passing %t", i, sending, g.passing)
			}
		}
	})
}

// TestOutbox: a picture of what is done: a letter adds a packet, . sends one, ? is the hub that asks,
// ! begins another session; and what was sent.
func TestOutbox(t *testing.T) {
	for _, tt := range []struct{ name, picture, want string }{
		{"in order", "ab..c.", "abc"},
		{"nothing more", "a..", "a"},
		{"again what may not have arrived", "abc..?!...", "ababc"},
		{"not what the hub asked after", "abc..??!..", "abc"},
		{"asked since", "ab.?.?!..", "abb"},
		{"kept", "a.??bc!..", "abc"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var o outbox
			var got strings.Builder
			now := time.Unix(0, 0)
			for _, c := range tt.picture {
				switch c {
				case '?':
					o.confirm()
				case '!':
					o.rewind(now)
				case '.':
					if data, ok := o.next(); ok {
						o.sent++
						got.Write(data)
					}
				default:
					o.add(now, []byte(string(c)))
				}
			}
			if got.String() != tt.want || o.dropped != 0 {
				t.Errorf("%q sent %q, want %q; dropped %d", tt.picture, got.String(), tt.want, o.dropped)
			}
		})
	}
}

// TestOutboxBounds: half a minute is kept, the oldest goes and is counted; what is older at the
// beginning of a session is too old.
func TestOutboxBounds(t *testing.T) {
	var o outbox
	most := int(mostKept / audio.Time)
	for i := range most + 100 {
		o.add(time.Unix(0, 0).Add(time.Duration(i)*audio.Time), nil)
	}
	if len(o.packets) != most || o.dropped != 100 {
		t.Errorf("%d are kept, %d dropped", len(o.packets), o.dropped)
	}
	o.rewind(o.packets[50].at.Add(mostKept))
	if len(o.packets) != most-50 || o.dropped != 150 {
		t.Errorf("later %d are kept, %d dropped", len(o.packets), o.dropped)
	}
	if o.rewind(time.Unix(1000, 0)); len(o.packets) != 0 || o.dropped != most+100 {
		t.Errorf("at last %d are kept, %d dropped", len(o.packets), o.dropped)
	}
}
