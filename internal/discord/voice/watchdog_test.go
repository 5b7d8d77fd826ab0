package voice

import (
	"testing"
	"time"
)

func TestWatchdog(t *testing.T) {
	type second struct{ packets, opened, blank int64 } // what comes in this second
	early := func(i int) second {
		if i == 0 {
			return second{50, 50, 0}
		}
		return second{}
	}
	for _, tt := range []struct {
		name    string
		said    int // second in which somebody is announced; -1 for never, -20 for every 20 s
		seconds func(i int) second
		deaf    int   // first second in which it reports deafness; -1 for never
		rejoins []int // the seconds
	}{
		{"nobody speaks", -1, func(int) second { return second{} }, -1, nil},
		{"all is well", 0, func(int) second { return second{50, 50, 0} }, -1, nil},
		{"a few are not opened", 0, func(i int) second { return second{50, int64(i % 2), 0} }, -1, nil},
		{"announced and nothing comes", 2, func(int) second { return second{} }, 7, []int{12}},
		{"announced and it comes late", 2, func(i int) second {
			if i > 8 {
				return second{50, 50, 0}
			}
			return second{}
		}, 7, nil},
		{"announced, and mute", 2, early, 7, nil},
		{"announced again and again, and nothing comes any more", -20, early, 25, []int{70}},
		{"nothing can be opened", -1, func(int) second { return second{50, 0, 0} }, 5, []int{10, 70, 190}},
		{"nothing could be opened, long ago", -1, func(i int) second {
			if i < 4 {
				return second{50, 0, 0}
			}
			return second{}
		}, -1, nil},
		{"nobody speaks, and padding or silence comes", -1, func(int) second { return second{50, 0, 50} }, -1, nil},
		{"nothing can be opened but silence", -1, func(i int) second { return second{50, 0, 5} }, 5, []int{10, 70, 190}},
		{"a second of what cannot be opened, then silence", -1, func(i int) second {
			if i == 0 {
				return second{50, 0, 0}
			}
			return second{50, 0, 50}
		}, -1, nil},
		{"announced, and only silence comes", 0, func(int) second { return second{5, 0, 5} }, -1, nil},
		{"not enough to say so", -1, func(i int) second { return second{int64((i + 1) % 2), 0, 0} }, -1, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var w watchdog
			var all second
			deaf, rejoins := -1, []int(nil)
			for i := range 200 {
				now := noon.Add(time.Duration(i) * time.Second)
				if i == tt.said || tt.said < -1 && i > 0 && i%-tt.said == 0 && i < 100 {
					w.speaking(now)
				}
				s := tt.seconds(i)
				if tt.name == "not enough to say so" && i > 80 {
					s = second{}
				}
				all.packets += s.packets
				all.opened += s.opened
				all.blank += s.blank
				why, rejoin := w.look(now, all.packets, all.opened, all.blank)
				if why != "" && deaf < 0 {
					deaf = i
				}
				if rejoin {
					rejoins = append(rejoins, i)
				}
			}
			if deaf != tt.deaf || len(rejoins) != len(tt.rejoins) {
				t.Fatalf("deaf at %d, rejoins at %v; want %d and %v", deaf, rejoins, tt.deaf, tt.rejoins)
			}
			for i := range rejoins {
				if rejoins[i] != tt.rejoins[i] {
					t.Errorf("rejoins at %v, want %v", rejoins, tt.rejoins)
				}
			}
		})
	}
}
