package workspace_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode/utf8"

	"earshot"
	"earshot/executive/tool"
	"earshot/executive/tool/workspace"
	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
)

const home = earshot.Path("/owner/agent/coder")

var ann = participants.Participant{ID: "ann", Name: "ann", Capabilities: []participants.Capability{participants.SendMessages, participants.UseTools}}

// desk is the workspaces in a folder, with the one of the coder.
type desk struct {
	workspace.Store
	dir   string
	tools tool.Table
}

func newDesk(t testing.TB) *desk {
	d := &desk{dir: filepath.Join(t.TempDir(), "workspaces", "owner", "agent", "coder")}
	d.Dir = filepath.Join(d.dir, "..", "..", "..")
	d.tools = d.Tools()
	return d
}

// use lets the coder use a tool.
func (d *desk) use(t testing.TB, name string, arguments any) tool.Outcome {
	t.Helper()
	return d.as(t, home, name, arguments)
}

func (d *desk) as(t testing.TB, who earshot.Path, name string, arguments any) tool.Outcome {
	t.Helper()
	return d.among(t, earshot.Visibility{Scope: earshot.Public}, who, name, arguments)
}

// among uses a tool in a conversation for those of v.
func (d *desk) among(t testing.TB, v earshot.Visibility, who earshot.Path, name string, arguments any) tool.Outcome {
	t.Helper()
	return d.in(t, earshot.Desk, v, who, name, arguments)
}

// in uses a tool in a conversation in a room.
func (d *desk) in(t testing.TB, room earshot.RoomID, v earshot.Visibility, who earshot.Path, name string, arguments any) tool.Outcome {
	t.Helper()
	given, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	return d.tools.Do(t.Context(), tool.Scope{Room: room, Home: who, Visibility: v, Askers: []participants.Participant{ann}, Budget: new(tool.Budget)}, llm.Call{Tool: name, Arguments: given})
}

type (
	path struct {
		Path string `json:"path"`
		From int    `json:"from,omitempty"`
	}
	dir struct {
		Folder string `json:"folder"`
	}
	write struct {
		Path    string `json:"path"`
		Content string `json:"content"`
		Append  bool   `json:"append,omitempty"`
	}
)

