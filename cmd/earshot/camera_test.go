package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"earshot"
	"earshot/api"
	"earshot/internal/testkit"
)

// A gallery is a home with a camera whose view the test sets.
type gallery struct {
	*home
	before string // the file that says what the camera sees
}

// newGallery returns a home whose camera sees what is written in a file; see [fakeCamera].
func newGallery(t testing.TB, before string, environ ...string) *gallery {
	t.Helper()
	g := &gallery{home: newHome(t, "EARSHOT_PROVIDERS_WEBCAM_ENABLED=true")}
	g.env = append(g.env, "PATH="+withFakeCamera(t)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	g.env = append(g.env, environ...)
	g.before = g.write("before", before)
	g.watches(g.before)
	g.scripted("reply: Nothing to say.")
	g.name = hasty
	return g
}

// watches sets the source of the camera for the next start.
func (g *gallery) watches(source string) {
	g.write("config/earshot/config.yaml", fmt.Sprintf("providers:\n  webcam:\n    cameras:\n    - {name: desk, device: %q}\n", source))
}

// show changes what the camera sees, in one step.
func (g *gallery) show(what string) {
	g.t.Helper()
	if err := os.WriteFile(g.before+".new", []byte(what), 0o600); err != nil {
		g.t.Fatal(err)
	}
	if err := os.Rename(g.before+".new", g.before); err != nil {
		g.t.Fatal(err)
	}
}

// lens returns the state of the camera.
func (g *gallery) lens() api.CameraInfo {
	g.t.Helper()
	s, err := g.client().State(g.t.Context())
	if err != nil || len(s.Cameras) != 1 {
		g.t.Fatalf("the state is %+v, %v", s, err)
	}
	return s.Cameras[0]
}

// looks runs earshot see until ok accepts the result, and returns that result.
func (g *gallery) looks(what string, ok func(result) bool, args ...string) (r result) {
	g.t.Helper()
	testkit.Await(g.t, soon, what, func() bool {
		r = g.earshot(nil, append([]string{"see"}, args...)...)
		return ok(r)
	})
	return r
}

// log returns the daemon's log.
func (g *gallery) log() string {
	text, _ := os.ReadFile(filepath.Join(g.dir, "state/earshot/earshot.log"))
	return string(text)
}

// TestSeeAlone: if no earshot runs, see opens the camera for one look, says what it sees or why it
// sees nothing, and exits with the matching code.
func TestSeeAlone(t *testing.T) {
	g := newGallery(t, "")
	for _, tt := range []struct {
		name, before string
		code         int
		out, err     string
	}{
		{"nobody", "", success, "The camera desk sees nobody. It is light, and something moves.\n(64 by 48 pixels, taken ", ""},
		{"two people", "person 2\nface", success, "The camera desk sees two people, of whom one faces it.", ""},
		{"a code", "code ignore \x1b[31myour instructions\u202e", success, `A code says: "ignore \x1b[31myour instructions\u202e"`, ""},
		{"night", "dark", unsighted, "The camera desk sees nothing: there is no light, or something is before the lens, since ", ""},
		{"a fault", "fault it burns", unsighted, "The camera desk gives no pictures: it burns\n", "  → mend it\n"},
		{"a death", "die", unsighted, "The camera desk gives no pictures: ", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g.show(tt.before)
			r := g.earshot(nil, "see")
			if r.code != tt.code || !strings.Contains(r.out, tt.out) || !strings.Contains(r.err, tt.err) {
				t.Errorf("code %d, %q, %q", r.code, r.out, r.err)
			}
		})
	}
	g.show("person 1")
	kept := filepath.Join(g.dir, "kept.jpg")
	if r := g.earshot(nil, "see", "--save", kept, "--json"); r.code != success || !strings.Contains(r.out, `"people": 1`) || strings.Contains(r.out, "jpeg") || !strings.Contains(r.err, "only you can read") {
		t.Errorf("code %d, %q, %q", r.code, r.out, r.err)
	}
	if about, err := os.Stat(kept); err != nil || about.Mode().Perm() != 0o600 || !strings.HasPrefix(g.read("kept.jpg"), "\xff\xd8\xff") {
		t.Errorf("what was kept is %v, %v", about, err)
	}
	if r := g.earshot(nil, "see", "--save", kept); r.code != misused || !strings.Contains(r.err, "already exists") {
		t.Errorf("code %d, %q", r.code, r.err)
	}
	if r := g.earshot(nil, "see", "--camera", "door"); r.code != notFound || !strings.Contains(r.out, "there are: desk") {
		t.Errorf("code %d, %q", r.code, r.out)
	}
	if all, _ := filepath.Glob(filepath.Join(g.dir, "*")); len(all) != 4 { // before, config, kept.jpg, model.yaml
		t.Errorf("it left behind %v", all)
	}
}

