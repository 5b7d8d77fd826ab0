package attach_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"earshot"
	"earshot/internal/testkit"
	"earshot/participants"
	"earshot/providers"
	"earshot/server/attach"
	"earshot/server/remote"
	"earshot/server/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A room records what is admitted and which outlets enter.
type room struct {
	refuse  func(ctx context.Context, e earshot.Event) error // nil admits everything
	entered chan earshot.Outlet

	mu       sync.Mutex
	admitted []earshot.Event
	left     int
}

func newRoom() *room { return &room{entered: make(chan earshot.Outlet, 10)} }

func (r *room) Admit(ctx context.Context, e earshot.Event) error {
	if r.refuse != nil {
		if err := r.refuse(ctx, e); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.admitted = append(r.admitted, e)
	return nil
}

func (r *room) Join(s participants.Session, o earshot.Outlet, _ earshot.Audience) (func() earshot.Handle, func()) {
	r.entered <- o
	return func() earshot.Handle { return s.Account }, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.left++
	}
}

func (r *room) Name(id earshot.ParticipantID) string { return "the one called " + string(id) }

// heard returns one word for each event that was admitted.
func (r *room) heard() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var words []string
	for _, e := range r.admitted {
		switch b := e.Body.(type) {
		case earshot.Presence:
			words = append(words, fmt.Sprintf("here=%v", b.Here))
		case earshot.Typing:
			words = append(words, fmt.Sprintf("typing=%v", b.Began))
		case earshot.Command:
			words = append(words, "/"+b.Name)
		case earshot.Message:
			words = append(words, string(b.Text))
		}
	}
	return strings.Join(words, " ")
}

// A sense is a provider whose Run is given by the test.
type sense func(ctx context.Context, emit providers.Emit) error

func (sense) Name() string                                         { return "console" }
func (s sense) Run(ctx context.Context, emit providers.Emit) error { return s(ctx, emit) }

// idle is a sense at which nobody types.
func idle(ctx context.Context, _ providers.Emit) error {
	<-ctx.Done()
	return ctx.Err()
}

// A pair is both ends of an attached terminal, in a bubble.
type pair struct {
	room   *room
	client net.Conn                    // the terminal's end of the connection
	stay   func(context.Context) error // nil lets them stay

	names   attach.Names
	hangUp  context.CancelFunc // ends the terminal
	stop    context.CancelFunc // ends the daemon
	clients chan error         // what attach.Run returned
	daemons chan error         // what Serve returned
	dropped atomic.Int64
}

// connect attaches a terminal to r. Both ends must have returned at the end of the test, or the
// bubble fails.
func connect(t *testing.T, r *room, p providers.Provider, o earshot.Outlet) *pair {
	near, far := net.Pipe()
	pr := &pair{room: r, client: far, clients: make(chan error, 1), daemons: make(chan error, 1)}
	pr.serve(t, near)
	var ctx context.Context
	ctx, pr.hangUp = context.WithCancel(t.Context())
	go func() { pr.clients <- attach.Run(ctx, wire.NewConn(far, far, wire.MaxDown), p, o, &pr.names) }()
	return pr
}

// serve starts the daemon's end.
func (pr *pair) serve(t *testing.T, near net.Conn) {
	var ctx context.Context
	ctx, pr.stop = context.WithCancel(t.Context())
	term := &remote.Terminal{
		Session: participants.Session{
			ID: "s1", Room: "parlour", Outlet: "terminal-1", Account: earshot.Handle{Provider: "console", ID: "uid7"},
		},
		Backend: pr.room, Name: pr.room.Name,
		Stay: pr.stay, Dropped: func(n int) { pr.dropped.Add(int64(n)) },
	}
	go func() { pr.daemons <- term.Serve(ctx, wire.NewConn(near, near, wire.MaxUp)) }()
}

// ends ends the terminal, and returns the errors of both ends.
func (pr *pair) ends() (client, daemon error) {
	pr.hangUp()
	client, daemon = <-pr.clients, <-pr.daemons
	pr.stop()
	return client, daemon
}

const id = "01J00000000000000000000001"

