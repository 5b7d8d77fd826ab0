package sense_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/testkit"
	"earshot/models/catalog"
	"earshot/models/engine"
	"earshot/models/hear"
	"earshot/models/modeltest"
	"earshot/models/neural"
	"earshot/models/sense"
	"earshot/models/wire"
)

// installed writes the sets of a voice and of a turn, made by modeltest, and returns their folders.
func installed(t *testing.T, listed bool) wire.OpenSense {
	dir := t.TempDir()
	is := wire.OpenSense{VAD: filepath.Join(dir, "silero"), Turn: filepath.Join(dir, "smart-turn")}
	for _, err := range []error{
		modeltest.WriteSilero(is.VAD, listed), modeltest.Describe(is.VAD, catalog.VAD, catalog.Silero),
		modeltest.WriteSmartTurn(is.Turn), modeltest.Describe(is.Turn, catalog.Turn, catalog.SmartTurn),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return is
}

// program returns the path of the real helper.
func program(t *testing.T) string {
	return filepath.Join(helpertest.Build(t, helper.NeuralProgram), helper.NeuralProgram)
}

// A real is the real helper with sets, for a test.
type real struct {
	*sense.Listener
	t       *testing.T
	process chan *helper.Process // of each that was started
	said    time.Duration
	sensed  hear.Sensed
	turn    float64
}

func newReal(t *testing.T, sets wire.OpenSense) *real {
	r, path := &real{t: t, process: make(chan *helper.Process, 9)}, program(t)
	s := sense.New(sense.Config{Sets: sets, Log: quiet, Dial: func() (helper.Link, error) {
		p, err := helper.Start(helper.Command{Name: helper.NeuralProgram, Path: path, Args: []string{"sense"}, Log: quiet})
		if err != nil {
			return nil, err
		}
		r.process <- p
		return p, nil
	}})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			s.Run(ctx)
		}
	})
	r.Listener = s.Listen()
	t.Cleanup(func() {
		r.Close()
		stop()
		testkit.Finish(t, testkit.Patience, "the end of the helper", running.Wait)
	})
	return r
}

// play plays frames of a tone, or of silence that has lasted for still.
func (r *real) play(frames int, voice bool, still time.Duration) {
	f := new(audio.Frame)
	for i := range f.PCM {
		if voice {
			f.PCM[i] = int16(6000 * (i%40 - 20) / 20)
		}
	}
	for range frames {
		if r.said += audio.Time; !voice && still == 0 {
			r.said = 0
		}
		r.sensed, r.turn = r.Step(f, r.said, still)
	}
}

// await plays frames until ok.
func (r *real) await(voice bool, still time.Duration, what string, ok func() bool) {
	testkit.Await(r.t, testkit.Patience, what, func() bool {
		r.play(1, voice, still)
		return ok()
	})
}

// TestReal: the real helper says of each frame whether there is a voice, and answers when it is silent.
// Killed in between, it is back, and does so again.
func TestReal(t *testing.T) {
	for name, listed := range map[string]bool{"scalar": false, "list": true} {
		t.Run(name, func(t *testing.T) {
			r := newReal(t, installed(t, listed))
			for range 2 {
				p := testkit.Receive(t, testkit.Patience, "a helper", r.process)
				r.await(false, 0, "a frame without a voice", func() bool { return r.sensed.None != 0 })
				r.await(true, 0, "a frame with a voice", func() bool { return r.sensed.Voice != 0 })
				r.play(50, true, 0)
				r.play(15, false, 100*time.Millisecond)
				r.await(false, 200*time.Millisecond, "an answer", func() bool { return r.turn != hear.Undecided })
				if !(r.turn > 0.8) {
					t.Errorf("after a voice that ended the answer is %v", r.turn)
				}
				if p, err := os.FindProcess(p.Pid()); err == nil {
					p.Kill()
				}
			}
		})
	}
}

