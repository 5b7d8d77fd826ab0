package agents_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"earshot"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/store"
)

// lines returns the content of the directory, one agent a line.
func (h *house) lines() string {
	var all []string
	for _, r := range h.book.List() {
		by := ""
		if r.Configured {
			by = " (configured)"
		}
		all = append(all, fmt.Sprintf("%s %s%s", r.Path, r.Name, by))
	}
	return strings.Join(all, "\n")
}

// changes counts the events about agents in the journal.
func (h *house) changes() (n int) {
	h.t.Helper()
	for e, err := range h.store.Export(h.t.Context()) {
		if err != nil {
			h.t.Fatal(err)
		}
		if e.Body.Kind() == earshot.KindAgent {
			n++
		}
	}
	return n
}

// configured changes the configuration of the house while it is in use, checks the directory,
// restarts the house, and checks it again.
func (h *house) configured(change func(*agents.Setup), want string) {
	h.t.Helper()
	change(&h.setup)
	if err := h.book.Reconfigure(h.t.Context(), h.setup); err != nil {
		h.t.Errorf("while it is in use: %v", err)
	}
	if got := h.lines(); got != want {
		h.t.Errorf("while it is in use, got\n%s\nwant\n%s", got, want)
	}
	before := h.changes()
	h.restart()
	if more := h.changes() - before; more != 0 {
		h.t.Errorf("the start has changed %d things", more)
	}
	if got := h.lines(); got != want {
		h.t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	n := h.changes()
	h.restart()
	if more := h.changes() - n; more != 0 || h.lines() != want {
		h.t.Errorf("another start has changed %d things:\n%s", more, h.lines())
	}
}

// TestTheConfigurationWins changes a configuration several times and checks that the directory
// follows.
func TestTheConfigurationWins(t *testing.T) {
	h := newHouse(t)
	entry := func(name string) agents.Entry {
		e := agents.Entry{Name: name}
		e.SetDefaults()
		return e
	}
	h.configured(func(s *agents.Setup) { s.Config = agents.Config{entry("Coder"), entry("Scout")} },
		`/owner/agent/coder Coder (configured)
/owner/agent/earshot Earshot (configured)
/owner/agent/scout Scout (configured)`)
	coder, err := h.book.Resolve(t.Context(), "/owner/agent/coder")
	if err != nil || !coder.AutoReply || coder.Instructions() != agents.HousePrompt(agents.Newest) {
		t.Errorf("the coder is %+v, %v", coder, err)
	}
	if _, err := h.book.Change(t.Context(), owner, coder.ID, func(p *earshot.Profile) { p.Description = "x" }); !errors.Is(err, agents.ErrConfigured) {
		t.Errorf("changed what the configuration says: %v", err)
	}
	if err := h.book.End(t.Context(), owner, coder.ID); !errors.Is(err, agents.ErrConfigured) {
		t.Errorf("ended what the configuration says: %v", err)
	}
	ranger := h.create(earshot.Profile{Name: "Ranger", Main: true})
	sub, err := h.book.Spawn(t.Context(), ranger.ID, "/owner/agent/scout", "sub", earshot.Profile{})
	if err != nil {
		t.Fatal(err)
	}

	h.configured(func(s *agents.Setup) {
		s.Main.Name, s.Main.Prompt = "Bob", "You are Bob."
		coder := entry("CODER")
		coder.Prompt, coder.Main, coder.Rooms = "You code.", true, []earshot.RoomID{"den"}
		s.Config = agents.Config{coder}
	}, `/owner/agent/coder CODER (configured)
/owner/agent/earshot Bob (configured)
/owner/agent/ranger Ranger`)
	if again, err := h.book.Resolve(t.Context(), coder.Path); err != nil || again.ID != coder.ID || again.Instructions() != "You code." {
		t.Errorf("the coder is %+v, %v", again, err)
	}
	if main := h.book.Main("den"); main.Name != "CODER" || h.book.Main(earshot.Desk).Name != "Bob" {
		t.Errorf("the main agents are %q and %q", main.Name, h.book.Main(earshot.Desk).Name)
	}
	if _, err := h.book.Resolve(t.Context(), sub.Path); !errors.Is(err, agents.ErrDead) || h.people.Name(sub.ID) != "Scout's helper 0" {
		t.Errorf("what stood below one that is gone: %v, %s", err, h.people.Name(sub.ID))
	}

	h.configured(func(s *agents.Setup) { s.Config = append(s.Config, entry("Ranger"), entry("Scout")) },
		`/owner/agent/coder CODER (configured)
/owner/agent/earshot Bob (configured)
/owner/agent/ranger Ranger (configured)
/owner/agent/scout-2 Scout (configured)`)
	if again, err := h.book.Resolve(t.Context(), ranger.Path); err != nil || again.ID != ranger.ID {
		t.Errorf("the ranger is %+v, %v", again, err)
	}
}

// TestNamesGiveWay: if the configuration gives the name of an agent that was made at run time to
// somebody else, the agent gets a number after its name.
func TestNamesGiveWay(t *testing.T) {
	h := newHouse(t)
	for _, name := range []string{"Dora", "Dora 2", "Helper", "Family Gateway"} {
		h.create(earshot.Profile{Name: name})
	}
	h.configured(func(s *agents.Setup) {
		s.Main.Name = "Helper"
		s.Actors.Actors = []participants.Actor{{ID: "dora", Type: participants.Human, DisplayName: "DORA"}}
		s.Config = agents.Config{{Name: "Tutor", User: "family", Rooms: []earshot.RoomID{"den"}}}
	}, `/family/agent/tutor Tutor (configured)
/owner/agent/dora Dora 3
/owner/agent/dora-2 Dora 2
/owner/agent/earshot Helper (configured)
/owner/agent/family-gateway Family Gateway 2
/owner/agent/helper Helper 2
/owner/subuser/family family gateway`)
	h.configured(func(s *agents.Setup) { s.Config = nil }, `/owner/agent/dora Dora 3
/owner/agent/dora-2 Dora 2
/owner/agent/earshot Helper (configured)
/owner/agent/family-gateway Family Gateway 2
/owner/agent/helper Helper 2
/owner/subuser/family family gateway`)
}

// TestASubuserThatEnded: the configuration cannot bring back a subuser that has ended, and an error
// says so.
func TestASubuserThatEnded(t *testing.T) {
	h := newHouse(t)
	gate, err := h.book.Subuser(t.Context(), owner, "family", earshot.Profile{})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.book.End(t.Context(), owner, gate.ID); err != nil {
		t.Fatal(err)
	}
	h.close()
	h.setup.Config = agents.Config{{Name: "Tutor", User: "family", Rooms: []earshot.RoomID{"den"}}}
	err = h.tryOpen()
	if !errors.Is(err, agents.ErrDead) || !strings.Contains(err.Error(), `making the subuser "family"`) {
		t.Errorf("opened: %v", err)
	}
}

// TestConfiguredAgentsOfASubuser: the gateway of a subuser cannot be ended while the configuration
// has agents of that subuser.
func TestConfiguredAgentsOfASubuser(t *testing.T) {
	h := newHouse(t)
	h.configured(func(s *agents.Setup) {
		s.Config = agents.Config{{Name: "Tutor", User: "family", Rooms: []earshot.RoomID{"den"}}}
	}, `/family/agent/tutor Tutor (configured)
/owner/agent/earshot Earshot (configured)
/owner/subuser/family family gateway`)
	gate, err := h.book.Resolve(t.Context(), "/owner/subuser/family")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.book.End(t.Context(), owner, gate.ID); !errors.Is(err, agents.ErrConfigured) || !strings.Contains(err.Error(), "Tutor") {
		t.Errorf("ended: %v", err)
	}
}

// TestPromptsAreUpgraded: an agent that was stored by an older earshot gets the changes to the
// built-in prompt, once, and keeps its owner's words.
func TestPromptsAreUpgraded(t *testing.T) {
	h := newHouse(t)
	made := h.create(earshot.Profile{Name: "Coder", Prompt: agents.HousePrompt(1) + "Answer in French.\n", Version: 1})
	plain := h.create(earshot.Profile{Name: "Scout", Prompt: agents.HousePrompt(1), Version: 1})
	own := h.create(earshot.Profile{Name: "Ranger", Prompt: "You are a ranger."})
	n := h.changes()
	h.restart()
	for r, want := range map[earshot.ParticipantID]earshot.Text{
		made.ID: agents.HousePrompt(2) + "Answer in French.\n", plain.ID: agents.HousePrompt(2), own.ID: "You are a ranger.",
	} {
		if got, ok := h.book.ByID(r); !ok || got.Instructions() != want || got.Version != agents.Newest {
			t.Errorf("%s has version %d:\n%s", got.Name, got.Version, string(got.Prompt))
		}
	}
	if more := h.changes() - n; more != 2 {
		t.Errorf("%d changes were recorded, want 2", more)
	}
	h.restart()
	if more := h.changes() - n; more != 2 {
		t.Errorf("after another start there are %d", more)
	}
}

// TestReadBeside: a mere reader sees all agents, alive and ended, and changes nothing.
func TestReadBeside(t *testing.T) {
	h := newHouse(t)
	coder := h.create(earshot.Profile{Name: "Coder"})
	scout := h.create(earshot.Profile{Name: "Scout"})
	if err := h.book.End(t.Context(), owner, scout.ID); err != nil {
		t.Fatal(err)
	}
	archive, err := store.OpenReader(t.Context(), store.Config{Directory: h.directory})
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	b, err := agents.Read(t.Context(), archive)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Participants()) != 2 || b.Label(coder.ID) != "Coder" || b.Label(scout.ID) != "Scout" || b.Label("nobody") != "" {
		t.Errorf("there are %+v", b.Participants())
	}
	if _, err := b.Resolve(t.Context(), scout.Path); !errors.Is(err, agents.ErrDead) {
		t.Errorf("the dead: %v", err)
	}
}

