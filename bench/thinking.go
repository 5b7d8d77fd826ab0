package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/llm"
	"earshot/llm/ollama"
	"earshot/llm/ollama/ollamatest"
)

// typing is how long a line takes to be typed: the shortest that anybody writes
// who does not only say yes.
const typing = 300 * time.Millisecond

// A way is how a thought gives way to what is typed.
type way int

const (
	unhindered way = iota // nobody thinks
	atKey                 // at the first key, or not at all if there is a slot to spare
	atEnter               // at the end of the line: it comes in one piece
)

// thinking measures B13, from a message to the first token of its answer, with a
// thought under way and without, on a real Ollama: with one slot, where the
// thought is parked, and with two, where it goes on. The bare thing is the same
// without a thought, and for that Ollama's own client with the same prompt.
func thinking(ctx context.Context, b bench) ([]Row, error) {
	if _, err := os.Stat(ollamatest.Binary()); err != nil {
		return []Row{{Name: "thinking", Note: "not measured: there is no Ollama; scripts/ollama/build builds one"}}, nil
	}
	reads, err := b.rehearse(ctx)
	if err != nil {
		return nil, err
	}
	one, err := b.think(ctx, reads, 1, atKey, atEnter)
	if err != nil {
		return nil, err
	}
	two, err := b.think(ctx, reads, 2, atKey)
	if err != nil {
		return one.rows(), err
	}
	return append(one.rows(), two.spare()...), nil
}

// rehearse returns all that a model is asked to read here, but for its numbers.
func (b bench) rehearse(ctx context.Context) (string, error) {
	r := &reader{Engine: &engine{pieces: settled * 2}}
	s, err := b.settle(ctx, r, 1)
	if err != nil {
		return "", err
	}
	_, err = s.ask(ctx, func() error { return nil })
	err = errors.Join(err, s.ponder(ctx), s.forget(ctx), s.shut())
	return strings.Join(talkative, " ") + "\n" + r.read.String(), err
}

// A reader stands before an engine and keeps all that it is asked.
type reader struct {
	llm.Engine
	mu   sync.Mutex
	read strings.Builder
}

// Stream implements [llm.Service].
func (r *reader) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range req.Messages {
		r.read.WriteString(m.Text + "\n")
	}
	return r.Engine.Stream(ctx, req)
}

// thinker is a model that reads and talks as fast as one at home: it says a token
// in 5 ms, and reads one in 1 ms.
func thinker(reads string) ollamatest.Model {
	return ollamatest.Model{
		Tools: true, Instructed: true, Layers: 1, Words: 32768, Reads: reads,
		Says: "The tide comes in at six, and goes out at noon.",
		Routes: []ollamatest.Route{
			{Word: "strategic", Says: strings.ToUpper(babble(3000, 600))},
			{Word: "JSON", Says: `{"findings": []}`},
		},
	}
}

// samples are how long it took in each way, in milliseconds.
type samples struct {
	ours   [3][]float64
	bare   []float64
	wedged int // rounds that are left out, because the server did not answer until the model was unloaded
}

// block is how many rounds of each way a house sees: with more, what was just said
// would fill what is going on, as it does with nobody who talks at a human pace.
const block = 2

