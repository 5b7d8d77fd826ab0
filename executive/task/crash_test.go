package task

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestCrash: wherever a program ends, with the journal as it is at that moment, the next one goes on at
// the last step. What only reads may be done again; what changes something is done once, or asked about;
// and the question and the result are told once.
func TestCrash(t *testing.T) {
	model := script(`recall {"q":1}`, `act {"n":1}`, `ask_person {"text":"blue?"}`, `act {"n":2}`, strings.Repeat("The fence is blue. ", 100))
	stages := []string{
		"kept call", "making recall", "made recall", "kept outcome", "kept checkpoint", "making act", "made act",
		"kept question", "telling", "told", "making write_file", "made write_file", "kept ",
	}
	for _, stage := range stages {
		for nth := 1; nth <= 3; nth++ {
			t.Run(fmt.Sprintf("%s %d", stage, nth), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := newDen(t, t.TempDir(), model)
					left := filepath.Join(t.TempDir(), "journal")
					n := nth
					var made []string // when the program ended
					d.at = func(at string) {
						if at != stage {
							return
						}
						if n--; n == 0 {
							d.mu.Lock()
							made = slices.Clone(d.made)
							d.mu.Unlock()
							if err := os.CopyFS(left, os.DirFS(d.dir)); err != nil {
								t.Error(err)
							}
						}
					}
					d.says(ann, "start paint the fence")
					for range 3 {
						time.Sleep(time.Minute)
						d.says(ann, "1 answer yes")
					}
					d.close()
					if n > 0 {
						t.Skip("it never came to that")
					}
					again := newDen(t, left, model)
					again.mu.Lock()
					again.n = 1000
					again.mu.Unlock()
					defer again.close()
					for range 5 {
						time.Sleep(time.Minute)
						again.says(ann, "1 answer yes")
					}
					told := again.told()
					asked := 0
					for i, text := range told {
						if strings.Contains(text, "I do not know whether it was done") {
							asked++
						}
						if slices.Contains(told[:i], text) {
							t.Errorf("%q is told twice", text)
						}
					}
					all := append(made, again.made...)
					for _, arguments := range []string{`act {"n":1}`, `act {"n":2}`} {
						times := 0
						for _, m := range all {
							if m == arguments {
								times++
							}
						}
						if times > 1 || times == 0 && asked == 0 {
							t.Errorf("%s was done %d times, and asked about %d times", arguments, times, asked)
						}
					}
					if asked > 1 || len(told) != 2+asked || !strings.Contains(told[len(told)-1], "is done: The fence is blue.") {
						t.Errorf("it asked %d times, and tells %q", asked, told)
					}
				})
			})
		}
	}
}
