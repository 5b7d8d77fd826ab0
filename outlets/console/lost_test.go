package console_test

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"earshot"
	"earshot/internal/terminal"
	"earshot/internal/terminal/terminaltest"
	"earshot/internal/testkit"
	"earshot/outlets/console"
)

// A device takes replies until it vanishes. Nobody reads what is written to it, so it is full at
// some point.
type device struct {
	*terminal.Terminal
	vanish func()
}

// newWindow returns a terminal whose window is to be closed.
func newWindow(t *testing.T) device {
	w := terminaltest.Open(t, 80, 24)
	w.Stop()
	return device{w.Terminal, w.Vanish}
}

// newUnread returns a pipe whose reader is to leave.
func newUnread(t *testing.T) device {
	t.Helper()
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	w, err := terminal.Open(in, to, to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.Close()
		for _, f := range []*os.File{in, to, from} {
			f.Close()
		}
	})
	return device{w, func() { from.Close() }}
}

// TestVanished: when the device is lost during a reply, Say reports that whatever it was waiting
// for, and the end is reported once, with what was shown until then.
func TestVanished(t *testing.T) {
	const first = "The tides "
	endless := strings.Repeat(first+"日本語 ", 1<<14)
	for _, tt := range []struct {
		name  string
		lost  bool // whether Say reports it
		shown int  // of clause 0; -1 if only the device knows
		do    func(t *testing.T, d device, s earshot.Speaking, l *listener) error
	}{
		{"before the first word", true, 0, func(_ *testing.T, d device, s earshot.Speaking, _ *listener) error {
			d.vanish()
			return s.Say(earshot.Clause{Text: first})
		}},
		{"between two clauses", true, len(first), func(t *testing.T, d device, s earshot.Speaking, _ *listener) error {
			say(t, s, 0, first)
			d.vanish()
			return s.Say(earshot.Clause{N: 1, Text: "turn"})
		}},
		{"while paused", true, len(first), func(t *testing.T, d device, s earshot.Speaking, _ *listener) error {
			say(t, s, 0, first)
			s.Do(earshot.Pause)
			said := make(chan error, 1)
			go func() { said <- s.Say(earshot.Clause{N: 1, Text: "turn"}) }()
			d.vanish()
			s.Do(earshot.Resume)
			return testkit.Receive(t, testkit.Patience, "the end of what is said", said)
		}},
		{"while full", true, -1, func(t *testing.T, d device, s earshot.Speaking, l *listener) error {
			said := make(chan error, 1)
			go func() { said <- s.Say(earshot.Clause{Text: earshot.Text(endless)}) }()
			full(t, l)
			d.vanish()
			return testkit.Receive(t, testkit.Patience, "the end of what is said", said)
		}},
		{"before a cut", false, len(first), func(t *testing.T, d device, s earshot.Speaking, _ *listener) error {
			say(t, s, 0, first)
			d.vanish()
			s.Do(earshot.Cut)
			return nil
		}},
		{"after the last word", false, len(first), func(t *testing.T, d device, s earshot.Speaking, _ *listener) error {
			say(t, s, 0, first)
			d.vanish()
			s.Finish()
			return nil
		}},
	} {
		for name, open := range map[string]func(*testing.T) device{"a window": newWindow, "a pipe": newUnread} {
			t.Run(tt.name+"/"+name, func(t *testing.T) {
				d := open(t)
				c := console.New(console.Config{Outlet: "console"}, d.Terminal)
				s, l := begin(t, c)
				checkLost(t, tt.do(t, d, s, l), tt.lost)
				end := checkEnd(t, l, endless)
				if tt.shown >= 0 && end.Byte != tt.shown || tt.shown < 0 && end.Byte == 0 {
					t.Errorf("ended at %+v, want byte %d", end, tt.shown)
				}
				again, l := begin(t, c)
				checkLost(t, again.Say(earshot.Clause{Text: first}), true)
				if end := checkEnd(t, l, first); end.Byte != 0 {
					t.Errorf("%d bytes were heard of what is lost", end.Byte)
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func begin(t *testing.T, c *console.Console) (earshot.Speaking, *listener) {
	t.Helper()
	return open(t, c, t.Context())
}

// checkLost fails t unless err says, in words for people, that the device is lost; if it is not
// lost, err must be nil.
func checkLost(t *testing.T, err error, lost bool) {
	t.Helper()
	switch {
	case lost != (err != nil):
		t.Errorf("Say said %v", err)
	case lost && (!strings.HasPrefix(err.Error(), "printing: ") || strings.Contains(err.Error(), "/proc/")):
		t.Errorf("Say said %q", err)
	}
}

// checkEnd returns the one end that l heard, and fails t if that tells anything new or if later
// calls add to it.
func checkEnd(t *testing.T, l *listener, text string) earshot.Heard {
	t.Helper()
	testkit.Await(t, patience, "the end", func() bool { _, ok := l.ended(); return ok })
	var last earshot.Heard
	for i, h := range l.all() {
		if h.End != (i == len(l.all())-1) {
			t.Fatalf("report %d of %d: %+v", i, len(l.all()), h)
		}
		if h.End {
			break
		}
		last = h
	}
	end, _ := l.ended()
	if end != (earshot.Heard{Clause: last.Clause, Byte: last.Byte, End: true}) {
		t.Errorf("ended at %+v after %+v", end, last)
	}
	if end.Byte >= len(text) || !utf8.RuneStart(text[end.Byte]) {
		t.Errorf("ended at byte %d of %d", end.Byte, len(text))
	}
	return end
}
