package agents_test

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"

	"earshot"
	"earshot/participants"
	"earshot/participants/agents"
)

// TestConnectors: an agent that is met by a connector has the address of the connector for ever. As
// long as it is configured, it sits everywhere and answers there; otherwise the address leads to the
// main agent.
func TestConnectors(t *testing.T) {
	h := newHouse(t)
	met := func(want string) agents.Record {
		t.Helper()
		r, err := h.book.Recipients(t.Context(), ann, "/owner/console")
		if err != nil || len(r) != 1 || r[0].Name != want {
			t.Fatalf("/owner/console leads to %v, %v, want %s", r, err, want)
		}
		for connector, want := range map[string]string{"console": want, "discord": "Earshot"} {
			if got := agents.Met(connector, h.book.In("kitchen")); got.Name != want {
				t.Errorf("%s answers by %s, want %s", got.Name, connector, want)
			}
		}
		return r[0]
	}
	met("Earshot")
	var first earshot.ParticipantID
	for _, name := range []string{"Concierge", "Butler"} {
		h.setup.Config = agents.Config{{Name: name, Connector: "console", Model: "tiny", AutoReply: true}}
		h.restart()
		r := met(name)
		if r.Path != "/owner/console" || r.Kind != earshot.PathConnector || r.Role != earshot.RoleUser || r.Model != "tiny" || !r.Configured {
			t.Errorf("it is %+v", r)
		}
		if first = cmp.Or(first, r.ID); r.ID != first {
			t.Errorf("it is another one: %s, not %s", r.ID, first)
		}
		if in := h.book.In("den"); in[0].ID != participants.Agent || len(in) != 2 {
			t.Errorf("in the den sit %v", in)
		}
		if !slices.ContainsFunc(h.book.Participants(), func(p participants.Participant) bool { return p.Name == name }) {
			t.Error("it cannot be called by name")
		}
		h.setup.Config = nil
		if err := h.book.Reconfigure(t.Context(), h.setup); err != nil {
			t.Fatal(err)
		}
		met("Earshot")
		h.restart()
		met("Earshot")
		if len(h.book.In("den")) != 1 || len(h.book.Participants()) != 1 {
			t.Errorf("there are still %v", h.book.Participants())
		}
	}
	if _, err := h.book.Recipients(t.Context(), owner, "/owner/desktop"); !errors.Is(err, agents.ErrUnknown) {
		t.Errorf("nobody is met at a desktop: %v", err)
	}
}

// TestConnectorFaults: what is wrong with a connector is said.
func TestConnectorFaults(t *testing.T) {
	for want, c := range map[string]agents.Config{
		`agents[0].connector: is "fax"; must be where it is met: console, discord`:     {{Name: "Bob", Connector: "fax"}},
		`agents[1].connector: is "console", as for an agent before`:                    {{Name: "Bob", Connector: "console"}, {Name: "Ann", Connector: "console"}},
		`agents[0].connector: is "console"; must be where it is met: console, discord`: {{Name: "Bob", Connector: "console", User: "family", Rooms: []earshot.RoomID{"den"}}},
		"": {{Name: "Bob", Connector: "console"}, {Name: "Ann", Connector: "discord"}, {Name: "Carol"}},
	} {
		err := c.Validate(agents.Names{Main: "Earshot", Rooms: []earshot.RoomID{"den"}, Actors: participants.DefaultConfig()})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", c, err, want)
		}
	}
}
