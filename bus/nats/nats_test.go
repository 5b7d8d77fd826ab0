package nats_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"earshot/bus/bustest"
	"earshot/bus/nats/natstest"
	"earshot/bus/natsserver"
	"earshot/internal/helper/helpertest"
)

// trusted is the certificate, of localhost, that the system trusts, and secure how a server of NATS is configured with it.
var (
	trusted natsserver.Certificate
	secure  string
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "trusted")
	path := filepath.Join(dir, "bus.pem")
	if err == nil {
		trusted, err = natsserver.LoadCertificate(path)
	}
	if err = errors.Join(err, os.Setenv("SSL_CERT_FILE", path)); err != nil {
		panic(err)
	}
	secure = fmt.Sprintf("tls { cert_file: %q, key_file: %q }\n", path, path)
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		helpertest.Remove()
		os.RemoveAll(dir)
		os.Exit(code)
	}))
}

func TestBus(t *testing.T) {
	s := natstest.Start(t, natsserver.Config{})
	bustest.Run(t, func(t *testing.T) bustest.Pair {
		var dropped atomic.Int64
		cfg := s.Config()
		cfg.Dropped = func(n int) { dropped.Add(int64(n)) }
		return bustest.Pair{A: natstest.Connect(t, cfg), B: natstest.Connect(t, cfg), Dropped: dropped.Load}
	})
}
