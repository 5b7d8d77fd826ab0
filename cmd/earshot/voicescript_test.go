package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"earshot/internal/sound/soundtest"
)

// TestVoiceScript runs the whole program through testdata/voice, on a sound card of its own and
// with its own model, model.yaml. It adds one command to those of TestScript:
//
//	speak VOICE FILE TEXT   let a person say something into a file
//
// $PROGRAM is a path with earshot alone, without its helpers, and $SERVER is the address of the
// sound server.
func TestVoiceScript(t *testing.T) {
	dir := needVoice(t)
	testscript.Run(t, performance("voice", func(e *testscript.Env) error {
		if err := furnish(e); err != nil {
			return err
		}
		server := soundtest.Start(e.T().(testing.TB))
		for _, entry := range server.Env() {
			name, value, _ := strings.Cut(entry, "=")
			if name != "HOME" && name != "XDG_RUNTIME_DIR" {
				e.Setenv(name, value)
			}
		}
		e.Setenv("SERVER", e.Getenv("PULSE_SERVER"))
		e.Setenv("PROGRAM", e.Getenv("PATH"))
		e.Setenv("PATH", dir+string(filepath.ListSeparator)+e.Getenv("PATH"))
		e.Setenv("EARSHOT_PROVIDERS_MICROPHONE_ENABLED", "true")
		e.Setenv("EARSHOT_OUTLETS_LOUDSPEAKER_ENABLED", "true")
		e.Setenv("EARSHOT_EXECUTIVE_LLM_PROVIDER", "script")
		e.Setenv("EARSHOT_EXECUTIVE_LLM_SCRIPT", filepath.Join(e.WorkDir, "model.yaml"))
		return nil
	}))
}

// speak writes what a person says into a file.
func speak(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: speak VOICE FILE TEXT")
	}
	ts.Check(ts.Exec("flite", "-voice", args[0], "-t", args[2], "-o", ts.MkAbs(args[1])))
}
