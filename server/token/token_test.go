package token_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"earshot"
	"earshot/internal/field"
	"earshot/internal/testkit"
	"earshot/server/token"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// store returns a store in a new folder.
func store(t *testing.T) *token.Store {
	t.Helper()
	return &token.Store{Path: filepath.Join(t.TempDir(), "tokens.json")}
}

// create makes a token, or fails the test.
func create(t *testing.T, s *token.Store, of earshot.ParticipantID) (token.Token, field.Secret) {
	t.Helper()
	made, secret, err := s.Create(of, "a note", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return made, secret
}

func TestTokens(t *testing.T) {
	s := store(t)
	if all, err := s.List(); len(all) != 0 || err != nil {
		t.Errorf("no file holds %v, %v", all, err)
	}
	first, ann := create(t, s, "ann")
	second, bob := create(t, s, "bob")
	_, again := create(t, s, "ann")
	if !strings.HasPrefix(ann.Reveal(), "earshot_") || len(ann.Reveal()) != 60 || ann == again || first.ID == second.ID {
		t.Errorf("made %q and %q, %q and %q", ann.Reveal(), again.Reveal(), first.ID, second.ID)
	}
	other := &token.Store{Path: s.Path} // another process
	all, err := other.List()
	if err != nil || len(all) != 3 || all[0] != first || all[1] != second {
		t.Errorf("there are %v, %v", all, err)
	}
	for secret, want := range map[field.Secret]earshot.ParticipantID{ann: "ann", again: "ann", bob: "bob"} {
		if who, err := other.Check(secret); who != want || err != nil {
			t.Errorf("the token of %s is that of %q, %v", want, who, err)
		}
	}
	if err := other.Revoke(first.ID); err != nil {
		t.Error(err)
	}
	if who, err := s.Check(ann); who != "" || !errors.Is(err, token.ErrUnknown) {
		t.Errorf("a token that was revoked elsewhere is that of %q, %v", who, err)
	}
	if who, err := s.Check(again); who != "ann" || err != nil {
		t.Errorf("the other token is that of %q, %v", who, err)
	}
	for _, id := range []string{first.ID, "", "x"} {
		if err := s.Revoke(id); !errors.Is(err, token.ErrNone) {
			t.Errorf("token %q was revoked with %v", id, err)
		}
	}
}

// TestWhatIsNoToken: nothing that is almost a token lets anybody in.
func TestWhatIsNoToken(t *testing.T) {
	s := store(t)
	_, secret := create(t, s, "ann")
	good := secret.Reveal()
	data, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte(good)) || bytes.Contains(data, []byte(strings.TrimPrefix(good, "earshot_"))) {
		t.Error("the file holds the secret")
	}
	hash := string(bytes.SplitN(data, []byte(`"sha256": "`), 2)[1][:64])
	for _, secret := range []string{
		"", "earshot_", good[:len(good)-1], good + "a", good + "\x00", strings.ToUpper(good), " " + good,
		strings.TrimPrefix(good, "earshot_"), good[:len(good)-1] + "!", hash, "earshot_" + hash, strings.Repeat("x", 1<<20),
	} {
		if who, err := s.Check(field.Secret(secret)); who != "" || !errors.Is(err, token.ErrUnknown) {
			t.Errorf("%.80q lets %q in, %v", secret, who, err)
		}
	}
}

func TestTokensExpire(t *testing.T) {
	s := store(t)
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	s.Now = func() time.Time { return now }
	if _, _, err := s.Create("ann", "", now); err == nil {
		t.Error("a token was made that is over already")
	}
	made, secret, err := s.Create("ann", "", now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	now = made.Expires.Add(-1)
	if who, err := s.Check(secret); who != "ann" || err != nil {
		t.Errorf("the token is that of %q, %v", who, err)
	}
	now = made.Expires
	if who, err := s.Check(secret); who != "" || !errors.Is(err, token.ErrExpired) {
		t.Errorf("a token that has expired is that of %q, %v", who, err)
	}
	if all, err := s.List(); len(all) != 1 || err != nil {
		t.Errorf("there are %v, %v", all, err)
	}
}

// TestAFileThatIsKnown: a file that looks unchanged is not read again. Still, any change to it
// takes effect at once.
func TestAFileThatIsKnown(t *testing.T) {
	s := store(t)
	s.Now = func() time.Time { return time.Now().Add(time.Hour) } // so that the file counts as old
	other := &token.Store{Path: s.Path}                           // another process
	first, ann := create(t, other, "ann")
	var bob field.Secret
	for range 9 {
		_, bob = create(t, other, "bob")
	}
	check := func(when string, secret field.Secret, want earshot.ParticipantID) {
		t.Helper()
		for range 2 {
			if who, err := s.Check(secret); who != want || (err == nil) != (want != "") {
				t.Errorf("%s the token is that of %q, %v; want %q", when, who, err, want)
			}
		}
	}
	check("at first", ann, "ann")
	if n := testing.AllocsPerRun(10, func() { _, _ = s.Check(ann) }); n > 20 {
		t.Errorf("a question takes %v allocations; the file was read", n)
	}
	if err := os.Chmod(s.Path, 0o666); err != nil {
		t.Fatal(err)
	}
	check("when others may write it", ann, "")
	if err := os.Chmod(s.Path, 0o600); err != nil {
		t.Fatal(err)
	}
	check("when they may no more", ann, "ann")
	if err := other.Revoke(first.ID); err != nil {
		t.Fatal(err)
	}
	check("when it was revoked", ann, "")
	check("when another was revoked", bob, "bob")
	was, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Path, bytes.ReplaceAll(was, []byte("bob"), []byte("kim")), 0o600); err != nil { // of the same length
		t.Fatal(err)
	}
	if err := os.Chtimes(s.Path, time.Time{}, time.Now().Add(-time.Minute)); err != nil { // since the clock of the file system is coarse
		t.Fatal(err)
	}
	check("when it was written in place", bob, "kim")
	if err := os.Rename(s.Path, s.Path+".away"); err != nil {
		t.Fatal(err)
	}
	check("when the file is gone", bob, "")
	if err := os.Rename(s.Path+".away", s.Path); err != nil {
		t.Fatal(err)
	}
	check("when it is back", bob, "kim")
	made, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Revoke(made[0].ID); err != nil {
		t.Fatal(err)
	}
	if left, err := s.List(); err != nil || len(left) != len(made)-1 {
		t.Errorf("%d are left, %v", len(left), err)
	}
}

