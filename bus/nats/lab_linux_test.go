package nats_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"earshot/bus"
	"earshot/bus/nats"
	"earshot/bus/nats/natstest"
	"earshot/bus/natsserver"
	"earshot/internal/field"
	"earshot/internal/testkit"
	"earshot/internal/testkit/netlab"
)

// A member is a process in a node of a lab, with a connection to the bus. It does one thing after the
// other; each takes less than [testkit.Patience].
type member struct {
	name string
	cmd  *exec.Cmd
	to   *json.Encoder
	from *json.Decoder
}

// A start tells a member how to connect.
type start struct {
	Servers, Certificates []string
	Seed                  string
}

// An order tells a member what to do.
type order struct {
	Do string // see obey
	To string // another member
}

// A report says what came of it.
type report struct {
	Error     string
	Connected bool
	Breaks    int     // how often the connection went away
	Next      int64   // the number of the next message
	Got       []int64 // the numbers of the messages to it
}

// asMember has the configuration of a member, in a copy of this program.
const asMember = "EARSHOT_TEST_MEMBER"

// join starts a member in the node of its name, and connects it.
func join(t *testing.T, l *netlab.Lab, name string, cfg nats.Config) *member {
	t.Helper()
	m := &member{name: name, cmd: l.Command(name, os.Args[0], "-test.run=^TestAsMember$", "-test.timeout=10m")}
	m.cmd.Env = append(os.Environ(), asMember+"="+name)
	m.cmd.Stderr = t.Output()
	in, err := m.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.cmd.Process.Kill()
		testkit.Finish(t, testkit.Patience, "the end of a member", func() { m.cmd.Wait() })
	})
	m.to, m.from = json.NewEncoder(in), json.NewDecoder(out)
	if err := m.to.Encode(start{cfg.Servers, cfg.Certificates, cfg.Seed.Reveal()}); err != nil {
		t.Fatal(err)
	}
	m.must(t, order{Do: "connect"})
	return m
}

// do returns what a member reports of an order.
func (m *member) do(t *testing.T, o order) (r report) {
	t.Helper()
	defer time.AfterFunc(testkit.Patience, func() { m.cmd.Process.Kill() }).Stop()
	if err := errors.Join(m.to.Encode(o), m.from.Decode(&r)); err != nil {
		t.Fatalf("%s, told to %s: %v", m.name, o.Do, err)
	}
	return r
}

// must is do of an order that cannot fail.
func (m *member) must(t *testing.T, o order) report {
	t.Helper()
	r := m.do(t, o)
	if r.Error != "" {
		t.Fatalf("%s, told to %s: %s", m.name, o.Do, r.Error)
	}
	return r
}

// reach waits until each member answers each other one.
func reach(t *testing.T, members ...*member) {
	t.Helper()
	began := time.Now()
	for _, m := range members {
		for _, to := range members {
			if m != to {
				testkit.Await(t, testkit.Patience, m.name+" reaches "+to.name, func() bool { return m.do(t, order{"ask", to.name}).Error == "" })
			}
		}
	}
	t.Logf("all reach each other within %v", time.Since(began).Round(time.Millisecond))
}

// checkStream stops the messages that one member sends another, and checks that none came twice, and
// that there is at most one gap in their numbers for each time that a connection went away: those of
// the members, and so many between the servers, of which they do not learn. After that, what was still
// under way may come behind later messages, since TCP sends it again, but is in order itself.
func checkStream(t *testing.T, from, to *member, between int) {
	t.Helper()
	last := from.must(t, order{Do: "halt"}).Next
	var sent, got report
	testkit.Await(t, testkit.Patience, "a message after all those", func() bool {
		sent, got = from.must(t, order{"send", to.name}), to.must(t, order{Do: "report"})
		return slices.ContainsFunc(got.Got, func(n int64) bool { return n >= last })
	})
	newest, late, latest := int64(-1), 0, int64(-1)
	for _, n := range got.Got {
		if n > newest {
			newest = n
			continue
		}
		if late++; n <= latest {
			t.Errorf("message %d came after %d, and both came late", n, latest)
		}
		latest = n
	}
	slices.Sort(got.Got)
	gaps, lost, next := 0, int64(0), int64(0)
	for _, n := range got.Got {
		if n < next {
			t.Errorf("message %d came twice", n)
		}
		if n > next {
			gaps, lost = gaps+1, lost+n-next
		}
		next = n + 1
	}
	t.Logf("of %d messages %d were lost in %d gaps and %d came late; the members' connections went away %d and %d times", next, lost, gaps, late, sent.Breaks, got.Breaks)
	if breaks := sent.Breaks + got.Breaks + between; gaps > breaks {
		t.Errorf("%d gaps, though connections went away at most %d times", gaps, breaks)
	}
}

