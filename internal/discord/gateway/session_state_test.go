package gateway

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
	"pgregory.net/rapid"
)

// noon is when a test begins.
var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// String returns a step in words.
func (s step) String() string {
	if s.fault != nil {
		return fmt.Sprintf("stop %d", s.fault.Code)
	}
	how := "identify"
	if s.resume {
		how = "resume"
	}
	if s.ask {
		how = "ask, " + how
	}
	return fmt.Sprintf("%v, %s", s.wait, how)
}

// TestCourseAfterEnding: what comes next when a session that was open for an hour ends.
func TestCourseAfterEnding(t *testing.T) {
	open := disconnection{opened: true, lasted: time.Hour}
	with := func(change func(*disconnection)) disconnection { e := open; change(&e); return e }
	for _, tt := range []struct {
		name string
		e    disconnection
		want string
	}{
		{"cut", with(func(e *disconnection) { e.cause = lost }), "250ms, resume"},
		{"op 7", with(func(e *disconnection) { e.cause = reconnect }), "250ms, resume"},
		{"op 9, resumable", with(func(e *disconnection) { e.cause, e.resumable = invalid, true }), "250ms, resume"},
		{"op 9", with(func(e *disconnection) { e.cause = invalid }), "1s, ask, identify"},
		{"zombie", with(func(e *disconnection) { e.cause = zombie }), "250ms, resume"},
		{"we lost too much", with(func(e *disconnection) { e.cause = stale }), "500ms, ask, identify"},
		{"server goes away", with(func(e *disconnection) { e.cause, e.code = lost, 1001 }), "250ms, resume"},
		{"unknown error", with(func(e *disconnection) { e.cause, e.code = lost, 4000 }), "250ms, resume"},
		{"not authenticated", with(func(e *disconnection) { e.cause, e.code = lost, 4003 }), "500ms, ask, identify"},
		{"bad token", with(func(e *disconnection) { e.cause, e.code = lost, 4004 }), "stop 4004"},
		{"wrong number", with(func(e *disconnection) { e.cause, e.code = lost, 4007 }), "500ms, ask, identify"},
		{"too much sent", with(func(e *disconnection) { e.cause, e.code = lost, 4008 }), "250ms, resume"},
		{"timed out", with(func(e *disconnection) { e.cause, e.code = lost, 4009 }), "500ms, ask, identify"},
		{"shards", with(func(e *disconnection) { e.cause, e.code = lost, 4011 }), "stop 4011"},
		{"old version", with(func(e *disconnection) { e.cause, e.code = lost, 4012 }), "stop 4012"},
		{"unknown intents", with(func(e *disconnection) { e.cause, e.code = lost, 4013 }), "stop 4013"},
		{"intents", with(func(e *disconnection) { e.cause, e.code = lost, 4014 }), "stop 4014"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &sessionState{jitter: func() float64 { return 0 }}
			c.identifying(noon.Add(-time.Hour))
			c.ready("one", "wss://there")
			if got := c.next(noon, tt.e).String(); got != tt.want {
				t.Errorf("next is %s, want %s", got, tt.want)
			}
		})
	}
}

// TestCourseStories: each line of a story is how a connection ended, and what comes next.
func TestCourseStories(t *testing.T) {
	cut := disconnection{cause: lost}
	short := disconnection{cause: lost, opened: true, lasted: time.Second}
	away := disconnection{cause: unreachable}
	for name, story := range map[string][]struct {
		e    disconnection
		want string
	}{
		"the network is away for a while, and the session is kept": {
			{short, "500ms, resume"}, {away, "1s, ask, resume"}, {away, "2s, ask, resume"}, {away, "4s, ask, resume"},
			{away, "8s, ask, resume"}, {away, "16s, ask, resume"}, {away, "30s, ask, resume"}, {away, "30s, ask, resume"},
		},
		"resuming is tried three times": {
			{short, "500ms, resume"}, {cut, "1s, ask, resume"}, {cut, "2s, ask, resume"}, {cut, "8s, ask, identify"},
		},
		"the network is there, and where to resume is not": {
			{short, "500ms, resume"}, {away, "1s, ask, resume"},
			{disconnection{cause: unreachable, reached: true}, "2s, ask, resume"}, {disconnection{cause: unreachable, reached: true}, "4s, ask, resume"},
			{disconnection{cause: unreachable, reached: true}, "16s, ask, identify"},
		},
		"the session is unknown": {
			{short, "500ms, resume"}, {disconnection{cause: invalid}, "5s, ask, identify"},
		},
		"op 7 instead of READY": {
			{disconnection{cause: invalid, opened: true}, "5s, ask, identify"},
			{disconnection{cause: reconnect}, "5s, ask, identify"},
			{disconnection{cause: reconnect}, "5s, ask, identify"}, {disconnection{cause: reconnect}, "8s, ask, identify"},
		},
		"who is told to wait waits": {
			{disconnection{cause: unreachable, after: 90 * time.Second}, "1m30s, resume"},
			{disconnection{cause: unreachable, after: 90 * 24 * time.Hour}, "24h0m0s, ask, resume"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := &sessionState{jitter: func() float64 { return 1 }}
			now := noon
			c.identifying(now)
			c.ready("one", "wss://there")
			for i, line := range story {
				s := c.next(now, line.e)
				if s.String() != line.want {
					t.Fatalf("%d: next is %s, want %s", i, s, line.want)
				}
				now = now.Add(s.wait)
				if !s.resume && line.e.cause != unreachable {
					c.identifying(now)
				}
			}
		})
	}
}

