package llm

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"earshot/internal/field"
)

// The providers of engines.
const (
	Ollama = "ollama"
	OpenAI = "openai" // any server that speaks OpenAI's protocol
	Script = "script" // the scripted model, for people without a model
)

// ollamaHost is where Ollama listens by default.
const ollamaHost = "http://localhost:11434"

// mostSlots is more than any machine at home can do at once; a larger number is a typing error.
const mostSlots = 64

// An EngineConfig says which model answers, and where.
type EngineConfig struct {
	// Name is the name that agents and roles use. Empty means the provider's, with a number if
	// there are several. Entries of the same name are hosts of one engine; see [Host].
	Name string `yaml:"name"`

	Provider string `yaml:"provider"` // ollama, openai or script
	Model    string `yaml:"model"`    // the server's name for it; script has none

	// Host is the server, with or without http:// and port. Empty means this machine for ollama;
	// openai must have one, script has none.
	Host string `yaml:"host"`

	// APIKey is sent to an openai server. Servers at home need none.
	APIKey field.Secret `yaml:"api_key"`

	// Slots is how many requests the server handles at a time, which is OLLAMA_NUM_PARALLEL for
	// Ollama. If it is 1, the default, thinking pauses for each reply.
	Slots int `yaml:"slots"`

	// Tools is how models call tools; empty means [Auto].
	Tools ToolUse `yaml:"tools"`

	// Vision says that the model of an openai server can look at pictures. Some of these servers
	// report it themselves; Ollama and a script always do.
	Vision bool `yaml:"vision"`

	// Script is the file that the provider script reads; see llmtest.Load.
	Script string `yaml:"script"`
}

// Config is the section executive.llm of the configuration file. The zero
// value is not usable; start from [DefaultConfig].
type Config struct {
	EngineConfig `yaml:",inline"`

	// SlowNotice is how long a reply may take to its first word before the person who waits is
	// told. 0 is never.
	SlowNotice field.Seconds `yaml:"slow_notice_seconds"`

	// FirstToken is how long a model may take to its first token before it is unloaded and asked
	// again, or the next engine is asked. See [DefaultFirstToken].
	FirstToken field.Seconds `yaml:"first_token_seconds"`

	// Load is how long the first token may take if the server must load the model first. See
	// [DefaultLoad].
	Load field.Seconds `yaml:"load_seconds"`

	// Idle is how long the next token may take before the reply has failed. See [DefaultIdle].
	Idle field.Seconds `yaml:"idle_seconds"`

	// Total is how long a reply may take altogether, with all retries. See [DefaultTotal].
	Total field.Seconds `yaml:"total_seconds"`

	// Roles choose an engine and a model for kinds of agents.
	Roles Roles `yaml:"roles"`

	// Engines are asked in this order until one answers. If there are any, the single engine above
	// is not used.
	Engines []EngineConfig `yaml:"engines"`
}

// DefaultConfig is the configuration of a user who wrote none: an Ollama on this machine.
func DefaultConfig() Config {
	return Config{
		EngineConfig: EngineConfig{Provider: Ollama, Model: "deepseek-r1:8b", Host: ollamaHost, Slots: 1, Tools: Auto},
		SlowNotice:   5,
		FirstToken:   field.Seconds(DefaultFirstToken.Seconds()),
		Load:         field.Seconds(DefaultLoad.Seconds()),
		Idle:         field.Seconds(DefaultIdle.Seconds()),
		Total:        field.Seconds(DefaultTotal.Seconds()),
	}
}

// List returns the engines in the order in which they are asked, each with a name, and with
// defaults for what an item leaves out.
func (c Config) List() []EngineConfig {
	if len(c.Engines) == 0 {
		return named([]EngineConfig{c.EngineConfig})
	}
	list := slices.Clone(c.Engines)
	for i := range list {
		list[i].Slots = max(list[i].Slots, 1)
		list[i].Tools = cmp.Or(list[i].Tools, Auto)
		if list[i].Provider == Ollama && list[i].Host == "" {
			list[i].Host = ollamaHost
		}
	}
	return named(list)
}

// Names returns the names of the engines.
func (c Config) Names() (names []string) {
	for _, e := range c.List() {
		if !slices.Contains(names, e.Name) {
			names = append(names, e.Name)
		}
	}
	return names
}

// HostsOf returns those of a list that are hosts of the engine with that name.
func HostsOf(list []EngineConfig, name string) []EngineConfig {
	return slices.DeleteFunc(slices.Clone(list), func(e EngineConfig) bool { return e.Name != name })
}

// HostName returns the name for people of the i-th of a list: that of its engine, and the number of
// the host if the engine has several.
func HostName(list []EngineConfig, i int) string {
	name := list[i].Name
	if len(HostsOf(list, name)) > 1 {
		name += fmt.Sprintf(", host %d", len(HostsOf(list[:i+1], name)))
	}
	return name
}

// named gives a name to those of list that have none.
func named(list []EngineConfig) []EngineConfig {
	taken := make(map[string]bool)
	for _, e := range list {
		taken[e.Name] = true
	}
	for i, e := range list {
		for n := 2; list[i].Name == ""; n++ {
			if !taken[e.Provider] {
				list[i].Name = e.Provider
			} else if name := fmt.Sprintf("%s-%d", e.Provider, n); !taken[name] {
				list[i].Name = name
			}
		}
		taken[list[i].Name] = true
	}
	return list
}

