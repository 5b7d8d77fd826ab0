package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"earshot"
	"earshot/internal/picture"
	"earshot/internal/testkit"
	"earshot/participants"
	"earshot/store"
)

// A multiplexer is a tmux server of its own, which runs programs on real terminals.
type multiplexer struct {
	t      testing.TB
	h      *home
	socket string
}

// tmux starts a multiplexer, which ends with the test.
func (h *home) tmux() *multiplexer {
	h.t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		h.t.Skip("there is no tmux; scripts/setup test installs it")
	}
	m := &multiplexer{t: h.t, h: h, socket: filepath.Join(filepath.Dir(h.socket), "tmux")}
	if err := os.MkdirAll(filepath.Dir(m.socket), 0o700); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { m.command("kill-server").Run() })
	return m
}

func (m *multiplexer) command(args ...string) *exec.Cmd {
	c := testkit.Command(m.t, "tmux", append([]string{"-u", "-S", m.socket, "-f", "/dev/null"}, args...)...)
	c.Env, c.Dir = m.h.env, m.h.dir
	return c
}

func (m *multiplexer) do(args ...string) string {
	m.t.Helper()
	out, err := m.command(args...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// run runs earshot with args in a window of the given size, in columns and rows.
func (m *multiplexer) run(width, height int, args ...string) {
	m.t.Helper()
	m.do(append([]string{"new-session", "-d", "-s", "it", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), m.h.name}, args...)...)
	m.do("set-option", "-g", "status", "off")
	m.do("set-option", "-g", "remain-on-exit", "on")
	m.resize(width, height)
}

func (m *multiplexer) resize(width, height int) {
	m.t.Helper()
	m.do("resize-window", "-t", "it", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height))
}

// keys presses keys, given by name.
func (m *multiplexer) keys(keys ...string) {
	m.t.Helper()
	m.do(append([]string{"send-keys", "-t", "it"}, keys...)...)
}

// types types text.
func (m *multiplexer) types(text string) {
	m.t.Helper()
	m.do("send-keys", "-t", "it", "-l", text)
}

// screen returns the text on the screen.
func (m *multiplexer) screen() string { return m.do("capture-pane", "-p", "-t", "it") }

// shows waits until all of the texts are on the screen at once, however they are broken into rows,
// and returns the screen.
func (m *multiplexer) shows(texts ...string) (screen string) {
	m.t.Helper()
	testkit.Await(m.t, soon, fmt.Sprintf("a screen with %q, not\n%s", texts, m.screen()), func() bool {
		screen = m.screen()
		flat := strings.Join(strings.Fields(screen), " ")
		for _, text := range texts {
			if !strings.Contains(flat, text) {
				return false
			}
		}
		return true
	})
	return screen
}

// moving is a script for two people who consider moving house.
var moving = `
every_seconds: 0.12
rules:
  - when: quieter
    reply: The harbour flat is quieter after ten, since the yard works by day. The one at the market is loud on Saturdays from five in the morning on, and has the trams below its windows until midnight. If sleep is what matters, take the harbour, and see to the stairs. There is also the question of the heating, which nobody has asked yet, and of the deposit, which is three months at the harbour and two at the market. I would ask for both in writing before Friday.
  - when: everything
    reply: ` + story + `
  - for: thought
    when: ""
    every_seconds: 0.1
    reply: Two flats. The one by the harbour has no lift and is quiet at night, the one at the market has a lift and trams. Bob carries his cello up and down every day, so the stairs weigh more than they seem. Ann sleeps badly, so the noise weighs more than it seems. The landlord wants an answer by six today. What would settle it is one evening in each of them, with the windows open. It is Monday, so the market is closed today and its noise cannot be heard. That is a reason to ask for another day.
reply: Twelve minutes on foot, and six by the tram that stops at the corner.
`

