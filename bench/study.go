package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/addressing"
	"earshot/llm"
	"earshot/participants"
	"earshot/store"
)

const (
	spoken   = 10 // questions, and as many answers, of which the dialogue consists
	sentence = 60 // words in each
	settled  = 5  // tokens of a thought after which it is interrupted, and up to as many more

	// wedgedAfter is how long a model may be silent before it is unloaded and asked again, so that its
	// answer comes within patience.
	wedgedAfter = patience / 4
)

// talkative are the words that are talked with here.
var talkative = strings.Fields("the a of and to in is it that for on with as was at by this from or which one had not but " +
	"what all were when there can more if no out so up into them then some could time these two first water little very " +
	"after words long about other many her would make like him has look write see people over down only way find use may " +
	"side been now any new work part take get place made live where back round man year came show every good me give our " +
	"under name through just form much great think say help low line before turn cause same mean differ move right boy old " +
	"tide harbour boat wind rain morning evening mooring rope engine weather table window house desk laptop coffee meeting")

// babble returns so many of those words, others for each seed.
func babble(seed uint64, words int) string {
	random := rand.New(rand.NewPCG(seed, 13))
	var b strings.Builder
	for range words {
		b.WriteString(talkative[random.IntN(len(talkative))] + " ")
	}
	return strings.TrimSpace(b.String()) + "."
}

// A study is a house that asks a real server, where the agent thinks.
type study struct {
	*house
	tap   *recordingEngine
	slots int
	asked uint64
	shut  func() error
}

// talked fills a journal with a dialogue, and returns it.
func talked(ctx context.Context, s *store.Store) ([]earshot.Event, error) {
	at := time.Now().Add(-time.Hour)
	v := earshot.Visibility{Scope: earshot.Public}
	for i := range uint64(spoken) {
		at = at.Add(time.Minute)
		id, turn, answer := newID(), earshot.TurnID(newID()), earshot.Text(babble(i+100, sentence))
		if _, err := s.Append(ctx,
			earshot.Event{ID: id, At: at, Room: earshot.Desk, From: ann, Author: participants.Owner, Visibility: v,
				Body: earshot.Message{Text: earshot.Text(babble(i, sentence))}},
			earshot.Event{At: at, Room: earshot.Desk, Author: participants.Agent, Visibility: v, Sources: []earshot.EventID{id},
				Body: earshot.Decision{About: id, Agent: participants.Agent, Verdict: earshot.Speak, Reasons: []string{addressing.Alone}, Turn: turn}},
			earshot.Event{At: at.Add(time.Second), Room: earshot.Desk, Author: participants.Agent, Visibility: v, Sources: []earshot.EventID{id},
				Body: earshot.Reply{Turn: turn, About: id, Outcome: earshot.Completed, Offered: answer, Heard: []earshot.Delivery{{Outlet: "sink", Bytes: len(answer)}}}},
		); err != nil {
			return nil, err
		}
	}
	return s.For(around).Last(ctx, nil, recall)
}

// settle opens a study in which that was said, before an engine with so many
// slots.
func (b bench) settle(ctx context.Context, e llm.Engine, slots int) (*study, error) {
	s, err := b.openStore(ctx, "study-"+string(newID()))
	if err != nil {
		return nil, err
	}
	past, err := talked(ctx, s)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	set := executive.DefaultConfig()
	set.LLM.Slots = slots
	set.Parallel.ReasoningContinuous = false // it thinks when it is told to
	t := &recordingEngine{witness: witness{Engine: e}, grown: make(chan struct{}, 1), ended: make(chan struct{}, 8)}
	l := &llm.Ladder{Engines: []*llm.Scheduler{{Engine: t, Slots: slots}}, FirstToken: wedgedAfter}
	h := open(ctx, furniture{model: l, journal: s, outlet: sink{}, past: past, settings: set})
	return &study{house: h, tap: t, slots: slots, shut: func() error { h.leave(); return s.Close() }}, nil
}

