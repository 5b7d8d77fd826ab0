package sets_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"earshot/internal/download"
	"earshot/internal/testkit"
	"earshot/models/catalog"
	"earshot/models/sets"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// weights are the files of the sets here.
var weights = map[string][]byte{"model": random(1, 200_000), "tokens": random(2, 3000)}

func random(seed byte, n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{seed}).Read(b)
	return b
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// An entry is one of an archive.
type entry struct {
	name, link string
	kind       byte
	content    []byte
}

// usual are the entries of an archive as publishers make them.
func usual() []entry {
	return []entry{
		{name: "set-1/", kind: tar.TypeDir}, {name: "set-1/README.md", content: []byte("hello")},
		{name: "set-1/model.onnx", content: weights["model"]}, {name: "set-1/text/tokens.txt", content: weights["tokens"]},
	}
}

// pack returns an archive.
func pack(t *testing.T, entries []entry) []byte {
	t.Helper()
	var plain bytes.Buffer
	w := tar.NewWriter(&plain)
	for _, e := range entries {
		if e.kind == 0 {
			e.kind = tar.TypeReg
		}
		err := w.WriteHeader(&tar.Header{Name: e.name, Linkname: e.link, Typeflag: e.kind, Mode: 0o644, Size: int64(len(e.content))})
		if _, bad := w.Write(e.content); err != nil || bad != nil {
			t.Fatal(err, bad)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return bzip2(t, plain.Bytes())
}

func bzip2(t *testing.T, plain []byte) []byte {
	t.Helper()
	if _, err := exec.LookPath("bzip2"); err != nil {
		t.Skip("nothing here writes .bz2: ", err)
	}
	c := testkit.Command(t, "bzip2", "-c")
	c.Stdin = bytes.NewReader(plain)
	packed, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

// serve serves files by their paths, and counts how often each was asked for.
func serve(t *testing.T, files map[string][]byte) (url string, asked func(path string) int) {
	var mu sync.Mutex
	counts := make(map[string]int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		counts[r.URL.Path]++
		mu.Unlock()
		b, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
	}))
	t.Cleanup(func() { testkit.Finish(t, testkit.Patience, "the end of the server", s.Close) })
	return s.URL, func(path string) int { mu.Lock(); defer mu.Unlock(); return counts[path] }
}

// single is a set whose files have addresses of their own.
func single(url string) catalog.Set {
	return catalog.Set{Name: "tiny", Role: catalog.Hear, Kind: "lstm", Licence: catalog.Licence{ID: "MIT"}, Files: map[string]catalog.File{
		"model":  {Path: "model.onnx", SHA256: sum(weights["model"]), Bytes: int64(len(weights["model"])), URLs: []string{url + "/model"}},
		"tokens": {Path: "text/tokens.txt", URLs: []string{url + "/tokens"}},
	}}
}

// packed is the same set in one archive.
func packed(url string) catalog.Set {
	s := single(url)
	s.Archive = &catalog.File{Path: "set-1.tar.bz2", URLs: []string{url + "/set-1.tar.bz2"}}
	s.Files = map[string]catalog.File{"model": {Path: "model.onnx"}, "tokens": {Path: "text/tokens.txt"}}
	return s
}

// quiet tells nobody.
func quiet(string, int64, int64) {}

// holds reports what is wrong with the set tiny in a store.
func holds(s sets.Store) error {
	all, err := s.List()
	if err != nil || len(all) != 1 || all[0].Name != "tiny" {
		return fmt.Errorf("it has %v, %v", all, err)
	}
	for part, want := range weights {
		b, err := os.ReadFile(all[0].File(part))
		if err != nil || !bytes.Equal(b, want) || all[0].Files[part].SHA256 != sum(want) || all[0].Files[part].Bytes != int64(len(want)) {
			return fmt.Errorf("its %s has %d bytes and is described as %+v: %v", part, len(b), all[0].Files[part], err)
		}
	}
	return errors.Join(intact(all[0]), clean(s))
}

// clean reports whether something is left that is no set.
func clean(s sets.Store) error {
	entries, err := os.ReadDir(filepath.Join(s.Dir, ".part"))
	for _, e := range entries {
		if e.Name() != "tiny.lock" {
			err = errors.Join(err, fmt.Errorf("%s is left", e.Name()))
		}
	}
	return err
}

// TestGet: a set is installed with what is known of its files, is not brought again, is mended if a
// file is damaged, and can be removed.
func TestGet(t *testing.T) {
	for _, form := range []string{"single", "packed"} {
		t.Run(form, func(t *testing.T) {
			files := map[string][]byte{"/model": weights["model"], "/tokens": weights["tokens"]}
			url, asked := serve(t, files)
			set := single(url)
			if form == "packed" {
				files["/set-1.tar.bz2"] = pack(t, usual())
				set = packed(url)
			}
			store := sets.Store{Dir: t.TempDir()}
			if all, err := store.List(); len(all) > 0 || err != nil {
				t.Errorf("it has %v, %v", all, err)
			}
			get := func(want bool) {
				t.Helper()
				if _, changed, err := store.Get(t.Context(), set, nil, quiet); err != nil || changed != want {
					t.Errorf("changed %v, %v", changed, err)
				}
				if err := holds(store); err != nil {
					t.Error(err)
				}
			}
			get(true)
			before := asked("/model") + asked("/set-1.tar.bz2")
			get(false)
			if n := asked("/model") + asked("/set-1.tar.bz2"); n != before {
				t.Errorf("it was brought %d times", n)
			}
			model := filepath.Join(store.Dir, "sets", "tiny", "model.onnx")
			if err := errors.Join(os.Chmod(model, 0o600), os.WriteFile(model, append([]byte{1}, weights["model"][1:]...), 0o600)); err != nil {
				t.Fatal(err)
			}
			get(true)
			set.Title = "another version"
			get(true)
			if err := store.Remove(t.Context(), "tiny"); err != nil {
				t.Error(err)
			}
			if all, err := store.List(); len(all) > 0 || err != nil || clean(store) != nil {
				t.Errorf("it has %v, %v, %v", all, err, clean(store))
			}
			for _, name := range []string{"tiny", "../tiny", "..", ""} {
				if err := store.Remove(t.Context(), name); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("removing %q: %v", name, err)
				}
			}
		})
	}
}