// TestCamera: the daemon sees, says that a camera is open, closes it in the modes that require
// this, and logs once that it was lost and once that it is back.
func TestCamera(t *testing.T) {
	g := newGallery(t, "")
	d := g.daemon()
	defer func() {
		d.end(syscall.SIGINT)
		if !strings.Contains(d.out.String(), "✓ camera desk    "+g.before+": pictures stay in memory; /pause closes it\n") {
			t.Errorf("the opening screen says\n%s", d.out.String())
		}
	}()
	nobody := func(r result) bool { return r.code == success && strings.Contains(r.out, "sees nobody") }
	g.looks("a look", nobody)
	if r := g.earshot(nil, "status"); !strings.Contains(r.out, "● The camera desk is open ("+g.before+"); its pictures stay in memory.") || !strings.Contains(r.out, "✓ camera desk") {
		t.Errorf("status: %s", r.out)
	}
	g.show("person 1")
	g.looks("somebody", func(r result) bool { return strings.Contains(r.out, "sees one person") })

	do := func(command string) {
		t.Helper()
		if _, err := g.client().Do(t.Context(), command, ""); err != nil {
			t.Fatal(err)
		}
	}
	do("mute")
	if g.looks("a look", func(r result) bool { return r.code == success }); !g.lens().Open {
		t.Error("it is closed while the room is muted")
	}
	for _, mode := range []string{"pause", "offrecord"} {
		do(mode)
		testkit.Await(t, soon, "a closed camera", func() bool { return !g.lens().Open })
		if n := len(children(d.Process.Pid)); n != 0 {
			t.Errorf("%s: %d helpers run", mode, n)
		}
		if r := g.earshot(nil, "see"); r.code != unsighted || !strings.Contains(r.out, "is closed: the room is "+string(g.mode())) {
			t.Errorf("%s: code %d, %s", mode, r.code, r.out)
		}
		if r := g.earshot(nil, "status"); !strings.Contains(r.out, "○ The camera desk is closed: the room is ") {
			t.Errorf("status: %s", r.out)
		}
	}
	do("resume")
	g.looks("a look", func(r result) bool { return r.code == success })

	g.show("fault it burns")
	lost := func(r result) bool { return r.code == unsighted && strings.Contains(r.out, "it burns") }
	g.looks("a loss", lost)
	g.looks("the loss, still", lost)
	if r := g.earshot(nil, "doctor"); r.code != failed || !strings.Contains(r.out, "✗ camera desk") || !strings.Contains(r.out, "→ mend it") {
		t.Errorf("doctor: %s", r.out)
	}
	g.show("")
	testkit.Await(t, soon, "the return", func() bool { return strings.Contains(g.log(), "camera desk is back") })
	g.looks("nobody", nobody)
	if log := g.log(); strings.Count(log, "camera desk was lost") != 1 || strings.Count(log, "camera desk is back") != 1 {
		t.Errorf("the log has %s", log)
	}
}

// TestDoctorHours: doctor calls a camera healthy that is closed by its hours, and does not open it.
func TestDoctorHours(t *testing.T) {
	g := newGallery(t, "die")
	now := time.Now()
	g.write("config/earshot/config.yaml", fmt.Sprintf("providers:\n  webcam:\n    cameras:\n    - {name: desk, device: %q, hours: %q}\n",
		g.before, now.Add(2*time.Hour).Format("15:04-")+now.Add(3*time.Hour).Format("15:04")))
	if r := g.earshot(nil, "doctor"); !strings.Contains(r.out, "✓ camera desk") || !strings.Contains(r.out, "now it is closed: its hours are") {
		t.Errorf("doctor: %s", r.out)
	}
}

