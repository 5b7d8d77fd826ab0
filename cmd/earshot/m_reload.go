package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/daemon/access"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/internal/english"
	"earshot/internal/logfile"
	"earshot/internal/probe"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/server"
	"earshot/server/audit"
)

// The sections of the house; see [section]. Those that are no section of the daemon are
// others at once.
const (
	theCard        = "the sound card"
	theMicrophone  = "the microphone"
	theLoudspeaker = "the loudspeaker"
	theCameras     = "the cameras"
	onDiscord      = "Discord"
	theModels      = "the models"
	thePeople      = "who is known"
	theRooms       = "the rooms"
	theLog         = "the log"
	theAPI         = "the API"
)

// begins says which parts of the house begin again, or are others, when a key of class
// [config.Section] has changed: those of the longest that it is, or lies below.
var begins = map[string][]string{
	"executive.llm":  {theModels, thePeople},
	"executive.name": {thePeople, theMicrophone, onDiscord},
	"executive.multi_party.speaker_attribution": {theMicrophone},
	"external_actors":             {thePeople},
	"agents":                      {thePeople},
	"rooms":                       {thePeople, theRooms},
	"providers.microphone":        {theCard, theMicrophone},
	"providers.webcam":            {theCameras},
	"providers.discord":           {onDiscord},
	"providers.discord.operators": {thePeople, onDiscord},
	"outlets.loudspeaker":         {theCard, theLoudspeaker},
	"outlets.discord":             {onDiscord},
	"speakers.enabled":            {theMicrophone},
	"log":                         {theLog},
	"server":                      {theAPI},
}

// affectedSections returns the parts that begin again for a key.
func affectedSections(key string) []string {
	for at := key; at != ""; at = at[:max(0, strings.LastIndexByte(at, '.'))] {
		if parts := begins[at]; parts != nil {
			return parts
		}
	}
	return nil
}

// reloads is how the configuration is read again.
type reloads struct {
	load func() (*config.Config, error) // nil if it cannot be
	file string                         // that was named; empty means the usual places
	log  *logfile.File                  // nil where there is none
	done *audit.Log                     // the audit log, which is beside it; nil where there is none

	hangups <-chan os.Signal // each asks for it

	// watch is [config.Watch], but in tests of what is asked for.
	watch func(ctx context.Context, path string, changed func()) error

	one sync.Mutex // held by who reads it, so that of two changes the later one holds

	mu     sync.Mutex
	wants  *config.Config // as it was read last; nil before
	faults string         // that it had when it was read last
	waits  []string       // the keys that wait for a restart
}

// errNoFile is that a house of its own has no configuration that could change.
var errNoFile = errors.New("this earshot was started without a configuration file, so there is nothing to reload")

// reload reads the configuration again. If anything is wrong with it, nothing changes.
// Whoever asked is told by the answer; where nobody did, people are told otherwise.
func (d *daemon) reload(ctx context.Context, asked bool) (api.ReloadResult, error) {
	r := &d.reloads
	if r.load == nil {
		return api.ReloadResult{}, errNoFile
	}
	r.one.Lock()
	defer r.one.Unlock()
	next, err := r.load()
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
		d.desk.Know(earshot.Notice{Key: configuration, Over: true})
	}
	if len(is.Changes) > 0 || mended {
		d.log.Info("the configuration was reloaded", "changed", strings.Join(keysOf(is), " "), "begins", strings.Join(is.Begins, ", "), "waits", strings.Join(waits, " "))
		told := is
		told.Waiting = news // each is said once
		d.tellOperators(reloadText(told))
	}
	return is, nil
}

// configuration is the key of the notice that it has faults.
const configuration = "configuration"

// refuse says that a configuration has faults, once for the same ones.
func (d *daemon) refuse(err error, asked bool) {
	r := &d.reloads
	r.mu.Lock()
	known := r.faults == err.Error()
	r.faults = err.Error()
	r.mu.Unlock()
	if known {
		return
	}
	n := earshot.Notice{Key: configuration, Text: "the configuration cannot be used, so the previous one stays in effect"}
	n.Cure = cmp.Or(probe.Cure(err), "earshot check") // which does not find what only a reload does
	if wrong, ok := errors.AsType[*config.Error](err); ok {
		n.Text = fmt.Sprintf("the configuration has %s, so the previous one stays in effect", english.Count(len(wrong.Faults)+wrong.More, "fault"))
		for _, f := range wrong.Faults { // without what is wrong: that may repeat a value
			d.log.Warn("the configuration has a fault", "where", f.Where, "line", f.Line, "key", f.Key)
		}
	}
	if asked {
		d.desk.Know(n)
		return
	}
	d.report(n)
	d.tellOperators(err.Error())
}

