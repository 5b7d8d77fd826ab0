package server_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"earshot"
	"earshot/api"
	"earshot/internal/testkit"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/providers"
	"earshot/server"
	"earshot/server/attach"
	"earshot/server/client"
	"earshot/server/socket"
	"earshot/server/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for something that must happen.
const patience = 20 * time.Second

// A house records what it admits, once for each ID.
type house struct {
	refuse func(context.Context, earshot.Event) error                   // nil admits everything
	who    func(earshot.Handle, server.Claim) (server.Principal, error) // nil lets everybody in as ann
	vouch  func(server.Claim) (server.Principal, error)                 // nil accepts no token
	state  func() (api.Status, error)
	do     func(context.Context) error        // nil does what commands say
	name   func(earshot.ParticipantID) string // nil calls everybody by their ID
	enter  func(earshot.Outlet)               // nil leaves them alone
	order  func(participants.Participant, agents.Order) (api.AgentInfo, error)
	tell   func(participants.Participant, api.VoiceRequest) (api.VoiceChange, error)
	see    func(server.Principal, api.LookRequest) (api.CameraView, error)
	hold   func(server.Principal) (release func(), err error)
	live   func(server.Principal) (api.LiveView, <-chan struct{}, error) // nil never shows anything
	past   func(context.Context) error                                   // nil for no error
	says   func() ([]earshot.Event, <-chan struct{})                     // nil if nobody is speaking

	reload func() (api.ReloadResult, error) // nil for no change
	stays  func(server.Principal) error     // nil lets everybody stay

	mu       sync.Mutex
	kept     []earshot.Event
	asked    []earshot.Handle
	claims   []server.Claim
	grown    chan struct{}
	inside   int // sessions and outlets
	ill      []api.Obstacle
	underway []api.Activity

	sessions []participants.Session // all that ever came
}

func newHouse() *house { return &house{grown: make(chan struct{})} }

func (h *house) Identify(_ context.Context, account earshot.Handle, c server.Claim) (server.Principal, error) {
	if account == (earshot.Handle{}) {
		return h.byToken(c)
	}
	h.mu.Lock()
	h.asked, h.claims = append(h.asked, account), append(h.claims, c)
	h.mu.Unlock()
	if h.who != nil {
		return h.who(account, c)
	}
	return ann, nil
}

func (h *house) byToken(c server.Claim) (server.Principal, error) {
	account := earshot.Handle{Provider: "token", ID: "ann"}
	h.mu.Lock()
	h.asked, h.claims = append(h.asked, account), append(h.claims, c)
	h.mu.Unlock()
	if h.vouch != nil {
		p, err := h.vouch(c)
		p.Account = account
		return p, err
	}
	return server.Principal{}, participants.ErrToken
}

// ann is a person at the desk.
var ann = server.Principal{
	Participant: participants.Participant{ID: "ann", Name: "Ann"},
	Audience:    earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{"ann"}},
}

func (h *house) Join(s participants.Session, o earshot.Outlet, _ earshot.Audience) (func() earshot.Handle, func()) {
	h.mu.Lock()
	h.inside++
	h.sessions = append(h.sessions, s)
	h.mu.Unlock()
	if o != nil && h.enter != nil {
		h.enter(o)
	}
	return func() earshot.Handle { return handleOf(s.Account, s.Participant) }, h.gone
}

// handleOf returns the handle under which somebody acts from an account.
func handleOf(account earshot.Handle, who earshot.ParticipantID) earshot.Handle {
	account.ID += "/" + string(who)
	return account
}

// self returns the account that runs this test.
func self() earshot.Handle {
	return earshot.Handle{Provider: "console", ID: fmt.Sprintf("uid%d", os.Getuid())}
}

func (h *house) Name(id earshot.ParticipantID) string {
	if h.name != nil {
		return h.name(id)
	}
	return string(id)
}

