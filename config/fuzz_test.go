package config_test

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"earshot/config"
)

// FuzzParse reads anything. It must end, tell every fault with its place in
// lines that can be shown, and take what it gives as its own.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		config.Sample(), "", "executive:\n  name: Bob\n", "a: &a [*a]", "{a: b, a: c}", "- - - -",
		"executive: {llm: {engines: [{provider: ollama}, {host: 1}]}}", "? [a]\n: b", "--- |\n x\n--- >\n y",
		"%YAML 1.1\n---\nlog: !!map {level: !!str debug}", "\xff\xfee\x00", "log: {level: \"\\u202e\"}",
	} {
		f.Add([]byte(seed), "EARSHOT_LOG_LEVEL=debug")
	}
	f.Add([]byte("log:"), "EARSHOT_EXECUTIVE_LLM_SLOTS=\x00")
	f.Fuzz(func(t *testing.T, data []byte, variable string) {
		c, err := config.Parse("c.yaml", data, []string{variable})
		if err == nil {
			if again := c.Validate(); again != nil {
				t.Errorf("accepted, and not valid: %v", again)
			}
			return
		}
		e, ok := err.(*config.Error)
		if !ok || len(e.Faults) == 0 || c != nil {
			t.Fatalf("%T %v beside %v", err, err, c)
		}
		lines := strings.Count(string(data), "\n") + strings.Count(string(data), "\r") + 3
		for _, fault := range e.Faults {
			text := fault.String()
			if fault.Line < 0 || fault.Line > lines+strings.Count(string(data), "\u2028")+strings.Count(string(data), "\u2029")+strings.Count(string(data), "\u0085") {
				t.Errorf("%s: there are only %d lines", text, lines)
			}
			if !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\x1b\r\n") {
				t.Errorf("cannot be shown: %q", text)
			}
		}
		if _, twice := config.Parse("c.yaml", data, []string{variable}); !reflect.DeepEqual(err, twice) {
			t.Errorf("said %v, then %v", err, twice)
		}
	})
}
