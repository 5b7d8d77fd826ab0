package microphone_test

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/providers/microphone"
)

// A take is a recording drawn as a picture, one character for 100 ms, and captured in real time:
//
//	.  a quiet room          #  a voice
//	o  the agent's sound     @  a voice while that plays
//	~  a voice further away while that plays
//	_  no sound at all, not even noise
//	e  a voice that is mostly the agent's echo
//	h  breath, such as a cough, while the agent's sound plays
//	t  a tone, such as music, while it plays
//	A  a low voice that says vowels         B  a high one        M  both
type take struct {
	picture string
	loops   bool  // for ever
	err     error // after the last frame
	fast    bool  // not in real time
	ends    int   // number of frames; 0 means all of the picture
}

func (c *take) Frames(ctx context.Context) iter.Seq2[*audio.Frame, error] {
	return func(yield func(*audio.Frame, error) bool) {
		var f audio.Frame
		var tick <-chan time.Time
		if !c.fast {
			t := time.NewTicker(audio.Time)
			defer t.Stop()
			tick = t.C
		}
		for n := 0; c.loops || n < cmp.Or(c.ends, 5*len(c.picture)); n++ {
			if !c.fast {
				select {
				case <-tick:
				case <-ctx.Done():
					return
				}
			}
			draw(&f, c.picture[n/5%len(c.picture)], n)
			if ctx.Err() != nil || !yield(&f, nil) {
				return
			}
		}
		if c.err != nil {
			yield(nil, c.err)
		}
	}
}

// draw makes frame n of the sound that c stands for.
func draw(f *audio.Frame, c byte, n int) {
	if strings.IndexByte("ABM", c) >= 0 {
		*f = audio.Frame{At: time.Now(), Voiced: true}
		if c != 'B' {
			hum(f, n, 110, 1)
		}
		if c != 'A' {
			hum(f, n, 240, 1.3)
		}
		return
	}
	loud := map[byte]int16{'.': 4, 'o': 40, '#': 3000, 't': 3000, 'e': 3000}[c]
	for i := range f.PCM {
		f.PCM[i] = loud * int16(1-2*(i/80&1)) // 100 Hz
	}
	if c == '@' || c == '~' {
		hum(f, n, 110, 1)
	}
	if c == '~' {
		for i := range f.PCM {
			f.PCM[i] /= 8
		}
	}
	if c == 'h' {
		for i := range f.PCM {
			x := uint32(n*len(f.PCM)+i)*2654435761 + 1
			x = (x ^ x>>15) * 2246822519
			f.PCM[i] = 3000 * int16(1-2*int(x>>13&1))
		}
	}
	f.At, f.Voiced, f.Own = time.Now(), strings.IndexByte("#@~eht", c) >= 0, strings.IndexByte("o@~eht", c) >= 0
	f.EchoRatio = 0
	if c == 'e' {
		f.EchoRatio = 0.9
	}
}

// hum adds frame n of a voice: the harmonics of its pitch, shaped by a mouth of the given size into
// another vowel every 100 ms.
func hum(f *audio.Frame, n int, pitch, size float64) {
	syllable := n / 5
	pitch += float64(syllable % 5)
	vowel := size * []float64{300, 700, 500, 850, 400, 620}[syllable*syllable%6]
	for h := pitch; h < 4000; h += pitch {
		loud := 7000 / (1 + math.Pow((h-vowel)/150, 2)) / (1 + h/1000)
		for i := range f.PCM {
			f.PCM[i] += int16(loud * math.Sin(2*math.Pi*h*float64(n*audio.Samples+i)/audio.Rate))
		}
	}
}

// A result is what a recogniser makes of one utterance.
type result struct {
	partials []string      // one after each 100 ms
	behind   time.Duration // how far the audio that the partials cover lags behind; 0 means that it is not told
	lag      time.Duration // what it says of how late words may come
	text     string
	sure     float64 // 0 means 0.9
	err      error
	never    bool // it hangs
	early    bool // err comes at once
	late     time.Duration
}

// A recogniser understands one utterance after the other as its results say, 60 ms after the end of
// each.
type recogniser struct {
	results []result
	spotted func() // called for each frame that is searched for phrases

	mu     sync.Mutex
	began  int
	frames []int // of each session
	ends   int
	cancel int
}

func (r *recogniser) Begin(on func(microphone.Result)) microphone.Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &session{of: r, n: r.began, on: on}
	if r.began < len(r.results) {
		s.will = r.results[r.began]
	}
	r.began++
	r.frames = append(r.frames, 0)
	return s
}

