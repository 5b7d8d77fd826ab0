package openaispeech_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"earshot/internal/audio"
	"earshot/internal/testkit"
	"earshot/models/openaispeech"
	"earshot/models/remote"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs a server until the test ends.
func serve(t *testing.T, handle http.HandlerFunc) openaispeech.Server {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(func() { testkit.Finish(t, testkit.Patience, "the end of the server", s.Close) })
	return openaispeech.Server{URL: s.URL, Key: "secret"}
}

func TestParseURL(t *testing.T) {
	for _, tt := range []struct {
		address, want string // "" is refused
		local         bool
	}{
		{"http://127.0.0.1:8000", "http://127.0.0.1:8000/v1/", true},
		{"http://localhost:8000/", "http://localhost:8000/v1/", true},
		{"https://[::1]/openai/v1/", "https://[::1]/openai/v1/", true},
		{"https://api.example.org/v1", "https://api.example.org/v1/", false},
		{"127.0.0.1:8000", "", false},
		{"ftp://a/", "", false},
		{"http:///v1", "", false},
		{"http://user:password@a/", "", false},
		{"http://a/?key=x", "", false},
		{"", "", false},
		{"http://a b/", "", false},
	} {
		u, err := openaispeech.ParseURL(tt.address)
		if got := fmt.Sprint(u); tt.want != "" && got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q: %v, %v", tt.address, u, err)
		}
		if err == nil && (openaispeech.Server{URL: tt.address}).Local() != tt.local {
			t.Errorf("%q is local: %v", tt.address, !tt.local)
		}
	}
}

