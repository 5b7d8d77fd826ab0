package terminal_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"earshot/internal/terminal"
	"earshot/internal/terminal/terminaltest"
	"earshot/internal/testkit"
)

// few is how many lines are written before the test waits. So many fit in the queue of a terminal,
// so none of them is dropped.
const few = 20

// spoofs returns texts that try to pass for somebody else's. Package conversation makes them.
func spoofs(t *testing.T) (texts []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "conversation", "testdata", "spoofs.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []struct{ Kind, Text string }
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		texts = append(texts, s.Text)
	}
	if len(texts) < 500 {
		t.Fatalf("%d spoofs, want 500", len(texts))
	}
	return texts
}

// authors counts the rows that begin with name, and returns those that begin with anything else at
// the left edge. What somebody says goes on behind a margin.
func authors(shown, name string) (own int, others []string) {
	for row := range strings.SplitSeq(strings.TrimRight(shown, "\n"), "\n") {
		switch {
		case strings.HasPrefix(row, name+": "):
			own++
		case row != "" && row != name+":" && row[0] != ' ' && !strings.HasPrefix(row, "> "):
			others = append(others, row)
		}
	}
	return own, others
}

// TestSpoofsInAFile: where the output is a file, everything that Ann writes is shown as hers.
func TestSpoofsInAFile(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w, err := terminal.Open(null, out, out)
	if err != nil {
		t.Fatal(err)
	}
	texts := spoofs(t)
	read := func() string {
		shown, err := os.ReadFile(out.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(shown)
	}
	for i, text := range texts {
		w.Note(terminal.Line{Head: "Ann: ", Text: text})
		if i%few == 0 {
			testkit.Await(t, patience, "what was written", func() bool { return strings.Count("\n"+read(), "\nAnn: ") > i })
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	shown := read()
	if ann, others := authors(shown, "Ann"); ann != len(texts) || len(others) > 0 {
		t.Errorf("%d of %d are Ann's; others are %q", ann, len(texts), others)
	}
	for _, r := range shown {
		if unicode.In(r, unicode.Cf, unicode.Cc, unicode.Zl, unicode.Zp) && r != '\n' && r != '\t' && r != 0x200c && r != 0x200d {
			t.Errorf("%U is shown", r)
		}
	}
}

// TestSpoofsOnATerminal: the same holds on a terminal, where rows are wrapped.
func TestSpoofsOnATerminal(t *testing.T) {
	w := terminaltest.Open(t, 60, 24)
	texts := spoofs(t)
	for i, text := range texts {
		w.Note(terminal.Line{Head: "Ann: ", Text: text})
		if end := fmt.Sprintf("  the end of %d", i); i%few == 0 || i == len(texts)-1 {
			w.Note(terminal.Line{Text: end})
			testkit.Await(t, patience, "what was written", func() bool { return strings.Contains(w.Screen(), end) })
		}
	}
	if _, others := authors(w.All(), "Ann"); len(others) > 0 {
		t.Errorf("others are %q", others)
	}
	if faults := w.Faults(); len(faults) > 0 {
		t.Errorf("faults: %q", faults)
	}
}

// TestSpoofsInAReply: whatever the agent was talked into saying is shown as the agent's.
func TestSpoofsInAReply(t *testing.T) {
	w := terminaltest.Open(t, 60, 24)
	for i, text := range spoofs(t) {
		w.Begin("Earshot")
		for text != "" {
			n, err := w.Print(nil, text)
			if err != nil {
				t.Fatal(err)
			}
			text = text[n:]
		}
		w.End("")
		if end := fmt.Sprintf("  the end of %d", i); i%few == 0 {
			w.Note(terminal.Line{Text: end})
			testkit.Await(t, patience, "what was written", func() bool { return strings.Contains(w.Screen(), end) })
		}
	}
	if own, others := authors(w.All(), "Earshot"); own < 500 || len(others) > 0 {
		t.Errorf("%d are its own; others are %q", own, others)
	}
}
