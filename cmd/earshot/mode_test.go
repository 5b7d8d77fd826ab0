package main

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"earshot"
	"earshot/config"
	"earshot/daemon"
	"earshot/internal/testkit"
)

// TestAloudMuted: while its room is muted the daemon captures nothing, so that the sound server has
// no stream for it. Afterwards it hears again.
func TestAloudMuted(t *testing.T) {
	talks(t)
	p := newParlour(t)
	for _, entry := range p.env {
		name, value, _ := strings.Cut(entry, "=")
		t.Setenv(name, value)
	}
	cfg, err := config.Load(p.write("earshot.yaml", "{}"))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Store.Directory = filepath.Join(p.dir, "state/earshot/journal")
	d, err := daemon.Open(t.Context(), cfg, daemon.Options{Account: earshot.Handle{Provider: "console", ID: "1"}, Name: "owner"})
	if err != nil {
		t.Fatal(err)
	}
	d.InstallVoice(t.Context())
	ctx, leave := context.WithCancel(context.Background())
	var house sync.WaitGroup
	house.Go(func() {
		if err := d.Run(ctx, nil); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		leave()
		testkit.Finish(t, 5*testkit.Patience, "the end of the house", house.Wait)
		d.Close()
	})
	captures := func() int {
		in, _, err := p.card.Streams()
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	set := func(m earshot.Mode) {
		if err := d.Desk().SetMode(t.Context(), d.Owner().ID, m); err != nil {
			t.Error(err)
		}
	}
	for round := range 3 {
		testkit.Await(t, soon, "a capture", func() bool { return captures() == 1 })
		set(earshot.Muted)
		testkit.Await(t, soon, "no capture", func() bool { return captures() == 0 })
		p.says(bob, "nobody may hear that")
		if n := captures(); n != 0 {
			t.Errorf("round %d: %d captures while it is muted", round, n)
		}
		set(earshot.Live)
	}
	testkit.Await(t, soon, "a capture", func() bool { return captures() == 1 })
	p.says(bob, "shall we have lunch together")
	if u := p.heard(1)[0]; wrong(string(u.Text), "shall we have lunch together") > 2 {
		t.Errorf("it heard %q", string(u.Text))
	}
}
