package model_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/monitor/model"
	"earshot/participants"
)

var update = flag.Bool("update", false, "write the golden screens anew")

// noon is when the day of the tests is at its middle, wherever they run.
var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.Local)

// A script makes events of a day, one after the other.
type script struct {
	events []earshot.Event
	at     time.Time
}

// add adds an event of somebody's, so long after the last.
func (s *script) add(after time.Duration, id earshot.EventID, author earshot.ParticipantID, b earshot.Body, to ...earshot.ParticipantID) *earshot.Event {
	if s.at.IsZero() {
		s.at = noon
	}
	s.at = s.at.Add(after)
	e := earshot.Event{
		ID: id, Sequence: int64(len(s.events) + 1), At: s.at, Room: earshot.Desk, Author: author, To: to,
		From: earshot.Handle{Provider: "console", ID: "uid1"}, Visibility: earshot.Visibility{Scope: earshot.Public}, Body: b,
	}
	s.events = append(s.events, e)
	return &s.events[len(s.events)-1]
}

// private makes the last event one among some.
func (s *script) private(members ...earshot.ParticipantID) {
	s.events[len(s.events)-1].Visibility = earshot.Visibility{Scope: earshot.Private, Members: members}
}

func decides(about earshot.EventID, v earshot.Verdict, turn earshot.TurnID, reasons ...string) earshot.Decision {
	return earshot.Decision{About: about, Agent: participants.Agent, Verdict: v, Reasons: reasons, Turn: turn}
}

const agent = participants.Agent

// busy is a scene in which everything happens.
func busy() *script {
	s := new(script)
	second := time.Second
	s.add(0, "p1", "ann", earshot.Presence{Here: true})
	s.add(2*second, "m1", "ann", earshot.Message{Text: "tell me about the tides"}, agent)
	s.add(0, "d1", agent, decides("m1", earshot.Speak, "t1", "nobody else is here, so it was for me"))
	offered := earshot.Text("The tides are the sea's answer to the moon. Twice a day the water bulges towards it, and on the far side away from it, and the coasts turn through both bulges.")
	s.add(4*second, "r1", agent, earshot.Reply{
		Turn: "t1", About: "m1", Outcome: earshot.Interrupted, Offered: offered,
		Heard: []earshot.Delivery{{Outlet: "console", Bytes: 84}, {Outlet: "loudspeaker", Bytes: 44}},
		Cut:   &earshot.Interruption{By: "ann", Signal: "addressed", At: s.at},
	}, "ann")
	s.add(second, "m2", "ann", earshot.Message{Text: "wait, how high do they get?"}, agent)
	s.add(0, "d2", agent, decides("m2", earshot.Speak, "t2", "nobody else is here, so it was for me"))
	s.add(2*second, "r2", agent, earshot.Reply{
		Turn: "t2", About: "m2", Outcome: earshot.Completed, Offered: "In the Bay of Fundy, sixteen metres.",
		Heard: []earshot.Delivery{{Outlet: "console", Bytes: 36}},
	}, "ann")
	s.add(20*second, "v1", "bob", earshot.Utterance{Text: "mind the step over there", Confidence: 0.61, Lasted: 2 * second, Speaker: earshot.Handle{Provider: "voice", ID: "3"}, Sure: 0.82})
	s.add(0, "d3", agent, decides("v1", earshot.Silent, "", "it was said aloud, and not to me", "nobody called me by name"))
	s.add(second, "v2", "", earshot.Utterance{Text: "thank you dear", Confidence: 0.44, Lasted: 2 * second, Overlaps: true})
	s.add(0, "d4", agent, decides("v2", earshot.Silent, "", "it was said aloud, and not to me"))
	s.add(3*second, "w1", agent, earshot.Attribution{Of: "v2", Author: "ann", Sure: 0.77})
	s.add(9*second, "s1", "", earshot.Sight{Camera: "desk", What: earshot.PeopleChanged, People: 2, Were: 1, Eyes: earshot.Clear})
	s.add(0, "d5", agent, decides("s1", earshot.Silent, "", "these are the quiet hours"))
	s.add(4*second, "m3", "ann", earshot.Message{Text: "the ring is in the teapot"}, "bob")
	s.private("ann", "bob")
	s.add(5*second, "m4", "ann", earshot.Message{Text: "write me two lines about the tides, and have Bob count them"}, agent)
	s.add(0, "d6", agent, decides("m4", earshot.Speak, "t4", "it calls me by name"))
	s.add(second, "x1", agent, earshot.Message{Text: "two lines about the tides, and keep them in tides.txt", Turn: "t4", About: "m4"}, "alice")
	s.add(second, "u1", "alice", earshot.Use{Turn: "t4", Tool: "write_file", Arguments: `{"path":"tides.txt"}`, Took: 40 * time.Millisecond})
	s.add(second, "x2", "alice", earshot.Message{Text: "The sea breathes in, the moon looks on.", Turn: "t4", About: "x1", ReplyTo: "x1"}, agent)
	s.add(second, "r4", agent, earshot.Reply{
		Turn: "t4", About: "m4", Outcome: earshot.Completed, Offered: "Alice wrote them; they are two lines.",
		Heard: []earshot.Delivery{{Outlet: "console", Bytes: 37}},
	}, "ann")
	s.add(6*second, "th1", agent, earshot.Thought{Cause: earshot.ByCommand, Question: "whether we should move", Text: "They work at night, and the street is loud.", Tokens: 40, Outcome: earshot.Interrupted, Cut: &earshot.Interruption{By: "ann", Signal: "typing"}})
	s.add(8*second, "f1", agent, earshot.Finding{Thought: "th1", Text: "The flat by the harbour is quieter after ten.", Confidence: 0.8, Worth: true})
	s.add(0, "d7", agent, decides("f1", earshot.Wait, "", "somebody is speaking"))
	s.add(second, "e1", "ann", earshot.Edit{Act: earshot.Created, Field: "notes", Text: "the harbour flat has no lift"})
	s.add(second, "rm1", agent, earshot.Reminder{Act: earshot.Created, Due: s.at.Add(time.Hour), Text: "call the landlord"}, "ann")
	s.add(second, "mo1", "ann", earshot.ModeChange{Mode: earshot.Muted})
	s.add(second, "n1", "", earshot.Notice{Key: "microphone", Text: "the microphone is gone", Cure: "plug it in again"})
	return s
}