// TestPins: what nobody published is the same the next time, or is refused.
func TestPins(t *testing.T) {
	files := map[string][]byte{"/model": weights["model"], "/tokens": weights["tokens"]}
	url, _ := serve(t, files)
	store := sets.Store{Dir: t.TempDir()}
	set := single(url)
	set.Files["zone"] = catalog.File{Path: "zone", URLs: []string{url + "/zone"}}
	if _, _, err := store.Get(t.Context(), set, nil, quiet); err == nil || !strings.Contains(err.Error(), "zone: 127.0.0.1") {
		t.Errorf("without a file: %v", err)
	}
	if all, err := store.List(); len(all) > 0 || err != nil {
		t.Errorf("it has %v, %v", all, err)
	}
	files["/tokens"] = random(3, len(weights["tokens"])) // now the server has another, which is not asked for
	files["/zone"] = []byte("zone")
	if _, _, err := store.Get(t.Context(), set, nil, quiet); err != nil {
		t.Error(err)
	}
	if err := holds(store); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(store.Dir, "sets", "tiny", "text", "tokens.txt")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.Get(t.Context(), set, nil, quiet); err == nil || !strings.Contains(err.Error(), "another file") {
		t.Errorf("a set was mended by another file: %v", err)
	}
	files["/tokens"] = weights["tokens"]
	if _, _, err := store.Get(t.Context(), set, nil, quiet); err != nil {
		t.Error(err)
	}
	if err := holds(store); err != nil {
		t.Error(err)
	}
}

