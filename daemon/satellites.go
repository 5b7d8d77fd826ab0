package daemon

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/bus/natsserver"
	"earshot/config"
	"earshot/executive/room"
	"earshot/internal/audio/arbiter"
	"earshot/internal/english"
	"earshot/internal/helper"
	"earshot/internal/probe"
	"earshot/internal/sound"
	"earshot/internal/supervise"
	"earshot/models/engine"
	"earshot/models/neural"
	"earshot/models/sense"
	"earshot/models/stt"
	"earshot/outlets/loudspeaker"
	"earshot/participants"
	"earshot/providers/microphone"
	"earshot/satellite"
	"earshot/satellite/hub"
	"earshot/satellite/pairing"
)

// satelliteRecognisers is how many people at satellites are recognised while they speak at the same
// time.
const satelliteRecognisers = 2

// satellites are the microphones and loudspeakers of other machines. All but what mu guards belongs to
// the goroutine that builds the section.
type satellites struct {
	daemon   *Daemon
	registry *pairing.Registry

	made    any // of what in the configuration the following is made; nil if it is not
	edition int // how often it was made
	hub     *hub.Hub
	pool    *stt.Pool
	senses  *sense.Sensor
	bus     []part // what is needed for satellites to be paired
	speech  []part // what is needed when there are some

	mu       sync.Mutex
	all      []*pairedSatellite
	seen     registryContent                     // at the last build
	arbiters map[earshot.RoomID]*arbiter.Arbiter // of rooms where more than one microphone may be
}

// oneOf returns a microphone of a room as one of several that may hear the same.
func (s *satellites) oneOf(room earshot.RoomID, name string, c microphone.Capture) microphone.Capture {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.arbiters == nil {
		s.arbiters = make(map[earshot.RoomID]*arbiter.Arbiter)
	}
	if s.arbiters[room] == nil {
		s.arbiters[room] = new(arbiter.Arbiter)
	}
	return s.arbiters[room].Wrap(name, c)
}

// A registryContent is what the registry said.
type registryContent struct {
	Satellites []pairing.Satellite
	Damage     string // why it cannot be read
}

// A pairedSatellite is one that is paired.
type pairedSatellite struct {
	satelliteKey
	far   *hub.Satellite
	parts []part
}

// A satelliteKey is what the parts of a satellite are made of.
type satelliteKey struct {
	Paired  pairing.Satellite
	Edition int
	Open    bool // its room exists
	Run     int  // of its room, which may have ended meanwhile and begun again
}

// InstallSatellites gives the daemon its satellites, if there is to be a bus, and reports the result.
func (d *Daemon) InstallSatellites(ctx context.Context) []probe.Finding {
	s := &d.satellites
	s.daemon, s.registry = d, pairing.In(d.Config().Store.Directory)
	return d.show(d.install(ctx, &section{name: satellitesSection, build: s.build}))
}

// build returns the parts of the bus and of each satellite. Those of one that has not changed go on.
func (s *satellites) build(context.Context) sectionBuild {
	cfg := s.daemon.Config()
	if !cfg.Bus.Enabled() {
		s.made = nil
		return sectionBuild{started: func() { s.keep(nil) }}
	}
	made := []any{cfg.Bus, cfg.Speech, cfg.Speakers, cfg.Providers.Microphone, cfg.Outlets.Loudspeaker, cfg.Executive.Name, cfg.Executive.MultiParty, neural.Open(s.daemon.log).Version()}
	if !reflect.DeepEqual(made, s.made) {
		s.open(cfg)
		s.made = made
	}
	content, err := s.read()
	is := sectionBuild{parts: slices.Clone(s.bus)}
	switch n := len(content.Satellites); {
	case err != nil:
		is.findings = append(is.findings, busFault("satellites", err))
	case n == 0:
		is.findings = append(is.findings, probe.Finding{Thing: "satellites", Works: true, Text: "none is paired"})
	default:
		is.findings = append(is.findings, probe.Finding{Thing: "satellites", Works: true, Text: english.Count(n, "satellite") + " paired"})
		is.parts = append(is.parts, s.speech...)
	}
	var all []*pairedSatellite
	var users []natsserver.User
	for _, p := range content.Satellites {
		users = append(users, natsserver.User{Key: p.Key, Rights: satellite.RightsOf(p.ID)})
		if s.elsewhere(p.Room) {
			continue
		}
		one := s.paired(cfg, p)
		all, is.parts = append(all, one), append(is.parts, one.parts...)
		if !one.Open {
			is.findings = append(is.findings, probe.NoRoom(p))
		}
	}
	if err := s.daemon.bus.setUsers(users); err != nil {
		is.findings = append(is.findings, busFault("satellites", err))
	}
	is.started = func() { s.keep(all) }
	return is
}