// TestCourseNeverHammers: whatever happens, identifies are 5 s apart, there are at most 1,000 of
// them a day once things go badly, and a session that has ended is not resumed.
func TestCourseNeverHammers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rapid.Float64Range(0, 1)
		c := &sessionState{jitter: func() float64 { return random.Draw(t, "jitter") }}
		now, how := noon, c.begin(noon)
		var identified []time.Time
		for range rapid.IntRange(1, 60).Draw(t, "endings") {
			now = now.Add(how.wait)
			e := disconnection{
				cause:     disconnectCause(rapid.IntRange(0, int(exhausted)).Draw(t, "cause")),
				code:      rapid.SampledFrom([]int{0, 0, 1000, 1006, 4000, 4003, 4007, 4008, 4009}).Draw(t, "code"),
				resumable: rapid.Bool().Draw(t, "resumable"),
			}
			reached := e.cause != unreachable && e.cause != exhausted
			if reached && !how.resume {
				c.identifying(now)
				identified = append(identified, now)
			}
			if reached && rapid.Bool().Draw(t, "opens") {
				e.opened, e.lasted = true, time.Duration(rapid.Int64Range(0, int64(well)-1).Draw(t, "lasted"))
				if !how.resume {
					c.ready("one", "wss://there")
				} else {
					c.resumed()
				}
				now = now.Add(e.lasted)
			}
			how = c.next(now, e)
			if how.fault != nil {
				t.Fatalf("gave up: %v", how.fault)
			}
			if how.wait < soonest/2 {
				t.Fatalf("waits %v", how.wait)
			}
			if e.cause == invalid && !e.resumable && how.resume {
				t.Fatal("resumes what the gateway does not know")
			}
		}
		for i := 1; i < len(identified); i++ {
			if gap := identified[i].Sub(identified[i-1]); gap < apart {
				t.Fatalf("identified again after %v", gap)
			}
		}
		if n := len(identified); n > 20 {
			if most := identified[n-1].Sub(identified[n-11]); most < 10*rarest/2 {
				t.Fatalf("ten identifies in %v, though it goes badly", most)
			}
		}
	})
}

// TestFaults: a fault names its cure, and the intents that have to be switched on.
func TestFaults(t *testing.T) {
	f := refusal(4014, discordgo.IntentGuilds|discordgo.IntentMessageContent|discordgo.IntentGuildMembers)
	for _, part := range []string{"Message Content Intent", "Server Members Intent", "4014"} {
		if !strings.Contains(f.Error(), part) {
			t.Errorf("%q does not say %q", f, part)
		}
	}
	if strings.Contains(f.Error(), "Presence") {
		t.Errorf("%q names an intent that was not asked for", f)
	}
	if !strings.Contains(f.Cure(), "Privileged Gateway Intents") {
		t.Errorf("%q does not say where", f.Cure())
	}
	for _, code := range []int{401, 4004, 4010, 4011, 4012, 4013} {
		if f := refusal(code, 0); f == nil || f.Cure() == "" {
			t.Errorf("%d has no cure", code)
		}
	}
}

func TestAllowance(t *testing.T) {
	var a sendLimiter
	var at []time.Time
	for i := range 300 {
		now := noon.Add(time.Duration(i) * time.Millisecond)
		at = append(at, now.Add(a.take(now)))
	}
	for i := 100; i < len(at); i++ {
		if gap := at[i].Sub(at[i-100]); gap < time.Minute {
			t.Fatalf("101 messages in %v", gap)
		}
	}
	if at[99].Sub(noon) > 100*time.Millisecond {
		t.Error("the first hundred waited")
	}
}
