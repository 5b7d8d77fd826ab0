package main

import (
	"context"
	"fmt"
	"image"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/testkit"
	"earshot/models/see/seetest"
)

// A studio is a gallery with the real helper. Its camera is a server on this machine, whose
// pictures have the noise of a real one.
type studio struct {
	*gallery
	camera *seetest.Camera

	mu    sync.Mutex
	films map[string][][]byte // the takes of each scene
	scene string
	still bool // without even the noise
}

// often is how many pictures a second the camera of a studio sends.
const often = 5

// newStudio returns a studio whose camera shows an empty room.
func newStudio(t testing.TB, environ ...string) *studio {
	t.Helper()
	dir := helpertest.Build(t, helper.CameraProgram)
	s := &studio{gallery: newGallery(t, "", environ...), camera: seetest.NewCamera(often), scene: "empty", films: make(map[string][][]byte)}
	t.Cleanup(s.camera.Close)
	s.env = append(s.env, "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	s.watches(s.camera.URL())
	for scene, draw := range map[string]func(*image.RGBA, int){
		"empty":    func(*image.RGBA, int) {},
		"somebody": func(m *image.RGBA, n int) { seetest.Person(m, 200+20*n, 470, 380) },
	} {
		for n := range 8 {
			m := seetest.Room()
			draw(m, n)
			s.films[scene] = append(s.films[scene], seetest.JPEG(seetest.Noisy(m, 3, uint64(n+1))))
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	var playing sync.WaitGroup
	playing.Go(func() { s.play(ctx) })
	t.Cleanup(func() {
		stop()
		testkit.Finish(t, testkit.Patience, "the end of the film", playing.Wait)
	})
	return s
}

// play shows the takes of the current scene, forwards and backwards, until ctx ends.
func (s *studio) play(ctx context.Context) {
	tick := time.NewTicker(time.Second / often)
	defer tick.Stop()
	for n := 0; ; n++ {
		s.mu.Lock()
		takes, still := s.films[s.scene], s.still
		s.mu.Unlock()
		if !still {
			at := n % (2*len(takes) - 2)
			s.camera.ShowJPEG(takes[min(at, 2*len(takes)-2-at)])
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// plays makes the camera show another scene.
func (s *studio) plays(scene string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scene, s.still = scene, false
}

// freezes makes the camera send the same picture from now on.
func (s *studio) freezes() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.still = true
}

// attends puts somebody at a terminal of the desk, who neither types nor reads.
func (s *studio) attends() {
	s.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	c := s.command("chat")
	c.Stdin, c.Stdout, c.Stderr = r, io.Discard, io.Discard
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		w.Close()
		defer c.Process.Kill() // if it hangs
		testkit.Finish(s.t, testkit.Patience, "the end of chat", func() { c.Wait() })
		r.Close()
	})
}

// kept returns the sights that are in the history.
func (s *studio) kept() (all []earshot.Sight) {
	for _, e := range s.history() {
		if body, ok := e.Body.(earshot.Sight); ok {
			all = append(all, body)
		}
	}
	return all
}

// TestLiveWebcam: the real helper sees what a camera shows. Somebody who arrives is noticed and
// greeted, and the agent says that it sees what is there.
func TestLiveWebcam(t *testing.T) {
	t.Parallel()
	s := newStudio(t, "EARSHOT_EXECUTIVE_SIGHT_GREET_AFTER_ABSENCE_SECONDS=2", "EARSHOT_EXECUTIVE_ATTENTION_QUIET_HOURS=",
		"EARSHOT_EXECUTIVE_ATTENTION_COOL_DOWN_SECONDS=1")
	s.scripted(`
reply: I was shown no picture.
vision: true
rules:
  - {when: came into view, reply: "Welcome back."}
  - {when: what do you see, pictures: 1, reply: "I was shown a picture."}
`)
	d := s.daemon()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the log has\n%s\nand history has\n%s", s.log(), s.earshot(nil, "history", "-n", "100").out)
		}
	})
	s.attends()
	s.looks("an empty room", func(r result) bool { return r.code == success && strings.Contains(r.out, "sees nobody") })
	s.plays("somebody")
	testkit.Await(t, soon, "an arrival", func() bool {
		k := s.kept()
		return len(k) > 0 && k[len(k)-1].What == earshot.PeopleChanged && k[len(k)-1].People == 1 && k[len(k)-1].Were == 0
	})
	testkit.Await(t, soon, "a greeting", func() bool {
		r := s.replies()
		return len(r) > 0 && r[len(r)-1].Delivered() == "Welcome back."
	})
	if r := s.earshot(nil, "say", "what do you see?"); !strings.Contains(r.out, "I was shown a picture.") {
		t.Errorf("it says %q, %s", r.out, r.err)
	}
	if r := s.earshot(nil, "see"); !strings.Contains(r.out, "sees one person") {
		t.Errorf("seen is %q", r.out)
	}
	d.end(2)

	// Without a model as well.
	s.env = append(s.env, "EARSHOT_EXECUTIVE_LLM_PROVIDER=ollama", "EARSHOT_EXECUTIVE_LLM_HOST=http://127.0.0.1:1")
	s.daemon()
	s.looks("somebody", func(r result) bool { return strings.Contains(r.out, "sees one person") })
	if r := s.earshot(nil, "say", "what do you see?"); !strings.Contains(r.out, "one person") {
		t.Errorf("without a model it says %q, %s", r.out, r.err)
	}
	s.plays("empty")
	s.looks("an empty room", func(r result) bool { return r.code == success && strings.Contains(r.out, "sees nobody") })
	if r := s.earshot(nil, "say", "what do you see?"); !strings.Contains(r.out, "nobody") {
		t.Errorf("without anybody it says %q, %s", r.out, r.err)
	}
}

