package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/nats-io/nkeys"

	"earshot/bus"
	"earshot/bus/nats"
	"earshot/bus/nats/natstest"
	"earshot/bus/natsserver"
	"earshot/internal/field"
	"earshot/internal/testkit"
	"earshot/internal/testkit/pgtest"
	"earshot/satellite"
	"earshot/satellite/pairing"
)

// TestClusterEavesdropper: while people talk by three daemons, whose bus carries what they say, whoever has the key of a
// satellite reads nothing of it, whatever they subscribe to; and whoever has none is not let in.
func TestClusterEavesdropper(t *testing.T) {
	c := newTrio(t, pgtest.Start(t, settings))
	code, err := pairing.Decode(c.homes[0].earshot(nil, "pair", "oven", "--room", "kitchen").out)
	if err != nil {
		t.Fatal(err)
	}
	rights := satellite.RightsOf(code.ID)
	certificate, err := natsserver.LoadCertificate(filepath.Join(c.homes[0].dir, "state/earshot/journal", pairing.CertificateFile))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(certificate.Sum(), code.Certificate) {
		t.Fatal("the code is for another certificate")
	}
	connect := func(i int, seed field.Secret) (*nats.Conn, error) {
		return nats.Connect(t.Context(), nats.Config{Servers: c.listen[i : i+1], Seed: seed, Inbox: rights.Inbox, Certificates: []string{hex.EncodeToString(code.Certificate)}})
	}
	stranger, _ := natstest.NewKey(t)
	for _, seed := range []field.Secret{stranger, ""} {
		testkit.Await(t, testkit.Patience, "who is not paired is refused", func() bool { // once the server is there
			conn, err := connect(0, seed)
			if err == nil {
				conn.Close()
				t.Fatal("who is not paired connects")
			}
			return errors.Is(err, bus.ErrRefused)
		})
	}

	var mu sync.Mutex
	subjects := make(map[string]bool) // and whether what people say was among it
	daemon, err := connect(0, daemonKey(t, certificate))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(daemon.Close)
	stop, err := daemon.Subscribe(t.Context(), ">", func(m bus.Message) {
		mu.Lock()
		defer mu.Unlock()
		subjects[m.Subject] = subjects[m.Subject] || bytes.Contains(m.Data, []byte("how is it for"))
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	var spies []*nats.Conn // at each server
	for i := range members {
		var spy *nats.Conn
		testkit.Await(t, testkit.Patience, "each daemon knows the satellite", func() bool {
			spy, err = connect(i, code.Seed)
			return err == nil
		})
		t.Cleanup(spy.Close)
		spies = append(spies, spy)
		for _, pattern := range rights.Subscribe {
			stop, err := spy.Subscribe(t.Context(), pattern, func(m bus.Message) { t.Errorf("%s was read at %s", m.Subject, pattern) })
			if err != nil {
				t.Fatalf("subscribing to %s: %v", pattern, err)
			}
			t.Cleanup(stop)
		}
		for _, pattern := range []string{">", "*.>", "earshot.>", "earshot.cluster.>", "earshot.satellite.>", "earshot.satellite.*.>", "_INBOX.>", "$SYS.>"} {
			refusesSubscription(t, spy, pattern)
		}
	}

	leave := c.people()
	heard := func() (n int) {
		mu.Lock()
		defer mu.Unlock()
		for _, private := range subjects {
			if private {
				n++
			}
		}
		return n
	}
	testkit.Await(t, 2*testkit.Patience, "what people say is on the bus", func() bool { return heard() >= 3 })
	leave()
	stop()
	for subject := range subjects {
		refusesSubscription(t, spies[len(subject)%len(spies)], subject)
	}
	t.Logf("%d subjects, with what people say on %d of them", len(subjects), heard())
	c.check()
}

// refusesSubscription waits until a subscription is refused. While the server is away, which ends its connections when somebody
// is paired, none is yet.
func refusesSubscription(t *testing.T, spy *nats.Conn, pattern string) {
	t.Helper()
	testkit.Await(t, testkit.Patience, "a satellite is refused "+pattern, func() bool {
		stop, err := spy.Subscribe(t.Context(), pattern, func(m bus.Message) { t.Errorf("%s was read at %s", m.Subject, pattern) })
		if err == nil {
			stop()
		}
		return errors.Is(err, bus.ErrRefused)
	})
}

// daemonKey returns the key with which the daemons that share a certificate use their bus.
func daemonKey(t *testing.T, c natsserver.Certificate) field.Secret {
	t.Helper()
	raw := sha256.Sum256([]byte("earshot daemon\n" + c.Key.Reveal()))
	pair, err := nkeys.FromRawSeed(nkeys.PrefixByteUser, raw[:])
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	return field.Secret(seed)
}
