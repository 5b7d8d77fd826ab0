package trial_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/trial"
	"earshot/language"
	"earshot/providers/microphone"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestEdits: the number of edits is the least, either way round.
func TestEdits(t *testing.T) {
	for _, tt := range []struct {
		want, got string
		edits     int
	}{
		{"what time is it", "what time is it", 0},
		{"what time is it", "What time is it?", 0},
		{"by four p m", "by four p.m.", 0},
		{"what time is it", "what time is", 1},
		{"what time is it", "but what time is it", 1},
		{"what time is it", "what dime is it", 1},
		{"what time is it", "", 4},
		{"what time is it", "time what is it", 2},
		{"open the door and let the dog out", "the door let the dock outs", 4},
		{"", "noise", 1},
		{"", "", 0},
	} {
		if got := language.Edits(trial.Words(tt.want), trial.Words(tt.got)); got != tt.edits {
			t.Errorf("%q for %q is %d edits, want %d", tt.got, tt.want, got, tt.edits)
		}
		if got := language.Edits(trial.Words(tt.got), trial.Words(tt.want)); got != tt.edits {
			t.Errorf("the other way round, %q for %q is %d edits, want %d", tt.want, tt.got, got, tt.edits)
		}
	}
}

// TestFind: recordings are found with what is said in them, and one without that is a fault.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.wav": "", "a.txt": "hello", "deep/b.FLAC": "", "deep/b.txt": "there", "deep/c.md": ""} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	all, err := trial.Find([]string{dir, filepath.Join(dir, "a.wav")})
	if err != nil || len(all) != 3 || all[0].Said != "hello" || all[1].Said != "there" || all[2] != all[0] {
		t.Errorf("%+v, %v", all, err)
	}
	for name, want := range map[string]string{"deep/c.md": "there is no ", "nothing": "no such file", "a.txt": ""} {
		if _, err := trial.Find([]string{filepath.Join(dir, name)}); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), make([]byte, 1<<17), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := trial.Find([]string{dir}); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Error(err)
	}
}

// A slow is a recogniser that knows what is said a quarter of a second after it has ended.
type slow struct{ says []string }

type session struct {
	of *slow
	on func(microphone.Result)
}

// Begin implements [microphone.Recogniser].
func (s *slow) Begin(on func(microphone.Result)) microphone.Session { return &session{s, on} }
func (s *slow) Spot(*audio.Frame)                                   {}
func (s *session) Feed(*audio.Frame)                                {}
func (s *session) Cancel()                                          {}

func (s *session) End() {
	text := s.of.says[0]
	s.of.says = s.of.says[1:]
	go func() {
		time.Sleep(250 * time.Millisecond) // of the bubble
		s.on(microphone.Result{Text: earshot.Text(text), Confidence: 1, Final: true})
	}()
}

// TestHear: a recording that is heard in two pieces has one false end, and how late the text came is
// measured from its last sound.
func TestHear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := microphone.DefaultConfig()
		try := trial.Trial{Config: c, Recogniser: &slow{says: []string{"one two", "tree"}}, Play: func(context.Context, string) iter.Seq2[*audio.Frame, error] {
			return func(yield func(*audio.Frame, error) bool) {
				for i, next := 0, time.Now(); i < 400; i, next = i+1, next.Add(audio.Time) { // two bursts with 5 s in between
					time.Sleep(time.Until(next))
					f := &audio.Frame{At: next, Voiced: i < 50 || i >= 350}
					for j := range f.PCM {
						if f.Voiced {
							f.PCM[j] = int16(8000 * (1 - 2*(j/40%2)))
						}
					}
					if !yield(f, nil) {
						return
					}
				}
			}
		}}
		is, err := try.Hear(t.Context(), trial.Recording{Path: "a.wav", Said: "One, two, three!"})
		if err != nil || is.Words != 3 || is.Wrong != 1 || is.Utterances != 2 || is.Text != "one two tree" {
			t.Errorf("%+v, %v", is, err)
		}
		for _, late := range is.Late {
			if late < 250*time.Millisecond || late > 3*time.Second {
				t.Errorf("the text came %v late", late)
			}
		}
		if sum := trial.Sum([]trial.Result{is, is}); sum.Words != 6 || sum.Wrong != 2 || sum.Utterances != 4 || len(sum.Late) != 4 || sum.Late[0] > sum.Late[3] {
			t.Errorf("%+v", sum)
		}
		broken := errors.New("the file is broken")
		try.Play = func(context.Context, string) iter.Seq2[*audio.Frame, error] {
			return func(yield func(*audio.Frame, error) bool) { yield(nil, broken) }
		}
		if _, err := try.Hear(t.Context(), trial.Recording{Path: "a.wav"}); !errors.Is(err, broken) || !strings.Contains(err.Error(), "a.wav") {
			t.Error(err)
		}
	})
}
