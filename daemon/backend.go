package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/daemon/access"
	"earshot/daemon/cameras"
	"earshot/executive/addressing"
	"earshot/executive/explain"
	"earshot/executive/room"
	"earshot/executive/scene"
	"earshot/internal/probe"
	"earshot/internal/search"
	"earshot/participants"
	"earshot/server"
	"earshot/store"
)

// A backend is the daemon as its server knows it: the [server.Backend], the [server.Journal] and
// the [server.Admin].
type backend struct{ daemon *Daemon }

// Identify implements [server.Backend].
func (h backend) Identify(ctx context.Context, account earshot.Handle, c server.Claim) (server.Principal, error) {
	if account == (earshot.Handle{}) {
		return h.vouch(ctx, c)
	}
	if account.Provider == participants.BySatellite {
		return h.daemon.identifyAtSatellite(account, c)
	}
	p, around, err := h.daemon.gate.Identify(ctx, account, c)
	if err != nil {
		return server.Principal{}, err
	}
	present := slices.ContainsFunc(h.daemon.people.Here(around.Room), func(there participants.Participant) bool { return there.ID == p.ID })
	return server.Principal{Participant: p, Account: account, Audience: around, Present: present}, nil
}

// vouch returns who somebody is whom only the token of a claim identifies.
func (h backend) vouch(ctx context.Context, c server.Claim) (server.Principal, error) {
	p, account, around, err := h.daemon.gate.Vouch(ctx, c)
	if err != nil {
		return server.Principal{}, err
	}
	return server.Principal{Participant: p, Account: account, Audience: around}, nil
}

// Join implements [server.Backend].
func (h backend) Join(s participants.Session, o earshot.Outlet, a earshot.Audience) (handle func() earshot.Handle, leave func()) {
	h.daemon.people.Attach(s)
	handle, leave = func() earshot.Handle { return h.daemon.people.Handle(s.ID) }, func() { h.daemon.people.Detach(s.ID) }
	r, ok := h.daemon.rooms.Find(s.Room)
	if o == nil || !ok { // nothing comes out of a room that does not exist
		return handle, leave
	}
	exit := r.Room.Enter(o, a)
	return handle, func() {
		exit()
		h.daemon.people.Detach(s.ID)
	}
}

// Name implements [server.Backend].
func (h backend) Name(id earshot.ParticipantID) string { return h.daemon.people.Name(id) }

// Admit implements [server.Backend].
func (h backend) Admit(ctx context.Context, e earshot.Event) error { return h.daemon.Admit(ctx, e) }

// Hold implements [server.Backend].
func (h backend) Hold(ctx context.Context, by server.Principal) (release func(), err error) {
	switch {
	case !by.Can(participants.SendMessages):
		return nil, errors.New("that needs the capability send_messages, which is set in the configuration")
	case !h.daemon.Config().Providers.Microphone.Enabled:
		return nil, errors.New("there is no microphone: set providers.microphone.enabled to true")
	}
	faulty := func(p api.Part) bool { return p.Name == "microphone" && !p.Well }
	if slices.ContainsFunc(h.daemon.health.List(), faulty) { // as of when it was last open
		if is := probe.Voice(ctx, h.daemon.Config()).Ears; !is.Works {
			return nil, fmt.Errorf("%s: %s\n  → %s", is.Thing, is.Text, cmp.Or(is.Cure, "earshot doctor"))
		}
	}
	r, here := h.daemon.rooms.Find(earshot.Desk)
	if !here {
		return nil, h.daemon.noRoom(earshot.Desk)
	}
	return r.Room.Hold(ctx, by.ID)
}

// Events implements [server.Journal].
func (h backend) Events(ctx context.Context, a earshot.Audience, after int64, limit int) ([]earshot.Event, error) {
	return h.daemon.store.For(a).Events(ctx, after, limit)
}

// Grown implements [server.Journal].
func (h backend) Grown() <-chan struct{} { return h.daemon.store.Grown() }

// State implements [server.Backend].
func (h backend) State(ctx context.Context, p server.Principal) (api.Status, error) {
	r, ok := h.daemon.rooms.Find(p.Audience.Room)
	if !ok {
		return api.Status{}, h.daemon.noRoom(p.Audience.Room)
	}
	s := api.Status{
		RoomState: r.Room.State(p.Audience), You: p.Participant, Known: h.daemon.people.Known(),
		API: h.daemon.port.URL(), Strangers: h.daemon.Config().ExternalActors.AllowDynamicCreation, Anonymous: h.daemon.Config().ExternalActors.AllowAnonymous,
		Rests: h.daemon.restReason(), Underway: h.underway(), Work: h.daemon.work(ctx, p.Audience),
		Keeps: h.daemon.Config().Store.Retention.String(), Permits: config.Permitted(h.daemon.Config()), Commands: r.Room.Commands().Names(p.Participant),
	}
	for _, e := range h.cameras(p.Participant) {
		s.Cameras = append(s.Cameras, cameras.InfoOf(h.cameraView(e), e.Running()))
	}
	s.Satellites = h.daemon.satellites.States(func(room earshot.RoomID) bool { return h.daemon.gate.MayEnter(p.Participant, room) == nil })
	if p.Can(participants.Operate) {
		s.Waiting = h.daemon.waitingKeys()
		today := h.daemon.costs.Today()
		s.Today = &today
	}
	for _, is := range h.daemon.gate.OpenRooms(p.Participant) {
		s.Rooms = append(s.Rooms, api.RoomName{ID: is.ID, Name: is.Name, At: h.daemon.elsewhere(is)})
	}
	return s, nil
}

