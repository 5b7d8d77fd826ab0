package login_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"

	"earshot/internal/login"
	"earshot/internal/testkit"
)

// TestKeyThatIsGone: a key may be gone before it is read, since ^C discards what was typed. Here a
// second reader takes it. Whoever comes too late ends with its context nevertheless.
func TestKeyThatIsGone(t *testing.T) {
	for range 200 {
		user, tty, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := term.MakeRaw(int(tty.Fd())); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var readers sync.WaitGroup
		got := make(chan byte, 2)
		for range 2 {
			next, done, err := login.Bytes(ctx, tty)
			if err != nil {
				t.Fatal(err)
			}
			readers.Go(func() {
				defer done()
				switch b, err := next(); {
				case err == nil:
					got <- b
				case !errors.Is(err, login.ErrLeft):
					t.Error(err)
				}
			})
		}
		if _, err := user.Write([]byte("k")); err != nil {
			t.Fatal(err)
		}
		if b := testkit.Receive(t, testkit.Patience, "a key", got); b != 'k' {
			t.Errorf("the key is %q", b)
		}
		cancel()
		testkit.Finish(t, testkit.Patience, "the end of both readers", readers.Wait)
		user.Close()
		tty.Close()
	}
}

// TestLine: a line of a file is read whole, also the last one without a line break; at the end there is none.
func TestLine(t *testing.T) {
	for text, want := range map[string]string{"": "", "a\nb": "a", "\n": "", "all of it": "all of it"} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.WriteString(text); err != nil {
			t.Fatal(err)
		}
		w.Close()
		got, err := login.ReadLine(t.Context(), r)
		r.Close()
		if got != want || errors.Is(err, login.ErrLeft) != (text == "") {
			t.Errorf("of %q it reads %q, %v", text, got, err)
		}
	}
}
