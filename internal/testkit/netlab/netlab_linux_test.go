package netlab_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"earshot/internal/testkit"
	"earshot/internal/testkit/netlab"
)

// as says in a copy of this program that it is one.
const as = "EARSHOT_TEST_AS"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A port receives datagrams in a node.
type port struct {
	*net.UDPConn
	t testing.TB
}

// open opens a port, with room for a thousand datagrams.
func open(t testing.TB, l *netlab.Lab, node string) *port {
	t.Helper()
	var c net.PacketConn
	var err error
	l.In(node, func() { c, err = net.ListenPacket("udp4", ":0") })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	p := &port{c.(*net.UDPConn), t}
	if err := p.SetReadBuffer(4 << 20); err != nil {
		t.Fatal(err)
	}
	return p
}

// at returns its address in a node's network.
func (p *port) at(l *netlab.Lab, node string) string {
	return net.JoinHostPort(l.Addr(node), strconv.Itoa(p.LocalAddr().(*net.UDPAddr).Port))
}

// receive returns the number in the next datagram.
func (p *port) receive() uint32 {
	p.t.Helper()
	p.SetReadDeadline(time.Now().Add(testkit.Patience))
	data := make([]byte, 2000)
	n, _, err := p.ReadFrom(data)
	if err != nil || n < 4 {
		p.t.Fatalf("%d bytes: %v", n, err)
	}
	return binary.BigEndian.Uint32(data)
}

func dial(t testing.TB, l *netlab.Lab, node, network, address string) net.Conn {
	t.Helper()
	var c net.Conn
	var err error
	l.In(node, func() { c, err = net.Dial(network, address) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(testkit.Patience))
	return c
}

// number sends a number in a datagram of so many bytes.
func number(t testing.TB, to net.Conn, n uint32, bytes int) {
	t.Helper()
	data := make([]byte, bytes)
	binary.BigEndian.PutUint32(data, n)
	if _, err := to.Write(data); err != nil {
		t.Fatal(err)
	}
}

// connect returns both ends of a connection by TCP, and how long it took to make.
func connect(t testing.TB, l *netlab.Lab, from, to string) (near, far net.Conn, took time.Duration) {
	t.Helper()
	var listener net.Listener
	var err error
	l.In(to, func() { listener, err = net.Listen("tcp4", ":0") })
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	began := time.Now()
	near = dial(t, l, from, "tcp4", net.JoinHostPort(l.Addr(to), strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)))
	took = time.Since(began)
	listener.(*net.TCPListener).SetDeadline(time.Now().Add(testkit.Patience))
	if far, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { far.Close() })
	far.SetDeadline(time.Now().Add(testkit.Patience))
	return near, far, took
}

// pass sends a word over a connection.
func pass(t testing.TB, from, to net.Conn, word string) {
	t.Helper()
	if _, err := from.Write([]byte(word)); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(word))
	if _, err := io.ReadFull(to, got); err != nil || string(got) != word {
		t.Fatalf("received %q, want %q: %v", got, word, err)
	}
}

func TestDelay(t *testing.T) {
	l := netlab.New(t, "hub", "kitchen")
	for _, c := range []netlab.Condition{
		{},
		{Delay: 30 * time.Millisecond},
		{Delay: 100 * time.Millisecond, Jitter: 50 * time.Millisecond, Seed: 3},
	} {
		l.Link("hub", "kitchen").Set(c)
		near, far, took := connect(t, l, "kitchen", "hub")
		if took < 2*c.Delay {
			t.Errorf("connected within %v, though a packet takes %v", took, c.Delay)
		}
		for range 5 {
			began := time.Now()
			pass(t, near, far, "are you there?")
			if took := time.Since(began); took < c.Delay {
				t.Errorf("there within %v, though a packet takes %v", took, c.Delay)
			}
		}
	}
}

