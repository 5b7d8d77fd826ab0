package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/participants/paths"
	"earshot/store"
)

const (
	populous = 100_000 // agents that live, in the book of which paths are resolved
	buried   = 1000    // that have ended there
	resolved = 1000    // paths of a round
	batch    = 1000    // events of a commit, while the book is filled
)

// manyAgents measures what it costs that there are many agents: to find one, to
// make one, and to keep them while nothing happens; and to wake one.
func manyAgents(ctx context.Context, b bench) ([]Row, error) {
	var rows []Row
	for _, measure := range []func(context.Context) ([]Row, error){b.resolves, b.spawns, b.posts, b.rests} {
		some, err := measure(ctx)
		if rows = append(rows, some...); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// A registrar is a book of agents on a real journal.
type registrar struct {
	*agents.Directory
	store *store.Store
}

// openBook opens the book of a journal.
func (b bench) openBook(ctx context.Context, name string) (*registrar, error) {
	s, err := b.openStore(ctx, name, agents.Projection{})
	if err != nil {
		return nil, err
	}
	set := executive.DefaultConfig()
	book, err := agents.Open(ctx, agents.Setup{
		Journal: s, Main: earshot.Profile{Name: set.Name, AutoReply: true}, Actors: participants.DefaultConfig(),
		Rooms: []earshot.RoomID{earshot.Desk}, Now: time.Now, NewID: newID,
	})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	book.Join(participants.New(ann, "Ann", set.Name), participants.Owner)
	return &registrar{book, s}, nil
}

// populate fills the journal of a book, which does not look at it again. It
// returns the path of one that lives and of one that has ended.
func (r *registrar) populate(ctx context.Context, populous int) (live, ended earshot.Path, err error) {
	parent := r.Main(earshot.Desk).Path
	for i := 0; i < populous+buried; i += batch {
		var events []earshot.Event
		for k := i; k < i+batch; k++ {
			path, err := paths.OfSub(parent, k)
			if err != nil {
				return "", "", err
			}
			a := earshot.Agent{Act: earshot.Created, ID: earshot.ParticipantID(newID()), Path: path, User: participants.Owner, PathKind: string(paths.Sub)}
			events = append(events, kept(a))
			if live = path; k >= populous {
				a.Act, ended = earshot.Ended, path
				events = append(events, kept(a))
			}
		}
		if _, err := r.store.Append(ctx, events...); err != nil {
			return "", "", err
		}
	}
	live, err = paths.OfSub(parent, populous*7/10)
	return live, ended, err
}

func kept(a earshot.Agent) earshot.Event {
	return earshot.Event{ID: newID(), At: time.Now(), Room: earshot.Desk, Visibility: earshot.Visibility{Scope: earshot.System}, Body: a}
}

// resolves measures the book beside a map that holds the same paths.
func (b bench) resolves(ctx context.Context) (rows []Row, err error) {
	populous := min(populous, b.rounds*populous/usual)
	b.rounds = min(b.rounds, 8) // each is many paths already
	r, err := b.openBook(ctx, "agents-many")
	if err != nil {
		return nil, err
	}
	live, ended, err := r.populate(ctx, populous)
	if err := errors.Join(err, r.store.Close()); err != nil {
		return nil, err
	}
	if r, err = b.openBook(ctx, "agents-many"); err != nil { // which reads them all
		return nil, err
	}
	defer func() { err = errors.Join(err, r.store.Close()) }()
	bare := make(map[string]earshot.ParticipantID)
	for _, a := range r.List() {
		bare[string(a.Path)] = a.ID
	}
	for _, kind := range []struct {
		name string
		path earshot.Path
		want error
	}{{"resolving a path", live, nil}, {"resolving the path of an ended agent", ended, agents.ErrDead}} {
		each, err := b.perUnit(kind.name, "path", resolved,
			func() error { return resolveMany(ctx, r.Directory, kind.path, kind.want) },
			func() error { return lookMany(bare, string(kind.path), kind.want == nil) })
		if err != nil {
			return nil, err
		}
		rows = append(rows, each...)
	}
	rows[0].Note = fmt.Sprintf("among %d that live; beside a look-up in a map of as many", len(bare))
	rows[2].Note = fmt.Sprintf("of %d that have ended, for which the table in the file is asked; beside the same look-up, which finds nothing", buried)
	return rows, nil
}

// resolveMany resolves a path again and again.
func resolveMany(ctx context.Context, book *agents.Directory, path earshot.Path, want error) error {
	for range resolved {
		if _, err := book.Resolve(ctx, path); !errors.Is(err, want) {
			return fmt.Errorf("resolving %s: %w, want %w", path, err, want)
		}
	}
	return nil
}

// lookMany looks a path up again and again.
func lookMany(bare map[string]earshot.ParticipantID, path string, want bool) error {
	for range resolved {
		if _, ok := bare[path]; ok != want {
			return fmt.Errorf("%s is in the map: %v", path, ok)
		}
	}
	return nil
}

// spawns measures how long it takes until an agent below another is on the disk,
// in one step with the choice of its path.
func (b bench) spawns(ctx context.Context) (rows []Row, err error) {
	r, err := b.openBook(ctx, "agents-few")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.store.Close()) }()
	bare, err := openBare(filepath.Join(b.dir, "agents-few", "bare.db"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bare.Close()) }()
	ours, commit, err := b.compare(
		func() ([]float64, error) { return spawnOne(ctx, r.Directory) },
		func() ([]float64, error) { return commitBare(ctx, bare) })
	if err != nil {
		return nil, err
	}
	return []Row{row("spawning a sub-agent", "µs", ours, commit, "until it is on the disk; beside the commit of a row")}, nil
}

// spawnOne makes an agent, and ends it outside of the time.
func spawnOne(ctx context.Context, book *agents.Directory) ([]float64, error) {
	main := book.Main(earshot.Desk)
	at := time.Now()
	r, err := book.Spawn(ctx, main.ID, main.Path, paths.Sub, earshot.Profile{})
	took := time.Since(at)
	if err != nil {
		return nil, err
	}
	return []float64{micros(took)}, book.Finish(ctx, main.ID, r.ID)
}

// posts measures a message to an agent, from when it comes in until the model is
// asked, while the agent sleeps: beside one that is awake, and beside a commit.
func (b bench) posts(ctx context.Context) (rows []Row, err error) {
	asleep, err := b.openDorm(ctx, "agents-asleep", 0.001)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, asleep.close()) }()
	awake, err := b.openDorm(ctx, "agents-awake", 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, awake.close()) }()
	bare, err := openBare(filepath.Join(b.dir, "agents-asleep", "bare.db"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bare.Close()) }()
	return b.postsIn(ctx, asleep, awake, bare)
}

// postsIn does so in two houses that are open.
func (b bench) postsIn(ctx context.Context, asleep, awake *dorm, bare *sql.DB) ([]Row, error) {
	post := func() ([]float64, error) { return asleep.post(ctx, true) }
	ours, other, err := b.compare(post, func() ([]float64, error) { return awake.post(ctx, false) })
	if err != nil {
		return nil, err
	}
	again, commit, err := b.compare(post, func() ([]float64, error) { return commitBare(ctx, bare) })
	if err != nil {
		return nil, err
	}
	note := fmt.Sprintf("from the message to the request at the model, with a past of %d events; beside the same message to an agent that is awake", recall)
	return []Row{
		row("posting to a sleeping agent", "µs", ours, other, note),
		row("posting to a sleeping agent, beside a commit", "µs", again, commit, "the same; beside the commit of a row"),
	}, nil
}
