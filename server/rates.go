package server

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"earshot/api"
)

const (
	// socketRate is how many requests a second somebody may make at the socket, where
	// everybody is of the user's own account: more than any script of good will.
	socketRate = 1000

	// breath is for how many seconds of it one may ask at once.
	breath = 2

	// counted is of how many, people or addresses, it is remembered how much they ask.
	counted = 1024
)

// A busy is the fault of somebody who asks too much.
type busy struct {
	fault
	after time.Duration // when to ask again
}

// tooMany is the fault of somebody who may ask again after a while.
func tooMany(after time.Duration, problem string) error {
	after = max(after, time.Second)
	return &busy{fault{http.StatusTooManyRequests, &api.Refusal{Problem: problem, Mend: "ask again after " + strconv.Itoa(seconds(after)) + " s"}}, after}
}

// seconds returns d in whole seconds, rounded up.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// rates count how much is asked by each of some. The zero rate lets everything pass.
type rates struct {
	each rate.Limit

	mu  sync.Mutex
	all map[string]*rate.Limiter
}

func newRates(perSecond float64) *rates {
	return &rates{each: rate.Limit(perSecond), all: make(map[string]*rate.Limiter)}
}

// take counts a request of somebody at now, and reports why it is one too many.
func (r *rates) take(who string, now time.Time) error {
	if r.each == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	l, known := r.all[who]
	if !known {
		r.sweep(now)
		l = rate.NewLimiter(r.each, max(1, int(breath*r.each)))
		r.all[who] = l
	}
	if l.AllowN(now, 1) {
		return nil
	}
	missing := 1 - l.TokensAt(now)
	return tooMany(time.Duration(missing/float64(r.each)*float64(time.Second)), "too many requests; server.requests_per_second sets the limit")
}

// sweep forgets those who have not asked for long, when there are too many to remember,
// and if they all have asked just now, all of them.
func (r *rates) sweep(now time.Time) {
	if len(r.all) < counted {
		return
	}
	for who, l := range r.all {
		if l.TokensAt(now) >= float64(l.Burst()) {
			delete(r.all, who)
		}
	}
	if len(r.all) >= counted {
		clear(r.all)
	}
}

const (
	// slips is how many wrong tokens from one address are answered at once: people mistype.
	slips = 5

	// tries is how many wrong tokens an address may show before no more are looked at for a
	// while.
	tries = 20

	// forgiven is in what time one wrong token is forgotten.
	forgiven = 30 * time.Second

	// longestWait is how long an answer is put off at most.
	longestWait = 2 * time.Second

	// waiting is how many may wait for such an answer at once.
	waiting = 32
)

// tokenFailures count the wrong tokens that come from each address. A good token is always let
// in: on one machine all have the same address, and whoever guesses must not keep out
// those who need not guess.
type tokenFailures struct {
	places chan struct{} // holds one for each who waits

	mu  sync.Mutex
	all map[string]tokenFailure
}

// A tokenFailure is how many wrong tokens came from an address, less those that are forgotten.
type tokenFailure struct {
	wrong float64
	at    time.Time
}

func newKnocks() *tokenFailures {
	return &tokenFailures{places: make(chan struct{}, waiting), all: make(map[string]tokenFailure)}
}

// wrong counts a wrong token at now, and returns how long its answer is put off, or why
// there is none.
func (k *tokenFailures) wrong(from string, now time.Time) (time.Duration, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	is, known := k.all[from]
	if !known && len(k.all) >= counted {
		for other, was := range k.all {
			if was.left(now) == 0 {
				delete(k.all, other)
			}
		}
		if len(k.all) >= counted {
			clear(k.all)
		}
	}
	n := is.left(now) + 1
	if n > tries {
		k.all[from] = tokenFailure{tries, now} // it is forgotten from now on
		return 0, tooMany(forgiven, "too many wrong tokens came from this address")
	}
	k.all[from] = tokenFailure{n, now}
	if n <= slips {
		return 0, nil
	}
	return min(longestWait, 100*time.Millisecond<<int(n-slips-1)), nil
}

// wait returns an error after a while, if not too many wait already.
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