func TestCreateRefuses(t *testing.T) {
	s := store(t)
	for _, tt := range []struct {
		of   earshot.ParticipantID
		note string
		want string
	}{
		{"", "", "needs an owner"},
		{earshot.ParticipantID(strings.Repeat("x", 1000)), "", "needs an owner"},
		{"ann", "a\nb", "one line"},
		{"ann", "\x1b[2J", "one line"},
		{"ann", strings.Repeat("x", 201), "has 201 bytes; at most 200 are possible"},
	} {
		if _, secret, err := s.Create(tt.of, tt.note, time.Time{}); secret != "" || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.20q, %.20q: %v, want %q", tt.of, tt.note, err, tt.want)
		}
	}
	if _, err := os.Stat(s.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a file: %v", err)
	}
}

// TestTheSecretIsNotPrinted: a secret is shown only on request.
func TestTheSecretIsNotPrinted(t *testing.T) {
	made, secret := create(t, store(t), "ann")
	for _, printed := range []string{fmt.Sprint(secret), fmt.Sprintf("%#v %q", secret, secret), fmt.Sprintf("%+v", made)} {
		if strings.Contains(printed, "earshot_") {
			t.Errorf("printed %s", printed)
		}
	}
}

// TestManyAtOnce: if several processes create and revoke tokens at the same time, none undoes
// another's work, and a reader always gets a whole file.
func TestManyAtOnce(t *testing.T) {
	path := store(t).Path
	_, kept := create(t, &token.Store{Path: path}, "kept")
	var all sync.WaitGroup
	for n := range 10 {
		s := &token.Store{Path: path} // locks the file as another process would
		all.Go(func() {
			for range 5 {
				made, _, err := s.Create(earshot.ParticipantID(fmt.Sprint("p", n)), "", time.Time{})
				if err != nil {
					t.Error(err)
				}
				if who, err := s.Check(kept); who != "kept" || err != nil {
					t.Errorf("meanwhile the token is that of %q, %v", who, err)
				}
				if n%2 == 0 {
					err = s.Revoke(made.ID)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	testkit.Finish(t, 5*testkit.Patience, "the tokens", all.Wait)
	left, err := (&token.Store{Path: path}).List()
	if err != nil || len(left) != 26 {
		t.Errorf("%d tokens are left, %v", len(left), err)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) != 2 { // the file and its lock
		t.Errorf("what is left is %v, %v", files, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
}

func TestThereIsABound(t *testing.T) {
	s := store(t)
	var entries []string
	for n := range token.Most { // each as long as possible
		id := strings.NewReplacer("0", "a", "1", "b", "8", "x", "9", "y").Replace(fmt.Sprintf("%08d", n))
		entries = append(entries, fmt.Sprintf(`{"id":%q,"participant":%q,"note":%q,"created":"2026-01-02T03:04:05Z","expires":"2036-01-02T03:04:05Z","sha256":"%064x"}`,
			id, strings.Repeat("x", 256), strings.Repeat("<", 200), n+1))
	}
	if err := os.WriteFile(s.Path, []byte(`{"version":1,"tokens":[`+strings.Join(entries, ",")+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Revoke("aaaaaaaa"); err != nil { // shows that such a file can be written
		t.Fatal(err)
	}
	create(t, s, "ann")
	if _, _, err := s.Create("ann", "", time.Time{}); err == nil || !strings.Contains(err.Error(), "earshot token revoke") {
		t.Errorf("one more was made with %v", err)
	}
	if all, err := s.List(); len(all) != token.Most || err != nil {
		t.Errorf("there are %d, %v", len(all), err)
	}
}

// TestDamaged: if the file is damaged in any way, every call says what to do, and nobody is let in.
func TestDamaged(t *testing.T) {
	good := store(t)
	_, secret := create(t, good, "zoe")
	whole, err := os.ReadFile(good.Path)
	if err != nil {
		t.Fatal(err)
	}
	text := func(data string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(data), 0o600) }
	}
	changed := func(old, with string) func(string) error {
		if !bytes.Contains(whole, []byte(old)) {
			t.Fatalf("the file has no %q", old)
		}
		return text(strings.Replace(string(whole), old, with, 1))
	}
	for _, tt := range []struct {
		name   string
		damage func(path string) error
		want   string
		cure   string
	}{
		{"empty", text(""), "not valid JSON", "move "},
		{"half", text(string(whole[:len(whole)/2])), "not valid JSON", "move "},
		{"zeroes", text(strings.Repeat("\x00", len(whole))), "not valid JSON", "move "},
		{"two", text(string(whole) + string(whole)), "continues", "move "},
		{"null", text("null"), "version 0", "move "},
		{"of another version", changed(`"version": 1`, `"version": 2`), "version 2", "move "},
		{"with a key more", changed(`"version": 1`, `"version": 1, "root": true`), "not valid JSON", "move "},
		{"no participant", changed(`"zoe"`, `""`), "entry 1 is incomplete", "move "},
		{"no hash", changed(`"sha256"`, `"note"`), "entry 1 is incomplete", "move "},
		{"a short hash", changed(`"sha256": "`, `"sha256": "0`), "not valid JSON", "move "},
		{"too large", text(strings.Repeat(" ", 2<<20)), "too large", "move "},
		{"a folder", func(path string) error { return os.Mkdir(path, 0o700) }, "are not a regular file", "move "},
		{"a pipe", func(path string) error { return unix.Mkfifo(path, 0o600) }, "are not a regular file", "move "},
		{"open to all", func(path string) error {
			return errors.Join(os.WriteFile(path, whole, 0o600), os.Chmod(path, 0o622))
		}, "can be changed by others", "chmod 600"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := store(t)
			if err := tt.damage(s.Path); err != nil {
				t.Fatal(err)
			}
			who, checked := s.Check(secret)
			_, listed := s.List()
			_, _, created := s.Create("bob", "", time.Time{})
			if who != "" {
				t.Errorf("%s is let in", who)
			}
			for _, err := range []error{checked, listed, created, s.Revoke("aaaaaaaa")} {
				if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "zoe") {
					t.Errorf("told %v, want %q", err, tt.want)
				}
				cure, ok := errors.AsType[interface {
					error
					Cure() string
				}](err)
				if !ok || !strings.Contains(cure.Cure(), tt.cure) {
					t.Errorf("no cure: %v", err)
				}
			}
		})
	}
}

// TestNoPlace: a missing directory is an error, not a panic.
func TestNoPlace(t *testing.T) {
	s := &token.Store{Path: filepath.Join(t.TempDir(), "nowhere", "tokens.json")}
	if _, _, err := s.Create("ann", "", time.Time{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("made with %v", err)
	}
	if _, err := s.Check("earshot_x"); !errors.Is(err, token.ErrUnknown) {
		t.Errorf("checked with %v", err)
	}
}

// FuzzParse: whatever a file contains, tokens that are read from it are complete, and do not change
// when they are written again.
func FuzzParse(f *testing.F) {
	entry := `{"id":"abcdefgh","participant":"ann","created":"2026-01-02T03:04:05Z","sha256":"` + strings.Repeat("5", 64) + `"}`
	for _, seed := range []string{
		"", "null", "{}", `{"version":1}`, `{"version":1,"tokens":[` + entry + `]}`, `{"version":1,"tokens":[` + entry + "," + entry + `]}`,
		`{"version":1,"tokens":[{"id":"abcdefgh","participant":"\u0000","created":"0001-01-01T00:00:00Z","sha256":""}]}`, "[[[[",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		once, err := token.Parse(data)
		if err != nil {
			return
		}
		twice, err := token.Parse(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%q was written as %q and then as %q, %v", data, once, twice, err)
		}
	})
}

// TestStill: a token that was revoked does not become valid again by an older copy of the file.
func TestStill(t *testing.T) {
	s := store(t)
	first, ann := create(t, s, "ann")
	_, bob := create(t, s, "bob")
	copied, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Revoke(first.ID); err != nil {
		t.Fatal(err)
	}
	still, gone, err := s.Still(copied)
	if err != nil || gone != 1 {
		t.Fatalf("%d are gone, %v", gone, err)
	}
	back := store(t)
	if all, gone, err := back.Still(copied); err != nil || gone != 0 || !bytes.Equal(all, copied) {
		t.Errorf("where none were: %d are gone, %v", gone, err)
	}
	if err := os.WriteFile(back.Path, still, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := back.Check(ann); !errors.Is(err, token.ErrUnknown) {
		t.Errorf("what was revoked: %v", err)
	}
	if who, err := back.Check(bob); who != "bob" || err != nil {
		t.Errorf("what was not: %q, %v", who, err)
	}
	if _, _, err := s.Still([]byte("{")); err == nil {
		t.Error("no copy is no error")
	}
}
