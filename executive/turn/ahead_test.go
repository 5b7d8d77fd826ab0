package turn_test

import (
	"context"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/turn"
	"earshot/internal/testkit"
	"earshot/interrupt"
)

// A wall is an outlet that takes one clause and shows nothing of it, like a
// terminal that is held back.
type wall struct{}

func (wall) Name() string { return "wall" }
func (wall) Flows() bool  { return true }
func (wall) Open(_ context.Context, _ earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	return &blocked{heard: heard, cut: make(chan struct{})}, nil
}

type blocked struct {
	heard func(earshot.Heard)
	once  sync.Once
	cut   chan struct{}
}

func (b *blocked) Say(earshot.Clause) error { <-b.cut; return nil }
func (b *blocked) Finish()                  {}
func (b *blocked) Do(c earshot.Control) {
	if c == earshot.Cut {
		b.once.Do(func() { close(b.cut); b.heard(earshot.Heard{End: true}) })
	}
}

// TestAhead: the model waits when it is far enough ahead of what comes out, but
// not for one outlet of several.
func TestAhead(t *testing.T) {
	const all = 40
	voice := &testkit.Voice{Called: "voice", Every: time.Millisecond, Flow: true}
	for _, tt := range []struct {
		name        string
		ahead       int
		outlets     []earshot.Outlet
		least, most int // words that the model said
	}{
		{"a little", 3, []earshot.Outlet{wall{}}, 3, 6}, // one is being said, one in the model's hand
		{"enough", 100, []earshot.Outlet{wall{}}, all, all},
		{"one outlet of two", 3, []earshot.Outlet{wall{}, voice}, all, all},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var floor interrupt.Floor
				s := spec(&floor, tt.outlets...)
				said := 0
				text := words(strings.Repeat("word ", all-1)+"word", time.Millisecond)
				s.Ahead = tt.ahead
				s.Text = func(ctx context.Context) iter.Seq2[string, error] {
					return func(yield func(string, error) bool) {
						for w, err := range text(ctx) {
							if err == nil {
								said++
							}
							if !yield(w, err) {
								return
							}
						}
					}
				}
				timer := time.AfterFunc(10*time.Second, func() { floor.Signal(&interrupt.Signal{Kind: interrupt.Command, From: ann, By: "ann"}) })
				defer timer.Stop()
				reply, err := turn.Run(t.Context(), s)
				if err != nil {
					t.Fatal(err)
				}
				if said < tt.least || said > tt.most {
					t.Errorf("the model said %d words, want %d to %d", said, tt.least, tt.most)
				}
				if n := strings.Count(string(reply.Offered), "word"); n > said {
					t.Errorf("%d words were offered of %d", n, said)
				}
			})
		})
	}
}
