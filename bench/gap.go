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
	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/models/tts"
	"earshot/outlets/loudspeaker"
	"earshot/providers/microphone"
)

// gapsText is what is said to be answered: forty sentences in one piece, and
// twenty-four with pauses, each of which is a bar. What ends in a full stop is clearly
// finished, as a person sees it: a question or a command. The rules of what is
// taken for finished, and how long one waits, were chosen on these.
//
// gapsHeld has forty and thirty more, which were written before the rules that are
// there now. No rule was made for one of them, but what came of them was seen while
// the rules were chosen, so they are not wholly held out. They are harder: before a
// third of their pauses, what was said could be all.
var (
	//go:embed gaps.txt
	gapsText string
	//go:embed gaps_held.txt
	gapsHeld string
)

const (
	// tail is how long it is quiet on a tape after the last word: longer than the
	// agent waits for the rest of a number.
	tail = 2800 * time.Millisecond

	// The pauses are from briefest to longest, each a step longer than the last.
	briefest, longest, step = 300 * time.Millisecond, 800 * time.Millisecond, 100 * time.Millisecond

	// pondering is how long the model takes to its first word with which a prepared
	// reply is measured, and prepared is to how many things that are said, at most.
	pondering, prepared = 300 * time.Millisecond, 20

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
	said, held := sayings(gapsText), sayings(gapsHeld)
	all, err := b.answers(ctx, d, pick(said, len(said)*b.rounds/usual), modelSpeed{prepare: true})
	if err != nil {
		return nil, err
	}
	others, err := b.answers(ctx, d, pick(held, len(held)*b.rounds/usual), modelSpeed{prepare: true})
	if err != nil {
		return nil, err
	}
	if err := b.transcribe(all, others); err != nil {
		return nil, err
	}
	if rows, err = gapRows("B1", all); err != nil {
		return nil, err
	}
	more, err := gapRows("B1 second set:", others)
	if err != nil {
		return nil, err
	}
	ahead, err := b.ahead(ctx, d)
	return slices.Concat(rows, more, ahead), err
}

// sayings returns the lines of a text.
func sayings(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") }

// A modelSpeed is what kind of model a sentence is answered by.
type modelSpeed struct {
	first   time.Duration // what the model takes to its first word
	prepare bool          // replies are prepared
}

// answers returns what comes of things that are said, each to a house of its own.
func (b bench) answers(ctx context.Context, d dial, said []string, how modelSpeed) ([]*answered, error) {
	answers := make([]*answered, len(said))
	g, within := errgroup.WithContext(ctx)
	for lane := range min(lanes, len(said)) {
		g.Go(func() error {
			t := newTalker(d)
			ctx, stop := beside(within, t.stage.Run, t.say.Run)
			err := t.ready(ctx)
			for i := lane; i < len(said) && err == nil; i += lanes {
				answers[i], err = b.converse(ctx, d, t, voices[i%len(voices)], said[i], i, how)
			}
			return errors.Join(err, stop())
		})
	}
	return answers, g.Wait()
}

// ahead measures what it brings to prepare a reply.
func (b bench) ahead(ctx context.Context, d dial) ([]Row, error) {
	var whole []string
	for _, s := range sayings(gapsText) {
		if !strings.Contains(s, "|") {
			whole = append(whole, s)
		}
	}
	whole = pick(whole, min(b.rounds, prepared))
	with, err := b.answers(ctx, d, whole, modelSpeed{pondering, true})
	if err != nil {
		return nil, err
	}
	without, err := b.answers(ctx, d, whole, modelSpeed{pondering, false})
	if err != nil {
		return nil, err
	}
	ours, bare := firsts(with), firsts(without)
	if len(ours) == 0 || len(bare) == 0 {
		return nil, errors.New("nothing was answered by a model that takes its time")
	}
	begun, waste := 0, 0
	for _, a := range with {
		begun, waste = begun+a.begun, waste+a.begun-a.taken
	}
	return []Row{
		row("B1 with a model that takes 300 ms", "ms", spread(ours), spread(bare), fmt.Sprintf(
			"until the first sound, to %d things that are said in one piece, with the reply prepared; bare is without that", len(whole))),
		{Name: "B1 prepared replies thrown away", Unit: fmt.Sprintf("of %d", begun), Ours: same(float64(waste)),
			Note: "requests to the model of which nothing was heard, of all that were made"},
	}, nil
}

// firsts returns when the answers were heard, of those that were.
func firsts(all []*answered) (ms []float64) {
	for _, a := range all {
		if a.first != 0 {
			ms = append(ms, a.first)
		}
	}
	return ms
}

// pick returns n of all, evenly spread, and at least one.
func pick(all []string, n int) (some []string) {
	n = min(max(n, 1), len(all))
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
	partials              []partial // of the story that is told
}

// hears returns what was understood since it was last asked.
func (t *talker) hears() []partial {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.partials
	t.partials = nil
	return all
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
	c := &closing{of: t}
	c.Session = t.pupil.Begin(func(r microphone.Result) {
		if r.Final {
			t.note(&t.understood)
		}
		c.heard(r)
		on(r)
	})
	return c
}

// A closing session notes what was understood of which sound, and when it is over.
type closing struct {
	microphone.Session
	of   *talker
	from time.Time // when its first frame was captured; of.mu is held
}

// Feed implements [microphone.Session].
func (c *closing) Feed(f *audio.Frame) {
	c.of.mu.Lock()
	if c.from.IsZero() {
		c.from = f.At
	}
	c.of.mu.Unlock()
	c.Session.Feed(f)
}

// heard notes a result.
func (c *closing) heard(r microphone.Result) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.of.partials = append(c.of.partials, partial{c.from.Add(r.Heard), string(r.Text), r.Final})
}

