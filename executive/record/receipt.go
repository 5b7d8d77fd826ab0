package record

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"hash"
	"slices"
	"time"

	"earshot"
	"earshot/internal/lockorder"
	"earshot/interrupt"
)

// ErrReceipt is the error of a receipt that nobody has made who has, or had, the room.
var ErrReceipt = errors.New("a receipt that no owner of the room has made")

// A Sealer makes receipts for whoever has a room by a lease, and reads those of the ones before, who have the
// same key. It is safe for concurrent use. Nil makes none.
type Sealer struct {
	fence int64
	mac   func() hash.Hash // by the key
}

// NewSealer returns a sealer by a key and the fence of a lease; nil without a key.
func NewSealer(key []byte, fence int64) *Sealer {
	if len(key) == 0 {
		return nil
	}
	key = slices.Clone(key)
	return &Sealer{fence, func() hash.Hash { return hmac.New(sha256.New, key) }}
}

// A receipt is what stands in one, behind its seal.
type receipt struct {
	Fence int64         `json:"fence"`
	End   earshot.Event `json:"end"` // how the turn ends if the daemon is lost now
}

// Seal returns a receipt of a reply that is being heard: what is to be kept of it if nothing else comes. It is
// nil if that is too long.
func (s *Sealer) Seal(end earshot.Event) []byte {
	body, err := json.Marshal(receipt{s.fence, end})
	if err != nil || sha256.Size+len(body) > earshot.MaxReceipt {
		return nil
	}
	return append(s.seal(body), body...)
}

func (s *Sealer) seal(body []byte) []byte {
	m := s.mac()
	m.Write(body)
	return m.Sum(nil)
}

// Open returns what stands in a receipt, and whether the owner itself has made it. The error is [ErrReceipt].
func (s *Sealer) Open(from []byte) (end earshot.Event, own bool, err error) {
	var r receipt
	if len(from) < sha256.Size || len(from) > earshot.MaxReceipt || !hmac.Equal(from[:sha256.Size], s.seal(from[sha256.Size:])) {
		return end, false, ErrReceipt
	}
	err = json.Unmarshal(from[sha256.Size:], &r)
	if _, is := r.End.Body.(earshot.Reply); err != nil || !is || r.Fence > s.fence {
		return end, false, ErrReceipt
	}
	return r.End, r.Fence == s.fence, nil
}

// Interrupted returns a reply of which some was heard at an outlet, as it is if its daemon is lost now.
func Interrupted(outlet string, heard earshot.Text, now time.Time) earshot.Reply {
	return earshot.Reply{
		Outcome: earshot.Interrupted, Offered: heard, Heard: []earshot.Delivery{{Outlet: outlet, Bytes: len(heard)}}, Unfinished: true,
		Cut: &earshot.Interruption{Signal: interrupt.Shutdown.String(), At: now.Round(time.Microsecond)},
	}
}

// Settle returns how a lost turn ended, as far as is known, with what one more outlet shows: the one that was
// heard the furthest counts, and each is named. The time remains that of known: the clock of the daemon that was
// lost may have been another.
func Settle(known, shown earshot.Event) earshot.Event {
	is, more := known.Body.(earshot.Reply), shown.Body.(earshot.Reply)
	heard := slices.Concat(is.Heard, more.Heard)
	if len(more.Delivered()) > len(is.Delivered()) {
		shown.At = known.At
		if more.Cut != nil {
			cut := *more.Cut
			cut.At, more.Cut = known.At, &cut
		}
		known, is = shown, more
	}
	is.Heard = heard
	known.Body = is
	return known
}

// LostTurns are the turns that were lost with another daemon, until what was heard of them is settled. The zero
// value has none; the methods may be called from many goroutines.
type LostTurns struct {
	mu    lockorder.Mutex[lockorder.Leaf]
	until time.Time       // outlets are waited for
	ends  []earshot.Event // how they end, as far as outlets have shown
}

// receiptWait is how long the outlets that a lost daemon has left may take to come before anything else is
// said: a satellite asks every half second for whoever has its room.
const receiptWait = time.Second

// Add adds the end of a lost turn. Outlets have receiptWait from now on to show that some of it was heard.
func (l *LostTurns) Add(end earshot.Event, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends, l.until = append(l.ends, end), now.Add(receiptWait)
}

// Next returns until when outlets are waited for; zero if they are not, or not any more.
func (l *LostTurns) Next(now time.Time) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ends) == 0 || !now.Before(l.until) {
		return time.Time{}
	}
	return l.until
}

// Hear takes what an outlet shows of a turn, and reports whether that is lost and not settled yet.
func (l *LostTurns) Hear(shown earshot.Event) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	turn := shown.Body.(earshot.Reply).Turn
	i := slices.IndexFunc(l.ends, func(e earshot.Event) bool { return e.Body.(earshot.Reply).Turn == turn })
	if i < 0 {
		return false
	}
	l.ends[i] = Settle(l.ends[i], shown)
	return true
}

// Take returns how the turns ended, once.
func (l *LostTurns) Take() (ends []earshot.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ends, l.ends = l.ends, nil
	return ends
}
