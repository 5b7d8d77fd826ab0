package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"earshot"
	"earshot/executive/room"
	"earshot/executive/scene"
	"earshot/server"
	"earshot/store"
)

// A sceneEntry is an entry of what is going on, as programs are told of it.
type sceneEntry struct {
	Field      scene.Field     `json:"field"`
	ID         string          `json:"id"`           // names it among those of its field
	Of         string          `json:"of,omitempty"` // whose state it is
	By         string          `json:"by,omitempty"` // whose words these are, if they are anybody's
	Text       earshot.Text    `json:"text"`
	Was        earshot.Text    `json:"was,omitempty"`          // what it said before it was last changed
	Mender     string          `json:"corrected_by,omitempty"` // who has put right what somebody said
	Source     string          `json:"source"`                 // the sense, or the part of the house, that says so
	Event      earshot.EventID `json:"event,omitempty"`
	At         time.Time       `json:"at"`   // when it was true
	When       string          `json:"when"` // the same, as one would say it
	Age        float64         `json:"age_seconds"`
	Confidence float64         `json:"confidence,omitempty"` // of a finding, 0 to 1
	Until      *time.Time      `json:"until,omitempty"`      // when a finding is stale
	Used       bool            `json:"used,omitempty"`       // a reply has rested on it
}

// Context implements [server.House].
func (h house) Context(_ context.Context, p server.Principal) (any, error) {
	r, ok := h.rooms.find(p.Audience.Room)
	if !ok {
		return nil, noRoom(p.Audience.Room, nil)
	}
	now, all := time.Now(), []sceneEntry{}
	for _, i := range r.Going(p.Audience) {
		all = append(all, circumstanceOf(i, now, h.Name))
	}
	return all, nil
}

// circumstanceOf returns i as programs are told of it at now.
func circumstanceOf(i scene.Item, now time.Time, name func(earshot.ParticipantID) string) sceneEntry {
	age := max(0, now.Sub(i.At))
	c := sceneEntry{
		Field: i.Field, ID: i.ID, By: i.Name, Text: i.Text, Was: i.Was, Mender: i.Mender, Source: i.Source, Event: i.Event,
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

// String tells a sceneEntry to people, as /context does.
func (c sceneEntry) String() string {
	i := scene.Item{Field: c.Field, Name: c.By, Text: c.Text, Was: c.Was, Mender: c.Mender, Confidence: c.Confidence}
	return i.Entry(time.Duration(c.Age * float64(time.Second)))
}

// Say implements [server.House].
func (h house) Say(ctx context.Context, e earshot.Event) (string, error) {
	r, ok := h.rooms.find(e.Room)
	if !ok {
		return "", noRoom(e.Room, nil)
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

// Do implements [server.House].
func (h house) Do(ctx context.Context, e earshot.Event) (string, error) {
	r, ok := h.rooms.find(e.Room)
	if !ok {
		return "", noRoom(e.Room, nil)
	}
	return r.Do(ctx, e)
}

// going asks the daemon what is going on.
func going(ctx context.Context, c *server.Client) (all []sceneEntry, err error) {
	data, err := c.Context(ctx)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("asking what is going on: %w", err)
	}
	return all, nil
}
