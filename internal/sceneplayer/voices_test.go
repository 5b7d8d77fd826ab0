package sceneplayer

import (
	"context"
	"earshot/config"
	"earshot/daemon"
	"os"
	"strings"
	"testing"

	"earshot"
)

// TestScenesOfVoices: if a scene with voices is performed by a real daemon, the voices are told
// apart and numbered as in the scene.
func TestScenesOfVoices(t *testing.T) {
	for scene, want := range map[string]string{
		"voices-two-in-turn":   "1, 2, 1, 2",
		"voices-prove-nothing": "1, 1, like the agent, 2",
	} {
		t.Run(scene, func(t *testing.T) {
			t.Parallel()
			archive, err := os.ReadFile("../../testdata/scenes/" + scene + ".txtar")
			if err != nil {
				t.Fatal(err)
			}
			var said []string
			open := func(ctx context.Context, cfg *config.Config, who earshot.Handle) (Daemon, error) {
				return daemon.Open(ctx, cfg, daemon.Options{Account: who, Name: who.ID})
			}
			events, err := Play(t.Context(), open, archive, 10, nil)
			for _, e := range events {
				if u, is := e.Body.(earshot.Utterance); is && u.LikeAgent {
					said = append(said, "like the agent")
				} else if is {
					said = append(said, string(e.Author[strings.LastIndexByte(string(e.Author), '_')+1:]))
				}
			}
			if got := strings.Join(said, ", "); err != nil || got != want {
				t.Errorf("said is by %s, want %s: %v", got, want, err)
			}
		})
	}
}