func (h *house) Admit(ctx context.Context, e earshot.Event) error {
	if h.refuse != nil {
		if err := h.refuse(ctx, e); err != nil {
			return err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.ID != "" && slices.ContainsFunc(h.kept, func(k earshot.Event) bool { return k.ID == e.ID }) {
		return nil
	}
	e.Sequence = int64(len(h.kept) + 1)
	h.kept = append(h.kept, e)
	close(h.grown)
	h.grown = make(chan struct{})
	return nil
}

// Do answers a command with who gave it where, and a message with whom it does not reach.
func (h *house) Do(ctx context.Context, e earshot.Event) (string, error) {
	if h.do != nil {
		return "", h.do(ctx)
	}
	if c, is := e.Body.(earshot.Command); is {
		if c.Name == "dance" {
			return "", errors.New("there is no /dance")
		}
		return strings.Join([]string{string(e.From.ID), string(e.Room), c.Name, string(c.Args)}, " "), nil
	}
	if text := e.Body.(earshot.Message).Text; text == "@Zed hello" {
		return "nobody here is called Zed", h.Admit(ctx, e)
	}
	return "", h.Admit(ctx, e)
}

func (h *house) gone() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inside--
}

func (h *house) Events(ctx context.Context, a earshot.Audience, after int64, limit int) ([]earshot.Event, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	from := min(int(after), len(h.kept))
	some := slices.Clone(h.kept[from:min(from+limit, len(h.kept))])
	return slices.DeleteFunc(some, func(e earshot.Event) bool { return e.Room != "" && e.Room != a.Room }), ctx.Err()
}

func (h *house) Past(ctx context.Context, a earshot.Audience, kinds []earshot.Kind, before int64, limit int) ([]earshot.Event, error) {
	if h.past != nil {
		if err := h.past(ctx); err != nil {
			return nil, err
		}
	}
	var some []earshot.Event
	for _, e := range h.all() {
		if (e.Room == "" || e.Room == a.Room) && (before == 0 || e.Sequence < before) && (len(kinds) == 0 || slices.Contains(kinds, e.Body.Kind())) {
			some = append(some, e)
		}
	}
	return some[max(0, len(some)-limit):], nil
}

func (h *house) Search(ctx context.Context, a earshot.Audience, query string, before int64, limit int) ([]earshot.Event, error) {
	if query == "!" {
		return nil, errors.New("nothing to search for")
	}
	all, err := h.Past(ctx, a, []earshot.Kind{earshot.KindMessage}, before, 1<<30)
	all = slices.DeleteFunc(all, func(e earshot.Event) bool { return !strings.Contains(string(e.Body.(earshot.Message).Text), query) })
	slices.Reverse(all)
	return all[:min(limit, len(all))], err
}

func (h *house) Decisions(_ context.Context, _ earshot.Audience, agent string, before int64, limit int) ([]api.ExplainedDecision, error) {
	if agent == "nobody" {
		return nil, errors.New("there is no agent of that name")
	}
	var all []api.ExplainedDecision
	for n := int64(1); n < cmp.Or(before, 101); n++ {
		all = append(all, api.ExplainedDecision{Sequence: n, Agent: agent})
	}
	return all[max(0, len(all)-limit):], nil
}

func (h *house) Grown() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.grown
}

func (h *house) Interim(earshot.Audience) ([]earshot.Event, <-chan struct{}) {
	if h.says != nil {
		return h.says()
	}
	return nil, nil
}

func (h *house) State(context.Context, server.Principal) (api.Status, error) {
	if h.state != nil {
		return h.state()
	}
	return api.Status{Keeps: fmt.Sprint(len(h.all()), " kept")}, nil
}

func (h *house) Ready(context.Context) api.Readiness {
	h.mu.Lock()
	defer h.mu.Unlock()
	return api.Readiness{Ready: len(h.ill) == 0, Obstacles: h.ill, Underway: h.underway}
}

// counts serves the metrics.
var counts = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "earshot_turns_total 1") })

// serverOf returns a server for h.
func serverOf(h *house) *server.Server {
	return &server.Server{Backend: h, Journal: h, Admin: h, Metrics: counts}
}

func (h *house) Cluster(context.Context) (api.Cluster, error) { return api.Cluster{Name: "attic"}, nil }

func (h *house) Drain(_ context.Context, r api.DrainRequest) (api.Cluster, error) {
	return api.Cluster{Name: "attic", Members: []api.ClusterMember{{Name: r.Member, Drains: r.Drains}}}, nil
}

func (h *house) Diagnose(_ context.Context, e api.DiagnosisRequest) (api.Diagnosis, error) {
	return api.Diagnosis{Goroutines: fmt.Sprint(e.Goroutines)}, nil
}

