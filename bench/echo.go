package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/internal/audio"
	"earshot/internal/sound"
	"earshot/internal/sound/soundtest"
	"earshot/models/hear"
	"earshot/providers/microphone"
)

// echoRooms are where a dialogue is simulated: what comes back is 6 to 20 dB
// softer than it is played, where people are 9 dB softer; it is late by what no
// device says, the loudspeaker is faster or slower, and one is small and clips.
var echoRooms = []soundtest.Room{
	{Echo: -6, Delay: 20 * time.Millisecond},
	{Echo: -13, Delay: 100 * time.Millisecond, PPM: 30},
	{Echo: -20, Delay: 200 * time.Millisecond, PPM: -100},
	{Echo: -6, Delay: 40 * time.Millisecond, Clips: true},
	{Echo: -6, Delay: 100 * time.Millisecond, PPM: 100},
	{Echo: -13, Delay: 20 * time.Millisecond, PPM: -30},
	{Echo: -20, Delay: 40 * time.Millisecond},
	{Echo: -10, Delay: 200 * time.Millisecond, PPM: 20},
	{Echo: -8, Delay: 60 * time.Millisecond, PPM: -60, Ring: 400 * time.Millisecond},
	{Echo: -16, Delay: 150 * time.Millisecond, PPM: 100},
	{Echo: -6, Delay: 30 * time.Millisecond, Ring: 150 * time.Millisecond},
	{Echo: -10, Delay: 80 * time.Millisecond, PPM: 50},
}

