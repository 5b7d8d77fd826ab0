package attach_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/internal/testkit"
	"earshot/providers"
	"earshot/server/attach"
	"earshot/server/wire"
)

func TestNames(t *testing.T) {
	var n attach.Names
	for id, want := range map[earshot.ParticipantID]string{"": "somebody", "ann": "unknown"} {
		if got := n.Name(id); got != want {
			t.Errorf("%q is called %q, want %q", id, got, want)
		}
	}
	n.Learn(map[earshot.ParticipantID]string{
		"ann": "Ann", "bob": "", "": "root", "eve": strings.Repeat("e", 257), earshot.ParticipantID(strings.Repeat("i", 257)): "Ida",
	})
	n.Learn(map[earshot.ParticipantID]string{"bob": "Bob"})
	n.Learn(map[earshot.ParticipantID]string{"bob": "Robert"})
	n.Learn(nil)
	for id, want := range map[earshot.ParticipantID]string{
		"": "somebody", "ann": "Ann", "bob": "Robert", "eve": "unknown", earshot.ParticipantID(strings.Repeat("i", 257)): "unknown",
	} {
		if got := n.Name(id); got != want {
			t.Errorf("%.10q is called %q, want %q", id, got, want)
		}
	}
}

// TestNamesAreBounded: only so many names are kept, and the ones learnt longest ago are forgotten
// first. Names can be learnt and looked up at the same time.
func TestNamesAreBounded(t *testing.T) {
	var n attach.Names
	var all sync.WaitGroup
	const most = 4096
	id := func(i int) earshot.ParticipantID { return earshot.ParticipantID(fmt.Sprintf("%06d", i)) }
	for i := range 2 * most {
		all.Go(func() { n.Name(id(i)) })
		n.Learn(map[earshot.ParticipantID]string{id(i): "x"})
	}
	testkit.Finish(t, testkit.Patience, "all who look up names", all.Wait)
	for i := range 2 * most {
		if got := n.Name(id(i)); (got == "x") != (i >= most) {
			t.Fatalf("number %d is called %q", i, got)
		}
	}
}

// TestANameComesWithAReply: the terminal knows whom a reply is for even if no event of that person
// was shown before.
func TestANameComesWithAReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pr := connect(t, newRoom(), sense(idle), &testkit.Voice{Called: "console"})
		s, err := (<-pr.room.entered).Open(t.Context(), earshot.Opening{Turn: "1", To: "ann"}, func(earshot.Heard) {})
		if err != nil {
			t.Fatal(err)
		}
		s.Finish()
		synctest.Wait()
		if got := pr.names.Name("ann"); got != "the one called ann" {
			t.Errorf("ann is called %q", got)
		}
		pr.ends()
	})
}

