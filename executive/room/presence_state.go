package room

import (
	"slices"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/conversation"
	"earshot/executive/presence"
	"earshot/executive/scene"
	"earshot/participants"
)

// mostGuesses is how many people a prompt lists as probably here.
const mostGuesses = 4

// local are the senses of this machine, which tell who is in front of it.
var local = map[string]bool{"console": true, "microphone": true, "webcam": true}

// A presenceState estimates who is here, from what is seen, heard and typed. The zero value knows
// nobody. It is safe for concurrent use.
type presenceState struct {
	mu  sync.Mutex
	all presence.Tracker

	telling sync.Mutex // held while the estimate is written to the scene
	told    []string   // the entries of the last estimate
}

// update changes the tracker.
func (g *presenceState) update(change func(*presence.Tracker)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change(&g.all)
}

// observePresence takes in what tells who is here, before anything waits for a disk.
func (r *Room) observePresence(in resolvedEvent) {
	e := in.event
	if !local[e.From.Provider] {
		return
	}
	switch body := e.Body.(type) {
	case earshot.Glance:
		r.sees(e, presence.Look{Camera: body.Camera, People: body.People, Sure: body.Sure, Eyes: body.Eyes})
	case earshot.Sight:
		if body.What == earshot.PeopleChanged || body.Eyes != earshot.Clear { // a glance tells everything else too
			r.sees(e, presence.Look{Camera: body.Camera, People: body.People, Sure: body.Sure, Eyes: body.Eyes})
		}
	case earshot.Utterance:
		if in.to != conversation.Own && !body.LikeAgent {
			r.presence.update(func(c *presence.Tracker) { c.AddVoice(r.voiceOf(in, body)) })
		}
	case earshot.Typing:
		r.types(in, body.Began)
	case earshot.Message:
		r.types(in, e.Visibility.Scope == earshot.Public)
	}
}

// sees takes in what a camera sees.
func (r *Room) sees(e earshot.Event, l presence.Look) {
	l.At = e.At
	r.presence.update(func(c *presence.Tracker) { c.AddLook(l) })
	r.updateCameraPeople(e, l.People, l.Eyes)
}

// doubtful is how certain it is, from a voice that cannot be distinguished, that somebody is there:
// it may come from a loudspeaker.
const doubtful = 0.6

// voiceOf returns who was heard, as far as the voice tells.
func (r *Room) voiceOf(in resolvedEvent, u earshot.Utterance) presence.Voice {
	v := presence.Voice{At: r.ends(in.event), Sure: doubtful}
	if in.who.ID != "" && in.who.ID != participants.Generic {
		v.Who, v.Named, v.Sure = in.who.ID, !in.who.Nameless(), u.Sure
	}
	return v
}

// types notes whether a person writes here.
func (r *Room) types(in resolvedEvent, does bool) {
	if does && in.who.Person() && in.who.ID != participants.Generic {
		r.presence.update(func(c *presence.Tracker) { c.AddTyping(in.who.ID, in.event.At) })
	}
}

// attends notes that somebody has a terminal of this machine, or none any more.
func (r *Room) attends(e earshot.Event, who participants.Participant, here bool) {
	if e.From.Provider != "console" || !who.Person() {
		return
	}
	r.presence.update(func(c *presence.Tracker) {
		if here {
			c.OpenTerminal(who.ID, e.At)
		} else {
			c.CloseTerminal(who.ID, e.At)
		}
	})
}

// estimate returns who is probably here at now, if any camera looks; nil otherwise: what is heard
// and typed already tells who has come and gone.
func (r *Room) estimate(now time.Time) *api.PresenceEstimate {
	var is *api.PresenceEstimate
	r.presence.update(func(c *presence.Tracker) {
		if !c.Looks() {
			return
		}
		c.Same(func(was earshot.ParticipantID) (earshot.ParticipantID, bool) {
			p, known := r.cfg.People.Get(was)
			if !known {
				return was, false
			}
			return p.ID, !p.Nameless()
		})
		e := c.Estimate(now)
		is = &e
	})
	if is == nil {
		return nil
	}
	for i := range is.Who {
		is.Who[i].Name = r.cfg.People.Name(is.Who[i].ID)
	}
	return is
}

// tellPresence writes to the scene who is probably here at now.
func (r *Room) tellPresence(now time.Time) {
	is := r.estimate(now)
	if is == nil {
		return
	}
	var items []scene.Item
	for _, g := range is.Who[:min(len(is.Who), mostGuesses)] {
		items = append(items, scene.Item{
			ID: "company:" + string(g.ID), At: g.Noticed(),
			Text: earshot.Text(g.Name + " is probably here, by " + g.Reasons()),
		})
	}
	if text := is.Strangers(); text != "" {
		items = append(items, scene.Item{ID: "company", At: now, Text: earshot.Text(text)})
	}
	r.presence.telling.Lock()
	defer r.presence.telling.Unlock()
	var told []string
	for _, i := range items {
		i.Field, i.Source, i.Visibility = scene.User, "company", earshot.Visibility{Scope: earshot.Public}
		r.observes(i)
		told = append(told, i.ID)
	}
	for _, id := range r.presence.told {
		if !slices.Contains(told, id) {
			if was, over := r.scene.Vanish(scene.User, id); over {
				r.overruled(was, "company")
			}
		}
	}
	r.presence.told = told
}

// tellCompany returns in lines who is probably here, for /who.
func (r *Room) tellCompany() []string {
	now := r.cfg.Now()
	if is := r.estimate(now); is != nil {
		return is.Lines(now, scene.Age)
	}
	return nil
}
