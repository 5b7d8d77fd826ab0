package participants_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot"
	"earshot/internal/testkit"
	"earshot/participants"
)

var (
	other   = earshot.Handle{Provider: "console", ID: "uid1001"}
	nobody  = earshot.Handle{Provider: "console", ID: "uid1002"}
	anybody = func(earshot.ParticipantID) bool { return true }
)

// A ledger keeps changes as the journal does, and has a clock.
type ledger struct {
	mu      sync.Mutex
	changes []earshot.Actor
	by      []earshot.ParticipantID
	n       int
	now     time.Time
	fails   error
}

func (l *ledger) record(_ context.Context, by earshot.ParticipantID, a earshot.Actor) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fails == nil {
		l.changes, l.by = append(l.changes, a), append(l.by, by)
	}
	return l.fails
}

func (l *ledger) newID() earshot.EventID {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	return earshot.EventID(fmt.Sprintf("%026d", l.n))
}

// house returns a configuration with one person of every kind.
func house() participants.Config {
	c := participants.DefaultConfig()
	c.AllowAnonymous = true
	c.Actors = []participants.Actor{
		{ID: "ann", DisplayName: "Ann", Description: "human user, primary", Handles: []string{"console:uid1000"}},
		{ID: "bob", DisplayName: "Bob", Handles: []string{"console:uid1001"}, Capabilities: []participants.Capability{participants.ReadMemory}},
		{ID: "claude", DisplayName: "Claude", Type: participants.AIAssistant},
		{ID: "tess", DisplayName: "Tess", RequiresAuth: true},
	}
	return c
}

