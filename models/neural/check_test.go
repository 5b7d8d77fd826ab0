package neural_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"earshot/internal/helper"
	"earshot/models/catalog"
	"earshot/models/modeltest"
	"earshot/models/neural"
)

// put returns what overwrites a file of a set.
func put(name, text string) func(dir string) error {
	return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600) }
}

// cut returns what cuts a file of a set after its first half.
func cut(name string) func(dir string) error {
	return func(dir string) error {
		b, err := os.ReadFile(filepath.Join(dir, name))
		return errors.Join(err, os.WriteFile(filepath.Join(dir, name), b[:len(b)/2], 0o600))
	}
}

// turned returns what changes one bit in the middle of a file.
func turned(name string) func(dir string) error {
	return func(dir string) error {
		b, err := os.ReadFile(filepath.Join(dir, name))
		b[len(b)/2] ^= 1
		return errors.Join(err, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
}

// gone returns what removes a file.
func gone(name string) func(dir string) error {
	return func(dir string) error { return os.Remove(filepath.Join(dir, name)) }
}

// TestBadSets: whatever is wrong with the files of a set, that is one sentence with a cure, found out
// once, and the daemon's own process goes on. Most of these end the process that loads them.
func TestBadSets(t *testing.T) {
	program(t)
	ctc := func(without ...string) func(string) error {
		return func(dir string) error { return modeltest.WriteCTC(dir, without...) }
	}
	transducer := func(without ...string) func(string) error {
		return func(dir string) error { return modeltest.WriteTransducer(dir, without...) }
	}
	const (
		html  = "<!DOCTYPE html><html><body>Please log in</body></html>"
		lfs   = "version https://git-lfs.github.com/spec/v1\noid sha256:98da299f\nsize 1307236\n"
		other = "it is not a model of the kind that its description says"
	)
	for _, tt := range []struct {
		name   string
		write  func(dir string) error
		kind   catalog.Kind
		before func(dir string) error // is done to the files before they are described, so that their checksums are right
		after  func(dir string) error // is done after that
		says   string                 // "" if it works
	}{
		{"ctc", ctc(), catalog.NemoCTC, nil, nil, ""},
		{"ctc: missing", ctc(), catalog.NemoCTC, nil, gone("model.onnx"), "its file model.onnx is missing"},
		{"ctc: a folder", ctc(), catalog.NemoCTC, nil, func(dir string) error {
			return errors.Join(gone("model.onnx")(dir), os.Mkdir(filepath.Join(dir, "model.onnx"), 0o700))
		}, "its file model.onnx is missing"},
		{"ctc: empty", ctc(), catalog.NemoCTC, put("model.onnx", ""), nil, "it is damaged (Load model from "},
		{"ctc: garbage", ctc(), catalog.NemoCTC, put("model.onnx", strings.Repeat("garbage", 999)), nil, "it is damaged (Load model from "},
		{"ctc: a page", ctc(), catalog.NemoCTC, put("model.onnx", html), nil, "it is damaged (Load model from "},
		{"ctc: a pointer of git-lfs", ctc(), catalog.NemoCTC, put("model.onnx", lfs), nil, "it is damaged (Load model from "},
		{"ctc: cut", ctc(), catalog.NemoCTC, cut("model.onnx"), nil, "it is damaged (Load model from "},
		{"ctc: cut later", ctc(), catalog.NemoCTC, nil, cut("model.onnx"), "its file model.onnx has "},
		{"ctc: a bit", ctc(), catalog.NemoCTC, nil, turned("model.onnx"), "its file model.onnx is damaged: its checksum is not that which was published"},
		{"ctc: without a fact", ctc("window_size"), catalog.NemoCTC, nil, nil, other + " ('window_size' does not exist in the metadata)"},
		{"ctc: of another kind", transducer(), catalog.NemoCTC, func(dir string) error {
			return os.Rename(filepath.Join(dir, "joiner.onnx"), filepath.Join(dir, "model.onnx"))
		}, nil, other + " ('window_size' does not exist in the metadata)"},
		{"ctc: no tokens", ctc(), catalog.NemoCTC, nil, gone("tokens.txt"), "its file tokens.txt is missing"},
		{"ctc: malformed tokens", ctc(), catalog.NemoCTC, put("tokens.txt", html), nil, other},
		{"ctc: too few tokens", ctc(), catalog.NemoCTC, put("tokens.txt", "<blk> 0\n▁one 1\n"), nil, "it is damaged (_Map_base::at)"},
		{"ctc: without a part", ctc(), catalog.NemoCTC, gone("model.onnx"), nil, "a nemo_ctc has a file model, and its description names none"},
		{"transducer", transducer(), catalog.LSTM, nil, nil, ""},
		{"transducer: without its type", transducer("model_type"), catalog.LSTM, nil, nil, ""},
		{"transducer: missing", transducer(), catalog.LSTM, nil, gone("encoder.onnx"), "its file encoder.onnx is missing"},
		{"transducer: empty", transducer(), catalog.LSTM, put("encoder.onnx", ""), nil, "it is damaged (Load model from "},
		{"transducer: garbage", transducer(), catalog.LSTM, put("encoder.onnx", html), nil, "it is damaged (Load model from "},
		{"transducer: cut", transducer(), catalog.LSTM, cut("encoder.onnx"), nil, "it is damaged (Load model from "},
		{"transducer: without a fact", transducer("d_model"), catalog.LSTM, nil, nil, other + " ('d_model' does not exist in the metadata)"},
		{"transducer: zipformer2", transducer(), catalog.Zipformer2, nil, nil, other + " ('encoder_dims' does not exist in the metadata)"},
		{"transducer: zipformer", transducer(), catalog.Zipformer, nil, nil, other + " ("},
		{"transducer: conformer", transducer(), catalog.Conformer, nil, nil, other + " ('left_context' does not exist in the metadata)"},
		{"transducer: nemo without a type", transducer("model_type"), catalog.NemoTransducer, nil, nil, "it is damaged"},
		{"transducer: no decoder", transducer(), catalog.LSTM, nil, gone("decoder.onnx"), "its file decoder.onnx is missing"},
		{"transducer: joiner", transducer(), catalog.LSTM, put("joiner.onnx", html), nil, "it is damaged (Load model from "},
		{"transducer: without a part", transducer(), catalog.LSTM, gone("joiner.onnx"), nil, "a lstm has a file joiner, and its description names none"},
		{"zipformer2_ctc", ctc(), catalog.Zipformer2CTC, nil, nil, other + " ("},
		{"no kind of ours", ctc(), "telepathy", nil, nil, "earshot has no loader for telepathy"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := neural.Library{Dir: t.TempDir(), Log: quiet}
			dir := filepath.Join(l.Dir, "it")
			err := tt.write(dir)
			if tt.before != nil {
				err = errors.Join(err, tt.before(dir))
			}
			err = errors.Join(err, modeltest.Describe(dir, catalog.Hear, tt.kind))
			if tt.after != nil {
				err = errors.Join(err, tt.after(dir))
			}
			if err != nil {
				t.Fatal(err)
			}
			r, err := l.Check(t.Context(), find(t, l, "it"))
			if tt.says == "" {
				if err != nil || r.Chunk != 2560 || r.Tail <= r.Chunk || r.Memory < 1<<20 || r.Start <= 0 || r.Speed <= 0 {
					t.Errorf("it runs like %+v, %v", r, err)
				}
				return
			}
			var curable interface{ Cure() string }
			if err == nil || !errors.Is(err, errors.ErrUnsupported) || !errors.As(err, &curable) || curable.Cure() != "fetch it again: earshot models get it" {
				t.Fatalf("the error is %v", err)
			}
			if said := err.Error(); !strings.HasPrefix(said, "the model it cannot be used: "+tt.says) || strings.Contains(said, "\n") || len(said) > 400 {
				t.Errorf("it says %s", said)
			}
			if again, err := l.Check(t.Context(), find(t, l, "it")); err == nil || again.Fault != nil && *again.Fault != *r.Fault {
				t.Errorf("then it says %v", err)
			}
		})
	}
}

// A script stands in for the helper: it does something, and counts how often.
func script(t *testing.T, does string) (count func() int) {
	dir := t.TempDir()
	text := "#!/bin/sh\necho >>" + dir + "/count\n" + does + "\n"
	if err := os.WriteFile(filepath.Join(dir, helper.NeuralProgram), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return func() int {
		b, _ := os.ReadFile(dir + "/count")
		return len(b)
	}
}

// TestFoundOutOnce: how well a set runs is found out once for the same files and the same program, and
// anew when one of them has changed; and what may pass is not kept.
func TestFoundOutOnce(t *testing.T) {
	const well = `echo '{"chunk":1600,"tail":2000,"memory":1000000,"start":0.5,"speed":0.25}'`
	touch := func(path string) {
		t.Helper()
		if err := os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)); err != nil {
			t.Fatal(err)
		}
	}
	l := install(t, "ctc")
	set := find(t, l, "ctc")
	count := script(t, well)
	check := func(want int, fails bool) {
		t.Helper()
		r, err := l.Check(t.Context(), set)
		if got := count(); got != want || (err != nil) != fails || !fails && r.Speed != 0.25 {
			t.Fatalf("it was tried %d times, want %d; %+v, %v", got, want, r, err)
		}
	}
	check(1, false)
	check(1, false)
	if r, known := l.Known(set); !known || r.Tail != 2000 {
		t.Errorf("known is %+v, %v", r, known)
	}
	touch(set.File("tokens"))
	if _, known := l.Known(set); known {
		t.Error("a changed set is known")
	}
	check(2, false)
	touch(filepath.Join(set.Dir, catalog.Description))
	check(3, false)
	if err := os.WriteFile(filepath.Join(set.Dir, "probe.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(4, false)
	count = script(t, well) // another program
	check(1, false)
	count = script(t, "kill -9 $$")
	check(1, true)
	check(2, true)
	count = script(t, "exit 255")
	check(1, true)
	check(1, true)
}

// TestHelpersThatFail: whatever the helper does, Probe says what happened, and is done when its
// context is.
func TestHelpersThatFail(t *testing.T) {
	for _, tt := range []struct{ name, does, says string }{
		{"a signal", "kill -SEGV $$", "fault: the model it cannot be used: it is damaged"},
		{"Go's answer to one", "echo terminate called >&2; printf '  what():  no\\033[31m good\\n' >&2; yes goroutine | head -n 99999 >&2; exit 2", "fault: the model it cannot be used: it is damaged (no[31m good)"},
		{"another end", "exit 7", "fault: the model it cannot be used: it ends the program that loads it"},
		{"too little memory", "kill -9 $$", "trying the model it was killed; there may be too little memory for it"},
		{"nothing", "exit 0", "trying the model it: earshot-neural answers nonsense: "},
		{"nonsense", "echo '[]'", "trying the model it: earshot-neural answers nonsense: "},
		{"without end", "yes", "fault: the model it cannot be used: it ends the program that loads it"},
		{"for ever", "exec sleep 600", "the model it is not known yet: trying it takes longer than there was time"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			script(t, tt.does)
			path, err := helper.Find(helper.NeuralProgram)
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			if tt.name == "for ever" {
				time.AfterFunc(50*time.Millisecond, stop)
			}
			r, err := neural.Probe(ctx, path, "/nowhere/it")
			said := fmt.Sprint(err)
			if err == nil && r.Fault != nil {
				said = "fault: " + r.Fault.Text
			}
			if !strings.HasPrefix(said, tt.says) {
				t.Errorf("it says %s", said)
			}
		})
	}
}

// TestNoHelper: a program that is not installed is said with its cure.
func TestNoHelper(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	l := install(t, "ctc")
	if _, err := l.Check(t.Context(), find(t, l, "ctc")); err == nil || !strings.Contains(err.Error(), "earshot-neural is not installed") {
		t.Errorf("the error is %v", err)
	}
}

// TestBest: among those that are fast enough, as far as is known, the largest is the best.
func TestBest(t *testing.T) {
	l := install(t, "transducer", "ctc") // the second is larger
	script(t, `case $2 in */ctc) echo '{"memory":1,"speed":0.9}' ;; *) echo '{"memory":1,"speed":0.1}' ;; esac`)
	best := func() string {
		set, _ := l.Best(catalog.Hear, "en")
		return set.Name
	}
	if got := best(); got != "ctc" {
		t.Errorf("if nothing is known, %s is the best", got)
	}
	if _, err := l.Check(t.Context(), find(t, l, "ctc")); err != nil {
		t.Fatal(err)
	}
	if got := best(); got != "transducer" {
		t.Errorf("if the largest is slow, %s is the best", got)
	}
	if _, any := l.Best(catalog.Hear, "de"); any {
		t.Error("there is one for German")
	}
}
