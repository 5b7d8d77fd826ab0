package engine

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"earshot/internal/field"
	"earshot/internal/helper"
	"earshot/models/catalog"
	"earshot/models/neural"
	"earshot/models/openaispeech"
	"earshot/models/remote"
	"earshot/models/wyoming"
)

// The values of [Hear.Engine], [Say.Engine], [Wake.Engine] and [Turn.Engine].
const (
	Auto     = "auto"     // neural models that are installed, then servers that have an address, then what comes with the program
	Embedded = "embedded" // what comes with the program
	Neural   = "neural"   // models that are installed
	Wyoming  = "wyoming"  // a server of Home Assistant's kind
	OpenAI   = "openai"   // a server with OpenAI's protocol for sound
)

// Config is the section speech of the configuration: by which engines earshot recognises speech and
// speaks. The zero value is not usable; start from [DefaultConfig].
type Config struct {
	// Remote allows servers on other machines. Everything that is said in the room goes to them.
	Remote bool `yaml:"remote"`

	Hear Hear `yaml:"hear"`
	Say  Say  `yaml:"say"`
	Wake Wake `yaml:"wake"`
	Turn Turn `yaml:"turn"`
}

// Hear is how speech is recognised.
type Hear struct {
	Engine   string            `yaml:"engine"`
	Language string            `yaml:"language"` // as two letters, such as en; only of what people say
	Neural   NeuralRecogniser  `yaml:"neural"`
	Wyoming  WyomingRecogniser `yaml:"wyoming"`
	OpenAI   OpenAIRecogniser  `yaml:"openai"`
}

// A NeuralRecogniser is models on this machine that recognise speech.
type NeuralRecogniser struct {
	Model  string `yaml:"model"`  // the name of one that is installed, or a folder; "" is the best that is fast enough here
	Second string `yaml:"second"` // of one that corrects what was heard when an utterance has ended; "" is none
}

// A WyomingRecogniser is a server that recognises speech.
type WyomingRecogniser struct {
	Address string `yaml:"address"` // HOST:PORT
	Model   string `yaml:"model"`   // "" is the server's own choice
}

// An OpenAIRecogniser is a server that recognises speech.
type OpenAIRecogniser struct {
	URL    string       `yaml:"url"`
	APIKey field.Secret `yaml:"api_key"`
	Model  string       `yaml:"model"`
}

// Say is how the agent speaks.
type Say struct {
	Engine  string       `yaml:"engine"`
	Neural  NeuralVoice  `yaml:"neural"`
	Wyoming WyomingVoice `yaml:"wyoming"`
	OpenAI  OpenAIVoice  `yaml:"openai"`
}

// A NeuralVoice is a model on this machine that speaks.
type NeuralVoice struct {
	Model   string  `yaml:"model"`   // as of a [NeuralRecogniser]
	Speaker string  `yaml:"speaker"` // of a voice that has several, by name or number; "" is the first
	Speed   float64 `yaml:"speed"`   // 1 is the voice's own
}

// A WyomingVoice is a voice of a server.
type WyomingVoice struct {
	Address string `yaml:"address"` // HOST:PORT
	Voice   string `yaml:"voice"`   // "" is the server's own choice
	Speaker string `yaml:"speaker"` // of a voice that has several
}

// An OpenAIVoice is a voice of a server.
type OpenAIVoice struct {
	URL    string       `yaml:"url"`
	APIKey field.Secret `yaml:"api_key"`
	Model  string       `yaml:"model"`
	Voice  string       `yaml:"voice"`
	Speed  float64      `yaml:"speed"` // 1 is the voice's own
}

// DefaultConfig returns the configuration of a user who wrote none. The models and the voice are
// OpenAI's, whose names other servers understand, too.
func DefaultConfig() Config {
	return Config{
		Hear: Hear{Engine: Auto, Language: english, OpenAI: OpenAIRecogniser{Model: "whisper-1"}},
		Say:  Say{Engine: Auto, Neural: NeuralVoice{Speed: 1}, OpenAI: OpenAIVoice{Model: "tts-1", Voice: "alloy", Speed: 1}},
		Wake: Wake{Engine: Auto},
		Turn: Turn{Engine: Auto},
	}
}

// english is the language that the embedded recogniser knows.
const english = "en"

// Validate reports every fault in c, not only the first. Whether a server answers is found out when
// it is asked.
func (c Config) Validate() error {
	h, s := c.Hear, c.Say
	return errors.Join(
		field.Under("hear", errors.Join(
			c.validate(h.Engine, h.Wyoming.Address, h.OpenAI.URL),
			h.validateLanguage(),
			validateModel("neural.model", h.Neural.Model),
			validateModel("neural.second", h.Neural.Second),
			named("openai.model", h.OpenAI.Model),
		)),
		field.Under("say", errors.Join(
			c.validate(s.Engine, s.Wyoming.Address, s.OpenAI.URL),
			named("openai.model", s.OpenAI.Model),
			named("openai.voice", s.OpenAI.Voice),
			validateSpeed("openai.speed", s.OpenAI.Speed),
			validateModel("neural.model", s.Neural.Model),
			validateSpeed("neural.speed", s.Neural.Speed),
		)),
		field.Under("wake", c.validateWake()),
		field.Under("turn", c.Turn.validate()),
	)
}

