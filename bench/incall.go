package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/internal/audio"
	"earshot/internal/discord/gateway"
	outlet "earshot/outlets/discord"
)

// yieldingInCall measures what B2 is for somebody in a call on Discord: from the packet
// with the onset of their voice leaving them until they hear the agent lower its own, and
// fall silent, for what is said to it; and whether it goes on at the right sample after
// what is not, such as a cough. All of it is in the loop: both calls end to end encrypted
// through a Discord on loopback, the decoder, the ear, a real recogniser, the room, the
// floor, the encoder. The bare thing is a frame that is thrown to another call, which
// throws it back, and the 20 ms that a frame takes to be spoken.
func yieldingInCall(ctx context.Context, b bench) (rows []Row, err error) {
	if rows := withoutVoice("yield-call", []string{"speech", "discord"}, "flite"); rows != nil {
		return rows, nil
	}
	d, err := b.dial(ctx)
	if err != nil {
		return nil, err
	}
	p, parts, err := b.newParty(d)
	if err != nil {
		return nil, err
	}
	defer p.server.Close()
	ctx, stop := beside(ctx, parts...)
	defer func() { err = errors.Join(err, stop()) }()
	if err := p.ready(ctx); err != nil {
		return nil, err
	}
	m, err := b.interjections(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := p.talk(ctx, m.meant[0]); err != nil { // what is slow at first is not measured
		return nil, err
	}
	var t talks
	for i := range min(b.rounds, len(m.meant)) {
		for _, r := range []interjection{m.meant[i], m.beside[i]} {
			bare, err := p.throw(ctx)
			if err != nil {
				return nil, fmt.Errorf("throwing a frame: %w", err)
			}
			y, err := p.talk(ctx, r)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.what, err)
			}
			t.bare = append(t.bare, bare+micros(audio.Time)/1000)
			t.add(r, y)
		}
	}
	return t.rows(), nil
}

// An interjection is something that is said while the agent speaks.
type interjection struct {
	what  string
	pcm   []int16
	meant bool // for the agent
}

// interjections are some of both kinds, as many of one as of the other.
type interjections struct{ meant, beside []interjection }

// listening is what people say who listen. The voices spell "mm-hm", letter by letter,
// which is words.
var listening = []string{"yeah", "right", "uh-huh", "okay", "oh i see"}

// interjections records them.
func (b bench) interjections(ctx context.Context) (r interjections, err error) {
	record := func(to *[]interjection, meant bool, texts []string) {
		for _, text := range texts {
			for _, voice := range voices {
				pcm, failed := b.recite(ctx, voice, text)
				err = errors.Join(err, failed)
				*to = append(*to, interjection{text, pcm, meant})
			}
		}
	}
	record(&r.meant, true, slices.Concat(overtures, []string{"tell me about the stars please"}))
	record(&r.beside, false, listening)
	for i := len(r.beside); i < len(r.meant); i++ {
		r.beside = append(r.beside, interjection{"cough", loudAs(cough(rand.New(rand.NewPCG(5, uint64(i)))), -22), false})
	}
	return r, err
}

// begins is how much of an interjection is sent before its onset, in samples: a client sends
// when it hears a voice, and a frame before that.
const begins = audio.Samples

// A marker notes what the agent's voice is told in its first speech, and after which
// words it was cut.
type marker struct {
	*outlet.Voice
	of *party

	mu    sync.Mutex
	words string
	opens int
	told  []controlled
}

// Open implements [earshot.Outlet].
func (w *marker) Open(ctx context.Context, o earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	s, err := w.Voice.Open(ctx, o, heard)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.opens++; w.opens > 1 || err != nil {
		return s, err
	}
	return markedSpeech{s, w}, nil
}

type markedSpeech struct {
	earshot.Speaking
	by *marker
}

// Do implements [earshot.Speaking].
func (s markedSpeech) Do(c earshot.Control) {
	at := time.Now()
	s.Speaking.Do(c)
	s.by.mu.Lock()
	defer s.by.mu.Unlock()
	s.by.told = append(s.by.told, controlled{at, c})
	if c == earshot.Cut && s.by.words == "" {
		s.by.words, _ = s.by.of.words.Load().(string)
	}
}

func (w *marker) controls() []controlled {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.told)
}

// A yielded is what came of an interjection. Times are milliseconds since its onset left, -1 if
// it never was.
type yielded struct {
	told, stopped float64 // when the voice was told anything, and to be silent
	duck, silent  float64 // when the caller heard it
	cut, held     bool    // it was cut, or paused and never went on
	broken        bool    // what was heard is not what was said
	missing       int     // times that a frame was, in the middle
	words         string  // that cut it, or were last before
}

