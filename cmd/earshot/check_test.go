package main

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"earshot/config"
	"earshot/internal/probe"
)

// TestCheckModels: check reports a missing script and a host that is only a port as faults, and a
// model that the server does not list as a warning, since it may be right all the same.
func TestCheckModels(t *testing.T) {
	s := newShelf(t, "first:1b", "second:latest")
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	const one = "executive:\n  llm:\n    provider: %s\n    %s\n"
	for _, tt := range []struct {
		name, file string
		code       int
		says       string // FILE stands for the path of the file
	}{
		{"no script", fmt.Sprintf(one, "script", "script: nowhere.yaml"), misused, "FILE:4: executive.llm.script: reading a script: open nowhere.yaml: no such file or directory; must be a file as described in docs/models.md\n"},
		{"a script that is a folder", fmt.Sprintf(one, "script", "script: config"), misused, "FILE:4: executive.llm.script: reading a script: read config: is a directory"},
		{"a script that is none", fmt.Sprintf(one, "script", "script: config/earshot/config.yaml"), misused, "FILE:4: executive.llm.script: "},
		{"a script of a list", "executive:\n  llm:\n    engines:\n    - {provider: ollama, model: second, host: '" + s.URL + "'}\n    - provider: script\n      script: nowhere\n", misused, "FILE:6: executive.llm.engines[1].script: "},
		{"no script, and another fault", fmt.Sprintf(one, "script", "script: nowhere") + "exekutive: 3\n", misused,
			"FILE:5: exekutive: is not a key; did you mean \"executive\"?\nFILE:4: executive.llm.script: reading a script: open nowhere: no such file or directory; must be a file as described in docs/models.md\n"},
		{"a script that is not named", fmt.Sprintf(one, "script", "script: ''"), misused, "FILE:4: executive.llm.script: is empty; must be the file with what the model says\n"},
		{"a port", fmt.Sprintf(one, "ollama", "host: 11434"), misused, "FILE:4: executive.llm.host: is only a port; must be an address, such as http://localhost:11434\n"},
		{"a model that is listed", fmt.Sprintf(one, "ollama", "model: second\n    host: "+s.URL), success, "FILE is valid.\n"},
		{"one that is not", fmt.Sprintf(one, "ollama", "model: owl\n    host: "+s.URL), success,
			"! FILE:4: executive.llm.model: is \"owl\", which ollama does not have; set it to first:1b, or: ollama pull owl   (there is: first:1b, second:latest)\nFILE is valid.\n"},
		{"of a role, a thought and an agent", "agents:\n- {name: Ann, model: c}\nexecutive:\n  reasoning: {model: b}\n  llm:\n    roles: {user: {model: a}}\n    model: second\n    host: " + s.URL + "\n", success,
			"! FILE:6: executive.llm.roles.user.model: is \"a\", which ollama does not have; set it to first:1b, or: ollama pull a   (there is: first:1b, second:latest)\n" +
				"! FILE:4: executive.reasoning.model: is \"b\", which ollama does not have; set it to first:1b, or: ollama pull b   (there is: first:1b, second:latest)\n" +
				"! FILE:2: agents[0].model: is \"c\", which ollama does not have; set it to first:1b, or: ollama pull c   (there is: first:1b, second:latest)\nFILE is valid.\n"},
		{"of vectors", "executive:\n  recall:\n    embedding: {model: vec}\n  llm:\n    model: second\n    host: " + s.URL + "\n", success,
			"! FILE:3: executive.recall.embedding.model: is \"vec\", which ollama does not have; set it to first:1b, or: ollama pull vec   (there is: first:1b, second:latest)\nFILE is valid.\n"},
		{"where nobody answers", fmt.Sprintf(one, "ollama", "host: 127.0.0.1:1"), success, "FILE is valid.\n"},
		{"where nobody says anything", fmt.Sprintf(one, "ollama", "host: "+silent.Addr().String()), success, "FILE is valid.\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHome(t)
			file := h.write("config/earshot/config.yaml", tt.file)
			began := time.Now()
			r := h.earshot(nil, "check")
			if took := time.Since(began); took > soon/2 {
				t.Errorf("took %v", took)
			}
			got := strings.NewReplacer(file, "FILE", config.ShortPath(file), "FILE", strings.Replace(file, h.dir, "~", 1), "FILE").Replace(r.out + r.err)
			if r.code != tt.code || !strings.Contains(got, tt.says) || tt.code == success && got != tt.says {
				t.Errorf("ended with %d and printed\n%swant %d\n%s", r.code, got, tt.code, tt.says)
			}
			r = h.earshot(nil, "check", "--json")
			var all []probe.CheckedFault
			if err := json.Unmarshal([]byte(r.out), &all); err != nil || r.code != tt.code || len(all) != strings.Count(tt.says, "FILE:") {
				t.Errorf("for programs: ended with %d, %v: %s", r.code, err, r.out)
			}
			for _, f := range all {
				if f.Warning != (tt.code == success) || f.Line == 0 || f.Key == "" {
					t.Errorf("for programs: %+v", f)
				}
			}
		})
	}
}
