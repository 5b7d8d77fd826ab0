package loudspeaker_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/playback/playbacktest"
	"earshot/internal/sound"
	"earshot/internal/sound/soundtest"
	"earshot/internal/testkit"
	"earshot/models/catalog"
	"earshot/models/modeltest"
	"earshot/models/neural"
	"earshot/models/tts"
	"earshot/outlets/loudspeaker"
)

// lowest is the first number of a sound whose tone can be told from others in a moment.
const lowest = 10

// heardTones returns the numbers of the tones in a recording of a voice of package modeltest, in their
// order, of those one after another that are equal one, and until which sample each was sure to be
// one. A tone counts if it lasts.
func heardTones(pcm []int16, rate int) (numbers, until []int) {
	const lasts = 3 // windows
	window, hop := rate/40, rate/200
	last, times := 0, 0
	for at := 0; at+window <= len(pcm); at += hop {
		if n := strongest(pcm[at:at+window], rate); n == last {
			times++
		} else {
			last, times = n, 1
		}
		if times == lasts && last >= lowest && (len(numbers) == 0 || numbers[len(numbers)-1] != last) {
			numbers, until = append(numbers, last), append(until, at+window)
		}
	}
	return numbers, until
}

// strongest returns the number of the tone that pcm has most of, or 0 if it is silent.
func strongest(pcm []int16, rate int) (number int) {
	if audio.Level(pcm) < -40 {
		return 0
	}
	most := 0.0
	for n := range modeltest.Sounds() {
		turn := 2 * math.Cos(2*math.Pi*float64(n*modeltest.Step)/float64(rate))
		s1, s2 := 0.0, 0.0
		for _, x := range pcm { // Goertzel's filter
			s1, s2 = float64(x)+turn*s1-s2, s1
		}
		if power := s1*s1 + s2*s2 - turn*s1*s2; power > most {
			most, number = power, n
		}
	}
	return number
}

// A fickleTee is a tee of a voice with a rate of its own.
type fickleTee struct {
	tee
	of *tts.Synthesiser
}

func (v *fickleTee) Ready() (bool, <-chan struct{}) { return v.of.Ready() }
func (v *fickleTee) Rate() int                      { return v.of.Rate() }

func (v *fickleTee) Say(ctx context.Context, spoken string) iter.Seq2[tts.Chunk, error] {
	return v.tee.Say(ctx, spoken)
}

// TestRealNeural: the tones of voices of 22.05 and 24 kHz come out of the sound card in order, and how
// much was heard is right when one is cut.
func TestRealNeural(t *testing.T) {
	dir := helpertest.Build(t, "earshot-sound", helper.NeuralProgram)
	for _, tt := range []struct {
		kind  catalog.Kind
		rate  int
		write func(string) error
	}{
		{catalog.Piper, modeltest.PiperRate, modeltest.WritePiperSet},
		{catalog.Kokoro, modeltest.KokoroRate, func(dir string) error { return modeltest.WriteKokoro(dir) }},
	} {
		t.Run(string(tt.kind), func(t *testing.T) {
			t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
			library := neural.Library{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)}
			folder := filepath.Join(library.Dir, "it")
			if err := errors.Join(tt.write(folder), modeltest.Describe(folder, catalog.Say, tt.kind)); err != nil {
				t.Fatal(err)
			}
			set, err := library.Find("it")
			if err != nil {
				t.Fatal(err)
			}
			server := soundtest.Start(t)
			card := sound.New(func() (helper.Link, error) {
				return helper.Start(helper.Command{Name: sound.Helper, Path: filepath.Join(dir, sound.Helper), Env: server.Env(), Log: library.Log})
			}, library.Log)
			say := tts.New(tts.Config{Log: library.Log, Dial: library.Say(set, "", 1, func(ctx context.Context) error {
				_, err := library.Check(ctx, set)
				return err
			})})
			voice := &fickleTee{tee{Voice: say}, say}
			l := loudspeaker.New(loudspeaker.DefaultConfig(), loudspeaker.OnCard(card), voice)
			entered := make(chan struct{})
			perform(t, card.Run)
			perform(t, say.Run)
			var once sync.Once
			perform(t, func(ctx context.Context) error {
				return l.Run(ctx, func(earshot.Outlet) func() { once.Do(func() { close(entered) }); return func() {} })
			})
			testkit.Receive(t, patience, "the loudspeaker", entered)

			speak := func(text string, cut int) (heard string, recorded []int16) {
				t.Helper()
				recording, err := server.Record(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer recording.Stop()
				hears := playbacktest.Listen()
				s, err := l.Open(t.Context(), earshot.Opening{}, hears.Hear)
				if err != nil {
					t.Fatal(err)
				}
				said := playbacktest.Clauses(text)
				if err := s.Say(said[0]); err != nil {
					t.Fatal(err)
				}
				s.Finish()
				if cut > 0 {
					testkit.Await(t, patience, "the words", func() bool { return hears.At().Byte >= cut })
					s.Do(earshot.Cut)
				}
				testkit.Await(t, patience, "the end of the speech", func() bool { return hears.At().End })
				from := recording.Len()
				testkit.Await(t, patience, "the rest of the recording", func() bool { return recording.Len() > from+audio.Rate/2 })
				return playbacktest.Text(said, hears.At()), recording.PCM(0)
			}
			const text = "people ask for bread. nobody buys milk."
			heard, recorded := speak(text, 0)
			made, _ := voice.made()
			if say.Rate() != tt.rate || heard != text {
				t.Errorf("at %d samples a second %q was heard", say.Rate(), heard)
			}
			want, _ := heardTones(made, tt.rate)
			if got, _ := heardTones(recorded, audio.Rate); !slices.Equal(got, want) || len(want) < 15 {
				t.Errorf("the tones of the card are\n%v, want\n%v", got, want)
			}
			heard, recorded = speak(text, len("people "))
			made, words := voice.made()
			// The recording ends within the word after the last that counts, or in the one after that.
			tones, _ := heardTones(recorded, audio.Rate)
			all, until := heardTones(made, tt.rate)
			if len(tones) == 0 || len(tones) > len(all) || !slices.Equal(tones[:len(tones)-1], all[:len(tones)-1]) { // a fade may be no tone
				t.Fatalf("after a cut the tones of the card are\n%v, want the first of\n%v", tones, all)
			}
			end := until[len(tones)-1]
			n := slices.IndexFunc(words, func(w tts.Word) bool { return w.Byte >= len(heard) })
			if len(heard) == len(text) || n < 1 || end < words[n-1].Sample || n+2 < len(words) && end > words[n+2].Sample {
				t.Errorf("%q is said to be heard, and %.2f s were; the words begin at %v", heard, float64(end)/float64(tt.rate), words)
			}
		})
	}
}