// TestFarAway: over a slow line that loses packets, all messages arrive in order. While it is cut, that is
// known to who is cut off; when it is healed, requests are answered again in both directions, and what
// was lost is one gap in the numbers.
func TestFarAway(t *testing.T) {
	t.Parallel()
	l := netlab.New(t, "hub", "kitchen")
	s := natstest.StartIn(t, func(start func()) { l.In("hub", start) }, natsserver.Config{Listen: net.JoinHostPort(l.Addr("hub"), "4222")})
	const delay = 80 * time.Millisecond
	link := l.Link("hub", "kitchen")
	link.Set(netlab.Condition{Delay: delay, Jitter: 20 * time.Millisecond, Loss: 0.05, Seed: 26})
	hub, kitchen := join(t, l, "hub", s.Config()), join(t, l, "kitchen", s.Config())
	reach(t, hub, kitchen)
	began := time.Now()
	kitchen.must(t, order{"ask", "hub"})
	if took := time.Since(began); took < 2*delay {
		t.Errorf("an answer came within %v, over a line of %v", took, delay)
	}

	kitchen.must(t, order{"stream", "hub"})
	for round := range 2 {
		var got []int64
		before := len(hub.must(t, order{Do: "report"}).Got)
		testkit.Await(t, testkit.Patience, "messages", func() bool {
			got = hub.must(t, order{Do: "report"}).Got
			return len(got) > before+200
		})
		whole := round == 0 && kitchen.must(t, order{Do: "report"}).Breaks == 0
		for i, n := range got {
			if whole && n != int64(i) {
				t.Fatalf("message %d came instead of %d, though no connection went away", n, i)
			}
		}
		link.Cut()
		began = time.Now()
		testkit.Await(t, testkit.Patience, "five seconds without a connection", func() bool {
			return !kitchen.must(t, order{Do: "report"}).Connected && time.Since(began) > 5*time.Second
		})
		if r := kitchen.do(t, order{"ask", "hub"}); r.Error != bus.ErrFull.Error() {
			t.Errorf("asking without a connection: %q", r.Error)
		}
		if r := hub.do(t, order{"ask", "kitchen"}); r.Error == "" {
			t.Error("who is cut off has answered")
		}
		link.Heal()
		reach(t, hub, kitchen)
	}
	checkStream(t, kitchen, hub, 0)
	if c := link.Count(); c.Full > 0 || c.Lost == 0 {
		t.Errorf("the network: %+v", c)
	}
}

// TestFarCluster: a cluster on three machines goes on when one of its servers is killed, and when
// machines that were cut off from each other come back.
func TestFarCluster(t *testing.T) {
	t.Parallel()
	nodes := []string{"one", "two", "three"}
	l := netlab.New(t, nodes...)
	l.Links().Set(netlab.Condition{Delay: 10 * time.Millisecond, Loss: 0.01, Seed: 26})
	seed, key := natstest.NewKey(t)
	cluster := natsserver.Cluster{Name: "test"}
	cfg := nats.Config{Seed: seed}
	var certs []natsserver.Certificate
	for _, n := range nodes {
		c := natstest.NewCertificate(t)
		certs, cfg.Certificates = append(certs, c), append(cfg.Certificates, c.SHA256())
		cfg.Servers = append(cfg.Servers, net.JoinHostPort(l.Addr(n), "4222"))
		cluster.Servers = append(cluster.Servers, net.JoinHostPort(l.Addr(n), "6222"))
	}
	cluster.Certificates = cfg.Certificates
	var servers []*natstest.Server
	var members []*member
	for i, n := range nodes {
		own := cluster
		own.Listen = cluster.Servers[i]
		servers = append(servers, natstest.StartIn(t, func(start func()) { l.In(n, start) },
			natsserver.Config{Listen: cfg.Servers[i], Certificate: certs[i], Hub: key, Cluster: &own}))
	}
	for _, n := range nodes {
		members = append(members, join(t, l, n, cfg))
	}
	reach(t, members...)
	members[1].must(t, order{"stream", "three"})

	servers[0].Kill(t)
	reach(t, members...)
	servers[0].Begin(t)
	for name, link := range map[string]netlab.Link{
		"one and two": l.Link("one", "two"), "two and three": l.Link("two", "three"), "three and all others": l.Links("three"),
	} {
		link.Cut()
		began := time.Now()
		testkit.Await(t, testkit.Patience, "five seconds", func() bool { return time.Since(began) > 5*time.Second })
		link.Heal()
		t.Log(name)
		reach(t, members...)
	}
	checkStream(t, members[1], members[2], 1+3) // the server that was killed, and the cuts
}