func TestEventsComeInAsThoseOfTheConsole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		began := time.Now()
		pr := connect(t, r, sense(func(ctx context.Context, emit providers.Emit) error {
			time.Sleep(time.Second)
			for _, e := range []earshot.Event{
				{At: time.Now(), Body: earshot.Typing{Began: true}},
				{ID: id, At: time.Now(), Body: earshot.Message{Text: "hello"},
					From: earshot.Handle{Provider: "console", ID: "uid0"}, Via: "console", // a terminal must not choose these
					Author: "root", Room: "elsewhere", To: []earshot.ParticipantID{"x"}, Visibility: earshot.Visibility{Scope: earshot.Public},
					Sequence: 9, Sources: []earshot.EventID{"y"}},
				{At: time.Now().Add(time.Hour), Body: earshot.Command{Name: "why"}},
				{At: began.Add(-time.Hour), Body: earshot.Typing{Began: true}},
				{Body: earshot.Typing{Began: false}},
			} {
				if err := emit(ctx, e); err != nil {
					t.Error(err)
				}
			}
			return nil
		}), &testkit.Voice{Called: "console"})
		if err := <-pr.clients; err != nil {
			t.Errorf("the terminal ended with %v", err)
		}
		if err := <-pr.daemons; err != nil {
			t.Errorf("the daemon's end ended with %v", err)
		}
		if got, want := r.heard(), "here=true typing=true hello /why typing=true typing=false here=false"; got != want {
			t.Errorf("the room heard %q, want %q", got, want)
		}
		if r.left != 1 {
			t.Errorf("the outlet left %d times", r.left)
		}
		for _, e := range r.admitted {
			if e.From.ID != "uid7" || e.Via != "terminal-1" || e.Author != "" || e.Room != "parlour" ||
				len(e.To)+len(e.Sources)+int(e.Sequence) != 0 || e.Visibility.Scope != "" {
				t.Errorf("a terminal chose what it cannot know: %+v", e)
			}
			if e.At.Before(began) || e.At.After(time.Now()) {
				t.Errorf("an event came in at %v", e.At)
			}
		}
		if r.admitted[2].ID != id {
			t.Errorf("the message is %q, want the ID it was given", r.admitted[2].ID)
		}
	})
}

// A curable error has a cure.
type curable struct{ error }

func (curable) Cure() string { return "make room" }

func TestRefusalsComeBackInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		r.refuse = func(_ context.Context, e earshot.Event) error {
			if m, ok := e.Body.(earshot.Message); ok && strings.HasPrefix(string(m.Text), "bad") {
				return fmt.Errorf("admitting: %w", curable{errors.New("the disk is full")})
			}
			return nil
		}
		pr := connect(t, r, sense(func(ctx context.Context, emit providers.Emit) error {
			for _, tt := range []struct {
				body earshot.Body
				id   earshot.EventID
				want string
			}{
				{earshot.Message{Text: "good"}, "", ""},
				{earshot.Message{Text: "bad"}, "", "admitting: the disk is full; make room"},
				{earshot.Message{Text: "good2"}, id, ""},
				{earshot.Message{}, "", "the message is empty"},
				{earshot.Message{Text: "x"}, "me", "the id of an event must be a ULID: ulid: bad data size when unmarshaling"},
				{earshot.Message{Text: earshot.Text(strings.Repeat("\x01", earshot.MaxText+1))}, "", "the message has 65537 bytes; a room admits at most 65536; send it in parts"},
				{earshot.Presence{Session: "x"}, "", "a terminal cannot send events of the kind presence"},
				{earshot.Reply{Offered: "x"}, "", "a terminal cannot send events of the kind reply"},
				{earshot.ModeChange{Mode: earshot.Live}, "", "a terminal cannot send events of the kind mode"},
				{earshot.Memo{Text: "x"}, "", "a terminal cannot send events of the kind memo"},
				{earshot.Actor{Act: earshot.Merged, Participant: "x"}, "", "a terminal cannot send events of the kind actor"},
				{earshot.Decision{Agent: "x"}, "", "a terminal cannot send events of the kind decision"},
				{earshot.Notice{Key: "x"}, "", "a terminal cannot send events of the kind notice"},
				{earshot.Tombstone{Was: earshot.KindMessage}, "", "a terminal cannot send events of the kind erased"},
				{earshot.Utterance{Text: "x"}, "", "a terminal cannot send events of the kind utterance"},
				{earshot.Speech{Stage: earshot.VoiceCalls}, "", "a terminal cannot send events of the kind speech"},
				{earshot.Command{}, "", "a command without a name, or with too long a name"},
				{earshot.Message{Text: "good3"}, "", ""},
			} {
				err := emit(ctx, earshot.Event{ID: tt.id, Body: tt.body})
				if got := fmt.Sprint(err); got != tt.want && (err != nil || tt.want != "") {
					t.Errorf("%v was answered by %q, want %q", tt.body, got, tt.want)
				}
				if _, ok := errors.AsType[*wire.Refusal](err); ok != (err != nil) {
					t.Errorf("%T is no refusal", err)
				}
			}
			return nil
		}), &testkit.Voice{Called: "console"})
		<-pr.clients
		<-pr.daemons
		if got, want := r.heard(), "here=true good good2 good3 here=false"; got != want {
			t.Errorf("the room heard %q, want %q", got, want)
		}
	})
}

