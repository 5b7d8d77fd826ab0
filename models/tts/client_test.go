package tts_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/models/tts"
	"earshot/models/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

// A script tells what a fake helper does with a text. It goes on while wanted reports true, which
// is until the text is cancelled.
type script func(s *helper.Server, stream uint32, text string, wanted func() bool) error

// letters is a voice that says one sample for each byte, with the byte as its value, in pieces of
// four, and marks each word.
func letters(s *helper.Server, stream uint32, text string, wanted func() bool) error {
	var marks []byte
	for at := 0; at < len(text); at++ {
		if at == 0 || text[at-1] == ' ' {
			marks = wire.AppendMarks(marks, wire.Mark{Byte: uint32(at), Sample: uint32(at)})
		}
	}
	if err := s.SendSound(stream|wire.Words, marks); err != nil {
		return err
	}
	for ; text != "" && wanted(); text = text[min(4, len(text)):] {
		var pcm []int16
		for _, b := range []byte(text[:min(4, len(text))]) {
			pcm = append(pcm, int16(b))
		}
		if err := s.SendSound(stream, audio.AppendPCM(nil, pcm)); err != nil {
			return err
		}
	}
	if !wanted() {
		return nil
	}
	return s.SendSound(stream, nil)
}

// fake returns the dialer of a helper that gets a script for each life.
func fake(begin func() script) helper.Dialer {
	return fakeVoices(func() any { return nil }, begin)
}

// fakeVoices is fake for helpers that say what they are.
func fakeVoices(is func() any, begin func() script) helper.Dialer {
	return helpertest.Dialer("earshot-speech say", func(ctx context.Context, s *helper.Server) error {
		does := begin()
		var parts sync.WaitGroup
		defer parts.Wait()
		ready := make(chan struct{})
		var mu sync.Mutex
		cancelled := uint32(0)
		parts.Go(func() {
			s.Controls(func(c helper.Control) error {
				mu.Lock()
				defer mu.Unlock()
				var m wire.Cancel
				if c.Name == wire.CancelName && c.Decode(&m) == nil {
					cancelled = m.Stream
					return nil
				}
				close(ready)
				return nil
			})
		})
		select {
		case <-ready:
		case <-ctx.Done():
			return nil
		}
		if err := s.Send(wire.ReadyName, is()); err != nil {
			return err
		}
		return s.Sounds(func(m helper.Sound) error {
			return does(s, m.Stream, string(m.Data), func() bool {
				mu.Lock()
				defer mu.Unlock()
				return m.Stream > cancelled
			})
		})
	})
}

// always returns the same script for each life.
func always(s script) func() script { return func() script { return s } }

// live runs s again and again, until stop is called.
func live(t *testing.T, s *tts.Synthesiser) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			s.Run(ctx)
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
		}
	}()
	return func() { cancel(); <-done }
}

// said returns what was said, with a bar at each word's mark, and how it ended. It listens to at
// most so many chunks; -1 is all.
func said(ctx context.Context, s *tts.Synthesiser, text string, most int) (string, error) {
	var out []byte
	var words []tts.Word
	for c, err := range s.Say(ctx, text) {
		if err != nil {
			return string(out), err
		}
		for _, b := range c.PCM {
			out = append(out, byte(b))
		}
		words = append(words, c.Words...)
		if most--; most == 0 {
			break
		}
	}
	for i := len(words) - 1; i >= 0; i-- {
		if w := words[i]; w.Byte == w.Sample && w.Sample <= len(out) {
			out = append(out[:w.Sample], append([]byte("|"), out[w.Sample:]...)...)
		}
	}
	return string(out), nil
}

func TestSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := tts.New(tts.Config{Dial: fake(always(letters)), Log: quiet})
		defer live(t, s)()
		for _, tt := range []struct{ text, want string }{
			{"", ""},
			{"hello there", "|hello |there"},
			{strings.Repeat("abc ", 100), strings.Repeat("|abc ", 100)},
			{strings.Repeat("a", 500), "|" + strings.Repeat("a", 200) + "|" + strings.Repeat("a", 200) + "|" + strings.Repeat("a", 100)},
			{"again", "|again"},
		} {
			if got, err := said(t.Context(), s, tt.text, -1); got != tt.want || err != nil {
				t.Errorf("said %q, %v; want %q", got, err, tt.want)
			}
		}
	})
}

