package main

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"earshot"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/sound/soundtest"
	"earshot/internal/testkit"
	"earshot/store"
)

// needVoice returns the folder of the helpers for sound and speech, or skips the test where there
// is to be no sound.
func needVoice(t testing.TB) string {
	t.Helper()
	return helpertest.Build(t, helper.SoundProgram, helper.SpeechProgram)
}

// rate is the number of samples a second.
const rate = 16000

// aloud is the prefix for the name of every test in which much is said. Speech is understood in
// real time, and on a machine that cannot keep up words break in two. So make aloud runs these
// tests one after the other, beside nothing else, and make test and make race leave them out.
const aloud = "TestAloud"

// talks must be the first call of every test in which much is said. It skips the test if other
// programs keep the processors busy.
func talks(t *testing.T) {
	if !strings.HasPrefix(t.Name(), aloud) {
		t.Fatalf("the name of a test in which much is said begins with %s", aloud)
	}
	testkit.Need(t, "voice")
	testkit.NeedProcessors(t)
}

// A parlour is a home with a sound card of its own, and people in it who talk.
type parlour struct {
	*home
	card *soundtest.Server
}

// newParlour returns a home where earshot hears and speaks.
func newParlour(t testing.TB, environ ...string) *parlour {
	t.Helper()
	dir := needVoice(t)
	p := &parlour{home: newHome(t), card: soundtest.Start(t)}
	p.env = slices.Concat(p.card.Env(), p.env, []string{
		"PATH=" + dir + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"EARSHOT_PROVIDERS_MICROPHONE_ENABLED=true", "EARSHOT_OUTLETS_LOUDSPEAKER_ENABLED=true",
		// The virtual microphone delivers nothing while nobody speaks.
		"EARSHOT_PROVIDERS_MICROPHONE_DEAF_SECONDS=0",
	}, environ)
	return p
}

// in returns the same parlour for use in a subtest.
func (p *parlour) in(t testing.TB) *parlour {
	h := *p.home
	h.t = t
	return &parlour{home: &h, card: p.card}
}

// wakes starts the daemon, and returns when it listens and can speak.
func (p *parlour) wakes() *process {
	p.t.Helper()
	d := p.daemon()
	p.t.Cleanup(func() {
		if p.t.Failed() {
			shown := p.earshot(nil, "history", "-n", "100").out
			d.end(syscall.SIGINT)
			p.t.Logf("the daemon said:\n%s%s\nand history has\n%s", d.out.String(), p.log(), shown)
		}
	})
	p.listens()
	return d
}

// log returns the daemon's log.
func (p *parlour) log() string {
	text, _ := os.ReadFile(filepath.Join(p.dir, "state/earshot/earshot.log"))
	return string(text)
}

// listens returns when the daemon captures sound and has a loudspeaker.
func (p *parlour) listens() {
	p.t.Helper()
	testkit.Await(p.t, soon, "ears and a mouth", func() bool {
		in, out, err := p.card.Streams()
		if err != nil || in < 1 || out < 1 {
			return false
		}
		state, err := p.client().State(p.t.Context())
		return err == nil && slices.Contains(state.Outlets, "loudspeaker")
	})
}

// A person is the name of one of flite's voices.
type person string

// The people who talk. Ann has the same voice as the agent, so she is never recognised.
const (
	ann person = "slt"
	bob person = "rms"
	eve person = "awb"
)

// uttered caches synthesised speech, since people repeat themselves.
var uttered sync.Map

// sound returns the sound of what a person says.
func (who person) sound(t testing.TB, text string) []int16 {
	t.Helper()
	key := string(who) + ": " + text
	if pcm, ok := uttered.Load(key); ok {
		return pcm.([]int16)
	}
	file := filepath.Join(t.TempDir(), "said.wav")
	if out, err := testkit.Command(t, "flite", "-voice", string(who), "-t", text, "-o", file).CombinedOutput(); err != nil {
		t.Fatalf("flite: %v: %s", err, out)
	}
	wav, err := os.ReadFile(file)
	const header = 44 // bytes in front of the samples in flite's files
	if err != nil || len(wav) < header {
		t.Fatalf("flite said nothing: %v", err)
	}
	pcm := make([]int16, (len(wav)-header)/2)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(wav[header+2*i:]))
	}
	uttered.Store(key, pcm)
	return pcm
}