// opened is a monitor of some size that has seen events.
func opened(width, height int, events []earshot.Event) *model.Model {
	m := model.New(false)
	m.Step(noon, model.Size{Width: width, Height: height})
	m.Step(noon, model.House{You: participants.Participant{ID: "ann", Name: "Ann"}, Known: []participants.Participant{
		{ID: "ann", Name: "Ann"}, {ID: "bob", Name: "Bob"},
	}})
	m.Step(noon, house())
	m.Step(noon.Add(90*time.Second), model.Events(events))
	return m
}

// house is how the room is in that scene.
func house() model.Snapshot {
	var s model.Snapshot
	text := `{
  "at": "` + noon.Format(time.RFC3339Nano) + `", "room": "desk", "agent": "Earshot", "mode": "muted",
  "agents": [{"id": "agent", "name": "Earshot", "state": "active", "partner": "ann"}, {"id": "alice", "name": "Alice", "kind": "connector", "path": "/owner/console", "state": "sleeping"}],
  "here": [{"id": "ann", "name": "Ann", "type": "human"}],
  "company": {"least": 1, "likely": 2, "most": 3, "unknown": 0,
    "who": [{"id": "ann", "name": "Ann", "named": true, "sure": 0.97, "by": [{"kind": "typed", "at": "` + noon.Add(time.Minute).Format(time.RFC3339Nano) + `", "text": "typing"}]},
            {"id": "bob", "name": "Bob", "named": true, "sure": 0.71, "by": [{"kind": "heard", "at": "` + noon.Add(time.Minute).Format(time.RFC3339Nano) + `", "text": "a voice"}]}],
    "against": ["the camera sees 2 people, and only 1 voice is known"]},
  "replies": [{"turn": "t9", "agent": "agent", "about": "m4", "to": "ann", "since": "` + noon.Add(85*time.Second).Format(time.RFC3339Nano) + `",
    "text": "The harbour flat would be quieter, and it has no lift.", "heard": [{"outlet": "console", "bytes": 34}]}],
  "thoughts": [{"of": "th1", "agent": "agent", "cause": "command", "for": "ann", "question": "whether we should move", "phase": "parked",
    "text": "They work at night, and the street is loud. The flat by the harbour is quieter after ten, but it has no lift, and the rent is", "tokens": 61,
    "since": "` + noon.Add(50*time.Second).Format(time.RFC3339Nano) + `", "parked": "Ann began to write"}],
  "scene": [
    {"id": "1", "field": "recent_messages", "text": "Bob said “mind the step over there”", "at": "` + noon.Add(30*time.Second).Format(time.RFC3339Nano) + `"},
    {"id": "2", "field": "recent_visual", "text": "camera desk: 2 people are in view", "at": "` + noon.Add(50*time.Second).Format(time.RFC3339Nano) + `"},
    {"id": "3", "field": "notes", "text": "the harbour flat has no lift (Ann)", "at": "` + noon.Add(70*time.Second).Format(time.RFC3339Nano) + `"},
    {"id": "4", "field": "reasoning_buffer", "text": "The flat by the harbour is quieter after ten.", "at": "` + noon.Add(68*time.Second).Format(time.RFC3339Nano) + `", "confidence": 0.8}],
  "turns": [
    {"turn": "t1", "agent": "agent", "at": "` + noon.Add(2*time.Second).Format(time.RFC3339Nano) + `", "outcome": "interrupted", "decide": 2000000, "queue": 1000000, "ask": 3000000, "first_token": 410000000, "first_clause": 90000000, "first_heard": 20000000, "rest": 3000000000, "wait": 526000000, "total": 3526000000, "silence": 12000000},
    {"turn": "t2", "agent": "agent", "at": "` + noon.Add(8*time.Second).Format(time.RFC3339Nano) + `", "outcome": "completed", "decide": 2000000, "queue": 80000000, "ask": 3000000, "first_token": 230000000, "first_clause": 40000000, "first_heard": 8000000, "rest": 900000000, "wait": 363000000, "total": 1263000000}],
  "parts": [
    {"name": "journal", "kind": "house", "well": true, "text": "~/state/journal"},
    {"name": "model", "kind": "engine", "well": true, "text": "llama3.2 on ollama"},
    {"name": "console", "kind": "outlet", "well": true},
    {"name": "microphone", "kind": "sense", "well": false, "since": "` + noon.Add(80*time.Second).Format(time.RFC3339Nano) + `", "text": "the microphone is gone", "cure": "plug it in again"}]
}`
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		panic(err)
	}
	return s
}

