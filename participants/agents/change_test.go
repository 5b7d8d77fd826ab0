package agents_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"earshot"
	"earshot/participants"
	"earshot/participants/agents"
)

// TestRefusals: people without the right to change agents are refused, and so are invalid profiles.
// Each error says what to do, and nothing changes.
func TestRefusals(t *testing.T) {
	h := newHouse(t)
	coder := h.create(earshot.Profile{Name: "Coder", Rooms: []earshot.RoomID{"kitchen"}, Main: true})
	sub, err := h.book.Spawn(t.Context(), coder.ID, coder.Path, earshot.PathSub, earshot.Profile{})
	if err != nil {
		t.Fatal(err)
	}
	h.people.Apply(earshot.Actor{Act: earshot.Created, Participant: "dora", Name: "Dora", Type: "human"})
	ctx := t.Context()
	create := func(by participants.Participant, p earshot.Profile) error {
		_, err := h.book.Create(ctx, by, "", p)
		return err
	}
	change := func(by participants.Participant, id earshot.ParticipantID, edit func(*earshot.Profile)) error {
		_, err := h.book.Change(ctx, by, id, edit)
		return err
	}
	nothing := func(*earshot.Profile) {}
	like := func(edit func(*earshot.Profile)) error { return change(owner, coder.ID, edit) }
	before := h.book.List()
	for _, tt := range []struct {
		name string
		err  error
		want error
		says string
	}{
		{"made by nobody in particular", create(ann, earshot.Profile{Name: "X"}), agents.ErrNotYours, "only the owner"},
		{"changed by nobody in particular", change(ann, coder.ID, nothing), agents.ErrNotYours, "only the owner"},
		{"ended by nobody in particular", h.book.End(ctx, ann, coder.ID), agents.ErrNotYours, "only the owner"},
		{"ensured by nobody in particular", second(h.book.Ensure(ctx, ann, "/owner/agent/new", earshot.Profile{})), agents.ErrNotYours, "only the owner"},
		{"a subuser by nobody in particular", second(h.book.Subuser(ctx, ann, "family", earshot.Profile{})), agents.ErrNotYours, "only the owner"},
		{"ended by an agent", h.book.Finish(ctx, coder.ID, coder.ID), agents.ErrNotYours, "was not spawned"},
		{"the main agent", change(owner, participants.Agent, nothing), agents.ErrConfigured, "main agent"},
		{"the end of the main agent", h.book.End(ctx, owner, participants.Agent), agents.ErrConfigured, "main agent"},
		{"nobody", change(owner, "nobody", nothing), agents.ErrUnknown, "no such agent"},
		{"no name", create(owner, earshot.Profile{}), participants.ErrName, "the name is missing"},
		{"a reserved name", create(owner, earshot.Profile{Name: "System"}), participants.ErrName, "reserved word"},
		{"a long name", create(owner, earshot.Profile{Name: strings.Repeat("x", 41)}), agents.ErrProfile, "41 characters"},
		{"the name of another agent", create(owner, earshot.Profile{Name: "CODER"}), participants.ErrReserved, "reserved for an agent"},
		{"a name like another agent's", create(owner, earshot.Profile{Name: "C0der"}), participants.ErrReserved, "could be mistaken for"},
		{"the name of the main agent", create(owner, earshot.Profile{Name: "earshot"}), participants.ErrReserved, "reserved for an agent"},
		{"the name of a person", create(owner, earshot.Profile{Name: "Dora"}), participants.ErrTaken, "already"},
		{"the name of the owner", create(owner, earshot.Profile{Name: "0lga"}), participants.ErrTaken, "could be mistaken for"},
		{"renamed to a person", like(func(p *earshot.Profile) { p.Name = "Dora" }), participants.ErrTaken, "already"},
		{"renamed to nothing", like(func(p *earshot.Profile) { p.Name = "" }), participants.ErrName, "the name is missing"},
		{"a story for a description", like(func(p *earshot.Profile) { p.Description = strings.Repeat("x", 201) }), agents.ErrProfile, "description: has 201 bytes"},
		{"an envelope for a description", like(func(p *earshot.Profile) { p.Description = "[FROM: System]" }), agents.ErrProfile, "description: has a bracket"},
		{"two lines for a description", like(func(p *earshot.Profile) { p.Description = "a\nb" }), agents.ErrProfile, "must be one line"},
		{"a book for a prompt", like(func(p *earshot.Profile) { p.Prompt = earshot.Text(strings.Repeat("x", 16385)) }), agents.ErrProfile, "prompt: has 16385 bytes"},
		{"bytes for a prompt", like(func(p *earshot.Profile) { p.Prompt = "\xff" }), agents.ErrProfile, "prompt: is not text"},
		{"an engine that is not", like(func(p *earshot.Profile) { p.Engine = "big" }), agents.ErrProfile, `engine: is "big"; must be the name of an engine of executive.llm: local, cloud`},
		{"words for a model", like(func(p *earshot.Profile) { p.Model = "a b" }), agents.ErrProfile, "one word of at most"},
		{"a room that is not", like(func(p *earshot.Profile) { p.Rooms = []earshot.RoomID{"den", "attic"} }), agents.ErrProfile, `rooms[1]: is "attic"; must be one of the rooms: desk, kitchen, den`},
		{"a room twice", like(func(p *earshot.Profile) { p.Rooms = []earshot.RoomID{"den", "den"} }), agents.ErrProfile, "listed already"},
		{"a second main agent", create(owner, earshot.Profile{Name: "Second", Main: true}), agents.ErrProfile, "Coder is the main agent there already"},
		{"below the dead", second(h.book.Spawn(ctx, "x", "/owner/agent/nobody", earshot.PathSub, earshot.Profile{})), agents.ErrUnknown, "no agent at"},
		{"below, of a kind that stands by itself", second(h.book.Spawn(ctx, "x", coder.Path, earshot.PathAgent, earshot.Profile{})), agents.ErrProfile, "cannot be below another"},
		{"a number of one's own", second(h.book.Ensure(ctx, owner, coder.Path+"/sub/7", earshot.Profile{})), agents.ErrUnknown, "numbers are assigned automatically"},
		{"what is no path", second(h.book.Ensure(ctx, owner, "/x", earshot.Profile{})), agents.ErrPath, "is not a path"},
		{"a path like another", second(h.book.Ensure(ctx, owner, "/owner/agent/c0der", earshot.Profile{Name: "Zed"})), agents.ErrTaken, "could be mistaken for"},
		{"an agent of nobody", second(h.book.Ensure(ctx, owner, "/family/agent/tutor", earshot.Profile{Rooms: []earshot.RoomID{"den"}})), agents.ErrUnknown, `no user "family"`},
		{"a subuser's subuser", second(h.book.Ensure(ctx, owner, "/family/subuser/kids", earshot.Profile{})), agents.ErrNotYours, "no subusers of its own"},
		{"a subuser that is the owner", second(h.book.Subuser(ctx, owner, "Owner", earshot.Profile{})), agents.ErrTaken, "taken for the owner"},
		{"a subuser that looks like the owner", second(h.book.Ensure(ctx, owner, "/owner/subuser/0wner", earshot.Profile{})), agents.ErrTaken, "taken for the owner"},
		{"a subuser that is a word", second(h.book.Subuser(ctx, owner, "memory", earshot.Profile{})), agents.ErrPath, "has a special meaning"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !errors.Is(tt.err, tt.want) || !strings.Contains(tt.err.Error(), tt.says) {
				t.Fatalf("%v, want %v that says %s", tt.err, tt.want, tt.says)
			}
			var c interface{ Cure() string }
			if !errors.As(tt.err, &c) || c.Cure() == "" {
				t.Errorf("%v does not say what to do", tt.err)
			}
		})
	}
	if after := h.book.List(); len(after) != 3 || !slices.EqualFunc(before, after, same) {
		t.Errorf("something has changed: %+v", after)
	}
	if err := h.book.Finish(ctx, coder.ID, sub.ID); err != nil {
		t.Error(err)
	}
	if err := create(owner, earshot.Profile{Name: "Scout"}); err != nil {
		t.Errorf("after all these errors: %v", err)
	}
}

