package bot

import (
	"earshot"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestOptouts: somebody who opted out is not heard after a restart either, until they take that
// back. If it is not known who has opted out, the bot does not start.
func TestOptouts(t *testing.T) {
	dir := t.TempDir()
	open := func() *OptOuts {
		t.Helper()
		o, err := OpenOptOuts(dir)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	const ann, bob = 80351110224678912, 80351110224678913
	o := open()
	for _, err := range []error{o.Set(ann, true), o.Set(bob, true), o.Set(bob, false), o.Set(bob, false), o.Set(ann, true)} {
		if err != nil {
			t.Error(err)
		}
	}
	for range 2 {
		if !o.Out(ann) || o.Out(bob) {
			t.Errorf("ann %v, bob %v", o.Out(ann), o.Out(bob))
		}
		o = open()
	}
	file := filepath.Join(dir, "optouts.json")
	if about, err := os.Stat(file); err != nil || about.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", about.Mode(), err)
	}

	other := open() // another daemon, with the same file
	if err := errors.Join(other.Set(ann, false), other.Set(bob, true), o.Read()); err != nil || o.Out(ann) || !o.Out(bob) {
		t.Errorf("after a change elsewhere: %v, ann %v, bob %v", err, o.Out(ann), o.Out(bob))
	}
	if err := errors.Join(other.Set(bob, false), o.Set(ann, true), other.Read()); err != nil || !other.Out(ann) || other.Out(bob) {
		t.Errorf("a change undid another: %v, ann %v, bob %v", err, other.Out(ann), other.Out(bob))
	}
	if both, err := MergeOptOuts([]byte("[1, 2]"), []byte("[3, 2]")); err != nil || string(both) != "[1,2,3]\n" {
		t.Errorf("merged are %q, %v", both, err)
	}
	if _, err := MergeOptOuts([]byte("[1, 2"), []byte("[3]")); err == nil {
		t.Error("a damaged file was merged")
	}

	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := o.Set(bob, true); err == nil || !o.Out(bob) {
		t.Errorf("without a disk: %v, out %v", err, o.Out(bob))
	}
	if err := o.Set(ann, false); err == nil || !o.Out(ann) {
		t.Errorf("without a disk one is heard again: %v, out %v", err, o.Out(ann))
	}

	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("[12]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := o.Read(); err != nil || !o.Out(bob) || !o.Out(12) {
		t.Errorf("what could not be stored is lost: %v, bob %v, 12 %v", err, o.Out(bob), o.Out(12))
	}
	if err := o.Set(bob, true); err != nil || !open().Out(bob) {
		t.Errorf("whoever opts out again is not stored: %v", err)
	}
	if err := os.WriteFile(file, []byte("[12, "), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := OpenOptOuts(dir)
	if earshot.Cure(err) == "" || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a damaged file: %v", err)
	}
}