// TestAsMember is a member, in a process of its own.
func TestAsMember(t *testing.T) {
	name := os.Getenv(asMember)
	if name == "" {
		t.Skip("it is a part of other tests")
	}
	orders, reports := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	var cfg start
	if err := orders.Decode(&cfg); err != nil {
		t.Fatal(err)
	}
	c := &connection{Conn: natstest.Connect(t, nats.Config{Servers: cfg.Servers, Certificates: cfg.Certificates, Seed: field.Secret(cfg.Seed)})}
	ctx, stop := context.WithCancel(t.Context())
	var parts sync.WaitGroup
	defer testkit.Finish(t, testkit.Patience, "the end of the member", parts.Wait)
	defer stop()
	parts.Go(func() { c.watch(ctx) })
	parts.Go(func() { c.stream(ctx) })
	unsubscribe, err := c.Subscribe(ctx, "member."+name+".*", c.take)
	if err != nil {
		t.Fatal(err)
	}
	defer unsubscribe()
	for {
		var o order
		if err := orders.Decode(&o); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			return
		}
		var err error
		switch o.Do {
		case "connect", "report": // see below
		case "ask":
			err = c.ask(ctx, o.To)
		case "send":
			c.send(o.To)
		case "stream":
			c.direct(o.To)
		case "halt":
			c.direct("")
		}
		r := c.report()
		if err != nil {
			r.Error = err.Error()
		}
		if err := reports.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
}

// A connection is that of a member.
type connection struct {
	*nats.Conn
	mu     sync.Mutex
	breaks int
	next   int64
	got    []int64
	to     string // see direct
}

func (c *connection) report() report {
	on, _ := c.Connected()
	c.mu.Lock()
	defer c.mu.Unlock()
	return report{Connected: on, Breaks: c.breaks, Next: c.next, Got: c.got}
}

// watch counts how often the connection goes away.
func (c *connection) watch(ctx context.Context) {
	before := true
	for {
		on, changed := c.Connected()
		c.mu.Lock()
		if before && !on {
			c.breaks++
		}
		c.mu.Unlock()
		before = on
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// take answers a request, and keeps the number in any other message.
func (c *connection) take(m bus.Message) {
	if m.Respond != nil {
		_ = m.Respond(m.Data) // who has asked notices it
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, int64(binary.BigEndian.Uint64(m.Data)))
}

func (c *connection) ask(ctx context.Context, whom string) error {
	ctx, done := context.WithTimeout(ctx, 3*time.Second)
	defer done()
	answer, err := c.Request(ctx, fmt.Sprintf("member.%s.request", whom), []byte(whom))
	if err == nil && string(answer) != whom {
		err = fmt.Errorf("the answer is %q", answer)
	}
	return err
}

// send sends the next number, if the bus takes it.
func (c *connection) send(to string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Publish(fmt.Sprintf("member.%s.number", to), binary.BigEndian.AppendUint64(nil, uint64(c.next))) == nil {
		c.next++
	}
}

// direct says to whom stream sends numbers, or to nobody.
func (c *connection) direct(to string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.to = to
}

// stream sends numbers until ctx ends.
func (c *connection) stream(ctx context.Context) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.mu.Lock()
			to := c.to
			c.mu.Unlock()
			if to != "" {
				c.send(to)
			}
		case <-ctx.Done():
			return
		}
	}
}
