package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"earshot"
	"earshot/api"
	"earshot/internal/testkit"
)

// TestReloadProcess: a daemon reads its configuration again when the file appears, is written or is
// removed, on a signal, and when an operator asks for it. The environment takes precedence.
func TestReloadProcess(t *testing.T) {
	t.Parallel()
	h := newHome(t, "EARSHOT_SPEAKERS_SURE=0.8")
	h.scripted("reply: Yes.\n")
	d := h.daemon() // without a configuration file
	waiting := func(want ...string) {
		t.Helper()
		testkit.Await(t, soon, "what waits to be "+strings.Join(want, ", "), func() bool {
			s, err := state(t.Context(), h.client())
			return err == nil && slices.Equal(s.Waiting, want)
		})
	}
	const file = "config/earshot/config.yaml"
	h.write(file, "store: {directory: /nowhere}\nspeakers: {sure: 0.6}\n")
	waiting("store.directory")
	if r := h.earshot(nil, "reload"); r.code != success || !strings.Contains(r.out, "nothing has changed") {
		t.Errorf("reload ended with %d: %s%s", r.code, r.out, r.err)
	}
	h.write(file, "store: {directory: /nowhere}\nspeakers: {sure: 0.9}\nexecutive: {tools: {workspace: /nowhere}}\n")
	waiting("executive.tools.workspace", "store.directory")
	if err := os.Remove(filepath.Join(h.dir, file)); err != nil {
		t.Fatal(err)
	}
	waiting()

	key := h.write("key", "first")
	h.write(file, "executive: {llm: {api_key: \"file:"+key+"\"}}\n")
	log := func(words string, times int) {
		t.Helper()
		testkit.Await(t, soon, words, func() bool { return strings.Count(h.read("state/earshot/earshot.log"), words) >= times })
	}
	log("changed=executive.llm.api_key", 1)
	h.write("key", "second") // a change that no configuration file shows
	if err := d.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	log("changed=executive.llm.api_key", 2)
	full := filepath.Join(h.dir, "state/earshot/earshot.log")
	if err := os.Rename(full, full+".1"); err != nil {
		t.Fatal(err)
	}
	if r := h.earshot(nil, "reload"); r.code != success {
		t.Errorf("reload ended with %d: %s%s", r.code, r.out, r.err)
	}
	if _, err := os.Stat(full); err != nil {
		t.Errorf("the log was put aside, and is not begun anew: %v", err)
	}
	h.write("key", "third")
	r := h.earshot(nil, "reload", "--json")
	if r.code != success || !strings.Contains(r.out, `"key": "executive.llm.api_key"`) || !strings.Contains(r.out, `"class": "section"`) || strings.Contains(r.out, "third") {
		t.Errorf("reload ended with %d: %s%s", r.code, r.out, r.err)
	}
	if all := h.read("state/earshot/earshot.log") + h.read("state/earshot/earshot.log.1"); strings.Contains(all, "second") || strings.Contains(all, "third") {
		t.Errorf("the log holds a key:\n%s", all)
	}
	other := filepath.Join(h.dir, "other.log")
	h.write(file, "log: {level: debug, file: "+other+"}\n")
	testkit.Await(t, soon, "the other log", func() bool {
		text, err := os.ReadFile(other)
		return err == nil && strings.Contains(string(text), `changed="executive.llm.api_key log.level log.file"`)
	})
	if r := h.earshot(nil, "say", "--identity", "Carol", "hello"); r.code != success {
		t.Errorf("somebody new says hello: %d %s%s", r.code, r.out, r.err)
	}
	if r := h.earshot(nil, "reload", "--identity", "Carol"); r.code != failed || !strings.Contains(r.err, "operator") {
		t.Errorf("somebody else may: %d %s%s", r.code, r.out, r.err)
	}
	testkit.Await(t, soon, "the audit log beside the other log", func() bool {
		return strings.Contains(h.earshot(nil, "audit", "--refused", "--json").out, "/v1/reload")
	})
	h.write(file, "log: {level: loud, fil: x}\nstore: {directory: here}\n")
	if r := h.earshot(nil, "reload"); r.code != misused || !strings.Contains(r.err, "log.level") || !strings.Contains(r.err, "log.fil") || !strings.Contains(r.err, "store.directory") {
		t.Errorf("reload ended with %d: %s%s", r.code, r.out, r.err)
	}
	h.write(file, "{}\n")
	if r := h.earshot(nil, "say", "tell me something"); r.code != success || !strings.Contains(r.out, "Yes.") {
		t.Errorf("say ended with %d: %s%s", r.code, r.out, r.err)
	}
	d.end(syscall.SIGTERM)
	if code := d.ProcessState.ExitCode(); code != success {
		t.Errorf("it ended with %d:\n%s", code, d.out.String())
	}
}

// TestReloadWindow: the terminal shows which keys have changed and can ask for a reload. SIGHUP
// still ends earshot there.
func TestReloadWindow(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted("reply: Yes.\n")
	const file = "config/earshot/config.yaml"
	h.write(file, "{}\n")
	w := h.open("run")
	w.await("/help lists what you can ask", 1)
	w.says("tell me something")
	w.await("Yes.", 1)
	h.write(file, "executive: {reasoning: {temperature: 0.1}}\nserver: {socket: /nowhere/socket}\n")
	w.await("Configuration reloaded: executive.reasoning.temperature applies now; server.socket applies after a restart.", 1)
	h.write(file, "executive: {reasoning: {temperature: 3}}\n")
	w.await("the configuration has 1 fault, so the previous one stays in effect", 1)
	w.await("executive.reasoning.temperature: is 3; must be from 0 to 2", 1)
	h.write(file, "{}\n")
	w.await("Configuration reloaded: ", 2)
	w.says("/reload")
	w.await("Configuration reloaded: nothing has changed.", 1)
	if err := w.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	w.ended()
}

