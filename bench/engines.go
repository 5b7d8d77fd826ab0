package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/internal/audio"
	speech "earshot/models/engine"
	"earshot/models/neural"
	"earshot/models/stt"
	"earshot/models/tts"
)

const (
	// askedSound is how much sound is recognised, and askedText what is said.
	askedSound = time.Second
	askedText  = "The tide comes in at six."

	// mostShare is the most that earshot may add to an engine, at p95, in ms.
	mostShare = 15
)

// engines measures what earshot adds to the time of an engine that recognises speech or speaks: from
// the last sample of an utterance to its text, and from a text to its first sound. The engines are
// servers of no cost, which know at once what to answer; the bare thing is the same request of a
// plain client.
func engines(ctx context.Context, b bench) (rows []Row, err error) {
	w, err := serveWyoming()
	if err != nil {
		return nil, err
	}
	defer w.close()
	o := serveSpeech()
	defer o.Close()
	set := speech.DefaultConfig()
	for _, of := range []struct {
		name  string
		set   func(*speech.Config)
		hear  round // the plain client
		speak round
	}{
		{"Wyoming", func(c *speech.Config) {
			c.Hear.Engine, c.Hear.Wyoming.Address = speech.Wyoming, w.Addr().String()
			c.Say.Engine, c.Say.Wyoming.Address = speech.Wyoming, w.Addr().String()
		}, w.hear, w.speak},
		{"OpenAI's protocol", func(c *speech.Config) {
			c.Hear.Engine, c.Hear.OpenAI.URL = speech.OpenAI, o.URL+"/v1"
			c.Say.Engine, c.Say.OpenAI.URL = speech.OpenAI, o.URL+"/v1"
		}, o.hear, o.speak},
	} {
		c := set
		of.set(&c)
		hear, err := b.hearBy(ctx, of.name, c.Recognisers(nil, neural.Library{}), of.hear)
		if err != nil {
			return rows, err
		}
		say, err := b.speakBy(ctx, of.name, c.Voices(nil), of.speak)
		if err != nil {
			return rows, err
		}
		rows = append(rows, hear, say)
	}
	return rows, nil
}

// hearBy measures a recogniser.
func (b bench) hearBy(ctx context.Context, name string, by []speech.Engine, bare round) (Row, error) {
	r := stt.New(stt.Config{Dial: by[0].Dial, Log: silent})
	ctx, stop := beside(ctx, r.Run)
	pcm := make([]float64, inSamples(askedSound))
	ours := func() ([]float64, error) {
		took, err := recogniseOnce(r, pcm)
		return []float64{millisOf(took)}, err
	}
	_, err := hears(ctx, r, pcm) // once it is there
	var row Row
	if err == nil {
		row, err = b.beyond(name+": last sample → text", ours, bare)
	}
	return row, errors.Join(err, stop())
}

// recogniseOnce returns how long the text takes after the last sample.
func recogniseOnce(r *stt.Recogniser, pcm []float64) (time.Duration, error) {
	got := make(chan stt.Result, 1)
	s := r.Begin(func(r stt.Result) {
		if r.Final {
			got <- r
		}
	})
	var f audio.Frame
	for range len(pcm) / len(f.PCM) {
		s.Feed(&f)
	}
	time.Sleep(20 * time.Millisecond) // a frame ago, all before the last was sent
	at := time.Now()
	s.End()
	res, err := await("the utterance was recognised", got)
	if err == nil && res.Text != heardWords {
		err = fmt.Errorf("it heard %d bytes, not %q; %w", len(res.Text), heardWords, errors.Join(res.Err))
	}
	return time.Since(at), err
}

// heardWords is what a server of no cost hears.
const heardWords = earshot.Text("one two three")

// speakBy measures a voice.
func (b bench) speakBy(ctx context.Context, name string, by []speech.Engine, bare round) (Row, error) {
	s := tts.New(tts.Config{Dial: by[0].Dial, Speed: 1, Log: silent})
	ctx, stop := beside(ctx, s.Run)
	ours := func() ([]float64, error) {
		at := time.Now()
		for c, err := range s.Say(ctx, askedText) {
			if err != nil {
				return nil, err
			}
			if len(c.PCM) > 0 {
				return []float64{millisOf(time.Since(at))}, nil
			}
		}
		return nil, errors.New("a voice said nothing")
	}
	row, err := b.beyond(name+": text → first sound", ours, bare)
	return row, errors.Join(err, stop())
}

// beyond measures ours beside the bare thing, with the goal.
func (b bench) beyond(name string, ours, bare round) (Row, error) {
	o, p, at95, err := b.compare95(ours, bare)
	return row(name, "ms", o, p, "").goal("p95", at95, mostShare), err
}

func millisOf(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// A wyomingServer answers at once.
type wyomingServer struct {
	net.Listener
	serving sync.WaitGroup
}

func serveWyoming() (*wyomingServer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &wyomingServer{Listener: l}
	s.serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.serving.Go(func() {
				defer c.Close()
				wyomingAnswers(c)
			})
		}
	})
	return s, nil
}