// flats writes into the journal what was said before, some of it aloud.
func (h *home) flats() {
	h.t.Helper()
	s, err := store.Open(h.t.Context(), store.Config{Directory: filepath.Join(h.dir, "state/earshot/journal")})
	if err != nil {
		h.t.Fatal(err)
	}
	defer s.Close()
	at := time.Now().Add(-3 * time.Minute)
	all := earshot.Visibility{Scope: earshot.Public}
	n := 0
	add := func(id earshot.EventID, author earshot.ParticipantID, b earshot.Body, to ...earshot.ParticipantID) {
		at = at.Add(4 * time.Second)
		n++
		e := earshot.Event{ID: id, At: at, Room: earshot.Desk, Author: author, To: to, Visibility: all, Body: b}
		if b.Kind() == earshot.KindUtterance {
			e.From = earshot.Handle{Provider: "microphone", ID: "voice"}
		} else if author != participants.Agent {
			e.From = earshot.Handle{Provider: "console", ID: "uid0/" + string(author)}
		}
		if m, ok := b.(earshot.Message); ok && len(to) == 1 && to[0] == "bob" {
			_, e.Visibility = m, earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann", "bob"}}
		}
		if _, err := s.Append(h.t.Context(), e); err != nil {
			h.t.Fatal(err)
		}
	}
	id := func() earshot.EventID { return store.NewIDs()() }
	silent := func(about earshot.EventID, reasons ...string) {
		add(id(), participants.Agent, earshot.Decision{About: about, Agent: participants.Agent, Verdict: earshot.Silent, Reasons: reasons})
	}
	voice := func(who earshot.ParticipantID, sure, words float64, text string) earshot.EventID {
		is := id()
		u := earshot.Utterance{Text: earshot.Text(text), Confidence: words, Lasted: 2 * time.Second, Sure: sure}
		if who != "" {
			u.Speaker = earshot.Handle{Provider: "voice", ID: "3"}
		}
		add(is, who, u)
		return is
	}
	silent(voice("ann", 0.91, 0.88, "did you see the flat by the harbour"), "it was said aloud, and not to me")
	silent(voice("bob", 0.82, 0.61, "yes it has no lift"), "it was said aloud, and not to me")
	silent(voice("", 0, 0.34, "mind the step"), "it was said aloud, and not to me", "nobody knows whose voice that is")
	add(id(), "ann", earshot.Message{Text: "the landlord wants an answer by six, do not tell the agents"}, "bob")
	asked, turn := id(), earshot.TurnID("t1")
	add(asked, "ann", earshot.Message{Text: "how far is it from there to the station?"}, participants.Agent)
	add(id(), participants.Agent, earshot.Decision{About: asked, Agent: participants.Agent, Verdict: earshot.Speak, Reasons: []string{"it calls me by name"}, Turn: turn})
	add(id(), participants.Agent, earshot.Reply{
		Turn: turn, About: asked, Outcome: earshot.Interrupted,
		Offered: "Twelve minutes on foot, and six by the tram that stops at the corner, if it comes at all on a Sunday.",
		Heard:   []earshot.Delivery{{Outlet: "loudspeaker", Bytes: 69}},
		Cut:     &earshot.Interruption{By: "bob", Signal: "words", At: at},
	}, "ann")
	silent(voice("bob", 0.86, 0.79, "six minutes that is fine then"), "it was said aloud, and not to me", "Bob talks to Ann")
}

// watched returns a home with the history of flats and a running daemon.
func watched(t *testing.T) *home {
	h := newHome(t)
	h.scripted(moving)
	h.write("config/earshot/config.yaml", `external_actors:
  actors:
  - {actor_id: ann, type: human, display_name: Ann}
  - {actor_id: bob, type: human, display_name: Bob}
  - {actor_id: cy, type: human, display_name: Cy}
agents:
- {name: Alice, description: writes things down}
`)
	h.flats()
	h.daemon()
	return h
}

