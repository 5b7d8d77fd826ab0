package workspace_test

import (
	"slices"
	"strings"
	"testing"

	"earshot"
	"earshot/executive/tool"
	"earshot/executive/tool/workspace"
)

// TestSearch: the best passages come first, with what their file was made from; what is written in private
// or in a closed room is found only there, and hides the file that it replaces.
func TestSearch(t *testing.T) {
	d := newDesk(t)
	d.Closed = func(r earshot.RoomID) bool { return r == "den" }
	public := earshot.Visibility{Scope: earshot.Public}
	private := earshot.Visibility{Scope: earshot.Private, Members: []earshot.ParticipantID{"ann", "agent"}}
	d.resting(t, "a1", []earshot.EventID{"x"}, "write_file", `{"path":"notes/trains.md","content":"Trains\n\nAnn's train is at five.\n\nThe other train train is at six."}`)
	d.among(t, private, home, "write_file", write{Path: "diary", Content: "the train of canary"})
	d.among(t, private, home, "write_file", write{Path: "notes/trains.md", Content: "no train anymore"})
	d.in(t, "den", public, home, "write_file", write{Path: "den", Content: "a train in the den"})
	d.put(t, "binary", "train\x00")
	find := func(room earshot.RoomID, v earshot.Visibility, who earshot.Path, n int) (all []workspace.Passage) {
		return d.Search(t.Context(), tool.Scope{Room: room, Home: who, Visibility: v}, func(text string) float64 { return float64(strings.Count(text, "train")) }, n)
	}
	texts := func(all []workspace.Passage) string {
		var s []string
		for _, p := range all {
			s = append(s, p.Text)
		}
		return strings.Join(s, "|")
	}
	shared := "The other train train is at six.|Ann's train is at five."
	for _, is := range []struct {
		room earshot.RoomID
		v    earshot.Visibility
		who  earshot.Path
		n    int
		want string
	}{
		{earshot.Desk, public, home, 9, shared},
		{earshot.Desk, public, home, 1, "The other train train is at six."},
		{earshot.Desk, private, home, 9, "the train of canary|no train anymore"},
		{"den", public, home, 9, "The other train train is at six.|a train in the den|Ann's train is at five."},
		{earshot.Desk, public, "/owner/agent/other", 9, ""},
		{earshot.Desk, public, "/..", 9, ""},
	} {
		if got := texts(find(is.room, is.v, is.who, is.n)); got != is.want {
			t.Errorf("in %s, %s, by %s: %q, want %q", is.room, is.v.Scope, is.who, got, is.want)
		}
	}
	if all := find(earshot.Desk, public, home, 1); !slices.Equal(all[0].Sources, []earshot.EventID{"x", "a1"}) || all[0].File != "notes/trains.md" {
		t.Errorf("%+v", all[0])
	}
}