// TestASlowRoomHoldsTheSense: while the room is slow, emit waits. Events do not pile up, and they
// keep their order.
func TestASlowRoomHoldsTheSense(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		free := make(chan struct{})
		r.refuse = func(context.Context, earshot.Event) error { <-free; return nil }
		var emitted sync.WaitGroup
		pr := connect(t, r, sense(func(ctx context.Context, emit providers.Emit) error {
			for i := range 3 * wire.Unanswered {
				emitted.Go(func() {
					if err := emit(ctx, earshot.Event{Body: earshot.Message{Text: earshot.Text(fmt.Sprint(i))}}); err != nil {
						t.Errorf("message %d: %v", i, err)
					}
				})
				synctest.Wait() // keeps them in order
			}
			emitted.Wait()
			return nil
		}), &testkit.Voice{Called: "console"})
		time.Sleep(time.Second)
		close(free)
		<-pr.clients
		<-pr.daemons
		words := strings.Fields(r.heard())
		for i, w := range words[1 : len(words)-1] {
			if i < wire.Unanswered && w != fmt.Sprint(i) {
				t.Errorf("message %d came in as number %d", i, i)
			}
		}
		if len(words) != 3*wire.Unanswered+2 {
			t.Errorf("%d events were admitted, want %d", len(words), 3*wire.Unanswered+2)
		}
	})
}

// TestWhatWasBegunIsTakenBack: if a terminal goes in the middle of a line, nobody is left typing.
func TestWhatWasBegunIsTakenBack(t *testing.T) {
	for _, tt := range []struct {
		name   string
		bodies []earshot.Body
		want   string
	}{
		{"typing", []earshot.Body{earshot.Typing{Began: true}}, "here=true typing=true typing=false here=false"},
		{"sent", []earshot.Body{earshot.Typing{Began: true}, earshot.Message{Text: "x"}}, "here=true typing=true x here=false"},
		{"commanded", []earshot.Body{earshot.Typing{Began: true}, earshot.Command{Name: "x"}}, "here=true typing=true /x here=false"},
		{"refused", []earshot.Body{earshot.Typing{Began: true}, earshot.Message{Text: ""}}, "here=true typing=true typing=false here=false"},
		{"emptied", []earshot.Body{earshot.Typing{Began: true}, earshot.Typing{}}, "here=true typing=true typing=false here=false"},
	} {
		for _, how := range []string{"left", "lost", "stopped"} {
			t.Run(tt.name+" and "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRoom()
					pr := connect(t, r, sense(func(ctx context.Context, emit providers.Emit) error {
						for _, b := range tt.bodies {
							_ = emit(ctx, earshot.Event{Body: b})
						}
						<-ctx.Done()
						return nil
					}), &testkit.Voice{Called: "console"})
					synctest.Wait()
					switch how {
					case "left":
						pr.hangUp()
					case "lost":
						pr.client.Close()
					case "stopped":
						pr.stop()
					}
					if err := <-pr.clients; (err == nil) != (how == "left") || err != nil && !errors.Is(err, attach.ErrLost) {
						t.Errorf("the terminal ended with %v", err)
					}
					if err := <-pr.daemons; err != nil {
						t.Errorf("the daemon's end ended with %v", err)
					}
					pr.hangUp()
					pr.stop()
					if got := r.heard(); got != tt.want {
						t.Errorf("the room heard %q, want %q", got, tt.want)
					}
				})
			})
		}
	}
}

