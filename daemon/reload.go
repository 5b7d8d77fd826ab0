package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/daemon/access"
	"earshot/daemon/engines"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/internal/english"
	"earshot/internal/probe"
	"earshot/llm"
	"earshot/models/neural"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/server"
	"earshot/server/audit"
)

// The sections of the daemon; see [section]. Those without a [section] take effect at once.
const (
	cardSection        = "the sound card"
	microphoneSection  = "the microphone"
	loudspeakerSection = "the loudspeaker"
	camerasSection     = "the cameras"
	discordSection     = "Discord"
	busSection         = "the bus"
	satellitesSection  = "the satellites"
	modelsSection      = "the models"
	peopleSection      = "who is known"
	roomsSection       = "the rooms"
	logSection         = "the log"
	apiSection         = "the API"
)

// sectionsByKey says which parts of the daemon restart, or change, when a key of class
// [config.Section] changes. The longest entry that equals the key or contains it applies.
var sectionsByKey = map[string][]string{
	"executive.llm":  {modelsSection, peopleSection},
	"executive.name": {peopleSection, microphoneSection, discordSection, satellitesSection},
	"executive.multi_party.speaker_attribution": {microphoneSection, satellitesSection},
	"external_actors":             {peopleSection},
	"agents":                      {peopleSection},
	"rooms":                       {peopleSection, roomsSection, satellitesSection},
	"providers.microphone":        {cardSection, microphoneSection, satellitesSection},
	"providers.webcam":            {camerasSection},
	"providers.discord":           {discordSection},
	"providers.discord.operators": {peopleSection, discordSection},
	"outlets.loudspeaker":         {cardSection, loudspeakerSection, satellitesSection},
	"outlets.discord":             {discordSection},
	"speech":                      {microphoneSection, loudspeakerSection, discordSection, satellitesSection},
	"speech.hear":                 {microphoneSection, discordSection, satellitesSection},
	"speech.say":                  {loudspeakerSection, discordSection, satellitesSection},
	"speakers.enabled":            {microphoneSection, satellitesSection},
	"log":                         {logSection},
	"server":                      {apiSection},
	"bus":                         {busSection, satellitesSection},
}

// sectionOrder is all sections, in the order in which they restart.
var sectionOrder = []string{
	modelsSection, peopleSection, roomsSection, logSection, cardSection, microphoneSection, loudspeakerSection, camerasSection, discordSection, busSection, satellitesSection, apiSection,
}

// affectedSections returns the parts that restart for a key.
func affectedSections(key string) []string {
	for at := key; at != ""; at = at[:max(0, strings.LastIndexByte(at, '.'))] {
		if parts := sectionsByKey[at]; parts != nil {
			return parts
		}
	}
	return nil
}

// reloads is the state of reloading the configuration.
type reloads struct {
	done *audit.Log // the audit log; nil if there is none

	// watch is [config.Watch], except in tests of signals.
	watch func(ctx context.Context, path string, changed func()) error

	one sync.Mutex // held while reading, so that the later of two changes wins

	mu     sync.Mutex
	wants  *config.Config // the configuration read last; nil before
	faults string         // the faults found at the last read
	waits  []string       // the keys that wait for a restart
	speech string         // the version of the speech models that were installed at the last build
}

// errNoFile says that an embedded daemon has no configuration file that could change.
var errNoFile = errors.New("this earshot was started without a configuration file, so there is nothing to reload")

// loadConfig reads the configuration.
func (d *Daemon) loadConfig() (*config.Config, error) {
	if d.options.Load == nil {
		return nil, errNoFile
	}
	return d.options.Load()
}

// reload reads the configuration again. If anything is wrong with it, nothing changes. If somebody
// asked, they are told by the result; otherwise the operators get a notice.
func (d *Daemon) reload(ctx context.Context, asked bool) (api.ReloadResult, error) {
	r := &d.reloads
	r.one.Lock()
	defer r.one.Unlock()
	next, err := d.loadConfig()
	if errors.Is(err, errNoFile) {
		return api.ReloadResult{}, err
	}
	if err == nil && next.Store.Directory == "" {
		config.Place(next)
	}
	var is api.ReloadResult
	var waits []string
	if err == nil {
		is, waits, err = d.apply(ctx, next)
	}
	if err != nil {
		d.refuse(err, asked)
		return api.ReloadResult{}, err
	}
	r.mu.Lock()
	mended := r.faults != ""
	news := slices.DeleteFunc(slices.Clone(waits), func(key string) bool {
		return !slices.ContainsFunc(is.Changes, func(c api.SettingChange) bool { return c.Key == key })
	})
	r.wants, r.faults, r.waits = next, "", waits
	r.mu.Unlock()
	is.Waiting = waits
	if mended {
		d.deskRoom().Know(earshot.Notice{Key: configuration, Over: true})
	}
	if len(is.Changes) > 0 || mended {
		d.log.Info("the configuration was reloaded", "changed", strings.Join(keysOf(is), " "), "begins", strings.Join(is.Begins, ", "), "waits", strings.Join(waits, " "))
		told := is
		told.Waiting = news // each is mentioned once
		d.tellOperators(ReloadText(told))
	}
	return is, nil
}

