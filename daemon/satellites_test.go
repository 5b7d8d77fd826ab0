package daemon

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"earshot"
	"earshot/api"
	"earshot/bus"
	"earshot/config"
	"earshot/executive"
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

// TestSatellitesGoOn: satellites are built anew for a change of what they are made of, and for no other.
func TestSatellitesGoOn(t *testing.T) {
	d := inhabited(t, t.TempDir())
	defer d.Close()
	set := func(change func(*config.Config)) (keys []any) {
		next := *d.Config()
		change(&next)
		d.current.Store(&next)
		for _, p := range d.satellites.Build(t.Context()).Parts {
			keys = append(keys, p.Key)
		}
		return keys
	}
	was := set(func(c *config.Config) { c.Bus.Listen = "127.0.0.1:1" })
	if is := set(func(c *config.Config) {
		c.Executive.MultiParty.TurnLimit++
		c.Speakers.Sure += 0.01
		c.Bus.Addresses = []string{"hub.local:1"}
	}); len(was) == 0 || !reflect.DeepEqual(is, was) {
		t.Errorf("what concerns no satellite makes %v of %v", is, was)
	}
	if is := set(func(c *config.Config) { c.Speakers.Enabled = !c.Speakers.Enabled }); reflect.DeepEqual(is, was) {
		t.Error("whether voices are told apart changes nothing")
	}
}

// TestDiagnosisNames: a bug report names no satellite, and no room, wherever that is.
func TestDiagnosisNames(t *testing.T) {
	d := inhabited(t, t.TempDir())
	defer d.Close()
	if _, _, err := pairing.In(d.Config().Store.Directory).Pair("anns-oven", earshot.Desk); err != nil {
		t.Fatal(err)
	}
	next := *d.Config()
	next.Bus.Listen, next.Rooms = "127.0.0.1:1", executive.Rooms{{ID: "bobs-attic"}}
	d.current.Store(&next)
	d.satellites.Build(t.Context()).Started()
	d.cluster = new(clusterMember) // another of which has the attic
	text := d.scrub().Text("satellite anns-oven: microphone; the room bobs-attic is here no more")
	d.cluster = nil
	if strings.Contains(text, "anns-oven") || strings.Contains(text, "bobs-attic") {
		t.Errorf("it says %s", text)
	}
}
