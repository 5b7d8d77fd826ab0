package daemon

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/api"
	"earshot/executive/scene"
)

// TestACircumstanceReadsAsInTheRoom: `earshot context` says the same about each entry as /context
// does, also after a way through JSON.
func TestACircumstanceReadsAsInTheRoom(t *testing.T) {
	now := time.Now()
	for _, i := range []scene.Item{
		{Field: scene.Messages, Name: "Ann", Text: "we sail with the ship", Was: "we sail with the shop", Mender: "Bob", At: now.Add(-time.Minute)},
		{Field: scene.Reasoning, Text: "The tide is too low.", Confidence: 0.8, At: now.Add(-time.Hour), Until: now.Add(time.Hour)},
		{Field: scene.Notes, Name: "Bob", Text: "likes coffee", Was: "likes tea", At: now},
		{Field: scene.User, Text: "Bob is here", At: now},
	} {
		data, err := json.Marshal(sceneEntryOf(i, now, func(earshot.ParticipantID) string { return "" }))
		if err != nil {
			t.Fatal(err)
		}
		var got api.SceneEntry
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		if want := strings.TrimSpace(scene.Prompt([]scene.Item{i}, now)); SceneEntryText(got) != want {
			t.Errorf("it says %q, and in the room %q", SceneEntryText(got), want)
		}
	}
}
