package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"earshot/bus"
	"earshot/internal/mailbox"
)

// A Conn is a connection to NATS. It implements [bus.Bus], and must be closed.
type Conn struct {
	cfg            Config
	control, sound *lane
	end            context.CancelFunc // of dialling, and of what it has dialled
	parts          sync.WaitGroup
	change         mailbox.Notifier

	mu       sync.Mutex
	closed   bool
	problems map[string]bool // those that were told; nil until it was connected
}

// A lane is one of the connections.
type lane struct {
	nc   *nats.Conn
	up   atomic.Bool
	out  *mailbox.Queue[*nats.Msg]
	conn *Conn
}

// Connect connects to one of the servers. If it cannot, the error says what to do; whoever wants to go
// on calls it again later. Once connected, a Conn stays so, or tries to be again until it is closed.
func Connect(ctx context.Context, cfg Config) (*Conn, error) {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	connecting := context.AfterFunc(ctx, end)
	c := &Conn{cfg: cfg, end: end}
	c.control, c.sound = newLane(c), newLane(c)
	err := c.control.connect(life)
	if err == nil {
		err = c.sound.connect(life)
	}
	if !connecting() && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = make(map[string]bool)
	return c, nil
}

func newLane(c *Conn) *lane {
	return &lane{conn: c, out: mailbox.New(bus.Bound(func(m *nats.Msg) int { return overhead + len(m.Subject) + len(m.Data) }))}
}

// connect connects the lane. The connection ends with life at the latest.
func (l *lane) connect(life context.Context) error {
	c := l.conn
	o, err := c.cfg.options(life, c.problem)
	if err != nil {
		return err
	}
	o.DisconnectedErrCB = func(*nats.Conn, error) {
		l.set(false)
		c.problem(fmt.Errorf("the connection to %s is lost; it is tried again until it is there", c.cfg.where()))
	}
	o.ReconnectedCB = func(nc *nats.Conn) {
		for nc.IsConnected() { // until the server knows all subscriptions again
			if nc.FlushTimeout(timeout) == nil {
				l.set(true)
				return
			}
		}
	}
	o.ReconnectErrCB = func(_ *nats.Conn, err error) { c.problem(c.cfg.explain(err)) }
	o.ClosedCB = func(nc *nats.Conn) { // the server says that this client does what it must not
		l.set(false)
		c.problem(fmt.Errorf("%w by the server: %w", bus.ErrClosed, nc.LastError()))
	}
	o.AsyncErrorCB = func(_ *nats.Conn, _ *nats.Subscription, err error) {
		switch {
		case errors.Is(err, nats.ErrPermissionViolation):
			c.problem(refusal(err))
		case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthRevoked):
			c.problem(c.cfg.explain(err))
		case errors.Is(err, nats.ErrMaxSubscriptionsExceeded):
			c.problem(fmt.Errorf("%w: the server at %s grants this machine no more subscriptions; raise max_subscriptions there", bus.ErrRefused, c.cfg.where()))
		}
	}
	l.up.Store(true) // before anything can say that it is not
	if l.nc, err = o.Connect(); err != nil {
		return c.cfg.explain(err)
	}
	switch most := l.nc.MaxPayload(); {
	case !l.nc.HeadersSupported(): // by which it says that nobody answers
		return fmt.Errorf("the server at %s is too old, or has headers switched off; it must be NATS 2.2 or later", c.cfg.where())
	case most < bus.MaxData:
		return fmt.Errorf("the server at %s takes no more than %d bytes in a message; set max_payload there to %d or more", c.cfg.where(), most, bus.MaxData)
	}
	c.parts.Go(func() { l.write(context.WithoutCancel(life)) })
	return nil
}

// refusal returns the error of a permission that NATS does not give.
func refusal(err error) error {
	return fmt.Errorf("%w: %s", bus.ErrRefused, strings.TrimPrefix(err.Error(), nats.ErrPermissionViolation.Error()+": "))
}

// write writes what waits until the queue is closed.
func (l *lane) write(ctx context.Context) {
	for m, ok := l.out.Take(ctx); ok; m, ok = l.out.Take(ctx) {
		if l.nc.PublishMsg(m) != nil {
			l.conn.drop(1)
		}
	}
}

// set records that the lane is there, or not.
func (l *lane) set(up bool) {
	l.up.Store(up)
	c := l.conn
	if connected, _ := c.Connected(); connected {
		c.mu.Lock()
		clear(c.problems)
		c.mu.Unlock()
	}
	c.change.Notify()
}

// problem tells of a problem, unless that was told already.
func (c *Conn) problem(err error) {
	c.mu.Lock()
	tell := c.problems != nil && !c.problems[err.Error()] && len(c.problems) < mostProblems && !c.closed
	if tell {
		c.problems[err.Error()] = true
	}
	c.mu.Unlock()
	if tell && c.cfg.Problem != nil {
		c.cfg.Problem(err)
	}
}

func (c *Conn) drop(n int) {
	if n > 0 && c.cfg.Dropped != nil {
		c.cfg.Dropped(n)
	}
}