// echoes measures whether the agent hears itself: in simulated minutes of
// dialogue, as many as there are rounds, in rooms with a loudspeaker and a
// microphone that are two devices; through the real canceller, the real ear, and
// for what the ear takes for somebody, the real recogniser and its judge. The
// bare thing is the same ear without a canceller: what it does whose program
// leaves echo removal to others.
func echoes(ctx context.Context, b bench) (rows []Row, err error) {
	if rows := withoutVoice("echo", []string{"speech"}, "flite"); rows != nil {
		return rows, nil
	}
	d, c, err := b.gather(ctx)
	if err != nil {
		return nil, err
	}
	p := newPupil(d, nil)
	ctx, stop := beside(ctx, p.Run)
	defer func() { err = errors.Join(err, stop()) }()
	if err := p.ready(ctx); err != nil {
		return nil, err
	}
	e := echoed{dial: d, pupil: p}
	each := max(1, b.rounds/len(echoRooms))
	g, during := errgroup.WithContext(ctx)
	g.SetLimit(2)
	for i, room := range echoRooms[:min(b.rounds, len(echoRooms))] {
		room.Jitter, room.Seed = 5*time.Millisecond, uint64(i+1)
		play := c.write(i, time.Duration(each)*time.Minute, false)
		g.Go(func() error { return e.perform(during, room, play) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if e.spotted, err = spot(ctx, d, e.missed); err != nil {
		return nil, err
	}
	return e.rows()
}

// A company is who speaks, and what each can say.
type company struct {
	agent        []line
	questions    []line
	interrupting []line
}

// A line is something said.
type line struct {
	text string
	pcm  []int16
}

// What is said in a dialogue.
var (
	tales = []string{
		"the tide comes in twice a day because the moon pulls at the sea and the earth turns below it.",
		"every harbour has its own hour, and the fishermen know it by heart.",
		"in some bays the water rises by more than fifteen metres, and in others you hardly see it.",
		"it is sunny today with a little wind from the west, and it will rain in the evening.",
		"you have three meetings, and the second one was moved to half past four.",
		"first chop the onions, then let them simmer for a quarter of an hour with the lid on.",
		"the oldest clock that still goes stands in a cathedral and has no face at all.",
	}
	queries    = []string{"earshot tell me about the tides", "what is the weather going to be like today", "could you read me my messages"}
	intrusions = []string{"no tell me about the moon", "stop talking", "earshot wait a moment please", "that is not what i asked for"}
)

// company has flite say all of it: the agent in the voice that it has, people in
// others.
func (b bench) company(ctx context.Context) (c company, err error) {
	say := func(to *[]line, voice string, texts []string, louder float64) {
		for _, text := range texts {
			pcm, e := b.recite(ctx, voice, text)
			err = errors.Join(err, e)
			for i := range pcm {
				pcm[i] = int16(float64(pcm[i]) * louder)
			}
			*to = append(*to, line{text, pcm})
		}
	}
	say(&c.agent, voices[0], tales, 1)
	for _, voice := range voices[1:] {
		say(&c.questions, voice, queries, 0.35)
		say(&c.interrupting, voice, intrusions, 0.35)
	}
	return c, err
}

// gather returns what makes the helpers run, and who speaks.
func (b bench) gather(ctx context.Context) (d dial, c company, err error) {
	if d, err = b.dial(ctx); err != nil {
		return d, c, err
	}
	c, err = b.company(ctx)
	return d, c, err
}

// A play is a dialogue: what the agent says, and what people say, each on a
// track of its own.
type play struct {
	far, near []int16
	said      []passage // by people
	cuts      []passage // those that interrupt
	replies   []passage // by the agent
}

// write writes the dialogue numbered n: questions and replies, of which every
// second is interrupted once; or else two of three, twice each.
func (c company) write(n int, lasts time.Duration, often bool) (p play) {
	at, whole := inSamples(time.Second), inSamples(lasts)
	p.far, p.near = make([]int16, whole), make([]int16, whole)
	put := func(track []int16, to *[]passage, at int, l line) int {
		end := min(at+copy(track[min(at, whole):], l.pcm), whole)
		*to = append(*to, passage{l.text, at, end})
		return end
	}
	for i := n; at < whole-inSamples(15*time.Second); i++ {
		at = put(p.near, &p.said, at, c.questions[i%len(c.questions)]) + inSamples(700*time.Millisecond)
		began := at
		for j := range 2 {
			at = put(p.far, &p.replies, at, c.agent[(2*i+j)%len(c.agent)]) + inSamples(time.Duration(50+i*37%200)*time.Millisecond)
		}
		length := at - began
		cut := func(percent, which int) {
			when := began + length*percent/100
			l := c.interrupting[which%len(c.interrupting)]
			end := put(p.near, &p.said, when, l)
			p.cuts = append(p.cuts, passage{l.text, when + max(0, onset(l.pcm)), end})
			at = max(at, end)
		}
		switch {
		case often && i%3 != 2:
			cut(10+i*7%20, i)
			cut(60+i*11%20, i+5)
		case !often && i%2 == 1:
			cut(20+i*13%50, i/2)
		}
		at += inSamples(time.Duration(1000+i*211%1500) * time.Millisecond)
	}
	return p
}

// saying returns what the agent said around a sample.
func (p play) saying(from, to int) (text string) {
	for _, r := range p.replies {
		if r.from-inSamples(time.Second) < to && r.to+inSamples(time.Second) > from {
			text += r.text + " "
		}
	}
	return text
}

// spoken reports whether somebody spoke in a span, or just before.
func (p play) spoken(from, to int) bool {
	return slices.ContainsFunc(p.said, func(s passage) bool { return s.from < to && s.to+inSamples(300*time.Millisecond) > from })
}

// Echoed is what came of it.
type echoed struct {
	dial    dial
	pupil   *pupil
	hearing sync.Mutex // held while pupil hears

	mu       sync.Mutex
	minutes  float64
	asked    int
	heard    []float64 // onset to an utterance, ms, of interruptions
	missed   [][]int16 // the others, as they were cleaned
	spotted  int       // of those, found by who listens for phrases
	bare     []float64
	pauses   int // utterances of nobody
	barely   int // the same, without a canceller
	turns    int // of those, taken for words to the agent
	erle     []float64
	cost     []float64 // ms to clean a second
	knowing  int       // interruptions that were understood to be for the agent
	examined int
}

// A remark is an utterance that an ear has found.
type remark struct {
	from, lasts, to int // samples: its beginning, when it was believed, its end
	own             float64
	frames          []audio.Frame
}

// perform performs a play in a room, with and without the canceller.
func (e *echoed) perform(ctx context.Context, room soundtest.Room, p play) error {
	captured := room.Captured(p.far, p.near)
	began := time.Now()
	ours, clean, err := e.listen(ctx, room, p.far, captured)
	took := time.Since(began)
	if err != nil {
		return err
	}
	bare, _, err := e.listen(ctx, room, nil, captured)
	if err != nil {
		return err
	}
	if err := e.judge(ctx, p, ours, bare, clean, captured); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cost = append(e.cost, micros(took)/1000/inTime(len(captured)).Seconds())
	return nil
}

// judge notes what an ear found in what was left of a dialogue, and what it found bare
// in what was captured of it.
func (e *echoed) judge(ctx context.Context, p play, ours, bare []remark, clean, captured []int16) error {
	turns, knowing, examined, err := e.understand(ctx, p, ours)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.minutes += inTime(len(captured)).Minutes()
	e.asked += len(p.cuts)
	for _, c := range p.cuts {
		after, ok := c.noticed(ours)
		if ok {
			e.heard = append(e.heard, after)
		} else {
			e.missed = append(e.missed, clean[max(0, c.from-inSamples(margin)):min(len(clean), c.to+inSamples(margin))])
		}
		if after, ok = c.noticed(bare); ok {
			e.bare = append(e.bare, after)
		}
	}
	e.pauses, e.barely = e.pauses+p.nobody(ours), e.barely+p.nobody(bare)
	e.turns, e.knowing, e.examined = e.turns+turns, e.knowing+knowing, e.examined+examined
	e.erle = append(e.erle, p.lowered(captured, clean)...)
	return nil
}

// listen returns what an ear finds in a room, and what it was given.
func (e *echoed) listen(ctx context.Context, room soundtest.Room, far, captured []int16) (all []remark, pcm []int16, err error) {
	base := time.Unix(0, 0)
	all, pcm, err = overhear(sound.Rehearse(ctx, e.dial.to(soundHelper, sound.RehearseArg), room.Takes(base, far, captured)))
	return all, pcm, cmp.Or(err, ctx.Err())
}

// overhear returns what an ear finds in frames, and all that is in them. Where some
// were lost it is silent.
func overhear(frames iter.Seq2[*audio.Frame, error]) (all []remark, pcm []int16, err error) {
	ear := hear.New(hear.DefaultConfig())
	var open *remark
	var base time.Time
	for f, err := range frames {
		if err != nil {
			return nil, nil, err
		}
		if base.IsZero() {
			base = f.At
		}
		pcm = append(pcm, make([]int16, int(f.Lost)*audio.Samples)...)
		pcm = append(pcm, f.PCM[:]...)
		edge := ear.Step(f)
		if edge == hear.Lasts {
			from, _, _ := ear.Utterance()
			open = &remark{from: inSamples(from.Sub(base)), lasts: len(pcm)}
			for f := range ear.PreRoll() {
				open.frames = append(open.frames, *f)
			}
		} else if open != nil {
			open.frames = append(open.frames, *f)
		}
		if open != nil && (edge == hear.End || edge == hear.TooLong) {
			_, _, open.own = ear.Utterance()
			open.to = len(pcm)
			all, open = append(all, *open), nil
		}
	}
	return all, pcm, nil
}

// noticed returns after how many milliseconds an interruption was noticed, if it
// was before it was over.
func (c passage) noticed(all []remark) (after float64, ok bool) {
	for _, r := range all {
		if r.to > c.from && r.lasts < min(c.from+inSamples(1500*time.Millisecond), c.to) {
			return max(0, micros(inTime(r.lasts-c.from))/1000), true
		}
	}
	return 0, false
}

// nobody returns how many utterances are nobody's.
func (p play) nobody(all []remark) (n int) {
	for _, r := range all {
		if !p.spoken(r.from, r.lasts) {
			n++
		}
	}
	return n
}

// lowered returns by how much each reply was lowered during which nobody spoke,
// after the first.
func (p play) lowered(captured, clean []int16) (dB []float64) {
	for _, r := range p.replies[min(2, len(p.replies)):] {
		if !p.spoken(r.from, r.to) && r.to <= min(len(clean), len(captured)) {
			dB = append(dB, audio.Level(captured[r.from:r.to])-audio.Level(clean[r.from:r.to]))
		}
	}
	return dB
}

// understand asks the recogniser what nobody said, and of the first few
// interruptions what was; and returns how many of each are taken for words to
// the agent.
func (e *echoed) understand(ctx context.Context, p play, all []remark) (turns, knowing, examined int, err error) {
	l := conversation.AddressClassifier{Name: executive.DefaultConfig().Name, Sure: executive.DefaultConfig().Speech.LeastConfidence}
	l.As = conversation.Spellings(l.Name)
	for _, r := range all {
		spoken := p.spoken(r.from, r.lasts)
		saying := p.saying(r.from, r.to)
		if spoken && (saying == "" || examined >= 3) {
			continue
		}
		u, err := e.recognise(ctx, r)
		if err != nil {
			return 0, 0, 0, err
		}
		for_ := l.Address(u, time.Now(), conversation.SpeechContext{Saying: earshot.Text(saying), Talking: true}).ForAgent()
		switch {
		case spoken && for_:
			knowing++
			fallthrough
		case spoken:
			examined++
		case for_ && strings.TrimSpace(string(u.Text)) != "":
			turns++
		}
	}
	return turns, knowing, examined, nil
}

// enough is how much of a remark the recogniser is given, in frames: five seconds.
const enough = 250

// recognise has the recogniser hear a remark, one at a time: two would be too
// slow for it.
func (e *echoed) recognise(ctx context.Context, r remark) (u earshot.Utterance, err error) {
	e.hearing.Lock()
	defer e.hearing.Unlock()
	done := make(chan microphone.Result, 1)
	s := e.pupil.Begin(func(r microphone.Result) {
		if r.Final {
			done <- r
		}
	})
	for i := range r.frames[:min(len(r.frames), enough)] {
		s.Feed(&r.frames[i])
	}
	s.End()
	select {
	case res := <-done:
		return earshot.Utterance{Text: res.Text, Confidence: res.Confidence, Own: r.own}, res.Err
	case <-ctx.Done():
		return u, context.Cause(ctx)
	}
}

// rows returns the table.
func (e *echoed) rows() ([]Row, error) {
	if len(e.heard) == 0 || len(e.bare) == 0 || len(e.erle) == 0 {
		return nil, fmt.Errorf("nothing could be measured of %d interruptions", e.asked)
	}
	hours := e.minutes / 60
	missed := 100 * float64(e.asked-len(e.heard)-e.spotted) / float64(max(1, e.asked))
	note := fmt.Sprintf("%.0f simulated minutes of dialogue, with %d interruptions; the peer, which has no echo removal of its own, is expected to cut itself about once in each utterance", e.minutes, e.asked)
	return []Row{
		Row{Name: "B11 self-turns", Unit: "an hour", Ours: same(float64(e.turns) / hours), Note: note}.goal("", float64(e.turns), 0),
		row("B11 pauses for nobody", "an hour", same(float64(e.pauses)/hours), same(float64(e.barely)/hours), "utterances that the ear finds where only the agent spoke; the words have then to tell, and it goes on"),
		Row{Name: "B11 real cuts missed", Unit: "%", Ours: same(missed), Note: fmt.Sprintf("%d of %d were noticed by the ear while they were said, %d more by who listens for stop phrases; of %d whose words were looked at, %d were taken to be for the agent", len(e.heard), e.asked, e.spotted, e.examined, e.knowing)}.goal("", missed, 5),
		row("B11 onset over our own voice → an utterance", "ms", spread(e.heard), spread(e.bare), "of those that were noticed"),
		{Name: "B11 echo lowered by", Unit: "dB", Ours: spread(e.erle), Note: "replies during which nobody spoke, from the second one in each room"},
		{Name: "B11 to clean a second of sound", Unit: "ms", Ours: spread(e.cost), Note: "with the pipe to the helper and back, and the ear; a share of a core in thousandths"},
	}, nil
}
