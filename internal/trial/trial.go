// Package trial has a recogniser hear recordings as the microphone hears people, and counts what it
// gets wrong.
//
// What happens when a reader is slow: a recording is played at its own pace, and what is understood
// of it is awaited.
package trial

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"earshot"
	"earshot/internal/audio"
	"earshot/language"
	"earshot/providers/microphone"
)

const (
	// most bounds the recordings of a trial.
	most = 10_000

	// maxText bounds what is said in a recording, in bytes.
	maxText = 64 << 10

	// silence follows each recording, so that an ear ends its last sentence as it does in a
	// conversation: the longest that an ear waits, and a little more.
	silence = 5 * time.Second
)

// A Recording is a file of sound, and what is said in it.
type Recording struct{ Path, Said string }

// Find returns the recordings that paths name: a file of sound beside a text of the same name that
// ends in .txt, or a folder with such.
func Find(paths []string) (all []Recording, err error) {
	for _, path := range paths {
		err := filepath.WalkDir(path, func(file string, e fs.DirEntry, err error) error {
			sound := strings.EqualFold(filepath.Ext(file), ".wav") || strings.EqualFold(filepath.Ext(file), ".flac")
			if err != nil || e.IsDir() || !sound && file != path {
				return err
			}
			if len(all) == most {
				return fmt.Errorf("there are more than %d recordings", most)
			}
			said, err := readText(strings.TrimSuffix(file, filepath.Ext(file)) + ".txt")
			all = append(all, Recording{file, said})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func readText(path string) (string, error) {
	about, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no %s\n  → write into it what is said in the recording beside it", path)
	}
	if err == nil && about.Size() > maxText {
		err = fmt.Errorf("%s has more than %d bytes", path, maxText)
	}
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(path)
	return string(text), err
}

// A Result is what was understood of a recording.
type Result struct {
	Text       string          `json:"-"` // what was understood
	Words      int             `json:"words"`
	Wrong      int             `json:"wrong"`      // of them, or heard in addition
	Utterances int             `json:"utterances"` // that were made of it; more than one are false ends of what was said
	Late       []time.Duration `json:"late"`       // for each, how long after its last sound its text came
}

// A Trial is what hears recordings.
type Trial struct {
	Config     microphone.Config
	Recogniser microphone.Recogniser
	Sense      func() microphone.Sense // as in [microphone.Parts]

	// Play yields the frames of a file of sound at the pace of the recording.
	Play func(ctx context.Context, path string) iter.Seq2[*audio.Frame, error]
}

// Hear returns what is understood of a recording. It takes as long as that, and some seconds.
func (t Trial) Hear(ctx context.Context, r Recording) (is Result, err error) {
	var mu sync.Mutex
	var heard []string
	var fault error
	mic := microphone.New(t.Config, microphone.Parts{
		Capture:    tape(func(ctx context.Context) iter.Seq2[*audio.Frame, error] { return t.Play(ctx, r.Path) }),
		Recogniser: t.Recogniser, Sense: t.Sense,
		Notice: func(n earshot.Notice) {
			mu.Lock()
			defer mu.Unlock()
			if !n.Over {
				fault = errors.New(n.Text)
			}
		},
	})
	err = mic.Run(ctx, func(_ context.Context, e earshot.Event) error {
		u, ok := e.Body.(earshot.Utterance)
		if !ok {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, string(u.Text))
		is.Late = append(is.Late, time.Since(e.At.Add(u.Lasted)))
		return nil
	})
	if err = errors.Join(err, fault); err != nil {
		return is, fmt.Errorf("%s: %w", r.Path, err)
	}
	want := Words(r.Said)
	is.Text = strings.Join(heard, " ")
	is.Words, is.Wrong, is.Utterances = len(want), language.Edits(want, Words(is.Text)), len(heard)
	return is, nil
}

// A tape is a capture that plays a recording once, with silence behind it.
type tape func(ctx context.Context) iter.Seq2[*audio.Frame, error]

// Frames implements [microphone.Capture].
func (t tape) Frames(ctx context.Context) iter.Seq2[*audio.Frame, error] {
	return func(yield func(*audio.Frame, error) bool) {
		var next time.Time
		for f, err := range t(ctx) {
			if err == nil {
				next = f.At.Add(audio.Time)
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
		due := time.NewTimer(0)
		defer due.Stop()
		for end := next.Add(silence); next.Before(end); next = next.Add(audio.Time) {
			due.Reset(time.Until(next))
			select {
			case <-due.C:
			case <-ctx.Done():
				return
			}
			if !yield(&audio.Frame{At: next}, nil) {
				return
			}
		}
	}
}

// Words returns the words of a text in small letters, without punctuation.
func Words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && r != '\''
	})
}

// Sum adds results.
func Sum(all []Result) (sum Result) {
	for _, r := range all {
		sum.Words, sum.Wrong, sum.Utterances = sum.Words+r.Words, sum.Wrong+r.Wrong, sum.Utterances+r.Utterances
		sum.Late = append(sum.Late, r.Late...)
	}
	slices.Sort(sum.Late)
	return sum
}