// configuration is the key of the notice that the configuration has faults.
const configuration = "configuration"

// refuse reports that a configuration has faults, once for the same faults.
func (d *Daemon) refuse(err error, asked bool) {
	r := &d.reloads
	r.mu.Lock()
	known := r.faults == err.Error()
	r.faults = err.Error()
	r.mu.Unlock()
	if known {
		return
	}
	n := earshot.Notice{Key: configuration, Text: "the configuration cannot be used, so the previous one stays in effect"}
	n.Cure = cmp.Or(earshot.Cure(err), "earshot check") // which does not find the faults of a reload alone
	if wrong, ok := errors.AsType[*config.Error](err); ok {
		n.Text = fmt.Sprintf("the configuration has %s, so the previous one stays in effect", english.Count(len(wrong.Faults)+wrong.More, "fault"))
		for _, f := range wrong.Faults { // without the problem: that may repeat a value
			d.log.Warn("the configuration has a fault", "where", f.Where, "line", f.Line, "key", f.Key)
		}
	}
	if asked {
		d.deskRoom().Know(n)
		return
	}
	d.report(n)
	d.tellOperators(err.Error())
}

// tellOperators shows a line where only operators read it.
func (d *Daemon) tellOperators(text string) {
	for _, c := range d.rooms.Now() {
		c.Room.TellOperators(earshot.Notice{Text: text})
	}
}

// apply makes next take effect, as far as possible without a restart. It returns the keys that
// wait for one. If it fails, nothing has changed.
func (d *Daemon) apply(ctx context.Context, next *config.Config) (is api.ReloadResult, waits []string, err error) {
	was, wanted := d.Config(), d.Config()
	d.reloads.mu.Lock()
	wanted = cmp.Or(d.reloads.wants, wanted)
	d.reloads.mu.Unlock()
	is = api.ReloadResult{File: next.File, Changes: wanted.Changes(next)}
	force, waits, err := d.applicable(was, next)
	if err != nil {
		return is, nil, err
	}
	changed := was.Changes(force)
	touched := make(map[string]bool)
	for _, c := range changed {
		if c.Class == config.Section {
			for _, part := range affectedSections(c.Key) {
				touched[part] = true
			}
		}
	}
	if d.speechModelsChanged() {
		for _, part := range sectionsByKey["speech"] {
			touched[part] = true
		}
	}
	had := d.llm.Load()
	ladder := had
	if touched[modelsSection] {
		if ladder, err = engines.Build(force.Executive.LLM, d.log, ladder, d.health.NoteStep, d.costs.CountRequest); err != nil {
			return is, nil, fmt.Errorf("setting up the models: %w", err)
		}
	}
	move := func() {}
	if d.options.LogFile != nil { // even with the same path: somebody may have moved the file away
		if move, err = d.options.LogFile.MoveTo(force.Log); err != nil {
			return is, nil, err
		}
	}
	before := d.agents.List()
	main := !reflect.DeepEqual(access.MainAgent(was), access.MainAgent(force)) // this key takes effect at once, too
	if touched[peopleSection] || main {
		if err := d.agents.Reconfigure(ctx, access.AgentSetup(force, d.hasDesk())); err != nil {
			return is, nil, err
		}
	}
	if touched[peopleSection] {
		if err := d.reconfigurePeople(ctx, force); err != nil {
			return is, nil, err
		}
	}
	opened, err := d.newRooms(ctx, force)
	if err != nil {
		return is, nil, err
	}
	d.current.Store(force)
	d.llm.Replace(ladder)
	d.health.SetEngines(ladder.Servers, ladder.Entries)
	if had != nil && !slices.Equal(had.Entries, ladder.Entries) {
		d.clearModelFaults()
		d.probeModels(ctx, force.Executive.LLM)
	}
	move()
	if d.reloads.done != nil {
		if err := d.reloads.done.Move(config.AuditFile(force)); err != nil {
			d.auditLost(err) // it continues at the old path
		}
	}
	d.voices.Registry.Set(force.Speakers)
	for _, room := range force.Rooms.All() {
		d.rooms.Update(room)
	}
	for _, c := range opened {
		if err := d.rooms.Add(c); err != nil {
			d.log.Error("a room cannot be opened", "room", c.Is.ID, "err", err)
		}
	}
	d.announceChanges(before)
	for _, c := range d.rooms.Now() {
		c.Room.Reseat() // which checks everything anew
	}
	for _, part := range sectionOrder {
		if touched[part] && d.sections.Rebuild(part) {
			is.Begins = append(is.Begins, part)
		}
	}
	return is, waits, nil
}