// TestMonitorOnATerminal watches a busy room on screens of three sizes. With EARSHOT_PICTURES it
// makes the pictures for the documentation; see make pictures.
func TestMonitorOnATerminal(t *testing.T) {
	t.Parallel()
	h := watched(t)
	m := h.tmux()
	m.run(80, 24, "monitor", "--identity", "Ann")
	m.shows("● live ○ no camera", "seen as Ann", "Bob (voice, 86%): six minutes that is fine then [words 79%]",
		"✗ Earshot kept silent: it was said aloud, and not to me; Bob talks to Ann", "following", "[Here]", "Alice (agent) sleeping")

	bob := h.begin("chat", "--identity", "Bob")
	bob.await(">", 1)
	m.shows("Bob is here")
	m.keys("Tab")
	bob.says("Earshot, how far is it on foot?")
	m.shows("Earshot → Bob: Twelve minutes on foot, and six by the tram that stops at the corner.")
	bob.says("/think where we should move to")
	m.shows("[Thought]", "Earshot is thinking about “where we should move to”", "for Bob: somebody gave the command", "Bob carries his cello")
	bob.says("Earshot, which of them is quieter?")
	m.shows("has parked a thought", "The harbour flat is quieter after ten", "is being said")
	h.picture(m, "monitor-small", 80, "earshot monitor on 80 columns: what was heard, why the agent kept silent, a reply that is being said, and the thought that was parked for it")

	m.resize(120, 40)
	m.shows("Here ─", "[Thought]", "Why ─", "Earshot (agent) ", "yes it has no lift [words 61%]",
		"somebody (voice): mind the step", "nobody knows whose voice that is",
		"Ann → Bob [private]: the landlord wants an answer by six", "[not heard: if it comes at all on", "cut off by Bob, who talked, 69 of 101 characters heard")
	h.picture(m, "monitor", 120, "earshot monitor on 120 columns: the transcript with reasons, who is here, the thought, and what was decided")

	m.resize(200, 60)
	m.shows("Here ─", "[Thought]", "Why ─", "Scene ─", "Health ─", "Speed ─", "journal (house) well")
	if h.pictures() != "" {
		m.resize(200, 44)
		m.shows("and of the deposit")
	}
	h.picture(m, "monitor-wide", 200, "earshot monitor on 200 columns, with all panes")

	// Ann cuts in from the monitor: the first key makes the agent pause, Enter cuts it off.
	bob.says("Earshot, tell us everything")
	m.resize(80, 24)
	m.shows("word003")
	m.keys("i")
	m.shows("say: text, or /command")
	m.types("Earshot, t")
	m.shows("paused: somebody wants to speak", "say: Earshot, t")
	m.types("hank you")
	m.keys("Enter")
	m.shows("Ann → Earshot: Earshot, thank you", "cut off by Ann, who talked to the agent")
	m.types("/who")
	m.keys("Enter")
	m.shows("Bob (human", "The room is live")
	m.keys("Escape")
	m.shows("following ? help")

	m.keys("Up", "Up", "w")
	m.shows("looking back", "[Why this]")
	m.keys("q")
	testkit.Await(t, soon, "its end", func() bool { return strings.Contains(m.do("list-panes", "-t", "it", "-F", "#{pane_dead}"), "1") })
}

// pictures returns the folder for the documentation's pictures, or "" to make none.
func (h *home) pictures() string { return os.Getenv("EARSHOT_PICTURES") }