func (h *house) Live(_ context.Context, p server.Principal) (api.LiveView, <-chan struct{}, error) {
	if h.live != nil {
		return h.live(p)
	}
	return api.LiveView{}, nil, nil
}

func (h *house) all() []earshot.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.kept)
}

// socketPath returns a path that is short enough for a socket.
func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "es")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "earshot", "s")
}

// serve serves h until the end of the test, and fails the test if anything is left then.
func serve(t *testing.T, h *house) (at string, stop func()) {
	t.Helper()
	at = socketPath(t)
	l, err := socket.Listen(at)
	if err != nil {
		t.Fatal(err)
	}
	return at, serveAt(t, h, l)
}

func serveAt(t *testing.T, h *house, l net.Listener) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- serverOf(h).Serve(ctx, l) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := testkit.Receive(t, testkit.Patience, "the end of the server", done); err != nil {
			t.Errorf("the server ended with %v", err)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.inside != 0 {
			t.Errorf("%d sessions and outlets are still inside", h.inside)
		}
	})
	t.Cleanup(stop)
	return stop
}

func TestPost(t *testing.T) {
	h := newHouse()
	at, _ := serve(t, h)
	c := &client.Client{Socket: at}
	const mine = "01J00000000000000000000001"
	for range 3 { // as a client that tries again
		if id, err := c.Post(t.Context(), mine, "hello"); id != mine || err != nil {
			t.Errorf("posted as %q with %v", id, err)
		}
	}
	id, err := c.Post(t.Context(), "", "héllo\n\x00")
	if err != nil {
		t.Fatal(err)
	}
	kept := h.all()
	if _, err := c.Post(t.Context(), "", "//path/to"); err != nil || h.all()[2].Body.(earshot.Message).Text != "/path/to" {
		t.Errorf("two slashes were kept as %v with %v", h.all()[2:], err)
	}
	if len(kept) != 2 || kept[1].ID != id || !reflect.DeepEqual(kept[1].Body, earshot.Message{Text: "héllo\n\x00"}) {
		t.Errorf("kept %v", kept)
	}
	want := handleOf(self(), "ann")
	if kept[0].From != want || kept[0].Room != earshot.Desk || kept[0].At.IsZero() || kept[0].Author != "" {
		t.Errorf("kept from %v, want %v", kept[0].From, want)
	}
}

// A curable error has a cure.
type curable struct{ error }

func (curable) Cure() string { return "make room" }

func TestPostIsRefused(t *testing.T) {
	h := newHouse()
	h.refuse = func(context.Context, earshot.Event) error { return curable{errors.New("the disk is full")} }
	at, _ := serve(t, h)
	c := &client.Client{Socket: at}
	for _, tt := range []struct {
		id   earshot.EventID
		text earshot.Text
		want wire.Refusal
	}{
		{"", "hello", wire.Refusal{Problem: "the disk is full", Mend: "make room"}},
		{"", "", wire.Refusal{Problem: "the message is empty"}},
		{"", "\n\u200b\ufeff\u2800\x00\n", wire.Refusal{Problem: "the message is empty"}},
		{"x", "hello", wire.Refusal{Problem: "the id of an event must be a ULID: ulid: bad data size when unmarshaling"}},
		{"", earshot.Text(strings.Repeat("\x01", 2*earshot.MaxText)), wire.Refusal{Problem: "the body has more than 394240 bytes"}},
		{"", earshot.Text(strings.Repeat("x", earshot.MaxText+1)), wire.Refusal{Problem: "the message has 65537 bytes; a room admits at most 65536", Mend: "send it in parts"}},
		{"", "\ufeff /msg Ann the ring", wire.Refusal{
			Problem: "a text that begins with a slash is a command, so nothing was said",
			Mend:    `give commands with POST /v1/commands, such as {"name":"msg","args":"NAME text"}; // begins a text with a slash`,
		}},
	} {
		_, err := c.Post(t.Context(), tt.id, tt.text)
		if r, ok := errors.AsType[*wire.Refusal](err); !ok || *r != tt.want {
			t.Errorf("refused with %v, want %v", err, tt.want)
		}
	}
}