// tellOperators shows a line where nobody reads along who does not operate the house.
func (d *daemon) tellOperators(text string) {
	for _, c := range d.rooms.now() {
		c.TellOperators(earshot.Notice{Text: text})
	}
}

// apply makes the house what next says, as far as it can be without a restart. It
// returns which keys wait for one. If it fails, nothing has changed.
func (d *daemon) apply(ctx context.Context, next *config.Config) (is api.ReloadResult, waits []string, err error) {
	was, wanted := d.config(), d.config()
	d.reloads.mu.Lock()
	wanted = cmp.Or(d.reloads.wants, wanted)
	d.reloads.mu.Unlock()
	is = api.ReloadResult{File: next.File, Changes: wanted.Changes(next)}
	force, waits, err := d.possible(was, next)
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
	had := d.llm.now.Load()
	engines := had
	if touched[theModels] {
		if engines, err = ladder(force.Executive.LLM, d.log, engines, d.health.NoteStep, d.costs.CountRequest); err != nil {
			return is, nil, fmt.Errorf("setting up the models: %w", err)
		}
	}
	move := func() {}
	if d.reloads.log != nil { // also if it is called as before: somebody may have put the file aside
		if move, err = d.reloads.log.MoveTo(force.Log); err != nil {
			return is, nil, err
		}
	}
	before := d.book.List()
	main := !reflect.DeepEqual(access.MainAgent(was), access.MainAgent(force)) // of a key that holds at once, too
	if touched[thePeople] || main {
		if err := d.book.Reconfigure(ctx, access.AgentSetup(force)); err != nil {
			return is, nil, err
		}
	}
	if touched[thePeople] {
		if err := d.meets(ctx, force); err != nil {
			return is, nil, err
		}
	}
	opened, err := d.newRooms(ctx, force)
	if err != nil {
		return is, nil, err
	}
	d.force.Store(force)
	d.llm.now.Store(engines)
	d.health.SetEngines(engines.Ladder, engines.of)
	if had != nil && !slices.Equal(had.of, engines.of) {
		d.forgive()
		d.examine(ctx, force.Executive.LLM)
	}
	move()
	if d.reloads.done != nil {
		if err := d.reloads.done.Move(config.AuditFile(force)); err != nil {
			d.auditLost(err) // and it goes on where it is
		}
	}
	d.voices.Registry.Set(force.Speakers)
	for _, room := range force.Rooms.All() {
		d.rooms.become(room)
	}
	for _, c := range opened {
		if err := d.rooms.add(c); err != nil {
			d.log.Error("a room cannot be opened", "room", c.is.ID, "err", err)
		}
	}
	d.announce(before)
	for _, c := range d.rooms.now() {
		c.Reseat() // which looks at everything anew
	}
	for _, part := range []string{theModels, thePeople, theRooms, theLog, theCard, theMicrophone, theLoudspeaker, theCameras, onDiscord, theAPI} {
		if touched[part] && d.rebuild(part) {
			is.Begins = append(is.Begins, part)
		}
	}
	return is, waits, nil
}

// forgive forgets in all rooms that a model failed: it is another from now on.
func (d *daemon) forgive() {
	for _, c := range d.rooms.now() {
		for _, fault := range c.State(d.audience()).Faults {
			if fault.Key == "model" || strings.HasPrefix(fault.Key, "model of ") {
				c.Know(earshot.Notice{Key: fault.Key, Over: true})
			}
		}
	}
}

// examine looks at engines that are others than they were, and tells people if none works.
func (d *daemon) examine(ctx context.Context, c llm.Config) {
	looks := probe.Engines(ctx, c)
	for _, l := range looks {
		d.health.NoteEngine(l)
	}
	if !slices.ContainsFunc(looks, func(l probe.Engine) bool { return l.Works }) {
		d.report(looks[0].Notice())
	}
}