// End implements [microphone.Session].
func (c *closing) End() {
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
	finished bool     // as a person sees it
	end      int      // its last sample of sound
	pauses   [][2]int // samples: from the last sound before to the first after
}

// story returns how a voice tells something that has pauses.
func (b bench) story(ctx context.Context, d dial, voice, text string, n int) (*story, error) {
	s := new(story)
	text, s.finished = strings.CutSuffix(text, ".")
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

	// The pauses in which it was answered aloud, after which it stood in the dialogue
	// as two though nothing was heard, and in which it was taken for done, but put
	// together again before anything was heard.
	over, apart, mended map[int]bool

	begun, taken int // requests to the model, and those of which something was heard

	began    time.Time // when its first sample was heard
	partials []partial
}

// converse tells a story to an agent that has just answered the one who tells it.
func (b bench) converse(ctx context.Context, d dial, t *talker, voice, text string, n int, how modelSpeed) (*answered, error) {
	s, err := b.story(ctx, d, voice, text, n)
	if err != nil {
		return nil, err
	}
	dev := new(deck)
	loud := loudspeaker.New(loudspeaker.DefaultConfig(), dev.open, t)
	entered := make(chan struct{})
	ctx, stop := beside(ctx, func(ctx context.Context) error {
		return loud.Run(ctx, func(earshot.Outlet) func() { close(entered); return func() {} })
	})
	var a *answered
	if _, err = await("the loudspeaker has entered the room", entered); err == nil {
		a, err = t.tell(ctx, s, dev, loud, how)
	}
	return a, cmp.Or(err, stop())
}