// get sends a hand-written request.
func get(t *testing.T, network, at, request string) *http.Response {
	t.Helper()
	c, err := net.Dial(network, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(c, request) // an early answer may come before all of it is read
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("%.60q: %v", request, err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func TestRequests(t *testing.T) {
	at, _ := serve(t, newHouse())
	post := func(body string) string {
		return fmt.Sprintf("POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
	for _, tt := range []struct {
		name, request string
		status        int
		text          string
	}{
		{"good", post(`{"text":"x"}`), 200, `"id"`},
		{"state", "GET /v1/state HTTP/1.1\r\nHost: x\r\n\r\n", 200, `"keeps":"1 kept"`},
		{"whom it does not reach", post(`{"text":"@Zed hello"}`), 200, `"hint":"nobody here is called Zed"`},
		{"nothing there", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 404, "nothing at this path"},
		{"a path beside", "GET /v1/state/ HTTP/1.1\r\nHost: x\r\n\r\n", 404, "nothing at this path"},
		{"a path around", "GET /v1/../v1/state HTTP/1.1\r\nHost: x\r\n\r\n", 404, "nothing at this path"},
		{"wrong method", "GET /v1/messages HTTP/1.1\r\nHost: x\r\n\r\n", 405, "takes POST"},
		{"no body", post(""), 400, "not a valid JSON object"},
		{"not JSON", post("text=x"), 400, "not a valid JSON object"},
		{"half", post(`{"text":"x"`), 400, "not a valid JSON object"},
		{"two objects", post(`{"text":"x"}{}`), 400, "continues"},
		{"an unknown key", post(`{"text":"x","from":"root"}`), 400, "not a valid JSON object"},
		{"a wrong type", post(`{"text":7}`), 400, "not a valid JSON object"},
		{"too long", post(`{"text":"` + strings.Repeat("x", 1<<20) + `"}`), 413, "more than"},
		{"a long header", "GET /v1/state HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 1<<16) + "\r\n\r\n", 431, ""},
		{"not HTTP", "\x00\x01\x02\r\n\r\n", 400, ""},
		{"a bad sequence", "GET /v1/events?after=x HTTP/1.1\r\nHost: x\r\n\r\n", 400, "must be a sequence"},
		{"a negative sequence", "GET /v1/events?after=-1 HTTP/1.1\r\nHost: x\r\n\r\n", 400, "must be a sequence"},
		{"no upgrade", "POST /v1/attach HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 426, "earshot-terminal/3"},
		{"an old terminal", "POST /v1/attach HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: earshot-terminal/1\r\n\r\n", 426, "use the same version"},
		{"another upgrade", "POST /v1/attach HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", 426, "earshot-terminal/3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp := get(t, "unix", at, tt.request)
			body, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
			if resp.StatusCode != tt.status || !strings.Contains(string(body), tt.text) {
				t.Errorf("%s: %s", resp.Status, body)
			}
		})
	}
}

// TestStrangersLearnNothing: a connection for which the kernel does not vouch is refused at every
// route, and at paths that are not routes.
func TestStrangersLearnNothing(t *testing.T) {
	h := newHouse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveAt(t, h, l)
	routes := append(server.Routes(), [2]string{"GET", "/"}, [2]string{"DELETE", "/v1/state"})
	if len(routes) < 6 {
		t.Fatal("there are no routes to walk")
	}
	for _, r := range routes {
		resp := get(t, "tcp", l.Addr().String(), r[0]+" "+r[1]+" HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: earshot-terminal/3\r\nContent-Length: 12\r\n\r\n"+`{"text":"x"}`)
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s %s: %s", r[0], r[1], resp.Status)
		}
	}
	if len(h.all()) != 0 || len(h.asked) != 0 {
		t.Errorf("a stranger got as far as the house: %v, %v", h.all(), h.asked)
	}
}

// TestWhomTheHouseRefuses: somebody whom the kernel knows but the house refuses is refused at every
// route.
func TestWhomTheHouseRefuses(t *testing.T) {
	h := newHouse()
	h.who = func(earshot.Handle, server.Claim) (server.Principal, error) {
		return server.Principal{}, errors.New("you are nobody here")
	}
	at, _ := serve(t, h)
	for _, r := range server.Routes() {
		resp := get(t, "unix", at, r[0]+" "+r[1]+" HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: earshot-terminal/3\r\nContent-Length: 12\r\n\r\n"+`{"text":"x"}`)
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s %s: %s", r[0], r[1], resp.Status)
		}
	}
	c := &client.Client{Socket: at}
	if _, err := c.State(t.Context()); err == nil || err.Error() != "you are nobody here" {
		t.Errorf("state: %v", err)
	}
	if err := c.Attach(t.Context(), sense(nil), &testkit.Voice{}, new(attach.Names)); err == nil || err.Error() != "you are nobody here" {
		t.Errorf("attach: %v", err)
	}
	if len(h.all()) != 0 {
		t.Errorf("kept %v", h.all())
	}
}

func TestHandleOf(t *testing.T) {
	for _, tt := range []struct {
		uid, own int
		id       string
		ok       bool
	}{
		{1000, 1000, "uid1000", true},
		{0, 1000, "uid0", true}, // the house decides what it may do
		{0, 0, "uid0", true},
		{1001, 1000, "", false},
		{1000, 0, "", false},
		{-1, 1000, "", false},
	} {
		h, ok := server.HandleOf(tt.uid, tt.own)
		if ok != tt.ok || h.ID != tt.id {
			t.Errorf("user %d at the daemon of %d is %v, %v", tt.uid, tt.own, h, ok)
		}
	}
}

func TestState(t *testing.T) {
	h := newHouse()
	at, _ := serve(t, h)
	c := &client.Client{Socket: at}
	if got, err := c.State(t.Context()); got.Keeps != "0 kept" || err != nil {
		t.Errorf("state is %+v, %v", got, err)
	}
	h.state = func() (api.Status, error) { return api.Status{}, errors.New("cannot say") }
	if _, err := c.State(t.Context()); err == nil || err.Error() != "cannot say" {
		t.Errorf("state: %v", err)
	}
	h.state = func() (api.Status, error) {
		return api.Status{RoomState: api.RoomState{Company: &api.PresenceEstimate{Who: []api.PresenceGuess{{Sure: math.NaN()}}}}}, nil
	}
	if _, err := c.State(t.Context()); err == nil || !strings.Contains(err.Error(), "JSON") {
		t.Errorf("state: %v", err)
	}
}

// fill adds n messages to h.
func fill(t *testing.T, h *house, n int) {
	t.Helper()
	for i := range n {
		if err := h.Admit(t.Context(), earshot.Event{Body: earshot.Message{Text: earshot.Text(fmt.Sprint(i))}}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEventsResume: a client that loses the stream again and again still gets every event once, in
// order.
func TestEventsResume(t *testing.T) {
	h := newHouse()
	at, _ := serve(t, h)
	c := &client.Client{Socket: at}
	fill(t, h, 300)
	var writing sync.WaitGroup
	writing.Go(func() { fill(t, h, 300) })
	defer testkit.Finish(t, testkit.Patience, "the writer", writing.Wait)
	after, seen := int64(0), 0
	for seen < 600 {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		taken := 0
		for e, err := range c.Events(ctx, after) {
			if err != nil {
				t.Fatalf("after %d: %v", after, err)
			}
			if e.Sequence != after+1 {
				t.Fatalf("event %d came after event %d", e.Sequence, after)
			}
			after, seen, taken = e.Sequence, seen+1, taken+1
			if taken == 70 || seen == 600 { // the client leaves in the middle
				break
			}
		}
		cancel()
	}
}

// TestEventsFollow: a waiting client gets what happens.
func TestEventsFollow(t *testing.T) {
	h := newHouse()
	at, _ := serve(t, h)
	fill(t, h, 1)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for e, err := range (&client.Client{Socket: at}).Events(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Sequence == 5 {
			break
		}
		fill(t, h, 1)
	}
}

// TestEventsHoldAReaderThatDoesNotRead: the journal is read no further than the client reads.
func TestEventsHoldAReaderThatDoesNotRead(t *testing.T) {
	h := newHouse()
	big := earshot.Text(strings.Repeat("x", earshot.MaxText))
	for range 500 {
		_ = h.Admit(t.Context(), earshot.Event{Body: earshot.Message{Text: big}})
	}
	at, stop := serve(t, h)
	resp := get(t, "unix", at, "GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n")
	line, err := bufio.NewReader(resp.Body).ReadBytes('\n')
	var e earshot.Event
	if err != nil || json.Unmarshal(line, &e) != nil || e.Sequence != 1 {
		t.Errorf("first came event %d, %v", e.Sequence, err)
	}
	c := &client.Client{Socket: at} // others are still served
	if _, err := c.State(t.Context()); err != nil {
		t.Error(err)
	}
	stop() // a stalled stream does not hold up the end
}

func TestEventsEnd(t *testing.T) {
	h := newHouse()
	at, stop := serve(t, h)
	fill(t, h, 1)
	var last error
	for _, err := range (&client.Client{Socket: at}).Events(t.Context(), 0) {
		last = err
		stop()
	}
	if last == nil || errors.Is(last, context.Canceled) {
		t.Errorf("the stream of a daemon that stopped ended with %v", last)
	}
	for _, err := range (&client.Client{Socket: at}).Events(t.Context(), 0) {
		last = err
	}
	if !errors.Is(last, client.ErrNotRunning) {
		t.Errorf("the stream of no daemon ended with %v", last)
	}
}

// later reports whether the same request may work later.
func later(err error) bool {
	_, refused := client.Refused(err)
	return err != nil && !refused
}

// TestRefused: tells the errors that make another try pointless from those that do not.
func TestRefused(t *testing.T) {
	no := &wire.Refusal{Problem: "you may not", Mend: "ask Ann"}
	for _, tt := range []struct {
		name string
		err  error
		want *wire.Refusal
	}{
		{"all is well", nil, nil},
		{"a refusal", no, no},
		{"a refusal, told further", fmt.Errorf("asking for the status: %w", no), no},
		{"a refusal and what came of it", errors.Join(no, io.ErrClosedPipe), no},
		{"a failure", &client.Failure{Refusal: no}, nil},
		{"a failure, told further", fmt.Errorf("asking: %w", &client.Failure{Refusal: no}), nil},
		{"nobody there", client.ErrNotRunning, nil},
		{"a connection that broke", io.ErrUnexpectedEOF, nil},
	} {
		if got, refused := client.Refused(tt.err); got != tt.want || refused != (tt.want != nil) {
			t.Errorf("%s: %v, %v", tt.name, got, refused)
		}
	}
}

// TestAskedWhileItEnds: a request that the end of the daemon interrupts may be repeated later.
func TestAskedWhileItEnds(t *testing.T) {
	h, asked := newHouse(), make(chan struct{})
	h.past = func(ctx context.Context) error {
		close(asked)
		<-ctx.Done()
		return fmt.Errorf("reading the journal: %w", context.Cause(ctx))
	}
	at, stop := serve(t, h)
	ended := make(chan error)
	go func() {
		_, err := (&client.Client{Socket: at}).History(t.Context(), nil, 0, 1)
		ended <- err
	}()
	testkit.Receive(t, testkit.Patience, "the question at the house", asked)
	go stop()
	if err := testkit.Receive(t, testkit.Patience, "the answer", ended); !later(err) || !strings.Contains(err.Error(), "is stopping") {
		t.Errorf("it was answered with %v", err)
	}
	stop()
	if _, err := (&client.Client{Socket: at}).History(t.Context(), nil, 0, 1); !later(err) {
		t.Errorf("nobody answered with %v", err)
	}
}

// A sense is a provider whose Run is given by the test; nil waits for the end.
type sense func(ctx context.Context, emit providers.Emit) error

func (sense) Name() string { return "console" }
func (s sense) Run(ctx context.Context, emit providers.Emit) error {
	if s == nil {
		<-ctx.Done()
		return nil
	}
	return s(ctx, emit)
}

// TestAttach has a conversation at an attached terminal, over a real socket.
func TestAttach(t *testing.T) {
	h := newHouse()
	voice := &testkit.Voice{Called: "console"}
	outlets := make(chan earshot.Outlet, 1)
	h.enter = func(o earshot.Outlet) { outlets <- o }
	at, _ := serve(t, h)
	ended := make(chan earshot.Heard, 1)
	err := (&client.Client{Socket: at}).Attach(t.Context(), sense(func(ctx context.Context, emit providers.Emit) error {
		o := testkit.Receive(t, testkit.Patience, "an outlet", outlets)
		if err := emit(ctx, earshot.Event{Body: earshot.Message{Text: "hello"}}); err != nil {
			return err
		}
		s, err := o.Open(ctx, earshot.Opening{Turn: "1"}, func(at earshot.Heard) {
			if at.End {
				ended <- at
			}
		})
		if err != nil {
			return err
		}
		o.(earshot.Board).Show(earshot.Event{Body: earshot.Notice{Key: "k", Text: "t"}})
		err = errors.Join(s.Say(earshot.Clause{Text: "Hello, "}), s.Say(earshot.Clause{N: 1, Text: "Ann."}))
		s.Finish()
		if at := testkit.Receive(t, testkit.Patience, "the end of what is said", ended); at.Clause != 1 || at.Byte != 4 {
			t.Errorf("heard up to %v", at)
		}
		return err
	}), voice, new(attach.Names))
	if err != nil {
		t.Errorf("attached: %v", err)
	}
	if voice.Played() != "Hello, Ann." || len(voice.Shown()) != 1 {
		t.Errorf("played %q, showed %d", voice.Played(), len(voice.Shown()))
	}
	testkit.Await(t, patience, "the terminal to go", func() bool {
		kept := h.all()
		p, ok := kept[len(kept)-1].Body.(earshot.Presence)
		return ok && !p.Here
	})
	kept := h.all()
	here, gone := kept[0].Body.(earshot.Presence), kept[2].Body.(earshot.Presence)
	if len(kept) != 3 || !here.Here || here.Session == "" || here.Session != gone.Session || kept[1].Via != "terminal-1" {
		t.Errorf("kept %v", kept)
	}
}

// TestServeEndsTerminals: a daemon that stops removes all terminals before it returns, and tells
// them.
func TestServeEndsTerminals(t *testing.T) {
	h := newHouse()
	at, stop := serve(t, h)
	const n = 10
	errs := make(chan error, n)
	for range n {
		go func() {
			errs <- (&client.Client{Socket: at}).Attach(t.Context(), sense(nil), &testkit.Voice{}, new(attach.Names))
		}()
	}
	testkit.Await(t, patience, "the terminals to attach", func() bool { return len(h.all()) == n })
	stop()
	sessions := map[string]int{}
	for _, e := range h.all() {
		sessions[e.Body.(earshot.Presence).Session]++
	}
	if len(sessions) != n || len(h.all()) != 2*n {
		t.Errorf("%d sessions and %d events", len(sessions), len(h.all()))
	}
	for range n {
		if err := testkit.Receive(t, testkit.Patience, "the end of a terminal", errs); !errors.Is(err, attach.ErrLost) {
			t.Errorf("a terminal ended with %v", err)
		}
	}
}

// TestTooManyConnections: the limit is kept and reported, and a connection that ends makes room
// again.
func TestTooManyConnections(t *testing.T) {
	at, _ := serve(t, newHouse())
	var open []net.Conn
	for range server.Connections {
		c, err := net.Dial("unix", at)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		open = append(open, c)
	}
	c := &client.Client{Socket: at}
	if _, err := c.State(t.Context()); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("connection %d: %v", server.Connections+1, err)
	}
	open[0].Close()
	testkit.Await(t, patience, "a place to be free", func() bool {
		_, err := c.State(t.Context())
		return err == nil
	})
}

// TestHostileConnections: incomplete requests, floods and garbage hold up neither other clients nor
// the end.
func TestHostileConnections(t *testing.T) {
	h := newHouse()
	at, stop := serve(t, h)
	upgrade := "POST /v1/attach HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: earshot-terminal/3\r\n\r\n"
	event := `{"event":{"kind":"message","body":{"text":"x"}}}` + "\n"
	for _, sends := range []string{
		"", "GET", "GET /v1/state HTTP/1.1\r\nHost: x\r\nX: ", "POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
		"GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n", "\x16\x03\x01" + strings.Repeat("\x00", 1000),
		upgrade, upgrade + "{", upgrade + `{"hello":{}}` + "\n" + `{"event":`, upgrade + strings.Repeat("x", 2<<20),
		upgrade + `{"hello":{}}` + "\n" + strings.Repeat(event, 10_000),
	} {
		c, err := net.Dial("unix", at)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(patience))
		_, _ = io.WriteString(c, sends) // may be cut off by the server
	}
	c := &client.Client{Socket: at}
	if _, err := c.Post(t.Context(), "", "hello"); err != nil {
		t.Errorf("somebody else cannot post: %v", err)
	}
	stop()
}