func (s *wyomingServer) close() {
	s.Close()
	s.serving.Wait()
}

// wyomingAnswers answers what comes from a client, until it leaves.
func wyomingAnswers(c net.Conn) {
	in := bufio.NewReader(c)
	for {
		kind, err := readWyoming(in)
		if err != nil {
			return
		}
		switch kind {
		case "describe":
			writeWyoming(c, "info", map[string]any{"asr": []any{map[string]string{"name": "no cost"}}, "tts": []any{map[string]string{"name": "no cost"}}}, nil)
		case "audio-stop":
			writeWyoming(c, "transcript", map[string]string{"text": string(heardWords)}, nil)
		case "synthesize":
			format := map[string]int{"rate": audio.Rate, "width": 2, "channels": 1}
			writeWyoming(c, "audio-start", format, nil)
			writeWyoming(c, "audio-chunk", format, make([]byte, 2*audio.Rate/10))
			writeWyoming(c, "audio-stop", nil, nil)
		}
	}
}

// readWyoming reads a message, and returns its kind.
func readWyoming(r *bufio.Reader) (kind string, err error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return "", err
	}
	var head struct {
		Type    string `json:"type"`
		Data    int    `json:"data_length"`
		Payload int    `json:"payload_length"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return "", err
	}
	_, err = r.Discard(head.Data + head.Payload)
	return head.Type, err
}

func writeWyoming(w io.Writer, kind string, data any, payload []byte) error {
	head, err := json.Marshal(map[string]any{"type": kind, "data": data, "payload_length": len(payload)})
	if err != nil {
		return err
	}
	_, err = w.Write(append(append(head, '\n'), payload...))
	return err
}

// hear asks as a plain client.
func (s *wyomingServer) hear() ([]float64, error) {
	return s.bare("transcript", func(c net.Conn) (time.Time, error) {
		format := map[string]int{"rate": audio.Rate, "width": 2, "channels": 1}
		err := errors.Join(writeWyoming(c, "transcribe", nil, nil), writeWyoming(c, "audio-start", format, nil))
		for range askedSound / (100 * time.Millisecond) {
			err = errors.Join(err, writeWyoming(c, "audio-chunk", format, make([]byte, 2*audio.Rate/10)))
		}
		at := time.Now()
		return at, errors.Join(err, writeWyoming(c, "audio-stop", nil, nil))
	})
}

// speak asks as a plain client. Its connection counts, as ours does.
func (s *wyomingServer) speak() ([]float64, error) {
	at := time.Now()
	return s.bare("audio-chunk", func(c net.Conn) (time.Time, error) {
		return at, writeWyoming(c, "synthesize", map[string]string{"text": askedText}, nil)
	})
}

// bare returns how long it takes from when ask says until a message of some kind comes.
func (s *wyomingServer) bare(kind string, ask func(net.Conn) (time.Time, error)) ([]float64, error) {
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	at, err := ask(c)
	in := bufio.NewReader(c)
	for got := ""; err == nil && got != kind; {
		got, err = readWyoming(in)
	}
	return []float64{millisOf(time.Since(at))}, err
}

// A speechServer has OpenAI's protocol for sound, and answers at once.
type speechServer struct {
	*httptest.Server
}

func serveSpeech() *speechServer {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"object":"list","data":[]}`)
	})
	mux.HandleFunc("POST /v1/audio/transcriptions", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"text":%q}`, string(heardWords))
	})
	mux.HandleFunc("POST /v1/audio/speech", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "audio/pcm")
		w.Write(make([]byte, 4800))
	})
	return &speechServer{httptest.NewServer(mux)}
}

// hear asks as a plain client.
func (s *speechServer) hear() ([]float64, error) {
	at := time.Now()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	file, err := form.CreateFormFile("file", "speech.wav")
	if err == nil {
		_, err = file.Write(make([]byte, 2*inSamples(askedSound)))
	}
	if err := errors.Join(err, form.WriteField("model", "whisper-1"), form.Close()); err != nil {
		return nil, err
	}
	return s.bare(at, "/v1/audio/transcriptions", form.FormDataContentType(), &body)
}

// speak asks as a plain client.
func (s *speechServer) speak() ([]float64, error) {
	return s.bare(time.Now(), "/v1/audio/speech", "application/json", strings.NewReader(`{"input":"`+askedText+`"}`))
}

// bare returns how long it takes from at until the answer begins.
func (s *speechServer) bare(at time.Time, path, kind string, body io.Reader) ([]float64, error) {
	resp, err := s.Client().Post(s.URL+path, kind, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if _, err := resp.Body.Read(make([]byte, 1)); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	took := time.Since(at)
	_, err = io.Copy(io.Discard, resp.Body)
	return []float64{millisOf(took)}, err
}
