package room

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/chain"
	"earshot/executive/delivery"
	"earshot/executive/dialogue"
	"earshot/executive/generation"
	"earshot/executive/latency"
	"earshot/executive/midturn"
	"earshot/executive/question"
	"earshot/executive/record"
	"earshot/executive/seat"
	"earshot/executive/turn"
	"earshot/executive/unasked"
	"earshot/interrupt"
	"earshot/llm"
)

// A turnResult says how a turn ended.
type turnResult struct {
	chain.Result
	set   executive.Config // with which it began
	began time.Time
	err   error
}

// next begins a turn if a question waits and the floor is free.
func (r *Room) next(ctx context.Context, turns *sync.WaitGroup) {
	r.syncSeats()
	r.chain.HandOverOverdue(ctx)
	r.askUnanswered(ctx)
	r.recheckQuestion(ctx)
	r.startLooks(ctx) // even while somebody speaks: afterwards is too late
	for ctx.Err() == nil {
		since := r.floor.Ticket() // before choosing who may speak, so that nobody who cuts in from now on is overlooked
		if r.live.busy() || !r.lost.Next(r.cfg.Now()).IsZero() {
			break
		}
		q, ok := r.choose(ctx, since)
		if ok || len(r.unanswered.messages) == 0 { // while somebody is waited for, what they have read at may come, too
			r.settleLost(ctx)
		}
		if !ok {
			break
		}
		r.begin(ctx, q, turns)
		r.wait(r.pending)
	}
	if move := r.notices.Outlets.Move(); move != nil {
		turns.Go(move)
	}
	r.keep(ctx)
	r.caption(ctx)
}

// choose takes the next question to answer from those that wait. A notice that everybody must hear
// goes first, then what people asked, then reminders, then greetings, then findings, then what
// agents asked. The conversation in which somebody has waited longest precedes the others; among
// its questions to several agents, the most urgent goes first, and of equals the newest, because
// the talk has moved on. The question counts as waiting until its turn is live, or will not be. A
// cut after since cuts its turn.
func (r *Room) choose(ctx context.Context, since interrupt.Ticket) (q question.Question, ok bool) {
	if q, ok := r.chooseUnasked(ctx, since, (*unasked.Tracker).NextNotice); ok {
		return q, true
	}
	if !slices.ContainsFunc(r.pending, func(q question.Question) bool { return !q.Chain }) {
		if q, ok := r.chooseUnasked(ctx, since, (*unasked.Tracker).Next); ok {
			return q, true
		}
	}
	if len(r.pending) == 0 {
		return q, false
	}
	best := r.pending.Next()
	q = r.pending[best]
	if r.cutWordsPending(q) || r.entries.ChangesSoon(q.Message.ID) || q.Look.Pending() {
		return q, false
	}
	r.pending = slices.Delete(r.pending, best, best+1)
	if q.FromPerson() {
		q.Ticket = r.floor.Renew(q.Ticket, since) // the speaker was cut, not the one who waits
	}
	return q, true
}

// cutWordsPending reports whether somebody has cut since q was asked whose words are on their way,
// or still being said. They may be answered in its place; if not, q may still be answered.
func (r *Room) cutWordsPending(q question.Question) bool {
	cut := r.floor.Since(q.Ticket)
	if cut == nil {
		return false
	}
	if q.FromPerson() && r.activity.Says(cut.From, r.cfg.Now()) {
		return true
	}
	return r.entries.Len() > 0
}

