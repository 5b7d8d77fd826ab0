package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"earshot/internal/field"
	"earshot/models/catalog"
	"earshot/models/neural"
	"earshot/models/wire"
)

// Turn is how it is told that somebody speaks, and that they have finished. The words count, too.
type Turn struct {
	Engine string     `yaml:"engine"` // auto, embedded or neural
	Neural NeuralTurn `yaml:"neural"`
}

// A NeuralTurn is models on this machine that listen to the sound of a voice. Each is the name of one
// that is installed, or a folder; "" is the best that is.
type NeuralTurn struct {
	Model string `yaml:"model"` // tells whether the speaker has finished
	VAD   string `yaml:"vad"`   // tells whether there is a voice
}

// validate reports every fault in t.
func (t Turn) validate() error {
	if !slices.Contains([]string{Auto, Embedded, Neural}, t.Engine) {
		return field.Errorf("engine", "is %q; must be auto, embedded or neural", t.Engine)
	}
	return errors.Join(validateModel("neural.model", t.Neural.Model), validateModel("neural.vad", t.Neural.VAD))
}

// A Sensing is the models that listen to the sound of voices.
type Sensing struct {
	Engine
	Sets wire.OpenSense
}

// Sensing returns what the configuration wants of those that are installed, and reports whether it
// wants any. C must be valid.
func (c Config) Sensing(models neural.Library) (s Sensing, wanted bool) {
	if c.Turn.Engine == Embedded {
		return s, false
	}
	var all []sensingSet
	for _, p := range []struct {
		role catalog.Role
		name string
		dir  *string
	}{{catalog.VAD, c.Turn.Neural.VAD, &s.Sets.VAD}, {catalog.Turn, c.Turn.Neural.Model, &s.Sets.Turn}} {
		set, installed := models.Best(p.role, c.Hear.Language)
		if p.name != "" {
			var err error
			if set, err = models.Find(p.name); err != nil {
				return Sensing{Engine: broken("the model "+p.name, err)}, true
			}
		} else if !installed {
			continue
		}
		*p.dir = set.Dir
		all = append(all, sensingSet{set, p.name != ""})
	}
	switch {
	case len(all) > 0:
		s.Engine = c.sense(models, all)
	case c.Turn.Engine == Neural:
		s.Engine = broken("a model that is installed", noSensing{})
	default:
		return s, false
	}
	return s, true
}

// A sensingSet is one that is to be used.
type sensingSet struct {
	catalog.Installed
	named bool // by the user
}

// sense returns the engine of some sets.
func (c Config) sense(models neural.Library, all []sensingSet) Engine {
	var names []string
	for _, set := range all {
		names = append(names, set.Name)
	}
	check := func(ctx context.Context) error {
		for _, set := range all {
			r, err := models.Check(ctx, set.Installed)
			switch {
			case err != nil:
				return err
			case !set.named && r.Speed >= neural.Fast:
				return &neural.SlowError{Name: set.Name, Result: r}
			}
		}
		return nil
	}
	return Engine{Name: strings.Join(names, " and "), Dial: models.Sense(check), Check: check}
}

// noSensing says that no model is installed that listens to the sound of voices.
type noSensing struct{}

// Error says so.
func (noSensing) Error() string {
	return "no model is installed that tells by the sound when somebody has finished"
}

// Cure says what to do.
func (noSensing) Cure() string {
	return "earshot models get smart-turn; or set speech.turn.engine: auto"
}

// Is reports that the error is lasting.
func (noSensing) Is(target error) bool { return target == errors.ErrUnsupported }