// hush returns so many milliseconds of silence.
func hush(ms int) []int16 { return make([]int16, ms*rate/1000) }

// says lets a person say something, and returns when it has been said, including the silence that
// marks its end.
func (p *parlour) says(who person, text string) {
	p.t.Helper()
	p.sounds(slices.Concat(hush(200), who.sound(p.t, text), hush(500)))
}

// asks lets a person ask until the answer sounds, three times at most: a recogniser on a busy
// machine misses words, as people do. Nobody asks again while the agent works on an answer, since
// that would cut it off.
func (p *parlour) asks(who person, question string, answer *soundtest.Recording) {
	p.t.Helper()
	for range 3 {
		p.says(who, question)
		for n := 0; n < 20 || n < 240 && p.works(); n++ {
			if loud(answer.PCM(0)) > 0 {
				return
			}
			p.sounds(hush(500))
		}
	}
	p.t.Fatalf("%q was asked in vain", question)
}

// works reports whether the agent is working on an answer.
func (p *parlour) works() bool {
	p.t.Helper()
	s, err := state(p.t.Context(), p.client())
	if err != nil {
		p.t.Fatal(err)
	}
	return s.Speaking
}

// sounds plays pcm to the microphone, and returns when it has been played.
func (p *parlour) sounds(pcm []int16) {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.t.Context(), soon)
	defer stop()
	if err := p.card.Play(ctx, pcm); err != nil {
		p.t.Fatal(err)
	}
}

// records records the loudspeaker until the end of the test.
func (p *parlour) records() *soundtest.Recording {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.t.Context(), soon)
	defer stop()
	r, err := p.card.Record(ctx)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { r.Stop() })
	return r
}

// recorded returns the sound in r, including what is still on its way to the recording.
func (p *parlour) recorded(r *soundtest.Recording) []int16 {
	p.t.Helper()
	length := r.Len() + rate
	testkit.Await(p.t, soon, "the sound behind it", func() bool { return r.Len() >= length })
	return r.PCM(0)
}

// journal returns all events of the journal.
func (p *parlour) journal() (events []earshot.Event) {
	p.t.Helper()
	archive, err := store.OpenReader(p.t.Context(), store.Config{Directory: filepath.Join(p.dir, "state/earshot/journal")})
	if err != nil {
		return nil // the daemon has not created it yet
	}
	defer archive.Close()
	for e, err := range archive.Export(p.t.Context()) {
		if err != nil {
			p.t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// replied waits for n replies, and returns all of them.
func (p *parlour) replied(n int) (replies []earshot.Reply) {
	p.t.Helper()
	testkit.Await(p.t, soon, "a reply", func() bool {
		replies = testkit.Bodies[earshot.Reply](p.journal())
		return len(replies) >= n
	})
	return replies
}

// heard waits for n utterances, and returns all of them.
func (p *parlour) heard(n int) (utterances []earshot.Utterance) {
	p.t.Helper()
	testkit.Await(p.t, soon, "an utterance", func() bool {
		utterances = testkit.Bodies[earshot.Utterance](p.journal())
		return len(utterances) >= n
	})
	return utterances
}

// speaking waits until so many milliseconds of sound are in r.
func (p *parlour) speaking(r *soundtest.Recording, ms int) {
	p.t.Helper()
	testkit.Await(p.t, soon, "the voice", func() bool { return loud(r.PCM(0)) >= ms*rate/1000 })
}

// loud returns how many samples are not silent.
func loud(pcm []int16) (n int) {
	for _, s := range pcm {
		if s != 0 {
			n++
		}
	}
	return n
}