// begin begins the turn of q, or ends it if it cannot begin.
func (r *Room) begin(ctx context.Context, q question.Question, turns *sync.WaitGroup) {
	if cut := r.floor.Since(q.Ticket); cut != nil && !q.Protected() { // before it began, so the model need not be asked
		if q.FromPerson() && cut.Kind != interrupt.Command && cut.Kind != interrupt.Shutdown {
			r.pending = slices.Insert(r.pending, 0, q) // the words of the cut are on their way
			return
		}
		reply := earshot.Reply{
			Outcome: earshot.Interrupted, Cut: &earshot.Interruption{By: cut.By, Signal: cut.Kind.String(), At: cut.At},
		}
		r.records.unsaved.Add(r.end(q, reply))
		r.saidUnasked(q, reply)
		return
	}
	if r.chain.Excessive(ctx, q) {
		return
	}
	set := r.set
	places := r.outlets(q)
	if len(places) == 0 && q.Message.Visibility.Scope == earshot.Private {
		r.notices.Tell(q.Message.Via, earshot.Notice{Text: "I cannot answer that in private here: others can read this, too"})
		r.giveUp(q)
		return
	}
	if (q.Candidate == nil || q.Words == "") && !r.ensureAwake(ctx, q.Seat) {
		r.records.unsaved.Add(r.end(q, earshot.Reply{Outcome: earshot.Failed, Fault: "the earlier conversation cannot be read"}))
		return
	}
	if q.ToRoom {
		q.Seat.History.Overhear(q.Message, r.scene.For(r.listeners(q)).Edits())
	}
	r.speech.StopListening()
	q.AsOf = r.preparation.AsOf(q, r.cfg.Now())
	q.Begins(r.cfg.Now, r.changes.Notify)
	spec := r.spec(q)
	q.Progress = midturn.NewProgress(record.Words(q.Message.Body), r.cfg.Now())
	var asked *generation.Request
	spec.Text, asked = r.reply.Words(set, &q, slices.ContainsFunc(places, (*delivery.Outlet).Audible))
	if asked == nil {
		q.Progress = nil // it ends at once
	}
	q.Trace.SetVisibility(q.Rests.Visibility)
	spec.Tracker = &q.Trace.Tracker
	if late := set.Speech.FillerAfter.Duration(); late > 0 && asked != nil && q.FromPerson() && slices.ContainsFunc(places, (*delivery.Outlet).Audible) {
		spec.Filler = turn.NewFiller(q.Turn, r.speech.Listener.End(q.Message).Add(late).Sub(r.cfg.Now()), q.Progress.Quiet)
	}
	spec.Outlets = r.notices.Outlets.BeginTurn(places, q.Rests.Visibility, r.receipts(&q), sync.OnceFunc(func() { r.speech.Listener.Heard(q.Message) }))
	ctx, end := context.WithCancel(ctx)
	r.live.set(&activeTurn{Question: q, end: end}, len(r.pending))
	r.cfg.Log.Debug("turn begins", "turn", q.Turn, "agent", q.Seat.ID, "outlets", len(places), "model", asked != nil)
	began := r.cfg.Now()
	turns.Go(func() {
		defer end()
		reply, err := turn.Run(ctx, spec)
		reply.Reflex = asked == nil
		reply.Truncated = asked != nil && asked.Truncated
		reply.Heard = r.notices.Outlets.Places(reply.Heard)
		r.live.results <- turnResult{chain.Result{Question: q, Reply: reply, Generation: asked}, set, began, err}
	})
}

// spec returns the specification of the turn of q.
func (r *Room) spec(q question.Question) turn.Spec {
	return turn.Spec{
		Opening: earshot.Opening{
			Turn: q.Turn, About: q.About(), Root: q.Origin(), Name: q.Seat.Name,
			To: r.cfg.People.Current(q.Whom()), Private: q.Message.Visibility.Scope == earshot.Private,
			Protected: q.Protected(),
		},
		Floor: r.floor, Since: q.Ticket, Ahead: r.set.Streaming.BufferSize,
		Whole: !r.set.Streaming.DisplayPartial, Drain: drain,
		Lost: func(outlet string, err error) {
			r.cfg.Log.Warn("an outlet failed; the turn goes on without it", "outlet", outlet, "turn", q.Turn, "err", err)
		},
	}
}

// conclude records the truth about a turn.
func (r *Room) conclude(ctx context.Context, e turnResult) {
	r.live.set(nil, len(r.pending))
	l := e.Question.Latency(e.Reply, r.cfg.Now()) // before the following takes its time
	if !e.set.Interruption.SavePartial {
		e.Reply.Offered = e.Reply.Delivered()
	}
	if r.speech.Premature(&e.Question, e.Reply) {
		e.Reply = earshot.Reply{Outcome: earshot.Suppressed, Turn: e.Reply.Turn, About: e.Reply.About, Reflex: e.Reply.Reflex}
	}
	if e.Reply.Handover = e.Handover(); e.Reply.Handover != nil {
		e.Reply.Reflex = true
	}
	if e.err != nil && e.Reply.Outcome == earshot.Failed {
		e.Reply.Fault = generation.FaultKind(e.err)
	}
	r.cutOff(&e)
	e.Reply.Took = max(r.cfg.Now().Sub(e.began), 0)
	done := r.end(e.Question, e.Reply)
	done.At = e.began
	calls := r.chain.Targets(&e.Result, &done)
	n, news := r.health(e)
	if news { // first, because somebody who waits for the reply may leave when it has ended
		told := r.event(earshot.Visibility{Scope: earshot.System}, n)
		if done.Visibility.Scope != earshot.Private {
			told.Sources = done.Sources // a server's text may quote what it was asked
		}
		r.records.unsaved.Add(told)
	}
	r.records.unsaved.Add(done)
	l.Outcome = e.Reply.Outcome
	r.recordLatency(latency.Record{Latency: l, Whom: e.Question.Whom(), Visibility: done.Visibility})
	r.saidUnasked(e.Question, e.Reply)
	if e.Reply.Delivered() != "" {
		r.unasked.Spoken()
	}
	if e.Generation != nil {
		e.Question.Seat.ForeignNames += e.Generation.Filter.Envelopes.Foreign
		if e.Generation.Halved {
			r.notices.ReportOnce(earshot.Notice{
				Key: "context", Text: "the dialogue is too long for the model, so its older half was left out",
				Cure: "choose a model with a larger context, or enlarge it (for Ollama: OLLAMA_CONTEXT_LENGTH)",
			})
		}
	}
	r.speech.NoteReply(&e.Question, e.Reply)
	e.Question.Seat.History.Spoke(done)
	if e.err != nil {
		level := slog.LevelWarn
		if n.Key != "" && !news {
			level = slog.LevelDebug // it is an outage that was already reported
		}
		r.cfg.Log.Log(ctx, level, "the turn failed", "turn", e.Reply.Turn, "why", generation.FaultKind(e.err))
	}
	r.cfg.Log.Info("turn ended", "turn", e.Reply.Turn, "outcome", string(e.Reply.Outcome),
		"offered", len(e.Reply.Offered), "delivered", len(e.Reply.Delivered()), "took", r.cfg.Now().Sub(e.began))
	if slices.ContainsFunc(r.keep(ctx), func(kept earshot.Event) bool { return kept.ID == done.ID && kept.Body.Kind() == earshot.KindReply }) {
		r.notices.Outlets.DropReceipts()
		r.chain.Follow(ctx, &e.Result, done, calls)
	}
}

