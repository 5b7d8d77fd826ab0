package pairing_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"
	"go.uber.org/goleak"

	"earshot"
	"earshot/internal/field"
	"earshot/internal/testkit"
	"earshot/satellite/pairing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRegistry(t *testing.T) {
	dir := t.TempDir()
	r, other := pairing.In(dir), pairing.In(dir)
	made, seed, err := r.Pair("kitchen", "den")
	if err != nil {
		t.Fatal(err)
	}
	key, err := nkeys.FromSeed([]byte(seed.Reveal()))
	if err != nil {
		t.Fatal(err)
	}
	if public, _ := key.PublicKey(); public != made.Key || made.Room != "den" {
		t.Errorf("%+v is made for %s", made, public)
	}
	if _, _, err := other.Pair("kitchen", "den"); !errors.Is(err, pairing.ErrTaken) || !strings.Contains(err.Error(), "earshot pair remove kitchen") {
		t.Errorf("a second one: %v", err)
	}
	if _, _, err := other.Pair("Kitchen", "den"); err == nil {
		t.Error("a name that no subject can have is paired")
	}
	if _, _, err := other.Pair("bath", "den"); err != nil {
		t.Error(err)
	}
	all, err := r.List()
	if err != nil || len(all) != 2 || all[0] != made || all[1].ID != "bath" {
		t.Errorf("%+v, %v", all, err)
	}
	path := filepath.Join(dir, "satellites.json")
	if is, err := os.Stat(path); err != nil || is.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", is.Mode(), err)
	}
	if data, _ := os.ReadFile(path); bytes.Contains(data, []byte(seed.Reveal())) {
		t.Error("the secret key is kept")
	}
	if err := r.Remove("kitchen"); err != nil {
		t.Error(err)
	}
	if err := r.Remove("kitchen"); !errors.Is(err, pairing.ErrNone) {
		t.Errorf("removing it again: %v", err)
	}
}

