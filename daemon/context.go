package daemon

import (
	"context"
	"errors"
	"time"

	"earshot"
	"earshot/api"
	"earshot/daemon/access"
	"earshot/executive/room"
	"earshot/executive/scene"
	"earshot/server"
	"earshot/store"
)

// Context implements [server.Backend].
func (h backend) Context(_ context.Context, p server.Principal) ([]api.SceneEntry, error) {
	r, ok := h.daemon.rooms.find(p.Audience.Room)
	if !ok {
		return nil, access.NoRoom(p.Audience.Room, nil)
	}
	now, all := time.Now(), []api.SceneEntry{}
	for _, i := range r.Going(p.Audience) {
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
	r, ok := h.daemon.rooms.find(e.Room)
	if !ok {
		return "", access.NoRoom(e.Room, nil)
	}
	if e.Body.Kind() == earshot.KindCommand {
		return r.Do(ctx, e)
	}
	err := r.Admit(ctx, e)
	if err == nil {
		err = r.Holds(ctx, e)
	}
	switch {
	case errors.Is(err, room.ErrTaken) || errors.Is(err, store.ErrTaken):
		return "", server.ErrTaken
	case err != nil:
		return "", err
	}
	return r.Advice(e.ID), nil
}

// SceneEntryText describes an entry for people, as /context does.
func SceneEntryText(c api.SceneEntry) string {
	i := scene.Item{Field: scene.Field(c.Field), Name: c.By, Text: c.Text, Was: c.Was, Mender: c.Mender, Confidence: c.Confidence}
	return i.Entry(time.Duration(c.Age * float64(time.Second)))
}
