package transcript

import (
	"context"

	"earshot"
)

// A Source is what has happened as somebody may see it: as the journal on this machine has it,
// or as an earshot elsewhere tells it. Its methods are those of [store.Reader].
type Source interface {
	Last(ctx context.Context, kinds []earshot.Kind, n int) ([]earshot.Event, error)
	Find(ctx context.Context, ids []earshot.EventID) ([]earshot.Event, error)
}
