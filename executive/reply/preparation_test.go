package reply_test

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/executive/question"
	"earshot/executive/reply"
	"earshot/llm"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A slowModel says a word after a while, unless it is stopped.
type slowModel struct{}

func (slowModel) Stream(ctx context.Context, _ *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		select {
		case <-time.After(time.Minute):
			if yield(llm.Delta{Text: "yes"}, nil) {
				yield(llm.Delta{Done: new(llm.Done)}, nil)
			}
		case <-ctx.Done():
			yield(llm.Delta{}, context.Cause(ctx))
		}
	}
}

// TestPreparation: of words that sound complete the newest are prepared for, once; words that go on
// give up what was prepared, also while it is being begun; and the turn gets the time for which its
// request was prepared.
func TestPreparation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := reply.NewPreparation[string](slowModel{})
		defer p.Close()
		if p.Note("what", false) {
			t.Error("an answer is prepared for half a sentence")
		}
		if !p.Note("what time is it", true) || !p.Note("what time is it now", true) {
			t.Error("no answer is prepared for a sentence")
		}
		words, change, ok := p.Next()
		if words != "what time is it now" || !ok {
			t.Fatalf("prepared for %q", words)
		}
		if _, _, again := p.Next(); again {
			t.Error("an answer is prepared twice for the same words")
		}
		mic := earshot.Handle{Provider: "microphone", ID: "1"}
		q := question.Question{Aloud: true, Message: earshot.Event{From: mic, At: time.Now().Add(-time.Second)}, AsOf: time.Now()}
		p.Begin(t.Context(), change, q, new(llm.Request))
		synctest.Wait()
		time.Sleep(time.Second)
		if got := p.AsOf(q, time.Now()); !got.Equal(q.AsOf) {
			t.Errorf("the turn is asked as of %v, want %v", got, q.AsOf)
		}
		other := q
		other.Message.From.ID = "2"
		if got := p.AsOf(other, time.Now()); !got.Equal(time.Now()) {
			t.Errorf("another voice is asked as of %v", got)
		}
		p.Note("and tomorrow", true)
		_, old, _ := p.Next()
		p.Note("and tomorrow evening", false) // before the request has begun
		p.Begin(t.Context(), old, q, new(llm.Request))
		if begun, taken := p.Counts(); begun != 2 || taken != 0 {
			t.Errorf("%d answers were prepared, and %d taken over", begun, taken)
		}
	})
}

// TestNoPreparation: without a model nothing is prepared, and nothing fails.
func TestNoPreparation(t *testing.T) {
	p := reply.NewPreparation[string](nil)
	if p.Note("what time is it", true) || p.Model() != nil {
		t.Error("an answer is prepared without a model")
	}
	p.Drop()
	p.Close()
}
