package daemon

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/bus"
	"earshot/bus/natsserver"
	"earshot/bus/stream"
	"earshot/config"
	"earshot/daemon/buslink"
	"earshot/daemon/cameras"
	"earshot/daemon/devices"
	"earshot/daemon/section"
	"earshot/executive"
	"earshot/executive/room"
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
	"earshot/server"
)

// satelliteRecognisers is how many people at satellites are recognised while they speak at the same
// time.
const satelliteRecognisers = 2

// satelliteConsoles is how many terminals may be attached at a satellite at the same time.
const satelliteConsoles = 3

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
	bus     []section.Part // what is needed for satellites to be paired
	speech  []section.Part // what is needed when there are some

	mu   sync.Mutex
	all  []*pairedSatellite
	seen registryContent // at the last build
}

// A registryContent is what the registry said.
type registryContent struct {
	Satellites []pairing.Satellite
	Damage     string // why it cannot be read
}

// A pairedSatellite is one that is paired.
type pairedSatellite struct {
	satelliteKey
	far    *hub.Satellite
	camera *cameras.Camera
	parts  []section.Part
}

// A satelliteKey is what the parts of a satellite are made of.
type satelliteKey struct {
	Paired  pairing.Satellite
	Edition int
	Open    bool // its room exists
	Run     int  // of its room, which may have ended meanwhile and begun again
}

// InstallSatellites gives the daemon its satellites, if there is to be a bus, and reports the result.
func (d *Daemon) InstallSatellites(ctx context.Context) []api.CheckResult {
	s := &d.satellites
	s.daemon, s.registry = d, pairing.In(d.Config().Store.Directory)
	return d.show(d.sections.Install(ctx, &section.Section{Name: satellitesSection, Build: s.build}))
}

// build returns the parts of the bus and of each satellite. Those of one that has not changed go on.
func (s *satellites) build(context.Context) section.Build {
	cfg := s.daemon.Config()
	if !cfg.Bus.Enabled() {
		s.made = nil
		return section.Build{Started: func() { s.keep(nil) }}
	}
	made := []any{cfg.Bus, cfg.Speech, cfg.Speakers, cfg.Providers.Microphone, cfg.Outlets.Loudspeaker, cfg.Executive.Name, cfg.Executive.MultiParty, neural.Open(s.daemon.log).Version()}
	if !reflect.DeepEqual(made, s.made) {
		s.open(cfg)
		s.made = made
	}
	content, err := s.read()
	is := section.Build{Parts: slices.Clone(s.bus)}
	switch n := len(content.Satellites); {
	case err != nil:
		is.Findings = append(is.Findings, buslink.Fault("satellites", err))
	case n == 0:
		is.Findings = append(is.Findings, api.CheckResult{Thing: "satellites", Works: true, Text: "none is paired"})
	default:
		is.Findings = append(is.Findings, api.CheckResult{Thing: "satellites", Works: true, Text: english.Count(n, "satellite") + " paired"})
		is.Parts = append(is.Parts, s.speech...)
	}
	var all []*pairedSatellite
	var users []natsserver.User
	for _, p := range content.Satellites {
		users = append(users, natsserver.User{Key: p.Key, Rights: satellite.RightsOf(p.ID)})
		if s.elsewhere(p.Room) {
			continue
		}
		one := s.paired(cfg, p)
		all, is.Parts = append(all, one), append(is.Parts, one.parts...)
		if !one.Open {
			is.Findings = append(is.Findings, probe.NoRoom(p))
		}
	}
	if err := s.daemon.bus.SetUsers(users); err != nil {
		is.Findings = append(is.Findings, buslink.Fault("satellites", err))
	}
	is.Started = func() { s.keep(all) }
	return is
}

// elsewhere reports whether a room exists, and is not here: whoever has it lets its satellites join.
func (s *satellites) elsewhere(room earshot.RoomID) bool {
	_, here := s.daemon.rooms.Now().Find(room)
	return !here && slices.ContainsFunc(s.daemon.listRooms(), func(r executive.Room) bool { return r.ID == room })
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
			s.daemon.sections.Rebuild(satellitesSection)
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
	var far []*cameras.Camera
	for _, one := range all {
		if one.camera != nil {
			far = append(far, one.camera)
		}
	}
	s.daemon.cameras.ReplaceFar(far)
}

