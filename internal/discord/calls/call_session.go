package calls

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/discord/voice"
	"earshot/internal/supervise"
	"earshot/providers"
)

const (
	// gathers is how long the agent waits for others to come before it tells them together that it
	// listens.
	gathers = 2 * time.Second

	// mostGreeted is how many people it names in one such message.
	mostGreeted = 20

	// speaksWithin bounds the spoken announcement.
	speaksWithin = time.Minute
)

// What the agent says about itself in a call.
const (
	announcement = "I am in this call and listen: what is said here becomes text on the machine that I run on, and is kept there. Who does not want that uses /optout; /leave sends me away."
	aloud        = "Hello. I am in this call, and listen. Who does not want that can opt out in the text chat."
	greeting     = "%s: I listen in this call, and what is said becomes text and is kept. Who does not want that uses /optout."
)

// A callSession is one stay in the voice channels of a guild, during which it may be moved.
type callSession struct {
	*Calls
	guild uint64
	emit  providers.Emit

	news    bell // check again
	decoder Decoder
	hearing atomic.Pointer[roomHearing] // nil while it is in no room
	number  uint32                      // of decoders; under the lock of the hearing
	chores  sync.WaitGroup              // announcements, and speech that is still being recognised

	mu      sync.Mutex
	channel uint64 // where the agent is, or is about to be
	out     bool   // it is leaving
	why     string // what is said about leaving; may be empty
	cancel  func() // ends the call
	call    Call   // nil until it has begun
	trouble map[string]string

	// Of the goroutine that checks:
	room      earshot.RoomID
	roomVoice RoomVoice
	listens   bool
	announced bool
	told      map[uint64]bool // who was told that the agent listens
	coming    []uint64        // who has not been told
	since     time.Time       // when the first of those came
	there     map[uint64]bool // who was in the channel at the last check
}

func (c *Calls) newSession(guild, channel uint64, emit providers.Emit) *callSession {
	return &callSession{
		Calls: c, guild: guild, channel: channel, emit: emit, news: newBell(), cancel: func() {}, trouble: make(map[string]string),
	}
}

// leave makes the session leave, and say why, if there is a reason.
func (v *callSession) leave(why string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.out {
		v.out, v.why = true, why
		v.cancel()
	}
}

func (v *callSession) leaving() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.out
}

// where returns the channel in which the agent is, or is about to be.
func (v *callSession) where() uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.channel
}

// run runs the session. It returns when the session is over, with the reason unless it left.
func (v *callSession) run(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	stay, leave := context.WithCancel(ctx)
	defer leave()
	v.mu.Lock()
	v.cancel = leave
	if v.out {
		leave()
	}
	place := voice.Place{Guild: v.guild, Channel: v.channel}
	v.mu.Unlock()

	v.decoder = v.parts.Decoder(v.decoded)
	var coding, looking sync.WaitGroup
	coding.Go(func() {
		if err := supervise.Run(ctx, "sound of calls", v.decoder.Run, supervise.Config{Report: v.report}); err != nil {
			v.parts.Log.Error("a part cannot run", "part", "sound of calls", "err", err)
		}
	})
	looking.Go(func() { v.loop(ctx, stay) })
	err := v.parts.Call(stay, voice.Config{
		Place: place, Log: v.parts.Log, Encrypted: v.cfg.EncryptedCalls,
		Heard:   v.heard,
		Changed: func(voice.Status) { v.news.ring() },
	}, v.setCall)
	leave()
	looking.Wait()
	v.depart()
	v.mu.Lock()
	why := v.why
	v.mu.Unlock()
	if why != "" {
		v.say(ctx, v.where(), why)
	}
	v.chores.Wait()
	end()
	coding.Wait()
	v.endTroubles()
	return err
}

func (v *callSession) setCall(call Call) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.call = call
}

// heard takes a batch of the call. It does not wait.
func (v *callSession) heard(batch []voice.Packet) {
	if h := v.hearing.Load(); h != nil {
		h.heard(time.Now(), batch)
	}
}

// decoded takes a frame of the decoder. It does not wait.
func (v *callSession) decoded(coder uint32, f *audio.Frame) {
	if h := v.hearing.Load(); h != nil {
		h.decoded(coder, f)
	}
}

// unhear stops listening to somebody at once.
func (v *callSession) unhear(user uint64) {
	if h := v.hearing.Load(); h != nil {
		h.unhear(user)
	}
}

