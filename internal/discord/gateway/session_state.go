package gateway

import (
	"fmt"
	"time"

	"github.com/bwmarrin/discordgo"
)

const (
	// apart is the least time between two identifies. Discord allows one in 5 s.
	apart = 5 * time.Second
	// soonest and latest bound the wait before reconnecting: a restarting router is back within the
	// first, and nobody repairs anything by hand faster than the second.
	soonest = 500 * time.Millisecond
	latest  = 30 * time.Second
	// rarest is the longest wait before an identify. Discord allows 1,000 a day and revokes the
	// token of a bot that needs more; one in two minutes is 720.
	rarest = 2 * time.Minute
	// well is how long a session must have been open for its failures to be forgotten.
	well = time.Minute
	// tries is how often resuming one session is tried.
	tries = 3
	// longest bounds the wait that a server may demand: the day after which the number of
	// identifies starts anew.
	longest = 24 * time.Hour
)

// A disconnectCause is why a connection to the gateway ended, or failed.
type disconnectCause int

const (
	unreachable disconnectCause = iota // before the gateway was asked to resume or identify
	lost                               // closed by the server, cut, or unreadable
	reconnect                          // op 7
	invalid                            // op 9
	zombie                             // no heartbeat was acknowledged
	slow                               // neither READY nor RESUMED came in time
	stale                              // we lost too many events, and want them again
	exhausted                          // no identify is left for today
)

func (c disconnectCause) String() string {
	return [...]string{"cannot be reached", "connection lost", "asked to reconnect", "session invalid",
		"heartbeats not acknowledged", "did not open in time", "state to be asked anew", "no session start left"}[c]
}

// A disconnection is how a connection ended.
type disconnection struct {
	cause     disconnectCause
	code      int           // of the websocket or of HTTP; 0 if there is none
	resumable bool          // of op 9
	opened    bool          // READY or RESUMED had come
	lasted    time.Duration // since READY or RESUMED
	reached   bool          // Discord answered, so it is not the network
	after     time.Duration // the least time to wait, if the server says so
	fault     *Fault        // if trying again is useless
	err       error         // for the log
}

// A step says what to do next.
type step struct {
	wait   time.Duration
	resume bool   // otherwise identify
	ask    bool   // request the gateway's address first, which shows whether Discord is reachable
	fault  *Fault // stop
}

// A sessionState decides when a session connects, and whether it resumes. It has no clock
// and no goroutine.
type sessionState struct {
	intents discordgo.Intent
	jitter  func() float64 // from 0 to 1

	session    string // "" if none can be resumed
	url        string // where to resume
	seq        int64  // of the last event taken
	fails      int    // failed connections in a row
	unresumed  int    // attempts to resume in a row without RESUMED
	identified time.Time
	turn       time.Time // until when it may identify, if it has to wait for that
}

// begin returns the first step of a run at now.
func (c *sessionState) begin(now time.Time) step {
	return step{ask: true, wait: max(c.identified.Add(apart).Sub(now), 0)}
}

// identifying records that an identify is sent at now: the previous session has ended.
func (c *sessionState) identifying(now time.Time) {
	c.identified, c.turn = now, time.Time{}
	c.forget()
}

// ready records READY.
func (c *sessionState) ready(session, url string) { c.session, c.url, c.unresumed = session, url, 0 }

// resumed records RESUMED.
func (c *sessionState) resumed() { c.unresumed = 0 }

// take reports whether the event numbered seq is new. In a resumed session the server repeats what
// it does not know to have arrived.
func (c *sessionState) take(seq int64) bool {
	if seq <= c.seq {
		return false
	}
	c.seq = seq
	return true
}

func (c *sessionState) forget() { c.session, c.url, c.seq, c.unresumed = "", "", 0, 0 }

// next decides what to do about a connection that ended at now.
func (c *sessionState) next(now time.Time, e disconnection) step {
	if e.fault == nil {
		e.fault = refusal(e.code, c.intents)
	}
	if e.fault != nil {
		return step{fault: e.fault}
	}
	c.reckon(e)
	s := step{resume: c.session != "", ask: c.fails > 1 || c.session == ""}
	s.wait = c.backoff(soonest, latest)
	if !s.resume {
		s.wait = max(c.backoff(time.Second, rarest), c.identified.Add(apart).Sub(now))
	}
	if e.cause == invalid && !e.resumable {
		// Discord asks for a random wait of 1 to 5 s.
		s.wait = max(s.wait, time.Second+time.Duration(c.jitter()*float64(4*time.Second)))
	}
	if e.after > 0 {
		s.wait = max(s.wait, min(e.after, longest))
	}
	return s
}

// reckon updates the state of the session and of the network from e.
func (c *sessionState) reckon(e disconnection) {
	if e.opened && e.lasted >= well {
		c.fails = 0
	}
	c.fails++
	if tried := e.reached || e.cause != unreachable; c.session != "" && !e.opened && tried {
		c.unresumed++
	}
	switch {
	case e.cause == invalid && !e.resumable, e.cause == stale, c.unresumed >= tries:
		c.forget()
	case e.code == 4003, e.code == 4007, e.code == 4009:
		c.forget() // not authenticated, a wrong number, timed out
	}
}

// backoff returns a wait in the second half of first doubled once per failure, so that many
// clients of a failed server do not come back together.
func (c *sessionState) backoff(first, most time.Duration) time.Duration {
	d := most
	if n := c.fails - 1; n < 16 { // far beyond most, and far from an overflow
		d = min(d, first<<max(n, 0))
	}
	return d/2 + time.Duration(c.jitter()*float64(d/2))
}

// refusal returns the fault for a code, or nil if trying again may help.
func refusal(code int, intents discordgo.Intent) *Fault {
	switch code {
	case 401, 4004:
		return &Fault{code, fmt.Sprintf("Discord refuses the bot's token (%d)", code),
			"reset it at https://discord.com/developers/applications under Bot, Reset Token, and put the new one where the configuration reads it"}
	case 4010, 4011:
		return &Fault{code, fmt.Sprintf("Discord requires this bot to be split into shards (%d)", code),
			"run it as one of several daemons (cluster.name in docs/several-machines.md), or remove the bot from guilds until it is in fewer than 2,500"}
	case 4012:
		return &Fault{code, "Discord no longer supports this version of its gateway (4012)", "update earshot"}
	case 4013:
		return &Fault{code, fmt.Sprintf("Discord does not know the intents %d (4013)", intents), "update earshot"}
	case 4014:
		return missing(code, intents&privileged)
	}
	return nil
}
