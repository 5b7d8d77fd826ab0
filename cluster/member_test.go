package cluster_test

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"earshot/bus"
	"earshot/cluster"
)

// A table stands in for the table of leases where time is simulated, for which PostgreSQL cannot be: it
// does what the statements do. Its clock is ten minutes ahead of ours, and has a speed of its own.
type table struct {
	t     *testing.T
	start time.Time
	speed float64
	house *house

	mu     sync.Mutex
	slow   time.Duration // the longest way there, and back
	rand   *rand.Rand
	rows   map[string]row
	drains map[string]bool
}

type row struct {
	owner string
	fence int64
	until time.Time
}

func (b *table) now() time.Time {
	return b.start.Add(10*time.Minute + time.Duration(float64(time.Since(b.start))*b.speed))
}

func (b *table) way() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Duration(b.rand.Int64N(int64(b.slow) + 1))
}

// do performs a statement, unless its way there or back takes longer than the caller waits.
func (b *table) do(ctx context.Context, cut bool, text string, args []driver.NamedValue) ([][]driver.Value, error) {
	there := b.way()
	if cut {
		there = time.Hour
	}
	select {
	case <-time.After(there):
	case <-ctx.Done():
		if cut || b.way()%2 == 0 { // it may arrive all the same
			return nil, ctx.Err()
		}
	}
	rows := b.perform(text, args)
	select {
	case <-time.After(b.way()):
		return rows, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (b *table) perform(text string, args []driver.NamedValue) [][]driver.Value {
	b.mu.Lock()
	defer b.mu.Unlock()
	arg := func(i int) any { return args[i].Value }
	end := func(i int) time.Time { return b.now().Add(time.Duration(arg(i).(float64) * float64(time.Second))) }
	switch {
	case strings.Contains(text, "cluster_drains") && strings.HasPrefix(text, "SELECT"):
		return [][]driver.Value{{strings.Join(slices.Sorted(maps.Keys(b.drains)), " ")}}
	case strings.HasPrefix(text, "INSERT INTO cluster_drains"):
		b.drains[arg(0).(string)] = true
	case strings.HasPrefix(text, "DELETE FROM cluster_drains"):
		delete(b.drains, arg(0).(string))
	case strings.HasPrefix(text, "INSERT"):
		room, owner := arg(0).(string), arg(1).(string)
		old, is := b.rows[room]
		if is && old.until.After(b.now()) && (old.owner != owner || arg(3).(bool)) {
			return nil
		}
		if old.owner != owner { // the last owner can have done this, or its lease has ended
			b.house.taken(room, owner, old.owner)
		}
		b.rows[room] = row{owner, old.fence + 1, end(2)}
		return [][]driver.Value{{old.fence + 1}}
	case strings.HasPrefix(text, "SELECT owner"):
		r := b.rows[arg(0).(string)]
		return [][]driver.Value{{r.owner, max(0, r.until.Sub(b.now()).Microseconds())}}
	case strings.HasPrefix(text, "WITH renewed"):
		renewed := make(map[string]bool)
		var keys []struct {
			Room  string
			Fence int64
		}
		if err := json.Unmarshal([]byte(arg(1).(string)), &keys); err != nil {
			b.t.Error(err)
		}
		for _, k := range keys {
			if r := b.rows[k.Room]; r.fence == k.Fence && r.owner == arg(2) {
				b.rows[k.Room] = row{r.owner, r.fence, end(0)}
				renewed[k.Room] = true
			}
		}
		answer, err := json.Marshal(renewed)
		if err != nil {
			b.t.Error(err)
		}
		return [][]driver.Value{{b.now().UnixMilli(), string(answer)}}
	case strings.HasPrefix(text, "UPDATE"):
		if r := b.rows[arg(0).(string)]; r.owner == arg(1) && r.fence == arg(2) {
			b.rows[arg(0).(string)] = row{"", r.fence + 1, b.now()}
		}
	}
	return nil
}

// A link is one member's way to the table. Like each of its connections, it is one to database/sql.
type link struct {
	table *table
	cut   atomic.Bool
}

func (l *link) Connect(context.Context) (driver.Conn, error) { return l, nil }
func (l *link) Driver() driver.Driver                        { return nil }
func (l *link) Prepare(string) (driver.Stmt, error)          { return nil, errors.ErrUnsupported }
func (l *link) Close() error                                 { return nil }
func (l *link) Begin() (driver.Tx, error)                    { return l, nil }
func (l *link) Commit() error                                { return nil }
func (l *link) Rollback() error                              { return nil }
func (l *link) CheckNamedValue(*driver.NamedValue) error     { return nil }

func (l *link) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	_, err := l.table.do(ctx, l.cut.Load(), text, args)
	return driver.ResultNoRows, err
}

func (l *link) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	found, err := l.table.do(ctx, l.cut.Load(), text, args)
	return &results{found}, err
}