// put makes a file behind the agent's back.
func (d *desk) put(t testing.TB, name, content string) string {
	t.Helper()
	file := filepath.Join(d.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestFiles(t *testing.T) {
	d := newDesk(t)
	for _, step := range []struct {
		tool      string
		arguments any
		told      string
	}{
		{"list_files", dir{}, "Your workspace is empty."},
		{"read_file", path{Path: "test.txt"}, "there is no such file; list_files shows those there are"},
		{"write_file", write{Path: "./test.txt", Content: "hello"}, "test.txt is written, 5 bytes."},
		{"read_file", path{Path: "test.txt"}, "Bytes 0 to 4 of 5:\nhello"},
		{"write_file", write{Path: "test.txt", Content: " again", Append: true}, "test.txt is written, 11 bytes."},
		{"read_file", path{Path: "test.txt", From: 6}, "Bytes 6 to 10 of 11:\nagain"},
		{"write_file", write{Path: "notes/to day.txt", Content: "ä"}, "notes/to day.txt is written, 2 bytes."},
		{"write_file", write{Path: "empty", Append: true}, "empty is written, 0 bytes."},
		{"read_file", path{Path: "empty"}, "The file is empty."},
		{"read_file", path{Path: "notes"}, "that is a folder"},
		{"write_file", write{Path: "notes", Content: "x"}, "that is a folder"},
		{"write_file", write{Path: ".", Content: "x"}, "that is a folder"},
		{"write_file", write{Path: "test.txt/x", Content: "x"}, "a part of the path is a file"},
		{"read_file", path{Path: "test.txt/x"}, "a part of the path is a file"},
		{"list_files", dir{"notes/"}, "notes/to day.txt (2 bytes)"},
		{"list_files", dir{"none"}, "there is no such file"},
		{"list_files", dir{"test.txt"}, "that is a file"},
		{"list_files", dir{}, "empty (0 bytes)\nnotes/\nnotes/to day.txt (2 bytes)\ntest.txt (11 bytes)"},
		{"read_file", path{Path: "test.txt", From: 11}, "from is 11; the file has the bytes 0 to 10"},
		{"read_file", path{Path: "test.txt", From: -1}, "from is -1"},
	} {
		if o := d.use(t, step.tool, step.arguments); !strings.Contains(o.Told, step.told) {
			t.Errorf("%s %+v: %q, want %q", step.tool, step.arguments, o.Told, step.told)
		}
	}
	about, err := os.Stat(filepath.Join(d.dir, "notes", "to day.txt"))
	if err != nil || about.Mode().Perm() != 0o600 {
		t.Errorf("it lies there as %v: %v", about.Mode(), err)
	}
	if about, err := os.Stat(d.dir); err != nil || about.Mode().Perm() != 0o700 {
		t.Errorf("its folder is %v: %v", about.Mode(), err)
	}
}

// TestHostileNames: nothing is read or written outside, whatever the path is; it is refused, and
// the error says what is right.
func TestHostileNames(t *testing.T) {
	d := newDesk(t)
	outside := filepath.Join(d.dir, "..", "secret.txt")
	d.put(t, "x", "x")
	if err := os.WriteFile(outside, []byte("canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"", "..", "../secret.txt", "../coder2/x", "a/../../secret.txt", "./../secret.txt", "a/..", "/etc/passwd", "/", "//", "~/x", "~root/x", outside,
		`..\secret.txt`, `C:\x`, "c:x", "a\x00b", "../secret.txt\x00.txt", "a\nb", "a\tb", "a\x1b[2Jb", "a\u202eb", "a\u200bb", "\ufeffa", "\xff", "a//b", "a/./b", " a", "a ", "a/ b",
		".unfinished", ".UNFINISHED", "a/.unfinished", "*", "a?", `a"b`, "a<b", "a|b", "file:x",
		strings.Repeat("a", 129), strings.Repeat("a/", 9) + "b", strings.Repeat("ab/", 400) + "c",
	} {
		for _, o := range []tool.Outcome{d.use(t, "read_file", path{Path: name}), d.use(t, "write_file", write{Path: name, Content: "evil"})} {
			if !strings.HasPrefix(o.Told, "Refused: ") && !strings.HasPrefix(o.Told, "Failed: ") {
				t.Errorf("%q: %q", name, o.Told)
			}
			if strings.Contains(o.Told, "canary") || strings.Contains(o.Told, d.dir) || o.Fault != "" {
				t.Errorf("%q: told is %q", name, o.Told)
			}
			if (strings.Contains(name, "..") || strings.HasPrefix(name, "/")) && !o.Use.Refused {
				t.Errorf("%q: it is not refused but %q", name, o.Told)
			}
		}
		if name != "" {
			if o := d.use(t, "list_files", dir{name}); strings.Contains(o.Told, "secret") {
				t.Errorf("listed is %q", o.Told)
			}
		}
	}
	if got, err := os.ReadFile(outside); err != nil || string(got) != "canary" {
		t.Errorf("outside is %q: %v", got, err)
	}
	if all, err := os.ReadDir(d.dir); err != nil || len(all) != 1 {
		t.Errorf("%d files lie there: %v", len(all), err)
	}
}

// TestHostileThings: links out, pipes, devices and files that are too large are neither read nor
// written, and nothing waits for them.
func TestHostileThings(t *testing.T) {
	d := newDesk(t)
	secret := filepath.Join(d.dir, "..", "secret.txt")
	d.put(t, "plain", "plain")
	d.put(t, "huge", strings.Repeat("x", 256<<10+1))
	d.put(t, "largest", strings.Repeat("y", 256<<10))
	d.put(t, "binary", "a\x00b")
	d.put(t, "latin", "\xe4")
	for _, err := range []error{
		os.WriteFile(secret, []byte("canary"), 0o600),
		os.Symlink(secret, filepath.Join(d.dir, "absolute")),
		os.Symlink("../secret.txt", filepath.Join(d.dir, "relative")),
		os.Symlink("..", filepath.Join(d.dir, "up")),
		os.Symlink("circle", filepath.Join(d.dir, "circle")),
		os.Symlink("plain", filepath.Join(d.dir, "within")),
		os.Symlink("/dev/zero", filepath.Join(d.dir, "zero")),
		syscall.Mkfifo(filepath.Join(d.dir, "pipe"), 0o600),
	} {
		if err != nil {
			t.Skip("this file system has no such things: ", err)
		}
	}
	for _, tt := range []struct{ name, read, write string }{
		{"absolute", "Refused: that leads out", "Refused: that is a link"},
		{"relative", "Refused: that leads out", "Refused: that is a link"},
		{"up/secret.txt", "Refused: that leads out", "Refused: that leads out"},
		{"up/new.txt", "Refused: that leads out", "Refused: that leads out"},
		{"circle", "Refused: that leads out", "Refused: that is a link"},
		{"within", "plain", "Refused: that is a link"},
		{"zero", "Refused: that leads out", "Refused: that is a link"},
		{"pipe", "Refused: that is no plain file", "Refused: that is no plain file"},
		{"huge", "Refused: the file has 262145 bytes", "Refused: the file has 262145 bytes"},
		{"largest", "Bytes 0 to 7167 of 262144; go on with from 7168:\nyyy", ""},
		{"binary", "Failed: the file is not text", ""},
		{"latin", "Failed: the file is not text", ""},
	} {
		if o := d.use(t, "read_file", path{Path: tt.name}); !strings.Contains(o.Told, tt.read) || strings.Contains(o.Told, "canary") {
			t.Errorf("reading %s: %.200q", tt.name, o.Told)
		}
		if o := d.use(t, "write_file", write{Path: tt.name, Content: "evil", Append: true}); tt.write != "" && !strings.HasPrefix(o.Told, tt.write) {
			t.Errorf("writing %s: %.200q", tt.name, o.Told)
		}
	}
	if o := d.use(t, "write_file", write{Path: "largest", Content: "z", Append: true}); !strings.Contains(o.Told, "the file would have 262") {
		t.Errorf("a file grows: %q", o.Told)
	}
	if got, err := os.ReadFile(secret); err != nil || string(got) != "canary" {
		t.Errorf("outside is %q: %v", got, err)
	}
	o := d.use(t, "list_files", dir{})
	for _, want := range []string{"absolute (a link)", "pipe (no plain file)", "plain (5 bytes)", "up (a link)"} {
		if !strings.Contains(o.Told, want) {
			t.Errorf("%q is not in the list %q", want, o.Told)
		}
	}
	if o := d.use(t, "list_files", dir{"up"}); !o.Use.Refused {
		t.Errorf("listing a link out: %q", o.Told)
	}
}

// TestAWorkspaceIsBounded: in files and in bytes; existing files can still be written.
func TestAWorkspaceIsBounded(t *testing.T) {
	d := newDesk(t)
	for i := range 1999 {
		d.put(t, fmt.Sprint("f", i), "")
	}
	for _, tt := range []struct {
		name string
		want string
	}{
		{"a/b", "Refused: the workspace has 2000 files and folders"}, {"one", "is written"}, {"two", "Refused: the workspace has"}, {"f7", "is written"},
	} {
		if o := d.use(t, "write_file", write{Path: tt.name, Content: "x"}); !strings.Contains(o.Told, tt.want) {
			t.Errorf("%s: %q", tt.name, o.Told)
		}
	}
	if o := d.use(t, "list_files", dir{}); !strings.HasSuffix(o.Told, "and more; give a folder to see what is in it") {
		t.Errorf("listed is %q", o.Told[max(0, len(o.Told)-100):])
	}
	d = newDesk(t)
	for i := range 64 {
		if err := os.Truncate(d.put(t, fmt.Sprint("f", i), ""), 1<<20); err != nil {
			t.Fatal(err)
		}
	}
	if o := d.use(t, "write_file", write{Path: "more", Content: "x"}); !strings.Contains(o.Told, "Refused: the workspace would have 67108865 bytes; at most 67108864") {
		t.Errorf("more: %q", o.Told)
	}
}

// TestReadingInParts: the parts of a file, one after the other, are the file.
func TestReadingInParts(t *testing.T) {
	d := newDesk(t)
	text := strings.Repeat("aä€😀\n", 3000)
	d.put(t, "f", text)
	var got strings.Builder
	for from := 0; from < len(text); {
		o := d.use(t, "read_file", path{Path: "f", From: from})
		head, part, _ := strings.Cut(string(o.Use.Result), "\n")
		if !utf8.ValidString(part) || strings.Contains(part, "cut off") {
			t.Fatalf("a part is %q", part[max(0, len(part)-60):])
		}
		got.WriteString(part)
		from += len(part)
		if more := fmt.Sprintf("go on with from %d:", from); from < len(text) && !strings.HasSuffix(head, more) {
			t.Fatalf("%q, want %q", head, more)
		}
	}
	if got.String() != text {
		t.Error("the parts are not the file")
	}
	if o := d.use(t, "read_file", path{Path: "f", From: 2}); !strings.Contains(o.Told, "Bytes 1 to") { // within a rune
		t.Errorf("%.80q", o.Told)
	}
}

// TestAgentsAreApart: no agent sees another's files, and an invalid path is nobody's.
func TestAgentsAreApart(t *testing.T) {
	d := newDesk(t)
	d.use(t, "write_file", write{Path: "mine", Content: "canary"})
	for _, other := range []earshot.Path{"/owner/agent/code", "/owner/agent/coder2", "/other/agent/coder", "", "/", "/..", "/owner/../owner/agent/coder", "/owner/agent/coder/", "//owner/agent/coder"} {
		for _, o := range []tool.Outcome{d.as(t, other, "read_file", path{Path: "mine"}), d.as(t, other, "list_files", dir{})} {
			if strings.Contains(o.Told, "canary") || strings.Contains(o.Told, "mine (") {
				t.Errorf("%s: %q", other, o.Told)
			}
		}
	}
}

// TestANamedWorkspace: the files of an agent with a workspace of its own are apart from those of all
// others, and forgotten like theirs.
func TestANamedWorkspace(t *testing.T) {
	d := newDesk(t)
	r := agents.Record{User: "owner", Path: home, Profile: earshot.Profile{Workspace: "notes"}}
	secret := earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann", "coder"}}
	for _, v := range []earshot.Visibility{{Scope: earshot.Public}, secret} {
		given, _ := json.Marshal(write{Path: "mine", Content: "canary"})
		o := d.tools.Do(t.Context(), tool.Scope{
			Room: earshot.Desk, Home: r.Home(), Visibility: v, Askers: []participants.Participant{ann}, Budget: new(tool.Budget),
			Rests: func() []earshot.EventID { return []earshot.EventID{"e1"} },
		}, llm.Call{Tool: "write_file", Arguments: given})
		if o.Use.Failed || o.Use.Refused {
			t.Fatalf("%+v", o)
		}
	}
	if data, err := os.ReadFile(filepath.Join(d.Dir, "agent", "owner", "notes", "mine")); err != nil || string(data) != "canary" {
		t.Errorf("there is %q, %v", data, err)
	}
	if o := d.use(t, "read_file", path{Path: "mine"}); strings.Contains(o.Told, "canary") {
		t.Errorf("the one at the path has it: %q", o.Told)
	}
	if n, err := d.Forget(func(id earshot.EventID) bool { return id == "e1" }); n != 2 || err != nil {
		t.Errorf("%d files were changed, %v", n, err)
	}
	err := filepath.WalkDir(d.Dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			t.Errorf("%s is left", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestWhatIsPrivateStaysSo: files from a private conversation are found only by the same people,
// and shared files are found there, too.
func TestWhatIsPrivateStaysSo(t *testing.T) {
	d := newDesk(t)
	public := earshot.Visibility{Scope: earshot.Public}
	private := func(members ...earshot.ParticipantID) earshot.Visibility {
		return earshot.Visibility{Scope: earshot.Private, Members: members}
	}
	both, alone := private("ann", "agent"), private("ann", "bob", "agent")
	d.among(t, public, home, "write_file", write{Path: "list", Content: "milk"})
	for _, step := range []struct {
		v         earshot.Visibility
		tool      string
		arguments any
		told      string
	}{
		{both, "read_file", path{Path: "list"}, "milk"},
		{both, "write_file", write{Path: "diary", Content: "canary"}, "diary is written, 6 bytes. It can be read in this private conversation alone."},
		{both, "write_file", write{Path: "list", Content: ", canary", Append: true}, "list is written, 12 bytes."},
		{both, "write_file", write{Path: "list", Content: "!", Append: true}, "list is written, 13 bytes."},
		{private("agent", "ann"), "read_file", path{Path: "diary"}, "canary"},
		{both, "read_file", path{Path: "list"}, "milk, canary!"},
		{both, "list_files", dir{}, "diary (6 bytes)\nlist (13 bytes)"},
		{both, "write_file", write{Path: "a/b", Content: "x"}, "a/b is written"},
		{public, "write_file", write{Path: "a/c", Content: "x"}, "a/c is written, 1 bytes."},
		{both, "list_files", dir{"a"}, "a/b (1 bytes)\na/c (1 bytes)"},
		{both, "list_files", dir{"none"}, "there is no such file"},
	} {
		if o := d.among(t, step.v, home, step.tool, step.arguments); !strings.Contains(o.Told, step.told) {
			t.Errorf("%s %+v: %q, want %q", step.tool, step.arguments, o.Told, step.told)
		}
	}
	for _, v := range []earshot.Visibility{public, alone, private("bob", "agent"), private("annagent"), {Scope: earshot.System}, {}} {
		for _, name := range []string{"diary", ".private/diary", "list"} {
			if o := d.among(t, v, home, "read_file", path{Path: name}); strings.Contains(o.Told, "canary") || v.Scope == "" && name == "diary" && !o.Use.Failed {
				t.Errorf("%+v reads %q", v, o.Told)
			}
		}
		if o := d.among(t, v, home, "list_files", dir{}); strings.Contains(o.Told, "diary") {
			t.Errorf("%+v: %q", v, o.Told)
		}
	}
	for _, o := range []tool.Outcome{d.as(t, "/.private", "list_files", dir{}), d.as(t, "/owner/agent", "list_files", dir{})} {
		if strings.Contains(o.Told, "diary") {
			t.Errorf("another finds %q", o.Told)
		}
	}
}

// TestWritingIsWhole: a reader during writes finds one of the texts complete, and nothing is left
// over.
func TestWritingIsWhole(t *testing.T) {
	d := newDesk(t)
	d.put(t, "f", strings.Repeat("0", 5000))
	d.put(t, ".unfinished", "left by a crash")
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for range 10 {
				if o := d.use(t, "write_file", write{Path: "f", Content: strings.Repeat(fmt.Sprint(w), 5000)}); !strings.Contains(o.Told, "is written") {
					t.Errorf("writing: %q", o.Told)
				}
			}
		})
	}
	for range 100 {
		got, err := os.ReadFile(filepath.Join(d.dir, "f"))
		if err != nil || len(got) != 5000 || bytes.Count(got, got[:1]) != 5000 {
			t.Fatalf("%d bytes, mixed: %v", len(got), err)
		}
	}
	testkit.Finish(t, 5*testkit.Patience, "the end of what is written", writers.Wait)
	if all, err := os.ReadDir(d.dir); err != nil || len(all) != 1 {
		t.Errorf("%d files are left: %v", len(all), err)
	}
}

// FuzzNames: whatever a path is, nothing outside is touched.
func FuzzNames(f *testing.F) {
	for _, name := range []string{"a", "../x", "/x", "a/../b", "a\x00", ".unfinished", "a/b/c", "link/x", "LINK"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if len(name) > 4096 {
			return
		}
		d := newDesk(t)
		d.put(t, "x", "x")
		secret := filepath.Join(d.dir, "..", "x")
		if os.WriteFile(secret, []byte("canary"), 0o600) != nil || os.Symlink("..", filepath.Join(d.dir, "link")) != nil {
			t.Skip()
		}
		wrote := d.use(t, "write_file", write{Path: name, Content: "evil"})
		read := d.use(t, "read_file", path{Path: name})
		if strings.Contains(read.Told, "canary") || wrote.Fault+read.Fault != "" {
			t.Fatalf("%q: %q", name, read.Told)
		}
		if strings.Contains(wrote.Told, "is written") != strings.Contains(read.Told, "evil") {
			t.Fatalf("%q: %q, and then %q", name, wrote.Told, read.Told)
		}
		outside := 0
		filepath.WalkDir(d.Dir, func(p string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && !strings.HasPrefix(p, d.dir+string(filepath.Separator)) {
				outside++
			}
			return err
		})
		if got, _ := os.ReadFile(secret); outside != 1 || string(got) != "canary" {
			t.Fatalf("%q: outside are %d files, and the secret is %q", name, outside, got)
		}
	})
}

// TestARoomKeepsItsFiles: files from a room that not everybody may enter are found only there, in
// private there too, and shared files are found there.
func TestARoomKeepsItsFiles(t *testing.T) {
	d := newDesk(t)
	d.Closed = func(r earshot.RoomID) bool { return r != earshot.Desk }
	public := earshot.Visibility{Scope: earshot.Public}
	private := earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann", "agent"}}
	for _, step := range []struct {
		room      earshot.RoomID
		v         earshot.Visibility
		tool      string
		arguments any
		told      string
	}{
		{earshot.Desk, public, "write_file", write{Path: "list", Content: "milk"}, "list is written, 4 bytes."},
		{"den", public, "read_file", path{Path: "list"}, "milk"},
		{"den", public, "write_file", write{Path: "list", Content: ", canary", Append: true}, "list is written, 12 bytes. It can be read in this room alone."},
		{"den", public, "list_files", dir{}, "list (12 bytes)"},
		{"den", private, "read_file", path{Path: "list"}, "canary"},
		{"den", private, "write_file", write{Path: "list", Content: "!", Append: true}, "list is written, 13 bytes. It can be read in this private"},
		{"den", public, "list_files", dir{}, "list (12 bytes)"},
		{"attic", public, "list_files", dir{}, "list (4 bytes)"},
		{"..", public, "read_file", path{Path: "list"}, "could not be used"},
	} {
		if o := d.in(t, step.room, step.v, home, step.tool, step.arguments); !strings.Contains(o.Told, step.told) {
			t.Errorf("%s %s %+v: %q, want %q", step.room, step.tool, step.arguments, o.Told, step.told)
		}
	}
	for _, room := range []earshot.RoomID{earshot.Desk, "attic"} {
		for _, name := range []string{"list", ".rooms/den/owner/agent/coder/list"} {
			if o := d.in(t, room, public, home, "read_file", path{Path: name}); strings.Contains(o.Told, "canary") {
				t.Errorf("%s reads %q", room, o.Told)
			}
		}
	}
}