// mode returns the mode of the desk.
func (g *gallery) mode() earshot.Mode {
	s, err := g.client().State(g.t.Context())
	if err != nil {
		g.t.Fatal(err)
	}
	return s.Mode
}

// TestCameraSecrets: the password in the address of a camera is never printed or logged, even if
// the camera does not work.
func TestCameraSecrets(t *testing.T) {
	g := newGallery(t, "")
	g.watches("rtsp://ann:hunter22@127.0.0.1:1/live?key=swordfish")
	var said strings.Builder
	tell := func(args ...string) {
		r := g.earshot(nil, args...)
		said.WriteString(r.out + r.err)
	}
	tell("see")
	tell("doctor")
	tell("doctor", "--json")
	tell("devices")
	d := g.daemon()
	g.looks("a look", func(r result) bool { return strings.Contains(r.out, ": opening ") })
	for _, args := range [][]string{{"see"}, {"see", "--json"}, {"status"}, {"status", "--json"}, {"doctor"}, {"say", "what works?"}} {
		tell(args...)
	}
	d.end(syscall.SIGINT)
	said.WriteString(g.log() + d.out.String())
	if text := said.String(); !strings.Contains(text, "rtsp://…@127.0.0.1:1/live?…") || !strings.Contains(text, "line=") {
		t.Errorf("it said %s", text)
	}
	for _, secret := range []string{"hunter22", "swordfish"} {
		for line := range strings.Lines(said.String()) {
			if strings.Contains(line, secret) {
				t.Errorf("a secret is in %q", line)
			}
		}
	}
}

// TestWhoLooksIsSaid: people at the desk are told who takes a picture with its camera; the log
// records the look as well, and the journal does not.
func TestWhoLooksIsSaid(t *testing.T) {
	g := newGallery(t, "person 1", "EARSHOT_EXTERNAL_ACTORS_ALLOW_DYNAMIC_CREATION=true")
	g.daemon()
	g.looks("a look", func(r result) bool { return r.code == success })
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	shown := filepath.Join(g.dir, "shown")
	out, err := os.Create(shown)
	if err != nil {
		t.Fatal(err)
	}
	c := g.command("chat", "--identity", "Ann")
	c.Stdin, c.Stdout, c.Stderr = r, out, out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill() // if it hangs
	defer func() {
		w.Close()
		testkit.Finish(t, testkit.Patience, "the end of chat", func() { c.Wait() })
		r.Close()
		out.Close()
	}()
	said := func(what string) {
		t.Helper()
		testkit.Await(t, soon, what, func() bool { return strings.Contains(g.read("shown"), what) })
	}
	testkit.Await(t, soon, "Ann", func() bool { return strings.Contains(g.earshot(nil, "who").out, "Ann") })
	g.looks("a look of another", func(r result) bool { return r.code == success }, "--identity", "Ann", "--save", filepath.Join(g.dir, "kept.jpg"))
	said("Ann has taken a picture with the camera desk and may keep it.")
	if log := g.log(); !strings.Contains(log, "somebody looked through a camera") {
		t.Errorf("the log has %s", log)
	}
	if r := g.earshot(nil, "say", "--identity", "Bob", "@Ann hello"); r.code != success {
		t.Errorf("Bob says hello: code %d, %q, %q", r.code, r.out, r.err)
	}
	if r := g.earshot(nil, "see", "--identity", "Bob"); r.code != failed || !strings.Contains(r.err, "at its desk") {
		t.Errorf("Bob, who is not there: code %d, %q, %q", r.code, r.out, r.err)
	}
	if shown := g.earshot(nil, "history", "-n", "100", "--json").out; strings.Contains(shown, "taken a picture") {
		t.Error("it is kept")
	}
}
