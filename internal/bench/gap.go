package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/executive"
	"earshot/internal/codec"
	"earshot/models/hear"
	"earshot/models/tts"
	"earshot/outlets/loudspeaker"
	"earshot/providers/microphone"
)

// gapsText is what is said to be answered: forty sentences in one piece, and
// twenty with pauses, each of which is a bar.
//
//go:embed gaps.txt
var gapsText string

const (
	// tail is how long it is quiet on a tape after the last word: longer than the
	// agent waits for the rest of a number.
	tail = 2800 * time.Millisecond

	// The pauses are from briefest to longest, each a step longer than the last.
	briefest, longest, step = 300 * time.Millisecond, 800 * time.Millisecond, 100 * time.Millisecond

	// lanes is how many tapes play at the same time, each to a house of its own.
	lanes = 1
)

// measureGap measures B1: from the last sound of somebody's sentence to the first
// sample of the answer that a device is given, with a model that takes no time,
// and how often somebody who only paused is answered, or taken for done.
func measureGap(ctx context.Context, b bench) (rows []Row, err error) {
	if rows := withoutVoice("gap", []string{"speech"}, "flite"); rows != nil {
		return rows, nil
	}
	d, err := b.dial(ctx)
	if err != nil {
		return nil, err
	}
	said := strings.Split(strings.TrimSpace(gapsText), "\n")
	said = pick(said, b.rounds)
	answers := make([]*answered, len(said))
	g, within := errgroup.WithContext(ctx)
	for lane := range min(lanes, len(said)) {
		g.Go(func() error {
			t := newTalker(d)
			ctx, stop := beside(within, t.stage.Run, t.say.Run)
			err := t.ready(ctx)
			for i := lane; i < len(said) && err == nil; i += lanes {
				answers[i], err = b.converse(ctx, d, t, voices[i%len(voices)], said[i], i)
			}
			return errors.Join(err, stop())
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return gapRows(answers)
}

// pick returns n of all, evenly spread.
func pick(all []string, n int) (some []string) {
	n = min(n, len(all))
	for i := range n {
		some = append(some, all[(i*len(all)+len(all)/2)/n])
	}
	return some
}

// A talker is somebody's house: a recogniser and a voice, both real, which note
// when they were asked for what.
type talker struct {
	*stage
	say *tts.Synthesiser

	mu                    sync.Mutex
	ended, understood, of time.Time // when the last utterance was over, when it was words, and when they were to be spoken
}

func newTalker(d dial) *talker {
	return &talker{stage: newStage(d), say: tts.New(tts.Config{Dial: d.to(speechHelper, "say"), Log: silent})}
}

func (t *talker) note(at *time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	*at = time.Now()
}

// Begin implements [microphone.Recogniser].
func (t *talker) Begin(on func(microphone.Result)) microphone.Session {
	return closing{t.pupil.Begin(func(r microphone.Result) {
		if r.Final {
			t.note(&t.understood)
		}
		on(r)
	}), t}
}

// A closing session notes when it is over.
type closing struct {
	microphone.Session
	of *talker
}

// End implements [microphone.Session].
func (c closing) End() {
	c.of.note(&c.of.ended)
	c.Session.End()
}

// Say implements [loudspeaker.Voice].
func (t *talker) Say(ctx context.Context, spoken string) iter.Seq2[tts.Chunk, error] {
	t.note(&t.of)
	return t.say.Say(ctx, spoken)
}

// A story is a tape with pauses.
type story struct {
	tape
	ending hear.Ending // what its words are
	end    int         // its last sample of sound
	pauses [][2]int    // samples: from the last sound before to the first after
}

// story returns how a voice tells something that has pauses.
func (b bench) story(ctx context.Context, d dial, voice, text string, n int) (*story, error) {
	s := &story{ending: hear.Judge(strings.ReplaceAll(text, "| ", ""), hear.Talk{})}
	s.pcm = make([]int16, inSamples(lead))
	for i, part := range strings.Split(text, "|") {
		pcm, err := b.recite(ctx, voice, strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		if i > 0 {
			pause := briefest + time.Duration(n+i)*step%(longest-briefest+step)
			s.pauses = append(s.pauses, [2]int{len(s.pcm), len(s.pcm) + inSamples(pause)})
			s.pcm = append(s.pcm, make([]int16, inSamples(pause))...)
		}
		s.pcm = append(s.pcm, pcm[max(0, onset(pcm)):offset(pcm)]...)
	}
	s.end = len(s.pcm)
	s.pcm = append(s.pcm, make([]int16, inSamples(tail))...)
	breathe(s.pcm)
	source, err := b.source(&reel{pcm: s.pcm}, fmt.Sprintf("story-%d", n))
	if err != nil {
		return nil, err
	}
	for f, err := range codec.Open(ctx, d.to(speechHelper, "media"), source) {
		if err != nil {
			return nil, err
		}
		s.frames = append(s.frames, *f)
	}
	return s, nil
}

// offset returns the sample after which a voice is heard no more.
func offset(pcm []int16) int {
	backwards := slices.Clone(pcm)
	slices.Reverse(backwards)
	return len(pcm) - max(0, onset(backwards))
}

// An answered story is what came of it, in milliseconds after its end.
type answered struct {
	*story
	first                      float64 // until the answer was heard; 0 is never
	quiet, words, room, spoken float64 // of that: silence, recogniser, room and journal, voice
	cut                        map[int]bool
}

// converse tells a story to an agent that has just answered the one who tells it.
func (b bench) converse(ctx context.Context, d dial, t *talker, voice, text string, n int) (*answered, error) {
	s, err := b.story(ctx, d, voice, text, n)
	if err != nil {
		return nil, err
	}
	dev := newDeck()
	loud := loudspeaker.New(loudspeaker.DefaultConfig(), dev.open, t)
	entered := make(chan struct{})
	ctx, stop := beside(ctx, func(ctx context.Context) error {
		return loud.Run(ctx, func(earshot.Outlet) func() { close(entered); return func() {} })
	})
	var a *answered
	if _, err = await(entered); err == nil {
		a, err = t.tell(ctx, s, dev, loud)
	}
	return a, cmp.Or(err, stop())
}

// tell plays the story.
func (t *talker) tell(ctx context.Context, s *story, dev *deck, loud *loudspeaker.Loudspeaker) (*answered, error) {
	b := new(heardOf)
	h := open(ctx, furniture{model: ladder(&engine{pieces: 1}), journal: b, outlet: loud, settings: executive.DefaultConfig()})
	defer h.leave()
	if err := h.hold(ctx, nil); err != nil {
		return nil, err
	}
	if err := h.over(); err != nil {
		return nil, err
	}
	drained, drain := context.WithCancel(ctx)
	var draining sync.WaitGroup
	defer draining.Wait()
	defer drain()
	draining.Go(func() { h.drain(drained) })
	roll := make(chan time.Time, 1)
	mic := microphone.New(microphone.DefaultConfig(), microphone.Parts{Capture: rolling{&s.tape, roll, false}, Recogniser: t})
	before, began := len(dev.began()), time.Now()
	roll <- began
	if err := mic.Run(ctx, h.Admit); err != nil {
		return nil, err
	}
	return t.answer(s, began, dev.began()[before:], b.after(began)), nil
}

// drain takes what the house tells of its speeches.
func (h *house) drain(ctx context.Context) {
	for {
		select {
		case <-h.first:
		case <-h.going:
		case <-h.ended:
		case <-h.replies:
		case <-ctx.Done():
			return
		}
	}
}

// answer says what came of a story that began at some time.
func (t *talker) answer(s *story, began time.Time, sounds []time.Time, utterances []earshot.Event) *answered {
	a := &answered{story: s, cut: make(map[int]bool)}
	end := began.Add(inTime(s.end))
	pause := func(at time.Time) { // the last that began before
		for i, p := range slices.Backward(s.pauses) {
			if at.After(began.Add(inTime(p[0]))) {
				a.cut[i] = true
				return
			}
		}
	}
	for i, u := range utterances {
		if i > 0 && !goesOn(u) {
			pause(u.At)
		}
	}
	for _, at := range sounds {
		if at.Before(end) {
			pause(at)
			continue
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		ms := func(from, to time.Time) float64 { return micros(to.Sub(from)) / 1000 }
		a.first = ms(end, at)
		a.quiet, a.words, a.room, a.spoken = ms(end, t.ended), ms(t.ended, t.understood), ms(t.understood, t.of), ms(t.of, at)
		break
	}
	return a
}

// goesOn reports whether an utterance stands in the dialogue as a part of the one
// before.
func goesOn(e earshot.Event) bool {
	u, ok := e.Body.(earshot.Utterance)
	return ok && u.Continues != ""
}

// A heardOf is a journal that keeps what was said aloud.
type heardOf struct {
	blank
	mu   sync.Mutex
	said []earshot.Event
}

// Append implements [room.Journal].
func (h *heardOf) Append(ctx context.Context, events ...earshot.Event) ([]earshot.Event, error) {
	h.mu.Lock()
	for _, e := range events {
		if e.Body.Kind() == earshot.KindUtterance {
			h.said = append(h.said, e)
		}
	}
	h.mu.Unlock()
	return h.blank.Append(ctx, events...)
}

// after returns what was said after some time.
func (h *heardOf) after(at time.Time) (said []earshot.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.said {
		if e.At.After(at) {
			said = append(said, e)
		}
	}
	return said
}

// gapRows returns the table.
func gapRows(all []*answered) ([]Row, error) {
	var first, finished, quiet, words, room, spoken []float64
	pauses, cut, silences := 0, 0, 0
	for _, a := range all {
		pauses, cut = pauses+len(a.pauses), cut+len(a.cut)
		if a.first == 0 {
			silences++
			continue
		}
		first, quiet, words = append(first, a.first), append(quiet, a.quiet), append(words, a.words)
		room, spoken = append(room, a.room), append(spoken, a.spoken)
		if a.ending == hear.Finished {
			finished = append(finished, a.first)
		}
	}
	if len(first) == 0 {
		return nil, fmt.Errorf("nothing of %d things that were said was answered", len(all))
	}
	part := func(name string, of []float64) Row {
		return Row{Name: "B1, of that: " + name, Unit: "ms", Ours: spread(of)}
	}
	whole := Row{Name: "B1 end of speech → first sound", Unit: "ms", Ours: spread(first), Note: fmt.Sprintf(
		"%d things said by four voices of flite, %d of them not answered; real recogniser and voice, a model that takes no time, without the buffers of devices; LiveKit agents-js has 708 to 712 ms by default, 343 tuned", len(all), silences)}
	rows := []Row{whole.goal("p50", whole.Ours.P50, 480), {Name: "B1 after a finished sentence", Note: "not measured: there was none"}}
	if len(finished) > 0 {
		rows[1] = Row{Name: rows[1].Name, Unit: "ms", Ours: spread(finished)}.goal("p50", spread(finished).P50, 355)
	}
	rows = append(rows, part("silence", quiet), part("recogniser", words), part("room", room), part("voice", spoken))
	share := Row{Name: "B1 pauses taken for the end", Unit: fmt.Sprintf("of %d", pauses), Ours: same(float64(cut)),
		Note: "pauses of 300 to 800 ms within a sentence that was answered in them, or stands in the dialogue as two"}
	return append(rows, share.goal("at most 1 of 40", float64(cut), max(float64(pauses)/40, 0))), nil
}
