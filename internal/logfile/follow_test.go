package logfile

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"earshot/internal/testkit"
)

// TestFollowedLog: somebody who follows a log that is put aside misses nothing of the old one or
// the new one.
func TestFollowedLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "earshot.log")
	add := func(text string) {
		t.Helper()
		f, err := OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY)
		if err == nil {
			_, err = io.WriteString(f, text)
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	add("one\n")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	printed := path + ".shown"
	out, err := os.Create(printed)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	ctx, leave := context.WithCancel(t.Context())
	var following sync.WaitGroup
	following.Go(func() {
		if err := Follow(ctx, out, f, path, true); err != nil {
			t.Error(err)
		}
	})
	shows := func(want string) {
		t.Helper()
		testkit.Await(t, 10*time.Second, fmt.Sprintf("%q", want), func() bool {
			data, err := os.ReadFile(printed)
			return err == nil && string(data) == want
		})
	}
	shows("one\n")
	add("two\n")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	add("three\n")
	shows("one\ntwo\nthree\n")
	add("four\n")
	shows("one\ntwo\nthree\nfour\n")
	leave()
	testkit.Finish(t, 5*testkit.Patience, "the end of what follows the log", following.Wait)
}
