package cluster_test

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"earshot/bus"
	"earshot/cluster"
	"earshot/internal/mailbox"
	"earshot/internal/testkit"
	"earshot/internal/testkit/history"
	"earshot/internal/testkit/pgtest"
	"earshot/store/postgres"
)

// The environment of a member that is a process of its own.
const (
	childName = "EARSHOT_CLUSTER_TEST_NAME"
	childURL  = "EARSHOT_CLUSTER_TEST_URL"
)

// fought are the rooms for which processes fight.
var fought = func() (all []string) {
	for i := range 50 {
		all = append(all, fmt.Sprintf("room%02d", i))
	}
	return all
}()

// A line of what a process and the test say to each other.
type message struct {
	Kind    string `json:"kind"`
	Room    string `json:"room,omitempty"`
	ID      string `json:"id,omitempty"`
	Owner   string `json:"owner,omitempty"`
	Fence   int64  `json:"fence,omitempty"`
	Subject string `json:"subject,omitempty"`
	Data    []byte `json:"data,omitempty"`
}

// Kinds of messages, besides the outcomes of an append, which are those of package history.
const (
	onBus    = "bus"     // a message on the bus
	sayEvent = "append"  // to a process
	serves   = "serves"  // a room
	stopped  = "stopped" // serving it
	voice    = "voice"   // a little of it
	unknown  = "unknown" // whether an event was appended
)

// A child is a member that is a process.
type child struct {
	bus.Local // what comes from the others
	owner     string

	mu   sync.Mutex
	last map[string]*cluster.Lease // the last lease of each room, also when it is lost
}

func (c *child) say(m message) error {
	m.Owner = c.owner
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = os.Stdout.Write(append(line, '\n'))
	return err
}

// Publish implements [bus.Bus].
func (c *child) Publish(subject string, data []byte) error {
	return c.say(message{Kind: onBus, Subject: subject, Data: data})
}

// runChild is the program of a process, and does not return there.
func runChild() {
	name := os.Getenv(childName)
	if name == "" {
		return
	}
	if err := runMember(name, os.Getenv(childURL)); err != nil {
		fmt.Fprintln(os.Stderr, name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func runMember(name, url string) error {
	connector, err := postgres.NewConnector(url)
	if err != nil {
		return err
	}
	db := connector.OpenReaders(6)
	defer db.Close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	c := &child{owner: cluster.NewID(name), last: make(map[string]*cluster.Lease)}
	leases, err := cluster.OpenLeases(ctx, db, c.owner)
	if err != nil {
		return err
	}
	m := &cluster.Member{Leases: leases, Bus: c, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Status: func() cluster.Status { return cluster.Status{Rooms: fought} }}
	m.Serve = func(ctx context.Context, lease *cluster.Lease) {
		c.mu.Lock()
		c.last[lease.Room] = lease
		c.mu.Unlock()
		_ = c.say(message{Kind: serves, Room: lease.Room, Fence: lease.Fence})
		for ticks := time.Tick(200 * time.Millisecond); ctx.Err() == nil; {
			if lease.Valid() { // and a process may be stopped just here
				_ = c.say(message{Kind: voice, Room: lease.Room, Fence: lease.Fence})
			}
			select {
			case <-ctx.Done():
			case <-ticks:
			}
		}
		_ = c.say(message{Kind: stopped, Room: lease.Room, Fence: lease.Fence})
	}
	go func() {
		defer stop()
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			var m message
			if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
				return
			}
			if m.Kind == onBus {
				_ = c.Local.Publish(m.Subject, m.Data)
				continue
			}
			go func() {
				_ = c.say(message{Kind: c.append(ctx, db, m), Room: m.Room, ID: m.ID})
			}()
		}
	}()
	if err := m.Run(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// append appends an event under the last lease of its room, even if that is lost: the fence is all that
// holds it back. It returns what came of it.
func (c *child) append(ctx context.Context, db *sql.DB, m message) string {
	c.mu.Lock()
	lease := c.last[m.Room]
	c.mu.Unlock()
	if lease == nil {
		return history.Refused
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return unknown
	}
	defer func() { _ = tx.Rollback() }()
	err = cluster.CheckFence(ctx, tx, lease.Room, lease.Owner, lease.Fence)
	if err == nil {
		_, err = tx.ExecContext(ctx, "INSERT INTO journal (id, room, owner, fence) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING", m.ID, m.Room, lease.Owner, lease.Fence)
	}
	if err == nil {
		var n int64
		err = tx.QueryRowContext(ctx, "SELECT count(*) FROM journal WHERE id = ?", m.ID).Scan(&n)
		<-time.After(time.Duration(rand.Int64N(int64(20 * time.Millisecond)))) // in which the process may be stopped
	}
	if err == nil {
		err = tx.Commit()
	}
	switch {
	case isFenced(err):
		return history.Refused
	case err != nil:
		return unknown
	}
	return history.Acknowledged
}

// An arena is the processes, the clients of the rooms, and what these have seen.
type arena struct {
	t     *testing.T
	url   string
	start time.Time

	mu       sync.Mutex
	alive    map[*process]bool
	owner    map[string]message  // of each room, as it said last
	serving  map[string]*process // by room
	waiting  map[string]chan string
	records  []history.Record
	voices   map[string]history.Record
	done     map[string]int // how many events of a room are acknowledged
	refused  int            // events
	late     int            // pieces of voices that the outlet did not let out
	orphaned map[string]time.Time
	took     []time.Duration
}

// A process is one that was started.
type process struct {
	name   string
	cmd    *exec.Cmd
	to     *mailbox.Queue[message]
	cut    atomic.Bool // off the bus
	reader chan struct{}
	writer chan struct{}
}

// at returns the time of a record.
func (a *arena) at() time.Duration { return time.Since(a.start) }

// launch starts a process, whose monotonic clock is ahead of ours where that can be done.
func (a *arena) launch(name string, ahead time.Duration) *process {
	a.t.Helper()
	program, args := os.Args[0], []string(nil)
	if exec.Command("unshare", "--time", "--monotonic", "1", "true").Run() == nil {
		args = []string{"--time", "--monotonic", fmt.Sprint(int(ahead.Seconds())), program}
		program = "unshare"
	}
	p := &process{name: name, cmd: exec.Command(program, args...), to: mailbox.New[message](nil), reader: make(chan struct{}), writer: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), childName+"="+name, childURL+"="+a.url)
	in, err := p.cmd.StdinPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	if os.Getenv("EARSHOT_PROOF") != "" {
		p.cmd.Stderr = os.Stderr
	}
	if err := p.cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	a.mu.Lock()
	a.alive[p] = true
	a.mu.Unlock()
	go func() {
		defer close(p.writer)
		defer in.Close()
		for m, ok := p.to.Take(context.Background()); ok; m, ok = p.to.Take(context.Background()) {
			line, _ := json.Marshal(m)
			if _, err := in.Write(append(line, '\n')); err != nil {
				return
			}
		}
	}()
	go func() {
		defer close(p.reader)
		a.read(p, out)
	}()
	return p
}

// read takes in what a process says.
func (a *arena) read(p *process, out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, bus.MaxData)
	for lines.Scan() {
		var m message
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			return // it was killed in the middle of a line
		}
		a.mu.Lock()
		switch m.Kind {
		case onBus:
			for other := range a.alive {
				if other != p && !p.cut.Load() && !other.cut.Load() {
					other.to.Put(m)
				}
			}
		case serves:
			if m.Fence > a.owner[m.Room].Fence {
				a.owner[m.Room], a.serving[m.Room] = m, p
			}
			if since := a.orphaned[m.Room]; !since.IsZero() {
				a.took = append(a.took, time.Since(since))
				delete(a.orphaned, m.Room)
			}
		case stopped:
			if a.owner[m.Room].Fence == m.Fence {
				delete(a.serving, m.Room)
			}
		case voice:
			a.hear(m)
		default:
			if m.Kind == history.Refused {
				a.refused++
			}
			if w := a.waiting[m.ID]; w != nil {
				w <- m.Kind
				delete(a.waiting, m.ID)
			}
		}
		a.mu.Unlock()
	}
}

