package voice

import (
	"context"
	"math/rand/v2"
	"time"
)

// listen delivers what is heard every 20 ms, checks the session every second, and reports changes.
func (c *Call) listen(ctx context.Context) {
	var (
		b     batch
		told  Status
		tick  = time.NewTicker(frame)
		look  time.Time
		alive time.Time
		beat  [8]byte
	)
	defer tick.Stop()
	step := func(now time.Time) {
		c.mu.Lock()
		m := c.live
		b, c.ending = c.ending, b
		c.ending.reset()
		c.mu.Unlock()
		if m != nil {
			m.step(now, &b)
		}
		if len(b.packets) > 0 {
			c.cfg.Heard(b.packets)
		}
		if c.dirty.Swap(false) && c.cfg.Changed != nil {
			if s := c.Status(); !s.like(told) {
				told = s
				c.cfg.Changed(s)
			}
		}
	}
	for {
		select {
		case <-ctx.Done():
			step(time.Now())
			return
		case now := <-tick.C:
			step(now)
			if now.Sub(look) < time.Second {
				continue
			}
			look = now
			m := c.watch(now)
			if m != nil && now.Sub(alive) >= keepAlive {
				alive = now
				beat[0]++
				m.conn.Write(beat[:]) // the watchdog notices if it fails
			}
		}
	}
}

// watch checks whether anything can be heard, and returns the session if there is one.
func (c *Call) watch(now time.Time) *media {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live == nil || !c.live.ready.Load() {
		return nil
	}
	n := c.live.counts(new([steps]float64))
	deaf, rejoin := c.guard.look(now, n.packets, n.decrypted-n.silent, n.blank)
	if deaf != c.deaf {
		c.deaf = deaf
		c.dirty.Store(true)
	}
	if rejoin && c.link != nil {
		c.cfg.Log.Warn("voice channel joined anew, since nothing can be heard", "why", deaf)
		c.link.fail(errDeaf)
	}
	return c.live
}

// announced records that a user is said to speak.
func (c *Call) announced(_ uint64, on bool) {
	c.dirty.Store(true) // they may not have been known to be there
	c.mu.Lock()
	defer c.mu.Unlock()
	if on {
		c.guard.speaking(time.Now())
	} else {
		c.guard.quiet()
	}
}

// speak sends what is due every 20 ms.
func (c *Call) speak(ctx context.Context) {
	v := frameSender{seq: uint16(rand.Uint32()), zero: rand.Uint32()}
	tick := time.NewTicker(frame)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			for c.utter(&v, time.Now()) {
			}
		}
	}
}

// A frameSender is the state of the goroutine that sends.
type frameSender struct {
	seq       uint16
	zero      uint32 // the timestamp of the schedule's beginning
	announced *link  // the link that was told that we speak

	sealed, datagram []byte
}

// utter sends the next frame that is due, and reports whether there was one. While it may not
// leave it waits, and time goes on all the same.
func (c *Call) utter(v *frameSender, now time.Time) bool {
	c.leaving.Lock()
	defer c.leaving.Unlock()
	c.mu.Lock()
	s, due := c.schedule.step(now)
	m, l := c.live, c.link
	c.mu.Unlock()
	if s.opus == nil {
		return due
	}
	sent := m != nil && m.ready.Load() && v.send(m, l, s)
	if s.mine {
		c.uttered(sent)
	}
	return true
}

// uttered records the fate of a frame of speech.
func (c *Call) uttered(sent bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !sent {
		c.stats.held++
		return
	}
	c.schedule.left()
	c.stir()
}

// send sends a frame, if that is allowed.
func (v *frameSender) send(m *media, l *link, s slot) bool {
	var err error
	if v.sealed, err = m.dave.Seal(v.sealed[:0], s.opus); err != nil {
		return false
	}
	if l != nil && v.announced != l && s.mine {
		l.text(opSpeaking, speaking{1, 0, m.ssrc})
		v.announced = l
	}
	v.datagram, err = m.seal.seal(v.datagram[:0], packet{m.ssrc, v.seq, v.zero + s.stamp, v.sealed})
	if err != nil {
		if l != nil {
			l.fail(err)
		}
		return false
	}
	v.seq++
	m.conn.Write(v.datagram) // loss on the way is accepted
	if l != nil && s.last {
		l.text(opSpeaking, speaking{0, 0, m.ssrc})
		v.announced = nil
	}
	return true
}