// TestNewCatalogue: where only what is said of a set has changed, nothing is downloaded and what was
// pinned stays so; a file at another address is fetched, and the others are the same as before.
func TestNewCatalogue(t *testing.T) {
	files := map[string][]byte{"/model": weights["model"], "/tokens": weights["tokens"], "/newer": []byte("newer")}
	url, asked := serve(t, files)
	store := sets.Store{Dir: t.TempDir()}
	get := func(set catalog.Set) catalog.Installed {
		t.Helper()
		if _, _, err := store.Get(t.Context(), set, nil, quiet); err != nil {
			t.Fatal(err)
		}
		all, err := store.List()
		if err != nil || len(all) != 1 || !sets.Current(set, all[0]) || intact(all[0]) != nil {
			t.Fatalf("it has %v, %v", all, err)
		}
		return all[0]
	}
	is := get(single(url))
	set := single(url)
	set.Title, set.Licence.Forbids = "Another title", "forbids nothing"
	files["/tokens"] = random(3, len(weights["tokens"]))
	if sets.Current(set, is) {
		t.Error("a new title is nothing new")
	}
	if is = get(set); is.Title != set.Title || asked("/model") != 1 || asked("/tokens") != 1 {
		t.Errorf("it is %+v; the model was asked for %d times, the tokens %d times", is.Set, asked("/model"), asked("/tokens"))
	}
	if err := holds(store); err != nil {
		t.Error(err)
	}
	set.Files["model"] = catalog.File{Path: "model.onnx", URLs: []string{url + "/newer"}}
	if _, _, err := store.Get(t.Context(), set, nil, quiet); err == nil || !strings.Contains(err.Error(), "another file") {
		t.Errorf("a file that was pinned came as another: %v", err)
	}
	if all, err := store.List(); err != nil || len(all) != 1 || all[0].Files["model"].SHA256 != sum(weights["model"]) || intact(all[0]) != nil {
		t.Errorf("what was there is not in use any more: %v, %v", all, err)
	}
	files["/tokens"] = weights["tokens"]
	if is = get(set); is.Files["model"].SHA256 != sum(files["/newer"]) || is.Files["tokens"].SHA256 != sum(weights["tokens"]) {
		t.Errorf("it is %+v", is.Set)
	}
}

// TestArchives: whatever an archive is, nothing of it is outside of its folder, and nothing is
// installed that is not whole.
func TestArchives(t *testing.T) {
	elsewhere := t.TempDir()
	with := func(change func([]entry) []entry) []byte { return pack(t, change(usual())) }
	whole := pack(t, usual())
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	var many []entry
	for i := range 10_001 {
		many = append(many, entry{name: fmt.Sprintf("set-1/%d", i)})
	}
	for _, tt := range []struct {
		name    string
		archive []byte
		change  func(*catalog.Set)
		want    string
	}{
		{"whole", whole, nil, ""},
		{"without a folder", with(func(e []entry) []entry {
			for i := range e {
				e[i].name = strings.TrimPrefix(e[i].name, "set-1/")
			}
			return e[1:]
		}), nil, ""},
		{"of the right size", whole, func(s *catalog.Set) {
			s.Files["model"] = catalog.File{Path: "model.onnx", Bytes: int64(len(weights["model"]))}
		}, ""},
		{"of another size", whole, func(s *catalog.Set) { s.Files["model"] = catalog.File{Path: "model.onnx", Bytes: 5} }, "has 200000 bytes and not 5"},
		{"of another checksum", whole, func(s *catalog.Set) {
			s.Files["model"] = catalog.File{Path: "model.onnx", SHA256: sum(nil)}
		}, "another file"},
		{"whose own checksum is another", whole, func(s *catalog.Set) { s.Archive.SHA256 = sum(nil) }, "another file"},
		{"without a file", with(func(e []entry) []entry { return e[:3] }), nil, "has no file text/tokens.txt"},
		{"with a file twice", with(func(e []entry) []entry { return append([]entry{e[2]}, e...) }), nil, "two files called model.onnx"},
		{"with a link", with(func(e []entry) []entry {
			e[2] = entry{name: "set-1/model.onnx", kind: tar.TypeSymlink, link: "/etc/passwd"}
			return e
		}), nil, "has no file model.onnx"},
		{"with a hard link", with(func(e []entry) []entry {
			e[2] = entry{name: "set-1/model.onnx", kind: tar.TypeLink, link: "../../../outside"}
			return e
		}), nil, "has no file model.onnx"},
		{"with files elsewhere", with(func(e []entry) []entry {
			return append([]entry{{name: "../../outside", content: []byte("x")}, {name: filepath.Join(elsewhere, "outside"), content: []byte("x")}, {name: "set-1/../../../outside", content: []byte("x")}}, e...)
		}), nil, ""},
		{"with a folder that is a link", with(func(e []entry) []entry {
			return append([]entry{{name: "set-1/text", kind: tar.TypeSymlink, link: elsewhere}}, e...)
		}), nil, ""},
		{"that is cut", whole[:len(whole)/2], nil, "the archive is damaged"},
		{"with a bit flipped", flipped, nil, "the archive is damaged"},
		{"that is none", random(4, 5000), nil, "the archive is damaged"},
		{"of something else", bzip2(t, random(5, 5000)), nil, "the archive is damaged"},
		{"that swells", with(func(e []entry) []entry {
			return append([]entry{{name: "set-1/zeros", content: make([]byte, 20<<20)}}, e...)
		}), nil, "more comes out of the archive"},
		{"with too many", pack(t, append(many, usual()...)), nil, "has no file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, _ := serve(t, map[string][]byte{"/set-1.tar.bz2": tt.archive})
			outer := t.TempDir()
			store := sets.Store{Dir: filepath.Join(outer, "a", "b", "models")}
			set := packed(url)
			if tt.change != nil {
				tt.change(&set)
			}
			_, _, err := store.Get(t.Context(), set, nil, quiet)
			if tt.want == "" {
				if err := errors.Join(err, holds(store)); err != nil {
					t.Error(err)
				}
			} else if all, bad := store.List(); err == nil || !strings.Contains(err.Error(), tt.want) || len(all) > 0 || bad != nil {
				t.Errorf("%v, want %q; it has %v, %v", err, tt.want, all, bad)
			}
			if err := escaped(outer, elsewhere); err != nil {
				t.Error(err)
			}
		})
	}
}