// Validate reports every fault in c, not only the first.
func (c Config) Validate() error {
	var faults []error
	if len(c.Engines) == 0 {
		faults = append(faults, c.EngineConfig.validate(1))
	}
	for i, e := range c.Engines {
		faults = append(faults, field.Under(fmt.Sprintf("engines[%d]", i), e.validate(0)))
	}
	if len(c.Engines) > 0 && c.EngineConfig != DefaultConfig().EngineConfig {
		faults = append(faults, field.Errorf("engines", "are set together with a single engine, which is then not used; write that one as the first of engines"))
	}
	faults = append(faults, c.twice(), field.Under("roles", c.Roles.validate(c.Names())))
	for _, number := range []struct {
		key string
		is  field.Seconds
	}{{"first_token_seconds", c.FirstToken}, {"load_seconds", c.Load}, {"idle_seconds", c.Idle}, {"total_seconds", c.Total}} {
		if !(number.is >= 1) {
			faults = append(faults, field.Errorf(number.key, "is %v; must be at least 1, because no model is always faster", float64(number.is)))
		}
	}
	if !(c.SlowNotice >= 0) {
		faults = append(faults, field.Errorf("slow_notice_seconds", "is %v; must be a number of seconds, or 0 for never", float64(c.SlowNotice)))
	}
	if c.Total < c.FirstToken {
		faults = append(faults, field.Errorf("total_seconds", "is %v; must be at least first_token_seconds, which is %v", float64(c.Total), float64(c.FirstToken)))
	}
	return errors.Join(faults...)
}

// twice reports engines with the name of an earlier one that are not another host of it.
func (c Config) twice() error {
	var faults []error
	list := c.List()
	for i, e := range list {
		first := slices.IndexFunc(list, func(other EngineConfig) bool { return other.Name == e.Name })
		e.Host, e.APIKey, e.Slots = list[first].Host, list[first].APIKey, list[first].Slots
		if first < i && (e != list[first] || slices.ContainsFunc(HostsOf(list[:i], e.Name), func(other EngineConfig) bool { return other.Host == list[i].Host })) {
			faults = append(faults, field.Errorf(fmt.Sprintf("engines[%d].name", i), "is %q, which is the name of engines[%d] already; choose another, or make this entry another host of the same model: with the provider, model, tools and vision of engines[%d] and a host of its own", e.Name, first, first))
		}
	}
	return errors.Join(faults...)
}

// validate reports every fault in e, which must have at least least slots.
func (e EngineConfig) validate(slots int) error {
	var faults []error
	switch e.Provider {
	case Ollama, OpenAI:
		faults = append(faults, e.validateServer()...)
	case Script:
		if e.Script == "" {
			faults = append(faults, field.Errorf("script", "is empty; must be the file with what the model says"))
		}
	default:
		faults = append(faults, field.Errorf("provider", "is %q; must be one of %s, %s, %s", e.Provider, Ollama, OpenAI, Script))
	}
	if !slices.Contains(toolUses, cmp.Or(e.Tools, Auto)) {
		faults = append(faults, field.Errorf("tools", "is %q; must be one of %s, %s, %s, %s", e.Tools, Auto, Native, BySchema, NoTools))
	} else if e.Provider == Script && cmp.Or(e.Tools, Auto) != Auto {
		faults = append(faults, field.Errorf("tools", "applies to servers only; the file of a script says whether it has tools"))
	}
	if e.Vision && e.Provider != OpenAI {
		faults = append(faults, field.Errorf("vision", "applies to openai servers only; %s reports which models can look at pictures", e.Provider))
	}
	if e.Slots < slots || e.Slots > mostSlots {
		faults = append(faults, field.Errorf("slots", "is %d; must be from 1 to %d", e.Slots, mostSlots))
	}
	return errors.Join(faults...)
}

// validateServer reports every fault in the settings of a server.
func (e EngineConfig) validateServer() (faults []error) {
	if strings.TrimSpace(e.Model) == "" {
		faults = append(faults, field.Errorf("model", "is empty; must be a model that the server has"))
	}
	if e.APIKey != "" && e.Provider == Ollama {
		faults = append(faults, field.Errorf("api_key", "is not used by ollama; leave it out"))
	}
	switch {
	case e.Host == "" && e.Provider == OpenAI:
		faults = append(faults, field.Errorf("host", "is empty; must be the address of the server, such as http://localhost:8080"))
	case e.Host != "":
		if problem := badHost(e.Host); problem != "" {
			faults = append(faults, field.Errorf("host", "%s", problem))
		}
	}
	return faults
}

// isPort reports whether text is the number of a port.
func isPort(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= 1 && n <= 65535
}

// badHost returns what is wrong with a host, without quoting it: it may hold a password.
func badHost(host string) string {
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	u, err := url.Parse(host)
	switch {
	case err != nil:
		return "is not an address; must be one such as http://localhost:11434"
	case u.Scheme != "http" && u.Scheme != "https":
		return "must begin with http:// or https://"
	case u.Hostname() == "":
		return "has no host name; must be an address such as http://localhost:11434"
	case u.User != nil:
		return "has a user name or a password in it; put a key under api_key"
	case u.RawQuery != "" || u.Fragment != "":
		return "must end with the path; leave out what begins with ? or #"
	case strings.Trim(u.Hostname(), "0123456789") == "":
		return fmt.Sprintf("is only a port; must be an address, such as http://localhost:%s", u.Hostname())
	case u.Port() != "" && !isPort(u.Port()):
		return fmt.Sprintf("has the port %s; must be from 1 to 65535", u.Port())
	}
	return ""
}
