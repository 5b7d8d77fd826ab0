package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"earshot"
	"earshot/config"
)

// TestBeginnings: each key of a part of the house says which part begins again, and each
// of those parts is one.
func TestBeginnings(t *testing.T) {
	known := make(map[string]bool)
	for _, key := range config.Keys() {
		if config.ClassOf(key) == config.Section && len(beginning(key)) == 0 && !strings.HasPrefix(key, "speakers.") {
			t.Errorf("%s is of a part of the house, but of which?", key)
		}
		for at := key; at != ""; at = at[:max(0, strings.LastIndexByte(at, '.'))] {
			known[at] = true
		}
	}
	for key := range begins {
		if !known[key] {
			t.Errorf("there is no key %s", key)
		}
	}
}

// others are values besides the default of those keys for which any other number or word
// is a fault.
var others = map[string]string{
	"executive.llm.provider":                     "ollama",
	"executive.llm.host":                         "http://localhost:1",
	"executive.llm.api_key":                      "hush",
	"executive.llm.tools":                        "schema",
	"executive.llm.vision":                       "true",
	"executive.llm.engines":                      "[{name: scripted, provider: script, script: SCRIPT}]",
	"executive.llm.roles.user.engine":            "scripted",
	"executive.llm.roles.subagent.engine":        "scripted",
	"executive.llm.roles.memory.engine":          "scripted",
	"executive.llm.roles.memory_search.engine":   "scripted",
	"executive.llm.roles.task.engine":            "scripted",
	"executive.reasoning.engine":                 "scripted",
	"executive.reasoning.triggers":               "[ponder]",
	"executive.interruption.sources":             "[text]",
	"executive.speech.heard_as":                  "[air shot]",
	"executive.speech.least_confidence":          "0.5",
	"executive.attention.quiet_hours":            "01:00-02:00",
	"executive.attention.least_confidence":       "0.9",
	"executive.sight.rooms":                      "[kitchen]",
	"executive.multi_party.turn_taking_protocol": "passive",
	"executive.tools.workspace":                  "/nowhere/workspaces",
	"external_actors.actors":                     "[{actor_id: bob}]",
	"external_actors.anonymous_pattern":          "visitor_{number}",
	"agents":                                     "[{name: Scout}]",
	"rooms":                                      "[{id: kitchen}]",
	"providers.microphone.least_confidence":      "0.1",
	"providers.microphone.ear.duck_frames":       "4",
	"providers.microphone.ear.end_seconds":       "0.7",
	"providers.microphone.ear.longest_seconds":   "20",
	"providers.webcam.cameras":                   "[{name: door}]",
	"providers.discord.token_file":               "/nowhere/other",
	"providers.discord.guilds":                   "[\"12345678901234567\"]",
	"providers.discord.channels":                 "[\"12345678901234567\"]",
	"providers.discord.users":                    "[\"12345678901234567\"]",
	"providers.discord.operators":                "[\"12345678901234567\"]",
	"providers.discord.voice_channels":           "[\"12345678901234567\"]",
	"providers.discord.bots":                     "ignore",
	"providers.discord.join":                     "people",
	"providers.discord.base":                     "http://127.0.0.1:1",
	"outlets.loudspeaker.volume":                 "0.5",
	"outlets.loudspeaker.voice":                  "rms",
	"outlets.discord.voice_name":                 "rms",
	"speakers.sure":                              "0.75",
	"store.directory":                            "/nowhere/journal",
	"server.socket":                              "/nowhere/socket",
	"log.level":                                  "debug",
	"log.file":                                   "\"-\"",
}

// A renovation is a house of a file, which is read again.
type renovation struct {
	t *testing.T
	*daemon
	file string
	base string // what stands in the file besides what is changed
}