// escaped reports what was written where nothing may be.
func escaped(outer, elsewhere string) error {
	found, err := os.ReadDir(elsewhere)
	for _, e := range found {
		err = errors.Join(err, fmt.Errorf("%s is elsewhere", e.Name()))
	}
	return errors.Join(err, filepath.WalkDir(outer, func(path string, _ os.DirEntry, err error) error {
		if filepath.Base(path) == "outside" {
			err = fmt.Errorf("%s was written", path)
		}
		return err
	}))
}

// FuzzArchive: whatever an archive has in it, a set is whole or not there, and nothing is elsewhere.
func FuzzArchive(f *testing.F) {
	f.Add([]byte("BZh9"))
	f.Add([]byte("BZh91AY&SY"))
	f.Fuzz(func(t *testing.T, archive []byte) {
		outer := t.TempDir()
		path := filepath.Join(outer, "set-1.tar.bz2")
		if err := os.WriteFile(path, archive, 0o600); err != nil {
			t.Fatal(err)
		}
		source, err := sets.OpenSource(path)
		if err != nil {
			t.Fatal(err)
		}
		store := sets.Store{Dir: filepath.Join(outer, "a", "b", "models")}
		is, _, err := store.Get(t.Context(), packed("http://127.0.0.1:1"), source, quiet)
		all, bad := store.List()
		if bad != nil || (err == nil) != (len(all) == 1) || err == nil && intact(is) != nil {
			t.Errorf("%v; it has %v, %v", err, all, bad)
		}
		if err := escaped(outer, t.TempDir()); err != nil {
			t.Error(err)
		}
	})
}

// TestOffline: what a folder or an archive has is installed from there, with the checksum as the
// proof where there is one.
func TestOffline(t *testing.T) {
	url, asked := serve(t, nil)
	dir := t.TempDir()
	put := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, b, 0o600)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	archive := put("archives/set-1.tar.bz2", pack(t, usual()))
	put("renamed/weights", weights["model"])
	put("renamed/tokens.txt", weights["tokens"])
	put("wrong/model.onnx", random(6, len(weights["model"])))
	put("wrong/tokens.txt", weights["tokens"])
	put("unpacked/set-1/model.onnx", weights["model"])
	put("unpacked/set-1/text/tokens.txt", weights["tokens"])
	for _, tt := range []struct {
		from     string
		set      catalog.Set
		has      bool
		unproven int
		want     string
	}{
		{archive, packed(url), true, 1, ""},
		{filepath.Dir(archive), packed(url), true, 1, ""},
		{filepath.Join(dir, "unpacked"), packed(url), false, 2, ""},
		{filepath.Join(dir, "renamed"), single(url), false, 1, ""},
		{filepath.Join(dir, "wrong"), single(url), false, 0, "no file model.onnx with the published checksum"},
		{filepath.Join(dir, "wrong"), packed(url), false, 2, "the same"},
		{archive, single(url), false, 0, "has no file"},
	} {
		source, err := sets.OpenSource(tt.from)
		if err != nil {
			t.Fatal(err)
		}
		if has := source.Has(tt.set); has != tt.has {
			t.Errorf("%s has it: %v", tt.from, has)
		}
		store := sets.Store{Dir: t.TempDir()}
		_, _, err = store.Get(t.Context(), tt.set, source, quiet)
		switch {
		case tt.want == "":
			if err := errors.Join(err, holds(store)); err != nil {
				t.Errorf("%s: %v", tt.from, err)
			}
		case tt.want != "the same" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want %q", tt.from, err, tt.want)
		}
		if len(source.Unproven) != tt.unproven {
			t.Errorf("%s: %q are not proven", tt.from, source.Unproven)
		}
	}
	if _, err := sets.OpenSource(filepath.Join(dir, "nothing")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if asked("/model")+asked("/set-1.tar.bz2") > 0 {
		t.Error("the net was asked")
	}
}

