package config

import (
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"earshot/internal/field"
	"earshot/providers/discord"
)

// prefix begins every environment variable that is ours.
const prefix = "EARSHOT_"

// reserved are the variables that are no keys.
var reserved = []string{
	"EARSHOT_CONFIG",  // the file, see Find
	discord.Variable,  // the token of a bot, which stands in no file of ours
	"EARSHOT_TOKEN",   // that somebody is who they say, see docs/people.md
	"EARSHOT_PROOF",   // tests: the long counts
	"EARSHOT_OLLAMA",  // tests: the model server
	"EARSHOT_WITHOUT", // setup and tests: what to do without
	"EARSHOT_ROOT",    // setup: where the system is
	"EARSHOT_VULNDB",  // make check: the database of vulnerabilities

}

// Variable returns the environment variable that overrides key.
func Variable(key string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// override sets what environ says, and returns the variable that each key was
// set by.
func override(c *Config, environ []string) (by map[string]string, faults []Fault) {
	keys, values := variables(c)
	var names []string
	for name := range keys {
		names = append(names, name)
	}
	slices.Sort(names)
	by = make(map[string]string)
	for _, entry := range environ {
		name, text, _ := strings.Cut(entry, "=")
		if name == discord.Variable {
			c.Providers.Discord.Token = field.Secret(strings.TrimSpace(text))
		}
		if !strings.HasPrefix(name, prefix) || slices.Contains(reserved, name) {
			continue
		}
		key, ok := keys[name]
		if !ok {
			faults = append(faults, Fault{Where: shown(name), Problem: meant(name, names)})
			continue
		}
		by[key] = name
		if problem := overrideOne(values[key], text); problem != "" {
			faults = append(faults, Fault{Where: name, Key: key, Problem: problem})
		}
	}
	return by, faults
}

// overrideOne sets v to text, and says what is wrong if it cannot.
func overrideOne(v reflect.Value, text string) (problem string) {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: text}
	if v.Kind() == reflect.String {
		n.Tag = "!!str" // taken as it is, whatever YAML would make of it
	}
	switch {
	case isList(v.Type()):
		return "is a list, which only the file can set"
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return "is not text"
	}
	if err := set(n, v); err != nil {
		return err.Error()
	}
	return ""
}

// meant says that there is no such variable, and which may be meant.
func meant(name string, names []string) string {
	lower := make([]string, len(names))
	for i, n := range names {
		if strings.HasPrefix(n, name+"_") {
			return "is a section; name a key in it, such as " + n
		}
		lower[i] = strings.ToLower(n)
	}
	if near, ok := Nearest(name, lower); ok {
		return "is no environment variable of earshot; did you mean " + strings.ToUpper(near) + "?"
	}
	return "is no environment variable of earshot; it is " + prefix + " and a key, such as " + Variable("executive.llm.model")
}

// variables returns the key that each variable overrides, and the value in c
// of each key.
func variables(c *Config) (keys map[string]string, values map[string]reflect.Value) {
	keys, values = make(map[string]string), make(map[string]reflect.Value)
	walk("", reflect.ValueOf(c).Elem(), func(key string, v reflect.Value) {
		if !isSection(v.Type()) {
			keys[Variable(key)], values[key] = key, v
		}
	})
	return keys, values
}
