package voice

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// drawSchedule draws what leaves a schedule. Each field of the picture is a step, 20 ms after the
// previous one, or +N ms after it; letters are frames that are handed over before the step. In the
// result ~ is silence, | the last of it, - nothing. Between ( and ) nothing may leave, and = is a
// frame that should have.
func drawSchedule(picture string) string {
	s := newSchedule(noon)
	now := noon.Add(-frame)
	held := false
	var out []string
	for _, field := range strings.Fields(picture) {
		step := frame
		if text, ok := strings.CutPrefix(field, "+"); ok {
			var ms int
			text, _, _ = strings.Cut(text, ":")
			fmt.Sscan(text, &ms)
			step = time.Duration(ms) * time.Millisecond
			_, field, _ = strings.Cut(field, ":")
		}
		now = now.Add(step)
		for _, r := range field {
			switch r {
			case '-':
			case '!':
				s.hush()
			case '(', ')':
				held = r == '('
			default:
				s.say([]byte{byte(r)})
			}
		}
		drawn := ""
		for {
			slot, due := s.step(now)
			if !due {
				break
			}
			switch {
			case slot.mine && held:
				drawn += "="
			case slot.mine:
				drawn += string(slot.opus)
				s.left()
			case slot.last:
				drawn += "|"
			case slot.opus != nil:
				drawn += "~"
			}
		}
		if drawn == "" {
			drawn = "-"
		}
		out = append(out, drawn)
	}
	return strings.Join(out, " ")
}

func TestSchedule(t *testing.T) {
	for _, tt := range []struct{ name, steps, want string }{
		{"nothing is said", "- - -", "- - -"},
		{"frames leave one by one", "abc - - - - - - - - -", "a b c ~ ~ ~ ~ | - -"},
		{"late, and not silent", "a - b - - - - - -", "a ~ b ~ ~ ~ ~ | -"},
		{"hush", "abcde - ! - - - - -", "a b ~ ~ ~ ~ | -"},
		{"what may not leave waits", "a (b - c ) - - - - - -", "a = = = b c ~ ~ ~ ~ |"},
		{"what waits can be hushed", "a (b - ! ) c - - - - - -", "a = = ~ ~ c ~ ~ ~ ~ | -"},
		{"a step that is late by a frame is made up for", "abcd +40:- - -", "a bc d ~"},
		{"after a stall there is no burst", "abcdef +500:- - -", "a b c d"},
		{"steps that jitter lose nothing", "abcdef +25:- +15:- +39:- +1:- - ", "a b c d e f"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := drawSchedule(tt.steps); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestScheduleTimestamps: timestamps are the time since the beginning, whatever happens.
func TestScheduleTimestamps(t *testing.T) {
	s := newSchedule(noon)
	at := func(d time.Duration) uint32 {
		s.say([]byte("x"))
		for stamp, now := uint32(0), noon.Add(d); ; {
			slot, due := s.step(now)
			if !due {
				return stamp
			}
			stamp = slot.stamp
		}
	}
	for _, d := range []time.Duration{0, frame, 7 * frame, 50 * frame, time.Hour} {
		if got, want := at(d), uint32(d/frame)*960; got != want {
			t.Errorf("after %v the timestamp is %d, want %d", d, got, want)
		}
	}
}

func TestScheduleIsBounded(t *testing.T) {
	s := newSchedule(noon)
	for n := range ahead {
		if !s.say([]byte{byte(n)}) {
			t.Fatalf("frame %d has no room", n)
		}
	}
	if s.say([]byte{0}) {
		t.Error("more than 200 ms are ahead")
	}
	if n := s.hush(); n != ahead {
		t.Errorf("%d were dropped", n)
	}
}