type results struct{ left [][]driver.Value }

func (r *results) Columns() []string {
	return make([]string, len(slices.Concat(r.left[:min(1, len(r.left))]...)))
}
func (r *results) Close() error { return nil }

func (r *results) Next(to []driver.Value) error {
	if len(r.left) == 0 {
		return io.EOF
	}
	copy(to, r.left[0])
	r.left = r.left[1:]
	return nil
}

// A line is one member's way to the bus.
type line struct {
	bus.Bus
	cut atomic.Bool
}

func (l *line) Publish(subject string, data []byte) error {
	if l.cut.Load() {
		return bus.ErrFull
	}
	return l.Bus.Publish(subject, data)
}

func (l *line) Subscribe(ctx context.Context, pattern string, take func(bus.Message)) (func(), error) {
	return l.Bus.Subscribe(ctx, pattern, func(m bus.Message) {
		if !l.cut.Load() {
			take(m)
		}
	})
}

// A house is the members, and what is served.
type house struct {
	t     *testing.T
	table *table
	bus   bus.Local
	rooms []string
	log   *slog.Logger // nil for none

	mu      sync.Mutex
	members map[string]*resident
	moves   int
}

// A resident is a member, and its ways to the others.
type resident struct {
	house *house
	id    string
	link  link
	line  line

	leases *cluster.Leases
	member *cluster.Member
	drains atomic.Bool
	closes chan struct{} // ends the service of the room extra
	stop   context.CancelFunc
	done   chan struct{}

	mu     sync.Mutex
	serves map[string]*cluster.Lease
	last   map[string]time.Time // when it last had a valid lease of a room
	ending int                  // rooms that are being handed over
	most   int                  // of them at a time

	took    int // rooms that others had
	longest time.Duration
}

func (r *resident) takenOver(after time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.took++
	r.longest = max(r.longest, after)
}

func newHouse(t *testing.T, seed uint64, slow time.Duration, speed float64) *house {
	h := &house{t: t, members: make(map[string]*resident)}
	for i := range 12 {
		h.rooms = append(h.rooms, fmt.Sprintf("room%02d", i))
	}
	h.table = &table{t: t, start: time.Now(), speed: speed, slow: slow, house: h, rand: rand.New(rand.NewPCG(seed, 0)), rows: make(map[string]row), drains: make(map[string]bool)}
	return h
}

// join starts a member.
func (h *house) join(name string) *resident {
	r := &resident{house: h, id: cluster.NewID(name), done: make(chan struct{}), closes: make(chan struct{}), serves: make(map[string]*cluster.Lease), last: make(map[string]time.Time)}
	r.link.table, r.line.Bus = h.table, &h.bus
	db := sql.OpenDB(&r.link)
	var err error
	if r.leases, err = cluster.OpenLeases(h.t.Context(), db, r.id); err != nil {
		h.t.Fatal(err)
	}
	m := &cluster.Member{TakenOver: r.takenOver, Leases: r.leases, Bus: &r.line, Log: cmp.Or(h.log, slog.New(slog.DiscardHandler)), Serve: r.serve, Status: func() cluster.Status {
		return cluster.Status{Rooms: h.rooms, Drains: r.drains.Load()}
	}}
	r.member = m
	ctx, stop := context.WithCancel(h.t.Context())
	r.stop = stop
	h.mu.Lock()
	h.members[r.id] = r
	h.mu.Unlock()
	go func() {
		defer close(r.done)
		defer db.Close()
		if err := m.Run(ctx); !errors.Is(err, context.Canceled) {
			h.t.Errorf("%s ends with %v", r.id, err)
		}
	}()
	return r
}

