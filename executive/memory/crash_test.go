package memory

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/llm"
)

// TestCrash: a program that ends between what a model has answered and what is on record, or right
// after that, loses nothing and writes nothing twice.
func TestCrash(t *testing.T) {
	for _, stage := range []string{"answered", "made", "kept"} {
		for _, pass := range []string{"the first pass", "the whole"} {
			t.Run(stage+", "+pass, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					due := time.Now().Add(50 * time.Hour).Local().Format("2006-01-02 15:04")
					model := func(req *llm.Request) (string, error) {
						answer, err := lines(req)
						return strings.ReplaceAll(answer, `"due":""`, `"due":"`+due+`"`), err
					}
					d := newDen(t, t.TempDir(), model)
					left, n := t.TempDir(), map[string]int{"the first pass": 1, "the whole": 3}[pass]
					copies := func(at string) {
						if at != stage {
							return
						}
						if n--; n == 0 {
							if err := os.CopyFS(filepath.Join(left, "journal"), os.DirFS(d.dir)); err != nil {
								t.Error(err)
							}
						}
					}
					d.change(func() { d.at = copies })
					d.says("ann", public, "Tides come twice a day")
					d.quiet()
					d.says("ann", public, "The ferry leaves at noon")
					d.quiet()
					d.close()
					if n > 0 {
						t.Fatalf("there were %d passes too few", n)
					}
					again := newDen(t, filepath.Join(left, "journal"), model)
					again.mu.Lock()
					again.n = 1000
					again.mu.Unlock()
					again.quiet()
					want := []string{"Tides come twice a day"}
					if pass == "the whole" {
						want = append(want, "The ferry leaves at noon")
					}
					if got := again.knows("ann"); !slices.Equal(got, want) {
						t.Errorf("afterwards it knows %q", got)
					}
					agenda, err := again.Agenda(t.Context(), earshot.Desk)
					if all := agenda.Of("ann"); err != nil || len(all) != len(want) {
						t.Errorf("of %d facts it reminds of %d, %v", len(want), len(all), err)
					}
					if _, summaries := again.index.Lookup(Query{Audience: earshot.Audience{Room: earshot.Desk}, Bytes: 1 << 20, Before: 1 << 40}); len(summaries) != 1 {
						t.Errorf("there are %d summaries", len(summaries))
					}
					asked := len(again.asked)
					again.says("bob", public, "Walnuts are dear")
					again.quiet()
					if got := again.knows("ann"); !slices.Equal(got, append(want, "Walnuts are dear")) || len(again.asked) == asked {
						t.Errorf("it does not go on: it knows %q", got)
					}
					again.close()
				})
			})
		}
	}
}

// TestForbidden: nothing is read without permission, and nothing is written down of what was read when
// the permission is withdrawn, or the room is paused, before the model has answered.
func TestForbidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDen(t, t.TempDir(), lines)
		defer d.close()
		d.change(func() { d.off = true })
		d.says("ann", public, "Tides come twice a day")
		d.quiet()
		if len(d.requests()) > 0 {
			t.Error("a model was asked without permission")
		}
		for _, forbid := range []func(is bool){
			func(is bool) { d.change(func() { d.off = is }) },
			func(is bool) {
				d.change(func() { d.mode = map[bool]earshot.Mode{true: earshot.Paused, false: earshot.Live}[is] })
			},
		} {
			forbid(false)
			asked := len(d.requests())
			d.change(func() { d.at = func(stage string) { forbid(stage == "answered") } })
			d.quiet()
			if len(d.requests()) == asked || len(d.knows()) > 0 {
				t.Errorf("after %d requests it knows %q", len(d.requests())-asked, d.knows())
			}
			forbid(false)
		}
		d.change(func() { d.at = nil })
		d.quiet()
		if len(d.knows()) != 1 {
			t.Errorf("allowed again it knows %q", d.knows())
		}
	})
}

