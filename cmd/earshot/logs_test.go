package main

import (
	"earshot"
	"io"
	"os"
	"strings"
	"testing"

	"earshot/internal/logfile"
)

// TestNoPlaceForALog: a log file that cannot be opened is reported as a mistake in the
// configuration.
func TestNoPlaceForALog(t *testing.T) {
	_, _, err := logfile.Open(logfile.Config{File: t.TempDir(), Level: "info"}, os.Stderr)
	if _, cure := earshot.Explain(err); !strings.Contains(cure, "log.file") {
		t.Errorf("the cure is %q", cure)
	}
	if code := printError(io.Discard, err); code != misused {
		t.Errorf("it ends with %d", code)
	}
}
