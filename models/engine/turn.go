package engine

import (
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
	var all []choice
	var names []string
	for _, p := range []struct {
		role catalog.Role
		name string
		dir  *string
	}{{catalog.VAD, c.Turn.Neural.VAD, &s.Sets.VAD}, {catalog.Turn, c.Turn.Neural.Model, &s.Sets.Turn}} {
		set, is, err := pick(models, p.role, c.Hear.Language, p.name)
		switch {
		case err != nil:
			return Sensing{Engine: broken("the model "+p.name, err)}, true
		case is:
			*p.dir = set.Dir
			all, names = append(all, set), append(names, set.Name)
		}
	}
	switch {
	case len(all) > 0:
		works := check(models, all...)
		s.Engine = Engine{Name: strings.Join(names, " and "), Dial: models.Sense(works), Check: works}
	case c.Turn.Engine == Neural:
		s.Engine = missing(catalog.Turn, c.Hear.Language)
	default:
		return s, false
	}
	return s, true
}
