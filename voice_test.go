package earshot_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"earshot"
)

// TestVoiceIsASecret: what somebody sounds like is neither printed nor written
// down.
func TestVoiceIsASecret(t *testing.T) {
	v := earshot.Voice{Print: []float32{0.4711}, Channel: "microphone:default"}
	event := earshot.Event{ID: "1", Body: earshot.Utterance{Text: "hello", Voice: &v}}
	written, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{fmt.Sprint(v), fmt.Sprint(&v), fmt.Sprintf("%v %+v %#v %s", v, v, v, v), string(written)} {
		if strings.Contains(s, "4711") {
			t.Errorf("the voice stands in %s", s)
		}
	}
}
