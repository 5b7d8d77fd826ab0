package loudspeaker_test

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/playback/playbacktest"
	"earshot/internal/sound"
	"earshot/internal/sound/soundtest"
	"earshot/internal/testkit"
	"earshot/models/tts"
	"earshot/outlets/loudspeaker"
)

// patience is how long a real device or process may take on a machine under
// load.
const patience = 30 * time.Second

// A theatre is a real voice on a private sound card.
type theatre struct {
	*loudspeaker.Loudspeaker
	server *soundtest.Server
	voice  *tee
}

// A tee keeps what a voice has made, since the same words sound different each time.
type tee struct {
	loudspeaker.Voice

	mu    sync.Mutex
	pcm   []int16
	words []tts.Word
}

func (v *tee) Say(ctx context.Context, spoken string) iter.Seq2[tts.Chunk, error] {
	return func(yield func(tts.Chunk, error) bool) {
		for c, err := range v.Voice.Say(ctx, spoken) {
			v.mu.Lock()
			v.pcm, v.words = append(v.pcm, c.PCM...), append(v.words, c.Words...)
			v.mu.Unlock()
			if !yield(c, err) {
				return
			}
		}
	}
}

// made returns what the voice has made since the last call.
func (v *tee) made() (pcm []int16, words []tts.Word) {
	v.mu.Lock()
	defer v.mu.Unlock()
	pcm, words = v.pcm, v.words
	v.pcm, v.words = nil, nil
	return pcm, words
}

func newTheatre(t *testing.T) *theatre {
	t.Helper()
	dir := helpertest.Build(t, "earshot-sound", "earshot-speech")
	server := soundtest.Start(t)
	log := slog.New(slog.DiscardHandler)
	dial := func(name string, args ...string) helper.Dialer {
		return func() (helper.Link, error) {
			return helper.Start(helper.Command{Name: name, Path: filepath.Join(dir, name), Args: args, Env: server.Env(), Log: log})
		}
	}
	card := sound.New(dial("earshot-sound"), log)
	say := tts.New(tts.Config{Dial: dial("earshot-speech", "say"), Log: log})
	voice := &tee{Voice: say}
	l := loudspeaker.New(loudspeaker.DefaultConfig(), loudspeaker.OnCard(card), voice)
	entered := make(chan struct{})
	perform(t, card.Run)
	perform(t, say.Run)
	perform(t, func(ctx context.Context) error {
		return l.Run(ctx, func(earshot.Outlet) func() { close(entered); return func() {} })
	})
	select {
	case <-entered:
	case <-time.After(patience):
		t.Fatal("the loudspeaker does not open")
	}
	return &theatre{l, server, voice}
}

// perform runs a part until the test ends.
func perform(t *testing.T, run func(context.Context) error) {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := run(ctx); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		stop()
		testkit.Finish(t, testkit.Patience, "the end of a part", running.Wait)
	})
}

// TestRealCut: when a real voice on a sound card is cut, the words reported as heard are those
// whose sound is in the recording, give or take one, and nothing sounds after the cut.
func TestRealCut(t *testing.T) {
	th := newTheatre(t)
	const text = "the tide comes in twice every day and goes out again as often as it came in before."
	for _, cut := range []int{0, 9, 26, 43, 70} {
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			recording, err := th.server.Record(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			l := playbacktest.Listen()
			s, err := th.Open(t.Context(), earshot.Opening{}, l.Hear)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Say(earshot.Clause{Text: text}); err != nil {
				t.Fatal(err)
			}
			testkit.Await(t, patience, "the word", func() bool { return l.At().Byte >= cut })
			s.Do(earshot.Cut)
			asked := time.Now()
			testkit.Await(t, patience, "the end", func() bool { return l.At().End })
			t.Logf("ended %v after the cut", time.Since(asked).Round(time.Millisecond))
			at := recording.Len()
			testkit.Await(t, patience, "the sound after it", func() bool { return recording.Len() > at+8000 })
			got := recording.Stop()
			want, words := th.voice.made()
			played := matching(got, want)
			end := l.At()
			told, sounded := index(words, end.Byte), 0
			for i := range words[:len(words)-1] {
				if 2*played >= words[i].Sample+words[i+1].Sample {
					sounded = i + 1
				}
			}
			t.Logf("%d of %d samples were played; %d words are in it, %d told", played, len(want), sounded, told)
			if told < sounded-1 || told > sounded+1 || played == 0 && cut > 0 {
				t.Errorf("%d samples were played, %d words, and %d told", played, sounded, told)
			}
			if loud := len(got) - quiet(got); loud > len(got)-4000 {
				t.Error("it is not silent after the cut")
			}
		})
	}
}