// loop handles the session until stay ends; listening lives as long as ctx.
func (v *callSession) loop(ctx, stay context.Context) {
	for stay.Err() == nil {
		wait, changed := v.look(ctx, stay)
		select {
		case <-v.news:
		case <-changed:
		case <-after(wait):
		case <-stay.Done():
		}
	}
}

// look does what is to be done now. It must be called again when changed is closed, and after
// wait, unless that is 0.
func (v *callSession) look(ctx, stay context.Context) (wait time.Duration, changed <-chan struct{}) {
	v.mu.Lock()
	call, was := v.call, v.channel
	v.mu.Unlock()
	if call == nil {
		return 0, nil
	}
	s := call.Status()
	if s.Channel != 0 && s.Channel != was {
		v.depart() // now: what comes next is heard and said elsewhere
	}
	there := s.Channel != 0 && (s.Phase == "in the call" || s.Phase == "securing")
	if v.hearing.Load() == nil && !(there && v.enter(stay, call, s.Channel)) {
		return 0, nil
	}
	changed = v.followRoom(ctx, stay)
	if there { // otherwise it may come back
		v.checkTrouble(stay, s)
		wait = v.greet(stay)
	}
	return wait, changed
}

// enter makes the room of a channel the one to listen and speak in, and reports whether the agent
// may be there.
func (v *callSession) enter(ctx context.Context, call Call, channel uint64) bool {
	v.Calls.mu.Lock()
	v.membershipOf(v.guild).moved(channel)
	v.Calls.mu.Unlock()
	v.mu.Lock()
	v.channel = channel
	v.mu.Unlock()
	for _, h := range v.state.voiceChannels(v.guild) {
		if h.channel == channel && (h.stage || v.obstacle(h) == unlisted) {
			v.leave(sentence(v.obstacle(h)))
			return false
		}
	}
	room, err := v.parts.Room(ctx, v.guild, channel)
	if err != nil {
		if ctx.Err() == nil {
			v.leave("I cannot be here: " + sentence(err.Error()))
		}
		return false
	}
	v.room, v.announced = room, false
	v.told, v.coming, v.there = make(map[uint64]bool), nil, nil
	if v.parts.Enter != nil {
		if v.roomVoice, err = v.parts.Enter(ctx, call, room); err != nil {
			v.roomVoice = nil
			v.report(earshot.Notice{Key: v.key("voice"), Text: "no voice in a call: " + err.Error()})
		}
	}
	v.hearing.Store(&roomHearing{
		room: room, decoder: v.decoder, emit: v.emit, number: &v.number,
		ear:    func(from earshot.Handle, c Capture) Ear { return v.parts.Ear(from, room, c) },
		deaf:   v.deaf,
		arrive: func(ctx context.Context, user uint64) error { return v.parts.Arrive(ctx, v.guild, user) },
		failed: func(err error) { v.parts.Log.Warn("an ear has ended", "room", room, "err", err) },
	})
	return true
}

// deaf reports whether a user must not be listened to.
func (v *callSession) deaf(user uint64) bool {
	return v.parts.OptOuts.Out(user) || !v.users.Allows(user) || v.cfg.IgnoreBots && v.state.bot(v.guild, user)
}

// depart stops listening and speaking in a room. What people have said there is still recognised;
// nobody waits for that.
func (v *callSession) depart() {
	if h := v.hearing.Swap(nil); h != nil {
		v.chores.Go(h.finish())
	}
	v.mu.Lock()
	v.listens = false
	v.mu.Unlock()
	if v.roomVoice != nil {
		v.roomVoice.Leave()
		v.roomVoice = nil
	}
}

// followRoom listens if the room allows it, and returns a channel that is closed when that may have
// changed.
func (v *callSession) followRoom(ctx, stay context.Context) <-chan struct{} {
	may, changed := v.parts.Listens(v.room)
	h := v.hearing.Load()
	switch {
	case may && !v.listens:
		h.listen(ctx)
	case !may && v.listens:
		h.hush()
	}
	v.mu.Lock()
	v.listens = may
	v.mu.Unlock()
	if may && !v.announced {
		v.announced = true
		v.announce(stay)
	}
	return changed
}

