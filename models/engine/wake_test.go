package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"earshot/internal/helper"
	"earshot/models/catalog"
	"earshot/models/engine"
	"earshot/models/modeltest"
	"earshot/models/neural"
)

// TestSpotters: which engines seek names depends on what is installed, what may be used and what is
// wanted; the last is always the one that comes with the program.
func TestSpotters(t *testing.T) {
	free, unclear, empty := neural.Library{Dir: t.TempDir(), Log: quiet}, neural.Library{Dir: t.TempDir(), Log: quiet}, neural.Library{Dir: t.TempDir(), Log: quiet}
	for _, l := range []neural.Library{free, unclear} {
		dir := filepath.Join(l.Dir, "kws")
		if err := errors.Join(modeltest.WriteSpotter(dir, "▁ear", "shot", "▁stop", "▁talking"), modeltest.Describe(dir, catalog.Wake, catalog.LSTM)); err != nil {
			t.Fatal(err)
		}
	}
	description := filepath.Join(unclear.Dir, "kws", catalog.Description)
	text, err := os.ReadFile(description)
	if err == nil {
		err = os.WriteFile(description, []byte(strings.Replace(string(text), `"id":"Apache-2.0"`, `"id":"Unstated","nonCommercial":true`, 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	const address = "127.0.0.1:10400"
	server := engine.WyomingWaker{Address: address}
	for _, tt := range []struct {
		name    string
		library neural.Library
		wake    engine.Wake
		set     func(*engine.Config)
		want    string // by their names
		why     string
	}{
		{"auto, with nothing", empty, engine.Wake{Engine: "auto"}, nil, "embedded", ""},
		{"auto, with a model", free, engine.Wake{Engine: "auto"}, nil, "the model kws, embedded", "the best that is installed for en"},
		{"auto, with a model whose licence nobody knows", unclear, engine.Wake{Engine: "auto"}, nil, "embedded", ""},
		{"auto, with that model by its name", unclear, engine.Wake{Engine: "auto", Neural: engine.NeuralSpotter{Model: "kws"}}, nil, "the model kws, embedded", "as the configuration says"},
		{"auto, with a model of another language", free, engine.Wake{Engine: "auto"}, func(c *engine.Config) { c.Hear.Language = "de" }, "embedded", ""},
		{"auto, with a server", empty, engine.Wake{Engine: "auto", Wyoming: server}, nil, "the Wyoming server at " + address + ", embedded", ""},
		{"auto, with both", free, engine.Wake{Engine: "auto", Wyoming: server}, nil, "the model kws, the Wyoming server at " + address + ", embedded", "the best that is installed for en"},
		{"embedded", free, engine.Wake{Engine: "embedded", Wyoming: server}, nil, "embedded", ""},
		{"neural", free, engine.Wake{Engine: "neural", Wyoming: server}, nil, "the model kws, embedded", "the best that is installed for en"},
		{"neural, with nothing", empty, engine.Wake{Engine: "neural"}, nil, "a neural model, embedded", "no model is installed that seeks names in en"},
		{"neural, not installed", free, engine.Wake{Engine: "neural", Neural: engine.NeuralSpotter{Model: "other"}}, nil, "the model other, embedded", "the model other cannot be used: it is not installed"},
		{"neural, a folder", empty, engine.Wake{Engine: "neural", Neural: engine.NeuralSpotter{Model: filepath.Join(free.Dir, "kws")}}, nil, "the model kws, embedded", "as the configuration says"},
		{"wyoming", free, engine.Wake{Engine: "wyoming", Wyoming: server}, nil, "the Wyoming server at " + address + ", embedded", ""},
		{"wyoming elsewhere", free, engine.Wake{Engine: "wyoming", Wyoming: engine.WyomingWaker{Address: "nas:10400"}}, func(c *engine.Config) { c.Remote = true }, "the Wyoming server at nas:10400, embedded", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := engine.DefaultConfig()
			c.Wake = tt.wake
			if tt.set != nil {
				tt.set(&c)
			}
			if err := c.Validate(); err != nil {
				t.Fatal(err)
			}
			all := c.Spotters(nil, tt.library, "Earshot")
			var names []string
			for _, e := range all {
				name := e.Name
				if e.IsEmbedded() {
					name = "embedded"
				}
				if names = append(names, name); e.Elsewhere != strings.Contains(name, "nas") {
					t.Errorf("%s is elsewhere: %v", name, e.Elsewhere)
				}
			}
			why := all[0].Why
			if why == "" && strings.Contains(all[0].Name, "model") {
				why = all[0].Check(t.Context()).Error()
			}
			if got := strings.Join(names, ", "); got != tt.want || why != tt.why {
				t.Errorf("names are sought by %s; %s", got, why)
			}
		})
	}
	for name, tt := range map[string]struct {
		wake engine.Wake
		want string
	}{
		"other engine":  {engine.Wake{Engine: "openai"}, `wake.engine: is "openai"; must be auto, embedded, neural or wyoming`},
		"half a path":   {engine.Wake{Engine: "neural", Neural: engine.NeuralSpotter{Model: "../x"}}, "wake.neural.model: is neither"},
		"no address":    {engine.Wake{Engine: "wyoming"}, "wake.wyoming.address: is empty"},
		"bad address":   {engine.Wake{Engine: "auto", Wyoming: engine.WyomingWaker{Address: "10400"}}, "wake.wyoming.address: is not HOST:PORT"},
		"other machine": {engine.Wake{Engine: "auto", Wyoming: engine.WyomingWaker{Address: "nas:10400"}}, "wake.wyoming.address: is on another machine"},
	} {
		c := engine.DefaultConfig()
		c.Wake = tt.wake
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// TestSpotterThatCannotSpell: a model that runs, but cannot spell what is sought, says so before it is
// used.
func TestSpotterThatCannotSpell(t *testing.T) {
	l := neural.Library{Dir: t.TempDir(), Log: quiet}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, helper.NeuralProgram), []byte("#!/bin/sh\necho '{\"memory\":1000000,\"start\":0.1,\"speed\":0.1}'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	dir := filepath.Join(l.Dir, "kws")
	if err := errors.Join(modeltest.WriteSpotter(dir, "▁ear", "shot", "▁st", "op"), modeltest.Describe(dir, catalog.Wake, catalog.LSTM)); err != nil {
		t.Fatal(err)
	}
	c := engine.DefaultConfig()
	for name, want := range map[string]string{"Earshot": "", "Ева": "the model kws cannot spell what it is to listen for"} {
		is := c.Spotters(nil, l, name)[0]
		if err := is.Check(t.Context()); (err == nil) != (want == "") || err != nil && (err.Error() != want || !errors.Is(err, errors.ErrUnsupported)) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