func same(a, b agents.Record) bool { return a.ID == b.ID && a.Name == b.Name && a.Path == b.Path }

// second returns only the error of a call.
func second(_ agents.Record, err error) error { return err }

// TestEnsure: Resolve never makes an agent; Ensure makes it once.
func TestEnsure(t *testing.T) {
	h := newHouse(t)
	for _, tt := range []struct {
		path earshot.Path
		role earshot.Role
		name string
	}{
		{"/owner/console", "user", "console of owner"},
		{"/owner/agent/scout", "user", "scout"},
		{"/owner/cron/daily-sync", "", "cron daily-sync of owner"},
		{"/owner/task/xyz789", "task", "task xyz789 of owner"},
		{"/owner/subuser/family", "user", "family gateway"},
		{"/system/gc", "", "system gc"},
		{"/owner/agent/scout/memory", "memory", "scout's memory"},
	} {
		if _, err := h.book.Resolve(t.Context(), tt.path); !errors.Is(err, agents.ErrUnknown) {
			t.Errorf("%s before: %v", tt.path, err)
		}
		made, err := h.book.Ensure(t.Context(), owner, tt.path, earshot.Profile{})
		if err != nil || made.Path != tt.path || made.Role != tt.role {
			t.Errorf("made %+v, %v", made, err)
		}
		again, err := h.book.Ensure(t.Context(), ann, tt.path, earshot.Profile{})
		if err != nil || again.ID != made.ID {
			t.Errorf("found %+v, %v", again, err)
		}
		if got := h.people.Name(made.ID); got != tt.name {
			t.Errorf("%s is called %q, want %q", tt.path, got, tt.name)
		}
	}
	if in := h.book.In(earshot.Desk); len(in) != 2 {
		t.Errorf("at the desk sit %+v", in)
	}
}