// TestTwoAtOnce: several that want one set bring it once.
func TestTwoAtOnce(t *testing.T) {
	url, asked := serve(t, map[string][]byte{"/model": weights["model"], "/tokens": weights["tokens"]})
	store := sets.Store{Dir: t.TempDir()}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, _, err := store.Get(t.Context(), single(url), nil, quiet); err != nil {
				t.Error(err)
			}
		})
	}
	testkit.Finish(t, testkit.Patience, "four that install", all.Wait)
	if asked("/model") != 1 {
		t.Errorf("it was brought %d times", asked("/model"))
	}
	if err := holds(store); err != nil {
		t.Error(err)
	}
}

// TestStopped: the end of the context ends it at once, wherever it is, and the next one goes on.
func TestStopped(t *testing.T) {
	archive := pack(t, usual())
	url, asked := serve(t, map[string][]byte{"/set-1.tar.bz2": archive})
	store := sets.Store{Dir: t.TempDir()}
	why := errors.New("stopped by hand")
	for _, at := range []string{"downloading", "unpacking"} {
		ctx, stop := context.WithCancelCause(t.Context())
		_, _, err := store.Get(ctx, packed(url), nil, func(doing string, _, _ int64) {
			if doing == at {
				stop(why)
			}
		})
		if !errors.Is(err, why) {
			t.Errorf("while %s: %v", at, err)
		}
		if all, err := store.List(); len(all) > 0 || err != nil {
			t.Errorf("it has %v, %v", all, err)
		}
	}
	n := asked("/set-1.tar.bz2")
	if _, _, err := store.Get(t.Context(), packed(url), nil, quiet); err != nil || asked("/set-1.tar.bz2") != n {
		t.Errorf("what was whole was brought again: %v", err)
	}
	if err := holds(store); err != nil {
		t.Error(err)
	}
}

// TestFullDisk: a set that does not fit is refused before anything is brought, and one that fills the
// disk while it is unpacked says so.
func TestFullDisk(t *testing.T) {
	small := t.TempDir()
	if err := syscall.Mount("none", small, "tmpfs", 0, "size=500k"); err != nil {
		t.Skipf("only root can make a small disk: %v", err)
	}
	defer syscall.Unmount(small, 0)
	url, asked := serve(t, map[string][]byte{"/set-1.tar.bz2": pack(t, []entry{{name: "a/model.onnx", content: random(1, 300_000)}, {name: "a/text/tokens.txt"}})})
	store := sets.Store{Dir: small}
	var full *download.SpaceError
	set := packed(url)
	set.About = 1 << 40
	if _, _, err := store.Get(t.Context(), set, nil, quiet); !errors.As(err, &full) || asked("/set-1.tar.bz2") > 0 {
		t.Errorf("too large: %v", err)
	}
	if _, _, err := store.Get(t.Context(), packed(url), nil, quiet); !errors.As(err, &full) || full.Free != -1 {
		t.Errorf("while it is unpacked: %v", err)
	}
	if all, err := store.List(); len(all) > 0 || err != nil {
		t.Errorf("it has %v, %v", all, err)
	}
}

// TestDamaged: a set whose description cannot be read is told apart, and can be removed.
func TestDamaged(t *testing.T) {
	url, _ := serve(t, map[string][]byte{"/model": weights["model"], "/tokens": weights["tokens"]})
	store := sets.Store{Dir: t.TempDir()}
	if _, _, err := store.Get(t.Context(), single(url), nil, quiet); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(store.Dir, "sets", "other"), 0o700); err != nil {
		t.Fatal(err)
	}
	if all, err := store.List(); len(all) != 1 || err == nil || !strings.Contains(err.Error(), "other holds no model") {
		t.Errorf("it has %v, %v", all, err)
	}
	if err := store.Remove(t.Context(), "other"); err != nil {
		t.Error(err)
	}
	if all, err := store.List(); len(all) != 1 || err != nil {
		t.Errorf("it has %v, %v", all, err)
	}
}

// intact says what is wrong with the files of a set, or nothing.
func intact(is catalog.Installed) error {
	damage, err := is.Damage(context.Background())
	if damage != "" {
		err = errors.Join(err, errors.New(damage))
	}
	return err
}
