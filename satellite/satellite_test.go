package satellite_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"earshot/bus"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/satellite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestRights: a satellite may use its own subjects and no others, and its ID cannot reach further.
func TestRights(t *testing.T) {
	own, other := satellite.RightsOf("kitchen"), satellite.Prefix("kitchen2")
	for _, patterns := range [][]string{own.Publish, own.Subscribe} {
		for _, p := range patterns {
			if err := bus.CheckSubject(p, true); err != nil {
				t.Errorf("%s: %v", p, err)
			}
			for _, s := range []string{
				"join", "up.control", "up.sound", "down.control", "down.sound", "console", "console.A.up", "console.A.down",
				"up.camera.control", "up.camera.sound", "down.camera.control", "down.camera.sound",
			} {
				if bus.Matches(p, other+s) {
					t.Errorf("%s lets it reach %s%s", p, other, s)
				}
			}
		}
	}
	for id, ok := range map[string]bool{
		"kitchen": true, "a": true, "living-room-2": true, strings.Repeat("a", 32): true,
		"": false, "Kitchen": false, "-a": false, "a.b": false, "a*": false, ">": false, "a b": false, "küche": false, strings.Repeat("a", 33): false,
	} {
		if err := satellite.CheckID(id); (err == nil) != ok {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestWelcome(t *testing.T) {
	for _, tt := range []struct {
		is   satellite.Welcome
		want string
	}{
		{satellite.Welcome{Session: 3}, ""},
		{satellite.Welcome{}, "update earshot"},
		{satellite.Welcome{Problem: "it is not paired", Cure: "earshot pair kitchen"}, "it is not paired; earshot pair kitchen"},
		{satellite.Welcome{Session: 3, Problem: "no"}, "no"},
	} {
		if err := tt.is.Err(); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.is, err, tt.want)
		}
	}
}

// packets draws packets that a satellite may send.
var packets = rapid.Custom(func(t *rapid.T) satellite.Packet {
	return satellite.Packet{
		Frame: audio.Frame{
			At:     time.Unix(0, rapid.Int64().Draw(t, "at")),
			Voiced: rapid.Bool().Draw(t, "voiced"), Own: rapid.Bool().Draw(t, "own"), Beside: rapid.Bool().Draw(t, "beside"),
			EchoRatio: rapid.Float32Range(0, 1).Draw(t, "echo"), Lost: rapid.Uint16().Draw(t, "lost"),
		},
		Opus: rapid.SliceOfN(rapid.Byte(), 1, 1275).Draw(t, "opus"), Quiet: rapid.Bool().Draw(t, "quiet"),
		Level: rapid.Int8Range(-96, 0).Draw(t, "level"),
	}
})

// TestPacket: what is written is read again.
func TestPacket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := packets.Draw(t, "packet")
		var got satellite.Packet
		if err := got.Decode(p.Append(nil)); err != nil {
			t.Fatal(err)
		}
		if !got.At.Equal(p.At) || string(got.Opus) != string(p.Opus) {
			t.Fatalf("%v at %v, want %v at %v", len(got.Opus), got.At, len(p.Opus), p.At)
		}
		got.At, got.Opus, p.At, p.Opus = time.Time{}, nil, time.Time{}, nil
		if got.Frame != p.Frame || got.Quiet != p.Quiet || got.Level != p.Level {
			t.Fatalf("%+v, want %+v", got, p)
		}
	})
}

// FuzzPacket: whatever the bytes are, a packet is within its limits or an error, and is written as it
// was read.
func FuzzPacket(f *testing.F) {
	p := satellite.Packet{Frame: audio.Frame{At: time.Unix(1, 2), Voiced: true, EchoRatio: 0.5}, Opus: []byte{0xf8, 0xff, 0xfe}, Level: -20}
	f.Add(p.Append(nil))
	f.Add([]byte{})
	f.Add(make([]byte, 17))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p satellite.Packet
		if err := p.Decode(b); err != nil {
			if !errors.Is(err, satellite.ErrPacket) {
				t.Fatal(err)
			}
			return
		}
		if math.IsNaN(float64(p.EchoRatio)) || p.EchoRatio < 0 || p.EchoRatio > 1 || p.Level > 0 || p.Level < -96 || len(p.Opus) == 0 {
			t.Fatalf("%+v", p)
		}
		if again := p.Append(nil); string(again) != string(b) {
			t.Fatalf("%x became %x", b, again)
		}
	})
}

