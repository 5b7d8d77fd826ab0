// Package snapshot makes what a room shows of itself to those who watch it, from what it is given:
// the facts of its scene, its agents and with whom they talk, and the reply that is being said, each
// as far as everybody in an audience may know it. A [Notifier] wakes those who wait for another one.
//
// It knows no room. Its functions read only their arguments; the caller holds what guards those.
package snapshot

import (
	"time"

	"earshot"
	"earshot/api"
	"earshot/executive/latency"
	"earshot/executive/question"
	"earshot/executive/scene"
	"earshot/executive/seat"
	"earshot/participants/agents"
)

// Facts returns entries of a scene as they are shown, without a word to the scene itself.
func Facts(items []scene.Item) (all []api.SceneFact) {
	for _, i := range items {
		all = append(all, api.SceneFact{
			ID: i.ID, Field: string(i.Field), Of: i.Of, By: i.By, Text: earshot.Text(i.Line()), At: i.At, Source: i.Source,
			Confidence: i.Confidence, Until: i.Until, Watched: i.Watched, Private: i.Visibility.Scope == earshot.Private,
		})
	}
	return all
}

// Agents returns the agents of a room that may have a seat, and with whom each talks, or did last.
// live is the question of the live turn, nil for none.
func Agents(of []agents.Record, seats []*seat.Seat, live *question.Question, past latency.Log, a earshot.Audience) (all []api.Seat) {
	for _, agent := range of {
		s := api.Seat{ID: agent.ID, Name: agent.Name, Username: agent.Username, Path: agent.Path, Kind: agent.Kind, State: api.Sleeping, Partner: past.Partner(agent.ID, a)}
		if at := seat.Find(seats, agent.ID); at != nil && at.Awake {
			s.State = api.Active
		}
		if live != nil && live.Seat.ID == agent.ID && live.Trace.VisibleTo(a) && live.Message.Visibility.Allows(a) {
			s.Partner = live.Whom()
		}
		all = append(all, s)
	}
	return all
}

// Reply returns the reply of an agent to a question that is being said, and whether everybody in a
// may know it.
func Reply(q *question.Question, agent earshot.ParticipantID, a earshot.Audience, now time.Time) (l api.LiveReply, ok bool) {
	is := q.Trace.Tracker.Progress() // before it is asked who may see it: those get fewer meanwhile
	if !q.Rests.Visibility.Allows(a) || !q.Trace.VisibleTo(a) {
		return l, false
	}
	l = api.LiveReply{
		Turn: q.Turn, Agent: agent, About: q.About(), To: q.Whom(), Since: q.Trace.Began,
		Text: is.Text, Heard: is.Heard, Paused: is.Paused, Private: q.Rests.Visibility.Scope == earshot.Private,
	}
	if q.Progress != nil {
		l.Tool = q.Progress.Work(now).Using
	}
	return l, true
}
