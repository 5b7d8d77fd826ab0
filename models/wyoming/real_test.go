package wyoming_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"earshot/internal/audio"
	"earshot/internal/supervise"
	"earshot/internal/testkit"
	"earshot/models/modeltest"
	"earshot/models/remote"
	"earshot/models/stt"
	"earshot/models/tts"
	"earshot/models/wyoming"
	"earshot/models/wyoming/wyomingtest"
)

var quiet = slog.New(slog.DiscardHandler)

// keep keeps something running until the test ends.
func keep(t *testing.T, run func(context.Context) error) {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { supervise.Run(ctx, "engine", run, supervise.Config{}) })
	t.Cleanup(func() {
		stop()
		testkit.Finish(t, testkit.Patience, "the end of the engine", running.Wait)
	})
}

// hear has a recogniser hear a text in tones, and returns what it says in the end. Between is called
// in the middle of the text.
func hear(t *testing.T, r *stt.Recogniser, text string, between func()) stt.Result {
	t.Helper()
	results := make(chan stt.Result, 99)
	s := r.Begin(func(res stt.Result) {
		if res.Final {
			results <- res
		}
	})
	pcm := modeltest.Tones(text)
	for at := 0; at < len(pcm); at += audio.Samples {
		var f audio.Frame
		copy(f.PCM[:], pcm[at:])
		s.Feed(&f)
		if between != nil && at > len(pcm)/2 {
			between()
			between = nil
		}
	}
	s.End()
	return testkit.Receive(t, testkit.Patience, "the words of an utterance", results)
}

// TestRealRecogniser: wyoming-faster-whisper hears one utterance after the other, and again the one
// in which it was killed.
func TestRealRecogniser(t *testing.T) {
	server := wyomingtest.StartRecogniser(t)
	by := wyoming.Recogniser{Server: server.Address, Language: "en"}
	if err := by.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := (wyoming.Voice{Server: server.Address}).Check(t.Context()); err == nil {
		t.Error("it is a voice, too")
	}
	r := stt.New(stt.Config{Dial: remote.Hear("whisper", by), Log: quiet})
	keep(t, r.Run)
	for _, text := range []string{"one three two four", "four", "two one two"} {
		if got := hear(t, r, text, nil); string(got.Text) != text || got.Err != nil {
			t.Errorf("heard %q of %q, %v", string(got.Text), text, got.Err)
		}
	}
	const text = "four three two one"
	var restarting sync.WaitGroup
	got := hear(t, r, text, func() {
		server.Stop()
		restarting.Go(server.Restart)
	})
	testkit.Finish(t, 2*testkit.Patience, "a new server", restarting.Wait)
	if got.Err != nil { // the server took longer than anybody waits
		got = hear(t, r, text, nil)
	}
	if string(got.Text) != text {
		t.Errorf("around a restart it heard %q of %q, %v", string(got.Text), text, got.Err)
	}
}

// TestRealVoice: wyoming-piper says one text after the other, of several sentences, and one after
// another was cut.
func TestRealVoice(t *testing.T) {
	server := wyomingtest.StartVoice(t)
	by := wyoming.Voice{Server: server.Address}
	if err := by.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := tts.New(tts.Config{Dial: remote.Say("piper", wyoming.Rate, by), Log: quiet})
	keep(t, s.Run)
	speak := func(text string, most int) (samples, words int) {
		for c, err := range s.Say(t.Context(), text) {
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			samples, words = samples+len(c.PCM), words+len(c.Words)
			if samples > most {
				break
			}
		}
		return samples, words
	}
	const sentence = "hello there, how are you today"
	one, words := speak(sentence, 1<<30)
	if one < audio.Rate || words != 6 {
		t.Errorf("%d samples and %d words of %q", one, words, sentence)
	}
	if cut, _ := speak(sentence+". "+sentence, 1000); cut <= 1000 {
		t.Errorf("it said %d samples until it was cut", cut)
	}
	if two, words := speak(sentence+". "+sentence, 1<<30); two < 2*one-one/10 || words != 12 {
		t.Errorf("%d samples and %d words of two sentences of %d", two, words, one)
	}
}

// TestRealDescription: what the real servers say that they are is understood.
func TestRealDescription(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	d, err := wyomingtest.StartVoice(t).Address.Describe(ctx)
	if err != nil || len(d.Voices) != 1 || d.Voices[0].Name != "piper" || len(d.Recognisers) != 0 {
		t.Errorf("%+.300v, %v", d, err)
	}
}