// TestClock: of some answers, what the clock knows then.
func TestClock(t *testing.T) {
	type answer struct{ after, there, trip time.Duration } // the request takes there of the trip
	for _, tt := range []struct {
		name    string
		ahead   []time.Duration // of each answer
		answers []answer
		want    time.Duration
		within  time.Duration
	}{
		{"one", []time.Duration{time.Hour}, []answer{{0, 5 * time.Millisecond, 10 * time.Millisecond}}, time.Hour, 5 * time.Millisecond},
		{"the fastest is believed", []time.Duration{0, 0, 0}, []answer{
			{0, 90 * time.Millisecond, 100 * time.Millisecond}, {time.Second, time.Millisecond, 2 * time.Millisecond}, {time.Second, 0, 50 * time.Millisecond},
		}, 0, time.Millisecond},
		{"behind", []time.Duration{-10 * time.Minute}, []answer{{0, 2 * time.Millisecond, 4 * time.Millisecond}}, -10 * time.Minute, 2 * time.Millisecond},
		{"a clock that was set", []time.Duration{0, 0, time.Minute}, []answer{
			{0, time.Millisecond, 2 * time.Millisecond}, {time.Second, time.Millisecond, 2 * time.Millisecond}, {time.Second, 20 * time.Millisecond, 40 * time.Millisecond},
		}, time.Minute, 20 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c satellite.Clock
			if _, _, ok := c.Offset(); ok {
				t.Error("it knows something at first")
			}
			now := time.Unix(1_000_000, 0)
			for i, a := range tt.answers {
				now = now.Add(a.after)
				c.Add(now, now.Add(a.there).Add(tt.ahead[i]), now.Add(a.trip))
			}
			if got, within, ok := c.Offset(); !ok || got != tt.want || within != tt.within {
				t.Errorf("%v within %v, %t; want %v within %v", got, within, ok, tt.want, tt.within)
			}
		})
	}
}

// TestClockBound: however long requests and answers take, the offset is wrong by no more than the
// clock says, and a clock that is set by more than any trip is known at the next answer.
func TestClockBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c satellite.Clock
		now := time.Unix(1_000_000, 0)
		offset := time.Duration(rapid.Int64Range(-int64(time.Hour), int64(time.Hour)).Draw(t, "offset"))
		for range rapid.IntRange(1, 80).Draw(t, "answers") {
			if rapid.IntRange(0, 20).Draw(t, "set") == 0 {
				offset += rapid.SampledFrom([]time.Duration{-time.Minute, 5 * time.Second, 10 * time.Minute}).Draw(t, "by")
			}
			there, back := time.Duration(rapid.IntRange(0, 2_000_000).Draw(t, "there"))*time.Microsecond/2, time.Duration(rapid.IntRange(0, 2_000_000).Draw(t, "back"))*time.Microsecond/2
			c.Add(now, now.Add(there).Add(offset), now.Add(there+back))
			if got, within, ok := c.Offset(); !ok || (got-offset).Abs() > within {
				t.Fatalf("%v within %v, but it is %v", got, within, offset)
			}
			now = now.Add(there + back + satellite.ClockEvery)
		}
	})
}

// FuzzWords: whatever the bytes are, words are within their limits or an error that does not repeat them.
func FuzzWords(f *testing.F) {
	f.Add([]byte(`{"number":1,"text":"what time is it","heard":1000000000,"confidence":0.5,"final":true}`))
	f.Add([]byte(`{"number":-1,"confidence":2}`))
	f.Add([]byte(`"words"`))
	f.Fuzz(func(t *testing.T, b []byte) {
		w, err := satellite.DecodeWords(helper.Control{Name: satellite.SayWords, Body: b})
		ok := len(w.Text) <= 8<<10 && w.Heard >= 0 && w.Heard <= time.Minute && w.Lag >= 0 && w.Lag <= time.Minute && w.Confidence >= 0 && w.Confidence <= 1
		if !ok || err != nil && (w != satellite.Words{} || !errors.Is(err, helper.ErrProtocol) || len(err.Error()) > 200) {
			t.Errorf("%+v, %v", w, err)
		}
	})
}
