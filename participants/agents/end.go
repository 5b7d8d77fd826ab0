package agents

import (
	"context"
	"fmt"
	"slices"

	"earshot"
	"earshot/participants"
)

// End ends an agent for ever, with all agents below it and, for a gateway, with all agents of its
// subuser. Only somebody who may operate the daemon may do it, and not to an agent from the
// configuration.
func (b *Directory) End(ctx context.Context, by participants.Participant, id earshot.ParticipantID) error {
	if err := operates(by, "end an agent"); err != nil {
		return err
	}
	return b.end(ctx, by.ID, id)
}

// EndWorkers ends the agents of a kind that have no work any more; see [Directory.EnsureWorker].
func (b *Directory) EndWorkers(ctx context.Context, kind earshot.PathKind, works func(earshot.Path) bool) {
	for _, a := range b.List() {
		if a.Kind == kind && !works(a.Path) {
			_ = b.Finish(ctx, "", a.ID) // or the next time
		}
	}
}

// Finish ends a spawned agent or a worker, with all agents below it, because its work is done.
// by is who requested it.
func (b *Directory) Finish(ctx context.Context, by, id earshot.ParticipantID) error {
	if r, ok := b.ByID(id); ok && !r.Kind.Below() && r.Kind != earshot.PathTask && r.Kind != earshot.PathCron {
		return participants.Refuse(ErrNotYours, fmt.Sprintf("%s was not spawned", r.Name), "ask the owner to end it: earshot agents end")
	}
	return b.end(ctx, by, id)
}

// Clear ends every agent that was made for one task, because its requester is gone with the
// previous run of the program. It is called before any agent is made.
func (b *Directory) Clear(ctx context.Context) error {
	done, err := b.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	var left []Record
	for _, r := range b.List() { // sorted by path, so children come after their parent
		if n := len(left); r.Kind.Indexed() && !isWorker(r.Path) && (n == 0 || !Within(r.Path, left[n-1].Path)) {
			left = append(left, r)
		}
	}
	if len(left) == 0 {
		return nil
	}
	return b.endAll(ctx, "", left)
}

func (b *Directory) end(ctx context.Context, by, id earshot.ParticipantID) error {
	done, err := b.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	r, err := b.changeable(id)
	if err != nil {
		return err
	}
	going := append([]Record{r}, b.of(r.Gate())...)
	if i := slices.IndexFunc(going, func(r Record) bool { return r.Configured }); i >= 0 {
		return participants.Refuse(ErrConfigured, fmt.Sprintf("%s, which is reached through it, is set in the configuration", going[i].Name),
			"take it out of the section agents of the configuration first, and start earshot again")
	}
	return b.endAll(ctx, by, going)
}

// of returns the live agents of a subuser that have no parent.
func (b *Directory) of(user earshot.ParticipantID) (all []Record) {
	if user == "" {
		return nil
	}
	for _, r := range b.List() {
		if r.User == user && !r.Kind.Below() {
			all = append(all, r)
		}
	}
	return all
}

// endAll ends agents with all agents below them. The caller has called begin.
func (b *Directory) endAll(ctx context.Context, by earshot.ParticipantID, going []Record) error {
	err := b.record(ctx, by, func(earshot.View) (ended []earshot.Agent, err error) {
		for _, r := range going {
			ended = append(ended, r.event(earshot.Ended))
		}
		return ended, nil
	})
	if err != nil || b.people == nil {
		return err
	}
	for _, r := range going {
		b.people.Dismiss(r.ID)
	}
	return nil
}
