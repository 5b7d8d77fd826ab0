package config

import (
	"earshot/api"
)

// A Permission is what earshot does only if somebody has allowed it: nobody sees of a program
// that it listens, looks, or thinks about and remembers what it has heard.
type Permission struct {
	Thing, Key string
	Question   string // of people, in a line of 40 columns
	Of         func(*Config) *bool
}

// Permissions are all that there are.
var Permissions = []Permission{
	{"microphone", "providers.microphone.enabled", "Hear what is said here (microphone)", func(c *Config) *bool { return &c.Providers.Microphone.Enabled }},
	{"camera", "providers.webcam.enabled", "See who is here (camera)", func(c *Config) *bool { return &c.Providers.Webcam.Enabled }},
	{"unasked thinking", "executive.parallel.reasoning_continuous", "Think unasked about what is new", func(c *Config) *bool { return &c.Executive.Parallel.ReasoningContinuous }},
	{"memory", "executive.memory.enabled", "Write down what to remember (memory)", func(c *Config) *bool { return &c.Executive.Memory.Enabled }},
}

// OverheardKey is the key that says for how many hours what was not said to an agent is kept.
const OverheardKey = "store.retention.overheard_hours"

// Undecided returns the keys of permissions that nobody has granted or refused.
func Undecided(cfg *Config) (keys []string) {
	for _, p := range Permissions {
		if !*p.Of(cfg) && !cfg.Says(p.Key) {
			keys = append(keys, p.Key)
		}
	}
	return keys
}

// Permitted returns what is allowed, and what is not.
func Permitted(cfg *Config) (all []api.Permission) {
	for _, p := range Permissions {
		all = append(all, api.Permission{Thing: p.Thing, Key: p.Key, Allowed: *p.Of(cfg)})
	}
	return all
}
