package helper_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"earshot/internal/helper"
)

// receiver returns the end of a connection at which these bytes arrive.
func receiver(control, sound io.Reader) *helper.Conn {
	return helper.NewConn(control, io.Discard, sound, io.Discard)
}

// sender returns the end of a connection that writes into these.
func sender(control, sound io.Writer) *helper.Conn {
	return helper.NewConn(strings.NewReader(""), control, strings.NewReader(""), sound)
}

// chopped draws a reader that gives b in pieces of some size.
func chopped(t *rapid.T, b []byte) io.Reader {
	r := io.Reader(bytes.NewReader(b))
	switch rapid.SampledFrom([]string{"whole", "halves", "bytes", "error"}).Draw(t, "pieces") {
	case "halves":
		return iotest.HalfReader(r)
	case "bytes":
		return iotest.OneByteReader(r)
	case "error":
		return iotest.DataErrReader(r)
	}
	return r
}

// TestMessagesArrive: whatever is sent arrives, in order, however the pipe chops it.
func TestMessagesArrive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var control, sound bytes.Buffer
		c := sender(&control, &sound)
		names := rapid.SliceOf(rapid.StringMatching(`[a-z]{1,64}`)).Draw(t, "names")
		texts := rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "body")
		sounds := rapid.SliceOf(rapid.SliceOf(rapid.Byte())).Draw(t, "sounds")
		for _, name := range names {
			if err := c.Send(name, texts); err != nil {
				t.Fatal(err)
			}
		}
		for i, data := range sounds {
			if err := c.SendSound(uint32(i), data); err != nil {
				t.Fatal(err)
			}
		}
		got := receiver(chopped(t, control.Bytes()), chopped(t, sound.Bytes()))
		err := got.Controls(func(c helper.Control) error {
			var body map[string]string
			if err := c.Decode(&body); err != nil || c.Name != names[0] || len(body) != len(texts) {
				t.Errorf("got %q with %d of %d, %v", c.Name, len(body), len(texts), err)
			}
			names = names[1:]
			return nil
		})
		if err != io.EOF || len(names) > 0 {
			t.Errorf("%v; %q did not come", err, names)
		}
		i := 0
		err = got.Sounds(func(s helper.Sound) error {
			if s.Stream != uint32(i) || !bytes.Equal(s.Data, sounds[i]) {
				t.Errorf("got %x of %d, want %x", s.Data, s.Stream, sounds[i])
			}
			i++
			return nil
		})
		if err != io.EOF || i != len(sounds) {
			t.Errorf("%v; %d of %d came", err, i, len(sounds))
		}
	})
}

// message returns a message as it is transmitted.
func message(b string) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
}

func TestBrokenMessages(t *testing.T) {
	good := message(`{"name":"a"}`)
	for _, tt := range []struct {
		name string
		b    []byte
		want error
		took int
	}{
		{"nothing", nil, io.EOF, 0},
		{"one", good, io.EOF, 1},
		{"half a length", append(good, 1, 0), io.ErrUnexpectedEOF, 1},
		{"only a length", append(good, 1, 0, 0, 0), io.ErrUnexpectedEOF, 1},
		{"half a message", good[:len(good)-1], io.ErrUnexpectedEOF, 0},
		{"far too long", []byte{255, 255, 255, 255}, helper.ErrProtocol, 0},
		{"a little too long", []byte{1, 0, 4, 0}, helper.ErrProtocol, 0},
		{"empty", message(""), helper.ErrProtocol, 0},
		{"no JSON", message("hello"), helper.ErrProtocol, 0},
		{"other JSON", message(`[]`), helper.ErrProtocol, 0},
		{"no name", message(`{"body":1}`), helper.ErrProtocol, 0},
		{"a long name", message(`{"name":"` + strings.Repeat("n", 65) + `"}`), helper.ErrProtocol, 0},
		{"deep", message(`{"name":"a","body":` + strings.Repeat("[", 100_000) + `}`), helper.ErrProtocol, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			took := 0
			err := receiver(bytes.NewReader(tt.b), nil).Controls(func(helper.Control) error { took++; return nil })
			if !errors.Is(err, tt.want) || took != tt.took {
				t.Errorf("%d messages, then %v; want %d, then %v", took, err, tt.took, tt.want)
			}
		})
	}
}