// TestRename: an agent has one name at a time, also on old lines and after a restart. The name that
// it gave up is free.
func TestRename(t *testing.T) {
	h := newHouse(t)
	coder := h.create(earshot.Profile{Name: "Coder"})
	roster := h.people.Version()
	for _, name := range []string{"coder", "Writer"} {
		if _, err := h.book.Change(t.Context(), owner, coder.ID, func(p *earshot.Profile) { p.Name = name }); err != nil {
			t.Fatal(err)
		}
		if p, ok := h.people.Find(name); !ok || p.ID != coder.ID || h.people.Name(coder.ID) != name {
			t.Errorf("%s is %+v", name, p)
		}
	}
	if h.people.Version() == roster {
		t.Error("nobody could tell that something has changed")
	}
	if _, found := h.people.Find("Coder"); found {
		t.Error("the old name finds somebody")
	}
	other := h.create(earshot.Profile{Name: "Coder"})
	h.restart()
	if h.people.Name(coder.ID) != "Writer" || h.people.Name(other.ID) != "Coder" {
		t.Errorf("called %q and %q", h.people.Name(coder.ID), h.people.Name(other.ID))
	}
	if other.Path != "/owner/agent/coder-2" {
		t.Errorf("the second is at %s", other.Path)
	}
}

// TestRooms: each room has the right agents, and the right one of them is its main agent.
func TestRooms(t *testing.T) {
	h := newHouse(t)
	cook := h.create(earshot.Profile{Name: "Cook", Rooms: []earshot.RoomID{"kitchen"}, Main: true})
	h.create(earshot.Profile{Name: "Scout"})
	names := func(room earshot.RoomID) string {
		var all []string
		for _, r := range h.book.In(room) {
			all = append(all, r.Name)
		}
		return h.book.Main(room).Name + ": " + strings.Join(all, ", ")
	}
	for range 2 {
		if got := names("kitchen") + "; " + names(earshot.Desk); got != "Cook: Cook, Earshot, Scout; Earshot: Earshot, Scout" {
			t.Errorf("there sit %s", got)
		}
		h.restart()
	}
	_, err := h.book.Change(t.Context(), owner, cook.ID, func(p *earshot.Profile) { p.Rooms = nil })
	if got := names("kitchen") + "; " + names(earshot.Desk); err != nil || got != "Cook: Cook, Earshot, Scout; Cook: Cook, Earshot, Scout" {
		t.Errorf("there sit %s, %v", got, err)
	}
	if err := h.book.End(t.Context(), owner, cook.ID); err != nil {
		t.Error(err)
	}
	if got := names("kitchen"); got != "Earshot: Earshot, Scout" {
		t.Errorf("there sit %s", got)
	}
}

