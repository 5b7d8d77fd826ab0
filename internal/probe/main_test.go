package probe

import (
	"crypto/tls"
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// trusted is a certificate, of 127.0.0.1, that the system trusts.
var trusted tls.Certificate

func TestMain(m *testing.M) {
	s := httptest.NewTLSServer(nil)
	s.Listener.Close() // it is for its certificate alone
	trusted = s.TLS.Certificates[0]
	dir, err := os.MkdirTemp("", "trusted")
	path := filepath.Join(dir, "trusted.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: trusted.Certificate[0]})
	if err := errors.Join(err, os.WriteFile(path, text, 0o600), os.Setenv("SSL_CERT_FILE", path)); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir)
		os.Exit(code)
	}))
}