// Close ends the connection, after what was published before, if the server takes that within a second.
// No subscription calls anybody any more once it has returned, if it was stopped.
func (c *Conn) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	if connected, _ := c.Connected(); !connected {
		c.end()
	}
	late := time.AfterFunc(time.Second, c.end)
	defer late.Stop()
	c.control.out.Close()
	c.sound.out.Close()
	c.parts.Wait()
	for _, l := range []*lane{c.control, c.sound} {
		l.up.Store(false)
		if l.nc != nil {
			l.nc.Close()
		}
	}
	c.end()
	c.change.Notify()
}

// lane returns the lane of a subject or a pattern.
func (c *Conn) lane(subject string) *lane {
	if bus.IsSound(subject) {
		return c.sound
	}
	return c.control
}

// Publish implements [bus.Bus].
func (c *Conn) Publish(subject string, data []byte) error { return c.publish(subject, "", data) }

func (c *Conn) publish(subject, reply string, data []byte) error {
	if err := bus.CheckMessage(subject, data); err != nil {
		return err
	}
	m := &nats.Msg{Subject: subject, Reply: reply, Data: append([]byte(nil), data...)}
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.lane(subject)
	switch {
	case c.closed:
		return bus.ErrClosed
	case !l.up.Load(), l.out.Put(m) > 0:
		return bus.ErrFull
	}
	return nil
}

// Subscribe implements [bus.Bus]. When it returns, the server knows of it, if the connection is there.
func (c *Conn) Subscribe(ctx context.Context, pattern string, take func(bus.Message)) (stop func(), err error) {
	if err := bus.CheckSubject(pattern, true); err != nil {
		return nil, fmt.Errorf("subscribing: %w", err)
	}
	l := c.lane(pattern)
	s := &subscription{conn: c, take: take}
	s.mu.Lock() // until it has sub
	s.sub, err = l.nc.Subscribe(pattern, func(m *nats.Msg) {
		if ctx.Err() == nil {
			s.deliver(m)
		}
	})
	s.mu.Unlock()
	if err != nil {
		return nil, translate(err)
	}
	err = s.sub.SetPendingLimits(mostMessages, bus.MaxPending)
	ended := context.AfterFunc(ctx, s.end)
	stop = func() {
		ended()
		s.end()
	}
	if err == nil && l.up.Load() {
		err = l.flush(ctx)
	}
	if refused := l.nc.LastError(); err == nil && errors.Is(refused, nats.ErrPermissionViolation) && strings.Contains(refused.Error(), `Subscription to "`+pattern+`"`) {
		err = refusal(refused)
	}
	if err != nil {
		stop()
		return nil, translate(err)
	}
	return stop, nil
}

// unsubscribe ends a subscription at the server, in a goroutine of its own, because it waits if a server
// is being dialled.
func (c *Conn) unsubscribe(sub *nats.Subscription) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.parts.Go(func() { sub.Unsubscribe() })
	}
}

func (c *Conn) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// flush returns when the server has read what was written, or is away.
func (l *lane) flush(ctx context.Context) error {
	within, done := context.WithTimeout(ctx, timeout)
	defer done()
	if l.nc.FlushWithContext(within) != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// translate returns an error of nats.go as one of package bus.
func translate(err error) error {
	switch {
	case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrBadSubscription):
		return bus.ErrClosed
	case errors.Is(err, nats.ErrNoResponders):
		return bus.ErrNobody
	}
	return err
}

// Request implements [bus.Bus]. If the connection goes away, it waits for an answer all the same.
func (c *Conn) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	l := c.lane(subject)
	if connected, _ := c.Connected(); !connected && !c.isClosed() {
		return nil, bus.ErrFull // rather than wait for a server to be dialled
	}
	inbox := l.nc.NewInbox()
	sub, err := l.nc.SubscribeSync(inbox)
	if err != nil {
		return nil, translate(err)
	}
	defer c.unsubscribe(sub)
	if err := c.publish(subject, inbox, data); err != nil {
		return nil, err
	}
	m, err := sub.NextMsgWithContext(ctx)
	if errors.Is(err, nats.ErrSlowConsumer) { // more answers came than are kept, after the first one
		m, err = sub.NextMsgWithContext(ctx)
	}
	if ctx.Err() != nil && err != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, translate(err)
	}
	return m.Data, nil
}

// Connected implements [bus.Bus].
func (c *Conn) Connected() (bool, <-chan struct{}) {
	changed := c.change.Changed()
	return c.control.up.Load() && c.sound.up.Load(), changed
}

// A subscription is what one subscriber gets.
type subscription struct {
	conn *Conn
	take func(bus.Message)
	sub  *nats.Subscription

	mu      sync.Mutex // held while take runs
	ended   bool
	dropped int // that were counted
}

// deliver passes on a message.
func (s *subscription) deliver(m *nats.Msg) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.count()
	if len(m.Data) > bus.MaxData {
		s.conn.drop(1)
		return
	}
	b := bus.Message{Subject: m.Subject, Data: m.Data}
	if strings.HasPrefix(m.Reply, inboxes) { // to other subjects nobody may make this member publish
		b.Respond = func(data []byte) error { return s.conn.publish(m.Reply, "", data) }
	}
	s.take(b)
}

// count tells how many messages were dropped since it last did.
func (s *subscription) count() {
	if all, err := s.sub.Dropped(); err == nil {
		s.conn.drop(all - s.dropped)
		s.dropped = all
	}
}

// end ends the subscription, and returns when take does not run any more.
func (s *subscription) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended = true
		s.count()
		s.conn.unsubscribe(s.sub)
	}
}
