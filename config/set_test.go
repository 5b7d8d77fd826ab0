package config_test

import (
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"earshot/config"
)

func TestSet(t *testing.T) {
	const model = "executive.llm.model"
	const list = "executive:\n  llm:\n    engines:\n      - provider: ollama # mine\n        model: a\n      - {provider: openai, model: b, host: \"localhost:1\"}\n"
	for _, tt := range []struct{ name, key, value, file, want string }{
		{"an empty file", model, "owl", "", "executive:\n  llm:\n    model: owl\n"},
		{"only comments", model, "owl", "# nothing yet", "# nothing yet\nexecutive:\n  llm:\n    model: owl\n"},
		{"another section", model, "owl", "log:\n  level: info\n", "log:\n  level: info\nexecutive:\n  llm:\n    model: owl\n"},
		{"without a last line end", model, "owl", "log:\n  level: info", "log:\n  level: info\nexecutive:\n  llm:\n    model: owl\n"},
		{"the section", model, "owl", "executive:\n    # who it is\n    name: Bob\n", "executive:\n    llm:\n      model: owl\n    # who it is\n    name: Bob\n"},
		{"the section, empty", model, "owl", "executive:\n  llm: # later\n    # model: a\nlog:\n", "executive:\n  llm: # later\n    model: owl\n    # model: a\nlog:\n"},
		{"the key", model, "owl:3b", "executive:\n  llm:\n    provider: ollama\n    model: parrot:1b   # it talks\n    host: a\n", "executive:\n  llm:\n    provider: ollama\n    model: owl:3b   # it talks\n    host: a\n"},
		{"the key, in quotes", model, "owl", "executive: \n  llm:\n    'model': \"a\\\"b\" # \"\n", "executive: \n  llm:\n    'model': owl # \"\n"},
		{"in other quotes", model, "owl", "executive:\n  llm:\n    model: 'it''s' # '\n", "executive:\n  llm:\n    model: owl # '\n"},
		{"the key, empty", model, "owl", "executive:\n  llm:\n    model: # none\n    slots: 2\n", "executive:\n  llm:\n    model: owl # none\n    slots: 2\n"},
		{"between braces", model, "owl:3b", "executive: {llm: {model: a, slots: 2}} # short\n", "executive: {llm: {model: \"owl:3b\", slots: 2}} # short\n"},
		{"an entry of a list", "executive.llm.engines[0].model", "owl", list, strings.Replace(list, "model: a", "model: owl", 1)},
		{"an entry between braces", "executive.llm.engines[1].model", "owl", list, strings.Replace(list, "model: b", "model: \"owl\"", 1)},
		{"a value that needs quotes", model, "3", "", "executive:\n  llm:\n    model: \"3\"\n"},
		{"and another", model, "true", "", "executive:\n  llm:\n    model: \"true\"\n"},
		{"hostile", model, "a\nlog: {level: debug}", "", "executive:\n  llm:\n    model: \"a\\nlog: {level: debug}\"\n"},
		{"lines of another system", model, "owl", "executive:\r\n  name: Bob\r\n", "executive:\r\n  llm:\r\n    model: owl\r\n  name: Bob\r\n"},
		{"letters of two bytes", model, "owl", "executive: {name: Zoë, llm: {model: ü}}\n", "executive: {name: Zoë, llm: {model: \"owl\"}}\n"},

		{"an alias", model, "owl", "a: &a {model: b}\nexecutive:\n  llm: *a\n", ""},
		{"text of several lines", model, "owl", "executive:\n  llm:\n    model: |\n      a\n", ""},
		{"a new key between braces", model, "owl", "executive: {name: Bob}\n", ""},
		{"a list for a section", model, "owl", "executive: [llm]\n", ""},
		{"a value for a section", model, "owl", "executive: none\n", ""},
		{"no such entry", "executive.llm.engines[2].model", "owl", list, ""},
		{"the key twice", model, "owl", "executive:\n  llm:\n    model: a\n    model: b\n", ""},
		{"no YAML", model, "owl", "a: [", ""},
		{"two documents", model, "owl", "a: b\n---\nc: d\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := config.Set([]byte(tt.file), tt.key, tt.value)
			if (err != nil) != (tt.want == "") || string(got) != tt.want {
				t.Errorf("%v\n%s\nwant\n%s", err, got, tt.want)
			}
		})
	}
}

func TestLine(t *testing.T) {
	const file = "# a\nexecutive:\n  llm:\n    engines:\n      - provider: ollama\n        model: a\n      - {provider: openai}\n"
	for key, want := range map[string]int{
		"executive": 2, "executive.llm": 3, "executive.llm.engines[0].model": 6, "executive.llm.engines[1].model": 7,
		"executive.llm.engines[5].model": 4, "executive.name": 2, "log.level": 0, "executive.llm.engines[x]": 0,
	} {
		if got := config.Line([]byte(file), key); got != want {
			t.Errorf("%s stands in line %d, want %d", key, got, want)
		}
	}
	if got := config.Line([]byte("a: ["), "a"); got != 0 {
		t.Errorf("of what is no YAML it is line %d", got)
	}
}

// FuzzSet: whatever the file is, the value is in it afterwards, each line that was there
// still is, but for the one that changed, and nothing else says anything else.
func FuzzSet(f *testing.F) {
	f.Add("executive:\n  llm: {model: a} # b\n", "owl")
	f.Add("# a\nexecutive:\n\n  llm:\n    model: 'x'\n  name: b\n", "c: d")
	f.Add("executive: &a\n  llm: *a\n", "")
	f.Add("- a\n- b", "x")
	f.Fuzz(func(t *testing.T, file, value string) {
		got, err := config.Set([]byte(file), "executive.llm.model", value)
		if err != nil {
			return
		}
		var was, is any
		if yaml.Unmarshal([]byte(file), &was) != nil || yaml.Unmarshal(got, &is) != nil {
			t.Fatalf("%q became %q", file, got)
		}
		llm := is.(map[string]any)["executive"].(map[string]any)["llm"].(map[string]any)
		if llm["model"] != value && strings.ToValidUTF8(value, "\ufffd") == value {
			t.Errorf("%q became %q, in which the model is %v", file, got, llm["model"])
		}
		delete(llm, "model")
		if before, ok := was.(map[string]any); ok && len(before) > 1 {
			for key := range before {
				if key != "executive" && !reflect.DeepEqual(before[key], is.(map[string]any)[key]) {
					t.Errorf("%q became %q, in which %s is another", file, got, key)
				}
			}
		}
		lost := 0
		for line := range strings.Lines(file) {
			if !strings.Contains(string(got), strings.TrimRight(line, "\r\n")) {
				lost++
			}
		}
		if lost > 1 {
			t.Errorf("%q became %q, which lost %d lines", file, got, lost)
		}
	})
}