// TestAStoreThatFails: an agent that could not be recorded does not exist, and its name stays free.
func TestAStoreThatFails(t *testing.T) {
	h := newHouse(t)
	coder := h.create(earshot.Profile{Name: "Coder"})
	if err := h.store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.book.Create(t.Context(), owner, "", earshot.Profile{Name: "Scout"}); !errors.Is(err, store.ErrClosed) {
		t.Errorf("made: %v", err)
	}
	if _, err := h.book.Change(t.Context(), owner, coder.ID, func(p *earshot.Profile) { p.Name = "Scout" }); !errors.Is(err, store.ErrClosed) {
		t.Errorf("changed: %v", err)
	}
	if err := h.book.End(t.Context(), owner, coder.ID); !errors.Is(err, store.ErrClosed) {
		t.Errorf("ended: %v", err)
	}
	if _, found := h.people.Find("Scout"); found || h.people.Name(coder.ID) != "Coder" || len(h.book.List()) != 2 {
		t.Errorf("something has changed: %s", h.lines())
	}
	if _, err := h.people.Claim(t.Context(), console, "Scout", nil); err != nil {
		t.Errorf("the name is not free: %v", err)
	}
}

// TestEntryRecord: an agent of the configuration belongs to the subuser that its entry names, or else
// to the owner.
func TestEntryRecord(t *testing.T) {
	for user, want := range map[string]earshot.ParticipantID{"": participants.Owner, "kid": "kid"} {
		e := agents.Entry{Name: "Coder", Prompt: "You code.", User: user}
		if r := e.Record(); r.User != want || r.Name != "Coder" || r.Prompt != "You code." || !r.Configured {
			t.Errorf("of the user %q it is %+v", user, r)
		}
	}
}