func (r *resident) serve(ctx context.Context, lease *cluster.Lease) {
	r.mu.Lock()
	r.serves[lease.Room] = lease
	r.mu.Unlock()
	r.house.mu.Lock()
	r.house.moves++
	r.house.mu.Unlock()
	closes := r.closes
	if lease.Room != "extra" {
		closes = nil
	}
	select {
	case <-ctx.Done():
	case <-closes:
	}
	if errors.Is(context.Cause(ctx), cluster.ErrHandover) {
		r.mu.Lock()
		r.ending++
		r.most = max(r.most, r.ending)
		r.mu.Unlock()
		select {
		case <-time.After(100 * time.Millisecond): // the end of a clause
		case <-lease.Lost():
		}
		r.mu.Lock()
		r.ending--
		r.mu.Unlock()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.serves, lease.Room)
	r.last[lease.Room] = time.Now()
}

// taken checks that the last owner had fallen silent when somebody else took a room.
func (h *house) taken(room, by, from string) {
	h.mu.Lock()
	last := h.members[from]
	h.mu.Unlock()
	if last == nil {
		return
	}
	last.mu.Lock()
	defer last.mu.Unlock()
	if lease := last.serves[room]; lease != nil {
		h.t.Errorf("%s takes %s from %s, which serves it, and whose lease it holds valid: %v", by, room, from, lease.Valid())
	}
	if silent := time.Since(last.last[room]); silent < 150*time.Millisecond {
		h.t.Errorf("%s takes %s from %s, which fell silent only %v before", by, room, from, silent)
	}
}

// owners returns who serves each room, with all that do.
func (h *house) owners() map[string][]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make(map[string][]string)
	for _, id := range slices.Sorted(maps.Keys(h.members)) {
		r := h.members[id]
		r.mu.Lock()
		for room, lease := range r.serves {
			if lease.Valid() {
				all[room] = append(all[room], id)
			}
		}
		r.mu.Unlock()
	}
	return all
}

// settled checks that each room has one owner, that these are balanced, and that nothing moves.
func (h *house) settled() {
	time.Sleep(3 * cluster.Stay)
	h.mu.Lock()
	moves := h.moves
	h.mu.Unlock()
	time.Sleep(2 * cluster.Stay)
	owners, rooms := h.owners(), make(map[string]int)
	h.mu.Lock()
	defer h.mu.Unlock()
	if moves != h.moves {
		h.t.Errorf("rooms move on and on: %d times within a minute", h.moves-moves)
	}
	for id, r := range h.members {
		if !r.drains.Load() {
			rooms[id] = 0
		}
	}
	for _, room := range h.rooms {
		if len(owners[room]) != 1 {
			h.t.Errorf("%s is served by %v", room, owners[room])
			return
		}
		rooms[owners[room][0]]++
	}
	counts := slices.Collect(maps.Values(rooms))
	if slices.Max(counts) > slices.Min(counts)+1 {
		h.t.Errorf("members have %v rooms", rooms)
	}
}

// leave ends a member in good order.
func (r *resident) leave() {
	r.stop()
	<-r.done
	r.house.mu.Lock()
	defer r.house.mu.Unlock()
	delete(r.house.members, r.id)
}

func (h *house) end() {
	for _, r := range slices.Collect(maps.Values(h.members)) {
		r.leave()
	}
}

// TestMembers: whatever is cut off, slow or started again, nobody takes a room before its owner fell
// silent, and when all is well again each room has one owner, and stays there.
func TestMembers(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 1))
				h := newHouse(t, seed, []time.Duration{0, 20 * time.Millisecond, 600 * time.Millisecond}[seed%3], []float64{0.9, 1, 1.1}[seed/3%3])
				all := []*resident{h.join("a"), h.join("b"), h.join("c")}
				for range 20 {
					time.Sleep(time.Duration(random.Int64N(int64(6 * time.Second))))
					i := random.IntN(3)
					r := all[i]
					switch random.IntN(6) {
					case 0:
						r.link.cut.Store(!r.link.cut.Load())
					case 1:
						r.line.cut.Store(!r.line.cut.Load())
					case 2:
						r.drains.Store(!r.drains.Load())
					case 3:
						r.leave()
						all[i] = h.join(string(rune('a' + i)))
					case 4:
						for _, other := range all {
							other.link.cut.Store(false)
						}
					}
				}
				for _, r := range all {
					r.link.cut.Store(false)
					r.line.cut.Store(false)
				}
				all[random.IntN(3)].drains.Store(false)
				h.table.mu.Lock()
				h.table.slow = min(h.table.slow, 20*time.Millisecond)
				h.table.mu.Unlock()
				h.settled()
				h.end()
			})
		})
	}
}

