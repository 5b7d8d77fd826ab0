//go:build cgo

package main

import (
	"slices"

	onnx "github.com/yalue/onnxruntime_go"

	"earshot/internal/audio"
	"earshot/models/catalog"
	"earshot/models/mel"
	"earshot/models/neural"
)

// newOptions opens ONNX Runtime, and returns options for a model on so many threads. Those that wait
// take no time.
func newOptions(threads int) (*onnx.SessionOptions, error) {
	if err := openRuntime(); err != nil {
		return nil, err
	}
	o, err := onnx.NewSessionOptions()
	if err == nil {
		err = o.SetIntraOpNumThreads(threads)
	}
	if err == nil {
		err = o.AddSessionConfigEntry("session.intra_op.allow_spinning", "0")
	}
	return o, err
}

// openModel loads the only file of the set in a folder, which is of that kind, for tensors with these
// names. It runs on one thread. The shapes of its inputs go to bind, which makes the tensors.
func openModel(dir string, role catalog.Role, kind catalog.Kind, inputs, outputs []string, bind func(shapes map[string]onnx.Shape) (in, out []onnx.Value, err error)) (*onnx.AdvancedSession, error) {
	set, err := openSet(dir)
	if err != nil {
		return nil, err
	}
	if set.Role != role || set.Kind != kind {
		return nil, neural.Unfit(set.Name, "earshot has no loader for %s", set.Kind)
	}
	if err := hasParts(set, "model"); err != nil {
		return nil, err
	}
	o, err := newOptions(1)
	if err != nil {
		return nil, err
	}
	defer o.Destroy()
	path := set.File("model")
	has, gives, err := onnx.GetInputOutputInfo(path)
	if err != nil {
		return nil, neural.Unfit(set.Name, "its file %s is damaged (%v)", set.Files["model"].Path, err)
	}
	shapes := make(map[string]onnx.Shape)
	for _, i := range slices.Concat(has, gives) {
		shapes[i.Name] = i.Dimensions
	}
	for _, name := range slices.Concat(inputs, outputs) {
		if _, ok := shapes[name]; !ok {
			return nil, neural.Unfit(set.Name, "it has no tensor %s, so it is not of the kind %s", name, set.Kind)
		}
	}
	in, out, err := bind(shapes)
	if err != nil {
		return nil, err
	}
	s, err := onnx.NewAdvancedSession(path, inputs, outputs, in, out, o)
	if err != nil {
		return nil, neural.Unfit(set.Name, "%v", err)
	}
	if err := s.Run(); err != nil { // with zeros: shapes that do not fit show only then
		return nil, neural.Unfit(set.Name, "it is not of the kind %s (%v)", set.Kind, err)
	}
	return s, nil
}

// The form of Silero's models since version 5, in samples.
const (
	window = 512
	kept   = 64 // of the window before
)

// A voiceModel judges windows of sound.
type voiceModel struct {
	session             *onnx.AdvancedSession
	sound, state, after *onnx.Tensor[float32]
	p                   *onnx.Tensor[float32]
}

// A voiceState is what a model remembers of one stream.
type voiceState struct {
	sound [kept + window]float32
	n     int // samples of the window
	state [2 * 128]float32
}

// add adds a sample, and reports whether the window is full.
func (v *voiceState) add(sample float32) bool {
	v.sound[kept+v.n] = sample
	v.n++
	return v.n == window
}

// openVoices loads a model that says whether there is a voice.
func openVoices(dir string) (m *voiceModel, err error) {
	m = new(voiceModel)
	m.session, err = openModel(dir, catalog.VAD, catalog.Silero, []string{"input", "state", "sr"}, []string{"output", "stateN"}, m.bind)
	return m, err
}

// bind makes the tensors. Some exports take the rate as a scalar, others as a list of one.
func (m *voiceModel) bind(shapes map[string]onnx.Shape) (in, out []onnx.Value, err error) {
	tensor := func(shape ...int64) (t *onnx.Tensor[float32]) {
		if err == nil {
			t, err = onnx.NewEmptyTensor[float32](shape)
		}
		return t
	}
	m.sound, m.state, m.after, m.p = tensor(1, kept+window), tensor(2, 1, 128), tensor(2, 1, 128), tensor(1, 1)
	if err != nil {
		return nil, nil, err
	}
	var rate onnx.Value
	if len(shapes["sr"]) == 0 {
		rate, err = onnx.NewScalar(int64(audio.Rate))
	} else {
		rate, err = onnx.NewTensor(onnx.NewShape(1), []int64{audio.Rate})
	}
	return []onnx.Value{m.sound, m.state, rate}, []onnx.Value{m.p, m.after}, err
}

// judge returns the probability that there is a voice in a full window, and empties it.
func (m *voiceModel) judge(v *voiceState) (float32, error) {
	copy(m.sound.GetData(), v.sound[:])
	copy(m.state.GetData(), v.state[:])
	if err := m.session.Run(); err != nil {
		return 0, err
	}
	copy(v.state[:], m.after.GetData())
	copy(v.sound[:kept], v.sound[window:])
	v.n = 0
	return probability(m.p.GetData()[0]), nil
}

// A turnModel judges whether a speaker has finished.
type turnModel struct {
	session *onnx.AdvancedSession
	mels, p *onnx.Tensor[float32]
	picture *mel.Spectrogram
	scratch [mel.Samples]float32
}

// openTurns loads a model that says whether a speaker has finished.
func openTurns(dir string) (m *turnModel, err error) {
	m = &turnModel{picture: mel.New()}
	m.session, err = openModel(dir, catalog.Turn, catalog.SmartTurn, []string{"input_features"}, []string{"logits"}, m.bind)
	return m, err
}

func (m *turnModel) bind(map[string]onnx.Shape) (in, out []onnx.Value, err error) {
	if m.mels, err = onnx.NewEmptyTensor[float32](onnx.NewShape(1, mel.Bands, mel.Frames)); err != nil {
		return nil, nil, err
	}
	m.p, err = onnx.NewEmptyTensor[float32](onnx.NewShape(1, 1))
	return []onnx.Value{m.mels}, []onnx.Value{m.p}, err
}

// judge returns the probability that the speaker of pcm has finished.
func (m *turnModel) judge(pcm []float32) (float32, error) {
	m.picture.Compute(m.mels.GetData(), pcm)
	if err := m.session.Run(); err != nil {
		return 0, err
	}
	return probability(m.p.GetData()[0]), nil
}

// probability returns what a model says as one. What is no number says nothing.
func probability(p float32) float32 {
	if p != p {
		return 0.5
	}
	return max(0, min(p, 1))
}
