package microphone_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestTakenBack: whatever ends a microphone or keeps an utterance from the room, no voice holds the
// agent back for ever: its claim is taken back.
func TestTakenBack(t *testing.T) {
	unplugged := errors.New("unplugged")
	sentence := result{text: "what time is it"}
	for _, tt := range []struct {
		name  string
		take  take
		muted time.Duration
		will  result
		fail  error
		want  string
	}{
		{"muted in an onset", take{}, 270 * time.Millisecond, sentence, nil, "bo"},
		{"muted in a voice", take{}, 500 * time.Millisecond, sentence, nil, "blo"},
		{"muted while it is understood", take{}, 1030 * time.Millisecond, sentence, nil, "blo"},
		{"muted when it has been", take{}, 1100 * time.Millisecond, sentence, nil, "blU"},
		{"lost in an onset", take{ends: 14, err: unplugged}, 0, sentence, nil, "bo"},
		{"lost, and not understood", take{ends: 35, err: unplugged}, 0, result{never: true}, nil, "blo"},
		{"lost, and understood", take{ends: 35, err: unplugged}, 0, sentence, nil, "blU"},
		{"refused", take{}, 0, sentence, errors.New("no room"), "blUo"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tt.take.picture = "..#####.........."
				p := newPerformance(&tt.take, tt.will)
				p.room.fail = tt.fail
				ctx, mute := context.WithCancel(t.Context())
				defer mute()
				if tt.muted > 0 {
					time.AfterFunc(tt.muted, mute)
				}
				_ = p.Run(ctx, p.room.emit)
				if got := p.room.saw(); got != tt.want {
					t.Errorf("the room saw %s, want %s", got, tt.want)
				}
			})
		})
	}
}

// TestFarewellIsBounded: a room that is stuck does not keep a microphone from ending.
func TestFarewellIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPerformance(&take{picture: "..#####.........."})
		p.room.stuckAt = 3 // events: began, lasts, farewell
		ctx, mute := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer mute()
		_ = p.Run(ctx, p.room.emit)
		if took := time.Since(p.room.began); p.room.saw() != "blo" || took > 600*time.Millisecond {
			t.Errorf("the room saw %s, and it ended after %v", p.room.saw(), took)
		}
	})
}

// TestCutBehindACommit: a word that cuts does not wait until the utterance before it is on the
// disk.
func TestCutBehindACommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPerformance(&take{picture: "..###......###......."}, result{text: "we have lunch"}, result{text: "stop"})
		p.room.takes = 3 * time.Second
		if err := p.Run(t.Context(), p.room.emit); err != nil {
			t.Fatal(err)
		}
		// The voice ends at 1.4 s, 300 ms of silence follow, and 60 ms later it is understood.
		if got, want := string(p.room.picture), "..bl....U..bl....U"; got != want {
			t.Errorf("the room saw %s, want %s", got, want)
		}
	})
}

// TestAskedAgain: an utterance takes back only what its own voice asked for, not what the next
// voice asks for that has begun meanwhile.
func TestAskedAgain(t *testing.T) {
	words := []string{"", "", "", "", "", "well"}
	for _, tt := range []struct {
		name    string
		results []result
		want    string
	}{
		{"a voice", []result{{text: "one more", late: 200 * time.Millisecond}, {text: "two more"}}, "blblUlU"},
		{"words", []result{{text: "one more", late: 450 * time.Millisecond}, {partials: words, text: "well then"}}, "blblwUlwsU"},
		{"nothing else", []result{{text: "one more"}, {text: "two more"}}, "blUblU"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPerformance(&take{picture: "..#####....#####........"}, tt.results...)
				p.room.takes = time.Second // like a slow disk
				if err := p.Run(t.Context(), p.room.emit); err != nil {
					t.Fatal(err)
				}
				if got := p.room.saw(); got != tt.want {
					t.Errorf("the room saw %s, want %s", got, tt.want)
				}
			})
		})
	}
}

// TestUnkept: a notice tells how many utterances were dropped because the room could no longer take
// them.
func TestUnkept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		results := make([]result, 20)
		for i := range results {
			results[i].text = "something"
		}
		p := newPerformance(&take{picture: strings.Repeat("###.....", len(results))}, results...)
		p.room.takes = time.Hour
		if err := p.Run(t.Context(), p.room.emit); err != nil {
			t.Fatal(err)
		}
		if p.room.told() != "unkept speech" || !strings.HasPrefix(p.room.last, "4 utterances were dropped") {
			t.Errorf("told %s: %s", p.room.told(), p.room.last)
		}
	})
}
