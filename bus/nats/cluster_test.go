package nats_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"testing"
	"time"

	"earshot/bus"
	"earshot/bus/nats"
	"earshot/bus/nats/natstest"
	"earshot/bus/natsserver"
	"earshot/internal/testkit"
)

// TestCluster: three servers are one bus. When one of them is killed, messages go on, and who was
// connected to it is connected to another. No other server belongs to them.
func TestCluster(t *testing.T) {
	seed, hub := natstest.NewKey(t)
	var certs []natsserver.Certificate
	var pins []string
	for range 3 {
		certs = append(certs, natstest.NewCertificate(t))
		pins = append(pins, certs[len(certs)-1].SHA256())
	}
	var servers []*natstest.Server
	var addresses, routes []string
	for _, c := range certs {
		s := natstest.Start(t, natsserver.Config{Certificate: c, Hub: hub, Cluster: &natsserver.Cluster{
			Name: "test", Listen: "127.0.0.1:0", Servers: append([]string(nil), routes...), Certificates: pins,
		}})
		servers, addresses, routes = append(servers, s), append(addresses, s.Address), append(routes, s.Cluster)
	}
	var members []*nats.Conn
	for i := range 3 { // one at each server first, and then wherever that is
		members = append(members, natstest.Connect(t, nats.Config{Servers: addresses[i : i+1], Seed: seed, Certificates: pins}))
	}
	everyoneHears(t, members)
	for range 4 {
		members = append(members, natstest.Connect(t, nats.Config{Servers: addresses, Seed: seed, Certificates: pins}))
	}
	everyoneHears(t, members)

	for name, pair := range map[string]*natsserver.Certificate{"no certificate": nil, "another certificate": new(natstest.NewCertificate(t))} {
		if line := route(t, routes[1], pair); line != "" {
			t.Errorf("a server with %s is told %q", name, line)
		}
	}
	if line := route(t, routes[1], &certs[2]); line == "" {
		t.Error("a server of the cluster is told nothing")
	}

	servers[0].Kill(t)
	awaitConnected(t, members[0], false)
	for _, m := range members[1:] {
		awaitConnected(t, m, true)
	}
	everyoneHears(t, members[1:])

	_, key := natstest.NewKey(t)
	if err := servers[1].SetUsers([]natsserver.User{{Key: key}}); err != nil {
		t.Fatal(err)
	}
	everyoneHears(t, members[1:])
}

// everyoneHears waits until every member answers every other one.
func everyoneHears(t *testing.T, members []*nats.Conn) {
	t.Helper()
	for i, m := range members {
		stop, err := m.Subscribe(t.Context(), fmt.Sprint("member.", i), func(m bus.Message) { m.Respond([]byte(m.Subject)) })
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
	}
	for i := range members {
		for j, m := range members {
			subject := fmt.Sprint("member.", i)
			testkit.Await(t, testkit.Patience, fmt.Sprintf("member %d reaches member %d", j, i), func() bool {
				ctx, done := context.WithTimeout(t.Context(), time.Second)
				defer done()
				b, err := m.Request(ctx, subject, nil)
				return err == nil && string(b) == subject
			})
		}
	}
}

// route connects to a server as another server does, and returns what it is told.
func route(t *testing.T, address string, own *natsserver.Certificate) string {
	t.Helper()
	cfg := &tls.Config{InsecureSkipVerify: true}
	if own != nil {
		pair, err := tls.X509KeyPair(own.PEM, []byte(own.Key.Reveal()))
		if err != nil {
			t.Fatal(err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	ctx, done := context.WithTimeout(t.Context(), testkit.Patience)
	defer done()
	c, err := (&tls.Dialer{Config: cfg}).DialContext(ctx, "tcp", address)
	if err != nil {
		return ""
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(testkit.Patience))
	line, _ := bufio.NewReader(c).ReadString('\n')
	return line
}
