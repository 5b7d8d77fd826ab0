package nats_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"earshot/bus"
	"earshot/bus/bustest"
	"earshot/bus/nats"
	"earshot/bus/nats/natstest"
	"earshot/bus/natsserver"
	"earshot/internal/field"
	"earshot/internal/testkit"
	"earshot/satellite"
)

// pair makes a server that knows satellites by their names, and their keys.
func pair(t *testing.T, names ...string) (s *natstest.Server, users []natsserver.User, seeds map[string]field.Secret) {
	t.Helper()
	seeds = make(map[string]field.Secret)
	for _, name := range names {
		seed, key := natstest.NewKey(t)
		seeds[name] = seed
		users = append(users, natsserver.User{Key: key, Rights: satellite.RightsOf(name)})
	}
	return natstest.Start(t, natsserver.Config{Users: users}), users, seeds
}

// TestRights: a satellite can publish and read what is its own, and nothing else; what is refused is
// told once.
func TestRights(t *testing.T) {
	s, _, seeds := pair(t, "kitchen", "bath")
	problems := make(chan error, 1000)
	cfg := s.UserConfig(seeds["kitchen"], satellite.RightsOf("kitchen"))
	cfg.Problem = func(err error) { problems <- err }
	hub, kitchen := natstest.Connect(t, s.Config()), natstest.Connect(t, cfg)
	all := bustest.Subscribe(t, hub, ">")

	const own, other = "earshot.satellite.kitchen.", "earshot.satellite.bath."
	for _, tt := range []struct {
		subject string
		allowed bool
	}{
		{own + "join", true},
		{own + "up.control", true},
		{own + "up.sound", true},
		{own + "down.control", false},
		{own + "down.sound", false},
		{own + "else", false},
		{own + "join.more", false},
		{other + "join", false},
		{other + "up.control", false},
		{other + "up.sound", false},
		{other + "down.control", false},
		{other + "down.sound", false},
		{"earshot.satellite.kitchen", false},
		{"earshot.room", false},
		{"earshot.cluster.den.member", false}, // of daemons among themselves
		{"earshot.cluster.den.forget", false},
		{"earshot.cluster", false},
		{"_INBOX.satellite.kitchen.x", false},
		{"_INBOX.satellite.bath.x", false},
		{"_INBOX.x", false},
		{"$SYS.REQ.SERVER.PING", false},
		{"$JS.API.INFO", false},
		{"$SYS.ACCOUNT.$G.DISCONNECT", false},
	} {
		for range 2 {
			if err := kitchen.Publish(tt.subject, []byte("test")); err != nil {
				t.Fatal(err)
			}
		}
		last := own + "up.last"
		if bus.IsSound(tt.subject) {
			last += ".sound"
		}
		if err := kitchen.Publish(last, nil); err != nil {
			t.Fatal(err)
		}
		came := 0
		for m := testkit.Receive(t, testkit.Patience, "the last message", all); m.Subject != last; m = testkit.Receive(t, testkit.Patience, "the last message", all) {
			if came++; m.Subject != tt.subject {
				t.Errorf("%s came instead of %s", m.Subject, tt.subject)
			}
		}
		if (came == 2) != tt.allowed || (came == 0) == tt.allowed {
			t.Errorf("publishing to %s twice: %d came", tt.subject, came)
		}
		if tt.allowed {
			continue
		}
		if err := testkit.Receive(t, testkit.Patience, "that it is told", problems); !errors.Is(err, bus.ErrRefused) || !strings.Contains(err.Error(), tt.subject) {
			t.Errorf("%s: told %v", tt.subject, err)
		}
	}
	for _, tt := range []struct {
		pattern string
		allowed bool
	}{
		{own + "down.>", true},
		{own + "down.*", true},
		{own + "down.control", true},
		{own + "down.sound", true},
		{own + "console.A.down", true},
		{own + "console", false},
		{own + "console.A.up", false},
		{other + "console", false},
		{other + "console.*.up", false},
		{other + "console.*.down", false},
		{"_INBOX.satellite.kitchen.>", true},
		{own + "up.>", false},
		{own + "up.sound", false},
		{own + "join", false},
		{own + ">", false},
		{other + "down.>", false},
		{other + "down.control", false},
		{other + "down.sound", false},
		{other + "up.sound", false},
		{"earshot.satellite.*.down.>", false},
		{"earshot.satellite.*.down.sound", false},
		{"earshot.*.kitchen.down.>", false},
		{"_INBOX.satellite.bath.>", false},
		{"_INBOX.>", false},
		{"_INBOX.*.*.*", false},
		{"earshot.cluster.>", false},
		{"earshot.cluster.*.member", false},
		{"earshot.cluster.den.forget", false},
		{"earshot.*.*.member", false},
		{"earshot.>", false},
		{"$SYS.>", false},
		{">", false},
		{"*.*.*.*.*", false},
	} {
		stop, err := kitchen.Subscribe(t.Context(), tt.pattern, func(m bus.Message) { t.Errorf("%s came to %s", m.Subject, tt.pattern) })
		if err == nil {
			stop()
		}
		if (err == nil) != tt.allowed || err != nil && !errors.Is(err, bus.ErrRefused) {
			t.Errorf("subscribing to %s: %v", tt.pattern, err)
		}
	}
	if len(problems) > 32 {
		t.Errorf("%d problems were told", len(problems))
	}
}