// hear is the outlet of all rooms. a.mu must be held.
func (a *arena) hear(m message) {
	last, now := a.voices[m.Room], a.at()
	if m.Fence < last.Fence {
		a.late++
		return
	}
	if last.Fence == m.Fence && last.Owner == m.Owner {
		return
	}
	if last.ID != "" {
		a.records = append(a.records, history.Record{Kind: history.Ended, At: now, Room: m.Room, ID: last.ID})
	}
	v := history.Record{Kind: history.Begun, At: now, Room: m.Room, ID: fmt.Sprintf("voice %s %d", m.Owner, m.Fence), Owner: m.Owner, Fence: m.Fence}
	a.voices[m.Room], a.records = v, append(a.records, v)
}

// client has events of a room appended, one after the other, until quit is closed. Most are tried until
// they are acknowledged, and some of these are questions; every fifth is tried once.
func (a *arena) client(room string, quit <-chan struct{}) {
	for n := 1; ; n++ {
		select {
		case <-quit:
			return
		default:
		}
		id := fmt.Sprintf("%s event %d", room, n)
		note := func(kind string) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.records = append(a.records, history.Record{Kind: kind, At: a.at(), Room: room, ID: id})
		}
		if n%5 == 1 {
			note(history.Asked)
		}
		for outcome := ""; outcome != history.Acknowledged; {
			<-time.After(100 * time.Millisecond)
			a.mu.Lock()
			p, answer := a.serving[room], make(chan string, 1)
			a.waiting[id] = answer
			a.mu.Unlock()
			if p == nil {
				continue
			}
			note(history.Sent)
			p.to.Put(message{Kind: sayEvent, Room: room, ID: id})
			select {
			case outcome = <-answer:
			case <-time.After(2 * time.Second):
				outcome = unknown
			}
			if outcome == history.Acknowledged {
				note(outcome)
				if n%5 == 1 {
					note(history.Answered)
				}
				a.mu.Lock()
				a.done[room]++
				a.mu.Unlock()
			} else if n%5 == 0 { // it is not tried again
				if outcome == history.Refused {
					note(outcome)
				}
				break
			}
		}
	}
}