func (r *recogniser) Spot(*audio.Frame) {
	if r.spotted != nil {
		r.spotted()
	}
}

type session struct {
	of   *recogniser
	n    int
	will result
	on   func(microphone.Result)
}

func (s *session) Feed(*audio.Frame) {
	s.of.mu.Lock()
	s.of.frames[s.n]++
	n := s.of.frames[s.n]
	s.of.mu.Unlock()
	if s.will.early && n == 1 {
		s.on(microphone.Result{Final: true, Err: s.will.err})
	}
	if n%5 == 0 && len(s.will.partials) > 0 {
		text := s.will.partials[min(n/5, len(s.will.partials))-1]
		r := microphone.Result{Text: earshot.Text(text), Lag: s.will.lag, Confidence: s.sure()}
		if s.will.behind > 0 {
			r.Heard = max(1, time.Duration(n)*audio.Time-s.will.behind)
		}
		s.on(r)
	}
}

func (s *session) sure() float64 {
	if s.will.sure == 0 {
		return 0.9
	}
	return s.will.sure
}

func (s *session) End() {
	s.of.mu.Lock()
	s.of.ends++
	s.of.mu.Unlock()
	if s.will.never {
		return
	}
	time.AfterFunc(60*time.Millisecond+s.will.late, func() {
		s.on(microphone.Result{Text: earshot.Text(s.will.text), Confidence: s.sure(), Final: true, Err: s.will.err})
		s.on(microphone.Result{Text: "a second end", Confidence: 1, Final: true}) // must be ignored
	})
}

func (s *session) Cancel() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.cancel++
}

// A room takes events, and draws them as letters.
type room struct {
	began   time.Time
	takes   time.Duration // how long an utterance takes
	stuck   bool          // nothing is taken until the context ends
	stuckAt int           // likewise from this event only, counted from 1
	fail    error

	mu      sync.Mutex
	picture []byte
	at      time.Duration // when the last utterance came
	events  []earshot.Event
	notices []string
	last    string // text of the last notice
}

func (r *room) emit(ctx context.Context, e earshot.Event) error {
	r.mu.Lock()
	r.events = append(r.events, e)
	at := int(time.Since(r.began) / (100 * time.Millisecond))
	for len(r.picture) <= at {
		r.picture = append(r.picture, '.')
	}
	if r.picture[at] = letter(e); r.picture[at] == 'U' {
		r.at = time.Since(r.began)
	}
	stuck := r.stuck || len(r.events) == r.stuckAt
	r.mu.Unlock()
	if stuck {
		<-ctx.Done()
		return ctx.Err()
	}
	if _, ok := e.Body.(earshot.Utterance); ok {
		select {
		case <-time.After(r.takes):
		case <-ctx.Done():
		}
		return r.fail
	}
	return nil
}

// letter draws one event; see TestScenes.
func letter(e earshot.Event) byte {
	switch b := e.Body.(type) {
	case earshot.Utterance:
		return 'U'
	case earshot.Speech:
		switch {
		case b.Stable:
			return 's'
		case b.Pause:
			return 'p'
		}
		return map[earshot.Stage]byte{
			earshot.VoiceBegan: 'b', earshot.VoiceLasts: 'l', earshot.VoiceWords: 'w', earshot.VoiceCalls: 'C', earshot.VoiceOver: 'o',
		}[b.Stage]
	}
	return '?'
}

func (r *room) notice(n earshot.Notice) {
	r.mu.Lock()
	defer r.mu.Unlock()
	how := map[bool]string{true: "over ", false: ""}[n.Over]
	r.last = n.Text
	r.notices = append(r.notices, fmt.Sprintf("%s%s", how, n.Key))
}

// saw draws all events in their order.
func (r *room) saw() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []byte
	for _, e := range r.events {
		all = append(all, letter(e))
	}
	return string(all)
}

// said returns the texts of the utterances.
func (r *room) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, e := range r.events {
		if u, ok := e.Body.(earshot.Utterance); ok {
			text := string(u.Text)
			if u.Faint {
				text = "(" + text + ")"
			}
			all = append(all, text)
		}
	}
	return strings.Join(all, "|")
}

func (r *room) told() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.notices, ", ")
}

// count returns how many events the room was given.
func (r *room) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.events)
}

// sessions returns how many were begun.
func (r *recogniser) sessions() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.began
}
