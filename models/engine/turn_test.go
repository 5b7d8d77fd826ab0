package engine_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"earshot/models/catalog"
	"earshot/models/engine"
	"earshot/models/modeltest"
	"earshot/models/neural"
)

// TestSensing: which models listen to voices depends on what is installed and on what is wanted.
func TestSensing(t *testing.T) {
	full, empty := neural.Library{Dir: t.TempDir(), Log: quiet}, neural.Library{Dir: t.TempDir(), Log: quiet}
	silero, turn := filepath.Join(full.Dir, "silero"), filepath.Join(full.Dir, "smart-turn")
	if err := errors.Join(
		modeltest.WriteSilero(silero, false), modeltest.Describe(silero, catalog.VAD, catalog.Silero),
		modeltest.WriteSmartTurn(turn), modeltest.Describe(turn, catalog.Turn, catalog.SmartTurn),
	); err != nil {
		t.Fatal(err)
	}
	description := filepath.Join(turn, catalog.Description) // that of smart-turn names no language: it knows many
	text, err := os.ReadFile(description)
	if err != nil || os.WriteFile(description, bytes.ReplaceAll(text, []byte(`["en"]`), []byte("[]")), 0o600) != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		library neural.Library
		turn    engine.Turn
		want    string // names, or what is wrong; "" is none
		sets    int
	}{
		{"auto, with models", full, engine.Turn{Engine: "auto"}, "silero and smart-turn", 2},
		{"auto, with none", empty, engine.Turn{Engine: "auto"}, "", 0},
		{"embedded", full, engine.Turn{Engine: "embedded"}, "", 0},
		{"neural, with models", full, engine.Turn{Engine: "neural"}, "silero and smart-turn", 2},
		{"neural, with none", empty, engine.Turn{Engine: "neural"}, "no model is installed", 0},
		{"one that is not installed", full, engine.Turn{Engine: "auto", Neural: engine.NeuralTurn{Model: "other"}}, "the model other cannot be used: it is not installed", 0},
		{"a folder", empty, engine.Turn{Engine: "auto", Neural: engine.NeuralTurn{VAD: silero}}, "silero", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := engine.DefaultConfig()
			c.Turn = tt.turn
			if err := c.Validate(); err != nil {
				t.Fatal(err)
			}
			is, wanted := c.Sensing(tt.library)
			if wanted != (tt.want != "") {
				t.Fatalf("%+v, %v", is, wanted)
			}
			if tt.sets == 0 && wanted {
				_, err := is.Dial()
				if err == nil || !strings.Contains(err.Error(), tt.want) || !errors.Is(err, errors.ErrUnsupported) {
					t.Errorf("the error is %v, want %q", err, tt.want)
				}
				return
			}
			n := 0
			for _, dir := range []string{is.Sets.VAD, is.Sets.Turn} {
				if dir != "" {
					n++
				}
			}
			if is.Name != tt.want || n != tt.sets {
				t.Errorf("it is %q with %d sets, want %q", is.Name, n, tt.want)
			}
		})
	}
	for _, wrong := range []engine.Turn{{Engine: "wyoming"}, {Engine: "auto", Neural: engine.NeuralTurn{Model: "../x"}}} {
		c := engine.DefaultConfig()
		c.Turn = wrong
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), "turn.") {
			t.Errorf("%+v is wrong by %v", wrong, err)
		}
	}
}
