package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"earshot/config"
)

// TestSalvage: what is right in a configuration that is wrong can be used, and what is
// wrong has its default.
func TestSalvage(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	for _, tt := range []struct {
		name, text string
		faults     int
		socket     string // that there is then; empty is the default
		concerns   string // of the keys server.socket and store.directory
	}{
		{"nothing wrong", "server: {socket: SOCKET}", 0, socket, ""},
		{"a misspelt key", "executive: {nmae: Bob}\nserver: {socket: SOCKET}", 1, socket, ""},
		{"a value out of range", "executive: {streaming: {buffer_size: 0}}\nserver: {socket: SOCKET}", 1, socket, ""},
		{"a value that cannot be read", "providers: {webcam: {enabled: perhaps}}\nserver: {socket: SOCKET}", 1, socket, ""},
		{"an entry of a list", "rooms: [{id: '*'}, {id: a, nmae: b}]\nserver: {socket: SOCKET}", 2, socket, ""},
		{"two keys that contradict each other", "executive: {name: Ann}\nexternal_actors: {actors: [{actor_id: ann, display_name: Ann}]}\nserver: {socket: SOCKET}", 1, socket, ""},
		{"a section that is none", "store: 7\nserver: {socket: SOCKET}", 1, socket, "store.directory"},
		{"the socket", "server: {socket: here}\nstore: {directory: SOCKET}", 1, "", "server.socket"},
		{"the socket, misspelt", "server: {sokcet: SOCKET}", 1, "", "server.socket"},
		{"no YAML", "server:\n\tsocket: SOCKET", 1, "", "server.socket store.directory"},
		{"a list", "[a, b]", 1, "", "server.socket store.directory"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(file, []byte(strings.ReplaceAll(tt.text, "SOCKET", socket)), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := config.Salvage(file)
			var wrong *config.Error
			if errors.As(err, &wrong) != (tt.faults > 0) {
				t.Fatalf("%v", err)
			}
			if _, strict := config.Load(file); fmt.Sprint(strict) != fmt.Sprint(err) {
				t.Errorf("it says %v, and Load %v", err, strict)
			}
			if bad := c.Validate(); bad != nil || c.File != file || c.Server.Socket != tt.socket {
				t.Errorf("of %s the socket %q is left: %v", c.File, c.Server.Socket, bad)
			}
			if wrong == nil {
				return
			}
			var concerns []string
			for _, key := range []string{"server.socket", "store.directory"} {
				if wrong.Concerns(key) {
					concerns = append(concerns, key)
				}
			}
			if got := strings.Join(concerns, " "); len(wrong.Faults) != tt.faults || got != tt.concerns {
				t.Errorf("%v\nthese concern %q, want %d that concern %q", wrong, got, tt.faults, tt.concerns)
			}
		})
	}
	for _, file := range []string{"/nowhere/config.yaml", t.TempDir()} {
		if c, err := config.Salvage(file); err == nil || c.Validate() != nil {
			t.Errorf("%s: %v, %v", file, err, c.Validate())
		}
	}
}
