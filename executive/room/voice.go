package room

import (
	"context"
	"maps"
	"math"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/reflex"
	"earshot/interrupt"
)

const (
	// An utterance is at most half a minute of speech; nobody says more than
	// this many bytes in it.
	maxUtterance = 4 << 10

	// What the agent says is compared with what is heard from a stretch before
	// the place that its voice has come to: half a minute of speech, the longest
	// utterance; and a little behind it, since the position of a device is known
	// to some words only.
	wordsBehind = 80
	wordsBeyond = 12
)

// utterance returns u as a room keeps it: a sense may send anything.
func utterance(u earshot.Utterance) (earshot.Utterance, error) {
	text, err := wording(u.Text, maxUtterance)
	u.Text = text
	u.Confidence, u.Own = share(u.Confidence), share(u.Own)
	u.Lasted = min(max(u.Lasted, 0), time.Hour)
	return u, err
}

// speech is the same for words that are still being said.
func speech(s earshot.Speech) earshot.Speech {
	s.Words = s.Words[:min(len(s.Words), maxUtterance)]
	s.Words = earshot.Text(strings.ToValidUTF8(string(s.Words), "\uFFFD"))
	s.Confidence = share(s.Confidence)
	return s
}

// share returns v as a share of one.
func share(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return min(max(v, 0), 1)
}

// address says whom e is for, if it was said aloud.
func (r *Room) address(e earshot.Event) conversation.Address {
	switch body := e.Body.(type) {
	case earshot.Utterance:
		return r.listener().Address(body, e.At, r.attention(e.From))
	case earshot.Speech:
		if body.Stage == earshot.VoiceWords {
			return r.listener().Words(body, e.At, r.attention(e.From))
		}
	}
	return ""
}

// listener is how this room's agent listens.
func (r *Room) listener() conversation.Listener {
	set := r.cfg.Settings()
	return conversation.Listener{
		Name: set.Name, As: append(conversation.Spellings(set.Name), set.Speech.HeardAs...),
		After: set.Speech.FollowUp.Duration(), Sure: set.Speech.LeastConfidence,
	}
}

// attention is what the agent is doing, as far as it concerns a voice.
func (r *Room) attention(from earshot.Handle) conversation.Attention {
	saying, sounding := r.aloud.saying()
	r.mu.Lock()
	defer r.mu.Unlock()
	return conversation.Attention{
		Saying: saying, Sounding: sounding,
		Talking: r.live != "" && r.with == from, Answered: r.answered[from],
	}
}

// voiced returns what speech is to the floor.
func voiced(s *interrupt.Signal, body earshot.Speech, to conversation.Address, agent string) *interrupt.Signal {
	s.Words, s.Confidence = body.Words, body.Confidence
	switch body.Stage {
	case earshot.VoiceBegan:
		s.Kind = interrupt.Onset
	case earshot.VoiceLasts:
		s.Kind = interrupt.Voice
	case earshot.VoiceOver:
		s.Kind = interrupt.Over
	case earshot.VoiceCalls:
		s.Kind = interrupt.Addressed
		if reflex.Recognise(body.Words, agent).Cuts() {
			s.Kind = interrupt.Command
		}
	case earshot.VoiceWords:
		return worded(s, to)
	default:
		return nil
	}
	return s
}

// worded returns what words that are still being said are to the floor.
func worded(s *interrupt.Signal, to conversation.Address) *interrupt.Signal {
	switch to {
	case conversation.Called:
		s.Kind = interrupt.Addressed
	case conversation.Following:
		s.Kind = interrupt.Words
	case conversation.Own:
		s.Kind = interrupt.Echo
	case conversation.Aside:
		s.Kind = interrupt.Bystanders
	default:
		return nil // what it paused stays paused until one knows more
	}
	return s
}

// uttered returns what an utterance is to the floor. A command word that is
// said while the agent speaks is for it, whoever it is said to.
func uttered(s *interrupt.Signal, body earshot.Utterance, to conversation.Address, sounding bool, agent string) *interrupt.Signal {
	s.Words, s.Confidence = body.Text, body.Confidence
	cuts := reflex.Recognise(body.Text, agent).Cuts()
	switch {
	case cuts && (to.ForAgent() || sounding):
		s.Kind = interrupt.Command
	case to.ForAgent():
		s.Kind = interrupt.Addressed
	case to == conversation.Own:
		s.Kind = interrupt.Echo
	case to == conversation.Aside:
		s.Kind = interrupt.Bystanders
	default:
		s.Kind = interrupt.Over
	}
	return s
}

// maxAnswered is how many voices the room remembers having answered: more than
// one can talk with at a time.
const maxAnswered = 64

// talked notes that the agent has answered a voice.
func (r *Room) talked(with earshot.Handle, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.answered) >= maxAnswered {
		maps.DeleteFunc(r.answered, func(_ earshot.Handle, t time.Time) bool { return at.Sub(t) > time.Minute })
	}
	if len(r.answered) < maxAnswered {
		r.answered[with] = at
	}
}

// aloud is what comes out of the voices of a room, so that it is known when it
// comes back by a microphone. The zero value is silent.
type aloud struct {
	mu    sync.Mutex
	text  []byte // of the last speech, as far as it was handed over
	heard int    // how much of it has come out
	live  *mouth
}

// saying returns what is said about now, and whether it can be heard.
func (a *aloud) saying() (earshot.Text, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	words := strings.Fields(string(a.text))
	at := len(strings.Fields(string(a.text[:a.heard])))
	words = words[max(0, at-wordsBehind):min(len(words), at+wordsBeyond)]
	return earshot.Text(strings.Join(words, " ")), a.live != nil
}

// A mouth is one speech of one voice. Of several voices that say the same, the
// one that opened last counts.
type mouth struct {
	earshot.Speaking
	of     *aloud
	starts []int // where in of.text each clause begins
}

// open opens o, and follows what comes out of it.
func (a *aloud) open(ctx context.Context, o earshot.Outlet, opening earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	m := &mouth{of: a}
	a.mu.Lock()
	a.live, a.text, a.heard = m, nil, 0
	a.mu.Unlock()
	speaking, err := o.Open(ctx, opening, func(h earshot.Heard) {
		m.come(h)
		heard(h)
	})
	if err != nil {
		m.come(earshot.Heard{End: true})
		return nil, err
	}
	m.Speaking = speaking
	return m, nil
}

// Say implements [earshot.Speaking].
func (m *mouth) Say(c earshot.Clause) error {
	a := m.of
	a.mu.Lock()
	if a.live == m {
		m.starts = append(m.starts, len(a.text))
		a.text = append(a.text, c.Text...)
	}
	a.mu.Unlock()
	return m.Speaking.Say(c)
}

// come notes how far the voice has come. A position may lie; it goes no further
// than what was handed over.
func (m *mouth) come(h earshot.Heard) {
	a := m.of
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.live != m {
		return
	}
	if h.Clause >= 0 && h.Clause < len(m.starts) {
		a.heard = min(max(a.heard, m.starts[h.Clause]+max(h.Byte, 0)), len(a.text))
	}
	if h.End {
		a.live = nil
	}
}