// announce says that the agent listens, in text and aloud.
func (v *callSession) announce(ctx context.Context) {
	if !v.cfg.Announce {
		return
	}
	for _, s := range v.people() {
		v.told[s.user] = true
	}
	channel := v.where()
	v.chores.Go(func() { v.say(ctx, channel, announcement) })
	if mouth := v.roomVoice; mouth != nil {
		v.chores.Go(func() {
			ctx, done := context.WithTimeout(ctx, speaksWithin)
			defer done()
			if err := mouth.Announce(ctx, aloud); err != nil && ctx.Err() == nil {
				v.parts.Log.Warn("not announced aloud", "channel", channel, "err", err)
			}
		})
	}
}

// people returns who is in the channel with the agent, without bots.
func (v *callSession) people() (all []occupant) {
	seats, _ := v.state.occupants(v.guild)
	channel := v.where()
	return slices.DeleteFunc(seats, func(s occupant) bool { return s.channel != channel || s.bot })
}

// greet tells people who have come since that the agent listens, and drops the tracks of those
// who have left. It returns when to check again.
func (v *callSession) greet(ctx context.Context) (wait time.Duration) {
	now, there := time.Now(), make(map[uint64]bool)
	for _, s := range v.people() {
		there[s.user] = true
		if !v.announced || !v.cfg.Announce || v.told[s.user] {
			continue
		}
		if v.told[s.user] = true; len(v.coming) == 0 {
			v.since = now
		}
		v.coming = append(v.coming, s.user)
	}
	for user := range v.there {
		if !there[user] {
			v.hearing.Load().left(user)
		}
	}
	v.there = there
	if len(v.coming) == 0 {
		return 0
	}
	if left := v.since.Add(gathers).Sub(now); left > 0 {
		return left
	}
	var names []string
	for _, user := range v.coming[:min(len(v.coming), mostGreeted)] {
		names = append(names, fmt.Sprintf("<@%d>", user))
	}
	v.coming = nil
	channel := v.where()
	v.chores.Go(func() { v.say(ctx, channel, fmt.Sprintf(greeting, strings.Join(names, ", "))) })
	return 0
}

// checkTrouble reports once what keeps the agent from hearing or being heard, and when that is over.
func (v *callSession) checkTrouble(ctx context.Context, s voice.Status) {
	_, self := v.state.occupants(v.guild)
	if self.channel != s.Channel {
		self = occupant{} // it is not known yet
	}
	v.reportTrouble(ctx, "muted", self.silenced, "A moderator has muted me in this call, so that nobody hears me: end that under Server Mute in my menu, or use /leave")
	v.reportTrouble(ctx, "deafened", self.deafened, "A moderator has deafened me in this call, so that I hear nobody: end that under Server Deafen in my menu, or use /leave")
	v.reportTrouble(ctx, "deaf", s.Deaf != "", "I hear nothing in this call though somebody speaks: "+s.Deaf)
}

// reportTrouble reports in text, as a notice and in the status that something is wrong, or is no
// longer.
func (v *callSession) reportTrouble(ctx context.Context, what string, wrong bool, text string) {
	v.mu.Lock()
	was, channel := v.trouble[what], v.channel
	if wrong {
		v.trouble[what] = text
	} else {
		delete(v.trouble, what)
	}
	v.mu.Unlock()
	switch {
	case wrong && was == "":
		v.report(earshot.Notice{Key: v.key(what), Text: text})
		v.chores.Go(func() { v.say(ctx, channel, sentence(text)) })
	case !wrong && was != "":
		v.report(earshot.Notice{Key: v.key(what), Text: "the call is well again", Over: true})
	}
}

// endTroubles ends the faults of a session that is over.
func (v *callSession) endTroubles() {
	v.mu.Lock()
	troubles := slices.Sorted(maps.Keys(v.trouble))
	clear(v.trouble)
	v.mu.Unlock()
	for _, what := range troubles {
		v.report(earshot.Notice{Key: v.key(what), Text: "the call is over", Over: true})
	}
}

func (v *callSession) key(what string) string {
	return fmt.Sprintf("discord call %d: %s", v.guild, what)
}

func (v *callSession) status() Status {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := Status{Guild: v.guild, Channel: v.channel, Listens: v.listens}
	for _, what := range slices.Sorted(maps.Keys(v.trouble)) {
		s.Trouble = append(s.Trouble, v.trouble[what])
	}
	if h := v.hearing.Load(); h != nil {
		s.Room = h.room
	}
	if v.call != nil {
		s.Voice = v.call.Status()
	}
	return s
}
