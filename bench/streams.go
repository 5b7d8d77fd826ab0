package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"earshot"
	"earshot/internal/field"
	"earshot/server/client"
	"earshot/server/token"
)

const (
	// followers is how many follow what happens while it is measured what they cost.
	followers = 1000

	// postsBeside is how many messages are posted beside them, and every how often one is: a
	// room in which more is said each second than is told to a thousand in one falls behind.
	postsBeside = 40
	postsEvery  = 200 * time.Millisecond

	// looking is of how many one follower looks when it is told of a message.
	looking = 20

	// toldGoal is the goal in milliseconds: what one does not notice.
	toldGoal = 200
)

// streaming measures what a thousand cost who follow what happens by a token at the port,
// and for whom nothing happens: memory, goroutines and CPU of the real daemon; how long
// somebody else's message takes beside them, which all of them are told; and how long until
// they are. The bare thing is the same daemon, in the same run, when nobody follows, or one.
func streaming(ctx context.Context, b bench) (rows []Row, err error) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		return []Row{{Name: "streams", Note: "not measured: this system has no /proc/self/schedstat"}}, nil
	}
	daemon, err := b.startDaemon(ctx, "streams", "server: {listen: \"127.0.0.1:0\", requests_per_second: 0}\n")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, daemon.stop()) }()
	home := filepath.Join(b.dir, "streams", "earshot")
	f := &following{daemon: daemon, client: &client.Client{Socket: filepath.Join(home, "earshot.sock")}}
	if err := f.find(ctx, filepath.Join(home, "journal", "tokens.json")); err != nil {
		return nil, err
	}
	watch := time.Duration(min(b.rounds, idleRounds)) * 10 * time.Second / idleRounds
	if _, err := f.posts(ctx, postsBeside); err != nil { // the first find everything cold
		return nil, err
	}
	alone, err := f.needs(ctx, watch)
	if err != nil {
		return nil, err
	}
	var ours, bare, last, first []Spread
	var beside need
	for k := range b.repeats {
		quiet, err := f.posts(ctx, postsBeside)
		if err != nil {
			return nil, err
		}
		bare = append(bare, spread(quiet))
		_, one, err := f.beside(ctx, 1, nil)
		if err != nil {
			return nil, err
		}
		first = append(first, spread(one))
		busy, all, err := f.beside(ctx, followers, func() (err error) {
			if k == 0 {
				beside, err = f.needs(ctx, watch)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		ours, last = append(ours, spread(busy)), append(last, spread(all))
	}
	same := func(v float64) Spread { return Spread{v, v, v} }
	note := fmt.Sprintf("%d streams by token at the port, for %v", followers, watch)
	return []Row{
		row("memory of the daemon (RssAnon), with idle streams", "MB", same(beside.anon), same(alone.anon), note+fmt.Sprintf("; %s KB each", number((beside.anon-alone.anon)*1000/followers))),
		row("goroutines of the daemon, with idle streams", "goroutines", same(beside.goroutines), same(alone.goroutines), note),
		row("CPU of the daemon, with idle streams", "% of a core", same(beside.cpu), same(alone.cpu), note),
		row("message posted → kept, beside streams that are told of it", "ms", median(ours), median(bare), fmt.Sprintf("%d messages, one each %v; the streams are read by the bench on the same machine", postsBeside, postsEvery)),
		row("message posted → told to a stream, of a thousand", "ms", median(last), median(first), fmt.Sprintf("the same messages, to one stream of %d; beside a stream alone", looking)).goal("p99", median(last).P99, toldGoal),
	}, nil
}

// beside posts messages while some follow, and returns how long each took until it was
// kept, and until who followed were told. What is to be done while nothing happens is done
// before, if it is set.
func (f *following) beside(ctx context.Context, n int, before func() error) (kept, told []float64, err error) {
	seen := make(chan float64, (n+looking-1)/looking*postsBeside)
	leave, err := f.follow(ctx, n, seen)
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	if before != nil {
		if err := before(); err != nil {
			return nil, nil, err
		}
	}
	if kept, err = f.posts(ctx, postsBeside); err != nil {
		return nil, nil, err
	}
	late := time.After(patience)
	for len(told) < cap(seen) {
		select {
		case d := <-seen:
			told = append(told, d)
		case <-late:
			return nil, nil, fmt.Errorf("%d of %d were not told", cap(seen)-len(told), cap(seen))
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
	return kept, told, nil
}

// A following is a daemon whom many follow.
type following struct {
	daemon process
	client *client.Client
	at     string // the port
	token  field.Secret
}

// A need is what the daemon needs.
type need struct{ anon, goroutines, cpu float64 }

// find finds out where the daemon listens, and makes a token of whose it is.
func (f *following) find(ctx context.Context, tokens string) error {
	is, err := f.client.State(ctx)
	if err != nil {
		return err
	}
	if is.API == "" {
		return errors.New("the daemon does not listen")
	}
	f.at = strings.TrimPrefix(is.API, "http://")
	_, secret, err := (&token.Store{Path: tokens}).Create(is.You.ID, "bench", time.Time{})
	f.token = secret
	return err
}

// needs returns what the daemon needs while nothing happens.
func (f *following) needs(ctx context.Context, long time.Duration) (n need, err error) {
	before, err := f.daemon.busy()
	if err != nil {
		return n, err
	}
	began := time.Now()
	select {
	case <-time.After(long):
	case <-ctx.Done():
		return n, ctx.Err()
	}
	after, err := f.daemon.busy()
	if err != nil {
		return n, err
	}
	n.cpu = 100 * float64(after-before) / float64(time.Since(began))
	if _, n.anon, err = f.daemon.memory(); err != nil {
		return n, err
	}
	answer, err := f.client.Get(ctx, "/metrics")
	if err != nil {
		return n, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return n, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "go_goroutines "); ok {
			n.goroutines, err = strconv.ParseFloat(strings.TrimSpace(value), 64)
			return n, err
		}
	}
	return n, errors.New("the daemon does not say how many goroutines it has")
}

// posts posts messages one after the other, a few a second, and returns how long each took until it was
// kept, in milliseconds.
func (f *following) posts(ctx context.Context, n int) (all []float64, err error) {
	next := time.NewTicker(postsEvery)
	defer next.Stop()
	for range n {
		<-next.C
		began := time.Now()
		if _, err := f.client.Post(ctx, "", "@nobody hello"); err != nil {
			return nil, err
		}
		all = append(all, milliseconds(time.Since(began)))
	}
	return all, nil
}

// follow has many follow what happens from the last message on, until leave is called. It
// returns when each has been told that one. Seen gets, of one in so many, after how many
// milliseconds it was told of each later message.
func (f *following) follow(ctx context.Context, n int, seen chan<- float64) (leave func(), err error) {
	began := time.Now()
	last, err := f.client.History(ctx, nil, 0, 1)
	if err != nil || len(last.Events) == 0 {
		return nil, errors.Join(err, errors.New("nothing has happened"))
	}
	var all []net.Conn
	var reading sync.WaitGroup
	looks, stop := context.WithCancel(ctx)
	leave = func() {
		stop()
		for _, c := range all {
			c.Close()
		}
		reading.Wait()
	}
	after := last.Events[0].Sequence - 1
	ask := fmt.Sprintf("GET /v1/events?after=%d HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", after, f.at, f.token.Reveal())
	for i := range n {
		if i%looking == 0 {
			there := make(chan struct{})
			reading.Go(func() { f.look(looks, after, began, sync.OnceFunc(func() { close(there) }), seen) })
			<-there
			continue
		}
		c, err := new(net.Dialer).DialContext(ctx, "tcp", f.at)
		if err != nil {
			leave()
			return nil, err
		}
		all = append(all, c)
		first := make([]byte, 4096)
		_ = c.SetDeadline(time.Now().Add(patience))
		if _, err = io.WriteString(c, ask); err == nil {
			_, err = c.Read(first)
		}
		if err == nil && !strings.HasPrefix(string(first), "HTTP/1.1 "+strconv.Itoa(http.StatusOK)) {
			err = fmt.Errorf("a stream is answered %.40q", first)
		}
		if err != nil {
			leave()
			return nil, err
		}
		_ = c.SetDeadline(time.Time{})
		reading.Go(func() { _, _ = io.CopyBuffer(io.Discard, struct{ io.Reader }{c}, first) })
	}
	return leave, nil
}

// look follows what happens after a sequence, until ctx ends, and tells when it has been
// told the first of it, and after how many milliseconds it was told of each message that
// was posted after a time. Its ID says when it was.
func (f *following) look(ctx context.Context, sequence int64, after time.Time, there func(), seen chan<- float64) {
	defer there()
	c := &client.Client{URL: "http://" + f.at, Token: f.token}
	for e, err := range c.Events(ctx, sequence) {
		if err != nil {
			return // what is missing is missed
		}
		there()
		if id, err := ulid.Parse(string(e.ID)); err == nil && e.Body.Kind() == earshot.KindMessage && id.Timestamp().After(after) {
			select {
			case seen <- milliseconds(time.Since(id.Timestamp())):
			case <-ctx.Done():
			}
		}
	}
}