// kill ends a process without asking it, and starts another.
func (a *arena) kill(p *process, ahead time.Duration) *process {
	a.t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		a.t.Fatal(err)
	}
	a.orphan(p)
	a.gone(p)
	return a.launch(p.name, ahead)
}

// orphan records that the rooms of a process have no owner that works.
func (a *arena) orphan(p *process) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for room, owner := range a.serving {
		if owner == p {
			a.orphaned[room] = time.Now()
		}
	}
}

// gone waits for the end of a process.
func (a *arena) gone(p *process) {
	a.t.Helper()
	a.mu.Lock()
	delete(a.alive, p)
	a.mu.Unlock()
	p.to.Close()
	testkit.Receive(a.t, testkit.Patience, "the end of what a process says", p.reader)
	testkit.Finish(a.t, testkit.Patience, "the end of a process", func() { _ = p.cmd.Wait() })
	testkit.Receive(a.t, testkit.Patience, "the end of what is said to a process", p.writer)
	a.mu.Lock()
	defer a.mu.Unlock()
	for room, owner := range a.serving {
		if owner == p {
			delete(a.serving, room)
		}
	}
}

// healthy waits until events are appended to all rooms that come from now on.
func (a *arena) healthy() {
	a.t.Helper()
	a.mu.Lock()
	before := maps.Clone(a.done)
	a.mu.Unlock()
	testkit.Await(a.t, 2*testkit.Patience, "events are appended to all rooms", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return len(a.orphaned) == 0 && !slices.ContainsFunc(fought, func(room string) bool { return a.done[room] < before[room]+2 })
	})
}

// TestProcesses: three processes fight for fifty rooms, with clocks that are ten minutes apart, while one
// after the other is killed, stopped for longer than a lease holds, or cut off from the bus. Nothing that
// was acknowledged is lost, doubled or out of order, and no owner is heard after the next one.
func TestProcesses(t *testing.T) {
	server := pgtest.Start(t)
	a := &arena{t: t, url: server.Database(t), start: time.Now(), alive: make(map[*process]bool), owner: make(map[string]message), serving: make(map[string]*process),
		waiting: make(map[string]chan string), voices: make(map[string]history.Record), done: make(map[string]int), orphaned: make(map[string]time.Time)}
	db := open(t, a.url)
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE journal (number BIGINT GENERATED ALWAYS AS IDENTITY, id TEXT PRIMARY KEY, room TEXT, owner TEXT, fence BIGINT)"); err != nil {
		t.Fatal(err)
	}
	var all []*process
	for i, name := range []string{"a", "b", "c"} {
		all = append(all, a.launch(name, time.Duration(i)*10*time.Minute))
	}
	defer func() { // whatever is still there after a failed test
		a.mu.Lock()
		defer a.mu.Unlock()
		for p := range a.alive {
			_ = p.cmd.Process.Kill()
		}
	}()
	quit := make(chan struct{})
	var clients sync.WaitGroup
	for _, room := range fought {
		clients.Go(func() { a.client(room, quit) })
	}
	a.healthy()

	rounds := 3
	if os.Getenv("EARSHOT_PROOF") != "" {
		rounds = 30
	}
	for round := range rounds {
		i := rand.IntN(len(all))
		switch p := all[i]; round % 3 {
		case 0:
			all[i] = a.kill(p, time.Duration(rand.IntN(3))*10*time.Minute)
		case 1:
			if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			a.orphan(p)
			a.healthy()
			if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
		case 2:
			p.cut.Store(true)
			<-time.After(2 * cluster.TTL)
			p.cut.Store(false)
		}
		a.healthy()
	}
	close(quit)
	testkit.Finish(t, 2*testkit.Patience, "the end of the clients", clients.Wait)
	for _, p := range all {
		a.gone(p) // it ends, since nobody speaks to it any more
	}
	a.check(t, db)
}

// check checks what was seen, with what stands in the journal.
func (a *arena) check(t *testing.T, db *sql.DB) {
	rows, err := db.QueryContext(t.Context(), "SELECT id, room, owner, fence FROM journal ORDER BY number")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		r := history.Record{Kind: history.Read}
		if err := rows.Scan(&r.ID, &r.Room, &r.Owner, &r.Fence); err != nil {
			t.Fatal(err)
		}
		a.records = append(a.records, r)
		n++
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for room, v := range a.voices {
		a.records = append(a.records, history.Record{Kind: history.Ended, At: a.at(), Room: room, ID: v.ID})
	}
	for _, f := range history.Check(a.records) {
		t.Error(f)
	}
	slices.Sort(a.took)
	if len(a.took) == 0 {
		t.Fatal("no room was taken over")
	}
	at := func(percent int) time.Duration { return a.took[(len(a.took)-1)*percent/100].Round(time.Millisecond) }
	t.Logf("%d records, %d events in the journal, %d refused, %d pieces of voices not let out; %d take-overs: p50 %v, p90 %v, p99 %v, at most %v",
		len(a.records), n, a.refused, a.late, len(a.took), at(50), at(90), at(99), at(100))
}
