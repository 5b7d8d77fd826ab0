package main

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"earshot/server"
)

var update = flag.Bool("update", false, "write docs/openapi.json")

// TestDescriptionIsCurrent checks that docs/openapi.json is what the program generates.
func TestDescriptionIsCurrent(t *testing.T) {
	const path = "../../docs/openapi.json"
	want, err := server.Describe()
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not current (%v); run go test ./cmd/earshot -run TestDescriptionIsCurrent -update and read the difference", path, err)
	}
}
