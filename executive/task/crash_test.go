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

	"earshot/llm"
)

// painting is what a model does that has a helper act, reads, acts, asks, acts again, and has a result for a
// file.
func painting() func(*llm.Request) ([]llm.Call, string, error) {
	helper := script(`act {"n":3}`, "It is bought.")
	all := script(`delegate {"text":"buy paint"}`, `recall {"q":1}`, `act {"n":1}`, `ask_person {"text":"blue?"}`, `act {"n":2}`, strings.Repeat("The fence is blue. ", 100))
	return func(req *llm.Request) ([]llm.Call, string, error) {
		if req.Messages[1].Text == "buy paint" {
			return helper(req)
		}
		return all(req)
	}
}

// TestCrash: wherever a program ends, with the journal as it is at that moment, the next one goes on at
// the last step. What only reads may be done again; what changes something is done once, or asked about;
// and the question and the result are told once.
func TestCrash(t *testing.T) {
	for _, stage := range []string{
		"kept call", "making recall", "made recall", "kept outcome", "kept checkpoint", "making act", "made act", "kept question",
		"telling", "told", "making write_file", "made write_file", "kept ",
	} {
		for nth, comes := 1, true; comes; nth++ {
			t.Run(fmt.Sprint(stage, " ", nth), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { comes = crash(t, stage, nth) })
			})
			if nth == 1 && !comes {
				t.Errorf("it never comes to %q", stage)
			}
		}
	}
}

// crash has a program paint until it has come to a stage for the nth time, and another go on from there. It
// reports whether it comes to that.
func crash(t *testing.T, stage string, nth int) bool {
	d := newDen(t, t.TempDir(), painting())
	left := filepath.Join(t.TempDir(), "journal")
	n := nth
	var made []string // when the program ended
	d.change(func() {
		d.at = func(is string) {
			last := false
			d.change(func() {
				if is != stage {
					return
				}
				if n--; n == 0 {
					last, made = true, slices.Clone(d.made)
				}
			})
			if last {
				if err := os.CopyFS(left, os.DirFS(d.dir)); err != nil {
					t.Error(err)
				}
			}
		}
	})
	d.says(ann, "start paint the fence")
	for range 5 {
		time.Sleep(time.Minute)
		d.says(ann, "2 answer yes")
		d.says(ann, "1 answer yes")
	}
	d.close()
	if n > 0 {
		return false
	}
	again := newDen(t, left, painting())
	again.change(func() { again.n = 1000 })
	defer again.close()
	for range 7 {
		time.Sleep(time.Minute)
		again.says(ann, "2 answer yes")
		again.says(ann, "1 answer yes")
	}
	again.painted(append(made, again.made...))
	return true
}

// TestRefusals: whatever the journal refuses once, or keeps and cannot say so, the same holds as after a
// crash, while the program goes on.
func TestRefusals(t *testing.T) {
	for _, sign := range []int{1, -1} {
		for nth, comes := 1, true; comes; nth++ {
			t.Run(fmt.Sprint(sign*nth), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := newDen(t, t.TempDir(), painting())
					defer d.close()
					d.change(func() { d.fails = sign * nth })
					if said := d.says(ann, "start paint the fence"); strings.Contains(said, "the disk is full") {
						d.says(ann, "start paint the fence")
					}
					for range 6 {
						time.Sleep(2 * time.Minute)
						d.says(ann, "2 answer yes")
						d.says(ann, "1 answer yes")
					}
					d.change(func() { comes = d.kept >= nth })
					d.painted(d.made)
				})
			})
		}
	}
}

// painted checks what became of a task to paint a fence, with all calls that were made.
func (d *den) painted(made []string) {
	d.t.Helper()
	told := d.told()
	asked := 0
	for i, text := range told {
		if strings.Contains(text, "I do not know whether it was done") {
			asked++
		}
		if slices.Contains(told[:i], text) {
			d.t.Errorf("%q is told twice", text)
		}
	}
	for _, arguments := range []string{`act {"n":1}`, `act {"n":2}`, `act {"n":3}`} {
		times := 0
		for _, m := range made {
			if m == arguments {
				times++
			}
		}
		if times > 1 || times == 0 && asked == 0 {
			d.t.Errorf("%s was done %d times, and asked about %d times", arguments, times, asked)
		}
	}
	if asked > 1 || len(told) != 2+asked || !strings.Contains(told[len(told)-1], "is done: The fence is blue.") {
		d.t.Errorf("it asked %d times, and tells %q", asked, told)
	}
}
