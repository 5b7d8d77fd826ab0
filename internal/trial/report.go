package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot/internal/audio"
	"earshot/internal/english"
	"earshot/internal/terminal"
	"earshot/models/catalog"
	"earshot/models/neural"
	"earshot/models/sense"
	"earshot/models/stt"
	"earshot/providers/microphone"
)

// HearAll plays recordings to a recogniser, one after another, and returns the results. It runs the
// recogniser, and the sensor if that is not nil, until it returns. It calls each with the index and
// the result of a recording as soon as that was heard. If the recogniser ends early, HearAll returns
// the reason.
func (t Trial) HearAll(ctx context.Context, hears *stt.Recogniser, senses *sense.Sensor, all []Recording, each func(int, Result)) (list []Result, err error) {
	beside, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	var died error
	running.Go(func() {
		died = hears.Run(beside)
		stop()
	})
	if senses != nil {
		running.Go(func() { _ = senses.Run(beside) }) // without it, the words alone tell when somebody has finished
	}
	defer running.Wait()
	defer stop()
	t.Recogniser, t.Sense = microphone.UseSTT(hears), microphone.UseSense(senses)
	awaitLoaded(beside, hears)
	for i, r := range all {
		is, err := t.Hear(beside, r)
		if beside.Err() != nil && ctx.Err() == nil {
			running.Wait()
			return nil, fmt.Errorf("the recogniser ended: %w", died)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, is)
		each(i, is)
	}
	return list, nil
}

// awaitLoaded waits until a recogniser has understood something, even if it is nothing: loading its
// models is not part of how fast it is.
func awaitLoaded(ctx context.Context, r *stt.Recogniser) {
	for {
		done := make(chan error, 1)
		r.Begin(func(r stt.Result) {
			if r.Final {
				done <- r.Err
			}
		}).End()
		select {
		case err := <-done:
			if !errors.Is(err, stt.ErrAway) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// A Report is what was found out about a model.
type Report struct {
	Model      string        `json:"model"`
	Runs       neural.Result `json:"runs"` // zero for what comes with earshot
	Recordings []Result      `json:"recordings,omitempty"`
	Sum        Result        `json:"sum"`
}

// Performance says how fast the model is here, and how much memory it takes.
func (r Report) Performance() string {
	is := r.Runs
	if is == (neural.Result{}) {
		return r.Model + " comes with earshot."
	}
	text := fmt.Sprintf("%s: a second of sound takes it %.2f s; it loads in %.1f s and takes %s", r.Model, is.Speed, is.Start, english.Size(is.Memory))
	if is.First > 0 {
		text += fmt.Sprintf("; a short sentence is heard after %.2f s", is.First)
	}
	if is.Chunk > 0 {
		text += fmt.Sprintf("; words come each %d ms, at the latest %d ms after they were said", ms(is.Chunk), ms(is.Tail))
	}
	return text + "."
}

// ms returns how long samples last, in milliseconds.
func ms(samples int) int { return samples * 1000 / audio.Rate }

// Summary says how many words were wrong over all recordings, and how late the text came.
func (r Report) Summary() string {
	pieces := 0
	for _, is := range r.Recordings {
		pieces += max(0, is.Utterances-1)
	}
	text := fmt.Sprintf("Of %s in %s, %d wrong (%.1f %%); %s", english.Count(r.Sum.Words, "word"), english.Count(len(r.Recordings), "recording"),
		r.Sum.Wrong, 100*float64(r.Sum.Wrong)/float64(max(1, r.Sum.Words)), english.Count(pieces, "false end"))
	if late := r.Sum.Late; len(late) > 0 {
		text += fmt.Sprintf("; the text came %v after the last sound (median; at most %v)", rounded(late[len(late)/2]), rounded(late[len(late)-1]))
	}
	return text + "."
}

func rounded(d time.Duration) time.Duration { return d.Round(10 * time.Millisecond) }

// Print prints the report, which holds nothing that anybody said. version is that of earshot, and is
// the set that was tried, empty for the recogniser that comes with earshot.
func (r Report) Print(w io.Writer, version string, is catalog.Installed) error {
	lines := []string{
		"earshot " + version + ", " + runtime.GOOS + "/" + runtime.GOARCH + ", " + english.Count(runtime.NumCPU(), "processor"),
		r.Performance(),
	}
	for _, f := range is.Files {
		lines = append(lines, fmt.Sprintf("%s %s %d bytes", cmp.Or(f.SHA256, "no checksum"), f.Path, f.Bytes))
	}
	slices.Sort(lines[2:])
	if len(r.Recordings) > 0 {
		lines = append(lines, r.Summary())
	}
	for i := range lines {
		lines[i] = terminal.Safe(lines[i])
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}
