package calls

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/discord/gateway"
	"earshot/internal/discord/voice"
	"earshot/providers"
)

// An Ear listens to one person. The bot makes it of the microphone's provider.
type Ear interface {
	Run(ctx context.Context, emit providers.Emit) error
}

// A Decoder makes frames of packets, as [codec.Opus] does.
type Decoder interface {
	Decode(batch []codec.Packet)
	Forget(speaker uint32)
	Run(ctx context.Context) error
}

// A roomHearing is what is heard in one room: an ear for each person who speaks there. The speaker
// is fixed when their first packet comes, so that words recognised late are still theirs.
//
// Packets of people who must not be listened to are dropped before they are decoded. They are
// neither counted nor kept.
type roomHearing struct {
	room    earshot.RoomID
	ear     func(from earshot.Handle, c Capture) Ear
	decoder Decoder
	emit    providers.Emit
	deaf    func(user uint64) bool                       // they must not be listened to; must not block
	arrive  func(ctx context.Context, user uint64) error // makes them known to the daemon
	failed  func(err error)                              // is called when an ear ends by itself

	ears  sync.WaitGroup
	crowd overlapTracker

	mu     sync.Mutex
	begin  func(user uint64) *speaker // makes an ear for a person; nil while listening is not allowed
	number *uint32                    // the last decoder number, across the hearings of one decoder
	people map[uint64]*speaker
	tracks map[uint32]*speaker // by decoder
	batch  []codec.Packet
}

// A speaker is one person who is listened to.
type speaker struct {
	user  uint64
	ssrc  uint32 // the stream in which they were last heard
	track *track
	coder uint32 // the number of their decoder
	stop  context.CancelCauseFunc
	gone  atomic.Bool // they must not be listened to any more

	failed time.Time // when their ear failed; zero if it did not
}

// errUnheard ends an ear whose person refuses to be heard, or that may not listen.
var errUnheard = errors.New("nobody listens any more")

// listen begins to listen, until ctx ends or [roomHearing.hush] ends it.
func (h *roomHearing) listen(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin = func(user uint64) *speaker { return h.follow(ctx, user) }
}

// heard takes a batch of a call. It does not wait.
func (h *roomHearing) heard(now time.Time, batch []voice.Packet) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.begin == nil {
		return
	}
	h.batch = h.batch[:0]
	for i := range batch {
		p := &batch[i]
		if h.deaf(p.User) {
			continue
		}
		s := h.speaker(now, p)
		if s == nil {
			continue
		}
		if len(p.Opus) > 0 {
			h.batch = append(h.batch, codec.Packet{Speaker: s.coder, At: p.At, Lost: p.Lost, Data: p.Opus})
		}
		if p.Ends {
			over := p.At
			if len(p.Opus) > 0 {
				over = over.Add(audio.Time)
			}
			s.track.ends(now, over)
		}
	}
	if len(h.batch) > 0 {
		h.decoder.Decode(h.batch)
	}
	clear(h.batch)
}

// earRest is how long a person is not listened to after their ear has failed, such as because
// Discord could not be asked who they are.
const earRest = 5 * time.Second

// speaker returns the speaker of p, and begins to listen to them if nobody has. It returns nil if
// there are too many, or if p is only the end of something that was not listened to.
func (h *roomHearing) speaker(now time.Time, p *voice.Packet) *speaker {
	s := h.people[p.User]
	if s != nil && !s.failed.IsZero() {
		if now.Sub(s.failed) < earRest {
			return nil
		}
		s = nil
	}
	switch {
	case s == nil && (len(p.Opus) == 0 || len(h.people) >= codec.MaxSpeakers):
		return nil
	case s == nil:
		s = h.begin(p.User)
	case s.ssrc == p.SSRC:
		return s
	default:
		h.forget(s)
	}
	*h.number++
	s.ssrc, s.coder = p.SSRC, *h.number
	h.tracks[s.coder] = s
	return s
}

// follow makes an ear for a person, until ctx ends. The caller holds the lock.
func (h *roomHearing) follow(ctx context.Context, user uint64) *speaker {
	ctx, stop := context.WithCancelCause(ctx)
	s := &speaker{user: user, track: newTrack(), stop: stop}
	if h.people == nil {
		h.people, h.tracks = make(map[uint64]*speaker), make(map[uint32]*speaker)
	}
	h.people[user] = s
	h.ears.Go(func() {
		defer stop(nil)
		defer s.track.wipe()
		err := h.arrive(ctx, user)
		if err == nil {
			err = h.ear(gateway.HandleOf(user), s.track).Run(ctx, h.emits(s))
		}
		over := ctx.Err() != nil || errors.Is(err, errLeft)
		if !over {
			h.failed(err)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		switch {
		case h.people[user] != s:
		case over:
			h.drop(s)
		default:
			s.failed = time.Now()
			h.forget(s)
		}
	})
	return s
}

// emits returns the function that passes the events of a person's ear to the room.
func (h *roomHearing) emits(s *speaker) providers.Emit {
	return func(ctx context.Context, e earshot.Event) error {
		e.Room = h.room
		unheard := s.gone.Load() || h.deaf(s.user) // a person who has left may opt out as well
		switch body := e.Body.(type) {
		case earshot.Utterance:
			if unheard {
				return errUnheard
			}
			body.Overlaps = h.crowd.overlaps(s.user, e.At, e.At.Add(body.Lasted))
			e.Body = body
		case earshot.Speech:
			if unheard && body.Stage != earshot.VoiceOver {
				return errUnheard
			}
		}
		return h.emit(ctx, e)
	}
}

// decoded takes a frame of a decoder. It does not wait.
func (h *roomHearing) decoded(coder uint32, f *audio.Frame) {
	h.mu.Lock()
	s := h.tracks[coder]
	h.mu.Unlock()
	if s == nil || s.gone.Load() {
		return
	}
	if f.Voiced {
		h.crowd.speaks(s.user, f.At, audio.Time)
	}
	s.track.put(f)
}

// left says that a person is no longer there. What they said is still recognised.
func (h *roomHearing) left(user uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.people[user]; s != nil {
		h.drop(s)
		s.track.leave()
	}
}

// unhear stops listening to a person at once: what they are saying is thrown away.
func (h *roomHearing) unhear(user uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.people[user]; s != nil {
		h.silence(s)
	}
	h.crowd.forget(user)
}

// hush stops listening to everybody at once, and returns when no ear is left.
func (h *roomHearing) hush() {
	h.mu.Lock()
	h.begin = nil
	for _, s := range h.people {
		h.silence(s)
		h.crowd.forget(s.user)
	}
	h.mu.Unlock()
	h.ears.Wait()
}

// finish ends everybody's track, and returns a function that waits until what they said has been
// recognised, or cannot be any more.
func (h *roomHearing) finish() (wait func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin = nil
	for _, s := range h.people {
		h.drop(s)
		s.track.leave()
	}
	return h.ears.Wait
}

// silence throws away what a person is saying. The caller holds the lock.
func (h *roomHearing) silence(s *speaker) {
	s.gone.Store(true)
	h.drop(s)
	s.stop(errUnheard)
	s.track.wipe()
}

// drop removes a person from those who are listened to.
func (h *roomHearing) drop(s *speaker) {
	delete(h.people, s.user)
	h.forget(s)
}

// forget releases the decoder of a person.
func (h *roomHearing) forget(s *speaker) {
	delete(h.tracks, s.coder)
	h.decoder.Forget(s.coder)
}