// open makes what all satellites need.
func (s *satellites) open(cfg *config.Config) {
	d := s.daemon
	s.bus, s.edition = nil, s.edition+1
	add := func(to *[]section.Part, name string, run func(context.Context) error) {
		*to = append(*to, section.Part{Name: name, Run: run, Key: []any{name, s.edition}})
	}
	far := hub.New(hub.Config{
		Media: helper.NewDialer(d.log, helper.SpeechProgram, "media"), Log: d.log, Dropped: d.countDrops("satellites"),
		FollowUp: func() time.Duration { return d.Config().Executive.Speech.FollowUp.Duration() },
		Shared:   d.cluster != nil,
	})
	add(&s.bus, "satellites", func(ctx context.Context) error { return d.bus.Use(ctx, far.Run) })
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
	r, exists := s.daemon.rooms.Now().Find(p.Room)
	key := satelliteKey{Paired: p, Edition: s.edition, Open: exists, Run: r.Number()}
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
	r, _ := s.daemon.rooms.Now().Find(p.Room)
	return r.Room
}

// welcome returns what a satellite is told when it asks to join. A daemon that is not sure to have the room
// says nothing.
func (s *satellites) welcome(p pairing.Satellite) (w satellite.Welcome) {
	r, exists := s.daemon.rooms.Now().Find(p.Room)
	if c := s.daemon.cluster; c != nil && (exists || s.elsewhere(p.Room)) {
		lease := c.Lease(string(p.Room))
		if !exists || lease == nil {
			return w
		}
		w.Fence = lease.Fence
	}
	if !exists {
		return satellite.Welcome{Problem: fmt.Sprintf("its room %s does not exist at the hub", p.Room), Cure: "pair it again, on the machine of the hub: earshot pair NAME --room ROOM"}
	}
	w.Room = r.Is.Name
	for _, a := range s.daemon.agents.In(p.Room) {
		w.Names = append(w.Names, a.Name)
	}
	return w
}

