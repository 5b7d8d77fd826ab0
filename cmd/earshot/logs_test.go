package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"earshot/config"
	"earshot/internal/logfile"
	"earshot/internal/probe"
)

// TestNoPlaceForALog: a log file that cannot be opened is reported as a mistake in the
// configuration.
func TestNoPlaceForALog(t *testing.T) {
	_, _, err := logfile.Open(config.Log{File: t.TempDir(), Level: "info"}, os.Stderr)
	if _, cure := probe.Explain(err); !strings.Contains(cure, "log.file") {
		t.Errorf("the cure is %q", cure)
	}
	if code := printError(io.Discard, err); code != misused {
		t.Errorf("it ends with %d", code)
	}
}
