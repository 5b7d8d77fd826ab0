package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/internal/testkit"
	"earshot/server/client"
)

// members are the names of three daemons that share rooms.
var members = []string{"a", "b", "c"}

// A trio is three daemons as processes, each with a server of the bus, and the database that they share.
type trio struct {
	bench
	*database
	rooms   []earshot.RoomID
	daemons [3]process
}

// startTrio starts the daemons with as many rooms as there are to be, and returns when each has an owner.
func (b bench) startTrio(ctx context.Context, rooms int) (t *trio, err error) {
	t = &trio{bench: b}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.stop())
		}
	}()
	if _, err = b.build(ctx, "earshot-bus", "earshot/cmd/earshot-bus", "CGO_ENABLED=0"); err != nil {
		return t, err
	}
	if t.database, err = startPostgres(ctx); err != nil {
		return t, err
	}
	listen, err1 := freeAddresses(len(members))
	routes, err2 := freeAddresses(len(members))
	if err := errors.Join(err1, err2); err != nil {
		return t, err
	}
	text := "rooms:\n"
	for i := range rooms {
		t.rooms = append(t.rooms, earshot.RoomID(fmt.Sprintf("room%d", i)))
		text += fmt.Sprintf("- {id: %s}\n", t.rooms[i])
	}
	script := filepath.Join(b.dir, "well.yaml")
	text += fmt.Sprintf("providers: {webcam: {enabled: false}}\nstore: {url: %q}\n%s, memory: {enabled: false}}\n", t.url, scriptSection(script))
	err = os.WriteFile(script, []byte("reply: All is well.\n"), 0o600)
	for i, name := range members {
		own := fmt.Sprintf("cluster: {name: %s}\nbus: {listen: %q, cluster: {listen: %q, servers: [%s]}}\n", name, listen[i], routes[i], strings.Join(routes, ", "))
		err = errors.Join(err, os.MkdirAll(filepath.Join(b.dir, name), 0o700), os.WriteFile(t.file(i), []byte(text+own), 0o600))
	}
	if err != nil {
		return t, err
	}
	g, within := errgroup.WithContext(ctx)
	for i := range members { // at once, so that each gets as many rooms
		g.Go(func() error { return t.start(within, i) })
	}
	if err := g.Wait(); err != nil {
		return t, err
	}
	return t, t.settle(ctx)
}

// freeAddresses returns addresses of this machine at which nobody listens.
func freeAddresses(n int) (all []string, err error) {
	for range n {
		address, err := testkit.FreeAddress()
		if err != nil {
			return nil, err
		}
		all = append(all, address)
	}
	return all, nil
}

// file returns the configuration of a daemon.
func (t *trio) file(i int) string { return filepath.Join(t.dir, members[i], "config.yaml") }

// at returns how a client reaches a room by a daemon.
func (t *trio) at(i int, room earshot.RoomID) *client.Client {
	return &client.Client{Socket: socketIn(filepath.Join(t.dir, members[i])), Room: room}
}

// start starts a daemon, and returns when it answers.
func (t *trio) start(ctx context.Context, i int) (err error) {
	t.daemons[i], err = t.runDaemon(ctx, filepath.Dir(t.file(i)), nil, "--config", t.file(i), "run", "--no-voice")
	return err
}

// kill ends a daemon without asking it.
func (t *trio) kill(i int) {
	p := t.daemons[i]
	t.daemons[i] = process{}
	_ = p.Process.Kill()
	_ = p.Wait() // that it was killed
}

// settle waits until each room has an owner, and each daemon knows of the others.
func (t *trio) settle(ctx context.Context) error {
	return awaitThat(ctx, "an owner of each room", func() bool {
		for i := range members {
			is, err := t.at(i, "").Cluster(ctx)
			if err != nil || len(is.Members) != len(members) || len(is.Nobodys) > 0 {
				return false
			}
		}
		return true
	})
}

// stop ends all.
func (t *trio) stop() (err error) {
	for _, p := range t.daemons {
		if p.Cmd != nil {
			err = errors.Join(err, p.stop())
		}
	}
	if t.database != nil {
		err = errors.Join(err, t.database.stop())
	}
	return err
}