func busFault(thing string, err error) probe.Finding {
	f := probe.Finding{Thing: thing}
	f.Text, f.Cure = earshot.Explain(err)
	return f
}

// elsewhere reports whether a room exists, and is not here: whoever has it lets its satellites join.
func (s *satellites) elsewhere(room earshot.RoomID) bool {
	_, here := s.daemon.rooms.now().find(room)
	_, is := s.daemon.findRoom(room)
	return !here && is
}

// read reads the registry, and notes what it said.
func (s *satellites) read() (registryContent, error) {
	all, err := s.registry.List()
	content := contentOf(all, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = content
	return content, err
}

func contentOf(all []pairing.Satellite, err error) registryContent {
	if err != nil {
		return registryContent{Damage: err.Error()}
	}
	return registryContent{Satellites: all}
}

// follow has the section built again when somebody is paired or removed.
func (s *satellites) follow(ctx context.Context) error {
	s.registry.Follow(ctx, func(all []pairing.Satellite, err error) {
		s.mu.Lock()
		news := !reflect.DeepEqual(contentOf(all, err), s.seen)
		s.mu.Unlock()
		if news {
			s.daemon.rebuild(satellitesSection)
		}
	})
	return nil
}

// keep makes all the satellites that there are, when the parts of those before have ended.
func (s *satellites) keep(all []*pairedSatellite) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, was := range s.all {
		if !slices.Contains(all, was) {
			was.far.Remove()
		}
	}
	s.all = all
}

// open makes what all satellites need.
func (s *satellites) open(cfg *config.Config) {
	d := s.daemon
	s.bus, s.edition = nil, s.edition+1
	add := func(to *[]part, name string, run func(context.Context) error) {
		*to = append(*to, part{name: name, run: run, as: []any{name, s.edition}})
	}
	far := hub.New(hub.Config{
		Media: helper.NewDialer(d.log, helper.SpeechProgram, "media"), Log: d.log, Dropped: d.countDrops("satellites"),
		FollowUp: func() time.Duration { return d.Config().Executive.Speech.FollowUp.Duration() },
		Shared:   d.cluster != nil,
	})
	add(&s.bus, "satellites", func(ctx context.Context) error { return d.bus.use(ctx, far.Run) })
	add(&s.bus, "pairing", s.follow)
	ears := engine.New("hears", cfg.Speech.Recognisers(helper.NewDialer(d.log, helper.SpeechProgram, "hear"), neural.Open(d.log)), d.report)
	s.hub, s.speech = far, nil
	s.pool = stt.NewPool(stt.PoolConfig{
		Each: stt.Config{Dial: ears.Dial, Log: d.log, Names: []string{cfg.Executive.Name}},
		Most: satelliteRecognisers, Name: "recognition of satellites", Report: d.report, Restarts: d.options.Restarts,
	})
	add(&s.speech, "recognition of satellites", s.pool.Run)
	add(&s.speech, "sound of satellites", far.Decode)
	s.senses = nil
	if is, wanted := cfg.Speech.Sensing(neural.Open(d.log)); wanted {
		s.senses = sense.New(sense.Config{Dial: is.Dial, Sets: is.Sets, Log: d.log})
		add(&s.speech, "sensing of satellites", s.senses.Run)
	}
}

// satelliteName is what a satellite is called as a part, and as the outlet in its room.
func satelliteName(id string) string { return "satellite " + id }

// paired returns a satellite with its parts, the same one if it has not changed.
func (s *satellites) paired(cfg *config.Config, p pairing.Satellite) *pairedSatellite {
	r, exists := s.daemon.rooms.now().find(p.Room)
	key := satelliteKey{Paired: p, Edition: s.edition, Open: exists}
	if r.roomRun != nil {
		key.Run = r.number
	}
	for _, had := range s.all { // which only this goroutine changes
		if had.satelliteKey == key {
			return had
		}
	}
	one := &pairedSatellite{satelliteKey: key}
	there := new(supervise.Pulse)
	one.far = s.hub.Add(hub.SatelliteConfig{
		ID: p.ID, Welcome: func() satellite.Welcome { return s.welcome(p) }, Joined: there.Beat,
		Tell: func(text string) {
			if r := s.room(p); r != nil {
				r.Mention(text)
			}
		},
	})
	if exists {
		one.parts = s.parts(cfg, one, there)
	}
	return one
}

// room returns the room of a satellite, or nil if it does not exist.
func (s *satellites) room(p pairing.Satellite) *room.Room {
	r, _ := s.daemon.rooms.now().find(p.Room)
	return r.Room
}