// talk has the caller say something while the agent speaks to them.
func (p *party) talk(ctx context.Context, r interjection) (y yielded, err error) {
	from, err := p.caller.mark(ctx)
	if err != nil {
		return y, err
	}
	at := max(0, onset(r.pcm))
	frames, err := p.caller.encodes(ctx, r.pcm[max(0, at-begins):])
	if err != nil {
		return y, err
	}
	p.voice.forget()
	w := &marker{Voice: p.out, of: p}
	p.words.Store("")
	h := open(ctx, furniture{model: ladder(new(engine)), journal: new(blank), outlet: w, settings: executive.DefaultConfig(), people: p.people})
	p.house.Store(h)
	left, err := p.spoken(ctx, h, w, r, frames, (min(at, begins)+coderDelay)/audio.Samples)
	p.house.Store(nil)
	words, _ := p.words.Load().(string)
	said := p.voice.sound()
	told := w.controls()
	to, failed := p.caller.mark(ctx)
	h.leave()
	if err = errors.Join(err, failed, p.rests(ctx)); err != nil {
		return y, err
	}
	y = p.caller.heard(from, to).reacted(left, told, said)
	w.mu.Lock()
	defer w.mu.Unlock()
	y.words = cmp.Or(w.words, words)
	return y, nil
}

// rests waits until the agent is silent.
func (p *party) rests(ctx context.Context) error {
	return p.caller.until(ctx, func() bool { return len(p.caller.frames) == 0 || p.caller.frames[len(p.caller.frames)-1].silent })
}

// spoken has it said, and returns when the frame with the onset has left, after all that
// comes of it.
func (p *party) spoken(ctx context.Context, h *house, w *marker, r interjection, frames [][]byte, which int) (left time.Time, err error) {
	ask := earshot.Event{ID: newID(), From: gateway.HandleOf(p.caller.user.ID), Via: w.Name(), Room: earshot.Desk,
		Body: earshot.Utterance{Text: "earshot tell me about the tides", Confidence: 1}}
	if err := h.Admit(ctx, ask); err != nil {
		return left, err
	}
	if _, err := await("the first of a speech is out", h.first); err != nil {
		return left, err
	}
	if err := ponder(ctx, lead); err != nil {
		return left, err
	}
	before := p.heard.Load()
	if left, err = p.caller.says(ctx, frames, which); err != nil {
		return left, err
	}
	// A cough may be nothing to an ear; and what is said may not cut.
	wait, stop := context.WithTimeout(ctx, longestPause)
	defer stop()
	err = eventually(wait, func() (bool, error) {
		told := w.controls()
		if len(told) == 0 {
			return !r.meant && time.Since(left) > time.Second, nil
		}
		last := told[len(told)-1]
		goes := last.what != earshot.Cut && last.what != earshot.Pause && time.Since(last.at) > lead/2
		return p.heard.Load() > before && (last.what == earshot.Cut || goes && !r.meant), nil
	})
	if ctx.Err() == nil {
		err = nil // that it took too long is seen
	}
	return left, err
}

// talks are all that was said.
type talks struct {
	bare                          []float64
	told, stopped                 []float64 // the ear and the room alone, for what is for the agent
	duck, silent, lowered, paused []float64 // of what is for the agent, and of what is not
	meant, cut                    int
	beside, stops, broken         int
	missing                       int
	which                         []string
}

// add notes what came of an interjection.
func (t *talks) add(r interjection, y yielded) {
	note := func(to *[]float64, after float64) {
		if after >= 0 {
			*to = append(*to, after)
		}
	}
	t.missing += y.missing
	if y.broken {
		t.broken++
		t.which = append(t.which, "broken: "+r.what)
	}
	if !r.meant {
		t.beside++
		note(&t.lowered, y.duck)
		note(&t.paused, y.silent)
		if y.cut || y.held {
			t.stops++
			t.which = append(t.which, fmt.Sprintf("%s, as %q", r.what, y.words))
		}
		return
	}
	t.meant++
	note(&t.told, y.told)
	note(&t.stopped, y.stopped)
	note(&t.duck, y.duck)
	note(&t.silent, y.silent)
	if y.cut {
		t.cut++
	} else {
		t.which = append(t.which, fmt.Sprintf("not cut: %s, as %q", r.what, y.words))
	}
}

// rows returns the table.
func (t *talks) rows() []Row {
	bare := spread(t.bare)
	of := func(name string, times []float64, all int, goal float64, more string) Row {
		if len(times) == 0 {
			return Row{Name: name, Note: fmt.Sprintf("not measured: it never was, %d times", all)}
		}
		note := fmt.Sprintf("p95 %s; %d of %d", number(most(times)), len(times), all)
		r := row(name, "ms", spread(times), bare, strings.TrimSuffix(note+"; "+more, "; "))
		if goal > 0 {
			r = r.goal("p95", most(times), goal)
		}
		return r
	}
	const beside = "or silent; beside a frame to another call and back, and the 20 ms that it lasts"
	return []Row{
		of("H onset at a peer → our voice lowered there", t.duck, t.meant, 250, beside),
		of("H onset at a peer → our silence there", t.silent, t.meant, 400, fmt.Sprintf("%d cut", t.cut)),
		of("H of that: ear and room, to the first word to the voice", t.told, t.meant, 0, ""),
		of("H of that: ear and room, to the word that silences", t.stopped, t.meant, 0, ""),
		of("H the same for what is not for us: lowered", t.lowered, t.beside, 0, ""),
		of("H the same for what is not for us: silent", t.paused, t.beside, 0, ""),
		count("H false stops in a call", t.stops, strings.Join(append([]string{fmt.Sprintf(
			"of %d; %d recordings are not what was said; %d times a frame was missing", t.beside, t.broken, t.missing)}, t.which...), "; ")),
	}
}
