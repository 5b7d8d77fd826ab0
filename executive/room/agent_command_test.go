package room_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"earshot"
	"earshot/participants"
	"earshot/participants/agents"
)

// TestAgentCommand: everybody present can list the agents; only the operator can add, change and
// end them.
func TestAgentCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		var ordered agents.Order
		h.order = func(_ context.Context, by participants.Participant, o agents.Order) (agents.Record, error) {
			ordered = o
			if o.Agent == "Nobody" {
				return agents.Record{}, errors.New("no agent is called Nobody")
			}
			r := record("x", "Coder")
			if o.Edit.Rooms != nil {
				r.Rooms = *o.Edit.Rooms
			} else {
				r.Rooms = []earshot.RoomID{earshot.Desk}
			}
			return r, nil
		}
		c := man(t, h, "bob")
		for _, tt := range []struct{ by, args, told, ordered string }{
			{"bob", "", "Earshot (answers what is addressed to nobody in particular; active)  /owner/agent/earshot\nScout (sleeping)  /owner/agent/scout", "{}"},
			{"bob", "add Coder", "error: only operators of this earshot can add, change and end agents; ask one, or if you are one: /identity NAME", "{}"},
			{"bob", "help", "  /agent add NAME TEXT          adds an agent; the text says what it is for\n", "{}"},
			{"bob", "dance Coder", "error: there is no /agent dance; you can write:\n  /agent  ", "{}"},
			{"ann", "HELP me", "  /agent change NAME KEY TEXT   changes an agent; the key is name, username, description, ", "{}"},
			{"ann", "add", "error: the name of the agent is missing", "{}"},
			{"ann", `add "" writes programs`, "error: the name of the agent is missing", "{}"},
			{"ann", "add Coder writes programs, in Go", `Write @Coder to call it.`, `{"act":"created","edit":{"name":"Coder","description":"writes programs, in Go"}}`},
			{"ann", `ADD "Cy Young"`, `Write @Coder to call it.`, `{"act":"created","edit":{"name":"Cy Young"}}`},
			{"ann", `change Coder prompt "You write Go."`, "", `{"act":"changed","agent":"Coder","edit":{"prompt":"You write Go."}}`},
			{"ann", `change "Cy Young" rooms kitchen, den`, "Done. Coder has no seat in this room.", `{"act":"changed","agent":"Cy Young","edit":{"rooms":["kitchen","den"]}}`},
			{"ann", "change Coder colour red", "error: an agent has no colour", "{}"},
			{"ann", "change Coder", "error: an agent has no ", "{}"},
			{"ann", "change Nobody main no", "error: no agent is called Nobody", `{"act":"changed","agent":"Nobody","edit":{"main":false}}`},
			{"ann", "end Coder", `To confirm, write /agent end "Coder" yes`, "{}"},
			{"ann", `end "Coder" yes`, "", `{"act":"ended","agent":"Coder"}`},
			{"ann", "dance", "error: there is no /agent dance; you can write:\n  /agent  ", "{}"},
		} {
			ordered = agents.Order{}
			before := len(c.told(tt.by))
			err := c.writes(t, tt.by, "/agent "+tt.args)
			told := strings.Join(c.told(tt.by)[before:], "\n")
			if err != nil {
				told = "error: " + err.Error()
			}
			if told != tt.told && (tt.told == "" || !strings.Contains(told, tt.told)) {
				t.Errorf("/agent %s: told %q", tt.args, told)
			}
			got, _ := json.Marshal(ordered)
			if want := strings.ReplaceAll(tt.ordered, "{}", `{"act":""}`); string(got) != want {
				t.Errorf("/agent %s: ordered %s, want %s", tt.args, got, want)
			}
		}
		c.stop()
	})
}

// TestAnnounce: everybody sees what happened to an agent, and a new agent has its seat at once.
func TestAnnounce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := man(t, newHouse(), "bob")
		c.seats(record("agent", "Earshot"), record("coder", "Coder"))
		c.Announce(earshot.Event{Visibility: earshot.Visibility{Scope: earshot.System}, Body: earshot.Agent{Act: earshot.Created, ID: "coder"}})
		for name, screen := range c.screens {
			shown := screen.Shown()
			if last, ok := shown[len(shown)-1].Body.(earshot.Agent); !ok || last.ID != "coder" || shown[len(shown)-1].Room != earshot.Desk {
				t.Errorf("%s sees %+v", name, shown[len(shown)-1])
			}
		}
		c.must(t, "bob", "@Coder hello", 1e9)
		if got := c.turns(); len(got) != 1 || got[0] != "Coder completed: @Coder hello" {
			t.Errorf("the turns are %q", got)
		}
		c.stop()
	})
}
