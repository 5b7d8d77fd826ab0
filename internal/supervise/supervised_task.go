package supervise

import (
	"errors"
	"time"

	"earshot"
)

// A supervisedTask is what is known about one supervised thing. It has no clock and no
// goroutine; the loop in [Run] steps it.
type supervisedTask struct {
	name string
	cfg  Config

	since time.Time // when the present run began
	fails int       // runs in a row that were never well
	lost  bool      // the loss has been said, its end not yet
}

// A verdict is what a step asks the loop to do.
type verdict struct {
	say  *earshot.Notice
	wait time.Duration // until the next look or the next run
	err  error         // why it is to be stopped, or what Run returns
	over bool          // no further run
}

func newSupervisedTask(name string, cfg Config) *supervisedTask {
	return &supervisedTask{name: name, cfg: cfg.withDefaults(), lost: cfg.Lost}
}

// began says that a run begins at now.
func (c *supervisedTask) began(now time.Time) { c.since = now }

// look judges a run that is going on, with its last beat. A verdict with an
// error says that it must be stopped.
func (c *supervisedTask) look(now, beat time.Time) verdict {
	var v verdict
	if c.cfg.Deaf > 0 {
		silent := now.Sub(beat)
		if silent >= c.cfg.Deaf {
			return verdict{err: &deafError{c.cfg.Deaf}}
		}
		v.wait = c.cfg.Deaf - silent
	}
	if c.fails == 0 && !c.lost {
		return v
	}
	if c.fit(now, beat) {
		v.say = c.back()
		return v
	}
	rest := c.since.Add(c.cfg.Well).Sub(now)
	if rest <= 0 { // it has to show itself
		rest = c.cfg.Well
	}
	if v.wait == 0 || rest < v.wait {
		v.wait = rest
	}
	return v
}

// fit reports whether the run has lasted long enough, and if it has a pulse,
// has shown it.
func (c *supervisedTask) fit(now, beat time.Time) bool {
	return now.Sub(c.since) >= c.cfg.Well && (c.cfg.Pulse == nil || beat.After(c.since))
}

// ended judges a run that ended with err at now.
func (c *supervisedTask) ended(now time.Time, err error) verdict {
	switch {
	case err == nil:
		return verdict{say: c.back(), over: true}
	case errors.Is(err, errors.ErrUnsupported):
		return verdict{say: c.gone(err, " cannot work here: "), err: err, over: true}
	}
	say := c.gone(err, " was lost: ")
	wait := c.backoff()
	c.fails++
	return verdict{say: say, wait: wait}
}

// backoff returns how long to wait before the next run.
func (c *supervisedTask) backoff() time.Duration {
	d := c.cfg.Most
	if c.fails < 32 { // beyond that the shift would overflow, and Most is long reached
		d = min(d, c.cfg.First<<c.fails)
	}
	if d <= 0 {
		d = c.cfg.Most
	}
	return d/2 + time.Duration(c.cfg.Jitter()*float64(d/2))
}

// gone returns the notice of a loss, or nil if it was said before.
func (c *supervisedTask) gone(err error, how string) *earshot.Notice {
	if c.lost {
		return nil
	}
	c.lost = true
	n := &earshot.Notice{Key: c.name, Text: c.name + how + err.Error()}
	if e, ok := errors.AsType[interface {
		error
		Cure() string
	}](err); ok {
		n.Cure = e.Cure()
	}
	return n
}

// back forgets the failures, and returns the notice of the end of a loss, or
// nil if none was said.
func (c *supervisedTask) back() *earshot.Notice {
	c.fails = 0
	if !c.lost {
		return nil
	}
	c.lost = false
	return &earshot.Notice{Key: c.name, Text: c.name + " is back", Over: true}
}

// report hands a notice on.
func (c *supervisedTask) report(n *earshot.Notice) {
	if n != nil && c.cfg.Report != nil {
		c.cfg.Report(*n)
	}
}
