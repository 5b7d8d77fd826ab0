package presence

import (
	"slices"
	"time"

	"earshot"
	"earshot/api"
	"earshot/executive/scene"
	"earshot/internal/lockorder"
	"earshot/participants"
)

const (
	// maxGuesses is how many people a prompt lists as probably here.
	maxGuesses = 4

	// voiceConfidence is how certain it is, from a voice that cannot be distinguished, that somebody
	// is there: it may come from a loudspeaker.
	voiceConfidence = 0.6

	// source is the source of the entries of the scene.
	source = "company"
)

// local are the senses of this machine and of satellites, which tell who is in front of one.
var local = map[string]bool{"console": true, "microphone": true, "satellite": true, "webcam": true}

// An Estimator estimates who is here, from what is seen, heard and typed. It is safe for concurrent
// use. Use [NewEstimator].
type Estimator struct {
	people *participants.Registry

	mu      lockorder.Mutex[lockorder.Leaf]
	tracker Tracker

	telling lockorder.Mutex[lockorder.Description] // held while the estimate is written to the scene
	told    []string                               // the entries of the last estimate
}

// NewEstimator returns an estimator that has noticed nobody.
func NewEstimator(people *participants.Registry) *Estimator { return &Estimator{people: people} }

// Update changes what the estimate is made from.
func (g *Estimator) Update(change func(*Tracker)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change(&g.tracker)
}

// Absence returns for how long nobody had been noticed at a time.
func (g *Estimator) Absence(at time.Time) (d time.Duration) {
	g.Update(func(c *Tracker) { d = c.Absence(at) })
	return d
}

// Sees returns what an event says about what a camera of this machine sees, if it says anything.
func Sees(e earshot.Event) (l Look, is bool) {
	if !local[e.From.Provider] {
		return l, false
	}
	switch body := e.Body.(type) {
	case earshot.Glance:
		return Look{Camera: body.Camera, People: body.People, Sure: body.Sure, Eyes: body.Eyes, At: e.At}, true
	case earshot.Sight:
		if body.What == earshot.PeopleChanged || body.Eyes != earshot.Clear { // glances report everything else as well
			return Look{Camera: body.Camera, People: body.People, Sure: body.Sure, Eyes: body.Eyes, At: e.At}, true
		}
	}
	return l, false
}

// Observe takes in what somebody, or a camera, did. own says that it is the agent's own voice.
func (g *Estimator) Observe(e earshot.Event, who participants.Participant, own bool) {
	if !local[e.From.Provider] {
		return
	}
	if l, is := Sees(e); is {
		g.Update(func(c *Tracker) { c.AddLook(l) })
	}
	types := false
	switch body := e.Body.(type) {
	case earshot.Utterance:
		if !own && !body.LikeAgent {
			g.Update(func(c *Tracker) { c.AddVoice(voiceOf(e, who, body.Sure)) })
		}
	case earshot.Typing:
		types = body.Began
	case earshot.Message:
		types = e.Visibility.Scope == earshot.Public
	}
	if types && who.Person() && !participants.Unnamed(who.ID) {
		g.Update(func(c *Tracker) { c.AddTyping(who.ID, e.At) })
	}
}

// voiceOf returns who was heard, as far as the voice allows that.
func voiceOf(e earshot.Event, who participants.Participant, sure float64) Voice {
	v := Voice{At: e.End(), Sure: voiceConfidence}
	if who.ID != "" && !participants.Unnamed(who.ID) {
		v.Who, v.Named, v.Sure = who.ID, !who.Nameless(), sure
	}
	return v
}

// SetTerminal notes that somebody has opened a terminal of this machine, or has closed it.
func (g *Estimator) SetTerminal(e earshot.Event, who participants.Participant, here bool) {
	if e.From.Provider != "console" || !who.Person() {
		return
	}
	g.Update(func(c *Tracker) {
		if here {
			c.OpenTerminal(who.ID, e.At)
		} else {
			c.CloseTerminal(who.ID, e.At)
		}
	})
}

// Estimate returns who is probably here at now, if there is a camera. Otherwise it returns nil:
// what is heard and typed already says who has come and gone.
func (g *Estimator) Estimate(now time.Time) *api.PresenceEstimate {
	var is *api.PresenceEstimate
	g.Update(func(c *Tracker) {
		if !c.Looks() {
			return
		}
		c.Same(func(was earshot.ParticipantID) (earshot.ParticipantID, bool) {
			p, known := g.people.Get(was)
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
		is.Who[i].Name = g.people.Name(is.Who[i].ID)
	}
	return is
}

// Lines returns as lines of text who is probably here, for /who.
func (g *Estimator) Lines(now time.Time) []string {
	if is := g.Estimate(now); is != nil {
		return is.Lines(now, scene.Age)
	}
	return nil
}

// Describe writes to the scene who is probably here at now. It calls observe for each entry, and
// vanish for each entry that no longer holds.
func (g *Estimator) Describe(now time.Time, observe func(scene.Item), vanish func(id, source string)) {
	is := g.Estimate(now)
	if is == nil {
		return
	}
	var items []scene.Item
	for _, who := range is.Who[:min(len(is.Who), maxGuesses)] {
		items = append(items, scene.Item{
			ID: source + ":" + string(who.ID), At: who.Noticed(),
			Text: earshot.Text(who.Name + " is probably here, by " + who.Reasons()),
		})
	}
	if text := is.Strangers(); text != "" {
		items = append(items, scene.Item{ID: source, At: now, Text: earshot.Text(text)})
	}
	g.telling.Lock()
	defer g.telling.Unlock()
	var told []string
	for _, i := range items {
		i.Field, i.Source, i.Visibility = scene.User, source, earshot.Visibility{Scope: earshot.Public}
		observe(i)
		told = append(told, i.ID)
	}
	for _, id := range g.told {
		if !slices.Contains(told, id) {
			vanish(id, source)
		}
	}
	g.told = told
}
