package main

import (
	"errors"
	"strings"
	"testing"

	"earshot"
	"earshot/api"
)

// TestSeeEnds: each way of seeing nothing has the exit code that says so.
func TestSeeEnds(t *testing.T) {
	clear := api.CameraView{Camera: "desk", Eyes: earshot.Clear}
	clear.At = clear.At.AddDate(2026, 1, 1)
	for _, tt := range []struct {
		name    string
		command seeCommand
		s       api.CameraView
		picture []byte
		code    int
		cure    string
	}{
		{"seen", seeCommand{}, clear, nil, success, ""},
		{"kept", seeCommand{Save: "x"}, clear, []byte("x"), success, ""},
		{"nothing to keep", seeCommand{Save: "x"}, clear, nil, failed, ""},
		{"no camera", seeCommand{}, api.CameraView{}, nil, notFound, "earshot devices"},
		{"dark", seeCommand{Save: "x"}, api.CameraView{Camera: "desk", Eyes: earshot.Dark}, []byte("x"), unsighted, ""},
		{"busy", seeCommand{}, api.CameraView{Camera: "desk", Eyes: earshot.Away, Cure: "end the other"}, nil, unsighted, "end the other"},
	} {
		var said strings.Builder
		err := tt.command.verdict(tt.s, tt.picture)
		code := printError(&said, err)
		if code != tt.code || tt.cure != "" && said.String() != "  → "+tt.cure+"\n" {
			t.Errorf("%s: code %d, and %q", tt.name, code, said.String())
		}
		if v, ok := errors.AsType[*verdict](err); tt.code > failed && (!ok || v.code != tt.code) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
