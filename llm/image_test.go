package llm_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"earshot/llm"
)

// picture returns n bytes that begin like a JPEG; the last byte tells pictures apart.
func picture(n int, end byte) llm.Image {
	return append(append(llm.Image{0xff, 0xd8, 0xff}, make([]byte, n-4)...), end)
}

// TestSighted draws prompts as a model gets them: | between messages, each with its text and the
// last byte of each picture.
func TestSighted(t *testing.T) {
	a, b := picture(8, 'a'), picture(8, 'b')
	for _, tt := range []struct {
		name  string
		in    []llm.Message
		sees  string
		blind string
	}{
		{"no picture", []llm.Message{{Text: "hello"}, {Text: "seen", AltText: "unseen"}}, "hello|unseen", "hello|unseen"},
		{"a picture, and words in place of it", []llm.Message{{Text: "what is this?", Images: []llm.Image{a}}, {Text: "seen", AltText: "unseen"}}, "what is this?+a|seen", "what is this?|unseen"},
		{"the newest of too many", []llm.Message{{Text: "1", Images: []llm.Image{b, b, a}}, {Text: "2", Images: []llm.Image{a, a, b}}}, "1+a|2+aab", "1|2"},
		{"too large", []llm.Message{{Text: "1", AltText: "blind", Images: []llm.Image{picture(llm.MaxImage+1, 'a')}}}, "blind", "blind"},
		{"no JPEG", []llm.Message{{Text: "1", Images: []llm.Image{llm.Image("GIF89a"), a, nil}}}, "1+a", "1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req := &llm.Request{Messages: tt.in}
			before := drawn(req)
			if got := drawn(llm.FitImages(req, true)); got != tt.sees {
				t.Errorf("a model that sees is asked %q, want %q", got, tt.sees)
			}
			if got := drawn(llm.FitImages(req, false)); got != tt.blind {
				t.Errorf("one that does not is asked %q, want %q", got, tt.blind)
			}
			if got := drawn(req); got != before {
				t.Errorf("the request itself was changed to %q", got)
			}
		})
	}
}

func drawn(req *llm.Request) string {
	var messages []string
	for _, m := range req.Messages {
		text := m.Text
		for i, image := range m.Images {
			if i == 0 {
				text += "+"
			}
			text += string(image[max(0, len(image)-1):])
		}
		messages = append(messages, text)
	}
	return strings.Join(messages, "|")
}

// TestImageIsNotPrinted: a picture is never printed, whatever it is a part of.
func TestImageIsNotPrinted(t *testing.T) {
	secret := append(picture(8, 'x'), "the face of somebody"...)
	req := &llm.Request{Messages: []llm.Message{{Images: []llm.Image{secret}}}}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("asked", "image", secret, "req", req, "message", req.Messages[0])
	slog.New(slog.NewJSONHandler(&log, nil)).Info("asked", "image", secret)
	printed := log.String() + fmt.Sprintf("%v %+v %#v %s %q %x %d", secret, req.Messages, req.Messages, secret, secret, secret, secret)
	for _, part := range []string{"the face", "255 216", "ff d8", "ffd8", "0xff", "/9j/"} {
		if strings.Contains(strings.ToLower(printed), part) {
			t.Errorf("what was printed has %q in it: %s", part, printed)
		}
	}
}

// TestPicturesWithoutTools: a model that is offered no tools still gets the picture that an earlier
// call returned.
func TestPicturesWithoutTools(t *testing.T) {
	req := &llm.Request{Messages: []llm.Message{
		{Role: llm.User, Text: "is it red?"},
		{Role: llm.Assistant, Calls: []llm.Call{{ID: "1", Tool: "look"}}},
		{Role: llm.Result, Call: "1", Text: "one person", AltText: "one person, unseen", Images: []llm.Image{picture(8, 'a')}},
	}}
	plain := llm.WithoutTools(req)
	for sees, want := range map[bool]string{
		true:  "is it red?|{\"tool\": \"look\", \"arguments\": {}}|[RESULT OF look]\none person+a",
		false: "is it red?|{\"tool\": \"look\", \"arguments\": {}}|[RESULT OF look]\none person, unseen",
	} {
		if got := drawn(llm.FitImages(plain, sees)); got != want {
			t.Errorf("a model that sees (%v) is asked %q, want %q", sees, got, want)
		}
	}
}
