package devices

import (
	"context"
	"fmt"
	"net"
	"reflect"
	"slices"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/bus"
	"earshot/bus/stream"
	"earshot/config"
	"earshot/daemon/buslink"
	"earshot/daemon/section"
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

// satelliteConsoles is how many terminals may be attached at a satellite at the same time.
const satelliteConsoles = 3

// A SatelliteRoom is a room that is here, and what its satellites are told of it.
type SatelliteRoom struct {
	Room
	Name   string
	Agents []string // their names
	Run    int      // a number that changes when the room ends and begins again
}

// A SatelliteConfig is what satellites need of their daemon besides what a [Config] has.
type SatelliteConfig struct {
	Restarts supervise.Config
	Bus      *buslink.Link
	Find     func(earshot.RoomID) (r SatelliteRoom, here bool)
	Exists   func(earshot.RoomID) bool                     // reports whether a room exists, here or at another daemon
	Fence    func(earshot.RoomID) (fence int64, held bool) // of the lease of a room; nil if the daemon is alone
	Note     func(earshot.Notice)                          // notes a fault of a part

	// Console answers the terminals that are attached at a satellite.
	Console func(context.Context, net.Listener, earshot.Handle) error

	// Watch returns the part that watches through the camera of a satellite in a mode of its room, and Kept is
	// told the satellites that there are.
	Watch func(p pairing.Satellite, far *hub.Satellite, mode section.Mode, report func(earshot.Notice)) section.Part
	Kept  func(ids []string)

	Silent bool // nothing is heard or spoken in this run: whoever asks to join is told so

	Changed func() // is called when somebody is paired or removed
}

// Satellites are the devices of other machines. The methods may be called from many goroutines, but for
// [Satellites.Build].
type Satellites struct {
	SatelliteConfig
	devices  *Devices
	registry *pairing.Registry

	// What follows belongs to the goroutine that builds the section.
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

// NewSatellites returns the satellites that are paired in the daemon's directory.
func NewSatellites(d *Devices, c SatelliteConfig) *Satellites {
	return &Satellites{SatelliteConfig: c, devices: d, registry: pairing.In(d.Settings().Store.Directory)}
}

// Paired returns the satellite of an ID, as it was paired at the last build.
func (s *Satellites) Paired(id string) (pairing.Satellite, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.seen.Satellites, func(p pairing.Satellite) bool { return p.ID == id })
	if i < 0 {
		return pairing.Satellite{}, false
	}
	return s.seen.Satellites[i], true
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
	parts []section.Part
}

// A satelliteKey is what the parts of a satellite are made of.
type satelliteKey struct {
	Paired  pairing.Satellite
	Edition int
	Open    bool // its room exists
	Run     int  // of its room, which may have ended meanwhile and begun again
}

// Build returns the parts of the bus and of each satellite. Those of one that has not changed go on.
func (s *Satellites) Build(context.Context) section.Build {
	cfg := s.devices.Settings()
	if !cfg.Bus.Enabled() {
		s.made = nil
		return section.Build{Started: func() { s.keep(nil) }}
	}
	at := cfg.Bus
	at.Addresses = nil // which are for those that are yet to be paired
	made := []any{at, cfg.Speech, tellsVoices(cfg), cfg.Providers.Microphone, cfg.Outlets.Loudspeaker, cfg.Executive.Name, neural.Open(s.devices.Log).Version()}
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
	case s.Silent:
		is.Findings = append(is.Findings, api.CheckResult{Thing: "satellites", Absent: true, Text: english.Count(n, "satellite") + " paired, and none hears or speaks in this run (--no-voice)"})
	default:
		is.Findings = append(is.Findings, api.CheckResult{Thing: "satellites", Works: true, Text: english.Count(n, "satellite") + " paired"})
		is.Parts = append(is.Parts, s.speech...)
	}
	var all []*pairedSatellite
	for _, p := range content.Satellites {
		if s.elsewhere(p.Room) {
			continue
		}
		one := s.paired(cfg, p)
		all, is.Parts = append(all, one), append(is.Parts, one.parts...)
		if !one.Open {
			is.Findings = append(is.Findings, probe.NoRoom(p))
		}
	}
	if err := s.Bus.SetUsers(buslink.Users(content.Satellites)); err != nil {
		is.Findings = append(is.Findings, buslink.Fault("satellites", err))
	}
	is.Started = func() { s.keep(all) }
	return is
}