// TestTranscribe: an utterance is sent as a file of sound, and its words come back.
func TestTranscribe(t *testing.T) {
	pcm := []int16{1, -2, 3, 30000}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		f, head, err := r.FormFile("file")
		if err != nil || r.URL.Path != "/v1/audio/transcriptions" || r.Header.Get("Authorization") != "Bearer secret" || r.UserAgent() != "earshot" || r.Header.Get("X-Stainless-Os") != "" {
			t.Errorf("asked %s with %v, %v", r.URL, r.Header, err)
			return
		}
		b, err := io.ReadAll(f)
		got := make([]int16, len(pcm))
		if err != nil || len(b) != 44+2*len(pcm) || audio.DecodePCM(got, b[44:]) != len(pcm) || !slices.Equal(got, pcm) || binary.LittleEndian.Uint32(b[24:]) != audio.Rate || head.Filename != "speech.wav" {
			t.Errorf("a file %q of %d bytes, %v", head.Filename, len(b), err)
		}
		if r.FormValue("model") != "whisper" || r.FormValue("language") != "en" || r.FormValue("response_format") != "json" {
			t.Errorf("asked for %v", r.Form)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"text":" what time is it "}`)
	})
	text, err := openaispeech.Recogniser{Server: s, Model: "whisper", Language: "en"}.Transcribe(t.Context(), bytes.NewReader(audio.AppendPCM(nil, pcm)), nil)
	if err != nil || text != "what time is it" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestSynthesize: samples come as the server sends them, whole, in whatever pieces.
func TestSynthesize(t *testing.T) {
	want := []int16{1, -2, 3, 30000, 5}
	for piece := 1; piece <= 10; piece++ {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			var ask struct {
				Input, Model, Voice string
				Format              string `json:"response_format"`
				Speed               float64
			}
			if err := json.NewDecoder(r.Body).Decode(&ask); err != nil || ask.Input != "Hello." || ask.Model != "kokoro" || ask.Voice != "af_heart" || ask.Format != "pcm" || ask.Speed != 1.2 {
				t.Errorf("asked for %+v, %v", ask, err)
			}
			w.Header().Set("Content-Type", "audio/pcm")
			for some := range slices.Chunk(audio.AppendPCM(nil, want), piece) {
				w.Write(some)
				w.(http.Flusher).Flush()
			}
		})
		var got []int16
		err := openaispeech.Voice{Server: s, Model: "kokoro", Name: "af_heart", Speed: 1.2}.Synthesize(t.Context(), "Hello.", func(rate int, pcm []int16) error {
			if rate != openaispeech.Rate {
				t.Errorf("at %d", rate)
			}
			got = append(got, pcm...)
			return nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("in pieces of %d: %v, %v", piece, got, err)
		}
	}
}

// TestUnwantedText: who wants no more of a text says so, and the connection is closed.
func TestUnwantedText(t *testing.T) {
	ended := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // or the server does not notice that the connection is closed
		w.Header().Set("Content-Type", "audio/pcm")
		w.Write([]byte{1, 2, 3, 4})
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(ended)
	})
	enough := errors.New("enough")
	if err := (openaispeech.Voice{Server: s}).Synthesize(t.Context(), "Hello.", func(int, []int16) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("%v", err)
	}
	testkit.Receive(t, testkit.Patience, "the end of the request", ended)
}

// TestFaults: whatever a server does wrong is said, never with the key, and with what to do where that
// is known.
func TestFaults(t *testing.T) {
	answer := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	const protocol = "does not follow OpenAI's protocol"
	for name, tt := range map[string]struct {
		handle            http.HandlerFunc
		check, hear, says string // what is said; "" is nothing
		cure              string
	}{
		"web page":   {answer(200, "text/html", "<html>hello</html>"), protocol, protocol, protocol, ""},
		"no json":    {answer(200, "application/json", "hello"), protocol, protocol, protocol, ""},
		"other json": {answer(200, "application/json", `{"words":[]}`), "", protocol, protocol, ""},
		"a list":     {answer(200, "application/json", "[]"), protocol, protocol, protocol, ""},
		"empty":      {answer(200, "application/json", ""), "closed the connection", "closed the connection", protocol, ""},
		"no key":     {answer(401, "application/json", `{"error":{"message":"no such key"}}`), "no such key", "no such key", "no such key", "api_key"},
		"no model":   {answer(404, "application/json", `{"detail":"model x is not there"}`), "", "model x is not there", "model x is not there", "model"},
		"wrong":      {answer(500, "text/plain", "secret things"), "500", "500", "500", "log"},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://example.org/", http.StatusTemporaryRedirect)
		}, "redirects", "redirects", "redirects", ""},
		"closes": {func(w http.ResponseWriter, r *http.Request) {
			c, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				c.Close()
			}
		}, "closed the connection", "closed the connection", "closed the connection", ""},
		"half a sample": {answer(200, "audio/pcm", "abc"), protocol, protocol, protocol, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, tt.handle)
			_, heard := openaispeech.Recogniser{Server: s}.Transcribe(t.Context(), strings.NewReader("abcd"), nil)
			for what, is := range map[string]struct {
				err  error
				want string
			}{
				"check": {openaispeech.Voice{Server: s}.Check(t.Context()), tt.check},
				"hear":  {heard, tt.hear},
				"say":   {openaispeech.Voice{Server: s}.Synthesize(t.Context(), "Hello.", func(int, []int16) error { return nil }), tt.says},
			} {
				if (is.err == nil) != (is.want == "") || is.err != nil && !strings.Contains(is.err.Error(), is.want) {
					t.Errorf("%s: %v; want %q", what, is.err, is.want)
				}
				if is.err != nil && strings.Contains(is.err.Error(), "secret") {
					t.Errorf("%s: %v tells a secret", what, is.err)
				}
				if c, ok := errors.AsType[interface {
					error
					Cure() string
				}](is.err); tt.cure != "" && is.err != nil && (!ok || !strings.Contains(c.Cure(), tt.cure)) {
					t.Errorf("%s: %v has no cure with %q", what, is.err, tt.cure)
				}
			}
		})
	}
}

// TestUnreachable: where nobody answers, the error says where.
func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	err = openaispeech.Recogniser{Server: openaispeech.Server{URL: "http://" + address}}.Check(t.Context())
	var unreachable *remote.UnreachableError
	if !errors.As(err, &unreachable) || !strings.Contains(err.Error(), address) {
		t.Errorf("%v", err)
	}
}

// TestStopped: the end of the context ends each request at once, and is the error.
func TestStopped(t *testing.T) {
	for _, what := range []string{"check", "hear", "say"} {
		t.Run(what, func(t *testing.T) {
			ctx, stop := context.WithCancelCause(t.Context())
			why := errors.New("stopped by hand")
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				stop(why)
				<-r.Context().Done()
			})
			var err error
			switch what {
			case "check":
				err = openaispeech.Voice{Server: s}.Check(ctx)
			case "hear":
				_, err = openaispeech.Recogniser{Server: s}.Transcribe(ctx, strings.NewReader("ab"), nil)
			case "say":
				err = openaispeech.Voice{Server: s}.Synthesize(ctx, "Hello.", func(int, []int16) error { return nil })
			}
			if !errors.Is(err, why) {
				t.Error(err)
			}
		})
	}
}