// TestLoss: which datagrams are lost depends on the seed alone.
func TestLoss(t *testing.T) {
	l := netlab.New(t, "hub", "kitchen")
	const sent, share = 1000, 0.2
	in := open(t, l, "hub")
	out := dial(t, l, "kitchen", "udp4", in.at(l, "hub"))
	way := l.Way("kitchen", "hub")
	run := func(seed uint64) string {
		before := way.Count()
		way.Set(netlab.Condition{Loss: share, Jitter: time.Millisecond, Seed: seed})
		for i := range uint32(sent) {
			number(t, out, i, 100)
		}
		testkit.Await(t, testkit.Patience, "all datagrams to be passed on or lost", func() bool {
			c := way.Count()
			return c.Passed+c.Lost == before.Passed+before.Lost+sent
		})
		lost := way.Count().Lost - before.Lost
		if lost < 150 || lost > 250 { // four standard deviations
			t.Errorf("%d of %d were lost, want about %v", lost, sent, share*sent)
		}
		if got := way.Count().Bytes - before.Bytes; got != (sent-lost)*(100+28) {
			t.Errorf("%d bytes for %d datagrams", got, sent-lost)
		}
		arrived, last := bytes.Repeat([]byte("-"), sent), -1
		for range sent - lost {
			n := int(in.receive())
			if n <= last {
				t.Fatalf("datagram %d came after %d", n, last)
			}
			arrived[n], last = '+', n
		}
		return string(arrived)
	}
	first, again, other := run(1), run(1), run(2)
	if first != again {
		t.Errorf("the same seed lost\n%s\nand\n%s", first, again)
	}
	if first == other {
		t.Error("another seed lost the same")
	}
	if c := way.Count(); c.Full != 0 || c.Cut != 0 {
		t.Errorf("counts %+v", c)
	}
}

// TestPartition: a connection waits while it is cut, and loses nothing, though packets are lost
// before and after that, too.
func TestPartition(t *testing.T) {
	l := netlab.New(t, "hub", "kitchen")
	link := l.Link("hub", "kitchen")
	link.Set(netlab.Condition{Loss: 0.05, Delay: time.Millisecond, Seed: 1})
	near, far, _ := connect(t, l, "kitchen", "hub")
	for range 3 {
		pass(t, near, far, "before")
		link.Cut()
		before := link.Count()
		if _, err := near.Write([]byte("meanwhile")); err != nil {
			t.Fatal(err)
		}
		testkit.Await(t, testkit.Patience, "packets to be lost", func() bool { return link.Count().Cut > before.Cut+1 })
		if after := link.Count(); after.Passed != before.Passed {
			t.Errorf("%d packets were passed on though it is cut", after.Passed-before.Passed)
		}
		link.Heal()
		got := make([]byte, len("meanwhile"))
		if _, err := io.ReadFull(far, got); err != nil || string(got) != "meanwhile" {
			t.Fatalf("received %q: %v", got, err)
		}
	}
}

// TestUnderWay: what is under way when a link is cut does not arrive, even if it is healed before
// that.
func TestUnderWay(t *testing.T) {
	l := netlab.New(t, "hub", "kitchen")
	way := l.Way("kitchen", "hub")
	in := open(t, l, "hub")
	out := dial(t, l, "kitchen", "udp4", in.at(l, "hub"))
	for delay := time.Second / 4; ; delay *= 2 {
		way.Set(netlab.Condition{Delay: delay})
		before, began := way.Count(), time.Now()
		number(t, out, 1, 4)
		testkit.Await(t, testkit.Patience, "the datagram to be taken", func() bool { return way.Count().Sent > before.Sent })
		way.Cut()
		inTime := time.Since(began) < delay // otherwise the machine was busy
		way.Heal()
		testkit.Await(t, testkit.Patience, "the datagram to be gone", func() bool {
			c := way.Count()
			return c.Cut+c.Passed > before.Cut+before.Passed
		})
		if inTime && way.Count().Passed > before.Passed {
			t.Error("it arrived")
		}
		if inTime {
			return
		}
	}
}

