package tts

import (
	"context"
	"iter"
	"sync"
	"time"

	"earshot/models/wire"
)

// longest is how long one byte may take to be said, at the voice's own speed: a
// digit of a number takes half of it.
const longest = 2 * time.Second

// A Chunk is a piece of the sound of a text.
type Chunk struct {
	PCM  []int16 // valid until the next chunk; may be empty
	Rate int     // of PCM, samples a second; 0 is [audio.Rate]

	// Words are new since the previous chunk, ascending. If another voice goes on with a text, it
	// begins with the word that was being said, and where that word and those after it begin is told
	// again.
	Words []Word
}

// A Word is where a word begins: at sample Sample of the sound, at the rate of its chunk, and byte
// Byte of the text, counted from the beginning of both.
type Word struct {
	Byte   int
	Sample int
}

// Say yields the sound of a text in what a voice can say; see [Normalise]. Leaving the loop, or
// the end of ctx, makes the helper stop at once. If the helper dies in the middle, the next one
// says the same again, which takes the same time, and Say continues at the sample it had reached;
// if it has another voice, perhaps at another rate, at the word that it had reached.
//
// An error comes at most once, last, with an empty Chunk: [ErrAway] if there is
// no helper for five seconds, [ErrFatal], or the cause of the end of ctx.
func (s *Synthesiser) Say(ctx context.Context, spoken string) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		select {
		case s.turn <- struct{}{}:
		case <-ctx.Done():
			yield(Chunk{}, context.Cause(ctx))
			return
		}
		defer func() { <-s.turn }()
		t := &partSynthesis{yield: yield, slowest: longest.Seconds() / s.config.Speed}
		for at, text := range parts(spoken) {
			t.begin(at, text)
			if err := s.tell(ctx, t); err != nil {
				yield(Chunk{}, err)
				return
			}
			if t.left {
				return
			}
		}
	}
}

// tell has one life of the helper after another say a part, until one has said all of it or nobody
// listens any more.
func (s *Synthesiser) tell(ctx context.Context, t *partSynthesis) error {
	for vain := 0; vain < tries; vain++ {
		l, err := s.wait(ctx)
		if err != nil {
			return err
		}
		if l.says != t.says {
			t.takeOver(l.says)
		}
		before := t.given
		over, err := t.by(ctx, l)
		if over || err != nil {
			return err
		}
		if t.given > before {
			vain = -1
		}
	}
	return ErrFatal
}

// A partSynthesis is the synthesis of a text, one part of it after the other.
type partSynthesis struct {
	yield   func(Chunk, error) bool
	slowest float64       // seconds that a byte can take
	says    wire.ReadySay // who said what was given

	// Of the part:
	text   string
	at     int // byte of the whole text
	sample int // of the whole text's sound

	marks []wire.Mark // that are known
	words []Word      // to go with the next chunk
	known int         // words that begin before this byte were handed out
	given int         // samples that were
	left  bool        // nobody listens any more
}

// begin goes on to the next part, or to a part of one, at a byte of the whole text.
func (t *partSynthesis) begin(at int, text string) {
	t.sample += t.given
	t.at, t.text, t.marks, t.known, t.given = at, text, t.marks[:0], 0, 0
}

// takeOver lets another voice go on with the part, at the word in which the one before it was.
func (t *partSynthesis) takeOver(by wire.ReadySay) {
	word := 0
	for _, m := range t.marks {
		if int(m.Sample) <= t.given {
			word = int(m.Byte)
		}
	}
	if t.given > 0 {
		t.begin(t.at+word, t.text[word:])
	}
	if t.says.Rate != 0 {
		t.sample = int(float64(t.sample)*float64(by.Rate)/float64(t.says.Rate) + 0.5)
	}
	t.says = by
}

// by has the helper l say the part, and passes on what is new of it. It reports whether that is
// over, because everything was said or nobody listens.
func (t *partSynthesis) by(ctx context.Context, l *helperSession) (over bool, err error) {
	r := l.ask(len(t.text), int(float64(len(t.text)+1)*t.slowest*float64(l.says.Rate)))
	var sending sync.WaitGroup
	sending.Go(func() { l.link.SendSound(r.stream, []byte(t.text)) }) // if it fails, l is dead
	defer sending.Wait()
	defer l.leave(r)
	t.words = nil // they come again
	patience := time.NewTimer(slow)
	defer patience.Stop()
	for skip := t.given; ; patience.Reset(slow) {
		select {
		case p := <-r.pieces:
			if p.end {
				return true, nil
			}
			t.learn(p.marks)
			n := min(skip, len(p.pcm))
			skip -= n
			if !t.give(p.pcm[n:]) {
				l.link.Send(wire.CancelName, wire.Cancel{Stream: r.stream})
				return true, nil
			}
		case <-l.dead:
			return false, nil
		case <-patience.C:
			l.kill(errSilent)
			return false, nil
		case <-ctx.Done():
			l.link.Send(wire.CancelName, wire.Cancel{Stream: r.stream})
			return true, context.Cause(ctx)
		}
	}
}

// learn keeps the beginnings of words for the next chunk.
func (t *partSynthesis) learn(marks []wire.Mark) {
	for _, m := range marks {
		if n := len(t.marks); n == 0 || m.Byte > t.marks[n-1].Byte {
			t.marks = append(t.marks, m)
		}
		if int(m.Byte) >= t.known {
			t.words = append(t.words, Word{t.at + int(m.Byte), t.sample + int(m.Sample)})
		}
	}
}

// give passes on sound, and reports whether more is wanted.
func (t *partSynthesis) give(pcm []int16) bool {
	if len(pcm) == 0 {
		return true
	}
	c := Chunk{PCM: pcm, Rate: t.says.Rate, Words: t.words}
	t.given += len(pcm)
	if n := len(t.words); n > 0 {
		t.known = t.words[n-1].Byte - t.at + 1
	}
	t.words = nil
	t.left = !t.yield(c, nil)
	return !t.left
}
