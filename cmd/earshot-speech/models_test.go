//go:build cgo

package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"earshot/internal/testkit"
	"earshot/models"
	"earshot/models/wire"
)

// open returns a decoder that was opened well.
func open(t *testing.T) *decoder {
	t.Helper()
	testkit.Need(t, "voice")
	d, err := openWords(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.close)
	return d
}

// TestNamesThatSpellAlike: what is the same to the recogniser is known once, and
// no fault.
func TestNamesThatSpellAlike(t *testing.T) {
	for _, names := range [][]string{{"earshot", "Earshot"}, {"ear shot", "ear-shot"}, {"xqz", "XQZ!"}, {"小明", "", "o'"}} {
		if err := open(t).hear(names, nil); err != nil {
			t.Errorf("the names %q: %v", names, err)
		}
	}
}

// TestPhrasesLeaveNothing: phrases are found, and no file is made for them.
func TestPhrasesLeaveNothing(t *testing.T) {
	words := open(t)
	if runtime.GOOS == "linux" {
		t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "nowhere"))
	}
	d, err := openPhrases(words, []string{"stop", "Stop!", "be quiet"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d.close()
}

// TestVoiceAgain: a voice can be opened twice.
func TestVoiceAgain(t *testing.T) {
	for range 2 {
		v, err := openVoice("slt", 1)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		v.say(&speaker{
			text:  "hello",
			words: func([]wire.Mark) bool { return true },
			pcm:   func(pcm []int16) bool { n += len(pcm); return true },
		})
		if n == 0 {
			t.Error("it says nothing")
		}
	}
}

// TestCheckHear: whatever is damaged is found out, also where the library would
// end the process, and the model that is damaged is blamed.
func TestCheckHear(t *testing.T) {
	testkit.Need(t, "voice")
	for _, tt := range []struct {
		spoil string
		want  string
	}{
		{"", "pocketsphinx recognises clean English"},
		{"en-us/means", "the English acoustic model is damaged"},
		{"en-us/mdef", "the English acoustic model is damaged"},
		{"en-us.lm.bin", "the English language model is damaged"},
		{"cmudict-en-us.dict", "the English dictionary is damaged"},
	} {
		f := checkHear([]string{spoiled(t, tt.spoil)})
		if f.Text != tt.want || f.Works != (tt.spoil == "") || f.Works != (f.Cure == "") {
			t.Errorf("with %q spoiled it finds %+v", tt.spoil, f)
		}
	}
}

// spoiled returns a folder with all models, but one file of them spoiled.
func spoiled(t *testing.T, file string) string {
	t.Helper()
	dir := t.TempDir()
	for _, m := range []models.Model{models.Acoustic, models.Language, models.Dictionary} {
		real, err := models.Find(m)
		for _, name := range m.Files {
			path := filepath.Join(dir, name)
			err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700))
			if name == file {
				err = errors.Join(err, os.WriteFile(path, []byte("no model\n"), 0o600))
			} else {
				err = errors.Join(err, os.Symlink(filepath.Join(real, name), path))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestCause: nobody is blamed for what dies later.
func TestCause(t *testing.T) {
	done := reading(models.Language)
	if got := cause(read.Load()).Error(); got != "the English language model is damaged" {
		t.Errorf("while it is read: %s", got)
	}
	done()
	if got := cause(read.Load()); got != errDied {
		t.Errorf("afterwards: %v", got)
	}
}
