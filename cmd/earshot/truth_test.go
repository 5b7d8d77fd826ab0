package main

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"earshot"
	"earshot/internal/helper"
	"earshot/internal/testkit"
	"earshot/models/tts"
)

// A rendition is a text spoken by the agent's voice. Its consonants sound different each time; all
// that can be compared sounds the same.
type rendition struct {
	pcm   []int16
	words []tts.Word // where each word begins in the text and in pcm
}

// rendered lets a voice like the agent's say clauses one after the other.
func rendered(t testing.TB, clauses ...string) (r rendition) {
	t.Helper()
	path := filepath.Join(needVoice(t), helper.SpeechProgram)
	voice := tts.New(tts.Config{Log: quietly, Dial: func() (helper.Link, error) {
		return helper.Start(helper.Command{Name: helper.SpeechProgram, Path: path, Args: []string{"say"}, Log: quietly})
	}})
	ctx, stop := context.WithCancel(t.Context())
	var life sync.WaitGroup
	life.Go(func() { voice.Run(ctx) })
	defer testkit.Finish(t, testkit.Patience, "the end of the voice", life.Wait)
	defer stop()
	testkit.Await(t, soon, "a voice to compare with", func() bool {
		ready, _ := voice.Ready()
		return ready
	})
	var reader tts.Reader
	n := 0
	for _, clause := range clauses {
		form, at := reader.Next(clause), len(r.pcm)
		for c, err := range voice.Say(ctx, form.Spoken) {
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range c.Words {
				r.words = append(r.words, tts.Word{Byte: n + form.Text(w.Byte), Sample: at + w.Sample})
			}
			r.pcm = append(r.pcm, c.PCM...)
		}
		n += len(clause)
	}
	pcm, at := gapless(r.pcm)
	for i, w := range r.words {
		r.words[i].Sample = at[w.Sample]
	}
	r.pcm = pcm
	return r
}

// gapless returns pcm without its short pauses, since a busy machine adds such pauses anywhere, and
// the new position of each sample. Longer pauses stay: what follows them may be something else that
// was said.
func gapless(pcm []int16) (kept []int16, at []int) {
	at = make([]int, len(pcm)+1)
	for i := 0; i < len(pcm); {
		n := silence(pcm[i:])
		for j := range max(n, 1) {
			at[i+j] = len(kept)
			if n < pause || n > stutter {
				kept = append(kept, pcm[i+j])
			}
		}
		i += max(n, 1)
	}
	at[len(pcm)] = len(kept)
	return kept, at
}

// silence returns how many silent samples pcm begins with.
func silence(pcm []int16) (n int) {
	for n < len(pcm) && pcm[n] == 0 {
		n++
	}
	return n
}

// Sizes for the comparison, in samples.
const (
	pause   = rate / 200    // longer silence is not part of the sound
	grain   = rate / 50     // the smallest piece that counts as played
	shape   = rate / 5      // the piece by which a place is found again after a gap
	patch   = 20            // grains that may be missing: a shape across a gap is found nowhere
	stutter = patch * grain // the longest pause that is ignored; as much missing sound ends the search
	gap     = 12 * rate     // how long a voice may be held up by somebody who speaks over it three times on a busy machine
)

// sounded returns how many words of r are in the recording. A word counts if half of it was played.
func (r rendition) sounded(recording []int16) (words int) {
	end := r.end(recording)
	for i, w := range r.words {
		next := len(r.pcm)
		if i+1 < len(r.words) {
			next = r.words[i+1].Sample
		}
		if 2*end >= w.Sample+next {
			words = i + 1
		}
	}
	return words
}

// end returns the sample up to which r is in the recording.
func (r rendition) end(recording []int16) (end int) {
	recording, _ = gapless(recording)
	recording = append(recording, make([]int16, shape)...) // after a cut there is silence
	offset, begun, misses := 0, false, 0
	for at := 0; at+shape <= len(r.pcm) && misses < patch; at += grain {
		if !audible(r.pcm[at : at+grain]) {
			continue
		}
		if begun && alike(r.pcm[at:at+grain], recording, at+offset) {
			end, misses = at+grain, 0
			continue
		}
		from := max(0, at+offset-pause) // a pause may have been longer in the recording
		to := from + gap
		if !begun {
			from, to = 0, len(recording)
		}
		if found := find(r.pcm[at:at+shape], recording, from, to); found >= 0 {
			offset, end, begun, misses = found-at, at+grain, true, 0
		} else if begun {
			misses++
		}
	}
	return end
}