func TestTooMuchIsNotSent(t *testing.T) {
	var control, sound bytes.Buffer
	c := sender(&control, &sound)
	for what, err := range map[string]error{
		"control":          c.Send("x", strings.Repeat("x", helper.MaxControl)),
		"what is no JSON":  c.Send("x", func() {}),
		"sound":            c.SendSound(0, make([]byte, helper.MaxSound+1)),
		"nothing like it":  c.Send("x", json.RawMessage("{")),
		"sound that is ok": nil,
	} {
		if (err == nil) != strings.HasSuffix(what, "ok") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := c.SendSound(0, make([]byte, helper.MaxSound)); err != nil || control.Len() > 0 {
		t.Errorf("%v, and %d bytes of control", err, control.Len())
	}
	if err := receiver(nil, &sound).Sounds(func(s helper.Sound) error { return nil }); err != io.EOF {
		t.Error(err)
	}
}

// TestDecodeKeepsWordsToItself: an error about a body names the message, and repeats nothing of
// what came.
func TestDecodeKeepsWordsToItself(t *testing.T) {
	c := helper.Control{Name: "final", Body: json.RawMessage(`{"at":"my secret words"}`)}
	var into struct{ At int }
	err := c.Decode(&into)
	if !errors.Is(err, helper.ErrProtocol) || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), `"final"`) {
		t.Errorf("error %v", err)
	}
	if err := (helper.Control{Name: "final"}).Decode(&into); !errors.Is(err, helper.ErrProtocol) {
		t.Errorf("no body: %v", err)
	}
}

// TestReadingOn: what was read ahead is not lost when somebody else reads on.
func TestReadingOn(t *testing.T) {
	var control bytes.Buffer
	c := sender(&control, io.Discard)
	for i := range 3 {
		if err := c.Send(fmt.Sprint(i), nil); err != nil {
			t.Fatal(err)
		}
	}
	enough := errors.New("enough")
	r := receiver(&control, nil)
	for i := range 3 {
		err := r.Controls(func(c helper.Control) error {
			if c.Name != fmt.Sprint(i) {
				t.Errorf("got %s, want %d", c.Name, i)
			}
			return enough
		})
		if err != enough {
			t.Errorf("error %v", err)
		}
	}
}

func TestSoundAllocatesNothing(t *testing.T) {
	var wire bytes.Buffer
	frame := make([]byte, 656)
	c := helper.NewConn(strings.NewReader(""), io.Discard, &wire, &wire)
	enough := errors.New("enough")
	take := func(helper.Sound) error { return enough }
	round := func() {
		if err := c.SendSound(1, frame); err != nil {
			t.Error(err)
		}
		if err := c.Sounds(take); err != enough {
			t.Error(err)
		}
	}
	round()
	if n := testing.AllocsPerRun(100, round); n > 1 { // one belongs to the call of Sounds
		t.Errorf("%v allocations a frame", n)
	}
}

func FuzzControls(f *testing.F) {
	f.Add(message(`{"name":"hello","body":{"version":1}}`))
	f.Add(append(message(`{"name":"beat"}`), message(`{"name":"a","body":[1,{}]}`)...))
	f.Add([]byte{0, 0, 4, 0, '{'})
	f.Fuzz(func(t *testing.T, b []byte) {
		err := receiver(bytes.NewReader(b), nil).Controls(func(c helper.Control) error {
			var again helper.Control
			if err := sender(writerFunc(func(b []byte) {
				if json.Unmarshal(b[4:], &again) != nil {
					t.Errorf("%q is sent as %q", c.Name, b)
				}
			}), nil).Send(c.Name, c.Body); err != nil {
				t.Errorf("what came cannot be sent: %v", err)
			}
			if again.Name != c.Name {
				t.Errorf("%q came back as %q", c.Name, again.Name)
			}
			return nil
		})
		if err != io.EOF && !errors.Is(err, helper.ErrProtocol) {
			t.Errorf("error %v", err)
		}
	})
}

// A writerFunc is called with what is written.
type writerFunc func([]byte)

func (w writerFunc) Write(b []byte) (int, error) { w(b); return len(b), nil }

func FuzzSounds(f *testing.F) {
	f.Add(message("\x01\x00\x00\x00sound"))
	f.Add(append(message("1234"), message("123")...))
	f.Add([]byte{4, 0, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var again bytes.Buffer
		c := sender(nil, &again)
		err := receiver(nil, bytes.NewReader(b)).Sounds(func(s helper.Sound) error {
			return c.SendSound(s.Stream, s.Data)
		})
		if err != io.EOF && !errors.Is(err, helper.ErrProtocol) {
			t.Errorf("error %v", err)
		}
		if !bytes.HasPrefix(b, again.Bytes()) {
			t.Errorf("%x was read as %x", b, again.Bytes())
		}
	})
}
