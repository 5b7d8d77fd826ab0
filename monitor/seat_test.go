package monitor_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"

	"earshot"
	"earshot/monitor"
	"earshot/monitor/model"
	"earshot/providers"
	"earshot/server/attach"
)

// A door lets the monitor take part, and writes down what comes.
type door struct {
	mu     sync.Mutex
	events []earshot.Event
	lose   int // how many events from now the connection is lost
	outlet earshot.Outlet
	lost   int
}

func (d *door) Attach(ctx context.Context, p providers.Provider, o earshot.Outlet, _ *attach.Names) error {
	d.mu.Lock()
	d.outlet = o
	d.mu.Unlock()
	return p.Run(ctx, func(_ context.Context, e earshot.Event) error {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.lose--; d.lose == 0 {
			d.lost++
			return attach.ErrLost
		}
		for _, had := range d.events {
			if had.ID == e.ID {
				return nil // kept once
			}
		}
		d.events = append(d.events, e)
		return nil
	})
}

// said is what came, the short way.
func (d *door) said() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []string
	for _, e := range d.events {
		switch b := e.Body.(type) {
		case earshot.Typing:
			all = append(all, map[bool]string{true: "types", false: "stops"}[b.Began])
		case earshot.Message:
			all = append(all, fmt.Sprintf("%q", string(b.Text)))
		case earshot.Command:
			all = append(all, strings.TrimSpace("/"+b.Name+" "+string(b.Args)))
		}
	}
	return strings.Join(all, ", ")
}

// A desk is somebody at a monitor, at simulated time.
type desk struct {
	*door
	peer   *peer
	keys   *io.PipeWriter
	ended  chan error
	mu     sync.Mutex
	screen model.Screen
}

// sit opens a monitor. It must be left by q.
func sit(t *testing.T, d *door, p *peer) *desk {
	t.Helper()
	in, keys := io.Pipe()
	at := &desk{door: d, peer: p, keys: keys, ended: make(chan error, 1)}
	n := 0
	go func() {
		at.ended <- monitor.Run(t.Context(), monitor.Config{
			Daemon: p, Door: d, Handle: earshot.Handle{Provider: "console", ID: "uid1"}, Via: "console",
			NewID: func() earshot.EventID { n++; return earshot.EventID(fmt.Sprint("id", n)) },
			In:    in, Out: io.Discard, Env: []string{"TERM=xterm-256color", "SSH_TTY=x"}, Width: 80, Height: 24,
			Drawn: func(s model.Screen) {
				at.mu.Lock()
				defer at.mu.Unlock()
				at.screen = s
			},
		})
	}()
	time.Sleep(3 * time.Second)
	return at
}

func (d *desk) types(keys string) {
	io.WriteString(d.keys, keys)
	time.Sleep(time.Second)
}

func (d *desk) shows() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return ansi.Strip(strings.Join(d.screen.Rows, "\n"))
}

// leave leaves.
func (d *desk) leave(t *testing.T) {
	t.Helper()
	d.types("q")
	if err := <-d.ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	d.keys.Close()
}

// TestSitting: what is typed comes to the room once, in order, also where the connection is
// lost on the way.
func TestSitting(t *testing.T) {
	for lose := range 6 {
		synctest.Test(t, func(t *testing.T) {
			d := sit(t, &door{lose: lose}, newPeer(numbered(1)))
			d.types("i")
			d.types("hello\r")
			d.types("/why 3\r")
			d.types("bye\r\x1b")
			if want := `types, "hello", /why 3, types, "bye"`; d.said() != want {
				t.Errorf("lost after %d: the room saw %s", lose, d.said())
			}
			d.leave(t)
			if lose > 0 && d.lost != 1 {
				t.Errorf("lost %d times", d.lost)
			}
		})
	}
}