// speechModelsChanged reports whether other speech models are installed than when it was called last.
func (d *Daemon) speechModelsChanged() bool {
	r, now := &d.reloads, neural.Open(d.log).Version()
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.speech
	r.speech = now
	return was != now
}

// clearModelFaults clears the notices of model faults in all rooms: the model is a different one
// now.
func (d *Daemon) clearModelFaults() {
	for _, c := range d.rooms.Now() {
		for _, fault := range c.Room.State(d.Audience()).Faults {
			if fault.Key == "model" || strings.HasPrefix(fault.Key, "model of ") {
				c.Room.Know(earshot.Notice{Key: fault.Key, Over: true})
			}
		}
	}
}

// probeModels probes changed ladder, and tells people if none works.
func (d *Daemon) probeModels(ctx context.Context, c llm.Config) {
	looks := probe.Engines(ctx, c)
	for _, l := range looks {
		d.health.NoteEngine(l)
	}
	if !slices.ContainsFunc(looks, func(l probe.Engine) bool { return l.Works }) {
		d.report(looks[0].Notice())
	}
}

// applicable returns the part of next that can take effect now, after was, and the keys that need
// a restart. It returns an error if that part alone is not valid.
func (d *Daemon) applicable(was, next *config.Config) (force *config.Config, waits []string, err error) {
	stays := map[string]bool{}
	if d.accountOwner(next) != d.owner.ID { // everything that exists was made in that person's name
		stays["external_actors.actors"] = true
	}
	force = next.Keeping(was, func(c api.SettingChange) bool { return c.Class == config.Restart || stays[c.Key] })
	if err := force.Validate(); err != nil {
		return nil, nil, fmt.Errorf("the configuration takes effect only after a restart of earshot\n%w", err)
	}
	for _, room := range was.Rooms.All() {
		if room.ID != earshot.Desk && !slices.ContainsFunc(next.Rooms, func(r executive.Room) bool { return r.ID == room.ID }) {
			force.Rooms = append(slices.Clip(force.Rooms), room) // somebody may be in there
		}
	}
	for _, c := range force.Changes(next) {
		waits = append(waits, c.Key)
	}
	return force, waits, nil
}

// accountOwner returns the owner of this account by another configuration.
func (d *Daemon) accountOwner(cfg *config.Config) earshot.ParticipantID {
	people, err := participants.Open(participants.Setup{Account: d.options.Account, AccountName: d.options.Name, Actors: cfg.ExternalActors})
	if err != nil {
		return d.owner.ID // Validate explains what is wrong
	}
	return people.Resolve(d.options.Account).ID
}

// reconfigurePeople makes the people of cfg known: the agents of the directory, and those who may
// come in.
func (d *Daemon) reconfigurePeople(ctx context.Context, cfg *config.Config) error {
	return d.people.Reconfigure(ctx, func(ctx context.Context) (*participants.Registry, error) {
		return d.registryBuilder(cfg).Build(ctx, d.store.For)
	})
}

