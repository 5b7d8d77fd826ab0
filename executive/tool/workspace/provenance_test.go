package workspace_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"earshot"
	"earshot/executive/tool"
	"earshot/llm"
	"earshot/participants"
)

// resting uses a tool in a turn that rests on some events.
func (d *desk) resting(t testing.TB, about earshot.EventID, on []earshot.EventID, name, arguments string) tool.Outcome {
	t.Helper()
	return d.tools.Do(t.Context(), tool.Scope{
		Room: earshot.Desk, Home: home, About: about, Visibility: earshot.Visibility{Scope: earshot.Public},
		Askers: []participants.Participant{ann}, Budget: new(tool.Budget), Rests: func() []earshot.EventID { return on },
	}, llm.Call{Tool: name, Arguments: []byte(arguments)})
}

// TestForgetCutOff: the rest of a file that a crash has left half overwritten is removed at the
// next start, and does no harm until then.
func TestForgetCutOff(t *testing.T) {
	d := newDesk(t)
	for _, name := range []string{"cloves.txt", "list.txt"} {
		if o := d.resting(t, "a1", []earshot.EventID{"x"}, "write_file", `{"path":"`+name+`","content":"cloves"}`); o.Use.Failed || o.Use.Refused {
			t.Fatalf("%+v", o)
		}
	}
	laid, err := filepath.Glob(filepath.Join(d.Dir, ".sources", "*.json"))
	if err != nil || len(laid) != 2 {
		t.Fatalf("%q, %v", laid, err)
	}
	if err := os.WriteFile(laid[0], append(make([]byte, 20), "cloves"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := d.Touched(func(earshot.EventID) bool { return true }); n != 1 || err != nil {
		t.Errorf("%d files would be otherwise, %v", n, err)
	}
	for _, name := range []string{"cloves.txt", "list.txt"} {
		if o := d.resting(t, "q", nil, "read_file", `{"path":"`+name+`"}`); o.Use.Failed {
			t.Errorf("%s cannot be read: %s", name, string(o.Use.Result))
		}
	}
	if all, err := d.Sources(); err != nil || !slices.Equal(all, []earshot.EventID{"a1", "x"}) {
		t.Errorf("they were made of %v, %v", all, err)
	}
	if _, err := os.Stat(laid[0]); err == nil {
		t.Error("what was to be taken away is there")
	}
}

// TestForget: the sources of a file are known to whoever reads it, and what was made from a
// forgotten event is removed; what others had written there stays.
func TestForget(t *testing.T) {
	d := newDesk(t)
	write := func(about earshot.EventID, on, path, content, more string) {
		t.Helper()
		o := d.resting(t, about, []earshot.EventID{earshot.EventID(on), about}, "write_file", `{"path":"`+path+`","content":"`+content+`","append":`+more+`}`)
		if o.Use.Failed || o.Use.Refused {
			t.Fatalf("%+v: %s", o, string(o.Use.Result))
		}
	}
	write("b1", "x", "list.txt", "bread,", "true")
	write("a1", "x", "list.txt", "cloves,", "true")
	write("b2", "x", "list.txt", "milk", "true")
	write("a2", "x", "cloves.txt", "only cloves", "false")
	write("a3", "x", "notes/cloves.txt", "cloves, ", "true")
	write("b3", "x", "notes/cloves.txt", "butter", "true")
	write("a4", "x", "plan.txt", "cloves", "false")
	write("b4", "x", "plan.txt", "no more", "false")
	if o := d.resting(t, "q", nil, "read_file", `{"path":"list.txt"}`); !slices.Equal(o.Sources, []earshot.EventID{"a1", "b1", "b2", "x"}) {
		t.Errorf("the list was made of %v", o.Sources)
	}
	if o := d.resting(t, "q", nil, "list_files", `{}`); !slices.Contains(o.Sources, "a2") || !slices.Contains(o.Sources, "x") {
		t.Errorf("the names are of %v", o.Sources)
	}
	anns := func(id earshot.EventID) bool { return strings.HasPrefix(string(id), "a") }
	if n, err := d.Touched(anns); n != 4 || err != nil {
		t.Errorf("%d files would be otherwise, %v", n, err)
	}
	for range 2 { // the second time nothing is left to do
		if _, err := d.Forget(anns); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := d.Forget(anns); n != 0 || err != nil {
		t.Errorf("%d files were otherwise again, %v", n, err)
	}
	if got := d.read(t, "list.txt"); got != "bread,milk" {
		t.Errorf("the list is %q", got)
	}
	var all []string
	err := filepath.WalkDir(d.Dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			data, _ := os.ReadFile(path)
			if text := path + string(data); strings.Contains(strings.ToLower(strings.TrimPrefix(text, d.Dir)), "cloves") {
				t.Errorf("%s: %s", path, data)
			}
			if !strings.Contains(path, ".sources") {
				all = append(all, string(data))
			}
		}
		return err
	})
	slices.Sort(all)
	if got := strings.Join(all, "|"); err != nil || got != "bread,milk|butter|no more" {
		t.Errorf("left are %q, %v", got, err)
	}
	if sources, err := d.Sources(); err != nil || slices.ContainsFunc(sources, anns) {
		t.Errorf("it rests on %v, %v", sources, err)
	}
}

// read returns the contents of a file of the coder.
func (d *desk) read(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestForgetWhatANameIsOf: a file keeps no name that was made from anything forgotten, also if nothing that
// stands in it was.
func TestForgetWhatANameIsOf(t *testing.T) {
	d := newDesk(t)
	for _, w := range []struct {
		of   earshot.EventID
		text string
	}{{"a1", "old"}, {"b1", "butter"}} {
		if o := d.resting(t, "q", []earshot.EventID{w.of, "q"}, "write_file", `{"path":"cloves.txt","content":"`+w.text+`"}`); o.Use.Failed || o.Use.Refused {
			t.Fatalf("%+v", o)
		}
	}
	if o := d.resting(t, "q", nil, "list_files", `{}`); !slices.Contains(o.Sources, "a1") {
		t.Errorf("the name is of %v", o.Sources)
	}
	if n, err := d.Forget(func(id earshot.EventID) bool { return id == "a1" }); n != 1 || err != nil {
		t.Errorf("%d files have changed, %v", n, err)
	}
	if o := d.resting(t, "q", nil, "list_files", `{}`); strings.Contains(string(o.Use.Result), "cloves") || !strings.Contains(string(o.Use.Result), "kept-") {
		t.Errorf("the files are %s", string(o.Use.Result))
	}
}

// TestLoosen: parts of a file that also have other sources are no longer known to rest on a lapsed
// event; the other parts are removed with it.
func TestLoosen(t *testing.T) {
	d := newDesk(t)
	write := func(path, content string, on ...earshot.EventID) {
		t.Helper()
		if o := d.resting(t, "q", on, "write_file", `{"path":"`+path+`","content":"`+content+`","append":true}`); o.Use.Failed || o.Use.Refused {
			t.Fatalf("%+v: %s", o, string(o.Use.Result))
		}
	}
	write("list.txt", "bread,", "overheard", "q")
	write("list.txt", "cloves,", "overheard", "too")
	write("list.txt", "milk", "q")
	goes := func(id earshot.EventID) bool { return id == "overheard" || id == "too" }
	for range 2 {
		if err := d.Loosen(goes); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Forget(goes); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.read(t, "list.txt"); got != "bread,milk" {
		t.Errorf("the list is %q", got)
	}
	if all, err := d.Sources(); err != nil || !slices.Equal(all, []earshot.EventID{"q"}) {
		t.Errorf("it was made of %v, %v", all, err)
	}
	if n, err := d.Forget(func(id earshot.EventID) bool { return id == "q" }); n != 1 || err != nil {
		t.Errorf("what is forgotten takes %d files, %v", n, err)
	}
}