// TestTakeOver: rooms of a member that is gone have an owner within four seconds, at whatever moment it
// goes, and those of one that ends in good order or drains hardly pause.
func TestTakeOver(t *testing.T) {
	for _, tt := range []struct {
		name string
		go_  func(*resident)
		most time.Duration
	}{
		{"killed", func(r *resident) { r.line.cut.Store(true); r.link.cut.Store(true) }, cluster.TTL + cluster.Every},
		{"without a database", func(r *resident) { r.link.cut.Store(true) }, cluster.TTL + cluster.Every},
		{"ended", func(r *resident) { r.stop() }, 500 * time.Millisecond},
		{"drained", func(r *resident) { r.drains.Store(true) }, 500 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for seed := range uint64(15) {
				synctest.Test(t, func(t *testing.T) {
					h := newHouse(t, seed, 5*time.Millisecond, 1)
					a, _, _ := h.join("a"), h.join("b"), h.join("c")
					h.settled()
					time.Sleep(time.Duration(seed) * cluster.Every / 15)
					tt.go_(a)
					gone, longest := make(map[string]time.Time), time.Duration(0)
					for range 600 {
						time.Sleep(10 * time.Millisecond)
						owners := h.owners()
						for _, room := range h.rooms {
							switch owner := owners[room]; {
							case len(owner) == 0 && gone[room].IsZero(), tt.name == "killed" && slices.Contains(owner, a.id) && gone[room].IsZero():
								gone[room] = time.Now().Add(-10 * time.Millisecond)
							case len(owner) > 0 && !slices.Contains(owner, a.id) && !gone[room].IsZero():
								longest = max(longest, time.Since(gone[room]))
								gone[room] = time.Time{}
							}
						}
					}
					for room, owners := range h.owners() {
						if slices.Contains(owners, a.id) {
							t.Errorf("%s is still served by who is gone", room)
						}
					}
					if longest > tt.most || len(h.owners()) != len(h.rooms) {
						t.Errorf("rooms were without an owner for %v, and %d have one", longest, len(h.owners()))
					}
					t.Logf("%v", longest)
					a.line.cut.Store(false)
					a.link.cut.Store(false)
					h.end()
				})
			}
		})
	}
}

// TestLate: a member that the database did not answer in time gets no rooms for half a minute, as long as there
// is another.
func TestLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 1, 5*time.Millisecond, 1)
		a, b, c := h.join("a"), h.join("b"), h.join("c")
		h.settled()
		a.link.cut.Store(true)
		time.Sleep(2 * cluster.TTL)
		a.link.cut.Store(false)
		time.Sleep(2 * cluster.Every)
		b.stop() // whose rooms a would get, which has none
		time.Sleep(2 * cluster.TTL)
		for room, owners := range h.owners() {
			if !slices.Equal(owners, []string{c.id}) {
				t.Errorf("%s is at %v, want %s", room, owners, c.id)
			}
		}
		time.Sleep(2 * cluster.Stay)
		if n := len(a.member.Leases.Held()); n == 0 {
			t.Error("it still gets no rooms long after the database has answered again")
		}
		h.end()
	})
}

// TestHandovers: a member that has many rooms to give away does not have all of them pause at once.
func TestHandovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 1, 5*time.Millisecond, 1)
		for i := range 20 {
			h.rooms = append(h.rooms, fmt.Sprintf("more%02d", i))
		}
		a := h.join("a")
		h.settled()
		h.join("b")
		time.Sleep(cluster.TTL)
		a.drains.Store(true)
		h.settled()
		if len(a.serves) > 0 || a.most < 2 || a.most > 8 {
			t.Errorf("after draining it has %d rooms, and gave away %d at a time", len(a.serves), a.most)
		}
		h.end()
	})
}

