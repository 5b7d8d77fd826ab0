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
	if err := os.WriteFile(file, []byte("[12, "), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := OpenOptOuts(dir)
	if earshot.Cure(err) == "" || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a damaged file: %v", err)
	}
}
