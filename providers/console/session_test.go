package console

import (
	"testing"
	"time"

	"earshot/internal/terminal"
)

// TestTwice: a second ^C leaves if it comes within two seconds, and nothing
// else has happened to be cut meanwhile.
func TestTwice(t *testing.T) {
	for _, tt := range []struct {
		name  string
		after time.Duration
		busy  bool
		want  doing
	}{
		{"at once", 0, false, doing{over: true}},
		{"just in time", twice - 1, false, doing{over: true}},
		{"too late", twice, false, doing{hint: howToLeave}},
		{"while a reply has begun", time.Second, true, doing{say: nil}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s session
			now := time.Unix(0, 0)
			ctrlC := terminal.Key{Does: terminal.Interrupt}
			if d := s.step(now, ctrlC, false); d.hint != howToLeave || d.over {
				t.Fatalf("the first did %+v", d)
			}
			d := s.step(now.Add(tt.after), ctrlC, tt.busy)
			if d.over != tt.want.over || d.hint != tt.want.hint || len(d.say) > 0 != tt.busy {
				t.Errorf("the second did %+v", d)
			}
		})
	}
}
