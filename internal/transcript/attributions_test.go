package transcript

import (
	"path/filepath"
	"strings"
	"testing"

	"earshot"
	"earshot/store"
)

// TestWhoseItWas: history shows an utterance under the name of the person to whom it was attributed
// last, and says for whom they were first taken. A search finds it under that author, too.
func TestWhoseItWas(t *testing.T) {
	s, err := store.Open(t.Context(), store.Config{Directory: filepath.Join(t.TempDir(), "journal")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	public := earshot.Visibility{Scope: earshot.Public}
	event := func(id string, author earshot.ParticipantID, b earshot.Body) earshot.Event {
		return earshot.Event{ID: earshot.EventID(id), Room: earshot.Desk, Author: author, Visibility: public, Body: b}
	}
	_, err = s.Append(t.Context(),
		event("1", "voice_x_3", earshot.Utterance{Text: "the keys are in the drawer"}),
		event("2", "voice_x_3", earshot.Utterance{Text: "thank you"}),
		event("3", "owner", earshot.Attribution{Of: "1", Author: "carol"}),
		event("4", "owner", earshot.Attribution{Of: "1", Author: "bob"}),
	)
	if err != nil {
		t.Fatal(err)
	}
	audience := earshot.Audience{Room: earshot.Desk}
	r := s.For(audience)
	known, err := ReadAttributions(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	events, err := r.Last(t.Context(), Told, 10)
	if err != nil {
		t.Fatal(err)
	}
	name := func(id earshot.ParticipantID) string {
		return map[earshot.ParticipantID]string{"bob": "Bob", "carol": "Carol", "voice_x_3": "voice 3"}[id]
	}
	var b strings.Builder
	for _, e := range events {
		Print(&b, known.Mark(e, name), name)
	}
	for i, want := range []string{"Bob        the keys are in the drawer [first taken for voice 3] [not to me]", "voice 3    thank you [not to me]"} {
		if got := strings.Split(b.String(), "\n")[i]; !strings.HasSuffix(got, want) {
			t.Errorf("line %d is %q, want %q", i, got, want)
		}
	}
	found, err := r.Search(t.Context(), "drawer", 5)
	if found = known.Apply(found); err != nil || len(found) != 1 || found[0].Author != "bob" {
		t.Errorf("%v; found %+v", err, found)
	}
}
