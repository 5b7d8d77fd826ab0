// Package openaispeech hears and speaks by servers that have OpenAI's protocol for sound, such as
// speaches, Kokoro-FastAPI, LocalAI and OpenAI itself. [Recogniser] and [Voice] are engines of
// package remote.
//
// Nothing is taken from the environment but a proxy, and that never for this machine. The server
// cannot lead us to another one.
//
// What happens when a reader is slow: an utterance is sent when it is complete; sound waits in the
// connection.
package openaispeech

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"time"

	"earshot/internal/audio"
	"earshot/internal/field"
	"earshot/models/remote"
)

const (
	// Rate is that of sound in the form pcm, in samples per second.
	Rate = 24000

	connecting = 3 * time.Second
	answering  = 5 * time.Second // for the list of models

	maxUtterance = 4 << 20 // bytes; package stt keeps half a minute, which is one million
	maxAnswer    = 1 << 20 // bytes of what is no sound
)

// A Server is a server, and what it asks for.
type Server struct {
	URL string // such as http://127.0.0.1:8000/v1
	Key field.Secret
}

// ParseURL returns the address of a server: one that begins with http:// or https://. Without a path,
// /v1 is meant.
func ParseURL(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%.100q is not the address of a server; write one such as http://127.0.0.1:8000/v1", address)
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1"
	}
	u.Path = strings.TrimRight(u.Path, "/") + "/"
	return u, nil
}

