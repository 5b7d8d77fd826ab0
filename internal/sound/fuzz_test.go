package sound_test

import (
	"context"
	"log/slog"
	"testing"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/sound"
	"earshot/internal/testkit"
)

// FuzzHelper: whatever a helper sends while an input is being opened, the client may reject it, but
// neither crashes nor hangs.
func FuzzHelper(f *testing.F) {
	f.Add(sound.SayOpened, []byte(`{"number":1,"device":"x"}`), uint32(1), new(audio.Frame).Append(nil))
	f.Add(sound.SayLost, []byte(`{"number":1,"text":"gone","fix":"mend it"}`), uint32(1), []byte{})
	f.Add(sound.SayPlayed, []byte(`{"play":1,"credit":3200,"samples":-1,"end":true}`), uint32(0), []byte{1})
	f.Add(sound.SayDown, []byte(`null`), uint32(1<<31), make([]byte, audio.Size))
	f.Add(sound.SayClosed, []byte(`[]`), uint32(2), make([]byte, audio.Size))
	f.Fuzz(func(t *testing.T, name string, body []byte, stream uint32, data []byte) {
		m := mute{make(chan helper.Handler, 1)}
		c := sound.New(func() (helper.Link, error) { return m, nil }, slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		end := make(chan struct{})
		go func() {
			defer close(end)
			c.Run(ctx)
		}()
		h := testkit.Receive(t, testkit.Patience, "the handler of the card", m.handler)
		h.Control(helper.Control{Name: sound.SayReady})
		asked := make(chan struct{})
		go func() {
			defer close(asked)
			c.Input(ctx, "")
		}()
		for range 2 {
			h.Control(helper.Control{Name: name, Body: body})
			h.Sound(helper.Sound{Stream: stream, Data: data})
		}
		stop()
		testkit.Receive(t, testkit.Patience, "the end of the card", end)
		testkit.Receive(t, testkit.Patience, "the end of what was asked", asked)
	})
}