// TestCameraOutages: a frozen picture, a camera that ends and one that comes back are each reported
// once.
func TestCameraOutages(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.daemon()
	well := func() {
		t.Helper()
		s.looks("an empty room", func(r result) bool { return r.code == success })
	}
	const first = "shows the same picture again and again"
	log := func() string { // from the first; earlier reports are of a camera that was slow to start
		_, log, begun := strings.Cut(s.log(), first)
		if !begun {
			return ""
		}
		return first + log
	}
	said := func(what string) {
		t.Helper()
		testkit.Await(t, soon, what, func() bool { return strings.Contains(log(), what) })
	}
	well()
	s.freezes()
	said(first)
	if r := s.earshot(nil, "see"); r.code != unsighted || !strings.Contains(r.out, "the same picture") {
		t.Errorf("code %d, %s", r.code, r.out)
	}
	s.plays("empty")
	said("sees again")
	well()
	s.camera.Misbehave(seetest.Ends)
	said("camera desk was lost")
	s.looks("a loss", func(r result) bool { return r.code == unsighted && strings.Contains(r.out, "gives no pictures") })
	s.camera.Misbehave(seetest.Well)
	said("camera desk is back")
	well()
	for _, once := range []string{first, "sees again", "camera desk was lost", "camera desk is back"} {
		if n := strings.Count(log(), once); n != 1 {
			t.Errorf("%q was said %d times:\n%s", once, n, log())
		}
	}
}

// deaths returns how often the helper of the camera is killed.
func deaths() int {
	if os.Getenv("EARSHOT_PROOF") != "" {
		return 1000
	}
	return 20
}

// TestCameraKilled: however often the helper of the camera is killed, messages are answered each
// time, in order, and afterwards the camera sees.
func TestCameraKilled(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.scripted("reply: Yes.")
	d := s.daemon()
	for n := range deaths() {
		testkit.Await(t, soon, "a helper to be killed", func() bool { return kill(helper.CameraProgram)(nil, d) == nil })
		if r := s.earshot(nil, "say", fmt.Sprintf("are you there, %d?", n)); r.code != success || r.out != "Yes.\n" {
			t.Fatalf("death %d: code %d, %q, %s", n, r.code, r.out, r.err)
		}
	}
	s.looks("a look", func(r result) bool { return r.code == success && strings.Contains(r.out, "sees nobody") })
	var asked, answered int
	for _, e := range s.history() {
		switch body := e.Body.(type) {
		case earshot.Message:
			if string(body.Text) != fmt.Sprintf("are you there, %d?", asked) {
				t.Errorf("%d was asked as %q", asked, string(body.Text))
			}
			asked++
		case earshot.Reply:
			if body.Outcome != earshot.Completed {
				t.Errorf("a reply was %s", body.Outcome)
			}
			answered++
		}
	}
	if asked != min(deaths(), asked) || answered != asked {
		t.Errorf("%d were asked and %d answered", asked, answered)
	}
	if n := len(children(d.Process.Pid)); n != 1 {
		t.Errorf("%d helpers run", n)
	}
}
