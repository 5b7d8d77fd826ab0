package microphone_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
)

// parts tells when each utterance began, how long it lasted, to a tenth of a second, and its words.
func (r *room) parts() string {
	var all []string
	for _, e := range r.events {
		if u, ok := e.Body.(earshot.Utterance); ok {
			began := e.At.Sub(r.began).Round(100 * time.Millisecond)
			all = append(all, fmt.Sprintf("%s at %v for %v", string(u.Text), began, u.Lasted.Round(100*time.Millisecond)))
		}
	}
	return strings.Join(all, ", ")
}

// TestSplit: when another voice takes over without a pause, there are two utterances, each with its
// own words, times and voice.
func TestSplit(t *testing.T) {
	a, b := strings.Repeat("A", 30), strings.Repeat("B", 30)
	heard := []result{{text: "both of us"}, {text: "one of us"}, {text: "the other"}, {text: "the other"}, {text: "the third"}}
	for _, tt := range []struct {
		name, picture, saw, want, voices string
		fed                              string // frames in tenths of a second, of each session
		cancelled                        int
	}{
		{"one voice", ".." + a + "......", "blU", "both of us at 200ms for 3s", "U30", "35", 0},
		{"two voices", ".." + a + "." + b + "......", "bllUlU", "one of us at 200ms for 3s, the other at 3.3s for 3s", "U30 U30", "- 32 34", 1},
		{"the second ends soon", ".." + a + "." + b[:12] + "......", "bllUlU", "one of us at 200ms for 3s, the other at 3.3s for 1.2s", "U30 U12", "- 32 16", 1},
		{"a word of another", ".." + a + "BBB......", "blU", "both of us at 200ms for 3.3s", "U33", "38", 0},
		{"three", ".." + a + "." + b + "." + a + "......", "bllUllUlU", "one of us at 200ms for 3s, the other at 3.3s for 3s, the third at 6.4s for 3s", "U30 U30 U30", "- 32 - 31 34", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := asking(&take{picture: tt.picture}, heard...)
				if err := p.Run(t.Context(), p.room.emit); err != nil {
					t.Fatal(err)
				}
				if p.room.saw() != tt.saw || p.room.parts() != tt.want {
					t.Errorf("the room saw %s: %s\nwant %s: %s", p.room.saw(), p.room.parts(), tt.saw, tt.want)
				}
				if got := p.room.heard(); got != tt.voices {
					t.Errorf("heard %s, want %s", got, tt.voices)
				}
				if got := p.rec.fed(tt.fed); got != tt.fed || p.rec.cancel != tt.cancelled {
					t.Errorf("sessions were fed %s, and %d cancelled, want %s, %d", got, p.rec.cancel, tt.fed, tt.cancelled)
				}
			})
		})
	}
}

// fed tells how much each session was fed, in tenths of a second; sessions for which want has "-"
// are skipped.
func (r *recogniser) fed(want string) string {
	var all []string
	for i, w := range strings.Fields(want) {
		if w != "-" && i < len(r.frames) {
			w = fmt.Sprint((r.frames[i] + 2) / 5)
		}
		all = append(all, w)
	}
	return strings.Join(all, " ")
}

// TestNotSplit: if nobody asks whose voice it is, voices are not told apart.
func TestNotSplit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPerformance(&take{picture: ".." + strings.Repeat("A", 30) + strings.Repeat("B", 30) + "......"}, result{text: "both of us"})
		if err := p.Run(t.Context(), p.room.emit); err != nil || p.room.saw() != "blU" {
			t.Errorf("the room saw %s, %v", p.room.saw(), err)
		}
	})
}

// TestOverlaps: two people who speak at the same time are told apart from one.
func TestOverlaps(t *testing.T) {
	for picture, want := range map[string]bool{
		"..AAAAAAAAAAAAAAA......":      false,
		"..AAAAAAAAAAMMMMMMMMMM......": true,
	} {
		synctest.Test(t, func(t *testing.T) {
			p := asking(&take{picture: picture}, result{text: "one of us"})
			if err := p.Run(t.Context(), p.room.emit); err != nil {
				t.Fatal(err)
			}
			for _, e := range p.room.events {
				if u, ok := e.Body.(earshot.Utterance); ok && (u.Overlaps != want || u.Voice != nil && u.Voice.Overlapped != want) {
					t.Errorf("%s overlaps: %v, want %v", picture, u.Overlaps, want)
				}
			}
		})
	}
}