// tell plays the story.
func (t *talker) tell(ctx context.Context, s *story, dev *deck, loud *loudspeaker.Loudspeaker, how modelSpeed) (*answered, error) {
	b, model, settings := new(heardOf), &engine{pieces: 1, first: how.first}, executive.DefaultConfig()
	settings.Speech.PrepareReply = how.prepare
	h := open(ctx, furniture{model: ladder(model), journal: b, outlet: loud, settings: settings})
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
	mic := microphone.New(microphone.DefaultConfig(), microphone.Parts{Capture: rolling{tape: &s.tape, roll: roll}, Recogniser: t})
	before, asked, began := len(dev.began()), model.asked.Load(), time.Now()
	t.hears()
	roll <- began
	if err := mic.Run(ctx, h.Admit); err != nil {
		return nil, err
	}
	sounds := dev.began()[before:]
	a := t.answer(s, began, sounds, b.after(began))
	a.began, a.partials = began, t.hears()
	a.begun, a.taken = int(model.asked.Load()-asked), len(sounds)
	return a, nil
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
	a := &answered{story: s, over: make(map[int]bool), apart: make(map[int]bool), mended: make(map[int]bool)}
	end := began.Add(inTime(s.end))
	pause := func(in map[int]bool, at time.Time) { // the last that began before
		for i, p := range slices.Backward(s.pauses) {
			if at.After(began.Add(inTime(p[0]))) {
				in[i] = true
				return
			}
		}
	}
	for i, u := range utterances {
		switch {
		case i == 0:
		case goesOn(u):
			pause(a.mended, u.At)
		default:
			pause(a.apart, u.At)
		}
	}
	for _, at := range sounds {
		if at.Before(end) {
			pause(a.over, at)
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

// cuts returns in how many pauses it was answered, or after which it stood as two,
// and of those how many were answered; and how many were taken for the end and
// mended unheard.
func (a *answered) cuts() (cut, over, mended int) {
	for i := range a.pauses {
		switch {
		case a.over[i]:
			cut, over = cut+1, over+1
		case a.apart[i]:
			cut++
		case a.mended[i]:
			mended++
		}
	}
	return cut, over, mended
}

// gapRows returns the rows whose names begin with what.
func gapRows(what string, all []*answered) ([]Row, error) {
	var finished, other, quiet, words, room, spoken []float64
	pauses, cut, over, mended := 0, 0, 0, 0
	for _, a := range all {
		c, o, m := a.cuts()
		pauses, cut, over, mended = pauses+len(a.pauses), cut+c, over+o, mended+m
		if a.first == 0 {
			continue
		}
		quiet, words = append(quiet, a.quiet), append(words, a.words)
		room, spoken = append(room, a.room), append(spoken, a.spoken)
		if a.finished {
			finished = append(finished, a.first)
		} else {
			other = append(other, a.first)
		}
	}
	first := firsts(all)
	if len(first) == 0 {
		return nil, fmt.Errorf("nothing of %d things that were said was answered", len(all))
	}
	part := func(name string, of []float64) Row {
		if len(of) == 0 {
			return Row{Name: what + name, Note: "not measured: there was none"}
		}
		return Row{Name: what + name, Unit: "ms", Ours: spread(of)}
	}
	whole := part(" end of speech → first sound", first)
	whole.Note = fmt.Sprintf(
		"%d things said by four voices of flite, %d of them not answered, %d clearly finished; real recogniser and voice, a model that takes no time, without the buffers of devices; LiveKit agents-js has 708 to 712 ms by default, 343 tuned",
		len(all), len(all)-len(first), len(finished))
	done := part(" after a finished sentence", finished)
	if len(finished) > 0 {
		done = done.goal("p50", done.Ours.P50, 355)
	}
	share := Row{Name: what + " pauses taken for the end", Unit: fmt.Sprintf("of %d", pauses), Ours: same(float64(cut)), Note: fmt.Sprintf(
		"pauses of 300 to 800 ms within a sentence that was answered in them (%d), or stands in the dialogue as two", over)}
	again := Row{Name: what + " pauses mended unheard", Unit: share.Unit, Ours: same(float64(mended)),
		Note: "taken for the end as well, but both parts were put together before anything of the answer was heard, and one answer is to both"}
	return []Row{
		whole.goal("p50", whole.Ours.P50, 480), done, part(" after anything else", other),
		part(" of that: silence", quiet), part(" of that: recogniser", words), part(" of that: room", room), part(" of that: voice", spoken),
		share.goal("at most 1 of 40", float64(cut), float64(pauses)/40), again,
	}, nil
}
