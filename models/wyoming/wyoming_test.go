package wyoming_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"earshot/internal/audio"
	"earshot/internal/testkit"
	"earshot/models/remote"
	"earshot/models/wyoming"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a server that gives each connection to handle, and returns its address.
func serve(t *testing.T, handle func(net.Conn)) wyoming.Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.SetDeadline(time.Now().Add(time.Minute)) // whatever a test forgets
			handle(c)
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); testkit.Receive(t, testkit.Patience, "the end of the server", done) })
	return wyoming.Server(l.Addr().String())
}

// scripted returns a server that answers the first message of the kind at with some bytes, and
// what it had been sent until then.
func scripted(t *testing.T, at, answer string) (s wyoming.Server, got func() []string) {
	kinds := make(chan []string, 9)
	s = serve(t, func(c net.Conn) {
		var all []string
		for {
			e, err := wyoming.ReadEvent(c)
			if err != nil {
				break
			}
			all = append(all, e.Type)
			if e.Type == at {
				io.WriteString(c, answer)
				at = ""
				if answer == "" {
					break
				}
			}
		}
		kinds <- all
	})
	return s, func() []string {
		t.Helper()
		return testkit.Receive(t, testkit.Patience, "the end of the server's connection", kinds)
	}
}

// behind returns a message as Home Assistant's package writes it.
func behind(kind, data string, payload ...int16) string {
	pcm := audio.AppendPCM(nil, payload)
	return fmt.Sprintf("{\"type\":%q,\"version\":\"1.8.0\",\"data_length\":%d,\"payload_length\":%d}\n%s%s", kind, len(data), len(pcm), data, pcm)
}

// within returns a message as other programs write it.
func within(kind, data string) string {
	return fmt.Sprintf("{\"type\":%q,\"data\":%s}\n", kind, data)
}

func TestParseServer(t *testing.T) {
	for _, tt := range []struct {
		address string
		want    wyoming.Server
		local   bool
	}{
		{"127.0.0.1:10300", "127.0.0.1:10300", true},
		{"tcp://[::1]:10300", "[::1]:10300", true},
		{"wyoming://localhost:10200", "localhost:10200", true},
		{"homeassistant.local:10300", "homeassistant.local:10300", false},
		{"192.168.1.9:10300", "192.168.1.9:10300", false},
		{"", "", false},
		{"10300", "", false},
		{":10300", "", false},
		{"host:", "", false},
		{"http://host:10300/", "", false},
		{"host:10300/x", "", false},
		{"host:99999", "", false},
		{"ho st:1", "", false},
	} {
		got, err := wyoming.ParseServer(tt.address)
		if got != tt.want || (err == nil) != (tt.want != "") || got.Local() != tt.local {
			t.Errorf("%q: %q, local %v, %v", tt.address, got, got.Local(), err)
		}
	}
}