// think measures on a server with so many slots, in some ways and without a
// thought.
func (b bench) think(ctx context.Context, reads string, slots int, ways ...way) (*samples, error) {
	server, err := ollamatest.Run(ctx, ollamatest.Binary(), ollamatest.Options{Slots: slots})
	if err != nil {
		return nil, err
	}
	defer server.Stop()
	if err := server.Make(ctx, "tide", thinker(reads)); err != nil {
		return nil, err
	}
	e, err := ollama.New(ollama.Config{Host: server.Host(), Model: "tide"})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	all := new(samples)
	for left := min(b.rounds, 40); left > 0; left -= block {
		s, err := b.settle(ctx, e, slots)
		if err != nil {
			return nil, err
		}
		err = all.block(ctx, s, min(left, block), append(ways, unhindered))
		if err == nil {
			err = all.alone(ctx, &bareClient{server: server.Client(), seen: &s.tap.witness}, min(left, block))
		}
		if err := errors.Join(err, s.shut()); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// block measures some rounds in each way, who goes first changing with each.
func (m *samples) block(ctx context.Context, s *study, rounds int, ways []way) error {
	if err := s.warm(ctx); err != nil {
		return err
	}
	for i := range rounds {
		for k := range ways {
			w := ways[(i+k)%len(ways)]
			took, err := s.measure(ctx, w, m)
			if err != nil {
				return err
			}
			m.ours[w] = append(m.ours[w], took...)
		}
	}
	return nil
}

// alone measures Ollama's own client.
func (m *samples) alone(ctx context.Context, c *bareClient, rounds int) error {
	for range rounds {
		took, err := c.ask(ctx)
		if err != nil {
			return err
		}
		m.bare = append(m.bare, millis(took)...)
	}
	return nil
}

// warm lets the server read what was said, for a reply and for a thought: with two
// slots each has its own when both have been under way at once.
func (s *study) warm(ctx context.Context) error {
	if _, err := s.ask(ctx, func() error { return nil }); err != nil {
		return err
	}
	_, err := s.round(ctx, atEnter)
	return err
}

// measure measures one answer, again if the server had wedged meanwhile.
func (s *study) measure(ctx context.Context, w way, m *samples) ([]float64, error) {
	for {
		before := s.tap.unloads()
		took, err := s.round(ctx, w)
		if err != nil || s.tap.unloads() == before {
			return took, err
		}
		m.wedged++
	}
}

// round measures one answer.
func (s *study) round(ctx context.Context, w way) ([]float64, error) {
	heard := func() error { return nil }
	if w != unhindered {
		if err := s.ponder(ctx); err != nil {
			return nil, err
		}
		heard = func() error { return s.forget(ctx) }
	}
	if w != atEnter {
		if _, err := s.admit(ctx, earshot.Typing{Began: true}); err != nil {
			return nil, err
		}
		time.Sleep(typing)
	}
	if parked := w == atKey && s.slots == 1; parked && s.tap.busy() {
		return nil, errors.New("a thought went on after the first key")
	}
	return s.ask(ctx, heard)
}

// distribution says how samples lie, for people.
func distribution(samples []float64) string {
	s := slices.Sorted(slices.Values(samples))
	return fmt.Sprintf("%s/%s", number(percentile(s, 0.5)), number(percentile(s, 0.95)))
}

// percentile returns the sample below which that part of them lies.
func percentile(sorted []float64, part float64) float64 {
	return sorted[int(part*float64(len(sorted)-1)+0.5)]
}

// longer is how much longer one takes than the other, at the same percentile.
func longer(ours, other []float64, part float64) Spread {
	d := percentile(slices.Sorted(slices.Values(ours)), part) - percentile(slices.Sorted(slices.Values(other)), part)
	return Spread{d, d, d}
}

// leftOut says which rounds are in no figure.
func (m *samples) leftOut() string {
	if m.wedged == 0 {
		return ""
	}
	return fmt.Sprintf("; left out, since a cut had wedged the server: %d", m.wedged)
}

// rows returns the table of one slot.
func (m *samples) rows() []Row {
	without := m.ours[unhindered]
	note := fmt.Sprintf("in ms, p50/p95: bare %s, without a thought %s, parked at the first key %s, only at Enter %s%s",
		distribution(m.bare), distribution(without), distribution(m.ours[atKey]), distribution(m.ours[atEnter]), m.leftOut())
	key := row("B13 with a thought, parked at the first key", "ms", spread(m.ours[atKey]), spread(without), "")
	more, most := longer(m.ours[atEnter], without, 0.5), longer(m.ours[atEnter], without, 0.95)
	return []Row{
		row("B13 text → first token", "ms", spread(without), spread(m.bare), note),
		key.goal("times", key.Times, 1.1),
		row("B13 with a thought, parked at Enter", "ms", spread(m.ours[atEnter]), spread(without), ""),
		Row{Name: "B13 beyond, parked at Enter, p50", Unit: "ms", Ours: more}.goal("", more.P50, 60),
		Row{Name: "B13 beyond, parked at Enter, p95", Unit: "ms", Ours: most}.goal("", most.P50, 120),
	}
}

// spare returns that of two slots.
func (m *samples) spare() []Row {
	without := m.ours[unhindered]
	more := longer(m.ours[atKey], without, 0.5)
	note := fmt.Sprintf("in ms, p50/p95: bare %s, without a thought %s, beside one %s%s",
		distribution(m.bare), distribution(without), distribution(m.ours[atKey]), m.leftOut())
	return []Row{
		row("B13 two slots, beside a thought", "ms", spread(m.ours[atKey]), spread(without), note),
		Row{Name: "B13 beyond, two slots, p50", Unit: "ms", Ours: more}.goal("", more.P50, 40),
	}
}
