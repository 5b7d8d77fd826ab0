package server_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"earshot"
	"earshot/api"
	"earshot/participants"
	"earshot/server"
	"earshot/server/client"
	"earshot/server/wire"
)

func (h *house) Look(_ context.Context, by server.Principal, l api.LookRequest) (api.CameraView, error) {
	return h.see(by, l)
}

// TestLook: operators and people at the desk may look through the cameras, and nobody else may.
func TestLook(t *testing.T) {
	h := newHouse()
	h.who = func(account earshot.Handle, c server.Claim) (server.Principal, error) {
		p := server.Principal{Participant: participants.Participant{ID: earshot.ParticipantID(c.Name), Name: c.Name}}
		p.Audience = earshot.Audience{Room: earshot.Desk, Members: []earshot.ParticipantID{p.ID}}
		switch c.Name {
		case "ann":
			p.Capabilities = []participants.Capability{participants.Operate}
		case "bob":
			p.Present = true
		case "cy":
			p.Present, p.Audience.Room = true, "kitchen"
		}
		return p, nil
	}
	var by []string
	var got api.LookRequest
	h.see = func(p server.Principal, l api.LookRequest) (api.CameraView, error) {
		if l.Camera == "attic" {
			return api.CameraView{}, errors.New("there is no camera called attic")
		}
		by, got = append(by, p.Name), l
		return api.CameraView{Camera: l.Camera}, nil
	}
	at, _ := serve(t, h)
	want := api.LookRequest{Camera: "desk", Picture: true, Boxes: true}
	for _, name := range []string{"ann", "bob"} {
		got = api.LookRequest{}
		sees, err := (&client.Client{Socket: at, Identity: name}).Look(t.Context(), want)
		if err != nil || sees.Camera != "desk" || got != want {
			t.Errorf("%s asks for %+v and is told %+v, %v", name, got, sees, err)
		}
	}
	for _, name := range []string{"cy", "eve"} {
		_, err := (&client.Client{Socket: at, Identity: name}).Look(t.Context(), want)
		if r, ok := errors.AsType[*wire.Refusal](err); !ok || !strings.Contains(r.Problem, "at its desk") || r.Mend == "" {
			t.Errorf("%s is told %v", name, err)
		}
	}
	if fmt.Sprint(by) != "[ann bob]" {
		t.Errorf("%v looked", by)
	}
	if _, err := (&client.Client{Socket: at, Identity: "ann"}).Look(t.Context(), api.LookRequest{Camera: "attic"}); err == nil || !strings.Contains(err.Error(), "no camera called attic") {
		t.Errorf("refused with %v", err)
	}
	for _, body := range []string{"", `{"camera":1}`, `{"attic":"x"}`, `{}{}`} {
		resp := get(t, "unix", at, fmt.Sprintf("POST /v1/look HTTP/1.1\r\nHost: x\r\nEarshot-Identity: ann\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
		if resp.StatusCode != 400 {
			t.Errorf("%q: %d", body, resp.StatusCode)
		}
	}
}
