package client

import (
	"time"

	"earshot/internal/audio"
	"earshot/models/stt"
	"earshot/satellite"
)

const (
	// mostSaid is how many frames of what was sent can be recognised at least.
	mostSaid = int(stt.Longest / audio.Time)

	// longestGap is the longest time without a voice within an utterance, in frames.
	longestGap = int(2 * time.Second / audio.Time)

	// tooMuch is how much after its end may be recognised with an utterance: it is silent there. More,
	// since the hub has found its end later, is another voice.
	tooMuch = 500 * time.Millisecond
)

// A recognition is what a client knows of the recognition of speech here. The mutex of the client guards it.
type recognition struct {
	recogniser Recogniser            // nil without a session, and without names
	spotter    Recogniser            // likewise
	recognises bool                  // the hub knows that it can
	said       []audio.Frame         // the last ones that were sent; see mostSaid
	utterances map[uint32]*utterance // by their numbers of the session
}

// An utterance is one that is recognised for the hub.
type utterance struct {
	*stt.Session
	next time.Time // when the frame after the last one begins
}

// feed adds a frame, and silence for what was not sent before it.
func (u *utterance) feed(f *audio.Frame) {
	if f.At.Before(u.next.Add(-audio.Time / 2)) {
		return
	}
	for n := 0; n < longestGap && f.At.Sub(u.next) >= audio.Time; n++ {
		u.Feed(new(audio.Frame))
		u.next = u.next.Add(audio.Time)
	}
	u.Feed(f)
	u.next = f.At.Add(audio.Time)
}

// recognise takes frames that are sent; nothing else is ever recognised for the hub.
func (c *Client) recognise(sent []audio.Frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cfg.Recogniser == nil {
		return
	}
	for i := range sent {
		for _, u := range c.utterances {
			u.feed(&sent[i])
		}
	}
	if c.said = append(c.said, sent...); len(c.said) >= 2*mostSaid {
		c.said = c.said[:copy(c.said, c.said[len(c.said)-mostSaid:])]
	}
}

// hear begins, ends or cancels the recognition of an utterance.
func (c *Client) hear(m satellite.Utterance, now time.Time) {
	u, ended := c.utterances[m.Number], !m.Until.IsZero()
	if u != nil && (m.Cancel || ended && u.next.Sub(m.Until) > tooMuch) {
		u.Cancel()
		delete(c.utterances, m.Number)
		u = nil
	}
	switch age := now.Sub(m.From); {
	case m.Cancel:
		return
	case u == nil && (!c.recognises || age < -time.Second || age > stt.Longest): // a clock was set, or it is not kept any more
		c.say(satellite.SayWords, satellite.Words{Number: m.Number, Final: true, Failed: true})
		return
	case u == nil:
		u = &utterance{next: m.From}
		u.Session = c.recogniser.Begin(func(r stt.Result) { c.words(m.Number, u, r) })
		c.utterances[m.Number] = u
		for i := range c.said {
			if !ended || c.said[i].At.Before(m.Until) {
				u.feed(&c.said[i])
			}
		}
	}
	if ended {
		u.End()
	}
}

// words sends what was recognised.
func (c *Client) words(number uint32, u *utterance, r stt.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.utterances[number] != u {
		return
	}
	if r.Final {
		delete(c.utterances, number)
	}
	c.say(satellite.SayWords, satellite.Words{
		Number: number, Text: r.Text, Heard: r.Heard, Lag: r.Lag, Confidence: r.Confidence, Final: r.Final, Failed: r.Err != nil,
	})
}

// sayState tells the hub how this satellite is.
func (c *Client) sayState() {
	c.say(satellite.SayState, satellite.State{Muted: c.muted, Recognises: c.recognises})
}
