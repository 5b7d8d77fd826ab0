//go:build cgo

package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	onnx "github.com/yalue/onnxruntime_go"

	"earshot/internal/helper"
	"earshot/models/catalog"
	"earshot/models/neural"
	"earshot/models/wire"
)

// A voice turns sentences into sound. The same sentence takes the same time again. It is for one
// goroutine.
type voice interface {
	name() string
	rate() int // samples a second

	// say returns the sound of a sentence, as samples from -1 to 1, and fills in how many sounds its
	// words have, if it knows. Ending ctx ends it.
	say(ctx context.Context, s *sentence) ([]float32, error)
}

// openVoice loads a voice and lets it say a word. A file that is not what it should be can end the
// process.
func openVoice(ctx context.Context, o wire.OpenSay) (voice, error) {
	set, err := openSet(o.Set)
	if err != nil {
		return nil, err
	}
	o.Speed = cmp.Or(o.Speed, 1)
	if !(o.Speed >= 0.25 && o.Speed <= 4) {
		return nil, fmt.Errorf("the speed %g is not between 0.25 and 4", o.Speed)
	}
	var v voice
	switch set.Kind {
	case catalog.Piper:
		v, err = openPiper(set, o)
	case catalog.Kokoro, catalog.Kitten:
		v, err = openKokoro(set, o)
	case catalog.VITS, catalog.Supertonic, catalog.Pocket:
		v, err = openSherpaVoice(set, o)
	default:
		err = neural.Unfit(set.Name, "earshot has no loader for %s", set.Kind)
	}
	if err != nil {
		return nil, err
	}
	if !wire.ValidRate(v.rate()) {
		return nil, neural.Unfit(set.Name, "it speaks at %d samples a second", v.rate())
	}
	_, err = synthesise(ctx, v, &divide("hello")[0])
	return v, err
}

// speakerOf returns the number of the speaker with a name, or a number, among n.
func speakerOf(set catalog.Installed, speaker string, names []string, n int) (int, error) {
	if speaker == "" {
		return 0, nil
	}
	if i := slices.Index(names, speaker); i >= 0 {
		return i, nil
	}
	if i, err := strconv.Atoi(speaker); err == nil && i >= 0 && i < n {
		return i, nil
	}
	has := fmt.Sprintf("a number from 0 to %d", n-1)
	if len(names) > 0 {
		has = "one of " + strings.Join(names, ", ")
	}
	return 0, helper.Fault{
		Text: fmt.Sprintf("the voice %s has no speaker %q", set.Name, speaker), Cure: "set speech.say.neural.speaker to " + has, Lasting: true,
	}.Err()
}

// A network is a model in ONNX Runtime with one output, which is sound.
type network struct {
	set     catalog.Installed
	session *onnx.DynamicAdvancedSession
}

// openNetwork loads a model whose inputs and output have these names.
func openNetwork(set catalog.Installed, output string, inputs ...string) (n network, err error) {
	n.set = set
	o, err := newOptions(max(1, min(runtime.NumCPU()-1, mostThreads))) // the daemon comes first
	if err != nil {
		return n, err
	}
	defer o.Destroy()
	if n.session, err = onnx.NewDynamicAdvancedSession(set.File("model"), inputs, []string{output}, o); err != nil {
		return n, n.damaged(err)
	}
	return n, nil
}

func (n network) name() string { return n.set.Name }

// damaged returns what an error of ONNX Runtime says of a model.
func (n network) damaged(err error) error {
	return neural.Unfit(n.set.Name, "its file %s is damaged or of another kind (%.200s)", n.set.Files["model"].Path, err)
}

// fact returns what a model says of itself, or "".
func (n network) fact(name string) string {
	m, err := n.session.GetModelMetadata()
	if err != nil {
		return ""
	}
	defer m.Destroy()
	fact, _, _ := m.LookupCustomMetadataMap(name)
	return fact
}

// number returns what a model says of itself, if that is a number, or 0.
func (n network) number(name string) int {
	is, _ := strconv.Atoi(n.fact(name))
	return is
}

// run computes the sound, until ctx ends. It destroys the inputs.
func (n network) run(ctx context.Context, inputs ...onnx.Value) ([]float32, error) {
	for _, in := range inputs {
		defer in.Destroy()
	}
	o, err := onnx.NewRunOptions()
	if err != nil {
		return nil, err
	}
	defer o.Destroy()
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { defer close(ended); o.Terminate() })
	defer func() {
		if !stop() {
			<-ended
		}
	}()
	out := []onnx.Value{nil}
	if err := n.session.RunWithOptions(inputs, out, o); err != nil && ctx.Err() == nil {
		return nil, n.damaged(err)
	} else if err != nil {
		return nil, err
	}
	defer out[0].Destroy()
	sound, ok := out[0].(*onnx.Tensor[float32])
	if !ok {
		return nil, fmt.Errorf("its output is %T", out[0])
	}
	return slices.Clone(sound.GetData()), nil
}

// vector returns an input with one dimension, row one with a row of values. Memory is all that they
// can fail for.
func vector[T onnx.TensorData](values ...T) onnx.Value {
	return tensor(onnx.NewShape(int64(len(values))), values)
}

func row[T onnx.TensorData](values []T) onnx.Value {
	return tensor(onnx.NewShape(1, int64(len(values))), values)
}

func tensor[T onnx.TensorData](shape onnx.Shape, values []T) onnx.Value {
	t, err := onnx.NewTensor(shape, values)
	if err != nil {
		panic("earshot-neural: " + err.Error())
	}
	return t
}