// engines are the values of [Hear.Engine] and [Say.Engine].
var engines = []string{Auto, Embedded, Neural, Wyoming, OpenAI}

// validate reports what is wrong with the engine of a role and its servers.
func (c Config) validate(engine, address, url string) error {
	if !slices.Contains(engines, engine) {
		last := len(engines) - 1
		return field.Errorf("engine", "is %q; must be %s or %s", engine, strings.Join(engines[:last], ", "), engines[last])
	}
	_, bad := openaispeech.ParseURL(url)
	return errors.Join(
		c.placeWyoming(address, engine),
		c.place("openai.url", url, engine == OpenAI, bad != nil, openaispeech.Server{URL: url}.Local(), "an address, such as http://127.0.0.1:8000/v1"),
	)
}

// placeWyoming reports what is wrong with where the Wyoming server of a role is.
func (c Config) placeWyoming(address, engine string) error {
	server, wrong := wyoming.ParseServer(address)
	return c.place("wyoming.address", address, engine == Wyoming, wrong != nil, server.Local(), "HOST:PORT, such as 127.0.0.1:10300")
}

// place reports what is wrong with where a server is.
func (c Config) place(key, value string, needed, wrong, local bool, form string) error {
	switch {
	case value == "" && needed:
		return field.Errorf(key, "is empty; write where the server is, or let engine be auto")
	case value == "":
		return nil
	case wrong:
		return field.Errorf(key, "is not %s", form)
	case !local && !c.Remote:
		return field.Errorf(key, "is on another machine, which would get what is said here; to allow that, set speech.remote: true")
	}
	return nil
}

// validateModel reports what is wrong with which model is wanted.
func validateModel(key, model string) error {
	if model != "" && !filepath.IsAbs(model) && filepath.Base(model) != model {
		return field.Errorf(key, "is neither the name of a model, such as earshot models list shows, nor the whole path of a folder")
	}
	return nil
}

func named(key, name string) error {
	if name == "" {
		return field.Errorf(key, "is empty; write what the server calls it")
	}
	return nil
}

func (h Hear) validateLanguage() error {
	if len(h.Language) != 2 || h.Language[0] < 'a' || h.Language[0] > 'z' || h.Language[1] < 'a' || h.Language[1] > 'z' {
		return field.Errorf("language", "is %.20q; must be two letters, such as en", h.Language)
	}
	if h.Language != english && h.Engine == Embedded {
		return field.Errorf("language", "is %s, but the embedded recogniser knows English only; set engine to auto, or language to en", h.Language)
	}
	return nil
}

func validateSpeed(key string, speed float64) error {
	if !(speed >= 0.25 && speed <= 4) {
		return field.Errorf(key, "is %v; must be from 0.25 to 4", speed)
	}
	return nil
}

// Recognisers returns the engines that recognise speech, at least one, the best first. C must be valid.
// Embedded is the one that comes with the program, and models are those that are installed.
func (c Config) Recognisers(embedded helper.Dialer, models neural.Library) (all []Engine) {
	if h := c.Hear; h.Engine == Auto || h.Engine == Neural {
		all = h.models(models)
	}
	if h := c.Hear; h.Wyoming.Address != "" && (h.Engine == Auto || h.Engine == Wyoming) {
		server, _ := wyoming.ParseServer(h.Wyoming.Address)
		all = append(all, recogniser(wyomingName(server), !server.Local(), wyoming.Recogniser{Server: server, Model: h.Wyoming.Model, Language: h.Language}))
	}
	if h := c.Hear; h.OpenAI.URL != "" && (h.Engine == Auto || h.Engine == OpenAI) {
		server := openaispeech.Server{URL: h.OpenAI.URL, Key: h.OpenAI.APIKey}
		all = append(all, recogniser(speechName(server), !server.Local(), openaispeech.Recogniser{Server: server, Model: h.OpenAI.Model, Language: h.Language}))
	}
	if c.Hear.Language == english {
		all = append(all, Engine{Name: "the embedded recogniser", Dial: embedded})
	}
	if len(all) == 0 {
		all = []Engine{missing(catalog.Hear, c.Hear.Language)}
	}
	return all
}