// TestInstalled: sets that are installed are tried, and then used.
func TestInstalled(t *testing.T) {
	t.Setenv("PATH", filepath.Dir(program(t))+string(filepath.ListSeparator)+os.Getenv("PATH"))
	sets := installed(t, false)
	library := neural.Library{Dir: filepath.Dir(sets.VAD), Log: quiet}
	is, wanted := engine.DefaultConfig().Sensing(library)
	if !wanted || is.Sets != sets {
		t.Fatalf("of what is installed %+v is used", is)
	}
	s := sense.New(sense.Config{Dial: is.Dial, Sets: is.Sets, Log: quiet})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	r := &real{Listener: s.Listen(), t: t}
	defer r.Close()
	r.await(true, 0, "a frame with a voice", func() bool { return r.sensed.Voice != 0 })
	stop()
	if err := testkit.Receive(t, testkit.Patience, "the end of the helper", ended); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{sets.VAD, sets.Turn} {
		if _, err := os.Stat(filepath.Join(dir, "probe.json")); err != nil {
			t.Error(err)
		}
	}
	if err := os.WriteFile(filepath.Join(sets.Turn, "model.onnx"), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := sense.New(sense.Config{Dial: is.Dial, Sets: is.Sets, Log: quiet}).Run(t.Context())
	if err == nil || !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "model.onnx has 7 bytes") {
		t.Errorf("with a damaged model it ends with %v", err)
	}
}

// TestBadModels: each set that is not what it should be is told from a good one, with what to do,
// before it is used.
func TestBadModels(t *testing.T) {
	path := program(t)
	for _, tt := range []struct {
		name string
		role catalog.Role
		kind catalog.Kind
		file func(good []byte) []byte // what is in its place; nil means that it is missing
		want string
	}{
		{"silero missing", catalog.VAD, catalog.Silero, nil, "its file model.onnx is missing"},
		{"silero empty", catalog.VAD, catalog.Silero, func([]byte) []byte { return []byte{} }, "damaged"},
		{"silero garbage", catalog.VAD, catalog.Silero, func([]byte) []byte { return []byte(strings.Repeat("this is no model ", 100)) }, "damaged"},
		{"silero a web page", catalog.VAD, catalog.Silero, func([]byte) []byte { return []byte("<!DOCTYPE html><html>404</html>") }, "damaged"},
		{"silero cut", catalog.VAD, catalog.Silero, func(b []byte) []byte { return b[:len(b)/2] }, "damaged"},
		{"silero of another kind", catalog.VAD, catalog.Silero, smartTurn, "has no tensor input, so it is not of the kind silero"},
		{"turn missing", catalog.Turn, catalog.SmartTurn, nil, "its file model.onnx is missing"},
		{"turn empty", catalog.Turn, catalog.SmartTurn, func([]byte) []byte { return []byte{} }, "damaged"},
		{"turn garbage", catalog.Turn, catalog.SmartTurn, func([]byte) []byte { return []byte(strings.Repeat("this is no model ", 100)) }, "damaged"},
		{"turn of another kind", catalog.Turn, catalog.SmartTurn, silero, "has no tensor input_features"},
		{"turn of an unknown kind", catalog.Turn, "livekit", func(b []byte) []byte { return b }, "earshot has no loader for livekit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sets := installed(t, false)
			dir := sets.VAD
			if tt.role == catalog.Turn {
				dir = sets.Turn
			}
			file := filepath.Join(dir, "model.onnx")
			good, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if tt.file != nil {
				if err := os.WriteFile(file, tt.file(good), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			os.Remove(filepath.Join(dir, catalog.Description))
			if err := modeltest.Describe(dir, tt.role, tt.kind); err != nil {
				t.Fatal(err)
			}
			if tt.file == nil {
				os.Remove(file)
			}
			r, err := neural.Probe(t.Context(), path, dir)
			if err != nil || r.Fault == nil {
				t.Fatalf("%+v, %v", r, err)
			}
			if !strings.Contains(r.Fault.Text, tt.want) || r.Fault.Cure == "" || !r.Fault.Lasting || strings.Contains(r.Fault.Text, "\n") {
				t.Errorf("it is said that %q, %q, want %q", r.Fault.Text, r.Fault.Cure, tt.want)
			}
		})
	}
	sets := installed(t, false)
	for _, dir := range []string{sets.VAD, sets.Turn} {
		r, err := neural.Probe(t.Context(), path, dir)
		if err != nil || r.Fault != nil || r.Speed <= 0 || r.Memory <= 0 {
			t.Errorf("%s: %+v, %v", dir, r, err)
		}
	}
}

// smartTurn and silero are models, whatever was there.
func smartTurn([]byte) []byte { return made(modeltest.WriteSmartTurn) }

func silero([]byte) []byte {
	return made(func(dir string) error { return modeltest.WriteSilero(dir, false) })
}

func made(write func(dir string) error) []byte {
	dir, err := os.MkdirTemp("", "earshot-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := write(dir); err != nil {
		panic(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "model.onnx"))
	if err != nil {
		panic(err)
	}
	return b
}
