package calls

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestAttendance: one and two show at each step of 20 seconds how many people are in channels 1 and
// 2. want shows what the agent does: 1 or 2 joins that channel, l leaves, . nothing.
func TestAttendance(t *testing.T) {
	for _, tt := range []struct {
		name, one, two, want string
		never                bool   // the agent does not come by itself
		why                  string // why it may not come into channel 1
		do                   map[int]func(*membership, time.Time)
	}{
		{name: "nobody is there",
			one: "......", two: "......", want: "......"},
		{name: "somebody comes and goes",
			one:  "..11111.....",
			two:  "............",
			want: "..1.......l."},
		{name: "a client is reloaded",
			one:  "111..1111",
			two:  ".........",
			want: "1........"},
		{name: "where the most are",
			one:  ".1111",
			two:  ".2222",
			want: ".2..."},
		{name: "it stays where it is",
			one:  "11111",
			two:  ".2223",
			want: "1...."},
		{name: "people go over",
			one:  "11........",
			two:  "..11111111",
			want: "1....l2..."},
		{name: "it may not",
			one: "11111", two: "..1..", want: "..2..", why: "it is full"},
		{name: "only if asked",
			one:  "11111.......",
			two:  "............",
			want: "........l...", never: true, do: map[int]func(*membership, time.Time){
				1: func(a *membership, now time.Time) { a.joins(now, 1) }}},
		{name: "sent away, it comes back for others",
			one:  "111111..1111",
			two:  "............",
			want: "1.......1...", do: map[int]func(*membership, time.Time){
				2: func(a *membership, _ time.Time) { a.sent() }}},
		{name: "sent away, and asked again",
			one:  "1111111",
			two:  ".......",
			want: "1......", do: map[int]func(*membership, time.Time){
				2: func(a *membership, _ time.Time) { a.sent() },
				4: func(a *membership, now time.Time) { a.joins(now, 1) }}},
		{name: "thrown out",
			one:  "11111111..111",
			two:  ".............",
			want: "1.........1..", do: map[int]func(*membership, time.Time){
				2: func(a *membership, now time.Time) { a.ended(now, true) }}},
		{name: "lost, and again",
			one:  "11111111111111111",
			two:  ".................",
			want: "1.....1......1...", do: map[int]func(*membership, time.Time){
				3: func(a *membership, now time.Time) { a.ended(now, false) },
				7: func(a *membership, now time.Time) { a.ended(now, false) }}},
		{name: "moved to where nobody is",
			one:  "1111111",
			two:  ".......",
			want: "1....l1", do: map[int]func(*membership, time.Time){
				2: func(a *membership, _ time.Time) { a.moved(2) }}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, now := membership{people: !tt.never}, time.Now()
			var did strings.Builder
			for i := range tt.one {
				if do := tt.do[i]; do != nil {
					do(&a, now)
				}
				was := a.in
				m := a.step(now, []place{{1, count(tt.one[i]), tt.why}, {2, count(tt.two[i]), ""}})
				switch {
				case m.leave:
					did.WriteByte('l')
				case a.in != was:
					fmt.Fprint(&did, a.in)
				default:
					did.WriteByte('.')
				}
				now = now.Add(20 * time.Second)
			}
			if got := did.String(); got != tt.want {
				t.Errorf("in 1 %s\nin 2 %s\ndid  %s\nwant %s", tt.one, tt.two, got, tt.want)
			}
		})
	}
}

func count(c byte) int {
	if c == '.' {
		return 0
	}
	return int(c - '0')
}

// TestAttendanceWaits: the agent waits as long as it says, and no longer.
func TestAttendanceWaits(t *testing.T) {
	now := time.Now()
	a := membership{people: true}
	with, without := []place{{1, 1, ""}}, []place{{1, 0, ""}}
	if m := a.step(now, with); m != (move{}) || a.in != 1 {
		t.Fatalf("with somebody: %+v", m)
	}
	if m := a.step(now, without); m != (move{wait: lonely}) {
		t.Errorf("alone: %+v", m)
	}
	if m := a.step(now.Add(lonely-1), without); m != (move{wait: 1}) {
		t.Errorf("alone for long: %+v", m)
	}
	if m := a.step(now.Add(lonely), without); m != (move{leave: true}) {
		t.Errorf("alone for too long: %+v", m)
	}
	for i, rest := range []time.Duration{1, 2, 4, 8, 15, 15} {
		a.joins(now, 1)
		a.ended(now, false)
		if m := a.step(now, with); m != (move{wait: rest * time.Minute}) {
			t.Errorf("after %d calls that were lost: %+v", i+1, m)
		}
	}
	a.joins(now, 1)
	now = now.Add(settled)
	a.ended(now, false)
	if m := a.step(now, with); m != (move{wait: firstRest}) {
		t.Errorf("after a call that was well: %+v", m)
	}
}
