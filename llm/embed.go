package llm

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"
)

// The bounds of a request for vectors; all together are below [MaxLine].
const MaxTexts, MaxDimensions = 8, 4096

var errVectors = errors.New("did not send one vector for each text, all of one length, each pointing somewhere")

// An Embedder turns texts into vectors, which are close together for texts that mean about the same. It
// is optional; callers test for it.
type Embedder interface {
	// Embed returns a vector for each of at most [MaxTexts] texts; an empty name means the engine's own
	// model. It takes as long as ctx allows. The error is an [*Error].
	Embed(ctx context.Context, model string, texts []string) ([][]float32, error)
}

// Embed has one engine, the first if none is named, turn texts into vectors. No other is asked: the
// vectors of two models cannot be compared. It may end as [ErrParked], and as [Stalled] after [Ladder.Load].
func (l *Ladder) Embed(ctx context.Context, engine, model string, p Priority, texts []string) (all [][]float32, err error) {
	s, e := new(Scheduler), Embedder(nil)
	if i := slices.IndexFunc(l.Engines, func(s *Scheduler) bool { return engine == "" || s.Called == engine }); i >= 0 {
		s = l.Engines[i]
		e, _ = s.engine(nil).(Embedder)
	}
	if e == nil {
		return nil, &Error{Fault: Unsupported, Engine: cmp.Or(engine, "the first engine"), Model: model, Err: errors.New("it makes no vectors"), Cure: "set executive.recall.embedding to a model of an ollama or openai engine"}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(l.Load, DefaultLoad), &Error{Fault: Stalled, Engine: s.Name(), Model: model, Err: errors.New("no vectors came in time"), Cure: "set executive.recall.embedding.model to a smaller model"})
	defer cancel()
	err = s.hold(ctx, p, func(ctx context.Context, e Engine) (err error) {
		began := time.Now()
		all, err = e.(Embedder).Embed(ctx, model, texts)
		if l.Spent != nil {
			spent := sizeOf(EmbedRequest(model, texts))
			l.Spent(Usage{Engine: s.Called, Priority: p, Origin: Origin{Unasked: p == Memory}, PromptTokens: spent, Estimated: true, Took: time.Since(began)})
		}
		return err
	})
	if err == nil && !areVectors(all, len(texts)) {
		err = &Error{Fault: BadAnswer, Engine: s.Name(), Model: model, Err: errVectors, Cure: "set executive.recall.embedding.model to a model for embeddings"}
	}
	return all, err
}

// EmbedRequest returns a request with some texts, for [Repeats].
func EmbedRequest(model string, texts []string) *Request {
	req := &Request{Model: model}
	for _, t := range texts {
		req.Messages = append(req.Messages, Message{Role: User, Text: t})
	}
	return req
}

// areVectors reports whether a server's answer is vectors for n texts.
func areVectors(all [][]float32, n int) bool {
	wrong := func(v []float32) bool {
		size := 0.0
		for _, f := range v {
			size += float64(f) * float64(f)
		}
		return len(v) > MaxDimensions || len(v) != len(all[0]) || !(size > 0) || math.IsInf(size, 0)
	}
	return len(all) == n && n <= MaxTexts && !slices.ContainsFunc(all, wrong)
}

// hold performs a request that is no stream while it has a slot.
func (s *Scheduler) hold(ctx context.Context, p Priority, do func(context.Context, Engine) error) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	j := &job{priority: p, cancel: cancel}
	s.enter(j)
	defer func() { s.leave(j, err) }()
	select {
	case <-j.start:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	err = do(ctx, s.engine(j.host))
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
