package wire_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"earshot"
	"earshot/server/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// frames has one frame of each type.
var frames = []wire.Frame{
	wire.Hello{Flows: true},
	wire.Event{Event: earshot.Event{ID: "1", At: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Body: earshot.Message{Text: "a\nb<é>\u2028"}}},
	wire.Heard{Turn: "1", Heard: earshot.Heard{Clause: 2, Byte: 3, End: true}},
	wire.Welcome{Outlet: "terminal-1"},
	wire.Ack{N: 7},
	wire.Refused{N: 8, Refusal: wire.Refusal{Problem: "full", Mend: "make room"}},
	wire.Open{
		Opening: earshot.Opening{Turn: "1", About: "2", Name: "Earshot", To: "ann", Private: true},
		Names:   wire.Names{"ann": "Ann"},
	},
	wire.Say{Turn: "1", Clause: earshot.Clause{N: 1, Text: "3 km", Spoken: "three", Marks: []earshot.Mark{{Spoken: 1, Text: 2}}}},
	wire.Do{Turn: "1", Control: earshot.Cut},
	wire.Finish{Turn: "1"},
	wire.Show{Event: earshot.Event{ID: "1", At: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Body: earshot.Reply{Offered: "x"}}, Names: wire.Names{"ann": "Ann É"}},
	wire.Missed{N: 3},
	wire.Ended{Refusal: wire.Refusal{Problem: "revoked", Mend: "ask for another"}},
	wire.Beat{},
}