// TestDrain: a member that is to drain gives its rooms away and takes none, also after it was started
// again, whoever said so, until that is undone; and it is known how long its rooms had nobody.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 1, 5*time.Millisecond, 1)
		a, b := h.join("a"), h.join("b")
		h.settled()
		set := func(drains bool, has int) {
			t.Helper()
			if err := b.leases.SetDrain(t.Context(), "a", drains); err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * cluster.Stay)
			a.mu.Lock()
			defer a.mu.Unlock()
			if len(a.serves) != has {
				t.Errorf("it has %d rooms, want %d", len(a.serves), has)
			}
		}
		set(true, 0)
		if got := b.member.Condition().Drains; !slices.Equal(got, []string{"a"}) {
			t.Errorf("the other says that %v drain", got)
		}
		if b.took == 0 || b.longest > time.Second {
			t.Errorf("%d rooms were taken over, in at most %v", b.took, b.longest)
		}
		a.leave()
		a = h.join("a")
		set(true, 0)
		set(false, 6)
		h.end()
	})
}

// TestCondition: a member says what it has not got, and that another one has its name.
func TestCondition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 1, 5*time.Millisecond, 1)
		a := h.join("a")
		for _, tt := range []struct {
			name string
			does func()
			want cluster.Condition
		}{
			{"well", func() { h.join("b") }, cluster.Condition{Database: true, Bus: true}},
			{"without a database", func() { a.link.cut.Store(true) }, cluster.Condition{Bus: true}},
			{"without a bus", func() { a.link.cut.Store(false); a.line.cut.Store(true) }, cluster.Condition{Database: true}},
			{"twice", func() { a.line.cut.Store(false); h.join("a") }, cluster.Condition{Database: true, Bus: true, SameName: true}},
		} {
			tt.does()
			time.Sleep(2 * cluster.TTL)
			if got := a.member.Condition(); fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
			}
		}
		h.end()
	})
}

// TestLogs: a member logs once that the database does not answer, and once that it does again.
func TestLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		h := newHouse(t, 1, 5*time.Millisecond, 1)
		h.log = slog.New(slog.NewTextHandler(&log, nil))
		a := h.join("a")
		time.Sleep(2 * cluster.TTL)
		for range 2 {
			a.link.cut.Store(true)
			time.Sleep(time.Minute)
			a.link.cut.Store(false)
			time.Sleep(time.Minute)
		}
		h.end()
		for _, said := range []string{"level=WARN msg=\"the database does not answer", "level=INFO msg=\"the database answers again"} {
			if n := strings.Count(log.String(), said); n != 2 {
				t.Errorf("%d times it was logged: %s", n, said)
			}
		}
		if n := strings.Count(log.String(), "level=WARN"); n > 4 { // a room that could not be taken as the database went
			t.Errorf("%d warnings:\n%s", n, log.String())
		}
	})
}

// TestTake: a room that a member takes is its own until its service ends, though it is not placed, and
// all know who has it.
func TestTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 1, 5*time.Millisecond, 1)
		a, b := h.join("a"), h.join("b")
		owner := func(want string) {
			t.Helper()
			time.Sleep(2 * cluster.Every)
			for _, r := range []*resident{a, b} {
				if id, here := r.member.Owner("extra"); id != want || here != (id == r.id) || here != (r.member.Lease("extra") != nil) {
					t.Errorf("%s says that %q has the room, here: %v; want %q", r.id, id, here, want)
				}
			}
		}
		owner("")
		lease, err := a.member.Take(t.Context(), "extra")
		if err != nil || a.member.Lease("extra") != lease {
			t.Fatalf("taking a room: %v", err)
		}
		if again, err := a.member.Take(t.Context(), "extra"); err != nil || again != lease || !lease.Valid() {
			t.Errorf("taking it again: %v; another lease: %v", err, again != lease)
		}
		time.Sleep(2 * cluster.Stay)
		owner(a.id)
		_, err = b.member.Take(t.Context(), "extra")
		if held, is := errors.AsType[*cluster.HeldError](err); !is || held.Owner != a.id {
			t.Errorf("another takes it: %v", err)
		}
		var present []string
		for _, m := range b.member.Members() {
			present = append(present, m.ID)
		}
		if !slices.Equal(present, []string{a.id, b.id}) {
			t.Errorf("present are %v", present)
		}
		close(a.closes)
		owner("")
		if _, err := b.member.Take(t.Context(), "extra"); err != nil {
			t.Errorf("another takes a room that was closed: %v", err)
		}
		owner(b.id)
		h.end()
		if _, err := a.member.Take(t.Context(), "extra"); err == nil {
			t.Error("a member that has ended takes a room")
		}
	})
}
