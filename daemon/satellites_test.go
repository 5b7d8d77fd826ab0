package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"earshot"
	"earshot/api"
	"earshot/bus"
	"earshot/config"
	"earshot/internal/testkit"
	"earshot/satellite/pairing"
)

// TestBusCertificateDamaged: a daemon whose certificate of the bus is damaged begins, and says so, until that is
// mended and the bus is built again.
func TestBusCertificateDamaged(t *testing.T) {
	cfg := config.Default()
	cfg.Store.Directory = t.TempDir()
	cfg.Bus.Listen = "127.0.0.1:1"
	certificate := filepath.Join(cfg.Store.Directory, pairing.CertificateFile)
	if err := os.WriteFile(certificate, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Open(t.Context(), cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	is := func(n earshot.Notice) bool { return n.Key == "bus" && n.Text != "" }
	if !slices.ContainsFunc(d.Opening(), is) {
		t.Errorf("it says %v", d.Opening())
	}
	if !slices.ContainsFunc(d.Health().List(), func(p api.Part) bool { return p.Name == "bus" && !p.Well }) {
		t.Errorf("its parts are %v", d.Health().List())
	}
	defer runs(t, d)()
	faults := func() []earshot.Notice { return d.deskRoom().State(d.Audience()).Faults }
	if !slices.ContainsFunc(faults(), is) {
		t.Errorf("its faults are %v", faults())
	}
	next := *cfg
	next.Bus = bus.Config{}
	d.current.Store(&next)
	d.sections.Rebuild(busSection)
	testkit.Await(t, testkit.Patience, "that is over", func() bool { return !slices.ContainsFunc(faults(), is) })
}