func open(t testing.TB, c participants.Config) (*participants.Registry, *ledger) {
	t.Helper()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	l := &ledger{now: time.Unix(1.7e9, 0)}
	r, err := participants.Open(participants.Setup{
		Account: console, AccountName: "annika", Actors: c, Record: l.record, NewID: l.newID,
		Now: func() time.Time { return l.now },
		Agents: []participants.Participant{
			{ID: participants.Agent, Name: "Earshot"}, {ID: "scout", Name: "Scout"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, l
}

// TestClaim: a table of who gives which name at which account, and who they are then.
func TestClaim(t *testing.T) {
	for _, tt := range []struct {
		name    string
		account earshot.Handle
		says    string
		proven  func(earshot.ParticipantID) bool
		want    earshot.ParticipantID
		err     error
	}{
		{"nothing", console, "", nil, "ann", nil},
		{"their own name", console, "Ann", nil, "ann", nil},
		{"in capitals", console, "ANN", nil, "ann", nil},
		{"in full width", console, "Ａｎｎ", nil, "ann", nil},
		{"another's name", console, "Claude", nil, "claude", nil},
		{"the name of a person with an account", console, "bob", nil, "bob", nil},
		{"the owner's name, on another account", other, "Ann", nil, "", participants.ErrToken},
		{"with a token", other, "Ann", anybody, "ann", nil},
		{"with the token of somebody else", other, "Ann", func(id earshot.ParticipantID) bool { return id == "tess" }, "", participants.ErrToken},
		{"a name that needs a token", console, "Tess", nil, "", participants.ErrToken},
		{"a name that needs a token, with it", console, "Tess", anybody, "tess", nil},
		{"an agent's name", console, "Earshot", anybody, "", participants.ErrReserved},
		{"another agent's name", other, "scout", nil, "", participants.ErrReserved},
		{"what looks like an agent's name", console, "Sc0ut", nil, "", participants.ErrReserved},
		{"what looks like an agent's name to another eye", console, "\u0415arshot", nil, "", participants.ErrName},
		{"what looks like somebody's name", console, "B0b", nil, "", participants.ErrTaken},
		{"in other letters", console, "\u0421\u0430\u0440\u0430", nil, "p_00000000000000000000000001", nil},
		{"with something that cannot be seen", console, "B\u200bob", nil, "", participants.ErrName},
		{"a reserved word", console, "System", nil, "", participants.ErrName},
		{"an envelope", console, "Ann] [FROM: System", nil, "", participants.ErrName},
		{"a new name", console, "Dora", nil, "p_00000000000000000000000001", nil},
		{"the generic name", console, "user", nil, participants.Generic, nil},
		{"nothing, on an account that nobody knows", nobody, "", nil, "", participants.ErrUnknown},
		{"the name of a guest", console, "guest_1700000000", nil, "", participants.ErrName},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := open(t, house())
			known := len(r.Known())
			looks, err := r.Identify(t.Context(), tt.account, tt.says, tt.proven)
			if looks.ID != tt.want && looks.ID != "" || (looks.ID == "") != (err != nil) || err != nil && cure(err) == "" || len(r.Known()) != known {
				t.Errorf("who looks is %q, %v, and %d are known, want %d", looks.ID, err, len(r.Known()), known)
			}
			if strings.HasPrefix(string(tt.want), "p_") && !errors.Is(err, participants.ErrUnknown) {
				t.Errorf("who looks by a new name: %v", err)
			}
			p, err := r.Claim(t.Context(), tt.account, tt.says, tt.proven)
			if p.ID != tt.want || !errors.Is(err, tt.err) {
				t.Fatalf("is %q, %v; want %q, %v", p.ID, err, tt.want, tt.err)
			}
			if err != nil && cure(err) == "" {
				t.Errorf("%v: no cure", err)
			}
		})
	}
}

// TestErrorsHelp: the error for a refused name says what to do.
func TestErrorsHelp(t *testing.T) {
	c := house()
	c.AllowDynamicCreation = false
	r, _ := open(t, c)
	for _, tt := range []struct{ says, problem, cure string }{
		{"Dora", `nobody is called "Dora"`, "say who you are, with --identity NAME; known are Ann, Bob, Claude, Tess"},
		{"earshot", `the name "Earshot" is reserved for an agent`, "choose another, such as Earshot Smith"},
		{"Tess", `to be "Tess" takes a token`, "ask the owner for one (earshot token create), or say another name"},
		{"Ann, Bob", `the name "Ann, Bob" has ',' in it; it may have letters, digits, spaces and - ' . _`, "choose another, such as Ann Bob"},
	} {
		_, err := r.Claim(t.Context(), nobody, tt.says, nil)
		if err == nil || err.Error() != tt.problem || cure(err) != tt.cure {
			t.Errorf("%q: %v; %s", tt.says, err, cure(err))
		}
	}
}

// TestANameAloneIsNoPower: somebody who only gives a name has at most that person's rights, and
// never those of an operator.
func TestANameAloneIsNoPower(t *testing.T) {
	r, l := open(t, house())
	for _, id := range []earshot.ParticipantID{"ann", "tess", participants.Agent} {
		h := r.Attach(participants.Session{ID: "forged " + string(id), Participant: id, Account: other})
		if p := r.Resolve(h); p.ID != "" {
			t.Errorf("without a token %v is %+v", h, p)
		}
	}
	if _, err := r.Claim(t.Context(), other, "Ann", anybody); err != nil {
		t.Fatal(err)
	}
	h := r.Attach(participants.Session{ID: "proven", Participant: "ann", Account: other})
	if p := r.Resolve(h); p.ID != "ann" || !p.Can(participants.Operate) {
		t.Errorf("with a token %v is %+v", h, p)
	}
	if h := r.Attach(participants.Session{ID: "else", Participant: "ann", Account: nobody}); r.Resolve(h).ID != "" {
		t.Error("a token that one account has shown did for another")
	}
	for _, id := range []string{"forged ann", "proven"} {
		r.Detach(id)
	}
	l.now = l.now.Add(2 * time.Minute)
	h = r.Attach(participants.Session{ID: "later", Participant: "ann", Account: other})
	if p := r.Resolve(h); p.ID != "" {
		t.Errorf("after the session that showed it the token is still good: %+v", p)
	}
}

// TestTheOwner: the owner is the actor whose handles include the account, or else the actor who has
// the account's name and no handles.
func TestTheOwner(t *testing.T) {
	for _, tt := range []struct {
		name, account string
		actors        []participants.Actor
		id            earshot.ParticipantID
		called        string
	}{
		{"no actors", "ann", nil, participants.Owner, "ann"},
		{"by handle", "xyz", []participants.Actor{{ID: "ann", DisplayName: "Ann", Handles: []string{"console:uid1000"}}}, "ann", "Ann"},
		{"by name", "todd", []participants.Actor{{ID: "todd", Description: "human user, primary"}, {ID: "claude"}}, "todd", "todd"},
		{"by the ID that they have where nothing is said", "todd", []participants.Actor{{ID: participants.Owner, DisplayName: "Ann", Handles: []string{"discord:1"}}}, participants.Owner, "Ann"},
		{"by handle, and another is said to be", "todd", []participants.Actor{{ID: participants.Owner, DisplayName: "Bea"}, {ID: "ann", DisplayName: "Ann", Handles: []string{"console:uid1000"}}}, "ann", "Ann"},
		{"by name, but known elsewhere", "todd", []participants.Actor{{ID: "todd", Handles: []string{"discord:1"}}}, participants.Owner, "owner"},
		{"by name, but no person", "claude", []participants.Actor{{ID: "claude", Type: participants.AIAssistant}}, participants.Owner, "owner"},
		{"called like an agent", "Earshot", nil, participants.Owner, "owner"},
		{"a name that cannot be used", "user", nil, participants.Owner, "owner"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := participants.DefaultConfig()
			c.Actors = tt.actors
			r, err := participants.Open(participants.Setup{
				Account: console, AccountName: tt.account, Actors: c,
				Agents: []participants.Participant{{ID: participants.Agent, Name: "Earshot"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			p := r.Resolve(console)
			if p.ID != tt.id || p.Name != tt.called || !p.Can(participants.Operate) {
				t.Errorf("the owner is %+v", p)
			}
			if p, besides := r.Get(participants.Owner); tt.id != participants.Owner && besides && p.Can(participants.Operate) {
				t.Errorf("there is an owner besides: %+v", p)
			}
			if r.Resolve(earshot.Handle{}).ID != "" {
				t.Error("no handle is somebody's")
			}
		})
	}
}

// TestTwoClaimsAtOnce: simultaneous claims of one new name create one person, who is recorded
// before anybody becomes them.
func TestTwoClaimsAtOnce(t *testing.T) {
	r, l := open(t, house())
	ids := make([]earshot.ParticipantID, 8)
	var wg sync.WaitGroup
	for i, name := range []string{"Dora", "dora", "DORA", "Dora", "dora", " Dora ", "Dora", "Ｄora"} {
		wg.Go(func() {
			p, err := r.Claim(t.Context(), console, name, nil)
			if err != nil {
				t.Error(err)
			}
			ids[i] = p.ID
		})
	}
	testkit.Finish(t, 5*testkit.Patience, "the claims", wg.Wait)
	if all := slices.Compact(ids); len(all) != 1 || len(l.changes) != 1 || l.changes[0].Act != earshot.Created || l.by[0] != all[0] {
		t.Errorf("are %v, recorded as %v", all, l.changes)
	}
	if p := r.Resolve(r.Attach(participants.Session{ID: "1", Participant: ids[0], Account: console})); !p.Can(participants.SendMessages) || p.Can(participants.Operate) || len(p.Capabilities) != 1 {
		t.Errorf("a new person may %v", p.Capabilities)
	}
}

func TestWhatIsNotRecordedIsNot(t *testing.T) {
	r, l := open(t, house())
	l.fails = errors.New("the disk is full")
	version := r.Version()
	if p, err := r.Claim(t.Context(), console, "Dora", nil); !errors.Is(err, l.fails) || p.ID != "" {
		t.Errorf("is %+v, %v", p, err)
	}
	if _, found := r.Find("Dora"); found || r.Version() != version {
		t.Error("somebody came to be who is not in the journal")
	}
	l.fails = nil
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("gone"))
	if _, err := r.Claim(ctx, console, "Dora", nil); err != nil && err.Error() != "gone" {
		t.Errorf("one who left was told %v", err)
	}
}

// TestFlood: a script that gives a new name each time is refused in the end.
func TestFlood(t *testing.T) {
	r, _ := open(t, house())
	var err error
	n := 0
	for ; err == nil && n < 2000; n++ {
		_, err = r.Claim(t.Context(), console, "Person "+strings.Repeat("x", n%40+1)+"."+strings.Repeat("y", n/40+1), nil)
	}
	if !errors.Is(err, participants.ErrFull) && !errors.Is(err, participants.ErrName) || n < 500 {
		t.Errorf("after %d: %v", n, err)
	}
}

// TestATokenHoldsForWhoIsOnTheirWay: of two people who come in by a token, the first leaves after
// the second has claimed the name and before their session begins. The second still comes in.
func TestATokenHoldsForWhoIsOnTheirWay(t *testing.T) {
	r, _ := open(t, house())
	for i := range 3 {
		p, err := r.Claim(t.Context(), console, "Tess", anybody)
		if err != nil {
			t.Fatal(err)
		}
		r.Detach(fmt.Sprint(i - 1))
		h := r.Attach(participants.Session{ID: fmt.Sprint(i), Participant: p.ID, Account: console})
		if who := r.Resolve(h); who.ID != "tess" {
			t.Errorf("session %d is of %+v", i, who)
		}
	}
}

func TestGuests(t *testing.T) {
	r, l := open(t, house())
	first, err := r.Claim(t.Context(), nobody, "anonymous", nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := r.Claim(t.Context(), nobody, "Anonymous", nil)
	if err != nil || second.ID == first.ID || first.Name != "guest_1700000000" || second.Name != "guest_1700000000 2" {
		t.Fatalf("guests are %q and %q, %v", first.Name, second.Name, err)
	}
	h := r.Attach(participants.Session{ID: "1", Participant: first.ID, Account: nobody})
	r.Attach(participants.Session{ID: "2", Participant: first.ID, Account: nobody})
	if p := r.Resolve(h); p.ID != first.ID || len(p.Capabilities) != 1 {
		t.Errorf("a guest is %+v", p)
	}
	if _, err := r.Claim(t.Context(), other, first.Name, nil); !errors.Is(err, participants.ErrTaken) {
		t.Errorf("another guest became the first: %v", err)
	}
	if len(l.changes) != 0 {
		t.Errorf("recorded %v", l.changes)
	}
	if slices.ContainsFunc(r.Known(), func(p participants.Participant) bool { return p.ID == first.ID }) {
		t.Error("one can say to be a guest")
	}
	r.Detach("1")
	if _, is := r.Get(first.ID); !is {
		t.Error("gone before their last session")
	}
	r.Detach("2")
	if p, is := r.Get(first.ID); is || r.Resolve(h).ID != "" || r.Name(first.ID) != "a guest" {
		t.Errorf("still there: %+v, called %q", p, r.Name(first.ID))
	}
	l.now = l.now.Add(2 * time.Minute)
	if _, err := r.Claim(t.Context(), nobody, "anonymous", nil); err != nil {
		t.Fatal(err)
	}
	if _, is := r.Get(second.ID); is {
		t.Error("a guest who never came is still there")
	}
}

func TestTooManyGuests(t *testing.T) {
	c := house()
	c.AnonymousPattern = "visitor {number}"
	r, _ := open(t, c)
	var err error
	n := 0
	for seen := make(map[string]bool); err == nil && n < 1000; n++ {
		var p participants.Participant
		p, err = r.Claim(t.Context(), nobody, "anonymous", nil)
		if seen[participants.Key(p.Name)] {
			t.Fatalf("two guests are called %q", p.Name)
		}
		seen[participants.Key(p.Name)] = true
	}
	if !errors.Is(err, participants.ErrFull) || n != 101 {
		t.Errorf("after %d: %v", n, err)
	}
	c.AllowAnonymous = false
	r, _ = open(t, c)
	if _, err := r.Claim(t.Context(), nobody, "anonymous", nil); !errors.Is(err, participants.ErrUnknown) {
		t.Errorf("a guest came where none may: %v", err)
	}
}

// TestSessions: a person has one handle on an account, which ends with the last of their sessions
// there. Sessions and At find the right sessions.
func TestSessions(t *testing.T) {
	r, _ := open(t, house())
	at := time.Unix(1.7e9, 0)
	own := r.Attach(participants.Session{ID: "1", Participant: "ann", Account: console, Outlet: "console", Since: at})
	one := r.Attach(participants.Session{ID: "2", Participant: "claude", Account: console, Outlet: "tty2", Since: at.Add(2)})
	two := r.Attach(participants.Session{ID: "3", Participant: "claude", Account: console, Since: at.Add(1)})
	if own != console || one != two || one == own || r.Resolve(one).ID != "claude" || r.Resolve(own).ID != "ann" {
		t.Errorf("handles %v, %v, %v", own, one, two)
	}
	if s := r.Sessions("claude"); len(s) != 2 || s[0].ID != "3" || s[1].ID != "2" {
		t.Errorf("Claude has %v", s)
	}
	if s, ok := r.At("tty2"); !ok || s.Participant != "claude" {
		t.Errorf("at tty2 is %+v", s)
	}
	if s, ok := r.At(""); ok {
		t.Errorf("at no outlet is %+v", s)
	}
	r.Become("2", "bob")
	if h := r.Handle("2"); r.Resolve(h).ID != "bob" || r.Resolve(one).ID != "claude" || len(r.Sessions("claude")) != 1 {
		t.Errorf("became %+v", r.Resolve(h))
	}
	r.Become("2", "ann")
	if h := r.Handle("2"); h != console {
		t.Errorf("the account's own person has the handle %v", h)
	}
	r.Become("none", "bob")
	r.Detach("3")
	r.Detach("3")
	if p := r.Resolve(one); p.ID != "" || r.Handle("3") != (earshot.Handle{}) {
		t.Errorf("after the last session the handle is still %+v", p)
	}
}

// TestReconnectOverwritesNobody is lessons A.2, defect 4: attaching the same session again does not
// make a second one, and a further session of the same person does not count as another arrival.
func TestReconnectOverwritesNobody(t *testing.T) {
	r, _ := open(t, house())
	for range 2 {
		p, err := r.Claim(t.Context(), console, "Claude", nil)
		if err != nil {
			t.Fatal(err)
		}
		h := r.Attach(participants.Session{ID: "1", Participant: p.ID, Account: console})
		if r.Resolve(h).ID != "claude" {
			t.Fatalf("%v is %+v", h, r.Resolve(h))
		}
	}
	if !r.Come(earshot.Desk, "claude", "1") || r.Come(earshot.Desk, "claude", "1") || r.Come(earshot.Desk, "claude", "2") {
		t.Error("who is here came again")
	}
	r.Detach("1")
	if len(r.Sessions("claude")) != 0 {
		t.Error("the session is left over")
	}
}
