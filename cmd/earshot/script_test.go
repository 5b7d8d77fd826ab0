package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"earshot"
	"earshot/internal/testkit"
	"earshot/server/client"
)

// TestScript runs the whole program as testdata/script tells. Beside the
// commands of testscript there are:
//
//	running        wait until a daemon answers
//	event VAR N    set VAR to the ID of the Nth event that was printed
//	fill FILE N    make a file of N bytes, all of them x
//	parses         fail unless every line that was printed is an event
//	hostile FILE   write what no terminal should be sent
func TestScript(t *testing.T) {
	testscript.Run(t, performance("script", furnish))
}

// performance returns how the scripts of a folder are run.
func performance(folder string, setup func(*testscript.Env) error) testscript.Params {
	return testscript.Params{
		Dir:                 filepath.Join("testdata", folder),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"running": running, "event": event, "fill": fill, "parses": parses, "hostile": hostile, "speak": speak,
		},
	}
}

// test is the key of the test that a script is.
type test struct{}

// furnish makes the home of a script.
func furnish(e *testscript.Env) error {
	runtime, err := os.MkdirTemp("", "es")
	if err != nil {
		return err
	}
	e.Defer(func() { os.RemoveAll(runtime) })
	for _, entry := range surroundings(e.WorkDir, runtime) {
		name, value, _ := strings.Cut(entry, "=")
		e.Setenv(name, value)
	}
	e.Setenv("SOCKET", filepath.Join(runtime, "earshot", "earshot.sock"))
	e.Values[test{}] = e.T()
	// Nobody listens there, whatever runs on this machine.
	e.Setenv("EARSHOT_EXECUTIVE_LLM_HOST", "http://127.0.0.1:1")
	return nil
}

func running(ts *testscript.TestScript, _ bool, _ []string) {
	c := &client.Client{Socket: ts.Getenv("SOCKET")}
	testkit.Await(ts.Value(test{}).(testing.TB), soon, "a daemon that answers", func() bool {
		_, err := c.State(context.Background())
		return err == nil
	})
}

func event(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	all := printed(ts)
	if n < 1 || n > len(all) {
		ts.Fatalf("%d events were printed", len(all))
	}
	ts.Setenv(args[0], string(all[n-1].ID))
}

func parses(ts *testscript.TestScript, _ bool, _ []string) {
	if len(printed(ts)) == 0 {
		ts.Fatalf("no event was printed")
	}
}

// printed returns the events that the last command printed.
func printed(ts *testscript.TestScript) (events []earshot.Event) {
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		var e earshot.Event
		ts.Check(json.Unmarshal([]byte(line), &e))
		events = append(events, e)
	}
	return events
}

func fill(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat("x", n)+"\nwhat time is it?\n"), 0o600))
}

// hostile writes lines of what may not be shown as it is.
func hostile(ts *testscript.TestScript, _ bool, args []string) {
	text := "\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m\x9b31m\n" + // escape sequences, also the short form
		"\xff\xfe\xc3\x28 not utf-8\n" +
		"\x00\x01\x02\x7f\x08\x08 binary\n" +
		"\u202e\u2066 turned around\u200b\n" +
		"dos\r\n" +
		"\n   \n" +
		"what time is it?" // and no end of the line
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}
