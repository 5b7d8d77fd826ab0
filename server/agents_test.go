package server_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"earshot"
	"earshot/api"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/server"
	"earshot/server/client"
	"earshot/server/wire"
)

func (h *house) Agents(_ context.Context, all bool) ([]api.AgentInfo, error) {
	return []api.AgentInfo{{Configured: all}}, nil
}

func (h *house) Order(_ context.Context, by participants.Participant, o agents.Order) (api.AgentInfo, error) {
	return h.order(by, o)
}

// operating believes everybody's name; only ann is an operator.
func operating(_ earshot.Handle, c server.Claim) (server.Principal, error) {
	p := server.Principal{Participant: participants.Participant{ID: earshot.ParticipantID(c.Name), Name: c.Name}}
	if c.Name == "ann" {
		p.Capabilities = []participants.Capability{participants.Operate}
	}
	return p, nil
}

// TestAgents: only operators can list, make and change agents.
func TestAgents(t *testing.T) {
	h := newHouse()
	h.who = operating
	var by participants.Participant
	var got agents.Order
	h.order = func(p participants.Participant, o agents.Order) (api.AgentInfo, error) {
		by, got = p, o
		return api.AgentInfo{}, nil
	}
	at, _ := serve(t, h)
	c := &client.Client{Socket: at, Identity: "ann"}
	for _, all := range []bool{false, true} {
		list, err := c.Agents(t.Context(), all)
		if err != nil || len(list) != 1 || list[0].Configured != all {
			t.Errorf("listed %+v, %v", list, err)
		}
	}
	var e agents.Edit
	for key, value := range map[string]string{"name": "Coder", "rooms": "all", "main": "no", "prompt": "x\ny"} {
		if err := e.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	want := agents.Order{Act: earshot.Created, User: "family", Edit: e}
	if _, err := c.Order(t.Context(), want); err != nil || by.ID != "ann" || !reflect.DeepEqual(got, want) {
		t.Errorf("ordered %+v by %s: %v", got, by.ID, err)
	}
	got = agents.Order{}
	eve := &client.Client{Socket: at, Identity: "eve"}
	_, listed := eve.Agents(t.Context(), true)
	_, ordered := eve.Order(t.Context(), want)
	for _, err := range []error{listed, ordered} {
		if r, ok := errors.AsType[*wire.Refusal](err); !ok || !strings.Contains(r.Problem, "an operator of this earshot") || r.Mend == "" {
			t.Errorf("Eve is told %v", err)
		}
	}
	if got.Act != "" {
		t.Error("what Eve ordered was carried out")
	}
}

// TestOrdersAreRefused: a refused order is answered with the problem and its cure, and an invalid
// body with 400.
func TestOrdersAreRefused(t *testing.T) {
	h := newHouse()
	h.who = operating
	h.order = func(participants.Participant, agents.Order) (api.AgentInfo, error) {
		return api.AgentInfo{}, &wire.Refusal{Problem: "no", Mend: "try"}
	}
	at, _ := serve(t, h)
	_, err := (&client.Client{Socket: at, Identity: "ann"}).Order(t.Context(), agents.Order{})
	if r, ok := errors.AsType[*wire.Refusal](err); !ok || r.Problem != "no" || r.Mend != "try" {
		t.Errorf("told %v", err)
	}
	for _, body := range []string{"", "null x", `{"acts":"created"}`, `{"edit":{"rooms":"all"}}`, `{}{}`} {
		resp := get(t, "unix", at, fmt.Sprintf("POST /v1/agents HTTP/1.1\r\nHost: x\r\nEarshot-Identity: ann\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
		if resp.StatusCode != 400 {
			t.Errorf("%q: %d", body, resp.StatusCode)
		}
	}
}
