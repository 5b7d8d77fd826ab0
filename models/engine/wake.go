package engine

import (
	"context"
	"errors"
	"slices"

	"earshot/internal/field"
	"earshot/internal/helper"
	"earshot/models/catalog"
	"earshot/models/neural"
	"earshot/models/wyoming"
)

// Phrases are what people can say to stop the agent while it speaks, besides its name.
var Phrases = []string{"stop talking", "be quiet", "stop it"}

// Wake is by what the agent's name and the [Phrases] are noticed at the microphone while the agent
// speaks. The words that are recognised count, too.
type Wake struct {
	Engine  string        `yaml:"engine"` // auto, embedded, neural or wyoming
	Neural  NeuralSpotter `yaml:"neural"`
	Wyoming WyomingWaker  `yaml:"wyoming"`
}

// A NeuralSpotter is a model on this machine that seeks names and phrases.
type NeuralSpotter struct {
	Model string `yaml:"model"` // as of a [NeuralRecogniser]
}

// A WyomingWaker is a server that listens for wake words.
type WyomingWaker struct {
	Address string `yaml:"address"` // HOST:PORT
	Model   string `yaml:"model"`   // which of its wake words; "" is any
}

// validateWake reports every fault in the section of that name.
func (c Config) validateWake() error {
	w := c.Wake
	if !slices.Contains([]string{Auto, Embedded, Neural, Wyoming}, w.Engine) {
		return field.Errorf("engine", "is %q; must be auto, embedded, neural or wyoming", w.Engine)
	}
	return errors.Join(validateModel("neural.model", w.Neural.Model), c.placeWyoming(w.Wyoming.Address, w.Engine))
}

// Spotters returns the engines that seek the agent's name and the [Phrases], as Recognisers does.
func (c Config) Spotters(embedded helper.Dialer, models neural.Library, name string) (all []Engine) {
	w := c.Wake
	if w.Engine == Auto || w.Engine == Neural {
		e, set, is := installed(models, catalog.Wake, c.Hear.Language, w.Engine, w.Neural.Model)
		if is {
			runs := e[0].Check
			e[0].Check = func(ctx context.Context) error {
				if err := runs(ctx); err != nil {
					return err
				}
				_, err := neural.Keywords(set.Installed, append([]string{name}, Phrases...))
				return err
			}
			e[0].Dial = models.Wake(set.Installed, e[0].Check)
		}
		all = e
	}
	if w.Wyoming.Address != "" && (w.Engine == Auto || w.Engine == Wyoming) {
		server, _ := wyoming.ParseServer(w.Wyoming.Address)
		is := wyoming.Waker{Server: server, Word: w.Wyoming.Model}
		all = append(all, Engine{Name: wyomingName(server), Dial: is.Dialer(embedded), Check: is.Check, Elsewhere: !server.Local()})
	}
	return append(all, Engine{Name: "the embedded recogniser", Dial: embedded})
}