// TestRealPauses: on a sound card, too, a speech that is lowered, paused and cut at any time is
// recorded up to the word reported as heard.
func TestRealPauses(t *testing.T) {
	rounds := 3
	if os.Getenv("EARSHOT_PROOF") != "" {
		rounds = 60
	}
	dir, server, log := helpertest.Build(t, "earshot-sound"), soundtest.Start(t), slog.New(slog.DiscardHandler)
	card := sound.New(func() (helper.Link, error) {
		return helper.Start(helper.Command{Name: "earshot-sound", Path: filepath.Join(dir, "earshot-sound"), Env: server.Env(), Log: log})
	}, log)
	voice, entered := new(playbacktest.Cipher), make(chan struct{})
	l := loudspeaker.New(loudspeaker.DefaultConfig(), loudspeaker.OnCard(card), voice)
	perform(t, card.Run)
	perform(t, func(ctx context.Context) error {
		return l.Run(ctx, func(earshot.Outlet) func() { close(entered); return func() {} })
	})
	select {
	case <-entered:
	case <-time.After(patience):
		t.Fatal("the loudspeaker does not open")
	}
	said := playbacktest.Clauses(strings.Repeat("one two three four five six ", 4))
	for round := range rounds {
		*voice = playbacktest.Cipher{}
		dice := rand.New(rand.NewPCG(7, uint64(round)))
		recording, err := server.Record(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		hears := playbacktest.Listen()
		s, err := l.Open(t.Context(), earshot.Opening{}, hears.Hear)
		if err != nil {
			t.Fatal(err)
		}
		wait := say(t, s, said)
		testkit.Await(t, patience, "the first word", func() bool { return hears.At().Byte > 0 })
		does := func(any ...earshot.Control) {
			s.Do(any[dice.IntN(len(any))])
			at := recording.Len() + dice.IntN(2*perWord) // measured in the time of the recording
			testkit.Await(t, patience, "some sound, or silence", func() bool { return recording.Len() > at })
		}
		for word := range 4 {
			does(earshot.Duck, earshot.Pause)
			does(earshot.Pause, earshot.Duck, earshot.Resume)
			does(earshot.Resume, earshot.Duck)
			testkit.Await(t, patience, "a word", func() bool { return hears.At().Byte > 8*word })
		}
		s.Do([]earshot.Control{earshot.Cut, earshot.Resume}[round%2])
		wait()
		testkit.Await(t, patience, "the end", func() bool { return hears.At().End })
		at := recording.Len()
		testkit.Await(t, patience, "the sound after it", func() bool { return recording.Len() > at+8000 })
		end := hears.At()
		least, most, ok := soundtest.FollowRuns(recording.Stop())
		words := len(strings.Fields(playbacktest.Text(said, end)))
		if low, high := (least+perWord/2)/perWord-1, (most+perWord/2)/perWord+1; !ok || words < low || words > high {
			t.Errorf("round %d: %d to %d samples are in the recording (%v), and %d words were heard", round, least, most, ok, words)
		}
	}
}

// TestRealSpeech: a speech that is not cut is heard to its end, every sample of it.
func TestRealSpeech(t *testing.T) {
	th := newTheatre(t)
	recording, err := th.server.Record(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	said := playbacktest.Clauses("The **tide** is high, ", "🎉 ", "and it is 15:04.")
	l := playbacktest.Listen()
	s, err := th.Open(t.Context(), earshot.Opening{}, l.Hear)
	if err != nil {
		t.Fatal(err)
	}
	say(t, s, said)()
	testkit.Await(t, patience, "the end", func() bool { return l.At().End })
	checkReports(t, l)
	if end := l.At(); playbacktest.Text(said, end) != "The **tide** is high, 🎉 and it is 15:04." {
		t.Errorf("heard %q", playbacktest.Text(said, end))
	}
	got := recording.Stop()
	want, _ := th.voice.made()
	if n := matching(got, want); n != len(want) {
		t.Errorf("%d of %d samples were played", n, len(want))
	}
}

// index returns how many words begin before byte n of the spoken text.
func index(words []tts.Word, n int) int {
	i, _ := slices.BinarySearchFunc(words, n, func(w tts.Word, n int) int { return w.Byte - n })
	return i
}

// quiet returns how many samples of silence end pcm.
func quiet(pcm []int16) (n int) {
	for n < len(pcm) && pcm[len(pcm)-1-n] == 0 {
		n++
	}
	return n
}

// matching returns how many samples of want, from its first sound on, are in got. A machine under
// load may have played silence in between.
func matching(got, want []int16) int {
	n := slices.IndexFunc(want, func(s int16) bool { return s != 0 })
	for n < len(want) {
		rest := want[n:min(n+64, len(want))]
		gap := 0
		for gap+len(rest) <= len(got) && !slices.Equal(got[gap:gap+len(rest)], rest) {
			gap++
		}
		if gap+len(rest) > len(got) {
			break
		}
		for got = got[gap:]; n < len(want) && len(got) > 0 && got[0] == want[n]; n++ {
			got = got[1:]
		}
	}
	return n
}