// TestPairs: each pair of three nodes can be cut alone, in one direction too, and each node from all
// others.
func TestPairs(t *testing.T) {
	l := netlab.New(t, "a", "b", "c")
	ports, conns := map[string]*port{}, map[string]net.Conn{}
	for _, n := range []string{"a", "b", "c"} {
		ports[n] = open(t, l, n)
	}
	ways := strings.Fields("ab ac ba bc ca cb")
	for _, w := range ways {
		conns[w] = dial(t, l, w[:1], "udp4", ports[w[1:]].at(l, w[1:]))
	}
	sent := uint32(0)
	for _, tt := range []struct {
		name string
		link netlab.Link
		cut  string
	}{
		{"a and b", l.Link("a", "b"), "ab ba"},
		{"b and c", l.Link("b", "c"), "bc cb"},
		{"c and a", l.Link("c", "a"), "ac ca"},
		{"a to b", l.Way("a", "b"), "ab"},
		{"b to a", l.Way("b", "a"), "ba"},
		{"b", l.Links("b"), "ab ba bc cb"},
		{"all", l.Links(), "ab ac ba bc ca cb"},
		{"none", nil, ""},
	} {
		tt.link.Cut()
		for _, w := range ways {
			way := l.Way(w[:1], w[1:])
			before := way.Count()
			sent++
			number(t, conns[w], sent, 4)
			var after netlab.Count
			testkit.Await(t, testkit.Patience, "the datagram to pass or to be lost", func() bool {
				after = way.Count()
				return after.Passed+after.Cut > before.Passed+before.Cut
			})
			cut := after.Cut > before.Cut
			if want := strings.Contains(tt.cut, w); cut != want {
				t.Errorf("%s is cut: from %s to %s is cut: %v", tt.name, w[:1], w[1:], cut)
			}
			if !cut {
				if got := ports[w[1:]].receive(); got != sent {
					t.Errorf("datagram %d, want %d", got, sent)
				}
			}
		}
		tt.link.Heal()
	}
}