func TestMost(t *testing.T) {
	r := pairing.In(t.TempDir())
	for i := range 64 {
		if _, _, err := r.Pair(fmt.Sprint("s", i), earshot.RoomID(strings.Repeat("\x01", 256))); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := r.Pair("one-more", "desk"); err == nil || !strings.Contains(err.Error(), "remove") {
		t.Error(err)
	}
	if all, err := r.List(); err != nil || len(all) != 64 {
		t.Errorf("%d, %v", len(all), err)
	}
}

// TestRemoveNothing: where nothing was ever paired there is nothing to remove, and no folder for it.
func TestRemoveNothing(t *testing.T) {
	if err := pairing.In(filepath.Join(t.TempDir(), "none")).Remove("kitchen"); !errors.Is(err, pairing.ErrNone) {
		t.Error(err)
	}
}

// TestDamaged: if the file is damaged in any way, or others could have written it, every call says
// what to do, and nobody is let in.
func TestDamaged(t *testing.T) {
	whole := func(t *testing.T) (r *pairing.Registry, path string, data string) {
		dir := t.TempDir()
		r, path = pairing.In(dir), filepath.Join(dir, "satellites.json")
		if _, _, err := r.Pair("kitchen", "desk"); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return r, path, string(b)
	}
	for name, change := range map[string]func(path, data string) error{
		"empty":   func(path, data string) error { return os.WriteFile(path, nil, 0o600) },
		"cut off": func(path, data string) error { return os.WriteFile(path, []byte(data[:len(data)/2]), 0o600) },
		"twice":   func(path, data string) error { return os.WriteFile(path, []byte(data+data), 0o600) },
		"newer": func(path, data string) error {
			return os.WriteFile(path, []byte(strings.Replace(data, `"version": 1`, `"version": 2`, 1)), 0o600)
		},
		"more": func(path, data string) error {
			return os.WriteFile(path, []byte(strings.Replace(data, `"id"`, `"admin": true, "id"`, 1)), 0o600)
		},
		"another name": func(path, data string) error {
			return os.WriteFile(path, []byte(strings.Replace(data, "kitchen", "*", 1)), 0o600)
		},
		"no key": func(path, data string) error {
			return os.WriteFile(path, []byte(strings.Replace(data, `"key": "U`, `"key": "X`, 1)), 0o600)
		},
		"writable": func(path, data string) error { return os.Chmod(path, 0o620) },
		"a folder": func(path, data string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"large": func(path, data string) error {
			return os.WriteFile(path, []byte(data+strings.Repeat(" ", 1<<20)), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, path, data := whole(t)
			if err := change(path, data); err != nil {
				t.Fatal(err)
			}
			_, listed := r.List()
			_, _, paired := r.Pair("bath", "desk")
			for _, err := range []error{listed, paired, r.Remove("kitchen")} {
				if err == nil || earshot.Cure(err) == "" {
					t.Errorf("%v, to be cured by %q", err, earshot.Cure(err))
				}
			}
		})
	}
}

// TestFollow: what another process pairs or removes is known soon, and a file that is damaged lets
// nobody in until it is mended.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	r := pairing.In(dir)
	ctx, stop := context.WithCancel(t.Context())
	news, done := make(chan int, 100), make(chan struct{})
	go func() {
		defer close(done)
		r.Follow(ctx, func(all []pairing.Satellite, err error) {
			if err != nil {
				news <- -1
				return
			}
			news <- len(all)
		})
	}()
	await := func(want int) {
		t.Helper()
		testkit.Await(t, testkit.Patience, "the change", func() bool {
			select {
			case n := <-news:
				return n == want
			default:
				return false
			}
		})
	}
	await(0)
	if _, _, err := pairing.In(dir).Pair("kitchen", "desk"); err != nil {
		t.Fatal(err)
	}
	await(1)
	if err := os.Chmod(filepath.Join(dir, "satellites.json"), 0o666); err != nil {
		t.Fatal(err)
	}
	await(-1)
	if err := os.Chmod(filepath.Join(dir, "satellites.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	await(1)
	if err := pairing.In(dir).Remove("kitchen"); err != nil {
		t.Fatal(err)
	}
	await(0)
	stop()
	testkit.Receive(t, testkit.Patience, "the end", done)
}

// code returns a code that can be used.
func code(t testing.TB) pairing.Code {
	t.Helper()
	key, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := key.Seed()
	if err != nil {
		t.Fatal(err)
	}
	return pairing.Code{ID: "kitchen", Addresses: []string{"desk.local:4223", "[fe80::1]:4223"}, Seed: field.Secret(seed), Certificate: bytes.Repeat([]byte{7}, 32)}
}

// TestCode: a code is read as it was made, also when a terminal has wrapped it, and every part of one
// is refused, without repeating any of it.
func TestCode(t *testing.T) {
	want := code(t)
	text := want.Encode().Reveal()
	if s := fmt.Sprint(want.Encode(), want); strings.Contains(s, want.Seed.Reveal()) || strings.Contains(s, text) {
		t.Error("it is printed")
	}
	wrapped := " " + text[:40] + "\r\n\t" + text[40:] + "\n"
	got, err := pairing.Decode(wrapped)
	if err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) || got.Seed.Reveal() != want.Seed.Reveal() {
		t.Errorf("%+v, %v", got, err)
	}
	for i := range text {
		changed := text[:i] + string(text[i]^1) + text[i+1:]
		for _, bad := range []string{text[:i], text[i+1:], changed} {
			if _, err := pairing.Decode(bad); err == nil {
				t.Fatalf("%d bytes of %d are a code", len(bad), len(text))
			} else if strings.Contains(err.Error(), text[20:30]) {
				t.Fatal("the error repeats it")
			}
		}
	}
	if _, err := pairing.Decode(strings.Replace(text, "pair1_", "pair2_", 1)); err == nil || !strings.Contains(err.Error(), "update") {
		t.Errorf("of a later version: %v", err)
	}
	for name, spoil := range map[string]func(*pairing.Code){
		"no address":     func(c *pairing.Code) { c.Addresses = nil },
		"an odd address": func(c *pairing.Code) { c.Addresses = []string{"desk"} },
		"no key":         func(c *pairing.Code) { c.Seed = "SUA" },
		"no name":        func(c *pairing.Code) { c.ID = "a.>" },
		"half a hash":    func(c *pairing.Code) { c.Certificate = c.Certificate[:16] },
	} {
		bad := want
		spoil(&bad)
		if _, err := pairing.Decode(bad.Encode().Reveal()); !errors.Is(err, pairing.ErrCode) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzDecode: whatever somebody pastes is a code that makes itself again, or an error.
func FuzzDecode(f *testing.F) {
	f.Add(code(f).Encode().Reveal())
	f.Add("earshot_pair1_")
	f.Add("earshot_pair2_AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := pairing.Decode(text); err == nil {
			if again, err := pairing.Decode(c.Encode().Reveal()); err != nil || again.ID != c.ID {
				t.Fatalf("%+v became %+v, %v", c, again, err)
			}
		}
	})
}

// TestStill: an older copy brings back nobody who was removed since, and a damaged one nobody at all.
func TestStill(t *testing.T) {
	dir := t.TempDir()
	r := pairing.In(dir)
	for _, id := range []string{"stays", "goes", "anew"} {
		if _, _, err := r.Pair(id, "desk"); err != nil {
			t.Fatal(err)
		}
	}
	older, err := os.ReadFile(filepath.Join(dir, pairing.File))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"goes", "anew"} {
		if err := r.Remove(id); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := r.Pair("anew", "desk"); err != nil { // with another key
		t.Fatal(err)
	}
	still, gone, err := r.Still(older)
	if err != nil || gone != 2 || !bytes.Contains(still, []byte("stays")) || bytes.Contains(still, []byte("goes")) || bytes.Contains(still, []byte("anew")) {
		t.Errorf("%d are left out of %s: %v", gone, still, err)
	}
	if still, gone, err = pairing.In(t.TempDir()).Still(older); err != nil || gone != 0 || !bytes.Equal(still, older) {
		t.Errorf("where nobody was removed: %d, %v", gone, err)
	}
	for _, damaged := range []string{"", "{}", string(older) + "x", strings.Repeat(" ", 1<<20)} {
		if _, _, err := r.Still([]byte(damaged)); err == nil {
			t.Errorf("%.10q is a copy", damaged)
		}
	}
}
