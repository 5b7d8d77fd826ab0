package engine

import (
	"errors"
	"fmt"
	"slices"

	"earshot/internal/field"
	"earshot/internal/helper"
	"earshot/models/remote"
	"earshot/models/wyoming"
)

// The values of [Hear.Engine] and [Say.Engine].
const (
	Auto     = "auto"     // the best that is configured
	Embedded = "embedded" // what comes with the program
	Wyoming  = "wyoming"  // a server of Home Assistant's kind
)

// Config is the section speech of the configuration: by which engines earshot recognises speech and
// speaks. The zero value is not usable; start from [DefaultConfig].
type Config struct {
	// Remote allows servers on other machines. Everything that is said in the room goes to them.
	Remote bool `yaml:"remote"`

	Hear Hear `yaml:"hear"`
	Say  Say  `yaml:"say"`
}

// Hear is how speech is recognised.
type Hear struct {
	Engine   string            `yaml:"engine"`
	Language string            `yaml:"language"` // as two letters, such as en; only of what people say
	Wyoming  WyomingRecogniser `yaml:"wyoming"`
}

// A WyomingRecogniser is a server that recognises speech.
type WyomingRecogniser struct {
	Address string `yaml:"address"` // HOST:PORT
	Model   string `yaml:"model"`   // "" is the server's own choice
}

// Say is how the agent speaks.
type Say struct {
	Engine  string       `yaml:"engine"`
	Wyoming WyomingVoice `yaml:"wyoming"`
}

// A WyomingVoice is a voice of a server.
type WyomingVoice struct {
	Address string `yaml:"address"` // HOST:PORT
	Voice   string `yaml:"voice"`   // "" is the server's own choice
	Speaker string `yaml:"speaker"` // of a voice that has several
}

// DefaultConfig returns the configuration of a user who wrote none.
func DefaultConfig() Config {
	return Config{Hear: Hear{Engine: Auto, Language: english}, Say: Say{Engine: Auto}}
}

// english is the language that the embedded recogniser knows.
const english = "en"

// Validate reports every fault in c, not only the first. Whether a server answers is found out when
// it is asked.
func (c Config) Validate() error {
	return errors.Join(
		field.Under("hear", errors.Join(
			c.validate(c.Hear.Engine, c.Hear.Wyoming.Address),
			c.Hear.validateLanguage(),
		)),
		field.Under("say", c.validate(c.Say.Engine, c.Say.Wyoming.Address)),
	)
}

// validate reports what is wrong with the engine of a role and its server.
func (c Config) validate(engine, address string) error {
	const key = "wyoming.address"
	if !slices.Contains([]string{Auto, Embedded, Wyoming}, engine) {
		return field.Errorf("engine", "is %q; must be auto, embedded or wyoming", engine)
	}
	if address == "" {
		if engine == Wyoming {
			return field.Errorf(key, "is empty; write where the server is, as HOST:PORT, or let engine be auto")
		}
		return nil
	}
	server, err := wyoming.ParseServer(address)
	if err != nil {
		return field.Errorf(key, "is not HOST:PORT, such as 127.0.0.1:10300")
	}
	if !server.Local() && !c.Remote {
		return field.Errorf(key, "is on another machine, which would get what is said here; to allow that, set speech.remote: true")
	}
	return nil
}

func (h Hear) validateLanguage() error {
	if len(h.Language) != 2 || h.Language[0] < 'a' || h.Language[0] > 'z' || h.Language[1] < 'a' || h.Language[1] > 'z' {
		return field.Errorf("language", "is %.20q; must be two letters, such as en", h.Language)
	}
	if h.Language != english && (h.Engine == Embedded || h.Wyoming.Address == "") {
		return field.Errorf("language", "is %s, but the embedded recogniser knows English only; give the address of a Wyoming server, or set it to en", h.Language)
	}
	return nil
}

// embeddedName is what people are told about the engines that come with the program.
const (
	embeddedEar   = "the embedded recogniser"
	embeddedVoice = "the embedded voice"
)

// Recognisers returns the engines that recognise speech, the best first. C must be valid. Embedded is
// the one that comes with the program.
func (c Config) Recognisers(embedded helper.Dialer) (all []Engine) {
	if h := c.Hear; h.Engine != Embedded && h.Wyoming.Address != "" {
		server, _ := wyoming.ParseServer(h.Wyoming.Address)
		r := wyoming.Recogniser{Server: server, Model: h.Wyoming.Model, Language: h.Language}
		all = append(all, Engine{Name: serverName(server), Dial: remote.Hear(serverName(server), r), Check: r.Check, Elsewhere: !server.Local()})
	}
	if c.Hear.Language == english {
		all = append(all, Engine{Name: embeddedEar, Dial: embedded})
	}
	return all
}

// Voices returns the engines that speak, as Recognisers does.
func (c Config) Voices(embedded helper.Dialer) (all []Engine) {
	if s := c.Say; s.Engine != Embedded && s.Wyoming.Address != "" {
		server, _ := wyoming.ParseServer(s.Wyoming.Address)
		v := wyoming.Voice{Server: server, Name: s.Wyoming.Voice, Speaker: s.Wyoming.Speaker}
		all = append(all, Engine{Name: serverName(server), Dial: remote.Say(serverName(server), v), Check: v.Check, Elsewhere: !server.Local()})
	}
	return append(all, Engine{Name: embeddedVoice, Dial: embedded})
}

func serverName(s wyoming.Server) string { return fmt.Sprintf("the Wyoming server at %s", s) }

// IsEmbedded reports whether e comes with the program.
func (e Engine) IsEmbedded() bool { return e.Check == nil }