// TestAloudReload: whatever changes in the configuration, the reply being spoken is spoken to its
// end. Then the loudspeaker and the microphone are replaced, and go on.
func TestAloudReload(t *testing.T) {
	talks(t)
	p := newParlour(t)
	p.scripted(talker)
	const file = "config/earshot/config.yaml"
	p.write(file, "{}\n")
	p.wakes()
	recording := p.records()
	p.asks(bob, "earshot, what is the weather like today", recording)
	p.write(file, `executive: {conversational: {temperature: 0.2}, attention: {hourly_budget: 3}}
external_actors: {actors: [{actor_id: carol}]}
log: {level: debug}
outlets: {loudspeaker: {volume: 0.5, voice: rms}}
providers: {microphone: {ear: {pre_roll_seconds: 0.4}}}
`)
	if reply := p.replied(1)[0]; reply.Outcome != earshot.Completed {
		t.Errorf("the reply was %s, and %q was heard of it", reply.Outcome, string(reply.Delivered()))
	}
	for _, part := range []string{"the loudspeaker", "the microphone"} {
		testkit.Await(t, soon, part+" to begin again", func() bool {
			return strings.Contains(p.log(), `msg="a part follows the configuration again" part="`+part+`"`)
		})
	}
	p.listens()
	again := p.records()
	p.asks(eve, "earshot, what is the weather like today", again)
	if n := len(p.replied(2)); n < 2 {
		t.Error("nothing was answered")
	}
	p.write(file, "{}\n")
	if err := errors.Join(os.Remove(filepath.Join(p.dir, file))); err != nil {
		t.Fatal(err)
	}
}

// TestReloadDiscord: when its configuration changes the bot reconnects, and answers under the new
// one. Rooms keep what was said there.
func TestReloadDiscord(t *testing.T) {
	t.Parallel()
	c := newClub(t, "reply: Yes.\n", "")
	c.comes()
	general := c.Channel("general").ID
	c.calls(c.ann, general, "tell me something")
	c.answers(general, 1)
	before := c.read("earshot.yaml")
	c.write("earshot.yaml", before+"    direct_messages: false\n")
	testkit.Await(t, soon, "the bot to begin again", func() bool { return strings.Contains(c.log(), `part=Discord`) })
	c.calls(c.ann, general, "and now?") // the bot reads it once it is back
	c.answers(general, 2)
	if said := c.reads(roomOf(general)); !strings.Contains(said, "tell me something") || !strings.Contains(said, "and now?") {
		t.Errorf("of the room is known\n%s", said)
	}
}

// TestReloadCameras: a camera whose configuration changes is opened anew, and the others go on.
// With none configured, none is open.
func TestReloadCameras(t *testing.T) {
	t.Parallel()
	g := newGallery(t, "1")
	other := g.write("other", "1")
	g.daemon()
	const file = "config/earshot/config.yaml"
	open := func(want ...string) {
		t.Helper()
		testkit.Await(t, soon, "the cameras "+strings.Join(want, ", "), func() bool {
			s, err := state(t.Context(), g.client())
			var is []string
			for _, c := range s.Cameras {
				if c.Open {
					is = append(is, c.Camera)
				}
			}
			return err == nil && slices.Equal(is, want)
		})
	}
	cameras := func(list ...string) {
		g.write(file, "providers:\n  webcam:\n    cameras:\n"+strings.Join(list, ""))
	}
	desk, door := "    - {name: desk, device: \""+g.before+"\"}\n", "    - {name: door, device: \""+other+"\"}\n"
	open("desk")
	cameras(desk, door)
	open("desk", "door")
	cameras(door)
	open("door")
	if err := os.Remove(filepath.Join(g.dir, file)); err != nil {
		t.Fatal(err)
	}
	g.write(file, "{}\n")
	testkit.Await(t, soon, "neither of them", func() bool {
		s, err := state(t.Context(), g.client())
		return err == nil && !slices.ContainsFunc(s.Cameras, func(l api.CameraInfo) bool { return l.Camera == "desk" || l.Camera == "door" })
	})
}

// TestOutlastsItsTerminal: a program started under nohup does not end with the terminal.
func TestOutlastsItsTerminal(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted("reply: Yes.\n")
	d := h.daemon()
	c := exec.Command("sh", "-c", `trap "" HUP; exec "$0" chat`, h.name)
	c.Env, c.Dir = h.command().Env, h.dir
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	defer time.AfterFunc(2*testkit.Patience, func() { c.Process.Kill() }).Stop() // ends the wait for an answer that never comes
	said := bufio.NewScanner(out)
	for _, text := range []string{"tell me something", "tell me more"} {
		if _, err := io.WriteString(in, text+"\n"); err != nil {
			t.Fatal(err)
		}
		answered := false
		for !answered && said.Scan() {
			answered = strings.Contains(said.Text(), "Yes.")
		}
		if !answered {
			t.Fatalf("there is no answer to %q", text)
		}
		c.Process.Signal(syscall.SIGHUP)
	}
	in.Close()
	for said.Scan() {
	}
	testkit.Finish(t, testkit.Patience, "the end of chat", func() { err = c.Wait() })
	if err != nil {
		t.Errorf("it ended with %v", err)
	}
	d.end(syscall.SIGTERM)
}
