package server_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"earshot/api"
	"earshot/participants"
	"earshot/server"
	"earshot/server/client"
	"earshot/server/wire"
)

func (h *house) Voices(context.Context) ([]api.VoiceInfo, error) {
	return []api.VoiceInfo{{Called: "voice 3"}}, nil
}

func (h *house) Tell(_ context.Context, by participants.Participant, t api.VoiceRequest) (api.VoiceChange, error) {
	return h.tell(by, t)
}

// TestVoices: operators can list voices and say whose they are, and nobody else can.
func TestVoices(t *testing.T) {
	h := newHouse()
	h.who = operating
	var by participants.Participant
	var got api.VoiceRequest
	h.tell = func(p participants.Participant, t api.VoiceRequest) (api.VoiceChange, error) {
		if t.Act == "undo" {
			return api.VoiceChange{}, errors.New("there is nothing to undo")
		}
		by, got = p, t
		return api.VoiceChange{Act: t.Act}, nil
	}
	at, _ := serve(t, h)
	c := &client.Client{Socket: at, Identity: "ann"}
	if list, err := c.Voices(t.Context()); err != nil || len(list) != 1 || list[0].Called != "voice 3" {
		t.Errorf("listed %+v, %v", list, err)
	}
	want := api.VoiceRequest{Act: "enroll", Voices: []string{"voice 3"}, Who: "Ann", Consents: true}
	if _, err := c.Tell(t.Context(), want); err != nil || by.ID != "ann" || !reflect.DeepEqual(got, want) {
		t.Errorf("told %+v by %s: %v", got, by.ID, err)
	}
	if _, err := c.Tell(t.Context(), api.VoiceRequest{Act: "undo"}); err == nil || !strings.Contains(err.Error(), "nothing to undo") {
		t.Errorf("refused with %v", err)
	}
	got = api.VoiceRequest{}
	eve := &client.Client{Socket: at, Identity: "eve"}
	_, listed := eve.Voices(t.Context())
	_, told := eve.Tell(t.Context(), want)
	for _, err := range []error{listed, told} {
		if r, ok := errors.AsType[*wire.Refusal](err); !ok || !strings.Contains(r.Problem, "an operator of this earshot") {
			t.Errorf("Eve is told %v", err)
		}
	}
	if got.Act != "" {
		t.Error("what Eve said was carried out")
	}
	for _, body := range []string{"", `{"acts":"undo"}`, `{}{}`} {
		resp := get(t, "unix", at, fmt.Sprintf("POST /v1/voices HTTP/1.1\r\nHost: x\r\nEarshot-Identity: ann\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
		if resp.StatusCode != 400 {
			t.Errorf("%q: %d", body, resp.StatusCode)
		}
	}
}

func (h *house) Forget(_ context.Context, by server.Principal, f api.EraseRequest) (api.ErasePreview, error) {
	if f.Who == "nobody" {
		return api.ErasePreview{}, errors.New("nobody has that name")
	}
	return api.ErasePreview{Person: string(by.ID), Of: f.Who, Digest: "d1" + f.Digest}, nil
}