// audible reports whether pcm is louder than the breath between words.
func audible(pcm []int16) bool {
	sum := 0.0
	for _, s := range pcm {
		sum += float64(s) * float64(s)
	}
	return sum > 300*300*float64(len(pcm))
}

// alike reports whether pcm is in the recording at a given place, at any volume.
func alike(pcm, recording []int16, at int) bool {
	return at >= 0 && at+len(pcm) <= len(recording) && correlation(pcm, recording[at:at+len(pcm)], 1) > 0.7
}

// find returns the first place of pcm in the recording, or -1. A few samples rule out most places.
func find(pcm, recording []int16, from, to int) int {
	for at := from; at < min(to, len(recording)-len(pcm)); at++ {
		here := recording[at : at+len(pcm)]
		if correlation(pcm, here, 16) > 0.7 && correlation(pcm, here, 1) > 0.93 {
			return at
		}
	}
	return -1
}

// correlation returns how similar a and b are apart from volume, at most 1. It compares every
// step-th sample.
func correlation(a, b []int16, step int) float64 {
	var ab, aa, bb float64
	for i := 0; i < len(a); i += step {
		x, y := float64(a[i]), float64(b[i])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

// told returns how many words of r were heard according to the journal.
func (r rendition) told(reply earshot.Reply) (words int) {
	n := len(strings.TrimRight(string(reply.Delivered()), " "))
	for _, w := range r.words {
		if w.Byte < n {
			words++
		}
	}
	return words
}

// truthful fails the test unless the journal says, give or take one word, how many words of r were
// heard.
func (r rendition) truthful(t *testing.T, reply earshot.Reply, recording []int16) {
	t.Helper()
	sounded, told := r.sounded(recording), r.told(reply)
	t.Logf("%d of %d words sounded, and %d are told", sounded, len(r.words), told)
	if told < sounded-1 || told > sounded+1 {
		t.Errorf("%d words sounded, and %d are told", sounded, told)
	}
}

// tide is a long reply, split into the clauses in which the voice says it.
var tide = []string{
	"The tide comes in twice every day and goes out again as often as it came in before, ",
	"because the moon draws the water after it, ",
	"and the sun helps a little, ",
	"and nobody has ever been able to stop it.",
}

// noLine is the reply to anything that the model does not understand.
const noLine = "I have no line for that."

// talker is a model that knows about the tide, and little else.
var talker = "every_seconds: 0.01\nreply: " + noLine + "\nrules:\n" +
	"  - {when: tide, reply: \"" + strings.Join(tide, "") + "\"}\n" +
	"  - {when: weather, reply: It is warm and dry today.}\n" +
	"  - {when: morning, reply: The morning will be cold.}\n"

// cough returns noise of ms milliseconds, which is no word.
func cough(ms int) []int16 {
	noise, pcm := rand.New(rand.NewPCG(1, 2)), hush(ms)
	for i := range pcm {
		pcm[i] = int16(noise.IntN(16000) - 8000)
	}
	return pcm
}

// TestAloudTruth: wherever a reply is cut, the words that count as heard are those whose sound came
// out of the loudspeaker.
func TestAloudTruth(t *testing.T) {
	talks(t)
	p := newParlour(t)
	p.scripted("every_seconds: 0.01\nreply: \"" + strings.Join(tide, "") + "\"\n") // whatever it understands
	p.wakes()
	r := rendered(t, tide...)
	for _, tt := range []struct {
		name  string
		after int // milliseconds of sound before the cut
		cough bool
	}{
		{"at once", 40, false},
		{"early", 600, false},
		{"late", 2800, false},
		{"in another clause", 4600, false},
		{"after a cough", 2500, true},
		{"never", 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := p.in(t)
			before := len(p.replied(0))
			recording := p.records()
			p.asks(bob, "earshot, tell me about the tide", recording)
			if tt.cough {
				p.speaking(recording, 400)
				p.sounds(slices.Concat(cough(200), hush(300)))
			}
			p.speaking(recording, tt.after)
			if tt.after > 0 {
				p.says(bob, "stop talking")
			}
			reply := p.replied(before + 1)[before]
			if was := reply.Outcome; (was == earshot.Interrupted) != (tt.after > 0) {
				t.Errorf("the reply was %s", was)
			}
			r.truthful(t, reply, p.recorded(recording))
		})
	}
}
