//go:build cgo

package main

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"os"
	"slices"
	"time"

	sherpa "github.com/k2-fsa/sherpa-onnx-go-linux"
	"golang.org/x/sys/unix"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/models/catalog"
	"earshot/models/mel"
	"earshot/models/neural"
	"earshot/models/wire"
)

// A probed set is ready to be used on something that it may not understand. Use returns how many seconds
// of sound that was.
type probed struct {
	use    func() (seconds float64, err error)
	result neural.Result // as far as it is known already
}

// probes load a set of each role.
var probes = map[catalog.Role]func(catalog.Installed) (probed, error){
	catalog.Hear:    probeRecogniser,
	catalog.Correct: probeRecogniser,
	catalog.Say:     probeVoice,
	catalog.VAD:     probeVoices,
	catalog.Turn:    probeTurns,
	catalog.Wake:    probeSpotter,
}

// probe tries the set in a folder and prints a [neural.Result]; it returns the exit code. Standard
// output is hidden from the libraries.
func probe(dir string) int {
	fd, err := unix.Dup(unix.Stdout)
	if err == nil {
		err = unix.Dup3(unix.Stderr, unix.Stdout, 0)
	}
	if err != nil {
		return 1
	}
	r, err := probeSet(dir)
	if err != nil {
		f := helper.NewFault(err)
		r = neural.Result{Fault: &f}
	}
	if err := json.NewEncoder(os.NewFile(uintptr(fd), "stdout")).Encode(r); err != nil {
		return 1
	}
	return 0
}

func probeSet(dir string) (r neural.Result, err error) {
	set, err := openSet(dir)
	if err != nil {
		return r, err
	}
	load := probes[set.Role]
	if load == nil {
		return r, neural.Unfit(set.Name, "earshot has no use for the role %s", set.Role)
	}
	began := time.Now()
	p, err := load(set)
	if err != nil {
		return r, err
	}
	r = p.result
	r.Start = time.Since(began).Seconds()
	before, err := usage()
	if err != nil {
		return r, err
	}
	began = time.Now()
	sound, err := p.use()
	if err != nil {
		return r, err
	}
	took := time.Since(began)
	after, err := usage()
	// Other programs on a busy machine do not count, and several threads of this one count as one.
	computed := min(took, processor(after)-processor(before)).Seconds()
	if set.Role == catalog.Say {
		r.First = computed
	}
	r.Speed, r.Memory = computed/sound, after.Maxrss<<10
	return r, err
}

func probeRecogniser(set catalog.Installed) (p probed, err error) {
	recogniser, err := openRecogniser(set.Dir, "")
	if err != nil {
		return p, err
	}
	ready := recogniser.ready()
	p.result.Chunk, p.result.Tail = ready.Chunk, ready.Tail
	const still, long = audio.Rate, 3 * audio.Rate
	sound := append(make([]float32, still), sweep(long)...)
	p.use = func() (float64, error) {
		u := recogniser.begin()
		defer u.close()
		for some := range slices.Chunk(sound, partialEvery) {
			u.feed(some)
		}
		u.finish()
		return (still + long) / audio.Rate, nil
	}
	return p, nil
}

func probeVoice(set catalog.Installed) (p probed, err error) {
	v, err := openVoice(context.Background(), wire.OpenSay{Set: set.Dir})
	if err != nil {
		return p, err
	}
	p.result.Rate = v.rate()
	p.use = func() (float64, error) {
		pcm, err := synthesise(context.Background(), v, &divide("This is how I sound today.")[0])
		return float64(len(pcm)) / float64(v.rate()), err
	}
	return p, nil
}

func probeVoices(set catalog.Installed) (p probed, err error) {
	m, err := openVoices(set.Dir)
	sound := sweep(audio.Rate)
	p.use = func() (float64, error) {
		var state voiceState
		for _, sample := range sound {
			if !state.add(sample) {
				continue
			}
			if _, err := m.judge(&state); err != nil {
				return 0, err
			}
		}
		return 1, nil
	}
	return p, err
}

// probeTurns: while somebody is silent the model is asked five times a second; one that needs half of
// that time answers as late as the daemon waits.
func probeTurns(set catalog.Installed) (p probed, err error) {
	m, err := openTurns(set.Dir)
	sound := sweep(mel.Samples)
	p.use = func() (float64, error) {
		for range 5 {
			if _, err := m.judge(sound); err != nil {
				return 0, err
			}
		}
		return 1, nil
	}
	return p, err
}

// probeSpotter seeks one of the set's own tokens.
func probeSpotter(set catalog.Installed) (p probed, err error) {
	tokens, err := neural.ReadTokens(set)
	if err == nil && len(tokens) == 0 {
		err = neural.Unfit(set.Name, "it has no tokens")
	}
	if err != nil {
		return p, err
	}
	some := []string{slices.Max(slices.Collect(maps.Keys(tokens)))}
	s, err := openSpotter(set, []neural.Keyword{{Tokens: some}})
	const long = 3 * audio.Rate
	p.use = func() (float64, error) {
		stream := sherpa.NewKeywordStream(s.k)
		defer sherpa.DeleteOnlineStream(stream)
		for pcm := range slices.Chunk(sweep(long), audio.Samples) {
			s.feed(stream, pcm, func(string) error { return nil })
		}
		return long / audio.Rate, nil
	}
	return p, err
}

// sweep returns a tone that rises from 200 to 4000 Hz, where voices are.
func sweep(long int) []float32 {
	pcm := make([]float32, long)
	phase := 0.0
	for i := range pcm {
		pcm[i] = float32(0.3 * math.Sin(phase))
		phase += 2 * math.Pi * 200 * math.Pow(20, float64(i)/float64(long)) / audio.Rate
	}
	return pcm
}

// processor returns the processor's time in u.
func processor(u unix.Rusage) time.Duration { return time.Duration(u.Utime.Nano() + u.Stime.Nano()) }

// usage returns what this process has used.
func usage() (u unix.Rusage, err error) {
	err = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return u, err
}
