package room

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/executive/prompt"
	"earshot/executive/question"
	"earshot/executive/record"
	"earshot/internal/lockorder"
	"earshot/interrupt"
)

// receiptWait is how long the outlets that a lost daemon has left may take to come here before anything else is
// said: a satellite asks every half second for whoever has its room.
const receiptWait = time.Second

// lostTurns are the turns that were lost with another daemon, until what was heard of them is settled, before
// anything is said here.
type lostTurns struct {
	mu    lockorder.Mutex[lockorder.Leaf]
	until time.Time       // outlets are waited for
	ends  []earshot.Event // how they end, as far as outlets have shown
}

// next returns until when outlets are waited for; zero if they are not, or not any more.
func (l *lostTurns) next(now time.Time) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ends) == 0 || !now.Before(l.until) {
		return time.Time{}
	}
	return l.until
}

// hear takes what an outlet shows of a turn, and reports whether that is lost and not settled yet.
func (l *lostTurns) hear(shown earshot.Event) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	turn := shown.Body.(earshot.Reply).Turn
	i := slices.IndexFunc(l.ends, func(e earshot.Event) bool { return e.Body.(earshot.Reply).Turn == turn })
	if i < 0 {
		return false
	}
	l.ends[i] = record.Settle(l.ends[i], shown)
	return true
}

// takeReceipt takes what an outlet shows that comes here.
func (r *Room) takeReceipt(o earshot.Outlet) {
	h, ok := o.(earshot.ReceiptHolder)
	if !ok || r.cfg.Sealer == nil {
		return
	}
	if had := h.TakeReceipt(); len(had) > 0 {
		shown, own, err := r.cfg.Sealer.Open(had)
		if err != nil || !own && !r.lost.hear(shown) {
			r.cfg.Log.Warn("what an outlet says was heard of a reply does not count", "outlet", o.Name(), "forged", err != nil)
			r.dropping("receipts", 1)
		}
	}
}

// settleLost puts on record what was heard of the lost turns.
func (r *Room) settleLost(ctx context.Context) {
	r.lost.mu.Lock()
	ends := r.lost.ends
	r.lost.ends = nil
	r.lost.mu.Unlock()
	for _, e := range ends {
		if s := r.seatOf(e.Author); s != nil {
			s.History.Spoke(e)
		}
		r.records.unsaved.Add(e)
	}
	if len(ends) > 0 {
		r.keep(ctx)
	}
}

// receipts returns what makes receipts of the turn of q, which is about to begin; nil if nobody could read them.
func (r *Room) receipts(q *question.Question) func(outlet string, heard earshot.Text) []byte {
	if r.cfg.Sealer == nil {
		return nil
	}
	var rests atomic.Pointer[prompt.Provenance] // which grows on another goroutine
	q.Rested = func(p prompt.Provenance) { rests.Store(&p) }
	q.Rested(q.Rests)
	as := *q
	return func(outlet string, heard earshot.Text) []byte {
		as := as
		as.Rests = *rests.Load()
		return r.cfg.Sealer.Seal(r.end(as, earshot.Reply{
			Outcome: earshot.Interrupted, Offered: heard, Heard: []earshot.Delivery{{Outlet: outlet, Bytes: len(heard)}}, Unfinished: true,
			Cut: &earshot.Interruption{Signal: interrupt.Shutdown.String(), At: r.cfg.Now().Round(time.Microsecond)},
		}))
	}
}
