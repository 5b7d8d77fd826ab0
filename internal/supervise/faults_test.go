package supervise_test

import (
	"testing"
	"time"

	"earshot"
	"earshot/internal/supervise"
)

// TestFaults: a fault is listed until it is over, and reported by the rules of outages unless
// people know of it.
func TestFaults(t *testing.T) {
	var f supervise.Faults
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	if f.Has("ear") || len(f.All()) != 0 || !f.Next().IsZero() {
		t.Error("there is a fault before any was reported")
	}
	if !f.Change(now, earshot.Notice{Key: "ear", Text: "deaf"}) || f.Change(now, earshot.Notice{Key: "ear", Text: "deaf"}) {
		t.Error("a loss is not told once")
	}
	f.Know(now, earshot.Notice{Key: "disk", Text: "full"})
	if f.Change(now, earshot.Notice{Key: "disk", Text: "full"}) {
		t.Error("what people know is told")
	}
	if all := f.All(); len(all) != 2 || all[0].Key != "disk" || all[1].Key != "ear" || !f.Has("ear") {
		t.Errorf("there is %v", all)
	}
	f.Know(now, earshot.Notice{Key: "disk", Over: true})
	if f.Change(now, earshot.Notice{Key: "ear", Text: "it hears", Over: true}) || len(f.All()) != 0 {
		t.Errorf("the end is told at once, or there is %v", f.All())
	}
	at := f.Next()
	if back := f.Steady(at); len(back) != 1 || back[0].Key != "ear" || len(f.Steady(at)) != 0 {
		t.Errorf("at %v %v is told", at, back)
	}
}