// TestThroughput: the lab loses nothing of its own accord.
func TestThroughput(t *testing.T) {
	l := netlab.New(t, "hub", "kitchen")
	link := l.Link("hub", "kitchen")
	full := func() bool {
		dropped := false
		for _, n := range []string{"hub", "kitchen"} {
			l.In(n, func() {
				dev, err := os.ReadFile("/proc/thread-self/net/dev")
				_, numbers, ok := strings.Cut(string(dev), "net0:")
				f := strings.Fields(numbers)
				if err != nil || !ok || len(f) < 12 {
					t.Fatalf("%q: %v", dev, err)
				}
				dropped = dropped || f[11] != "0" // what it sent; what it did not receive is in Count.Full
			})
		}
		return dropped || link.Count().Full > 0
	}

	// A second of 5 MB/s, though it may be that the lab has no processor for all of that second.
	link.Set(netlab.Condition{Delay: 50 * time.Millisecond})
	const datagrams = 5_000_000 / 1472
	out := dial(t, l, "kitchen", "udp4", open(t, l, "hub").at(l, "hub"))
	for i := range uint32(datagrams) {
		number(t, out, i, 1472)
	}
	testkit.Await(t, testkit.Patience, "all datagrams to be passed on", func() bool { return l.Way("kitchen", "hub").Count().Passed == datagrams || full() })
	if full() {
		t.Errorf("the lab was full: %+v", link.Count())
	}

	link.Set(netlab.Condition{Delay: 5 * time.Millisecond})
	near, far, _ := connect(t, l, "kitchen", "hub")
	const size = 40 << 20
	data := make([]byte, 64<<10)
	began := time.Now()
	written := make(chan error, 1)
	go func() {
		for range size / len(data) {
			if _, err := near.Write(data); err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	if n, err := io.CopyN(io.Discard, far, size); err != nil {
		t.Fatalf("%d bytes: %v", n, err)
	}
	if err := testkit.Receive(t, testkit.Patience, "all to be written", written); err != nil {
		t.Fatal(err)
	}
	t.Logf("%.0f MB/s", size/time.Since(began).Seconds()/1e6)
	if full() {
		t.Errorf("the lab was full: %+v", link.Count())
	}
}

// TestCommand: a program runs in its node, is the process that was started, and does not outlive
// the lab, nor does what it has started.
func TestCommand(t *testing.T) {
	var child int
	var cmd *exec.Cmd
	t.Run("lab", func(t *testing.T) {
		l := netlab.New(t, "hub", "kitchen")
		cmd = l.Command("kitchen", "sh", "-c", `echo $$; setsid sh -c 'echo $$; cat /proc/self/net/fib_trie; echo; exec sleep 1000' & wait`)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer time.AfterFunc(testkit.Patience, func() { cmd.Process.Kill() }).Stop()
		var own int
		r := bufio.NewReader(out)
		if _, err := fmt.Fscanln(r, &own); err != nil || own != cmd.Process.Pid {
			t.Fatalf("process %d, started as %d: %v", own, cmd.Process.Pid, err)
		}
		if _, err := fmt.Fscanln(r, &child); err != nil {
			t.Fatal(err)
		}
		var routes strings.Builder
		for line := "-"; line != "\n"; routes.WriteString(line) {
			if line, err = r.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		if !strings.Contains(routes.String(), l.Addr("kitchen")) || strings.Contains(routes.String(), l.Addr("hub")) {
			t.Errorf("its network is\n%s", routes.String())
		}
	})
	testkit.Finish(t, testkit.Patience, "the end of the program", func() { cmd.Wait() })
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Errorf("it ended with %v", cmd.ProcessState)
	}
	if !gone(child) {
		t.Error("its child still runs")
	}
}

// gone reports whether a process has ended, though nobody may have waited for it.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err != nil || strings.HasPrefix(state, "Z") || strings.HasPrefix(state, "X")
}

// TestKilled: when the test is killed, its programs end.
func TestKilled(t *testing.T) {
	l := netlab.New(t, "hub")
	if os.Getenv(as) == "test" {
		cmd := l.Command("hub", "sh", "-c", "echo the number is $$; exec sleep 1000")
		cmd.Stdout = os.Stdout
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		testkit.Finish(t, 10*testkit.Patience, "the end of sleep", func() { cmd.Wait() })
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$", "-test.v")
	cmd.Env = append(os.Environ(), as+"=test")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer testkit.Finish(t, testkit.Patience, "the end of the other test", func() { cmd.Wait() })
	defer cmd.Process.Kill()
	defer time.AfterFunc(testkit.Patience, func() { cmd.Process.Kill() }).Stop()
	for lines := bufio.NewScanner(out); ; {
		if !lines.Scan() {
			t.Fatalf("the other test started nothing: %v", lines.Err())
		}
		var pid int
		if _, err := fmt.Sscanf(lines.Text(), "the number is %d", &pid); err != nil {
			continue
		}
		if gone(pid) {
			t.Error("it did not run")
		}
		cmd.Process.Kill()
		testkit.Await(t, testkit.Patience, "the program to end", func() bool { return gone(pid) })
		return
	}
}

// TestMany: labs beside each other do not meet, and leave no descriptor behind.
func TestMany(t *testing.T) {
	descriptors := func() int {
		d, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(d)
	}
	before := descriptors()
	t.Run("labs", func(t *testing.T) {
		for i := range uint32(8) {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				l := netlab.New(t, "hub", "kitchen")
				in := open(t, l, "hub")
				number(t, dial(t, l, "kitchen", "udp4", in.at(l, "hub")), i, 4)
				if got := in.receive(); got != i {
					t.Errorf("received what was sent in lab %d, not in %d", got, i)
				}
			})
		}
	})
	if after := descriptors(); after > before {
		t.Errorf("%d descriptors, before %d", after, before)
	}
}