// Live implements [server.Backend].
func (h backend) Live(_ context.Context, p server.Principal) (api.LiveView, <-chan struct{}, error) {
	r, ok := h.daemon.rooms.Find(p.Audience.Room)
	if !ok {
		return api.LiveView{}, nil, h.daemon.noRoom(p.Audience.Room)
	}
	changed := r.Room.Changed() // before looking, so that no change is missed in between
	v := api.LiveView{Snapshot: r.Room.Snapshot(p.Audience), You: p.Participant}
	v.At = time.Time{} // the server sets the time
	for _, e := range h.cameras(p.Participant) {
		v.Cameras = append(v.Cameras, cameras.InfoOf(h.cameraView(e), e.Running()))
	}
	return v, changed, nil
}

// Interim implements [server.Journal].
func (h backend) Interim(a earshot.Audience) ([]earshot.Event, <-chan struct{}) {
	r, ok := h.daemon.rooms.Find(a.Room)
	if !ok {
		return nil, nil
	}
	return r.Room.Interim(a)
}

// Past implements [server.Journal].
func (h backend) Past(ctx context.Context, a earshot.Audience, kinds []earshot.Kind, before int64, limit int) ([]earshot.Event, error) {
	return h.daemon.store.For(a).Page(ctx, kinds, before, limit)
}

// Search implements [server.Journal].
func (h backend) Search(ctx context.Context, a earshot.Audience, query string, before int64, limit int) ([]earshot.Event, error) {
	q, err := search.Parse(query, time.Now())
	if err != nil {
		return nil, err
	}
	var me earshot.ParticipantID
	if len(a.Members) > 0 {
		me = a.Members[0]
	}
	from, err := access.Identities(h.daemon.people, me, q.From)
	if err != nil {
		return nil, err
	}
	return h.daemon.store.For(a).Match(ctx, q, from, before, limit)
}

// Decisions implements [server.Journal].
func (h backend) Decisions(ctx context.Context, a earshot.Audience, agent string, before int64, limit int) ([]api.ExplainedDecision, error) {
	q := explain.Query{Before: before, Last: limit}
	if agent != "" {
		p, ok := h.daemon.people.Find(agent)
		if !ok || p.Type != participants.Internal {
			return nil, errors.New("there is no agent of that name; see: earshot agents")
		}
		q.Agent = p.ID
	}
	return explain.Tell(ctx, h.daemon.store.For(a), q, h.daemon.people.Name)
}

// Context implements [server.Backend].
func (h backend) Context(_ context.Context, p server.Principal) ([]api.SceneEntry, error) {
	r, ok := h.daemon.rooms.Find(p.Audience.Room)
	if !ok {
		return nil, h.daemon.noRoom(p.Audience.Room)
	}
	now, all := time.Now(), []api.SceneEntry{}
	for _, i := range r.Room.Going(p.Audience) {
		all = append(all, sceneEntryOf(i, now, h.daemon.people.Name))
	}
	return all, nil
}

// sceneEntryOf returns i in the form for programs, at now.
func sceneEntryOf(i scene.Item, now time.Time, name func(earshot.ParticipantID) string) api.SceneEntry {
	age := max(0, now.Sub(i.At))
	c := api.SceneEntry{
		Field: string(i.Field), ID: i.ID, By: i.Name, Text: i.Text, Was: i.Was, Mender: i.Mender, Source: i.Source, Event: i.Event,
		At: i.At, When: scene.Age(age), Age: age.Seconds(), Confidence: i.Confidence, Used: i.Used,
	}
	if i.Of != "" {
		c.Of = name(i.Of)
	}
	if !i.Until.IsZero() {
		c.Until = &i.Until
	}
	return c
}

// Do implements [server.Backend].
func (h backend) Do(ctx context.Context, e earshot.Event) (string, error) {
	r, ok := h.daemon.rooms.Find(e.Room)
	if !ok {
		return "", h.daemon.noRoom(e.Room)
	}
	c, is := e.Body.(earshot.Command)
	if is && !strings.EqualFold(c.Name, earshot.PostTo) { // which is a message
		answer, err := r.Room.Do(ctx, e)
		return answer, moved(err)
	}
	err := r.Room.Admit(ctx, e)
	if err == nil {
		if is {
			_, text := addressing.CutAddress(c.Args)
			e.Body = earshot.Message{Text: text}
		}
		err = r.Room.Holds(ctx, e)
	}
	switch {
	case errors.Is(err, room.ErrTaken) || errors.Is(err, store.ErrTaken):
		return "", server.ErrTaken
	case err != nil:
		return "", moved(err)
	}
	return r.Room.Advice(e.ID), nil
}

// SceneEntryText describes an entry for people, as /context does.
func SceneEntryText(c api.SceneEntry) string {
	i := scene.Item{Field: scene.Field(c.Field), Name: c.By, Text: c.Text, Was: c.Was, Mender: c.Mender, Confidence: c.Confidence}
	return i.Entry(time.Duration(c.Age * float64(time.Second)))
}
