package server

import (
	"context"
	"maps"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"earshot/server/wire"
)

const (
	// socketRate is how many requests a second a participant may make at the socket, where all
	// share the user's own account: more than any well-meant script needs.
	socketRate = 1000

	// breath is how many seconds' worth of requests may come at once.
	breath = 2

	// counted is how many people or addresses have their requests counted at a time.
	counted = 1024
)

// tooMany is the fault of a client that sends too many requests, and may try again after a while.
func tooMany(after time.Duration, problem string) error {
	seconds := strconv.Itoa(int(math.Ceil(max(after, time.Second).Seconds())))
	return &headedFault{&fault{http.StatusTooManyRequests, &wire.Refusal{Problem: problem, Mend: "ask again after " + seconds + " s"}}, "Retry-After", seconds}
}

// rates limits the requests of each client. The zero value has no limit.
type rates struct {
	each  rate.Limit
	parts func() int // how many share it; nil for one

	mu  sync.Mutex
	all map[string]*rate.Limiter
}

func newRates(perSecond float64) *rates {
	return &rates{each: rate.Limit(perSecond), all: make(map[string]*rate.Limiter)}
}

// take counts a request of a client at now, and returns an error if it is one too many.
func (r *rates) take(who string, now time.Time) error {
	if r.each == 0 {
		return nil
	}
	each := r.each
	if r.parts != nil {
		each /= rate.Limit(max(1, r.parts()))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	l, known := r.all[who]
	if !known {
		sweep(r.all, func(l *rate.Limiter) bool { return l.TokensAt(now) >= float64(l.Burst()) })
		l = rate.NewLimiter(each, max(1, int(breath*each)))
		r.all[who] = l
	} else if l.Limit() != each {
		l.SetLimitAt(now, each)
		l.SetBurstAt(now, max(1, int(breath*each)))
	}
	if l.AllowN(now, 1) {
		return nil
	}
	missing := 1 - l.TokensAt(now)
	return tooMany(time.Duration(missing/float64(each)*float64(time.Second)), "too many requests; server.requests_per_second sets the limit")
}

// sweep makes room in all if there are too many: it removes the stale ones and,
// if that is not enough, all of them.
func sweep[V any](all map[string]V, stale func(V) bool) {
	if len(all) < counted {
		return
	}
	maps.DeleteFunc(all, func(_ string, v V) bool { return stale(v) })
	if len(all) >= counted {
		clear(all)
	}
}

const (
	// slips is how many wrong tokens from one address are answered without a delay: people mistype.
	slips = 5

	// tries is how many wrong tokens an address may send before further ones are refused for a
	// while.
	tries = 20

	// forgiven is the time after which one wrong token is forgotten.
	forgiven = 30 * time.Second

	// longestWait is the longest delay of an answer.
	longestWait = 2 * time.Second

	// waiting is how many delayed answers may wait at once.
	waiting = 32
)

// tokenFailures counts the wrong tokens from each address. A valid token is always accepted: on
// one machine all clients have the same address, and one that guesses must not lock out the
// others.
type tokenFailures struct {
	places chan struct{} // holds one for each delayed answer

	mu  sync.Mutex
	all map[string]tokenFailure
}

// A tokenFailure counts the wrong tokens from an address, less the forgotten ones.
type tokenFailure struct {
	wrong float64
	at    time.Time
}

func newKnocks() *tokenFailures {
	return &tokenFailures{places: make(chan struct{}, waiting), all: make(map[string]tokenFailure)}
}

// wrong counts a wrong token at now. It returns how long to delay the answer, or an error if the
// address has sent too many.
func (k *tokenFailures) wrong(from string, now time.Time) (time.Duration, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	is, known := k.all[from]
	if !known {
		sweep(k.all, func(was tokenFailure) bool { return was.left(now) == 0 })
	}
	n := is.left(now) + 1
	if n > tries {
		k.all[from] = tokenFailure{tries, now} // forgetting starts now
		return 0, tooMany(forgiven, "too many wrong tokens came from this address")
	}
	k.all[from] = tokenFailure{n, now}
	if n <= slips {
		return 0, nil
	}
	return min(longestWait, 100*time.Millisecond<<int(n-slips-1)), nil
}

// wait returns after the delay; its error says that too many wait already, or that ctx ended.
func (k *tokenFailures) wait(ctx context.Context, late time.Duration, err error) error {
	if late <= 0 {
		return err
	}
	select {
	case k.places <- struct{}{}:
	default:
		return tooMany(longestWait, "too many wrong tokens came at once")
	}
	defer func() { <-k.places }()
	select {
	case <-time.After(late):
	case <-ctx.Done():
	}
	return err
}

// left returns how many are not forgotten at now.
func (k tokenFailure) left(now time.Time) float64 {
	return max(0, k.wrong-now.Sub(k.at).Seconds()/forgiven.Seconds())
}