// TestParts: a text of any length is said completely, in parts that are short enough to be said in
// time.
func TestParts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,30}[,.!?]? |[a-z]{250}`), 0, 30).Draw(rt, "words"), "")
		synctest.Test(t, func(t *testing.T) {
			longest := 0
			s := tts.New(tts.Config{Log: quiet, Dial: fake(always(func(s *helper.Server, stream uint32, text string, wanted func() bool) error {
				longest = max(longest, len(text))
				return letters(s, stream, text, wanted)
			}))})
			stop := live(t, s)
			got, err := said(t.Context(), s, text, -1)
			stop()
			if strings.ReplaceAll(got, "|", "") != text || err != nil || longest > 200 {
				rt.Errorf("said %q, %v, in parts of up to %d; want %q", got, err, longest, text)
			}
		})
	})
}

// TestLeave: leaving a text stops the helper, and the next text is heard at once.
func TestLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endless := func(s *helper.Server, stream uint32, text string, wanted func() bool) error {
			for wanted() {
				if err := s.SendSound(stream, []byte{'a', 0}); err != nil {
					return err
				}
			}
			return nil
		}
		s := tts.New(tts.Config{Dial: fake(always(endless)), Log: quiet})
		defer live(t, s)()
		for range 100 {
			if got, err := said(t.Context(), s, "long", 3); got != "aaa" || err != nil {
				t.Fatalf("said %q, %v", got, err)
			}
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		reason := errors.New("enough")
		for _, err := range s.Say(ctx, "long") {
			if err != nil {
				if !errors.Is(err, reason) {
					t.Errorf("it ended with %v", err)
				}
				continue
			}
			cancel(reason)
		}
		if _, err := said(ctx, s, "never begun", -1); !errors.Is(err, reason) {
			t.Errorf("it ended with %v", err)
		}
		synctest.Wait() // this would wait for ever if the helper went on
	})
}

// TestSlowReader: when the reader pauses, nothing is lost and no chunk changes.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := tts.New(tts.Config{Dial: fake(always(letters)), Log: quiet})
		defer live(t, s)()
		text := strings.Repeat("abc ", 50)
		var out []byte
		for c, err := range s.Say(t.Context(), text) {
			if err != nil {
				t.Fatal(err)
			}
			before := fmt.Sprint(c.PCM)
			time.Sleep(time.Hour)
			if fmt.Sprint(c.PCM) != before {
				t.Error("a chunk changed while it was read")
			}
			for _, b := range c.PCM {
				out = append(out, byte(b))
			}
		}
		if string(out) != text {
			t.Errorf("said %q", out)
		}
	})
}

// TestOneAtATime: two texts at once are said one after the other.
func TestOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := tts.New(tts.Config{Dial: fake(always(letters)), Log: quiet})
		defer live(t, s)()
		var both sync.WaitGroup
		for _, text := range []string{"first", "second"} {
			both.Go(func() {
				if got, err := said(t.Context(), s, text, -1); got != "|"+text || err != nil {
					t.Errorf("said %q, %v", got, err)
				}
			})
		}
		both.Wait()
	})
}

// TestDeaths: helpers that die in the middle of a word are not noticed in the sound.
func TestDeaths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life := 0
		s := tts.New(tts.Config{Log: quiet, Dial: fake(func() script {
			life++
			left := life * 6 // number of messages
			return func(s *helper.Server, stream uint32, text string, wanted func() bool) error {
				err := letters(s, stream, text, func() bool { left--; return left >= 0 })
				if left < 0 {
					err = io.ErrUnexpectedEOF
				}
				return err
			}
		})})
		defer live(t, s)()
		want := strings.Repeat("abc ", 60)
		if got, err := said(t.Context(), s, want, -1); strings.ReplaceAll(got, "|", "") != want || err != nil {
			t.Errorf("said %q, %v", got, err)
		}
		if life < 10 {
			t.Errorf("it died %d times", life)
		}
	})
}

// TestAnotherVoiceGoesOn: when a helper dies and one with another voice and rate takes its place, that
// begins with the word which was being said.
func TestAnotherVoiceGoesOn(t *testing.T) {
	const text = "some words of a sentence. and of another"
	for messages := range 10 {
		t.Run(fmt.Sprint(messages), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				life := 0
				s := tts.New(tts.Config{Log: quiet, Dial: fakeVoices(func() any {
					if life == 1 {
						return wire.ReadySay{Rate: 24000, Voice: "first"}
					}
					return nil
				}, func() script {
					life++
					left := messages
					return func(s *helper.Server, stream uint32, text string, wanted func() bool) error {
						if life > 1 {
							return letters(s, stream, text, wanted)
						}
						letters(s, stream, text, func() bool { left--; return left >= 0 })
						return io.ErrUnexpectedEOF
					}
				})})
				if rate := s.Rate(); rate != audio.Rate {
					t.Errorf("without a voice the rate is %d", rate)
				}
				defer live(t, s)()
				var first, second []byte
				var words []tts.Word
				for c, err := range s.Say(t.Context(), text) {
					if err != nil {
						t.Fatal(err)
					}
					for _, b := range c.PCM {
						if c.Rate == audio.Rate {
							second = append(second, byte(b))
						} else {
							first = append(first, byte(b))
						}
					}
					if c.Rate == audio.Rate {
						words = append(words, c.Words...)
					}
				}
				from := strings.LastIndexByte(text[:len(first)], ' ') + 1
				if len(first) == 0 {
					from = 0
				}
				if string(first) != text[:len(first)] || string(second) != text[from:] || s.Rate() != audio.Rate {
					t.Errorf("one said %q, the other %q", first, second)
				}
				if begins := (len(first)*2 + 2) / 3; len(words) == 0 || words[0].Byte != from || words[0].Sample < begins-1 || words[0].Sample > begins {
					t.Errorf("the other begins at %+v, want byte %d and sample %d", words, from, begins)
				}
			})
		})
	}
}

// TestHelperThatIsAtFault: whatever a faulty helper does, the text ends in time.
func TestHelperThatIsAtFault(t *testing.T) {
	for _, tt := range []struct {
		name string
		does script
		want error // the error of the text
		err  error // the error of Run
	}{
		{"dies of it", func(*helper.Server, uint32, string, func() bool) error { return io.EOF }, tts.ErrFatal, helper.ErrDied},
		{"hangs", func(*helper.Server, uint32, string, func() bool) error { return nil }, tts.ErrFatal, nil},
		{"says what nobody asked for", func(s *helper.Server, stream uint32, _ string, _ func() bool) error {
			return s.SendSound(stream+1, []byte{1, 0})
		}, tts.ErrFatal, helper.ErrProtocol},
		{"says half a sample", func(s *helper.Server, stream uint32, _ string, _ func() bool) error {
			return s.SendSound(stream, []byte{1})
		}, tts.ErrFatal, helper.ErrProtocol},
		{"marks what is not there", func(s *helper.Server, stream uint32, text string, _ func() bool) error {
			return s.SendSound(stream|wire.Words, wire.AppendMarks(nil, wire.Mark{Byte: uint32(len(text))}))
		}, tts.ErrFatal, helper.ErrProtocol},
		{"has no rate", func(s *helper.Server, _ uint32, _ string, _ func() bool) error {
			return s.Send(wire.ReadyName, wire.ReadySay{Rate: 44})
		}, tts.ErrFatal, helper.ErrProtocol},
		{"is ready twice", func(s *helper.Server, _ uint32, _ string, _ func() bool) error { return s.Send(wire.ReadyName, nil) }, tts.ErrFatal, helper.ErrProtocol},
		{"says what we do not know", func(s *helper.Server, _ uint32, _ string, _ func() bool) error { return s.Send("sing", nil) }, tts.ErrFatal, helper.ErrProtocol},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := tts.New(tts.Config{Dial: fake(always(tt.does)), Log: quiet})
				ctx, stop := context.WithCancel(t.Context())
				var ended error
				done := make(chan struct{})
				go func() {
					defer close(done)
					for ctx.Err() == nil {
						if err := s.Run(ctx); err != nil {
							ended = err
						}
					}
				}()
				began := time.Now()
				_, err := said(t.Context(), s, "a text", -1)
				if !errors.Is(err, tt.want) || time.Since(began) > time.Minute {
					t.Errorf("the text ended after %v with %v, want %v", time.Since(began), err, tt.want)
				}
				stop()
				<-done
				if ended == nil || tt.err != nil && !errors.Is(ended, tt.err) {
					t.Errorf("the helper ended with %v, want %v", ended, tt.err)
				}
			})
		})
	}
}

// TestSlowVoice: a helper that gets to make sound only every fifteen seconds, as on a busy machine,
// is not killed.
func TestSlowVoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lives := 0
		s := tts.New(tts.Config{Log: quiet, Dial: fake(func() script {
			lives++
			return func(s *helper.Server, stream uint32, text string, wanted func() bool) error {
				time.Sleep(15 * time.Second)
				return letters(s, stream, text, wanted)
			}
		})})
		defer live(t, s)()
		if got, err := said(t.Context(), s, "a long number", -1); got != "|a |long |number" || err != nil || lives != 1 {
			t.Errorf("said %q in %d lives, %v", got, lives, err)
		}
	})
}

// TestEndless: a helper that never stops is stopped.
func TestEndless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := tts.New(tts.Config{Log: quiet, Dial: fake(always(func(s *helper.Server, stream uint32, _ string, _ func() bool) error {
			for s.SendSound(stream, make([]byte, helper.MaxSound)) == nil {
			}
			return io.EOF
		}))})
		stop := live(t, s)
		samples := 0
		for c, err := range s.Say(t.Context(), "short") {
			samples += len(c.PCM)
			if err != nil && !errors.Is(err, tts.ErrFatal) {
				t.Error(err)
			}
		}
		if samples > 60*audio.Rate {
			t.Errorf("it said %d samples", samples)
		}
		stop()
	})
}

func TestWithoutHelper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := tts.New(tts.Config{Log: quiet, Dial: func() (helper.Link, error) { return nil, &helper.MissingError{Name: "earshot-speech"} }})
		if err := s.Run(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("it ran with %v", err)
		}
		began := time.Now()
		if _, err := said(t.Context(), s, "a text", -1); !errors.Is(err, tts.ErrAway) || time.Since(began) != 5*time.Second {
			t.Errorf("the text ended after %v with %v", time.Since(began), err)
		}
	})
}

func TestFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := tts.New(tts.Config{Log: quiet, Voice: "nobody", Dial: helpertest.Dialer("say", func(ctx context.Context, s *helper.Server) error {
			return s.Controls(func(c helper.Control) error {
				var o wire.OpenSay
				if err := c.Decode(&o); err != nil || o.Voice != "nobody" || o.Speed != 1 {
					t.Errorf("it was told %+v, %v", o, err)
				}
				return s.Send(wire.FaultName, helper.Fault{Text: "no such voice", Lasting: true, Cure: "another"})
			})
		})})
		err := s.Run(t.Context())
		f, ok := errors.AsType[*helper.FaultError](err)
		if !ok || f.Cure() != "another" || !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("it ended with %v", err)
		}
	})
}

// TestReady: Ready tells whether texts can be said, and when that changes.
func TestReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := tts.New(tts.Config{Dial: fake(always(letters)), Log: quiet})
		ready, changed := s.Ready()
		if ready {
			t.Error("it is ready before it runs")
		}
		stop := live(t, s)
		<-changed
		if ready, changed = s.Ready(); !ready {
			t.Error("it is not ready when it runs")
		}
		stop()
		<-changed
		if ready, _ = s.Ready(); ready {
			t.Error("it is ready when it has ended")
		}
	})
}

// TestNeverReady: a helper that dies before it is ready changes nothing.
func TestNeverReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := tts.New(tts.Config{Log: quiet, Dial: helpertest.Dialer("say", func(context.Context, *helper.Server) error { return nil })})
		_, changed := s.Ready()
		s.Run(t.Context())
		select {
		case <-changed:
			t.Error("something has changed")
		default:
		}
	})
}