// elsewhere reports whether a room exists, and is not here: whoever has it lets its satellites join.
func (s *Satellites) elsewhere(room earshot.RoomID) bool {
	_, here := s.Find(room)
	return !here && s.Exists(room)
}

// read reads the registry, and notes what it said.
func (s *Satellites) read() (registryContent, error) {
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
func (s *Satellites) follow(ctx context.Context) error {
	s.registry.Follow(ctx, func(all []pairing.Satellite, err error) {
		s.mu.Lock()
		news := !reflect.DeepEqual(contentOf(all, err), s.seen)
		s.mu.Unlock()
		if news {
			s.Changed()
		}
	})
	return nil
}

// keep makes all the satellites that there are, when the parts of those before have ended.
func (s *Satellites) keep(all []*pairedSatellite) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, was := range s.all {
		if !slices.Contains(all, was) {
			was.far.Remove()
		}
	}
	s.all = all
	var ids []string
	for _, one := range all {
		ids = append(ids, one.Paired.ID)
	}
	s.Kept(ids)
}

// open makes what all satellites need.
func (s *Satellites) open(cfg *config.Config) {
	d := s.devices
	s.bus, s.edition = nil, s.edition+1
	add := func(to *[]section.Part, name string, run func(context.Context) error) {
		*to = append(*to, section.Part{Name: name, Run: run, Key: []any{name, s.edition}})
	}
	far := hub.New(hub.Config{
		Media: helper.NewDialer(d.Log, helper.SpeechProgram, "media"), Log: d.Log, Dropped: d.Dropped("satellites"),
		FollowUp: func() time.Duration { return d.Settings().Executive.Speech.FollowUp.Duration() },
		Shared:   s.Fence != nil,
	})
	add(&s.bus, "satellites", func(ctx context.Context) error { return s.Bus.Use(ctx, far.Run) })
	add(&s.bus, "pairing", s.follow)
	ears := engine.New("hears", cfg.Speech.Recognisers(helper.NewDialer(d.Log, helper.SpeechProgram, "hear"), neural.Open(d.Log)), d.Report)
	s.hub, s.speech = far, nil
	s.pool = stt.NewPool(stt.PoolConfig{
		Each: stt.Config{Dial: ears.Dial, Log: d.Log, Names: []string{cfg.Executive.Name}},
		Most: satelliteRecognisers, Name: "recognition of satellites", Report: d.Report, Restarts: s.Restarts,
	})
	add(&s.speech, "recognition of satellites", s.pool.Run)
	add(&s.speech, "sound of satellites", far.Decode)
	s.senses = nil
	if is, wanted := cfg.Speech.Sensing(neural.Open(d.Log)); wanted {
		s.senses = sense.New(sense.Config{Dial: is.Dial, Sets: is.Sets, Log: d.Log})
		add(&s.speech, "sensing of satellites", s.senses.Run)
	}
}

// satelliteName is what a satellite is called as a part, and as the outlet in its room.
func satelliteName(id string) string { return "satellite " + id }

// paired returns a satellite with its parts, the same one if it has not changed.
func (s *Satellites) paired(cfg *config.Config, p pairing.Satellite) *pairedSatellite {
	r, exists := s.Find(p.Room)
	key := satelliteKey{Paired: p, Edition: s.edition, Open: exists, Run: r.Run}
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
	if exists && !s.Silent {
		one.parts = s.parts(cfg, one, there)
	}
	return one
}

// room returns the room of a satellite, or nil if it does not exist.
func (s *Satellites) room(p pairing.Satellite) Room {
	r, _ := s.Find(p.Room)
	return r.Room
}