// newRooms returns the rooms of cfg that do not exist yet. Those of a cluster come by themselves.
func (d *Daemon) newRooms(ctx context.Context, cfg *config.Config) (all roomList, err error) {
	if d.cluster != nil {
		return nil, nil
	}
	for _, is := range cfg.Rooms.All() {
		if _, there := d.rooms.Now().Find(is.ID); there {
			continue
		}
		c, err := d.newRoomEntry(ctx, is, d.store)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// announceChanges shows in the affected rooms which agents have changed.
func (d *Daemon) announceChanges(before []agents.Record) {
	had := make(map[earshot.ParticipantID]agents.Record)
	for _, r := range before {
		had[r.ID] = r
	}
	for _, is := range d.agents.List() {
		was, known := had[is.ID]
		delete(had, is.ID)
		switch {
		case !known:
			d.announce(d.owner.ID, earshot.Created, is, is)
		case was.Name != is.Name || was.Username != is.Username || was.Description != is.Description || !slices.Equal(was.Rooms, is.Rooms):
			d.announce(d.owner.ID, earshot.Changed, is, was, is)
		}
	}
	for _, was := range had {
		d.announce(d.owner.ID, earshot.Ended, was, was)
	}
}

func keysOf(r api.ReloadResult) (keys []string) {
	for _, c := range r.Changes {
		keys = append(keys, c.Key)
	}
	return keys
}

// namedKeys is how many changed keys are named; beyond that, only their number.
const namedKeys = 3

// ReloadText tells people which keys changed, without any value: it may be a secret.
func ReloadText(r api.ReloadResult) string {
	if len(r.Changes) == 0 && len(r.Begins) == 0 {
		return "Configuration reloaded: nothing has changed."
	}
	one := func(n int, is, are string) string { return map[bool]string{true: is, false: are}[n == 1] }
	var parts []string
	now := slices.DeleteFunc(keysOf(r), func(key string) bool { return slices.Contains(r.Waiting, key) })
	if len(r.Begins) > 0 {
		now = slices.DeleteFunc(now, func(key string) bool {
			return slices.ContainsFunc(affectedSections(key), func(part string) bool { return slices.Contains(r.Begins, part) })
		})
	}
	if len(now) > 0 {
		what := strings.Join(now, ", ")
		if len(now) > namedKeys {
			what = english.Count(len(now), "key")
		}
		parts = append(parts, what+one(len(now), " applies", " apply")+" now")
	}
	if len(r.Begins) > 0 { // parts that restart, or that are off now
		n := len(r.Begins)
		if r.Begins[0] == camerasSection || r.Begins[0] == satellitesSection {
			n++ // it names several
		}
		parts = append(parts, strings.Join(r.Begins, ", ")+one(n, " follows", " follow")+" it now")
	}
	if len(r.Waiting) > 0 {
		parts = append(parts, strings.Join(r.Waiting, ", ")+one(len(r.Waiting), " applies", " apply")+" after a restart")
	}
	return "Configuration reloaded: " + strings.Join(parts, "; ") + "."
}

// waitingKeys returns the keys that wait for a restart.
func (d *Daemon) waitingKeys() []string {
	d.reloads.mu.Lock()
	defer d.reloads.mu.Unlock()
	return slices.Clone(d.reloads.waits)
}

// watchConfig reloads the configuration whenever it changes, or a signal asks for it, until ctx
// ends.
func (d *Daemon) watchConfig(ctx context.Context, rest *sync.WaitGroup) {
	if d.options.Load == nil {
		return
	}
	again := func() {
		if ctx.Err() == nil {
			_, _ = d.reload(ctx, false) // reload has reported what is wrong
		}
	}
	rest.Go(func() {
		watch := d.reloads.watch
		if watch == nil {
			watch = config.Watch
		}
		if err := watch(ctx, d.options.File, again); err != nil {
			d.report(earshot.Notice{Key: configuration, Text: "changes of the configuration file are not noticed: " + err.Error(), Cure: "run earshot reload after each change"})
		}
	})
	rest.Go(func() {
		for {
			select {
			case <-d.options.Hangups:
				d.watchdog(d.options.Notifier).Reload(again)
			case <-ctx.Done():
				return
			}
		}
	})
}

// Reload implements [server.Admin].
func (h backend) Reload(ctx context.Context) (api.ReloadResult, error) {
	return h.daemon.Reload(ctx)
}

// Recheck implements [server.Backend]: a room may have become closed to somebody, or a person
// unknown.
func (h backend) Recheck(p server.Principal) error {
	if p.Account.Provider == participants.BySatellite {
		_, err := h.daemon.identifyAtSatellite(p.Account, server.Claim{Room: p.Audience.Room})
		return err
	}
	is, known := h.daemon.people.Get(p.ID)
	switch {
	case !known && p.Guest():
		return nil // who has identified themselves meanwhile
	case !known:
		return errors.New("you are no longer known here")
	}
	if !is.Can(participants.Operate) {
		p.Capabilities = is.Capabilities
	}
	return h.daemon.gate.MayEnter(p.Participant, p.Audience.Room)
}

// reloadTable is the command that reloads the configuration.
func (d *Daemon) reloadTable() command.Table {
	return command.Table{{
		Group: "For operators of earshot", Name: "reload", Help: "reload the configuration", Needs: participants.Operate,
		Do: func(ctx context.Context, _ command.Call) (string, error) {
			is, err := d.Reload(ctx)
			if err != nil {
				return "", err
			}
			return ReloadText(is), nil
		},
	}}
}