// possible returns what can be in force of next, where was is, and the keys that need a
// restart. What is right as a whole is so in part, or it is an error.
func (d *daemon) possible(was, next *config.Config) (force *config.Config, waits []string, err error) {
	stays := map[string]bool{}
	if d.heir(next) != d.owner.ID { // in whose name all that there is was made
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

// heir returns whose account this is by another configuration.
func (d *daemon) heir(cfg *config.Config) earshot.ParticipantID {
	people, err := participants.Open(participants.Setup{Account: d.account, AccountName: d.name, Actors: cfg.ExternalActors})
	if err != nil {
		return d.owner.ID // which Validate explains
	}
	return people.Resolve(d.account).ID
}

// meets makes those known who are by cfg: the agents of the book, and who may come in.
func (d *daemon) meets(ctx context.Context, cfg *config.Config) error {
	return d.people.Reconfigure(ctx, func(ctx context.Context) (*participants.Registry, error) {
		return d.registryBuilder(cfg).Build(ctx, d.store.For)
	})
}

// newRooms returns the rooms of cfg that there are not yet.
func (d *daemon) newRooms(ctx context.Context, cfg *config.Config) (all rooms, err error) {
	for _, is := range cfg.Rooms.All() {
		if _, there := d.rooms.now().find(is.ID); there {
			continue
		}
		c, err := d.newRoomEntry(ctx, is)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// announce shows where it matters which agents are others than they were.
func (d *daemon) announce(before []agents.Record) {
	had := make(map[earshot.ParticipantID]agents.Record)
	for _, r := range before {
		had[r.ID] = r
	}
	show := func(act earshot.Act, was, is agents.Record) {
		e := earshot.Event{
			At: time.Now(), Author: d.owner.ID, Visibility: earshot.Visibility{Scope: earshot.System},
			Body: earshot.Agent{Act: act, ID: is.ID, Path: is.Path, User: is.User, PathKind: string(is.Kind)},
		}
		for _, there := range d.rooms.now() {
			if was.SitsIn(there.is.ID) || is.SitsIn(there.is.ID) {
				there.Announce(e)
			}
		}
	}
	for _, is := range d.book.List() {
		was, known := had[is.ID]
		delete(had, is.ID)
		switch {
		case !known:
			show(earshot.Created, is, is)
		case was.Name != is.Name || was.Description != is.Description || !slices.Equal(was.Rooms, is.Rooms):
			show(earshot.Changed, was, is)
		}
	}
	for _, was := range had {
		show(earshot.Ended, was, was)
	}
}

// keysOf returns the keys that have changed.
func keysOf(r api.ReloadResult) (keys []string) {
	for _, c := range r.Changes {
		keys = append(keys, c.Key)
	}
	return keys
}

// namedKeys is how many keys that apply now are named; of more, people are told the number.
const namedKeys = 3

// reloadText tells people which keys changed, without any value: it may be a secret.
func reloadText(r api.ReloadResult) string {
	if len(r.Changes) == 0 {
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
	if len(r.Begins) > 0 { // which may be off from now on, or still
		n := len(r.Begins)
		if r.Begins[0] == theCameras {
			n++ // are several
		}
		parts = append(parts, strings.Join(r.Begins, ", ")+one(n, " follows", " follow")+" it now")
	}
	if len(r.Waiting) > 0 {
		parts = append(parts, strings.Join(r.Waiting, ", ")+one(len(r.Waiting), " applies", " apply")+" after a restart")
	}
	return "Configuration reloaded: " + strings.Join(parts, "; ") + "."
}

// waiting returns the keys that wait for a restart.
func (d *daemon) waiting() []string {
	d.reloads.mu.Lock()
	defer d.reloads.mu.Unlock()
	return slices.Clone(d.reloads.waits)
}

// rereads reads the configuration again whenever it changes, or somebody asks for it by a
// signal, until ctx ends.
func (d *daemon) rereads(ctx context.Context, rest *sync.WaitGroup) {
	if d.reloads.load == nil {
		return
	}
	again := func() {
		if ctx.Err() == nil {
			_, _ = d.reload(ctx, false) // which has said what is wrong
		}
	}
	rest.Go(func() {
		watch := d.reloads.watch
		if watch == nil {
			watch = config.Watch
		}
		if err := watch(ctx, d.reloads.file, again); err != nil {
			d.report(earshot.Notice{Key: configuration, Text: "changes of the configuration file are not noticed: " + err.Error(), Cure: "run earshot reload after each change"})
		}
	})
	rest.Go(func() {
		for {
			select {
			case <-d.reloads.hangups:
				d.watchdog(d.options.Notifier).Reload(again)
			case <-ctx.Done():
				return
			}
		}
	})
}

// Reload implements [server.Admin].
func (h backend) Reload(ctx context.Context) (api.ReloadResult, error) {
	return h.daemon.reload(context.WithoutCancel(ctx), true)
}

// Recheck implements [server.Backend]: a room may be for others now, and somebody be known no
// longer.
func (h backend) Recheck(p server.Principal) error {
	is, known := h.daemon.people.Get(p.ID)
	switch {
	case !known && p.Guest():
		return nil // who has said meanwhile who they are
	case !known:
		return errors.New("you are no longer known here")
	}
	if !is.Can(participants.Operate) {
		p.Capabilities = is.Capabilities
	}
	return h.daemon.gate.MayEnter(p.Participant, p.Audience.Room)
}

// reloading is the command that reads the configuration again.
func (d *daemon) reloading() command.Table {
	return command.Table{{
		Group: "For operators of earshot", Name: "reload", Help: "reload the configuration", Needs: participants.Operate,
		Do: func(ctx context.Context, _ command.Call) (string, error) {
			is, err := d.reload(context.WithoutCancel(ctx), true)
			if err != nil {
				return "", err
			}
			return reloadText(is), nil
		},
	}}
}