// welcome returns what a satellite is told when it asks to join. A daemon that is not sure to have the room
// says nothing.
func (s *satellites) welcome(p pairing.Satellite) (w satellite.Welcome) {
	r, exists := s.daemon.rooms.now().find(p.Room)
	if c := s.daemon.cluster; c != nil && (exists || s.elsewhere(p.Room)) {
		lease := c.member.Lease(string(p.Room))
		if !exists || lease == nil {
			return w
		}
		w.Fence = lease.Fence
	}
	if !exists {
		return satellite.Welcome{Problem: fmt.Sprintf("its room %s does not exist at the hub", p.Room), Cure: "pair it again, on the machine of the hub: earshot pair NAME --room ROOM"}
	}
	w.Room = r.is.Name
	for _, a := range s.daemon.agents.In(p.Room) {
		w.Names = append(w.Names, a.Name)
	}
	return w
}

// parts returns the parts of a satellite: its sessions, what hears and what speaks there. there beats
// when it joins.
func (s *satellites) parts(cfg *config.Config, one *pairedSatellite, there *supervise.Pulse) (parts []part) {
	d, p, far, name := s.daemon, one.Paired, one.far, satelliteName(one.Paired.ID)
	report := func(n earshot.Notice) {
		d.health.NoteNotice(n)
		if r := s.room(p); r != nil {
			r.Report(n)
		}
	}
	add := func(name string, pulse *supervise.Pulse, run func(context.Context) error) {
		parts = append(parts, part{name: name, run: run, pulse: pulse, report: report, as: one.satelliteKey})
	}
	add(name, there, far.Run)

	hears := new(supervise.Pulse)
	captured := s.oneOf(p.Room, name, pulsedCapture{microphone.OnCard(far.Card, ""), hears})
	heard := d.microphoneParts(cfg, captured, microphone.UseSTT(s.pool.Listener()), s.senses, func() *room.Room { return s.room(p) })
	heard.Name, heard.Via, heard.From, heard.Notice = name, name, earshot.Handle{Provider: "satellite", ID: p.ID}, report
	settings := cfg.Providers.Microphone
	settings.Deaf = 0 // which its own machine notices
	mic := microphone.New(settings, heard)
	hear := retryOnCard(func(ctx context.Context) error {
		err := mic.Run(ctx, func(ctx context.Context, e earshot.Event) error {
			e.Room = p.Room
			return d.Admit(ctx, e)
		})
		if mode, _ := far.Mode(); mode == earshot.Muted { // it was closed there, which is no fault
			return sound.ErrCard
		}
		return err
	})
	mode := func() (earshot.Mode, <-chan struct{}) {
		if r := s.room(p); r != nil {
			return r.Mode()
		}
		return earshot.Paused, nil
	}
	add(name+": microphone", hears, runInMode(mode, earshot.Mode.Listens, runInMode(far.Mode, earshot.Mode.Listens, hear)))

	say, own := d.newVoice(cfg, report)
	add(name+": synthesis", nil, say.Run)
	speaks := new(supervise.Pulse)
	speaking := cfg.Outlets.Loudspeaker
	speaking.Device = ""
	loud := loudspeaker.New(speaking, loudspeaker.OnCard(far.Card), own)
	add(name+": loudspeaker", speaks, retryOnCard(func(ctx context.Context) error {
		return loud.Run(ctx, func(earshot.Outlet) func() {
			speaks.Beat()
			r := s.room(p)
			if r == nil {
				return func() {}
			}
			return r.Enter(namedLoudspeaker{loud, name}, earshot.Audience{Unknown: true})
		})
	}))
	return parts
}

// A namedLoudspeaker is a loudspeaker with a name of its own.
type namedLoudspeaker struct {
	*loudspeaker.Loudspeaker
	name string
}

// Name implements [earshot.Outlet].
func (n namedLoudspeaker) Name() string { return n.name }

// states returns how the satellites of the rooms are that somebody may enter.
func (s *satellites) states(who participants.Participant) (all []api.Satellite) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.all {
		if one.Open && s.daemon.gate.MayEnter(who, one.Paired.Room) != nil {
			continue
		}
		is := one.far.State()
		all = append(all, api.Satellite{
			ID: one.Paired.ID, Room: one.Paired.Room, Connected: is.Connected, Since: is.Since, Muted: is.Muted, Build: is.Build,
			ClockAhead: is.Offset, ClockWithin: is.Within, Old: is.Old, Repeated: is.Repeated, Forged: is.Forged, Lost: is.Lost,
		})
	}
	return all
}