// picture makes one of them, if they are made.
func (h *home) picture(m *multiplexer, name string, columns int, title string) {
	dir := h.pictures()
	if dir == "" {
		return
	}
	screen := m.do("capture-pane", "-e", "-p", "-t", "it")
	if err := os.WriteFile(filepath.Join(dir, name+".svg"), []byte(picture.SVG(screen, columns, title)), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

// TestMonitorOfSomebodyElse: private messages are shown only to those whom they are for.
func TestMonitorOfSomebodyElse(t *testing.T) {
	t.Parallel()
	h := watched(t)
	ann := h.begin("chat", "--identity", "Ann")
	ann.await(">", 1)
	ann.says("/msg Bob the ring is in the teapot")
	ann.await("the ring is in the teapot", 1)
	ann.says("Bob, are you coming?")
	testkit.Await(t, soon, "what she has said", func() bool { return strings.Contains(h.history0("Ann"), "are you coming?") })
	for who, sees := range map[string]bool{"Ann": true, "Bob": true, "Cy": false} {
		for _, how := range [][]string{{"--plain"}, {"--json"}} {
			r := h.earshot(nil, append([]string{"monitor", "--no-follow", "--last", "1000", "--identity", who}, how...)...)
			if r.code != success || strings.Contains(r.out, "teapot") != sees || strings.Contains(r.out, "do not tell the agents") != sees || !strings.Contains(r.out, "are you coming?") {
				t.Errorf("%s %v sees, with %d and %s\n%s", who, how, r.code, r.err, r.out)
			}
		}
	}
	m := h.tmux()
	m.run(200, 60, "monitor", "--identity", "Cy")
	got := m.shows("seen as Cy", "are you coming?", "yes it has no lift")
	if strings.Contains(got, "teapot") || strings.Contains(got, "do not tell the agents") {
		t.Errorf("Cy sees\n%s", got)
	}
	m.keys("/")
	m.types("teapot")
	m.keys("Enter")
	if got := m.shows("no older event has these words"); strings.Contains(strings.ReplaceAll(got, "“teapot”", ""), "teapot") {
		t.Errorf("Cy finds\n%s", got)
	}
}

// TestMonitorOverARestart: the monitor outlives a restart of the daemon, says once that the
// connection is lost, and goes on with nothing missing or doubled.
func TestMonitorOverARestart(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted(teller)
	p := h.daemon()
	m := h.tmux()
	m.run(100, 30, "monitor")
	say := func(text string) {
		t.Helper()
		if _, err := h.client().Post(t.Context(), "", earshot.Text(text)); err != nil {
			t.Fatal(err)
		}
	}
	say("number one")
	m.shows("number one")
	p.end(syscall.SIGTERM)
	m.shows("✗ ", "; trying again for")
	h.daemon()
	say("number two")
	m.shows("number two", "following")
	say("number three")
	got := m.shows("number one", "number two", "number three", "following")
	for _, text := range []string{": number one", ": number two", ": number three"} {
		if n := strings.Count(got, text); n != 1 {
			t.Errorf("%q stands there %d times:\n%s", text, n, got)
		}
	}
}

// TestMonitorLinesOverARestart: a monitor that writes plain lines does so as well.
func TestMonitorLinesOverARestart(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted(teller)
	p := h.daemon()
	var out, errs bytes.Buffer
	c := h.command("monitor", "--plain")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.Stderr = w, &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill() // if it hangs
	w.Close()
	post := func(text string) {
		t.Helper()
		if _, err := h.client().Post(t.Context(), "", earshot.Text(text)); err != nil {
			t.Fatal(err)
		}
	}
	read := func(until string) {
		t.Helper()
		buf := make([]byte, 1<<10)
		r.SetReadDeadline(time.Now().Add(testkit.Patience))
		for !strings.Contains(out.String(), until) {
			n, err := r.Read(buf)
			if err != nil {
				t.Fatalf("waited in vain for %q: %v:\n%s%s", until, err, out.String(), errs.String())
			}
			out.Write(buf[:n])
		}
	}
	post("number one")
	read("number one")
	p.end(syscall.SIGTERM)
	h.daemon()
	post("number two")
	read(": number two")
	r.Close() // nobody reads its output any more
	testkit.Finish(t, testkit.Patience, "the end of monitor", func() { err = c.Wait() })
	if err != nil {
		t.Errorf("it ended with %v", err)
	}
	if strings.Count(out.String(), ": number one") != 1 || !strings.Contains(errs.String(), "; trying again") {
		t.Errorf("it wrote\n%sand said\n%s", out.String(), errs.String())
	}
}
