package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"earshot/internal/audio"
	"earshot/internal/codec"
)

// voices are those of flite, by its own command line: what is heard was not
// made by the helper that hears it.
var voices = []string{"slt", "rms", "awb", "kal16"}

// recite returns how a voice says text.
func (b bench) recite(ctx context.Context, voice, text string) ([]int16, error) {
	f, err := os.CreateTemp(b.dir, "flite-*.wav")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c := exec.CommandContext(ctx, "flite", "-voice", voice, "-t", text, "-o", f.Name())
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("flite: %w: %s", err, out)
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	return parseWAV(data)
}

// gap is how long it is quiet before, between and after passages: longer than an
// ear waits for the rest of a sentence.
const gap = 1200 * time.Millisecond

// A reel is a recording of what was said, passage after passage.
type reel struct {
	pcm      []int16
	passages []passage
}

// A passage is one thing that was said.
type passage struct {
	text     string
	from, to int // samples of the reel
}

// lasts returns how long it is.
func (p passage) lasts() time.Duration { return inTime(p.to - p.from) }

// reel records a voice that says texts, with gaps around them.
func (b bench) reel(ctx context.Context, voice string, texts ...string) (*reel, error) {
	r := &reel{pcm: make([]int16, inSamples(gap))}
	for _, text := range texts {
		pcm, err := b.recite(ctx, voice, text)
		if err != nil {
			return nil, err
		}
		from := len(r.pcm)
		r.pcm = append(r.pcm, pcm...)
		r.passages = append(r.passages, passage{text, from, len(r.pcm)})
		r.pcm = append(r.pcm, make([]int16, inSamples(gap))...)
	}
	breathe(r.pcm)
	return r, nil
}

// breathe adds the noise of a quiet room, which is the same each time.
func breathe(pcm []int16) {
	noise := uint32(1)
	for i := range pcm {
		noise = noise*1664525 + 1013904223
		pcm[i] += int16(noise>>29) - 4
	}
}

// at returns the number of the passage that sample n belongs to: that in the
// gaps before and after which it lies.
func (r *reel) at(n int) int {
	for i, p := range r.passages {
		if n < p.to+inSamples(gap)/2 {
			return i
		}
	}
	return len(r.passages) - 1
}

// source writes r into a file, and returns it.
func (b bench) source(r *reel, name string) (codec.Source, error) {
	path := filepath.Join(b.dir, name+".wav")
	return codec.Source{Path: path, Base: time.Now()}, writeWAV(path, r.pcm)
}

// loud is how loud a voice is at least when it has begun, in dB: what is softer
// is a breath before the first consonant.
const loud = -45

// onset returns the sample at which a voice begins, or -1: the first of 10 ms
// that are loud.
func onset(pcm []int16) int {
	const piece = audio.Samples / 2
	for at := 0; at+piece <= len(pcm); at++ {
		if abs(pcm[at]) > 100 && audio.Level(pcm[at:at+piece]) > loud {
			return at
		}
	}
	return -1
}

func abs(s int16) int { return max(int(s), -int(s)) }

func inSamples(d time.Duration) int { return int(d * audio.Rate / time.Second) }

func inTime(samples int) time.Duration {
	return time.Duration(samples) * time.Second / audio.Rate
}
