package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"earshot"
	"earshot/store"
)

func TestRefused(t *testing.T) {
	s := open(t, store.Config{})
	with := func(change func(*earshot.Event)) earshot.Event {
		e := said("hello")
		change(&e)
		return e
	}
	long := strings.Repeat("a", earshot.MaxText+1)
	for _, tt := range []struct {
		name  string
		event earshot.Event
		want  string
	}{
		{"typing", with(func(e *earshot.Event) { e.Body = earshot.Typing{} }), "keeping an event: a typing acts at once and is not kept"},
		{"command", with(func(e *earshot.Event) { e.Body = earshot.Command{} }), "keeping an event: a command acts at once and is not kept"},
		{"erased", with(func(e *earshot.Event) { e.Body = earshot.Tombstone{} }), "keeping an event: only a deletion leaves an erased event"},
		{"nothing", with(func(e *earshot.Event) { e.Body = nil }), "keeping an event: it has no body"},
		{"nowhere", with(func(e *earshot.Event) { e.Room = "" }), "keeping an event: it has no room"},
		{"huge", said(earshot.Text(long)), "keeping an event: the message has 65537 bytes; at most 65536 are kept: send it in pieces"},
		{"huge reply", with(func(e *earshot.Event) { e.Body = earshot.Reply{Offered: earshot.Text(strings.Repeat(long, 17))} }), "keeping an event: the reply has 1114129 bytes; at most 1048576 are kept"},
		{"binary reply", with(func(e *earshot.Event) { e.Body = earshot.Reply{Offered: "a\xff"} }), "keeping an event: the reply is not UTF-8, so the part that was heard cannot be kept exactly"},
		{"huge memo", with(func(e *earshot.Event) { e.Body = earshot.Memo{Text: earshot.Text(long)} }), "keeping an event: the memo has 65537 bytes; at most 65536 are kept"},
		{"huge session", with(func(e *earshot.Event) { e.Body = earshot.Presence{Session: long, Here: true} }), "keeping an event: the session has 65537 bytes; at most 128 are kept"},
		{"huge actor", with(func(e *earshot.Event) {
			e.Body = earshot.Actor{Act: earshot.Created, Participant: "bob", Name: long, Description: long}
		}), "keeping an event: the name has 65537 bytes; at most 256 are kept\nthe description has 65537 bytes; at most 4096 are kept"},
		{"huge ID", with(func(e *earshot.Event) { e.ID = earshot.EventID(long) }), "keeping an event: its ID must be text of at most 128 bytes"},
		{"huge agent", with(func(e *earshot.Event) {
			e.Body = earshot.Agent{Path: earshot.Path(long), Profile: &earshot.Profile{Prompt: earshot.Text(long)}}
		}), "keeping an event: the path has 65537 bytes; at most 512 are kept\nthe prompt has 65537 bytes; at most 65536 are kept"},
		{"huge workspace", with(func(e *earshot.Event) { e.Body = earshot.Agent{Profile: &earshot.Profile{Workspace: long}} }), "keeping an event: the name has 65537 bytes; at most 256 are kept"},
		{"huge kind", with(func(e *earshot.Event) { e.Body = earshot.Withdrawal{Of: "1", Was: earshot.Kind(long)} }), "keeping an event: the kind has 65537 bytes; at most 256 are kept"},
		{"huge use", with(func(e *earshot.Event) { e.Body = earshot.Use{Tool: long, Result: earshot.Text(long)} }), "keeping an event: the name has 65537 bytes; at most 256 are kept\nthe result has 65537 bytes; at most 65536 are kept"},
		{"huge reminder", with(func(e *earshot.Event) { e.Body = earshot.Reminder{Text: earshot.Text(long)} }), "keeping an event: the reminder has 65537 bytes; at most 65536 are kept"},
		{"huge in another way", with(func(e *earshot.Event) { e.Via = strings.Repeat("<", 8<<20) }), "keeping an event: it takes 50331867 bytes; at most 8388608 are kept"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := s.Append(t.Context(), said("goes with it"), tt.event)
			if err == nil || err.Error() != tt.want {
				t.Errorf("append = %v, want %s", err, tt.want)
			}
		})
	}
	if all := everything(t, s); len(all) != 0 {
		t.Errorf("%d events are kept, want none", len(all))
	}
}

// TestHostileText: any text is kept, and is read the same each time.
func TestHostileText(t *testing.T) {
	s := open(t, store.Config{})
	for _, text := range []earshot.Text{"", "\x00", "a\x00b", "\xff\xfe", "\x1b[2J", "'; DROP TABLE journal; --", earshot.Text(strings.Repeat("\x01", earshot.MaxText))} {
		add(t, s, said(text))
	}
	before := everything(t, s)
	must(t, s.Rebuild(t.Context()))
	if after := everything(t, s); len(after) != 7 || !reflect.DeepEqual(before, after) {
		t.Errorf("read %d events, want 7, the same as before", len(after))
	}
}

func TestModes(t *testing.T) {
	s := open(t, store.Config{})
	add(t, s, said("hello"))
	directory := filepath.Dir(s.Path())
	files, err := os.ReadDir(directory)
	must(t, err)
	if len(files) != 4 {
		t.Errorf("%d files, want the journal, its log, its index and the lock", len(files))
	}
	for _, f := range files {
		if info, _ := f.Info(); info.Mode() != 0o600 {
			t.Errorf("%s has the mode %v", f.Name(), info.Mode())
		}
	}
	if info, _ := os.Stat(directory); info.Mode().Perm() != 0o700 {
		t.Errorf("the directory has the mode %v", info.Mode())
	}
}

func TestPlacesThatDoNotWork(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	blocked := t.TempDir()
	must(t, os.Mkdir(filepath.Join(blocked, "earshot.db"), 0o700))
	for _, tt := range []struct{ name, directory, want string }{
		{"none", "", "is not an absolute path"},
		{"relative", "state", "is not an absolute path"},
		{"a file", file, "choose another as store.directory"},
		{"a directory for a file", blocked, "is not a plain file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := store.Open(t.Context(), store.Config{Directory: tt.directory})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("open = %v, want %q in it", err, tt.want)
			}
			if s != nil {
				s.Close()
			}
		})
	}
	if _, err := store.OpenReader(t.Context(), store.Config{Directory: t.TempDir()}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("reading what is not there = %v", err)
	}
}