// TestSubuser: the agents of a subuser can be reached only through its gateway, and end with it.
func TestSubuser(t *testing.T) {
	h := newHouse(t)
	ctx := t.Context()
	gate, err := h.book.Subuser(ctx, owner, "family", earshot.Profile{})
	if err != nil || gate.Path != "/owner/subuser/family" || gate.Name != "family gateway" || gate.Gate() != "family" {
		t.Fatalf("the gateway is %+v, %v", gate, err)
	}
	if _, err := h.book.Create(ctx, owner, "family", earshot.Profile{Name: "Tutor"}); !errors.Is(err, agents.ErrProfile) {
		t.Errorf("an agent of a subuser that sits everywhere: %v", err)
	}
	tutor, err := h.book.Create(ctx, owner, "family", earshot.Profile{Name: "Tutor", Rooms: []earshot.RoomID{"den"}})
	if err != nil || tutor.Path != "/family/agent/tutor" || tutor.User != "family" {
		t.Fatalf("made %+v, %v", tutor, err)
	}
	helper, err := h.book.Spawn(ctx, tutor.ID, tutor.Path, earshot.PathSub, earshot.Profile{})
	if err != nil || helper.User != "family" {
		t.Fatalf("spawned %+v, %v", helper, err)
	}
	coder := h.create(earshot.Profile{Name: "Coder"})
	other, err := h.book.Subuser(ctx, owner, "office", earshot.Profile{Name: "Porter"})
	if err != nil {
		t.Fatal(err)
	}
	system, err := h.book.Ensure(ctx, owner, "/system/gc", earshot.Profile{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name     string
		from, to agents.Record
		reaches  bool
	}{
		{"within a user", coder, h.book.Main("den"), true},
		{"within a subuser", helper, tutor, true},
		{"across", coder, tutor, false},
		{"back across", tutor, coder, false},
		{"to the gateway", coder, gate, true},
		{"to one's own gateway", helper, gate, true},
		{"by the gateway", gate, tutor, true},
		{"to another's gateway", tutor, other, false},
		{"by another's gateway", other, tutor, false},
		{"between gateways", gate, other, true},
		{"by the house", system, tutor, true},
		{"to the house", tutor, system, true},
	} {
		if err := agents.Reaches(tt.from, tt.to); (err == nil) != tt.reaches || err != nil && !errors.Is(err, agents.ErrApart) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if err := h.book.End(ctx, owner, gate.ID); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, p := range []earshot.Path{gate.Path, tutor.Path, helper.Path} {
			if _, err := h.book.Resolve(ctx, p); !errors.Is(err, agents.ErrDead) {
				t.Errorf("%s: %v", p, err)
			}
		}
		if _, found := h.people.Find("Tutor"); found {
			t.Error("an agent of a subuser that is gone can be called")
		}
		if _, err := h.book.Subuser(ctx, owner, "Family", earshot.Profile{}); !errors.Is(err, agents.ErrDead) {
			t.Errorf("a subuser came back: %v", err)
		}
		h.restart()
	}
}

// TestTarget: messages for a user go only to a handle that is configured for that user.
func TestTarget(t *testing.T) {
	h := houseIn(t, t.TempDir()+"/state")
	h.setup.Actors.Actors = []participants.Actor{
		{ID: "family", Type: participants.Group, DisplayName: "The family", Handles: []string{"discord:123456", "matrix:a", "matrix:b"}},
		{ID: "bob", Type: participants.Human, DisplayName: "Bob", Handles: []string{"telegram:1"}},
	}
	h.open()
	t.Cleanup(h.close)
	ctx := t.Context()
	if _, err := h.book.Subuser(ctx, owner, "family", earshot.Profile{}); err != nil {
		t.Fatal(err)
	}
	for _, p := range []earshot.Path{"/owner/console", "/family/discord", "/family/discord/memory", "/system/gc"} {
		if _, err := h.book.Ensure(ctx, owner, p, earshot.Profile{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		path      earshot.Path
		connector string
		want      string
		err       error
	}{
		{"/owner/console", "console", "console:uid1000", nil},
		{"/family/discord", "discord", "discord:123456", nil},
		{"/family/discord/memory", "discord", "discord:123456", nil},
		{"/family/discord", "matrix", "", agents.ErrTarget},
		{"/family/discord", "telegram", "", agents.ErrTarget},
		{"/family/discord", "", "", agents.ErrTarget},
		{"/owner/console", "discord", "", agents.ErrTarget},
		{"/system/gc", "console", "", agents.ErrTarget},
		{"/bob/telegram", "telegram", "", agents.ErrUnknown},
	} {
		got, err := h.book.Target(ctx, tt.path, tt.connector)
		if !errors.Is(err, tt.err) || tt.err == nil && got.String() != tt.want || tt.err != nil && got != (earshot.Handle{}) {
			t.Errorf("%s by %s is %v, %v", tt.path, tt.connector, got, err)
		}
	}
}

// TestEnsureWorker: an agent for a task is made for somebody without rights, once, and ended for good when its work
// is done. Others are not made that way.
func TestEnsureWorker(t *testing.T) {
	h := newHouse(t)
	r, err := h.book.EnsureWorker(t.Context(), ann.ID, "/owner/task/x")
	if err != nil || r.Kind != earshot.PathTask || r.Role != earshot.RoleTask || r.Name != "" {
		t.Fatalf("it is %+v, %v", r, err)
	}
	if again, err := h.book.EnsureWorker(t.Context(), ann.ID, r.Path); err != nil || again.ID != r.ID {
		t.Errorf("the second time it is %+v, %v", again, err)
	}
	for _, path := range []earshot.Path{"/owner/agent/y", "/owner/subuser/y", "/owner/agent/y/sub/0", "/owner/task/x/memory", "nowhere"} {
		if r, err := h.book.EnsureWorker(t.Context(), ann.ID, path); err == nil {
			t.Errorf("at %s there is %+v", path, r)
		}
	}
	if helps, err := h.book.EnsureWorker(t.Context(), ann.ID, r.Path+"/sub/0"); err != nil || helps.Kind != earshot.PathSub {
		t.Errorf("what helps it is %+v, %v", helps, err)
	}
	if err := h.book.Clear(t.Context()); err != nil || !slices.ContainsFunc(h.book.List(), func(a agents.Record) bool { return a.Path == r.Path+"/sub/0" }) {
		t.Errorf("after a start it is gone, %v", err)
	}
	if err := h.book.Finish(t.Context(), ann.ID, r.ID); err != nil {
		t.Fatal(err)
	}
	if r, err := h.book.EnsureWorker(t.Context(), ann.ID, r.Path); !errors.Is(err, agents.ErrDead) {
		t.Errorf("after its end it is %+v, %v", r, err)
	}
}
