package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/room"
	"earshot/internal/field"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/store"
)

// scout is the agent that sleeps.
var scout = agents.Record{ID: "scout", Path: "/owner/agent/scout", User: participants.Owner, Profile: earshot.Profile{Name: "Scout"}}

// A dorm is a house with an agent besides the main one, which sleeps.
type dorm struct {
	*house
	store *store.Store
	door  door
	read  chan struct{} // its dialogue was read from the journal
}

// openDorm opens a house with a past, in which agents go to sleep after so long,
// or never.
func (b bench) openDorm(ctx context.Context, name string, after field.Seconds) (*dorm, error) {
	s, err := b.openStore(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := live(ctx, s, turns); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	past, err := s.For(around).Last(ctx, nil, recall)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	d := &dorm{store: s, door: door{&engine{pieces: 1}, make(chan time.Time, 1)}, read: make(chan struct{}, 1)}
	set := executive.DefaultConfig()
	set.AgentsSleepAfter = after
	main := agents.Record{ID: participants.Agent, Path: "/owner/agent/earshot", Profile: earshot.Profile{Name: set.Name}}
	people, err := participants.Open(participants.Setup{
		Account: ann, AccountName: "Ann", Actors: participants.DefaultConfig(),
		Agents: []participants.Participant{{ID: main.ID, Name: main.Name, Type: participants.Internal}, {ID: scout.ID, Name: scout.Name, Type: participants.Internal}},
	})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	d.house = open(ctx, furniture{
		model: ladder(d.door), journal: s, outlet: sink{}, past: past, settings: set, people: people,
		recall: d.recall, agents: []agents.Record{main, scout},
	})
	if after == 0 {
		_, err = d.post(ctx, true) // it never sleeps again
	}
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// recall returns what an agent wakes with, as the daemon does it.
func (d *dorm) recall(ctx context.Context, agent earshot.ParticipantID) ([]earshot.Event, error) {
	if agent == scout.ID {
		d.read <- struct{}{}
	}
	return d.store.For(earshot.Audience{Room: earshot.Desk}.With(agent)).Last(ctx, nil, recall)
}

// post writes to the agent, which sleeps or does not, and returns how long it took
// until its model was asked. It leaves the house still.
func (d *dorm) post(ctx context.Context, sleeps bool) ([]float64, error) {
	if sleeps {
		if err := d.asleep(ctx); err != nil {
			return nil, err
		}
	}
	at, err := d.say(ctx, "@Scout hi")
	if err != nil {
		return nil, err
	}
	asked, err := await(d.door.asked)
	if err != nil {
		return nil, err
	}
	if woke := len(d.read) > 0; woke != sleeps {
		return nil, fmt.Errorf("the agent woke: %v, want %v", woke, sleeps)
	} else if woke {
		<-d.read
	}
	for _, heard := range []func() error{
		func() error { _, err := await(d.first); return err },
		func() error { _, err := await(d.going); return err },
		d.over,
	} {
		if err := heard(); err != nil {
			return nil, err
		}
	}
	return []float64{micros(asked.Sub(at))}, nil
}

// asleep waits until the agent sleeps.
func (d *dorm) asleep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	again := time.NewTicker(time.Millisecond) // nothing tells when an agent has fallen asleep
	defer again.Stop()
	for {
		for _, s := range d.State(around).Agents {
			if s.ID == scout.ID && s.State == room.Sleeping {
				return nil
			}
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return errPatience
		}
	}
}

// close leaves the house.
func (d *dorm) close() error {
	d.leave()
	return d.store.Close()
}

// A door is a model that tells when it is asked.
type door struct {
	*engine
	asked chan time.Time
}

// Stream implements [llm.Service].
func (d door) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	d.asked <- time.Now()
	return d.engine.Stream(ctx, r)
}
