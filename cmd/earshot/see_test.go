package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"earshot"
	"earshot/api"
)

// TestKeepPicture: a saved picture can only be read by the user, and overwrites nothing unless told
// to.
func TestKeepPicture(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, make := range []error{
		os.WriteFile(at("there.jpg"), []byte("old"), 0o644), os.Mkdir(at("folder"), 0o700),
		os.WriteFile(at("target.jpg"), []byte("old"), 0o644), os.Symlink(at("target.jpg"), at("link.jpg")), os.Symlink(at("none.jpg"), at("dangling.jpg")),
	} {
		if make != nil {
			t.Fatal(make)
		}
	}
	for _, tt := range []struct {
		name  string
		force bool
		fault string // the error before looking; empty if the picture is kept
	}{
		{"new.jpg", false, ""},
		{"new.jpg", false, "already exists"},
		{"there.jpg", false, "already exists"},
		{"there.jpg", true, ""},
		{"folder", true, "is not a regular file"},
		{"link.jpg", true, "is not a regular file"},
		{"dangling.jpg", false, "is not a regular file"},
		{"nowhere/new.jpg", false, "is not a folder"},
		{"there.jpg/new.jpg", false, "not a directory"},
	} {
		err := seeCommand{Save: at(tt.name), Force: tt.force}.may()
		if (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%s: beforehand it says %v", tt.name, err)
		}
		if err := keepPicture(at(tt.name), []byte("new"), tt.force); (err == nil) != (tt.fault == "") {
			t.Errorf("%s: %v", tt.name, err)
		}
		if tt.fault != "" {
			continue
		}
		about, err := os.Stat(at(tt.name))
		data, _ := os.ReadFile(at(tt.name))
		if err != nil || about.Mode().Perm() != 0o600 || string(data) != "new" {
			t.Errorf("%s has %q, %v, %v", tt.name, data, about.Mode(), err)
		}
	}
	if data, _ := os.ReadFile(at("target.jpg")); string(data) != "old" {
		t.Error("a picture was written through a link")
	}
	if err := keepPicture(at("large.jpg"), make([]byte, earshot.MaxPicture+1), false); err == nil {
		t.Error("a picture that is too large was kept")
	}
	all, _ := os.ReadDir(dir)
	for _, e := range all {
		if strings.HasPrefix(e.Name(), ".earshot") {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

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