// ask says something new, and returns how many milliseconds it takes until its
// answer begins to be heard. It leaves the house still but for what it thinks.
func (s *study) ask(ctx context.Context, heard func() error) ([]float64, error) {
	s.asked++
	before := s.tap.asked()
	at, err := s.say(ctx, earshot.Text(fmt.Sprintf("who has the key of room %d, and where does she keep the lamp?", s.asked)))
	if err != nil {
		return nil, err
	}
	first, err := await("the answer has begun", s.first)
	if err != nil {
		return nil, err
	}
	if s.tap.asked() == before {
		return nil, errors.New("a question was answered without the model")
	}
	if err := heard(); err != nil {
		return nil, err
	}
	if _, err := await("the answer goes on", s.going); err != nil {
		return nil, err
	}
	return millis([]float64{micros(first.Sub(at))}), s.over()
}

// ponder lets the agent think, and returns when the thought has grown.
func (s *study) ponder(ctx context.Context) error {
	s.asked++
	s.tap.fresh()
	if _, err := s.admit(ctx, earshot.Command{Name: "think", Args: earshot.Text(fmt.Sprintf("will boat %d leave with the tide?", s.asked))}); err != nil {
		return err
	}
	_, err := await("a thought has grown", s.tap.grown)
	return err
}

// forget ends what the agent thinks, and returns when the model has let go of it.
func (s *study) forget(ctx context.Context) error {
	_, err := s.admit(ctx, earshot.Command{Name: "think", Args: "stop"})
	for err == nil && s.tap.busy() {
		_, err = await("the request of a thought is over", s.tap.ended)
	}
	return err
}

// A recordingEngine stands before an engine. It keeps what the last reply was made of, and
// tells how thoughts grow.
type recordingEngine struct {
	witness
	grown chan struct{} // a thought has come so far that it can be interrupted
	ended chan struct{} // the request of one is over

	live    sync.Mutex
	busys   int // requests of thoughts
	after   int // tokens that make a thought grown
	replies int // that were asked for
	wedged  int // how often the model was unloaded, because the server did not answer
}

// Unload implements [llm.Unloader]. A real server never answers again after some cuts (ollama/ollama
// #17131), until it has unloaded the model.
func (t *recordingEngine) Unload(ctx context.Context, model string) error {
	t.live.Lock()
	t.wedged++
	t.live.Unlock()
	if u, ok := t.Engine.(llm.Unloader); ok {
		return u.Unload(ctx, model)
	}
	return errors.ErrUnsupported
}

// unloads returns how often the model was unloaded.
func (t *recordingEngine) unloads() int {
	t.live.Lock()
	defer t.live.Unlock()
	return t.wedged
}

// fresh makes a new thought count.
func (t *recordingEngine) fresh() {
	t.live.Lock()
	defer t.live.Unlock()
	t.after = settled + rand.IntN(settled)
	select {
	case <-t.grown:
	default:
	}
}

// asked returns how many replies were asked for.
func (t *recordingEngine) asked() int {
	t.live.Lock()
	defer t.live.Unlock()
	return t.replies
}

// busy reports whether a thought is asked for.
func (t *recordingEngine) busy() bool {
	t.live.Lock()
	defer t.live.Unlock()
	return t.busys > 0
}

// Stream implements [llm.Service].
func (t *recordingEngine) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	if req.Priority > llm.Reasoning {
		t.live.Lock()
		t.replies++
		t.live.Unlock()
		return t.witness.Stream(ctx, req)
	}
	return func(yield func(llm.Delta, error) bool) {
		t.count(1)
		defer t.count(-1)
		n := 0
		for d, err := range t.Engine.Stream(ctx, req) {
			if n++; n == t.enough() {
				t.grown <- struct{}{}
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

func (t *recordingEngine) enough() int {
	t.live.Lock()
	defer t.live.Unlock()
	return t.after
}

// count adds to the requests of thoughts.
func (t *recordingEngine) count(n int) {
	t.live.Lock()
	defer t.live.Unlock()
	if t.busys += n; n < 0 {
		select {
		case t.ended <- struct{}{}:
		default: // nobody has asked for long
		}
	}
}