// parts returns the parts of a satellite: its sessions, what hears and what speaks there. there beats
// when it joins.
func (s *satellites) parts(cfg *config.Config, one *pairedSatellite, there *supervise.Pulse) (parts []section.Part) {
	d, p, far, name := s.daemon, one.Paired, one.far, satelliteName(one.Paired.ID)
	report := func(n earshot.Notice) {
		d.health.NoteNotice(n)
		if r := s.room(p); r != nil {
			r.Report(n)
		}
	}
	add := func(name string, pulse *supervise.Pulse, run func(context.Context) error) {
		parts = append(parts, section.Part{Name: name, Run: run, Pulse: pulse, Report: report, Key: one.satelliteKey})
	}
	add(name, there, far.Run)

	hears := new(supervise.Pulse)
	captured := d.devices.Arbitrate(p.Room, name, devices.PulsedCapture{Capture: microphone.OnCard(far.Card, ""), Pulse: hears})
	in := func() devices.Room {
		if r := s.room(p); r != nil {
			return r
		}
		return nil
	}
	heard := d.devices.MicrophoneParts(cfg, captured, farRecogniser{s.pool.Listener(), far}, s.senses, in)
	heard.Name, heard.Via, heard.From, heard.Notice = name, name, earshot.Handle{Provider: participants.BySatellite, ID: p.ID}, report
	settings := cfg.Providers.Microphone
	settings.Deaf = 0 // which its own machine notices
	mic := microphone.New(settings, heard)
	hear := devices.RetryOnCard(func(ctx context.Context) error {
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
	add(name+": microphone", hears, section.RunInMode(mode, earshot.Mode.Listens, section.RunInMode(far.Mode, earshot.Mode.Listens, hear)))

	seen := new(supervise.Pulse)
	away := func() string {
		switch is := far.State(); {
		case !is.Camera:
			return cameras.NoCamera
		case !is.Connected:
			return "its satellite is not connected"
		case is.Muted:
			return "somebody has muted its satellite there"
		}
		return ""
	}
	camera, sense := cameras.NewFar(p.ID, p.Room, away, far.Camera, d.log, report, d.countDrops("webcam"), seen.Beat)
	one.camera = camera
	watch := devices.RetryOnCard(func(ctx context.Context) error {
		err := sense.Run(ctx, camera.Observe(func(ctx context.Context, e earshot.Event) error {
			e.Room = p.Room
			return d.Admit(ctx, e)
		}))
		if away() != "" { // which is told of by itself
			return sound.ErrCard
		}
		return err
	})
	add(earshot.CameraCalled(camera.Name), seen, section.RunInMode(mode, earshot.Mode.Watches, section.RunInMode(far.CameraMode, earshot.Mode.Listens, watch)))

	add(name+": console", nil, func(ctx context.Context) error {
		d.bus.Keep(ctx, "nobody can write at a satellite", func(ctx context.Context, b bus.Bus) error {
			l, err := stream.Listen(ctx, limitedBus{b, make(chan struct{}, 1+satelliteConsoles)}, satellite.ConsoleSubject(p.ID))
			if err != nil {
				return err
			}
			return d.server.ServeTerminals(ctx, l, heard.From)
		})
		return nil
	})

	say, own := d.devices.NewVoice(cfg, report)
	add(name+": synthesis", nil, say.Run)
	speaks := new(supervise.Pulse)
	speaking := cfg.Outlets.Loudspeaker
	speaking.Device = ""
	loud := loudspeaker.New(speaking, loudspeaker.OnCard(far.Card), own)
	add(name+": loudspeaker", speaks, devices.RetryOnCard(func(ctx context.Context) error {
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

// identify returns whoever writes at the console of a satellite. It is in the satellite's room, where anybody
// may read it, as anybody hears the loudspeaker.
func (s *satellites) identify(account earshot.Handle, c server.Claim) (server.Principal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.seen.Satellites, func(p pairing.Satellite) bool { return p.ID == account.ID })
	switch {
	case i < 0:
		return server.Principal{}, errors.New("this satellite is not paired any more; pair it again: earshot pair")
	case c.Name != "" || c.Token != "" || c.Room != "" && c.Room != s.seen.Satellites[i].Room:
		return server.Principal{}, errors.New("at a satellite nobody has a name, a token or another room than that of the satellite")
	}
	who, _ := s.daemon.people.Get(participants.AtSatellite(account.ID))
	return server.Principal{Participant: who, Account: account, Audience: earshot.Audience{Room: s.seen.Satellites[i].Room, Unknown: true}}, nil
}

// A limitedBus is a bus on which there are at most as many subscriptions as fit into places: whoever dials a
// listener has it subscribe, and the server of the bus grants each daemon a number of subscriptions.
type limitedBus struct {
	bus.Bus
	places chan struct{}
}

// Subscribe implements [bus.Bus]. The error is [bus.ErrFull] if there is no place.
func (b limitedBus) Subscribe(ctx context.Context, pattern string, take func(bus.Message)) (stop func(), err error) {
	select {
	case b.places <- struct{}{}:
	default:
		return nil, bus.ErrFull
	}
	leave := sync.OnceFunc(func() { <-b.places })
	end, err := b.Bus.Subscribe(ctx, pattern, take)
	if err != nil {
		leave()
		return nil, err
	}
	return func() { end(); leave() }, nil
}

// A farRecogniser recognises what a satellite hears, at the satellite if that can.
type farRecogniser struct {
	*stt.Listener
	far *hub.Satellite
}

// Begin implements [microphone.Recogniser].
func (r farRecogniser) Begin(on func(microphone.Result)) microphone.Session {
	if u := r.far.Recognise(on, r.Listener.Begin); u != nil {
		return u
	}
	return r.Listener.Begin(on)
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
			ClockAhead: is.Offset, ClockWithin: is.Within, Old: is.Old, Repeated: is.Repeated, Forged: is.Forged, Lost: is.Lost, Recognises: is.Recognises,
		})
	}
	return all
}