// TestForgedReply: nobody can make the hub publish for them to where they may not.
func TestForgedReply(t *testing.T) {
	s, _, seeds := pair(t, "kitchen", "bath")
	hub := natstest.Connect(t, s.Config())
	bath := natstest.Connect(t, s.UserConfig(seeds["bath"], satellite.RightsOf("bath")))
	victim := bustest.Subscribe(t, bath, "earshot.satellite.bath.down.>")
	can := make(chan bool, 10)
	stop, err := hub.Subscribe(t.Context(), satellite.JoinPattern, func(m bus.Message) { can <- m.Respond != nil })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	c := dial(t, s)
	c.login(t, seeds["kitchen"])
	c.write(t, "PUB earshot.satellite.kitchen.join earshot.satellite.bath.down.control 2\r\n{}\r\n")
	if testkit.Receive(t, testkit.Patience, "who joins", can) {
		t.Error("the hub would answer to another's subject")
	}
	bustest.Publish(t, hub, "earshot.satellite.bath.down.control", []byte("last"))
	if m := testkit.Receive(t, testkit.Patience, "a message", victim); string(m.Data) != "last" {
		t.Errorf("%q came", m.Data)
	}
}

// TestRemoval: who is removed is disconnected and not let in again, and others notice nothing. Who is
// back is connected by themselves.
func TestRemoval(t *testing.T) {
	s, users, seeds := pair(t, "kitchen", "bath")
	problems := make(chan error, 100)
	cfg := s.UserConfig(seeds["bath"], satellite.RightsOf("bath"))
	cfg.Problem = func(err error) { problems <- err }
	hub, bath := natstest.Connect(t, s.Config()), natstest.Connect(t, cfg)
	kitchen := natstest.Connect(t, s.UserConfig(seeds["kitchen"], satellite.RightsOf("kitchen")))
	_, hubChanged := hub.Connected()
	_, kitchenChanged := kitchen.Connected()
	toBath := bustest.Subscribe(t, bath, "earshot.satellite.bath.down.control")

	if err := s.SetUsers(users[:1]); err != nil {
		t.Fatal(err)
	}
	awaitConnected(t, bath, false)
	why := testkit.Receive(t, testkit.Patience, "a reason", problems)
	for ; !errors.Is(why, bus.ErrRefused); why = testkit.Receive(t, testkit.Patience, "the reason", problems) {
	}
	if !strings.Contains(why.Error(), "pair it again: earshot pair") {
		t.Errorf("told %v", why)
	}
	ctx, done := context.WithTimeout(t.Context(), testkit.Patience)
	defer done()
	if _, err := nats.Connect(ctx, cfg); !errors.Is(err, bus.ErrRefused) {
		t.Errorf("connecting: %v", err)
	}
	if err := bath.Publish("earshot.satellite.bath.up.control", nil); !errors.Is(err, bus.ErrFull) {
		t.Errorf("publishing: %v", err)
	}
	if _, err := bath.Request(ctx, "earshot.satellite.bath.join", nil); !errors.Is(err, bus.ErrFull) {
		t.Errorf("asking: %v", err)
	}
	if err := s.SetUsers(users); err != nil {
		t.Fatal(err)
	}
	awaitConnected(t, bath, true)
	bustest.Publish(t, hub, "earshot.satellite.bath.down.control", []byte("back"))
	if m := testkit.Receive(t, testkit.Patience, "a message", toBath); string(m.Data) != "back" {
		t.Errorf("%q came", m.Data)
	}
	select {
	case <-hubChanged:
		t.Error("the hub was disconnected")
	case <-kitchenChanged:
		t.Error("the kitchen was disconnected")
	default:
	}
}

// awaitConnected waits until both connections are there, or not.
func awaitConnected(t *testing.T, c *nats.Conn, want bool) {
	t.Helper()
	for is, changed := c.Connected(); is != want; is, changed = c.Connected() {
		testkit.Receive(t, testkit.Patience, "a change of the connection", changed)
	}
}
