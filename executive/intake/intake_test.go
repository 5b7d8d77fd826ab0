package intake_test

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive/intake"
)

// TestBody: whatever a sense sends, what comes of it fits into the journal, is valid text, and
// claims nothing that only the room may say.
func TestBody(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) earshot.Text {
		return earshot.Text(rapid.SliceOfN(rapid.Byte(), 0, 6000).Draw(t, "bytes"))
	})
	rapid.Check(t, func(t *rapid.T) {
		words, sure := text.Draw(t, "text"), rapid.SampledFrom([]float64{0, 0.5, 1, -1, 7, math.NaN(), math.Inf(1)}).Draw(t, "confidence")
		for _, b := range []earshot.Body{
			earshot.Message{Text: words, Turn: "t", OwnWords: true, Attachments: []earshot.Attachment{{Name: words, Type: string(words), Size: -4}}},
			earshot.Utterance{Text: words, Confidence: sure, Own: sure, LikeAgent: true, Continues: "e", Lasted: rapid.SampledFrom([]time.Duration{-time.Second, time.Second, 1000 * time.Hour}).Draw(t, "lasted")},
			earshot.Speech{Words: words, Confidence: sure, LikeAgent: true},
			earshot.Revision{Of: "m", Text: words}, earshot.Withdrawal{Of: "m"},
		} {
			got, err := intake.Body(b)
			if err != nil {
				continue // the sender is told
			}
			switch got := got.(type) {
			case earshot.Message:
				if got.Turn != "" || got.OwnWords || !utf8.ValidString(string(got.Text)) || got.Attachments[0].Size != 0 || len(got.Attachments[0].Name) > 255 || !utf8.ValidString(string(got.Attachments[0].Name)) {
					t.Fatalf("a message became %+v", got)
				}
			case earshot.Utterance:
				if got.LikeAgent || got.Continues != "" || got.Lasted < 0 || got.Lasted > time.Hour || !(got.Confidence >= 0 && got.Confidence <= 1) || !(got.Own >= 0 && got.Own <= 1) || !utf8.ValidString(string(got.Text)) {
					t.Fatalf("an utterance became %+v", got)
				}
			case earshot.Speech:
				if got.LikeAgent || !(got.Confidence >= 0 && got.Confidence <= 1) || !utf8.ValidString(string(got.Words)) {
					t.Fatalf("words became %+v", got)
				}
			}
		}
	})
}

// TestRefused: what only the room writes, and a message without anything in it, is refused.
func TestRefused(t *testing.T) {
	for _, b := range []earshot.Body{
		earshot.Message{}, earshot.Message{Text: " \n"}, earshot.Message{Text: earshot.Text(strings.Repeat("x", earshot.MaxText+1))},
		earshot.Decision{}, earshot.Reply{}, earshot.Finding{}, earshot.ModeChange{}, earshot.Tombstone{}, nil,
	} {
		if got, err := intake.Body(b); err == nil {
			t.Errorf("%T became %+v", b, got)
		}
	}
	if _, err := intake.Body(earshot.Message{Attachments: []earshot.Attachment{{Name: "a.png"}}}); err != nil {
		t.Errorf("a message with a file alone: %v", err)
	}
}

// TestSource: each kind of connection has its key in interruption.sources.
func TestSource(t *testing.T) {
	for provider, want := range map[string]string{"discord": "discord", "microphone": "audio", "voice": "audio", "console": "text", "other": "text"} {
		if got := intake.Source(earshot.Handle{Provider: provider}); got != want {
			t.Errorf("%s is %s, want %s", provider, got, want)
		}
	}
	for id, want := range map[string]string{"kitchen": "audio", "kitchen/satellite_kitchen": "text"} {
		if got := intake.Source(earshot.Handle{Provider: "satellite", ID: id}); got != want {
			t.Errorf("satellite %s is %s, want %s", id, got, want)
		}
	}
}