// welcome returns what a satellite is told when it asks to join. A daemon that is not sure to have the room
// says nothing.
func (s *Satellites) welcome(p pairing.Satellite) (w satellite.Welcome) {
	r, exists := s.Find(p.Room)
	if s.Fence != nil && (exists || s.elsewhere(p.Room)) {
		fence, held := s.Fence(p.Room)
		if !exists || !held {
			return w
		}
		w.Fence = fence
	}
	if !exists {
		return satellite.Welcome{Problem: fmt.Sprintf("its room %s does not exist at the hub", p.Room), Cure: "write the room into the configuration of the hub; or, there, earshot pair remove " + p.ID + ", and pair it again"}
	}
	if s.Silent {
		return satellite.Welcome{Problem: "the hub was started without voice", Cure: "start it there without --no-voice"}
	}
	w.Room, w.Names = r.Name, r.Agents
	return w
}

// parts returns the parts of a satellite: its sessions, what hears and what speaks there. there beats
// when it joins.
func (s *Satellites) parts(cfg *config.Config, one *pairedSatellite, there *supervise.Pulse) (parts []section.Part) {
	d, p, far, name := s.devices, one.Paired, one.far, satelliteName(one.Paired.ID)
	report := func(n earshot.Notice) {
		s.Note(n)
		if r := s.room(p); r != nil {
			r.Report(n)
		}
	}
	add := func(name string, pulse *supervise.Pulse, run func(context.Context) error) {
		parts = append(parts, section.Part{Name: name, Run: run, Pulse: pulse, Report: report, Key: one.satelliteKey})
	}
	add(name, there, far.Run)

	hears := new(supervise.Pulse)
	captured := d.Arbitrate(p.Room, name, PulsedCapture{Capture: microphone.OnCard(far.Card, ""), Pulse: hears})
	heard := d.MicrophoneParts(cfg, captured, farRecogniser{s.pool.Listener(), far}, s.senses, func() Room { return s.room(p) })
	heard.Name, heard.Via, heard.From, heard.Notice = name, name, earshot.Handle{Provider: participants.BySatellite, ID: p.ID}, report
	settings := cfg.Providers.Microphone
	settings.Deaf = 0 // which its own machine notices
	mic := microphone.New(settings, heard)
	hear := RetryOnCard(func(ctx context.Context) error {
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

	parts = append(parts, s.Watch(p, far, mode, report))
	parts[len(parts)-1].Key = one.satelliteKey

	add(name+": console", nil, func(ctx context.Context) error {
		s.Bus.Keep(ctx, "nobody can write at a satellite", func(ctx context.Context, b bus.Bus) error {
			l, err := stream.Listen(ctx, b, satellite.ConsoleSubject(p.ID), satelliteConsoles)
			if err != nil {
				return err
			}
			return s.Console(ctx, l, heard.From)
		})
		return nil
	})

	say, own := d.NewVoice(cfg, report)
	add(name+": synthesis", nil, say.Run)
	speaks := new(supervise.Pulse)
	speaking := cfg.Outlets.Loudspeaker
	speaking.Device = ""
	loud := loudspeaker.New(speaking, loudspeaker.OnCard(far.Card), own)
	add(name+": loudspeaker", speaks, RetryOnCard(func(ctx context.Context) error {
		return loud.Run(ctx, func(earshot.Outlet) func() {
			speaks.Beat()
			r := s.room(p)
			if r == nil {
				return func() {}
			}
			return r.Enter(namedLoudspeaker{loud, far, name}, earshot.Audience{Unknown: true})
		})
	}))
	return parts
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
	earshot.ReceiptHolder
	name string
}

// Name implements [earshot.Outlet].
func (n namedLoudspeaker) Name() string { return n.name }

// States returns how the satellites are of the rooms that somebody may enter, as mayEnter says.
func (s *Satellites) States(mayEnter func(earshot.RoomID) bool) (all []api.Satellite) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.all {
		if one.Open && !mayEnter(one.Paired.Room) {
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
