package room

import (
	"context"
	"sync/atomic"

	"earshot"
	"earshot/executive/prompt"
	"earshot/executive/question"
	"earshot/executive/record"
)

// takeReceipt takes what an outlet shows that comes here.
func (r *Room) takeReceipt(o earshot.Outlet) {
	h, ok := o.(earshot.ReceiptHolder)
	if !ok || r.cfg.Sealer == nil {
		return
	}
	if had := h.TakeReceipt(); len(had) > 0 {
		shown, own, err := r.cfg.Sealer.Open(had)
		if err != nil || !own && !r.lost.Hear(shown) {
			r.cfg.Log.Warn("what an outlet says was heard of a reply does not count", "outlet", o.Name(), "forged", err != nil)
			r.dropping("receipts", 1)
		}
	}
}

// settleLost puts on record what was heard of the lost turns.
func (r *Room) settleLost(ctx context.Context) {
	ends := r.lost.Take()
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
		return r.cfg.Sealer.Seal(r.end(as, record.Interrupted(outlet, heard, r.cfg.Now())))
	}
}
