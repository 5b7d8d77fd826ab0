package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// The bounds of a request for vectors. The answer is one line of JSON, so that this many of the longest
// vectors are below [MaxLine].
const (
	MaxTexts      = 8
	MaxDimensions = 4096
)

// errVectors says that an answer is not what was asked for.
var errVectors = errors.New("did not send one vector for each text")

// An Embedder turns texts into vectors, which are close together for texts that mean about the same. It
// is optional; callers test for it.
type Embedder interface {
	// Embed returns a vector for each of at most [MaxTexts] texts; an empty name means the engine's own
	// model. It takes as long as ctx allows. The error is an [*Error], or the cause of ctx.
	Embed(ctx context.Context, model string, texts []string) ([][]float32, error)
}

// Embed has one engine, the first if it is not named, turn texts into vectors. No other is asked: the
// vectors of two models cannot be compared. A request may end as [ErrParked], and as [Stalled] if it
// takes as long as a model may take to be loaded.
func (l *Ladder) Embed(ctx context.Context, engine, model string, p Priority, texts []string) ([][]float32, error) {
	i := max(slices.IndexFunc(l.Engines, func(s *Scheduler) bool { return s.Called == engine }), 0)
	if len(l.Engines) == 0 || engine != "" && l.Engines[i].Called != engine {
		return nil, &Error{Fault: Unreachable, Engine: cmp.Or(engine, "no engine"), Cure: "name one under executive.llm"}
	}
	s := l.Engines[i]
	e, can := s.Engine.(Embedder)
	if !can {
		return nil, &Error{Fault: Unsupported, Engine: s.Name(), Model: model, Err: errors.New("it makes no vectors"), Cure: "set executive.recall.embedding to a model of an ollama or openai engine"}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(l.Load, DefaultLoad), &Error{Fault: Stalled, Engine: s.Name(), Model: model, Err: errors.New("no vectors came in time"), Cure: "set executive.recall.embedding.model to a smaller model"})
	defer cancel()
	var all [][]float32
	err := s.hold(ctx, p, func(ctx context.Context) (err error) {
		began := time.Now()
		all, err = e.Embed(ctx, model, texts)
		if l.Spent != nil {
			spent := sizeOf(EmbedRequest(model, texts))
			l.Spent(Usage{Engine: s.Called, Priority: p, Origin: Origin{Unasked: p == Memory}, PromptTokens: spent, Estimated: true, Took: time.Since(began)})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := checkVectors(all, len(texts)); err != nil {
		return nil, &Error{Fault: BadAnswer, Engine: s.Name(), Model: model, Err: err, Cure: "set executive.recall.embedding.model to a model for embeddings"}
	}
	return all, nil
}

// EmbedRequest returns a request with some texts, by which an engine recognises its server's repetition
// of one in an error; see [Repeats].
func EmbedRequest(model string, texts []string) *Request {
	req := &Request{Model: model}
	for _, t := range texts {
		req.Messages = append(req.Messages, Message{Role: User, Text: t})
	}
	return req
}

// checkVectors returns what is wrong with a server's vectors for n texts.
func checkVectors(all [][]float32, n int) error {
	if len(all) != n || n > MaxTexts {
		return errVectors
	}
	for _, v := range all {
		if len(v) == 0 || len(v) > MaxDimensions || len(v) != len(all[0]) {
			return fmt.Errorf("sent a vector of %d numbers", len(v))
		}
		if !slices.ContainsFunc(v, func(f float32) bool { return f != 0 }) || slices.ContainsFunc(v, func(f float32) bool { return math.IsInf(float64(f), 0) || f != f }) {
			return errors.New("sent a vector that points nowhere")
		}
	}
	return nil
}

// hold performs a request that is no stream while it has a slot. Parked or given up, it ends with the
// cause of its context.
func (s *Scheduler) hold(ctx context.Context, p Priority, do func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	j := s.enter(p, cancel)
	defer s.leave(j)
	select {
	case <-j.start:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	err := do(ctx)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