// TestEnterAndCloseTheWindow: what was sent before the terminal left or the daemon was told to stop
// is still admitted. A room that does not answer is not waited for for ever.
func TestEnterAndCloseTheWindow(t *testing.T) {
	for _, tt := range []struct {
		takes time.Duration
		stop  bool // the daemon is stopped, not the terminal
		want  string
	}{
		{time.Second, false, "here=true hello here=false"},
		{time.Second, true, "here=true hello here=false"},
		{time.Hour, false, "here=true here=false"},
		{time.Hour, true, "here=true here=false"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRoom()
			r.refuse = func(ctx context.Context, e earshot.Event) error {
				if e.Body.Kind() != earshot.KindMessage {
					return ctx.Err()
				}
				select {
				case <-time.After(tt.takes):
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			began := time.Now()
			pr := connect(t, r, sense(func(ctx context.Context, emit providers.Emit) error {
				_ = emit(ctx, earshot.Event{Body: earshot.Message{Text: "hello"}})
				return ctx.Err()
			}), &testkit.Voice{Called: "console"})
			synctest.Wait()
			if tt.stop {
				pr.stop()
			} else {
				pr.hangUp()
			}
			<-pr.clients
			if err := <-pr.daemons; err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %v to end", took)
			}
			if got := r.heard(); got != tt.want {
				t.Errorf("the room heard %q, want %q", got, tt.want)
			}
			pr.hangUp()
			pr.stop()
		})
	}
}

func TestShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &testkit.Voice{Called: "console"}
		pr := connect(t, newRoom(), sense(idle), v)
		o := <-pr.room.entered
		for _, via := range []string{"", "terminal-1", "console", "terminal-2"} {
			o.(earshot.Board).Show(earshot.Event{Via: via, Body: earshot.Message{Text: "x"}})
		}
		synctest.Wait()
		var vias []string
		for _, e := range v.Shown() {
			vias = append(vias, e.Via)
		}
		if got, want := fmt.Sprintf("%q", vias), `["" "console" "daemon/console" "terminal-2"]`; got != want {
			t.Errorf("shown as via %s, want %s", got, want)
		}
		pr.ends()
		o.(earshot.Board).Show(earshot.Event{Body: earshot.Message{Text: "late"}})
	})
}

// A quiet outlet neither flows nor is a board.
type quiet struct{ v *testkit.Voice }

func (q quiet) Name() string { return "quiet" }
func (q quiet) Open(ctx context.Context, o earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	return q.v.Open(ctx, o, heard)
}

func TestAbilitiesPassOver(t *testing.T) {
	for _, tt := range []struct {
		outlet earshot.Outlet
		flows  bool
	}{
		{&testkit.Voice{Flow: true}, true},
		{&testkit.Voice{Flow: false}, false},
		{quiet{&testkit.Voice{}}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			pr := connect(t, newRoom(), sense(idle), tt.outlet)
			o := <-pr.room.entered
			if got := o.(earshot.Flowing).Flows(); got != tt.flows {
				t.Errorf("flows = %v, want %v", got, tt.flows)
			}
			if o.Name() != "terminal-1" {
				t.Errorf("the room knows it as %q", o.Name())
			}
			o.(earshot.Board).Show(earshot.Event{Body: earshot.Message{Text: "x"}}) // has nothing to show it on, which does no harm
			synctest.Wait()
			if client, daemon := pr.ends(); client != nil || daemon != nil {
				t.Errorf("ended with %v and %v", client, daemon)
			}
		})
	}
}

// TestSilenceIsDeath: a terminal that sends nothing for a minute, not even a beat, is taken for
// dead. An idle one sends beats and stays.
func TestSilenceIsDeath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pr := connect(t, newRoom(), sense(idle), &testkit.Voice{})
		time.Sleep(time.Hour)
		select {
		case err := <-pr.clients:
			t.Errorf("the terminal ended with %v", err)
		case err := <-pr.daemons:
			t.Errorf("the daemon's end ended with %v", err)
		default:
		}
		pr.ends()
	})
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		pr := &pair{room: newRoom(), daemons: make(chan error, 1)}
		pr.serve(t, near)
		_, _ = far.Write([]byte(`{"hello":{}}` + "\n"))
		go io.Copy(io.Discard, far) // reads, and never sends anything
		began := time.Now()
		if err := <-pr.daemons; err == nil || time.Since(began) > 2*wire.Idle {
			t.Errorf("a frozen terminal ended with %v after %v", err, time.Since(began))
		}
		if got := pr.room.heard(); got != "here=true here=false" {
			t.Errorf("the room heard %q", got)
		}
		pr.stop()
		far.Close()
	})
}