// TestDescribe: a server describes itself with its data behind or within the first line, and what
// is no description is an error that says so.
func TestDescribe(t *testing.T) {
	info := `{"asr":[{"name":"whisper","supports_transcript_streaming":true,"models":[{"name":"tiny","languages":["en"]}]}],"tts":[{"name":"piper","voices":[{"name":"amy"}]}]}`
	for name, answer := range map[string]string{
		"behind": behind("info", info),
		"within": within("info", info),
		"both":   `{"type":"info","data":{"asr":[]},"data_length":` + fmt.Sprint(len(info)) + "}\n" + info,
		"second": behind("pong", `{}`) + within("info", info),
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := scripted(t, "describe", answer)
			d, err := s.Describe(t.Context())
			if err != nil || len(d.Recognisers) != 1 || d.Recognisers[0].Name != "whisper" || len(d.Voices) != 1 || d.Voices[0].Name != "piper" {
				t.Errorf("%+v, %v", d, err)
			}
		})
	}
	for name, tt := range map[string]struct{ answer, want string }{
		"web":       {"HTTP/1.1 400 Bad Request\r\n\r\n", "does not speak"},
		"cut":       {`{"type":"info","data_length":9}` + "\n{}", "closed the connection"},
		"silent":    {"", "closed the connection"},
		"long line": {strings.Repeat("x", 70<<10), "does not speak"},
		"long data": {`{"type":"info","data_length":1000000000}` + "\n", "does not speak"},
		"negative":  {`{"type":"info","payload_length":-1}` + "\n", "does not speak"},
		"no type":   {"{}\n", "does not speak"},
		"list":      {within("info", "[]"), "does not speak"},
		"complains": {within("error", `{"text":"no such model"}`), `"no such model"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(c net.Conn) {
				wyoming.ReadEvent(c)
				io.WriteString(c, tt.answer)
			})
			if d, err := s.Describe(t.Context()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%+v, %v; want %q", d, err, tt.want)
			}
		})
	}
}

// TestUnreachable: where nobody answers, the error says where, and what to do.
func TestUnreachable(t *testing.T) {
	s := serve(t, func(net.Conn) {})
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := gone.Addr().String()
	gone.Close()
	err = wyoming.Voice{Server: wyoming.Server(address)}.Check(t.Context())
	var unreachable *remote.UnreachableError
	if !errors.As(err, &unreachable) || !strings.Contains(err.Error(), address) || unreachable.Cure() == "" {
		t.Errorf("%v", err)
	}
	if err := (wyoming.Recogniser{Server: s}).Check(t.Context()); err == nil {
		t.Error("a server that closes at once can recognise speech")
	}
}

// TestWrongServer: a voice is no recogniser.
func TestWrongServer(t *testing.T) {
	for _, check := range []func(wyoming.Server) error{
		func(s wyoming.Server) error { return wyoming.Recogniser{Server: s}.Check(t.Context()) },
		func(s wyoming.Server) error { return wyoming.Voice{Server: s}.Check(t.Context()) },
	} {
		s, _ := scripted(t, "describe", within("info", `{"wake":[{"name":"openwakeword"}]}`))
		if err := check(s); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%v", err)
		}
	}
}

// TestTranscribe: the words come at the end, or in pieces, or before the end of the sound.
func TestTranscribe(t *testing.T) {
	for name, tt := range map[string]struct {
		at, answer string
		partials   []string
	}{
		"at the end": {"audio-stop", behind("transcript", `{"text":" what time is it "}`), nil},
		"in pieces": {
			"audio-stop",
			within("transcript-start", `{}`) + within("transcript-chunk", `{"text":"what"}`) + within("transcript-chunk", `{"text":" time"}`) +
				within("transcript-stop", `{}`) + within("transcript", `{"text":"what time is it"}`),
			[]string{"what", "what time"},
		},
		"early":   {"audio-chunk", behind("transcript", `{"text":"what time is it"}`), nil},
		"unknown": {"audio-stop", behind("voice-stopped", `{}`) + behind("transcript", `{"text":"what time is it"}`), nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, got := scripted(t, tt.at, tt.answer)
			var partials []string
			text, err := wyoming.Recogniser{Server: s, Language: "en"}.Transcribe(t.Context(), bytes.NewReader(make([]byte, 8000)), func(p string) { partials = append(partials, p) })
			if err != nil || text != "what time is it" || !slices.Equal(partials, tt.partials) {
				t.Errorf("%q after %q, %v", text, partials, err)
			}
			if sent := got(); !slices.Equal(sent, []string{"transcribe", "audio-start", "audio-chunk", "audio-chunk", "audio-chunk", "audio-stop"}) {
				t.Errorf("sent %q", sent)
			}
		})
	}
}

// TestTranscribeFails: a server that goes away, or complains, is an error at once, also while
// somebody is still speaking; and so is the end of the context.
func TestTranscribeFails(t *testing.T) {
	for name, tt := range map[string]struct{ at, answer, want string }{
		"closes":    {"audio-chunk", "", "closed the connection"},
		"complains": {"audio-start", within("error", `{"text":"no model"}`), "no model"},
		"lies":      {"audio-start", within("transcript", `7`), "does not speak"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := scripted(t, tt.at, tt.answer)
			pcm, sound := io.Pipe()
			go sound.Write(make([]byte, 6400))
			defer pcm.Close()
			if text, err := (wyoming.Recogniser{Server: s}).Transcribe(t.Context(), pcm, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%q, %v; want %q", text, err, tt.want)
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		s, got := scripted(t, "", "")
		ctx, cancel := context.WithCancelCause(t.Context())
		late := errors.New("too late")
		time.AfterFunc(10*time.Millisecond, func() { cancel(late) })
		if _, err := (wyoming.Recogniser{Server: s}).Transcribe(ctx, bytes.NewReader(nil), nil); !errors.Is(err, late) {
			t.Errorf("%v", err)
		}
		got()
	})
}

// TestSynthesize: sound comes at the rate and with the channels of the server.
func TestSynthesize(t *testing.T) {
	start := behind("audio-start", `{"rate":22050,"width":2,"channels":1}`)
	for name, tt := range map[string]struct {
		answer string
		rate   int
		want   []int16
	}{
		"mono":   {start + behind("audio-chunk", `{"rate":22050,"width":2,"channels":1}`, 1, -2, 3) + behind("audio-chunk", `{"rate":22050,"width":2,"channels":1}`, 4) + behind("audio-stop", `{}`), 22050, []int16{1, -2, 3, 4}},
		"stereo": {start + behind("audio-chunk", `{"rate":48000,"width":2,"channels":2}`, 10, 20, -32768, -32768) + within("audio-stop", `{}`), 48000, []int16{15, -32768}},
		"none":   {within("audio-stop", `{}`), 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := scripted(t, "synthesize", tt.answer)
			var got []int16
			rate := 0
			err := wyoming.Voice{Server: s, Name: "amy"}.Synthesize(t.Context(), "Hello there.", func(r int, pcm []int16) error {
				rate, got = r, append(got, pcm...)
				return nil
			})
			if err != nil || rate != tt.rate || !slices.Equal(got, tt.want) {
				t.Errorf("%v at %d, %v", got, rate, err)
			}
		})
	}
	for name, tt := range map[string]struct{ answer, want string }{
		"24 bits":    {behind("audio-chunk", `{"rate":22050,"width":3,"channels":1}`, 1, 2, 3), "16 bits"},
		"no channel": {behind("audio-chunk", `{"rate":22050,"width":2,"channels":0}`, 1), "16 bits"},
		"no rate":    {behind("audio-chunk", `{"width":2,"channels":1}`, 1), "rate"},
		"mad rate":   {behind("audio-chunk", `{"rate":1,"width":2,"channels":1}`, 1), "rate"},
		"changes":    {behind("audio-chunk", `{"rate":22050,"width":2,"channels":1}`, 1) + behind("audio-chunk", `{"rate":16000,"width":2,"channels":1}`, 1), "rate"},
		"half":       {`{"type":"audio-chunk","data":{"rate":22050,"width":2,"channels":1},"payload_length":1}` + "\nx", "16 bits"},
		"closes":     {"", "closed the connection"},
		"complains":  {within("error", `{"text":"no such voice"}`), "no such voice"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := scripted(t, "synthesize", tt.answer)
			err := wyoming.Voice{Server: s}.Synthesize(t.Context(), "Hello there.", func(int, []int16) error { return nil })
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v; want %q", err, tt.want)
			}
		})
	}
	t.Run("unwanted", func(t *testing.T) {
		s, got := scripted(t, "synthesize", behind("audio-chunk", `{"rate":22050,"width":2,"channels":1}`, 1, 2, 3))
		enough := errors.New("enough")
		if err := (wyoming.Voice{Server: s}).Synthesize(t.Context(), "Hello.", func(int, []int16) error { return enough }); !errors.Is(err, enough) {
			t.Errorf("%v", err)
		}
		got() // the connection is closed, so that the server need not say the rest
	})
}

// FuzzReadEvent: no bytes make it fail but with an error, and what is written is read again.
func FuzzReadEvent(f *testing.F) {
	f.Add([]byte(behind("audio-chunk", `{"rate":16000,"width":2,"channels":1}`, 1, 2)), []byte("x"))
	f.Add([]byte(within("transcript", `{"text":"a"}`)), []byte{})
	f.Add([]byte(`{"type":"x","data_length":-1,"payload_length":99999999999}`+"\n"), []byte{0})
	f.Fuzz(func(t *testing.T, b, payload []byte) {
		e, err := wyoming.ReadEvent(bytes.NewReader(b))
		if err == nil {
			var v struct{ Text string }
			e.Decode(&v)
		}
		written := wyoming.AppendEvent(nil, "audio-chunk", map[string]int{"rate": len(b)}, payload)
		var v struct{ Rate int }
		if e, err := wyoming.ReadEvent(bytes.NewReader(written)); err != nil || e.Type != "audio-chunk" || !bytes.Equal(e.Payload, payload) || e.Decode(&v) != nil || v.Rate != len(b) {
			t.Fatalf("%q was read as %+v, %v", written, e, err)
		}
	})
}