// renovated returns a house that runs.
func renovated(t *testing.T) *renovation {
	dir := t.TempDir()
	script := filepath.Join(dir, "model.yaml")
	if err := os.WriteFile(script, []byte("reply: yes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &renovation{t: t, file: filepath.Join(dir, "config.yaml"), base: "executive: {llm: {name: scripted, provider: openai, host: http://localhost:9, model: m}}\nproviders: {discord: {token_file: /nowhere/token}}"}
	r.write(r.base)
	cfg, err := r.load()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Store.Directory = filepath.Join(dir, "journal")
	if r.daemon, err = newDaemon(t.Context(), cfg, quietly, earshot.Handle{Provider: "console", ID: "1"}, "ann"); err != nil {
		t.Fatal(err)
	}
	r.reloads.load = func() (*config.Config, error) {
		next, err := r.load()
		if err == nil && next.Store.Directory == "" {
			next.Store.Directory = filepath.Join(dir, "journal")
		}
		return next, err
	}
	stop := runs(t, r.daemon)
	t.Cleanup(func() { stop(); r.close() })
	return r
}

func (r *renovation) write(text string) {
	r.t.Helper()
	if err := os.WriteFile(r.file, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *renovation) load() (*config.Config, error) {
	data, err := os.ReadFile(r.file)
	if err != nil {
		return nil, err
	}
	return config.Parse(r.file, data, nil)
}

// TestReloadKeys: each key that there is holds once it has changed, or is said to wait for
// a restart.
func TestReloadKeys(t *testing.T) {
	r := renovated(t)
	for _, key := range config.Keys() {
		before := r.config()
		value, chosen := others[key]
		if !chosen {
			value = another(t, before, key)
		}
		value = strings.ReplaceAll(value, "SCRIPT", strings.TrimSuffix(r.file, "config.yaml")+"model.yaml")
		r.write(changedTo(t, r.base, key, value))
		is, err := r.reload(t.Context(), true)
		if err != nil {
			t.Errorf("%s: %s: %v", key, value, err)
			continue
		}
		wanted, err := r.load()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(is.Changes, func(c config.Change) bool { return c.Key == key }) {
			t.Errorf("%s has not changed by %s: %+v", key, value, is)
			continue
		}
		holds := !slices.ContainsFunc(r.config().Changes(wanted), func(c config.Change) bool { return c.Key == key })
		waits := slices.Contains(is.Waiting, key)
		if restarts := config.ClassOf(key) == config.Restart; holds == restarts || waits != restarts {
			t.Errorf("%s, of class %s: it holds is %v, it waits is %v", key, config.ClassOf(key), holds, waits)
		}
		if !slices.Equal(r.waiting(), is.Waiting) {
			t.Errorf("%s: %v is said to wait, not %v", key, r.waiting(), is.Waiting)
		}
		r.write(r.base)
		is, err = r.reload(t.Context(), true)
		if is.Waiting = slices.DeleteFunc(is.Waiting, func(key string) bool { return key == "rooms" }); err != nil || len(is.Waiting) > 0 {
			t.Errorf("%s was taken back: %+v, %v", key, is, err) // but a room that is gone stays until then
		}
	}
}

// another returns another value than the one that a key has.
func another(t *testing.T, c *config.Config, key string) string {
	v := valueOf(t, c, key)
	switch {
	case v.Kind() == reflect.Bool:
		return fmt.Sprint(!v.Bool())
	case v.CanInt():
		return fmt.Sprint(v.Int() + 1)
	case v.CanFloat():
		return fmt.Sprint(v.Float()*1.25 + 0.125)
	}
	return "another"
}

// valueOf returns the value of a key.
func valueOf(t *testing.T, c *config.Config, key string) reflect.Value {
	v := reflect.ValueOf(c).Elem()
	for part := range strings.SplitSeq(key, ".") {
		if v = member(v, part); !v.IsValid() {
			t.Fatalf("there is no key %s", key)
		}
	}
	return v
}

// member returns what is called so in a section.
func member(section reflect.Value, name string) reflect.Value {
	for i := range section.NumField() {
		tag, options, _ := strings.Cut(section.Type().Field(i).Tag.Get("yaml"), ",")
		if tag == name && tag != "" {
			return section.Field(i)
		}
		if options == "inline" {
			if v := member(section.Field(i), name); v.IsValid() {
				return v
			}
		}
	}
	return reflect.Value{}
}

// changedTo returns the file with another value for a key.
func changedTo(t *testing.T, file, key, value string) string {
	var all map[string]any
	var to any
	if err := errors.Join(yaml.Unmarshal([]byte(file), &all), yaml.Unmarshal([]byte(value), &to)); err != nil {
		t.Fatal(err)
	}
	if key == "executive.llm.engines" { // which are asked instead of the one beside them
		all = nil
	}
	if all == nil {
		all = make(map[string]any)
	}
	at := all
	parts := strings.Split(key, ".")
	for _, part := range parts[:len(parts)-1] {
		next, _ := at[part].(map[string]any)
		if next == nil {
			next = make(map[string]any)
			at[part] = next
		}
		at = next
	}
	at[parts[len(parts)-1]] = to
	data, err := yaml.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
