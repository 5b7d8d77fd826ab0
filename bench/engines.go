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
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/models/catalog"
	speech "earshot/models/engine"
	"earshot/models/modeltest"
	"earshot/models/neural"
	"earshot/models/stt"
	"earshot/models/tts"
	"earshot/models/voiceprint/cast"
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
// servers of no cost, which know at once what to answer, and beside them the bare thing is the same
// request of a plain client; and models of no cost in the real helper.
func engines(ctx context.Context, b bench) (rows []Row, err error) {
	w, err := serveWyoming()
	if err != nil {
		return nil, err
	}
	defer w.close()
	o := serveSpeech()
	defer o.Close()
	set := speech.DefaultConfig()
	silence := make([]float64, inSamples(askedSound))
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
		hear, err := b.hearBy(ctx, of.name, c.Recognisers(nil, neural.Library{})[0], silence, of.hear)
		if err != nil {
			return rows, err
		}
		say, err := b.speakBy(ctx, of.name, c.Voices(nil, neural.Library{})[0], of.speak)
		if err != nil {
			return rows, err
		}
		rows = append(rows, hear, say)
	}
	if unwanted("voice") || unwanted("neural") {
		return append(rows, Row{Name: "neural models", Note: "not measured: EARSHOT_WITHOUT has voice or neural"}), nil
	}
	models, err := b.neuralModels(ctx)
	return append(rows, models...), err
}

// neuralModels measures the models of no cost in the real helper, and what one of 70 MB needs there.
func (b bench) neuralModels(ctx context.Context) (rows []Row, err error) {
	if _, err := b.build(ctx, helper.NeuralProgram, "earshot/cmd/"+helper.NeuralProgram, "CGO_ENABLED=1"); err != nil {
		return nil, err
	}
	if err := os.Setenv("PATH", b.bin()+string(os.PathListSeparator)+os.Getenv("PATH")); err != nil { // where it is looked for
		return nil, err
	}
	set := speech.DefaultConfig()
	set.Hear.Engine, set.Say.Engine = speech.Neural, speech.Neural
	for _, m := range []struct {
		model *string
		role  catalog.Role
		kind  catalog.Kind
		write func(folder string) error
	}{
		{&set.Hear.Neural.Model, catalog.Hear, catalog.NemoCTC, func(folder string) error { return modeltest.WriteCTC(folder) }},
		{&set.Say.Neural.Model, catalog.Say, catalog.Piper, modeltest.WritePiperSet},
	} {
		if *m.model, err = b.model(string(m.role), m.role, m.kind, m.write); err != nil {
			return nil, err
		}
	}
	library := neural.Library{Dir: b.dir, Log: silent}
	tones := words64(modeltest.Tones(string(heardWords)))
	hear, err := b.hearBy(ctx, "a neural model", set.Recognisers(nil, library)[0], tones, nil)
	if err != nil {
		return nil, err
	}
	say, err := b.speakBy(ctx, "a neural model", set.Voices(nil, library)[0], nil)
	if err != nil {
		return nil, err
	}
	const matrices = 4
	if set.Hear.Neural.Model, err = b.model("heavy", catalog.Hear, catalog.NemoCTC, func(folder string) error { return modeltest.WriteHeavyCTC(folder, matrices) }); err != nil {
		return nil, err
	}
	heavy, err := b.heavyModel(ctx, set.Recognisers(nil, library)[0], tones)
	return append([]Row{hear, say}, heavy...), err
}

// model writes a model into a folder, describes it there, and returns the folder.
func (b bench) model(name string, role catalog.Role, kind catalog.Kind, write func(folder string) error) (folder string, err error) {
	folder = filepath.Join(b.dir, "model-"+name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	return folder, errors.Join(write(folder), modeltest.Describe(folder, role, kind))
}

// words64 returns samples as the bench computes with them.
func words64(pcm []int16) []float64 {
	out := make([]float64, len(pcm))
	for i, s := range pcm {
		out[i] = float64(s)
	}
	return out
}

// heavyModel measures what the process of a recogniser needs while somebody speaks, in real time.
func (b bench) heavyModel(ctx context.Context, by speech.Engine, pcm []float64) (rows []Row, err error) {
	r := stt.New(stt.Config{Dial: by.Dial, Log: silent})
	ctx, stop := beside(ctx, r.Run)
	defer func() { err = errors.Join(err, stop()) }()
	if _, err := hears(ctx, r, pcm); err != nil {
		return nil, err
	}
	self := process{Cmd: &exec.Cmd{Process: &os.Process{Pid: os.Getpid()}}}
	all, err := self.tree()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(pid int) bool { return strings.HasPrefix(nameOf(pid), helper.NeuralProgram) })
	if i < 0 {
		return nil, errors.New("the helper of neural models does not run")
	}
	before, err := busyOf(all[i])
	if err != nil {
		return nil, err
	}
	began, next := time.Now(), time.NewTicker(20*time.Millisecond)
	defer next.Stop()
	for range min(b.rounds, 5) {
		s := r.Begin(func(stt.Result) {})
		for _, f := range cast.Frames(pcm) {
			<-next.C
			s.Feed(&f)
		}
		s.End()
	}
	lasted := time.Since(began)
	after, err := busyOf(all[i])
	if err != nil {
		return nil, err
	}
	rss, _, err := memoryOf(all[i])
	share := 100 * float64(after-before) / float64(lasted)
	return []Row{
		{Name: "a neural model of 70 MB hears: CPU of its process", Unit: "%", Ours: Spread{share, share, share}},
		{Name: "a neural model of 70 MB hears: memory of its process (RSS)", Unit: "MB", Ours: Spread{rss, rss, rss}},
	}, err
}

// hearBy measures a recogniser.
func (b bench) hearBy(ctx context.Context, name string, by speech.Engine, pcm []float64, bare round) (Row, error) {
	r := stt.New(stt.Config{Dial: by.Dial, Log: silent})
	ctx, stop := beside(ctx, r.Run)
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
	for _, f := range cast.Frames(pcm) {
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
func (b bench) speakBy(ctx context.Context, name string, by speech.Engine, bare round) (Row, error) {
	s := tts.New(tts.Config{Dial: by.Dial, Speed: 1, Log: silent})
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

// beyond measures ours beside the bare thing, if there is one, with the goal.
func (b bench) beyond(name string, ours, bare round) (Row, error) {
	if bare == nil {
		o, _, at95, err := b.compare95(ours, ours)
		return Row{Name: name, Unit: "ms", Ours: o}.goal("p95", at95, mostShare), err
	}
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