// words is what stands on a screen, without colours.
func words(s model.Screen) string {
	var b strings.Builder
	for _, r := range s.Rows {
		b.WriteString(strings.TrimRight(stripped(r), " "))
		b.WriteString("\n")
	}
	return b.String()
}

// stripped takes the escape sequences out of a row.
func stripped(r string) string {
	var b strings.Builder
	for r != "" {
		if rest, ok := strings.CutPrefix(r, "\x1b["); ok {
			r = rest[strings.IndexByte(rest, 'm')+1:]
			continue
		}
		b.WriteByte(r[0])
		r = r[1:]
	}
	return b.String()
}

// golden compares a screen with the one that somebody has looked at.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is\n%s", name, got)
	}
}

// TestScreens: the busy scene at three sizes.
func TestScreens(t *testing.T) {
	for name, size := range map[string]model.Size{"small": {Width: 80, Height: 24}, "middle": {Width: 120, Height: 40}, "large": {Width: 200, Height: 60}} {
		m := opened(size.Width, size.Height, busy().events)
		golden(t, name, words(m.Screen()))
	}
}

// TestWords: what somebody is saying grows below the transcript, until it stands in it.
func TestWords(t *testing.T) {
	m := opened(80, 24, nil)
	began := noon.Add(80 * time.Second)
	says := func(words string) model.Snapshot {
		s := house()
		s.Replies = nil
		if words != "" {
			s.Words = []earshot.Event{{At: began, From: earshot.Handle{Provider: "microphone", ID: "1"}, Author: "bob", Body: earshot.Speech{Stage: earshot.VoiceWords, Words: earshot.Text(words)}}}
		}
		data, err := json.Marshal(s) // as it comes over the wire
		if err != nil {
			t.Fatal(err)
		}
		s = model.Snapshot{}
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, said := range []string{"turn the", "turn the lights\x1b[2J off"} {
		m.Step(began.Add(time.Second), says(said))
		want := " 12:01:20 Bob (voice): " + strings.ReplaceAll(said, "\x1b", "␛") + " …\n"
		if got := words(m.Screen()); strings.Count(got, want) != 1 {
			t.Errorf("the screen lacks %q:\n%s", want, got)
		}
	}
	e := earshot.Event{Sequence: 1, ID: "u1", At: began, From: earshot.Handle{Provider: "microphone", ID: "1"}, Author: "bob", Body: earshot.Utterance{Text: "turn the lights off", Confidence: 1}}
	m.Step(began.Add(2*time.Second), model.Events{e}) // which comes by another way
	if got := words(m.Screen()); strings.Count(got, "turn the lights") != 1 || strings.Contains(got, "off …") {
		t.Errorf("it is there twice:\n%s", got)
	}
	m.Step(began.Add(2*time.Second), says(""))
	if got := words(m.Screen()); strings.Count(got, "turn the lights") != 1 {
		t.Errorf("afterwards there is\n%s", got)
	}
}
