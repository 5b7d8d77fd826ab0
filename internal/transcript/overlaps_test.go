package transcript

import (
	"strings"
	"testing"
	"time"

	"earshot"
)

// TestHistoryOfOverlaps: history says who spoke at the same time as whom, or only that somebody did
// if nobody knows who it was; whose words are uncertain; and who cut the agent off.
func TestHistoryOfOverlaps(t *testing.T) {
	names := map[earshot.ParticipantID]string{"agent": "Earshot", "ann": "Ann", "bob": "Bob", "cleo": "Cleo", "": "somebody"}
	name := func(id earshot.ParticipantID) string { return names[id] }
	began := time.Date(2026, 1, 2, 12, 0, 0, 0, time.Local) // not today, so that no midnight changes how times are shown
	at := func(second float64, author earshot.ParticipantID, u earshot.Utterance, to ...earshot.ParticipantID) earshot.Event {
		u.Lasted = 2 * time.Second
		return earshot.Event{
			ID: earshot.EventID(u.Text), At: began.Add(time.Duration(second * float64(time.Second))), Author: author,
			To: to, Visibility: earshot.Visibility{Scope: earshot.Public}, Body: u,
		}
	}
	events := []earshot.Event{
		at(0, "ann", earshot.Utterance{Text: "shall we go", Sure: 0.95}),
		at(1, "bob", earshot.Utterance{Text: "not yet", Sure: 0.95}),
		at(2.9, "cleo", earshot.Utterance{Text: "why not", Sure: 0.95}), // just as Bob ends
		at(10, "ann", earshot.Utterance{Text: "it is late", Overlaps: true, Sure: 0.84}),
		at(20, "", earshot.Utterance{Text: "no it is not", Overlaps: true, Sure: 0.3}),
		at(30, "bob", earshot.Utterance{Text: "mm-hm", Own: 1}),
		at(40, "bob", earshot.Utterance{Text: "right", Own: 0}, "agent"),
		at(50, "", earshot.Utterance{Text: "earshot what time is it", LikeAgent: true}, "agent"),
		at(60, "bob", earshot.Utterance{Text: "ten", Sure: 0.82}),
	}
	events[8].ID = "named"
	told := earshot.Event{ID: "told", At: began.Add(70 * time.Second), Author: "agent", Visibility: events[0].Visibility, Body: earshot.Reply{
		Outcome: earshot.Interrupted, Offered: "one two", Heard: []earshot.Delivery{{Outlet: "loudspeaker", Bytes: 3}},
		Cut: &earshot.Interruption{At: began.Add(70 * time.Second)},
	}}
	events = append(events, told, at(70, "cleo", earshot.Utterance{Text: "what", Own: 0.5}, "agent"))
	known := Attributions{"named": earshot.Event{Body: earshot.Attribution{Of: "named", Author: "bob", Sure: 1}}}
	beside := FindOverlaps(events)
	var b strings.Builder
	for _, e := range events {
		Print(&b, beside.Mark(known.Mark(e, name), name), name)
	}
	var got []string
	for line := range strings.Lines(b.String()) {
		got = append(got, strings.TrimRight(line[len("2006-01-02 15:04"):], " \n"))
	}
	want := `
  Ann        shall we go [while Bob spoke] [not to me]
  Bob        not yet [while Ann spoke] [not to me]
  Cleo       why not [not to me]
  Ann?       it is late [while somebody else spoke] [not to me]
  somebody   no it is not [while somebody else spoke] [not to me]
  Bob        mm-hm [while I spoke]
  Bob        right
  somebody   earshot what time is it [sounds like me]
  Bob        ten [not to me]
  Earshot    one [cut off by Cleo; not heard: two]
  Cleo       what`
	if "\n"+strings.Join(got, "\n") != want {
		t.Errorf("history shows\n%s\nwant%s", strings.Join(got, "\n"), want)
	}
}