// TestHints: whom a line does not reach its author is told; the faults of the house stand
// elsewhere.
func TestHints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sit(t, &door{}, newPeer(numbered(1)))
		d.types("i")
		d.door.mu.Lock()
		board := d.outlet.(earshot.Board)
		d.door.mu.Unlock()
		board.Show(earshot.Event{Body: earshot.Notice{Key: "microphone", Text: "no sound"}})
		board.Show(earshot.Event{Body: earshot.Notice{Key: earshot.HintKey, Text: "nobody here is called Zed"}})
		time.Sleep(time.Second)
		if got := d.shows(); !strings.Contains(got, "nobody here is called Zed") || strings.Contains(got, "no sound") {
			t.Errorf("it shows\n%s", got)
		}
		d.types("\x1b")
		d.leave(t)
	})
}

// TestHeardHere: what was drawn was heard; what came while somebody looked back was not.
func TestHeardHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer()
		for n := range 40 {
			p.events = append(p.events, numbered(n+1))
		}
		d := sit(t, new(door), p)
		d.types("i")
		d.types("hello\r")
		d.types("\x1b")
		var mu sync.Mutex
		var heard []earshot.Heard
		hears := func(h earshot.Heard) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, h)
		}
		last := func() string {
			mu.Lock()
			defer mu.Unlock()
			if len(heard) == 0 {
				return ""
			}
			h := heard[len(heard)-1]
			return fmt.Sprint(h.Clause, " ", h.Byte, " ", h.End)
		}
		open := func(turn earshot.TurnID) earshot.Speaking {
			d.door.mu.Lock()
			outlet := d.outlet
			d.door.mu.Unlock()
			s, err := outlet.Open(t.Context(), earshot.Opening{Turn: turn, Name: "Earshot"}, hears)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		s := open("t1")
		s.Say(earshot.Clause{N: 0, Text: "One. "})
		s.Say(earshot.Clause{N: 1, Text: "Two."})
		time.Sleep(time.Second)
		if last() != "1 4 false" || !strings.Contains(d.shows(), "One. Two. …") {
			t.Errorf("heard %s of\n%s", last(), d.shows())
		}
		s.Finish()
		time.Sleep(time.Second)
		if last() != "1 4 true" {
			t.Errorf("at the end, heard %s", last())
		}

		s = open("t2")
		s.Do(earshot.Pause)
		said := make(chan struct{})
		go func() { s.Say(earshot.Clause{N: 0, Text: "Three."}); close(said) }()
		time.Sleep(time.Second)
		select {
		case <-said:
			t.Error("a paused reply went on")
		default:
		}
		s.Do(earshot.Cut)
		<-said
		if last() != "0 0 true" {
			t.Errorf("cut, heard %s", last())
		}

		s = open("t3")
		s.Say(earshot.Clause{N: 0, Text: "Four. "})
		time.Sleep(time.Second)
		d.types("\x1b[5~") // a page up
		s.Say(earshot.Clause{N: 1, Text: "Five."})
		time.Sleep(time.Second)
		s.Finish()
		time.Sleep(5 * time.Second)
		if last() != "0 6 true" && last() != "1 0 true" {
			t.Errorf("looking back, heard %s", last())
		}
		d.leave(t)
	})
}

// TestRunIsRefused: who may not look on any more is told so, and it ends.
func TestRunIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sit(t, new(door), newPeer(numbered(1)))
		if !strings.Contains(d.shows(), "Ann: number 1") {
			t.Errorf("it shows\n%s", d.shows())
		}
		d.peer.change(func() { d.peer.gone = true })
		time.Sleep(10 * time.Second)
		if !strings.Contains(d.shows(), "not running; trying again for") && !strings.Contains(d.shows(), "was lost; trying again for") {
			t.Errorf("lost, it shows\n%s", d.shows())
		}
		d.peer.change(func() { d.peer.gone, d.peer.refuses = false, true })
		if err := <-d.ended; err == nil || !strings.Contains(err.Error(), "may not know that") {
			t.Errorf("it ended with %v", err)
		}
		d.keys.Close()
	})
}
