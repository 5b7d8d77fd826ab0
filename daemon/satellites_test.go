package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/satellite/pairing"
)

// TestBusCertificateDamaged: a daemon whose certificate of the bus is damaged begins, and says so.
func TestBusCertificateDamaged(t *testing.T) {
	cfg := config.Default()
	cfg.Store.Directory = t.TempDir()
	cfg.Bus.Listen = "127.0.0.1:1"
	if err := os.WriteFile(filepath.Join(cfg.Store.Directory, pairing.CertificateFile), []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Open(t.Context(), cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if !slices.ContainsFunc(d.Opening(), func(n earshot.Notice) bool { return n.Key == "bus" }) {
		t.Errorf("it says %v", d.Opening())
	}
	if !slices.ContainsFunc(d.Health().List(), func(p api.Part) bool { return p.Name == "bus" && !p.Well }) {
		t.Errorf("its parts are %v", d.Health().List())
	}
}
