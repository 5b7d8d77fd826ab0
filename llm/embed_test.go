package llm_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"earshot/llm"
	"earshot/llm/llmtest"
)

// An embedder answers with some vectors, after a time.
type embedder struct {
	llmtest.Script
	all  [][]float32
	took time.Duration
}

func (e *embedder) Embed(ctx context.Context, _ string, _ []string) ([][]float32, error) {
	select {
	case <-time.After(e.took):
		return e.all, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// TestEmbed: vectors are refused unless there is one for each text, all of one length, and each points
// somewhere; an engine that makes none, or that nobody knows, is not replaced by another.
func TestEmbed(t *testing.T) {
	long := make([]float32, llm.MaxDimensions+1)
	long[0] = 1
	for _, tt := range []struct {
		engine string
		all    [][]float32
		want   llm.Fault
	}{
		{"", [][]float32{{1, 0}, {0, 1}}, ""},
		{"made", [][]float32{{1, 0}, {0, 1}}, ""},
		{"", [][]float32{{1, 0}}, llm.BadAnswer},
		{"", [][]float32{{1, 0}, {0, 1}, {1, 1}}, llm.BadAnswer},
		{"", [][]float32{{1, 0}, {1}}, llm.BadAnswer},
		{"", [][]float32{{1, 0}, nil}, llm.BadAnswer},
		{"", [][]float32{{1, 0}, {0, 0}}, llm.BadAnswer},
		{"", [][]float32{{1, 0}, {0, float32(math.Inf(1))}}, llm.BadAnswer},
		{"", [][]float32{{1, 0}, {float32(math.NaN()), 1}}, llm.BadAnswer},
		{"", [][]float32{long, long}, llm.BadAnswer},
		{"script", nil, llm.Unsupported},
		{"nobody", nil, llm.Unsupported},
	} {
		var spent []llm.Usage
		l := &llm.Ladder{
			Engines: []*llm.Scheduler{{Engine: &embedder{all: tt.all}, Called: "made"}, {Engine: &llmtest.Script{Label: "it", Reply: "yes"}, Called: "script"}},
			Spent:   func(u llm.Usage) { spent = append(spent, u) },
		}
		all, err := l.Embed(t.Context(), tt.engine, "m", llm.Memory, []string{"four token text", "x"})
		f, _ := errors.AsType[*llm.Error](err)
		if tt.want == "" && (err != nil || len(all) != 2 || len(spent) != 1 || spent[0].PromptTokens == 0 || !spent[0].Origin.Unasked) || tt.want != "" && (f == nil || f.Fault != tt.want || f.Cure == "") {
			t.Errorf("%s %v: %v, %v, %+v", tt.engine, tt.all, all, err, spent)
		}
	}
}

// TestEmbedIsParked: vectors that nobody waits for make room for a reply, and wait behind one; an engine
// that never sends any is given up.
func TestEmbedIsParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &embedder{Script: llmtest.Script{Reply: "one", Every: time.Second}, all: [][]float32{{1}}, took: time.Hour}
		s := &llm.Scheduler{Engine: e}
		l := &llm.Ladder{Engines: []*llm.Scheduler{s}}
		ended := make(chan error, 1)
		go func() {
			_, err := l.Embed(t.Context(), "", "", llm.Memory, []string{"x"})
			ended <- err
		}()
		synctest.Wait()
		began := time.Now()
		for _, err := range s.Stream(t.Context(), &llm.Request{Priority: llm.ReplyToPerson}) {
			if err != nil {
				t.Error(err)
			}
			e.took = 0
		}
		if err := <-ended; !errors.Is(err, llm.ErrParked) || time.Since(began) > 5*time.Second {
			t.Errorf("%v, after %v", err, time.Since(began))
		}
		if _, err := l.Embed(t.Context(), "", "", llm.Memory, []string{"x"}); err != nil {
			t.Error(err)
		}
		e.took = time.Hour
		_, err := l.Embed(t.Context(), "", "", llm.Memory, []string{"x"})
		if f, ok := errors.AsType[*llm.Error](err); !ok || f.Fault != llm.Stalled || s.Load() != (llm.Load{}) {
			t.Errorf("an engine that never answers: %v, load %+v", err, s.Load())
		}
	})
}
