package agents

import (
	"context"

	"earshot"
)

// Captions is the agent that asks a model what cameras see. The IDs of the agents of the program itself
// are their paths, so that what they cost is theirs before any directory is open.
const Captions earshot.ParticipantID = "/system/captions"

// systemAgents are the agents of the program itself, with what they do. They have no seat and no name,
// answer nobody, and never end.
var systemAgents = []struct {
	id   earshot.ParticipantID
	does string
}{
	{Captions, "describes what cameras see"},
	{"/system/consolidation", "finds quiet rooms, whose words the memory agents read"},
	{"/system/retention", "removes what was kept long enough"},
}

// EnsureSystem makes the agents of the program itself, those that there are not yet.
func (b *Directory) EnsureSystem(ctx context.Context) error {
	done, err := b.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return b.record(ctx, "", func(v earshot.View) (missing []earshot.Agent, err error) {
		for _, a := range systemAgents {
			r := Record{ID: a.id, Path: earshot.Path(a.id), Kind: earshot.PathSystem, Profile: earshot.Profile{Description: a.does}}
			if _, known, err := at(ctx, v, r.Path); err != nil {
				return nil, err
			} else if !known {
				missing = append(missing, r.event(earshot.Created))
			}
		}
		return missing, nil
	})
}