// TestWhole: what is known of earlier talk is one summary for each conversation, which takes in the one
// before; when one of its words is forgotten, it is made anew of the rest.
func TestWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := false
		d := newDen(t, t.TempDir(), func(req *llm.Request) (string, error) {
			if strings.HasPrefix(req.Messages[0].Text, summing) && broken {
				return `{"summary":" "}`, nil
			}
			return lines(req)
		})
		defer d.close()
		sums := func(who ...earshot.ParticipantID) (all []string) {
			_, summaries := d.index.Lookup(Query{Audience: earshot.Audience{Room: earshot.Desk, Members: who}, Bytes: 1 << 20, Before: 1 << 40})
			for _, e := range summaries {
				all = append(all, string(e.Body.(earshot.Summary).Text))
			}
			return all
		}
		first := d.says("ann", public, "walrus")
		d.quiet()
		d.says("ann", annOnly, "swordfish")
		d.quiet()
		for _, word := range []string{"octopus", "lobster"} {
			d.says("bob", public, word)
			d.quiet()
		}
		all := sums("bob")
		if len(all) != 1 || !strings.Contains(all[0], "walrus") || !strings.Contains(all[0], "octopus") || !strings.Contains(all[0], "lobster") || strings.Contains(all[0], "swordfish") {
			t.Errorf("Bob may know %q", all)
		}
		if all := sums("ann"); len(all) != 2 {
			t.Errorf("Ann may know %q", all)
		}
		if _, summaries := d.index.Lookup(Query{Audience: earshot.Audience{Room: earshot.Desk}, Bytes: 1 << 20, Before: first.Sequence}); len(summaries) != 0 {
			t.Errorf("of what is still in the dialogue there are %d summaries", len(summaries))
		}
		if _, err := d.append(d.event("ann", public, earshot.Withdrawal{Of: first.ID})); err != nil {
			t.Fatal(err)
		}
		d.quiet()
		all = sums("bob")
		if len(all) != 1 || strings.Contains(all[0], "walrus") || !strings.Contains(all[0], "octopus") || !strings.Contains(all[0], "lobster") {
			t.Errorf("without the first word Bob may know %q", all)
		}
		broken = true
		d.says("bob", public, "turtle")
		d.quiet()
		if all := sums("bob"); len(all) != 2 {
			t.Errorf("with a model that sums nothing up Bob may know %q", all)
		}
		asked := len(d.requests())
		d.wait(5 * time.Hour)
		if len(d.requests()) != asked {
			t.Errorf("it was asked %d times more", len(d.requests())-asked)
		}
	})
}

// mostIdle is the share of one core that memory may take when nobody talks.
const mostIdle = 0.02

// TestIdle: when nobody talks, memory takes at most a fiftieth of a core, with 100,000 facts and a
// model that does not answer, and nothing at all happens when everything is read.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answers atomic.Bool
		d := newDen(t, t.TempDir(), func(req *llm.Request) (string, error) {
			if !answers.Load() {
				return "", errors.New("nobody answers")
			}
			return lines(req)
		})
		defer d.close()
		fill(d.index)
		d.says("ann", public, "Tides come twice a day")
		used := processorTime(t)
		d.wait(time.Hour)
		used = processorTime(t) - used
		t.Logf("memory took %v of the processor in an hour, with %d requests", used, len(d.requests()))
		if share := used.Seconds() / time.Hour.Seconds(); share > mostIdle || len(d.requests()) > 60 {
			t.Errorf("it took %.4f of a core, and asked %d times", share, len(d.requests()))
		}
		answers.Store(true)
		d.quiet()
		asked, looked := len(d.requests()), d.looked.Load()
		d.wait(time.Hour)
		if n := d.looked.Load() - looked; len(d.requests()) != asked || n > int64(time.Hour/restCheck)+1 {
			t.Errorf("with nothing to read it looked %d times, and asked %d times", n, len(d.requests())-asked)
		}
	})
}

// processorTime returns what the process has used of the processor.
func processorTime(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// fill gives an index 100,000 facts of 200 people in one room.
func fill(x *Index) {
	for n := range 100_000 {
		who := earshot.ParticipantID(fmt.Sprint("p", n%200))
		x.Take(earshot.Event{
			ID: earshot.EventID(fmt.Sprint("f", n)), Sequence: int64(n), Room: earshot.Desk, Visibility: public,
			Body: earshot.Fact{Text: earshot.Text(fmt.Sprintf("%s likes thing%d with word%d on day%d", who, n%5000, n%977, n%365)), About: []earshot.ParticipantID{who}, Confidence: 1, Since: noon},
		}, noon)
	}
}