// A reply that was cut off can be resumed, whatever is answered in between, until it has been, or
// another reply of the same conversation is cut off, or it is forgotten, or it grows old. All of
// that follows from the replies on record, so it is the same after a restart.

// cutOff notes in a reply that has ended whether it can be resumed, and which one it has resumed.
func (r *Room) cutOff(e *turnResult) {
	reply := &e.Reply
	reply.Resumes = e.Question.Resumes.ID
	if reply.Reflex && reply.Resumes == "" || reply.Offered == "" {
		return // a reflex answers again instead
	}
	if reply.Outcome == earshot.Interrupted {
		cut, _ := e.Question.Resumes.Body.(earshot.Reply)
		reply.Unfinished = reply.Unfinished || reply.Truncated || reply.Reflex && cut.Unfinished
	}
	if within := e.set.Interruption.ResumeWithin.Duration(); within > 0 && dialogue.Unfinished(*reply) {
		reply.Resumable = r.cfg.Now().Add(within).Round(time.Microsecond)
	}
}

// recordLatency records how long a turn took.
func (r *Room) recordLatency(t latency.Record) {
	r.live.mu.Lock()
	r.live.latencies.Add(t)
	r.live.mu.Unlock()
	r.changes.Notify()
	if r.cfg.Took != nil {
		r.cfg.Took(t.Latency)
	}
}

// health returns the notice that follows from how a turn ended, if it is due at once: that the
// model fails, the first time. A recovery is reported by announceRecoveries.
func (r *Room) health(e turnResult) (earshot.Notice, bool) {
	model := r.modelOf(e.Question.Seat)
	switch {
	case errors.Is(e.err, llm.ErrParked): // it was busy, and is well
	case e.err != nil && e.Generation != nil && !errors.Is(e.err, turn.ErrUnheard):
		n := generation.FaultNotice(e.err)
		n.Key = model
		known := n
		known.Text = generation.FaultKind(e.err) // a server's text may quote what it was asked, and that may be forgotten
		if e.Question.Rests.Visibility.Scope == earshot.Private {
			n = known // everybody is told
		}
		return n, r.notices.Faults.Change(r.cfg.Now(), known)
	case e.err == nil && e.Generation != nil && e.Reply.Offered != "" && r.notices.Faults.Has(model):
		n := earshot.Notice{Key: model, Text: "the " + model + " answers again", Over: true}
		return n, r.notices.Faults.Change(r.cfg.Now(), n)
	}
	return earshot.Notice{}, false
}

// announceRecoveries reports what is back. For a model that is kept, too, as its failure was.
func (r *Room) announceRecoveries(ctx context.Context) {
	for _, n := range r.notices.Faults.Steady(r.cfg.Now()) {
		if strings.HasPrefix(n.Key, generation.FaultKey) {
			r.records.unsaved.Add(r.event(earshot.Visibility{Scope: earshot.System}, n))
			continue
		}
		r.notices.Warn(n)
	}
	r.keep(ctx)
}

// modelWorks reports whether an agent has a model that did not fail last time.
func (r *Room) modelWorks(s *seat.Seat) bool {
	return r.cfg.Model != nil && !r.notices.Faults.Has(r.modelOf(s))
}

// modelOf returns the key of faults of an agent's model. An agent that uses the main agent's model
// shares its key.
func (r *Room) modelOf(s *seat.Seat) string {
	engine, model := s.EngineAndModel(r.set)
	if mainEngine, mainModel := r.seats[0].EngineAndModel(r.set); engine == mainEngine && model == mainModel {
		return generation.FaultKey
	}
	return generation.FaultKey + " of " + s.Name
}