// TestNamesComeWithWhatIsShown: an event comes with the names of everybody in any part of it, so
// that a terminal knows people who came after it.
func TestNamesComeWithWhatIsShown(t *testing.T) {
	for _, tt := range []struct {
		event earshot.Event
		ids   string
	}{
		{earshot.Event{Body: earshot.Notice{Key: "k"}}, ""},
		{earshot.Event{Author: "ann", Body: earshot.Message{Text: "[FROM: Eve] eve"}}, "ann"},
		{earshot.Event{Author: "ann", To: []earshot.ParticipantID{"bob", "agent"}, Body: earshot.Utterance{}}, "ann bob agent"},
		{earshot.Event{Author: "ann", Visibility: earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann", "cid"}}, Body: earshot.Message{Text: "x"}}, "ann cid"},
		{earshot.Event{Visibility: earshot.Visibility{Scope: earshot.Public, Agents: []earshot.ParticipantID{"agent"}}, Body: earshot.Presence{}}, "agent"},
		{earshot.Event{Author: "agent", Body: earshot.Reply{Cut: &earshot.Interruption{By: "bob"}}}, "agent bob"},
		{earshot.Event{Author: "agent", Body: earshot.Reply{Cut: &earshot.Interruption{}}}, "agent"},
		{earshot.Event{Body: earshot.Decision{Agent: "agent"}}, "agent"},
		{earshot.Event{Author: "ann", Body: earshot.Actor{Act: earshot.Merged, Participant: "bob", Into: "cid"}}, "ann bob cid"},
	} {
		synctest.Test(t, func(t *testing.T) {
			v := &testkit.Voice{Called: "console"}
			pr := connect(t, newRoom(), sense(idle), v)
			(<-pr.room.entered).(earshot.Board).Show(tt.event)
			synctest.Wait()
			if len(v.Shown()) != 1 {
				t.Fatalf("shown %d times", len(v.Shown()))
			}
			for _, id := range []earshot.ParticipantID{"ann", "bob", "cid", "agent", "eve", "Eve"} {
				want := "unknown"
				if strings.Contains(" "+tt.ids+" ", " "+string(id)+" ") {
					want = "the one called " + string(id)
				}
				if got := pr.names.Name(id); got != want {
					t.Errorf("%s: %s is called %q, want %q", tt.event.Body.Kind(), id, got, want)
				}
			}
			pr.ends()
		})
	}
}

// TestEnded: a terminal that may not stay is told why, and not that the connection was lost.
func TestEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		done := make(chan error, 1)
		go func() {
			done <- attach.Run(t.Context(), wire.NewConn(far, far, wire.MaxDown), sense(idle), &testkit.Voice{}, new(attach.Names))
		}()
		go io.Copy(io.Discard, near)
		_, _ = io.WriteString(near, `{"welcome":{"outlet":"terminal-1"}}`+"\n"+`{"ended":{"error":"the token was revoked","cure":"ask for another"}}`+"\n")
		err := <-done
		if r, ok := errors.AsType[*wire.Refusal](err); !ok || r.Mend != "ask for another" || errors.Is(err, attach.ErrLost) {
			t.Errorf("ended with %v", err)
		}
		near.Close()
	})
}

// TestPromptAfterWelcome: nobody can type before the terminal is in the room, since what is shown there
// meanwhile would be missed, unless the daemon takes too long.
func TestPromptAfterWelcome(t *testing.T) {
	for _, tt := range []struct {
		name              string
		welcome, prompted time.Duration
	}{
		{"a daemon that is busy", time.Second, time.Second},
		{"a daemon that hangs", time.Hour, 5 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := net.Pipe()
				began, prompted := time.Now(), make(chan time.Duration, 1)
				ctx, hangUp := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() {
					done <- attach.Run(ctx, wire.NewConn(far, far, wire.MaxDown), sense(func(ctx context.Context, _ providers.Emit) error {
						prompted <- time.Since(began)
						<-ctx.Done()
						return nil
					}), &testkit.Voice{}, new(attach.Names))
				}()
				go io.Copy(io.Discard, near)
				welcome := time.AfterFunc(tt.welcome, func() { _, _ = io.WriteString(near, `{"welcome":{"outlet":"terminal-1"}}`+"\n") })
				if at := <-prompted; at != tt.prompted {
					t.Errorf("prompted after %v, want %v", at, tt.prompted)
				}
				welcome.Stop()
				hangUp()
				<-done
				near.Close()
			})
		})
	}
}

// TestMayNotStayAtBothEnds: what is typed at a terminal that may not stay is refused, not admitted.
func TestMayNotStayAtBothEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		pr := &pair{room: newRoom(), daemons: make(chan error, 1)}
		pr.stay = func(context.Context) error { return errors.New("the token was revoked") }
		pr.serve(t, near)
		said := make(chan error, 1)
		err := attach.Run(t.Context(), wire.NewConn(far, far, wire.MaxDown), sense(func(ctx context.Context, emit providers.Emit) error {
			said <- emit(ctx, earshot.Event{Body: earshot.Message{Text: "x"}})
			<-ctx.Done()
			return nil
		}), &testkit.Voice{}, &pr.names)
		if _, ok := errors.AsType[*wire.Refusal](err); !ok || <-said == nil {
			t.Errorf("ended with %v", err)
		}
		<-pr.daemons
		pr.stop()
		if got := pr.room.heard(); got != "here=true here=false" {
			t.Errorf("the room heard %q", got)
		}
	})
}
