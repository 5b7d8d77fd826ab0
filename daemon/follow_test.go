package daemon

import (
	"context"
	"sync"
	"testing"

	"earshot/internal/testkit"
	"earshot/participants"
)

// TestReloadPeopleAgain: who there is at other daemons is read again if it could not be read.
func TestReloadPeopleAgain(t *testing.T) {
	d := inhabited(t, t.TempDir())
	defer d.Close()
	was := d.Config()
	cannot, can := *was, *was
	cannot.ExternalActors.Actors = []participants.Actor{{ID: "bob", DisplayName: "Bob"}, {ID: "bob", DisplayName: "Bob"}}
	can.ExternalActors.Actors = cannot.ExternalActors.Actors[:1]
	d.current.Store(&cannot)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	named := make(chan struct{}, 1)
	named <- struct{}{}
	var reloading sync.WaitGroup
	reloading.Go(func() {
		d.reloadPeople(ctx, named, func() {
			d.current.Store(&can)
			named <- struct{}{}
		})
	})
	testkit.Await(t, testkit.Patience, "Bob is known", func() bool { _, known := d.people.Find("Bob"); return known })
	stop()
	testkit.Finish(t, testkit.Patience, "the end", reloading.Wait)
}
