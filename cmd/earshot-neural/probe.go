//go:build cgo

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"earshot/internal/audio"
	"earshot/models"
	"earshot/models/catalog"
	"earshot/models/mel"
	"earshot/models/neural"
	"earshot/models/wire"
)

// probes try a set of each role: they load it, use it on something that it may not understand, and
// say how well that went. They may leave out its memory.
var probes = map[catalog.Role]func(catalog.Installed) (neural.Result, error){
	catalog.Hear:    probeRecogniser,
	catalog.Correct: probeRecogniser,
	catalog.Say:     probeVoice,
	catalog.VAD:     probeVoices,
	catalog.Turn:    probeTurns,
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
		f := models.NewFault(err)
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
	try := probes[set.Role]
	if try == nil {
		return r, &neural.SetError{Name: set.Name, Text: fmt.Sprintf("earshot has no use for the role %s", set.Role)}
	}
	if r, err = try(set); err != nil {
		return r, err
	}
	used, err := usage()
	r.Memory = used.Maxrss << 10
	return r, err
}

// probeRecogniser probes a set that recognises.
func probeRecogniser(set catalog.Installed) (r neural.Result, err error) {
	began := time.Now()
	recogniser, err := openRecogniser(set.Dir, "")
	if err != nil {
		return r, err
	}
	ready := recogniser.ready()
	r.Start, r.Chunk, r.Tail = time.Since(began).Seconds(), ready.Chunk, ready.Tail
	const still, long = audio.Rate, 3 * audio.Rate
	sound := append(make([]float32, still), sweep(long)...)
	watch, err := start()
	if err != nil {
		return r, err
	}
	u := recogniser.begin()
	defer u.close()
	for ; len(sound) > 0; sound = sound[partialEvery:] {
		u.feed(sound[:partialEvery])
	}
	u.finish()
	computed, err := watch.seconds()
	r.Speed = computed / ((still + long) / audio.Rate)
	return r, err
}

// probeVoice probes a voice.
func probeVoice(set catalog.Installed) (r neural.Result, err error) {
	began := time.Now()
	v, err := openVoice(context.Background(), wire.OpenSay{Set: set.Dir})
	if err != nil {
		return r, err
	}
	r.Start, r.Rate = time.Since(began).Seconds(), v.rate()
	watch, err := start()
	if err != nil {
		return r, err
	}
	pcm, err := synthesise(context.Background(), v, &divide("This is how I sound today.")[0])
	if err != nil {
		return r, err
	}
	r.First, err = watch.seconds()
	r.Speed = r.First * float64(r.Rate) / float64(len(pcm))
	return r, err
}

// probeVoices probes a set that says whether there is a voice.
func probeVoices(set catalog.Installed) (r neural.Result, err error) {
	began := time.Now()
	m, err := openVoices(set.Dir)
	if err != nil {
		return r, err
	}
	r.Start = time.Since(began).Seconds()
	watch, err := start()
	if err != nil {
		return r, err
	}
	var state voiceState
	for _, sample := range sweep(audio.Rate) {
		if !state.add(sample) {
			continue
		}
		if _, err := m.judge(&state); err != nil {
			return r, err
		}
	}
	r.Speed, err = watch.seconds()
	return r, err
}

// probeTurns probes a set that says whether a speaker has finished. While somebody is silent it is
// asked five times a second; one that needs half of that time answers as late as the daemon waits.
func probeTurns(set catalog.Installed) (r neural.Result, err error) {
	began := time.Now()
	m, err := openTurns(set.Dir)
	if err != nil {
		return r, err
	}
	r.Start = time.Since(began).Seconds()
	sound := sweep(mel.Samples)
	watch, err := start()
	if err != nil {
		return r, err
	}
	for range 5 {
		if _, err := m.judge(sound); err != nil {
			return r, err
		}
	}
	r.Speed, err = watch.seconds()
	return r, err
}

// sweep returns a tone that rises from 200 to 4000 Hz: every band of a model is in it.
func sweep(long int) []float32 {
	pcm := make([]float32, long)
	phase := 0.0
	for i := range pcm {
		pcm[i] = float32(0.3 * math.Sin(phase))
		phase += 2 * math.Pi * 200 * math.Pow(20, float64(i)/float64(long)) / audio.Rate
	}
	return pcm
}

// A stopwatch measures computing. Other programs on a busy machine do not count, and several threads
// of this one count as one.
type stopwatch struct {
	began time.Time
	used  time.Duration
}

func start() (w stopwatch, err error) {
	used, err := usage()
	return stopwatch{time.Now(), computed(used)}, err
}

// seconds returns how long was computed since it was started.
func (w stopwatch) seconds() (float64, error) {
	used, err := usage()
	return min(time.Since(w.began), computed(used)-w.used).Seconds(), err
}

// computed returns the processor's time in u.
func computed(u unix.Rusage) time.Duration { return time.Duration(u.Utime.Nano() + u.Stime.Nano()) }

// usage returns what this process has used.
func usage() (u unix.Rusage, err error) {
	err = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return u, err
}
