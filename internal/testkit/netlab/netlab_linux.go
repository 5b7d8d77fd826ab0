// Package netlab is a network for tests: see [New]. Each node is a network namespace of the kernel
// with one interface, whose packets a switch in the process of the test takes, delays, loses or
// passes on. It needs root, and neither iproute2 nor netem.
//
// Namespaces have no names. The kernel removes them with the last process and descriptor in them,
// however the test ends, and tests that run beside each other cannot meet. File systems are
// shared, and with them sockets that are files.
package netlab

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"earshot/internal/testkit"
)

const (
	device = "net0" // the interface of each node
	waits  = 10_000 // packets that may wait in it for the switch: more than TCP has under way
)

// A Lab is a network. Its methods may be called from many goroutines. They panic if a node does not
// exist, which is a mistake in the test.
type Lab struct {
	t      testing.TB
	nodes  []*node
	byName map[string]*node
}

// A node is one end of the network.
type node struct {
	name      string
	address   netip.Addr
	namespace *os.File
	tun       *os.File // the switch's end of its interface
	to        []*way   // to each node by its index, nil to itself
}

// New returns a network that passes everything on at once, with a node for each name, until the
// test is over; then it kills what still runs in it. It skips the test where [testkit.Need] does for
// "network", and where this process is not root.
func New(t testing.TB, names ...string) *Lab {
	t.Helper()
	testkit.Need(t, "network")
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: networks with delay, loss and partitions are made by root alone; run the tests with sudo, as CI does")
	}
	l := &Lab{t: t, byName: make(map[string]*node)}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() {
		l.kill()
		stop()
		for _, n := range l.nodes {
			n.tun.Close()
			n.namespace.Close()
		}
		testkit.Finish(t, testkit.Patience, "the end of the switch", running.Wait)
	})
	for i, name := range names {
		n, err := newNode(name, netip.AddrFrom4([4]byte{10, 77, 0, byte(i + 1)}))
		if err != nil {
			t.Fatalf("making a network for node %s; where that cannot be, do without by EARSHOT_WITHOUT=network: %v", name, err)
		}
		l.nodes, l.byName[name] = append(l.nodes, n), n
	}
	for _, from := range l.nodes {
		for _, to := range l.nodes {
			var w *way
			if from != to {
				w = newWay(from, to)
				running.Go(func() { w.deliver(ctx) })
			}
			from.to = append(from.to, w)
		}
	}
	for _, from := range l.nodes {
		running.Go(func() { l.forward(from) })
	}
	return l
}

// newNode makes a namespace with an interface.
func newNode(name string, address netip.Addr) (*node, error) {
	n := &node{name: name, address: address}
	err := elsewhere(func() (err error) {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("unshare: %w", err)
		}
		if n.namespace, err = os.Open("/proc/thread-self/ns/net"); err == nil {
			n.tun, err = openTUN(address)
		}
		return err
	})
	if err != nil && n.namespace != nil {
		n.namespace.Close()
	}
	return n, err
}

// openTUN makes the interface of the thread's namespace, with an address and a long queue, and turns
// the loopback interface on.
func openTUN(address netip.Addr) (*os.File, error) {
	tun, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("/dev/net/tun: %w", err)
	}
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, errors.Join(err, unix.Close(tun))
	}
	defer unix.Close(s)
	type put = func(*unix.Ifreq) error
	flags := func(v uint16) put { return func(r *unix.Ifreq) error { r.SetUint16(v); return nil } }
	inet := func(a netip.Addr) put { return func(r *unix.Ifreq) error { return r.SetInet4Addr(a.AsSlice()) } }
	for _, set := range []struct {
		fd      int
		request uint
		name    string
		put     put
	}{
		{tun, unix.TUNSETIFF, device, flags(unix.IFF_TUN | unix.IFF_NO_PI)},
		{s, unix.SIOCSIFADDR, device, inet(address)},
		{s, unix.SIOCSIFNETMASK, device, inet(netip.AddrFrom4([4]byte{255, 255, 255, 0}))},
		{s, unix.SIOCSIFTXQLEN, device, func(r *unix.Ifreq) error { r.SetUint32(waits); return nil }},
		{s, unix.SIOCSIFFLAGS, device, flags(unix.IFF_UP)},
		{s, unix.SIOCSIFFLAGS, "lo", flags(unix.IFF_UP)},
	} {
		r, _ := unix.NewIfreq(set.name) // fails for names that are too long
		if err := errors.Join(set.put(r), unix.IoctlIfreq(set.fd, set.request, r)); err != nil {
			return nil, errors.Join(fmt.Errorf("interface %s, request %#x: %w", set.name, set.request, err), unix.Close(tun))
		}
	}
	return os.NewFile(uintptr(tun), device), nil // only now can it be polled
}

// elsewhere calls f on a thread that returns to its namespace afterwards, or ends if it cannot.
func elsewhere(f func() error) error {
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	defer func() {
		if unix.Setns(int(home.Fd()), unix.CLONE_NEWNET) == nil {
			runtime.UnlockOSThread()
		}
		home.Close()
	}()
	return f()
}

// node returns a node by its name.
func (l *Lab) node(name string) *node {
	n, ok := l.byName[name]
	if !ok {
		panic("netlab: there is no node " + name)
	}
	return n
}

// Addr returns the address of a node.
func (l *Lab) Addr(node string) string { return l.node(node).address.String() }

// In calls f on a thread in the network of a node. Sockets that f makes, and processes that it
// starts, are there, whoever uses them later, but not those of goroutines that it starts.
func (l *Lab) In(node string, f func()) {
	n := l.node(node)
	err := elsewhere(func() error {
		err := unix.Setns(int(n.namespace.Fd()), unix.CLONE_NEWNET)
		if err == nil {
			f()
		}
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("netlab: entering %s: %v", node, err))
	}
}

// Command returns a program that will run in a node, and dies with this process and with the lab. It
// has the number of the process that is started. The caller must wait for it.
func (l *Lab) Command(node, name string, args ...string) *exec.Cmd {
	namespace := fmt.Sprintf("--net=/proc/%d/fd/%d", os.Getpid(), l.node(node).namespace.Fd())
	c := exec.Command("nsenter", append([]string{namespace, "--", name}, args...)...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return c
}

// kill ends every process in the network, also those that its programs have started.
func (l *Lab) kill() {
	gone := func() bool {
		processes, _ := filepath.Glob("/proc/[0-9]*/ns/net") // the pattern is right
		found := false
		for _, p := range processes {
			where, err := os.Stat(p) // fails for one that has ended
			inside := err == nil && slices.ContainsFunc(l.nodes, func(n *node) bool {
				here, err := n.namespace.Stat()
				return err == nil && os.SameFile(here, where)
			})
			if pid, _ := strconv.Atoi(strings.Split(p, "/")[2]); inside && pid != os.Getpid() {
				found = true
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may just have ended
			}
		}
		return !found
	}
	if !testkit.Poll(testkit.Patience, gone) {
		l.t.Error("processes in the network do not end")
	}
}