// Host returns the host and the port of the server.
func (s Server) Host() string {
	u, err := ParseURL(s.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

// Local reports whether the server is certainly on this machine.
func (s Server) Local() bool {
	u, err := ParseURL(s.URL)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// A Recogniser is a server that recognises speech.
type Recogniser struct {
	Server
	Model    string
	Language string // such as "en"; "" is whatever the server hears
}

// A Voice is a server that speaks.
type Voice struct {
	Server
	Model string
	Name  string  // of the voice
	Speed float64 // 1 is the voice's own
}

// Check reports why the server cannot be used, as far as that can be known without using it: it asks for
// the list of models, which most servers have.
func (s Server) Check(ctx context.Context) error {
	ctx, stop := context.WithTimeoutCause(ctx, answering, fmt.Errorf("the server at %s has not answered within %v", s.Host(), answering))
	defer stop()
	err := s.fetch(ctx, "models", "", nil, &struct{}{})
	if refused := (*RefusalError)(nil); errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		return nil // it does not list them
	}
	return explain(ctx, s, err)
}

// Transcribe recognises the sound that pcm holds, little-endian samples at [audio.Rate]. It implements
// [remote.Recogniser], and knows nothing before the end.
func (r Recogniser) Transcribe(ctx context.Context, pcm io.Reader, _ func(string)) (string, error) {
	sound, err := io.ReadAll(io.LimitReader(pcm, maxUtterance+1))
	if err != nil {
		return "", err
	}
	if len(sound) > maxUtterance {
		return "", fmt.Errorf("an utterance of over %d bytes", maxUtterance)
	}
	var form bytes.Buffer // which takes everything
	w := multipart.NewWriter(&form)
	file, _ := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="speech.wav"`}, "Content-Type": {"audio/wav"},
	})
	file.Write(append(wavHeader(len(sound)), sound...))
	for _, field := range [][2]string{{"language", r.Language}, {"model", r.Model}, {"response_format", "json"}} {
		if field[1] != "" {
			w.WriteField(field[0], field[1])
		}
	}
	w.Close()
	var answer struct {
		Text *string `json:"text"`
	}
	if err := r.fetch(ctx, "audio/transcriptions", w.FormDataContentType(), form.Bytes(), &answer); err != nil {
		return "", explain(ctx, r.Server, err)
	}
	if answer.Text == nil {
		return "", errProtocol
	}
	return strings.TrimSpace(*answer.Text), nil
}

// errProtocol says that a server is not what it should be.
var errProtocol = errors.New("its answer does not follow OpenAI's protocol for sound")

// wavHeader returns what stands before so many bytes of samples in a file.
func wavHeader(size int) []byte {
	b := make([]byte, 0, 44)
	b = append(b, "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(36+size))
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, 1) // plain samples
	b = binary.LittleEndian.AppendUint16(b, 1) // mono
	b = binary.LittleEndian.AppendUint32(b, audio.Rate)
	b = binary.LittleEndian.AppendUint32(b, 2*audio.Rate)
	b = binary.LittleEndian.AppendUint16(b, 2)
	b = binary.LittleEndian.AppendUint16(b, 16)
	b = append(b, "data"...)
	return binary.LittleEndian.AppendUint32(b, uint32(size))
}

// Synthesize says a text; sound receives its samples, at [Rate]. They are valid until it returns. It
// implements [remote.Voice].
func (v Voice) Synthesize(ctx context.Context, text string, sound func(rate int, pcm []int16) error) error {
	ask := map[string]any{"input": text, "voice": v.Name, "response_format": "pcm"}
	if v.Model != "" {
		ask["model"] = v.Model
	}
	if v.Speed != 0 && v.Speed != 1 {
		ask["speed"] = v.Speed
	}
	body, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	resp, err := v.ask(ctx, "audio/speech", "application/octet-stream", "application/json", body)
	if err != nil {
		return explain(ctx, v.Server, err)
	}
	defer resp.Body.Close()
	if kind := resp.Header.Get("Content-Type"); strings.HasPrefix(kind, "application/json") || strings.HasPrefix(kind, "text/") {
		return errProtocol
	}
	return explain(ctx, v.Server, play(resp.Body, sound))
}

// play passes on samples as they come.
func play(body io.Reader, sound func(rate int, pcm []int16) error) error {
	bytes, pcm := make([]byte, 2*Rate/10), make([]int16, Rate/10)
	half := 0 // bytes of a sample that is not complete
	for {
		n, err := body.Read(bytes[half:])
		n += half
		samples := audio.DecodePCM(pcm[:n/2], bytes[:n/2*2])
		if samples > 0 {
			if err := sound(Rate, pcm[:samples]); err != nil {
				return err
			}
		}
		half = copy(bytes, bytes[n/2*2:n])
		switch {
		case errors.Is(err, io.EOF) && half > 0:
			return errProtocol
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// ask sends a request, with a body if it has a kind, and returns an answer that is no refusal. It does
// not say what machine this is.
func (s Server) ask(ctx context.Context, path, accept, kind string, body []byte) (*http.Response, error) {
	base, err := ParseURL(s.URL)
	if err != nil {
		return nil, err
	}
	method, header := http.MethodGet, http.Header{"Accept": {accept}, "User-Agent": {"earshot"}}
	if kind != "" {
		method, header["Content-Type"] = http.MethodPost, []string{kind}
	}
	if s.Key != "" {
		header.Set("Authorization", "Bearer "+s.Key.Reveal())
	}
	r, err := http.NewRequestWithContext(ctx, method, base.String()+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = header
	client := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("it redirects elsewhere") },
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: connecting}).DialContext,
			TLSHandshakeTimeout:    connecting,
			MaxResponseHeaderBytes: 64 << 10,
			DisableCompression:     true,
			DisableKeepAlives:      true, // one connection for each utterance, which closing cancels
		},
	}
	resp, err := client.Do(r)
	if err == nil && resp.StatusCode >= http.StatusMultipleChoices {
		defer resp.Body.Close()
		return nil, newRefusal(resp)
	}
	return resp, err
}

// fetch sends a request, and parses the answer.
func (s Server) fetch(ctx context.Context, path, kind string, body []byte, into any) error {
	resp, err := s.ask(ctx, path, "application/json", kind, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		return errProtocol
	}
	return json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(into)
}

// A RefusalError says that a server refuses what it is asked for.
type RefusalError struct {
	Status int
	Text   string // its own words; empty if it has none
}

// Error says what is wrong.
func (e *RefusalError) Error() string {
	text := fmt.Sprintf("the server refuses with %d %s", e.Status, http.StatusText(e.Status))
	if e.Text != "" {
		text += fmt.Sprintf(": %.200q", e.Text)
	}
	return text
}

// Cure says what to do.
func (e *RefusalError) Cure() string {
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "set the api_key that the server asks for"
	case http.StatusNotFound, http.StatusBadRequest, http.StatusUnprocessableEntity:
		return "set the model and the voice to ones that the server has"
	}
	return "look into the log of the server"
}

// newRefusal reads why a server refuses.
func newRefusal(resp *http.Response) *RefusalError {
	e := &RefusalError{Status: resp.StatusCode}
	page, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	var answer struct {
		Error  json.RawMessage `json:"error"`
		Detail json.RawMessage `json:"detail"`
	}
	if err != nil || json.Unmarshal(page, &answer) != nil {
		return e
	}
	for _, said := range []json.RawMessage{answer.Error, answer.Detail} {
		var whole struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(said, &e.Text) == nil && e.Text != "" {
			break
		}
		if json.Unmarshal(said, &whole) == nil && whole.Message != "" {
			e.Text = whole.Message
			break
		}
	}
	return e
}

// explain returns what an error of a request means.
func explain(ctx context.Context, s Server, err error) error {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, wrong := errors.AsType[*json.UnmarshalTypeError](err)
	if syntax || wrong {
		return errProtocol
	}
	return remote.Explain(ctx, s.Host(), err)
}