func TestFramesSurvive(t *testing.T) {
	for _, f := range frames {
		line, err := wire.Encode(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.IndexByte(line, '\n') != len(line)-1 {
			t.Errorf("%T is not one line: %q", f, line)
		}
		got, err := wire.Decode(line)
		if err != nil || !reflect.DeepEqual(got, f) {
			t.Errorf("got %#v with %v, want %#v", got, err, f)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	for _, f := range []wire.Frame{
		wire.Show{},
		wire.Say{Clause: earshot.Clause{Text: earshot.Text(strings.Repeat("\x01", wire.MaxDown/6))}},
	} {
		if line, err := wire.Encode(f); err == nil {
			t.Errorf("%T was encoded as %d bytes", f, len(line))
		}
	}
}

// TestDecodeRepeatsNothing: an error about received data does not quote it.
func TestDecodeRepeatsNothing(t *testing.T) {
	for _, line := range []string{
		`canary`, `{"canary":{}}`, `{"say":"canary"}`, `{"event":{"kind":"canary","body":{}}}`,
		`{"event":{"kind":"message","body":"canary"}}`, `{"say":{"turn":["canary"]}}`,
	} {
		if _, err := wire.Decode([]byte(line)); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// A timeless connection has no deadlines, each of which would leave a timer behind.
type timeless struct{ net.Conn }

func (timeless) SetReadDeadline(time.Time) error { return nil }

// lines reads frames from text until an error.
func lines(text []byte, limit int) (got []wire.Frame, err error) {
	c := wire.NewConn(timeless{}, bytes.NewReader(text), limit)
	for {
		f, err := c.Read()
		if err != nil {
			return got, err
		}
		got = append(got, f)
	}
}

func TestRead(t *testing.T) {
	beat := `{"beat":{}}`
	for _, tt := range []struct {
		name, text string
		n          int
		eof        bool
	}{
		{"nothing", "", 0, true},
		{"one", beat + "\n", 1, true},
		{"carriage return", beat + "\r\n" + beat + "\n", 2, true},
		{"the end is missing", beat + "\n" + beat, 1, false},
		{"half", beat + "\n{", 1, false},
		{"an empty line", beat + "\n\n" + beat + "\n", 1, false},
		{"just short enough", `{"beat":{"x":"` + strings.Repeat("x", 80) + `"}}` + "\n", 1, true},
		{"too long", `{"beat":{"x":"` + strings.Repeat("x", 200) + `"}}` + "\n", 0, false},
		{"endless", strings.Repeat("x", 1000), 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := lines([]byte(tt.text), 128)
			if len(got) != tt.n || errors.Is(err, io.EOF) != tt.eof {
				t.Errorf("read %d frames and then %v, want %d and EOF %v", len(got), err, tt.n, tt.eof)
			}
		})
	}
}

// FuzzRead: whatever comes, reading ends with an error, and each frame that was read survives being
// sent on.
func FuzzRead(f *testing.F) {
	var all []byte
	for _, frame := range frames {
		line, err := wire.Encode(frame)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
		all = append(all, line...)
	}
	f.Add(all)
	f.Add(all[:len(all)-3])
	f.Add([]byte("{\"show\":{}}\n"))
	f.Add([]byte("{\"heard\":{\"turn\":\"1\",\"clause\":1e99}}\n\x00\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := lines(text, 1<<16)
		if err == nil {
			t.Fatal("ended without an error")
		}
		for _, frame := range got {
			line, err := wire.Encode(frame)
			if err != nil {
				t.Fatalf("%T cannot be sent on: %v", frame, err)
			}
			again, err := wire.Decode(line)
			if err != nil {
				t.Fatal(err)
			}
			if twice, err := wire.Encode(again); err != nil || !bytes.Equal(twice, line) {
				t.Errorf("%s became %s, %v", line, twice, err)
			}
		}
	})
}

// TestOutboxOrder: urgent frames come first, and otherwise the order is kept.
func TestOutboxOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		box := wire.NewOutbox()
		for i := range 3 {
			must(t, box.Put(wire.Say{Turn: earshot.TurnID(fmt.Sprint(i))}))
		}
		must(t, box.Urgent(wire.Ack{N: 1}))
		must(t, box.Urgent(wire.Do{Turn: "x"}))
		isSay := func(f wire.Frame) bool { _, ok := f.(wire.Say); return ok }
		if n := box.Count(isSay); n != 3 {
			t.Errorf("%d clauses wait, want 3", n)
		}
		if n := box.Drop(1, isSay); n != 1 {
			t.Errorf("%d clauses were dropped, want 1", n)
		}
		must(t, box.Put(wire.Missed{N: 1}))
		box.Close()
		must(t, box.Put(wire.Missed{N: 2})) // too late, but harmless
		done := make(chan error, 1)
		go func() {
			done <- wire.NewConn(near, near, 100).Pump(t.Context(), box)
			near.Close()
		}()
		var got []string
		for c := wire.NewConn(far, far, 1000); ; {
			f, err := c.Read()
			if err != nil {
				break
			}
			got = append(got, fmt.Sprintf("%T%v", f, f))
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		want := "[wire.Ack{1} wire.Do{x resume} wire.Say{1 {0 [0 bytes] [0 bytes] []}} wire.Say{2 {0 [0 bytes] [0 bytes] []}} wire.Missed{1}]"
		if fmt.Sprint(got) != want {
			t.Errorf("written %v\nwant    %v", got, want)
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestPumpBeats: an idle pump sends beats.
func TestPumpBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- wire.NewConn(near, near, 100).Pump(ctx, wire.NewOutbox()) }()
		began := time.Now()
		c := wire.NewConn(far, far, 1000)
		for i := range 3 {
			f, err := c.Read()
			if _, ok := f.(wire.Beat); !ok || err != nil || time.Since(began) != time.Duration(i+1)*wire.Every {
				t.Errorf("%T with %v after %v", f, err, time.Since(began))
			}
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the pump ended with %v", err)
		}
		near.Close()
		far.Close()
	})
}

// TestLast: nothing is written after the last frame, whatever is added at the same time, and before
// it only urgent frames.
func TestLast(t *testing.T) {
	pumped := func(t *testing.T, box *wire.Outbox) string {
		near, far := net.Pipe()
		go func() {
			defer near.Close()
			if err := wire.NewConn(near, near, 100).Pump(t.Context(), box); err != nil {
				t.Error(err)
			}
		}()
		lines, err := io.ReadAll(far)
		if err != nil {
			t.Error(err)
		}
		return string(lines)
	}
	const last = `{"ended":{"error":""}}` + "\n"
	box := wire.NewOutbox()
	_, _ = box.Put(wire.Missed{N: 1}), box.Urgent(wire.Beat{})
	box.Last(wire.Ended{})
	_, _ = box.Put(wire.Missed{N: 2}), box.Urgent(wire.Beat{})
	if got := pumped(t, box); got != `{"beat":{}}`+"\n"+last {
		t.Errorf("it wrote %q", got)
	}
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			box := wire.NewOutbox()
			go func() {
				time.Sleep(wire.Every) // at the moment of a beat
				box.Last(wire.Ended{})
			}()
			if got := pumped(t, box); !strings.HasSuffix(got, last) {
				t.Errorf("it wrote %q", got)
			}
		})
	}
}

// TestTheLastFramesAreRead: frames sent just before the other end closed are still read.
func TestTheLastFramesAreRead(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	c := wire.NewConn(near, io.MultiReader(strings.NewReader(`{"beat":{}}`+"\n"), near), wire.MaxUp)
	far.Close()
	if f, err := c.Read(); f != (wire.Beat{}) || err != nil {
		t.Errorf("the last frame is %v, %v", f, err)
	}
	if _, err := c.Read(); !errors.Is(err, io.EOF) {
		t.Errorf("then comes %v", err)
	}
}
