package microphone_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/sound"
	"earshot/internal/sound/soundtest"
	"earshot/internal/testkit"
	"earshot/models/stt"
	"earshot/models/tts"
	"earshot/providers/microphone"
)

// patience is how long a real device or process may take on a machine under
// load.
const patience = 60 * time.Second

// TestReal: a question played into a real sound card is heard and understood.
func TestReal(t *testing.T) {
	dir := helpertest.Build(t, "earshot-sound", "earshot-speech")
	server := soundtest.Start(t)
	log := slog.New(slog.DiscardHandler)
	dial := func(name string, args ...string) helper.Dialer {
		return func() (helper.Link, error) {
			return helper.Start(helper.Command{Name: name, Path: filepath.Join(dir, name), Args: args, Env: server.Env(), Log: log})
		}
	}
	card, say := sound.New(dial("earshot-sound"), log), tts.New(tts.Config{Dial: dial("earshot-speech", "say"), Log: log})
	rec := stt.New(stt.Config{Dial: dial("earshot-speech", "hear"), Names: []string{"earshot"}, Log: log})
	r := &room{began: time.Now()}
	mic := microphone.New(microphone.DefaultConfig(), microphone.Parts{
		Capture: microphone.OnCard(card, ""), Recogniser: microphone.UseSTT(rec), Notice: r.notice,
	})
	ctx, stop := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	defer testkit.Finish(t, testkit.Patience, "the end of the parts", parts.Wait)
	defer stop()
	for _, run := range []func(context.Context) error{
		card.Run, say.Run, rec.Run, func(ctx context.Context) error { return mic.Run(ctx, r.emit) },
	} {
		parts.Go(func() {
			if err := run(ctx); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	question := make([]int16, 16000) // a moment of silence first
	for c, err := range say.Say(ctx, "what is the weather like today") {
		if err != nil {
			t.Fatal(err)
		}
		question = append(question, c.PCM...)
	}
	question = append(question, make([]int16, 16000)...)
	testkit.Await(t, patience, "the microphone", func() bool { in, _, err := server.Streams(); return err == nil && in == 1 })
	if err := server.Play(ctx, question); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, patience, "an utterance", func() bool { return r.said() != "" })
	if got := r.said(); !strings.Contains(got, "the weather") { // the recogniser may get a word wrong
		t.Errorf("understood %q", got)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t.Logf("the room saw %s, and was told %v", strings.Trim(string(r.picture), "."), r.notices)
}