// models returns the engine that is made of models on this machine, if there is one or must be.
func (h Hear) models(library neural.Library) []Engine {
	e, first, is := installed(library, catalog.Hear, h.Language, h.Engine, h.Neural.Model)
	if !is {
		return e
	}
	var second catalog.Installed
	if h.Neural.Second != "" {
		var err error
		if second, err = library.Find(h.Neural.Second); err != nil {
			return []Engine{broken(e[0].Name, err)}
		}
		e[0].Check = check(library, first, choice{second, true})
	}
	e[0].Dial = library.Hear(first.Installed, second, h.Language, e[0].Check)
	return e
}

// models returns the engine that is made of a model on this machine, if there is one or must be.
func (s Say) models(library neural.Library) []Engine {
	e, set, is := installed(library, catalog.Say, english, s.Engine, s.Neural.Model)
	if is {
		e[0].Dial = library.Say(set.Installed, s.Neural.Speaker, s.Neural.Speed, e[0].Check)
	}
	return e
}

// installed returns the engine of a set, which lacks its dialer: of the one that is named, or of the best
// for a language. If there is none, it returns what stands for it.
func installed(library neural.Library, role catalog.Role, language, engine, named string) (e []Engine, set choice, is bool) {
	set, is, err := pick(library, role, language, named)
	switch {
	case err != nil:
		return []Engine{broken("the model "+named, err)}, set, false
	case !is && engine == Auto:
		return nil, set, false
	case !is:
		return []Engine{missing(role, language)}, set, false
	}
	why := "the best that is installed for " + language
	if set.named {
		why = "as the configuration says"
	}
	return []Engine{{Name: ModelName(set.Installed), Why: why, Check: check(library, set)}}, set, true
}

// A choice is a set that is to be used.
type choice struct {
	catalog.Installed
	named bool // by the user; otherwise it is the best, if that is fast enough
}

// pick returns the set with a name, or else the best for a language, and reports whether there is one.
func pick(library neural.Library, role catalog.Role, language, name string) (c choice, is bool, err error) {
	if name == "" {
		c.Installed, is = library.Best(role, language)
		return c, is, nil
	}
	c.Installed, err = library.Find(name)
	c.named = true
	return c, err == nil, err
}

// check returns what reports why one of some sets cannot be used now.
func check(library neural.Library, sets ...choice) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, set := range sets {
			r, err := library.Check(ctx, set.Installed)
			if err == nil && !set.named && r.Slow() {
				err = neural.TooSlow(set.Name, r)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// ModelName returns the name of the engine that a set is.
func ModelName(set catalog.Installed) string { return "the model " + set.Name }

// missing returns the engine that stands for a model which is not installed.
func missing(role catalog.Role, language string) Engine {
	return broken("a neural model", neural.Missing(role, language))
}

// broken returns an engine that is never well.
func broken(name string, err error) Engine {
	return Engine{Name: name, Dial: func() (helper.Link, error) { return nil, err }, Check: func(context.Context) error { return err }}
}

// Voices returns the engines that speak, as Recognisers does.
func (c Config) Voices(embedded helper.Dialer, models neural.Library) (all []Engine) {
	if s := c.Say; s.Engine == Auto || s.Engine == Neural {
		all = s.models(models)
	}
	if s := c.Say; s.Wyoming.Address != "" && (s.Engine == Auto || s.Engine == Wyoming) {
		server, _ := wyoming.ParseServer(s.Wyoming.Address)
		all = append(all, voice(wyomingName(server), !server.Local(), wyoming.Rate, wyoming.Voice{Server: server, Name: s.Wyoming.Voice, Speaker: s.Wyoming.Speaker}))
	}
	if s := c.Say; s.OpenAI.URL != "" && (s.Engine == Auto || s.Engine == OpenAI) {
		server := openaispeech.Server{URL: s.OpenAI.URL, Key: s.OpenAI.APIKey}
		all = append(all, voice(speechName(server), !server.Local(), openaispeech.Rate, openaispeech.Voice{Server: server, Model: s.OpenAI.Model, Name: s.OpenAI.Voice, Speed: s.OpenAI.Speed}))
	}
	return append(all, Engine{Name: "the embedded voice", Dial: embedded})
}

func recogniser(name string, elsewhere bool, r remote.Recogniser) Engine {
	return Engine{Name: name, Dial: remote.Hear(name, r), Check: r.Check, Elsewhere: elsewhere}
}

func voice(name string, elsewhere bool, rate int, v remote.Voice) Engine {
	return Engine{Name: name, Dial: remote.Say(name, rate, v), Check: v.Check, Elsewhere: elsewhere}
}

func wyomingName(s wyoming.Server) string { return "the Wyoming server at " + string(s) }

func speechName(s openaispeech.Server) string { return "the speech server at " + s.Host() }

// IsEmbedded reports whether e comes with the program.
func (e Engine) IsEmbedded() bool { return e.Check == nil }
