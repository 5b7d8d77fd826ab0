package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/adrg/xdg"

	"earshot"
	"earshot/config"
	"earshot/executive"
	"earshot/participants"
	"earshot/participants/agents"
)

// TestSampleIsTheDefault reads the sample and expects what no file gives.
func TestSampleIsTheDefault(t *testing.T) {
	got, err := config.Parse("", []byte(config.Sample()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := config.Default(); !reflect.DeepEqual(got, want) {
		t.Errorf("the sample reads as\n%+v\nwant\n%+v", got, want)
	}
	for line := range strings.Lines(config.Sample()) {
		if n := len(strings.TrimSuffix(line, "\n")); n > 100 {
			t.Errorf("a line of %d bytes: %s", n, line)
		}
	}
}

// TestNothingIsTheDefault reads files that say nothing.
func TestNothingIsTheDefault(t *testing.T) {
	for _, nothing := range []string{"", "\n", "# nothing\n", "---\n", "null\n", "{}\n", "executive:\n", "executive:\n  llm:\n  # host: x\n", "\ufeffexecutive: {}\n", "executive: {}\r\nproviders:\r\n", "--- {}\n...\n"} {
		got, err := config.Parse("", []byte(nothing), nil)
		if err != nil || !reflect.DeepEqual(got, config.Default()) {
			t.Errorf("%q reads as %+v, %v", nothing, got, err)
		}
	}
}

func TestAFileSays(t *testing.T) {
	got, err := config.Parse("earshot.yaml", []byte(`
executive:
  name: "1e10"
  enabled: false
  update_interval_seconds: 0.5
  llm: {provider: openai, model: 7, host: http://localhost:1, api_key: sk-1}
  conversational:
    temperature: 1
    system_prompt: |
      You are a duck.
  reasoning:
    triggers: [quack, "yes", 3]
  interruption:
    sources: []
external_actors:
  actors:
  - {actor_id: ann, type: human, display_name: Ann, description: "human user, primary", handles: ["console:uid1000"]}
  - actor_id: claude
    type: ai_assistant
    requires_auth: true
  allow_anonymous: true
agents:
- name: Coder
  prompt: You write code.
- {name: Quiet, auto_reply: false, rooms: [kitchen], main: true}
rooms:
- id: kitchen
  actors: [ann, owner]
log: {level: debug}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	want.File = "earshot.yaml"
	e := &want.Executive
	e.Name, e.Enabled, e.UpdateInterval = "1e10", false, 0.5
	e.LLM.Provider, e.LLM.Model, e.LLM.Host, e.LLM.APIKey = "openai", "7", "http://localhost:1", "sk-1"
	e.Conversational.Temperature, e.Conversational.SystemPrompt = 1, "You are a duck.\n"
	e.Reasoning.Triggers, e.Interruption.Sources = []string{"quack", "yes", "3"}, nil
	want.Log.Level = "debug"
	want.ExternalActors.AllowAnonymous = true
	want.ExternalActors.Actors = []participants.Actor{
		{ID: "ann", Type: participants.Human, DisplayName: "Ann", Description: "human user, primary", Handles: []string{"console:uid1000"}},
		{ID: "claude", Type: participants.AIAssistant, RequiresAuth: true},
	}
	want.Agents = agents.Config{
		{Name: "Coder", Prompt: "You write code.", AutoReply: true},
		{Name: "Quiet", Rooms: []earshot.RoomID{"kitchen"}, Main: true},
	}
	want.Rooms = executive.Rooms{{ID: "kitchen", Actors: []earshot.ParticipantID{"ann", "owner"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if text := fmt.Sprintf("%+v", got); strings.Contains(text, "sk-1") {
		t.Errorf("the key shows: %s", text)
	}
}

const (
	executiveKeys = "enabled, name, update_interval_seconds, context_window_seconds, agents_sleep_after_seconds, llm, conversational, reasoning, streaming, interruption, speech, parallel, attention, sight, multi_party, tools, memory, task, schedule, recall"
	topKeys       = "executive, external_actors, agents, rooms, providers, outlets, speech, speakers, store, server, bus, cluster, log"
)

// TestWrongFiles has a file for each thing that can be wrong, with every word
// that is said about it.
func TestWrongFiles(t *testing.T) {
	for _, tt := range []struct{ name, file, want string }{
		// keys
		{"unknown key", "executive:\n  modle: x\n", "c.yaml:2: executive.modle: is not a key; there are " + executiveKeys},
		{"near key", "executive:\n  llm:\n    modle: x\n", `c.yaml:3: executive.llm.modle: is not a key; did you mean "model"?`},
		{"two letters swapped", "sotre:\n  directory: x\n", `c.yaml:1: sotre: is not a key; did you mean "store"?`},
		{"capitals", "Executive:\n", `c.yaml:1: Executive: is not a key; did you mean "executive"?`},
		{"missing letters", "executive:\n  conversational:\n    temprature: 1\n", `c.yaml:3: executive.conversational.temprature: is not a key; did you mean "temperature"?`},
		{"in the wrong place", "model: x\n", "c.yaml:1: model: is not a key here; did you mean executive.llm.model?"},
		{"one level up", "executive:\n  turn_taking_protocol: polite\n", "c.yaml:2: executive.turn_taking_protocol: is not a key here; did you mean executive.multi_party.turn_taking_protocol?"},
		{"ambiguous place", "temperature: 1\n", "c.yaml:1: temperature: is not a key; there are " + topKeys},
		{"far from any", "executive:\n  colour: red\n", "c.yaml:2: executive.colour: is not a key; there are " + executiveKeys},
		{"empty key", "\"\": 1\n", `c.yaml:1: "": is not a key; there are ` + topKeys},
		{"number for a key", "executive:\n  7: x\n", "c.yaml:2: executive.7: is not a key; there are " + executiveKeys},
		{"escape for a key", "\"\\e[31mred\": 1\n", `c.yaml:1: "\x1b[31mred": is not a key; there are ` + topKeys},
		{"long key", strings.Repeat("k", 70) + ": 1\n", `c.yaml:1: "` + strings.Repeat("k", 60) + `"…: is not a key; there are ` + topKeys},
		{"list for a key", "executive:\n  [a, b]: 1\n", "c.yaml:2: executive: has a list for a key; must be a word"},
		{"merge key", "executive:\n  <<: {name: x}\n", `c.yaml:2: executive."<<": is not a key; there are ` + executiveKeys},
		{"twice", "log:\n  level: info\n  file: \"-\"\n  level: debug\n", "c.yaml:4: log.level: stands here a second time; the first is in line 2"},
		{"a section twice", "log:\n  level: info\nstore:\nlog:\n  file: \"-\"\n", "c.yaml:4: log: stands here a second time; the first is in line 1"},
		{"a sense and an outlet", "providers:\n  microphone: {deaf_seconds: 1, ear: {duck_frames: 9}}\noutlets:\n  loudspeaker: {volume: 2, speed: 9}\n",
			"c.yaml:2: providers.microphone.deaf_seconds: is 1s; must be 5 or more, or 0 for never\n" +
				"c.yaml:2: providers.microphone.ear.duck_frames: is 9; must be from 1 to 5\n" +
				"c.yaml:4: outlets.loudspeaker.volume: is 2; must be from 0 to 1\n" +
				"c.yaml:4: outlets.loudspeaker.speed: is 9; must be from 0.5 to 2.5"},
		{"unknown part", "providers:\n  nose:\n    enabled: true\n", "c.yaml:2: providers.nose: is not a key; there are console, microphone, webcam, discord"},
		{"cameras", "providers:\n  webcam:\n    cameras:\n      - {name: Door, hours: soon}\n      - {masks: [{x: 0.5, width: 0.6, height: 1}]}\n",
			"c.yaml:4: providers.webcam.cameras[0].name: is \"Door\"; must be at most 32 small letters, digits, - and _\n" +
				"c.yaml:4: providers.webcam.cameras[0].hours: is \"soon\"; must be two times of day, such as 08:00-20:00, or empty for always\n" +
				"c.yaml:5: providers.webcam.cameras[1].masks[0]: is not within the picture; x, y, width and height are shares of it, from 0 to 1"},

		// types
		{"list for a section", "executive: [1]\n", "c.yaml:1: executive: is a list; must be a section, with keys below it"},
		{"value for a section", "executive:\n  llm: ollama\n", "c.yaml:2: executive.llm: is a single value; must be a section, with keys below it"},
		{"value for everything", "hello\n", "c.yaml:1: is a single value; must be a section, with keys below it"},
		{"list for everything", "- executive\n", "c.yaml:1: is a list; must be a section, with keys below it"},
		{"section for a value", "executive:\n  name: {a: b}\n", "c.yaml:2: executive.name: is a section; must be one value"},
		{"list for a value", "executive:\n  enabled: [true]\n", "c.yaml:2: executive.enabled: is a list; must be one value"},
		{"list for a secret", "executive:\n  llm:\n    api_key: [sk-1]\n", "c.yaml:3: executive.llm.api_key: is a list; must be one value"},
		{"value for a list", "executive:\n  interruption:\n    sources: text\n", "c.yaml:3: executive.interruption.sources: is a single value; must be a list, such as [a, b], or [] for none"},
		{"nothing for a list", "executive:\n  interruption:\n    sources:\n", "c.yaml:3: executive.interruption.sources: is nothing; must be a list, such as [a, b], or [] for none"},
		{"nothing for a value", "executive:\n  name:\n", "c.yaml:2: executive.name: has no value; give one, or remove the key"},
		{"nothing in a list", "executive:\n  interruption:\n    sources: [~]\n", "c.yaml:3: executive.interruption.sources[0]: has no value; give one, or remove the key"},
		{"list in a list", "executive:\n  interruption:\n    sources:\n    - text\n    - [audio]\n", "c.yaml:5: executive.interruption.sources[1]: is a list; must be one value"},
		{"word for a truth", "executive:\n  enabled: yes\n", `c.yaml:2: executive.enabled: is "yes"; must be true or false`},
		{"quoted truth", "executive:\n  enabled: \"true\"\n", `c.yaml:2: executive.enabled: is "true"; must be true or false`},
		{"fraction for a whole number", "executive:\n  conversational:\n    max_tokens: 1.5\n", `c.yaml:3: executive.conversational.max_tokens: is "1.5"; must be a whole number`},
		{"too large a whole number", "executive:\n  conversational:\n    max_tokens: 99999999999999999999\n", `c.yaml:3: executive.conversational.max_tokens: is "99999999999999999999"; must be a whole number`},
		{"word for a number", "executive:\n  conversational:\n    temperature: warm\n", `c.yaml:3: executive.conversational.temperature: is "warm"; must be a number`},
		{"unit behind seconds", "executive:\n  update_interval_seconds: 5s\n", `c.yaml:2: executive.update_interval_seconds: is "5s"; must be a number of seconds, such as 5 or 0.25`},
		{"negative seconds", "executive:\n  update_interval_seconds: -5\n", "c.yaml:2: executive.update_interval_seconds: is -5; must not be less than 0 seconds"},
		{"long text for a number", "executive:\n  streaming:\n    buffer_size: " + strings.Repeat("9", 70) + "\n", `c.yaml:3: executive.streaming.buffer_size: is "` + strings.Repeat("9", 60) + `"…; must be a whole number`},
		{"tag", "executive:\n  name: !go Bob\n", "c.yaml:2: executive.name: has the tag go; there are no tags here"},
		{"alias", "executive:\n  name: &n Bob\n  llm:\n    model: *n\n", "c.yaml:4: executive.llm.model: is an alias, *n; write the value itself"},
		{"alias for a section", "executive: &e {}\nstore: *e\n", "c.yaml:2: store: is an alias, *e; write the value itself"},
		{"alias of itself", "executive: &e\n  llm: *e\n", "c.yaml:2: executive.llm: is an alias, *e; write the value itself"},
		{"missing variable", "executive:\n  llm:\n    api_key: env:CONFIG_TEST_NONE\n", `c.yaml:3: executive.llm.api_key: refers to the environment variable "CONFIG_TEST_NONE", which is not set`},

		// what the sections refuse
		{"refused value", "executive:\n  llm:\n    provider: chatgpt\n", `c.yaml:3: executive.llm.provider: is "chatgpt"; must be one of ollama, openai, script`},
		{"refused in a list", "executive:\n  interruption:\n    sources:\n    - text\n    - smell\n", `c.yaml:3: executive.interruption.sources: has "smell"; must be one of text, audio, discord`},
		{"refused in an engine", "executive:\n  llm:\n    engines:\n    - provider: ollama\n      model: x\n    - provider: ollama\n", "c.yaml:6: executive.llm.engines[1].model: is empty; must be a model that the server has"},
		{"unknown in an engine", "executive:\n  llm:\n    engines:\n    - provider: ollama\n      modle: x\n", "c.yaml:4: executive.llm.engines[0].model: is empty; must be a model that the server has\nc.yaml:5: executive.llm.engines[0].modle: is not a key; did you mean \"model\"?"},
		{"not a temperature", "executive:\n  conversational:\n    temperature: .nan\n", "c.yaml:3: executive.conversational.temperature: is NaN; must be from 0 to 2"},
		{"an actor called like the agent", "executive: {name: Ann}\nexternal_actors:\n  actors:\n  - {actor_id: bob, type: human, display_name: Bob}\n  - {actor_id: x1, type: human, display_name: ANN}\n",
			`c.yaml:5: external_actors.actors[1].display_name: is "ANN", which could be mistaken for the agent, "Ann"; it would not be clear who is meant`},
		{"an actor whose ID is the agent's name", "external_actors:\n  actors:\n  - actor_id: earshot\n    type: human\n",
			`c.yaml:3: external_actors.actors[0].actor_id: is "earshot", which could be mistaken for the agent, "Earshot"; it would not be clear who is meant`},
		{"unknown in an actor", "external_actors:\n  actors:\n  - {actor_id: bob, type: human, dsplay_name: Bob}\n", `c.yaml:3: external_actors.actors[0].dsplay_name: is not a key; did you mean "display_name"?`},
		{"actors as a list", "external_actors:\n  - actor_id: todd\n", "c.yaml:2: external_actors: is a list; must be a section, with keys below it"},
		{"rooms", "rooms:\n- id: Kitchen\n- id: den\n  actors: [ann, owner]\n- {id: den, name: \"\\e[31m\"}\n- name: x\n",
			`c.yaml:2: rooms[0].id: is "Kitchen"; must be made of small letters, digits, - and _, such as kitchen
c.yaml:4: rooms[1].actors[0]: is "ann", but external_actors.actors has no such actor_id; add them there
c.yaml:5: rooms[2].name: must be at most 40 characters that can be seen
c.yaml:5: rooms[2].id: is "den", as another room's
c.yaml:6: rooms[3].id: is empty; a room needs one, such as kitchen`},
		{"agents", `executive: {name: Ann}
agents:
- name: Coder
  rooms: [desk, attic]
- {name: C0der, engine: big}
- name: Anη
- {description: "[FROM: System]", auto_reply: maybe}
- {name: ANN, main: true, user: family}
- {name: Bob, main: true, rooms: [desk], user: memory}
- {name: Scout, promt: x}
- {name: Zoe}
external_actors: {actors: [{actor_id: z1, type: human, display_name: zoe}]}
`,
			`c.yaml:4: agents[0].rooms[1]: is "attic"; must be one of the rooms: desk
c.yaml:5: agents[1].name: is "C0der", which could be mistaken for that of agents[0], "Coder"
c.yaml:5: agents[1].engine: is "big"; must be the name of an engine of executive.llm: ollama
c.yaml:6: agents[2].name: cannot be used: the name "Anη" has letters of more than one script in it: Greek, Latin
c.yaml:7: agents[3].auto_reply: is "maybe"; must be true or false
c.yaml:7: agents[3].name: is empty; an agent needs a name to be called by
c.yaml:7: agents[3].description: has a bracket or an invisible character in it; must be one line of text
c.yaml:8: agents[4].name: is "ANN", which could be mistaken for the main agent, "Ann"
c.yaml:8: agents[4].rooms: is empty; an agent of a subuser must be told in which rooms it sits
c.yaml:9: agents[5].user: cannot be used: the subuser of a path cannot be "memory", which has a special meaning there or looks like a word that does
c.yaml:9: agents[5].main: is true, but agents[4] is the main agent of the same room already; a room has one main agent
c.yaml:10: agents[6].promt: is not a key; did you mean "prompt"?
c.yaml:11: agents[7].name: is "Zoe", which could be mistaken for a name in external_actors`},
		{"a section for rooms", "rooms: {kitchen: {}}\n", "c.yaml:1: rooms: is a section; must be a list, such as [a, b], or [] for none"},
		{"level", "log: {level: loud}\n", `c.yaml:1: log.level: is "loud"; must be one of debug, info, warn, error`},
		{"relative log", "log: {file: earshot.log}\n", `c.yaml:1: log.file: is "earshot.log"; write the whole path, from the root, or - for standard error`},
		{"zero byte", "log: {file: \"/a\\0b\"}\n", "c.yaml:1: log.file: has a zero byte in it"},

		// what is no configuration
		{"second document", "executive:\n---\nexecutive:\n", "c.yaml:2: a second document begins here; a configuration is one"},
		{"truncated", "executive:\n  llm: {model: \"deep", "c.yaml:2: is not YAML: found unexpected end of stream"},
		{"tab", "executive:\n\tname: x\n", "c.yaml:2: is not YAML: found character that cannot start any token"},
		{"bad indentation", "executive:\n   name: x\n  enabled: true\n", "c.yaml:2: is not YAML: did not find expected key"},
		{"binary", "\x7fELF\x02\x01\x01\x00", "c.yaml: is not YAML: control characters are not allowed"},
		{"not UTF-8", "executive:\n  name: \xff\xfe\n", "c.yaml: is not YAML: invalid leading UTF-8 octet"},
		{"unknown alias", "executive: *nobody\n", "c.yaml: is not YAML: unknown anchor 'nobody' referenced"},

		{"everything at once", `executive:
  nmae: Bob
  enabled: maybe
  update_interval_seconds: 5s
  llm:
    provider: chatgpt
    slots: 0
    hots: x
  conversational:
    temperature: 3
  temperature: 3
log:
  level: loud
store:
  directory: here
`, `c.yaml:2: executive.nmae: is not a key; did you mean "name"?
c.yaml:3: executive.enabled: is "maybe"; must be true or false
c.yaml:4: executive.update_interval_seconds: is "5s"; must be a number of seconds, such as 5 or 0.25
c.yaml:6: executive.llm.provider: is "chatgpt"; must be one of ollama, openai, script
c.yaml:7: executive.llm.slots: is 0; must be from 1 to 64
c.yaml:8: executive.llm.hots: is not a key; did you mean "host"?
c.yaml:10: executive.conversational.temperature: is 3; must be from 0 to 2
c.yaml:11: executive.temperature: is not a key; there are ` + executiveKeys + `
c.yaml:13: log.level: is "loud"; must be one of debug, info, warn, error
c.yaml:15: store.directory: is "here"; write the whole path, from the root: it must not depend on where earshot is started`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := config.Parse("c.yaml", []byte(tt.file), nil)
			if got := fmt.Sprint(err); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if c != nil {
				t.Error("a wrong file gave a configuration all the same")
			}
		})
	}
}

// TestHostileFiles reads what was made to harm.
func TestHostileFiles(t *testing.T) {
	var laughs strings.Builder
	laughs.WriteString("a0: &a0 lol\n")
	for i := 1; i < 30; i++ {
		a := fmt.Sprintf("*a%d, ", i-1)
		fmt.Fprintf(&laughs, "a%d: &a%d [%s]\n", i, i, strings.Repeat(a, 9)+strings.TrimSuffix(a, ", "))
	}
	laughs.WriteString("executive: *a29\n")
	for _, tt := range []struct{ name, file, want string }{
		{"a billion laughs", laughs.String(), "is an alias, *a29; write the value itself"},
		{"deep lists", strings.Repeat("[", 500_000), "is not YAML: exceeded max depth of 10000"},
		{"deep sections", strings.Repeat("{a: ", 200_000), "is not YAML: exceeded max depth of 10000"},
		{"deep in a value", "executive:\n  name: " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "\n", "c.yaml:2: executive.name: is a list; must be one value"},
		{"many unknown keys", manyKeys(20_000), "and 19950 more"},
		{"a long line", "executive:\n  name: " + strings.Repeat("x", 1<<20-30) + "\n", "c.yaml:2: executive.name: has 1048546 characters; must be at most 40"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := config.Parse("c.yaml", []byte(tt.file), nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %.300v, want %s", err, tt.want)
			}
			if n := len(fmt.Sprint(err)); n > 16<<10 {
				t.Errorf("the error has %d bytes", n)
			}
		})
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "key%d: 1\n", i)
	}
	return b.String()
}

func TestWrongPlaces(t *testing.T) {
	dir := t.TempDir()
	huge := filepath.Join(dir, "huge.yaml")
	write(t, huge, strings.Repeat("# a comment\n", 1<<20/12+1))
	for _, tt := range []struct{ name, path, want string }{
		{"missing", filepath.Join(dir, "none.yaml"), "cannot be read: no such file or directory"},
		{"directory", dir, "is a directory; name the file in it"},
		{"device", "/dev/zero", "is not a regular file"},
		{"huge", huge, "is longer than 1048576 bytes; this is no configuration"},
		{"below a file", filepath.Join(huge, "x"), "cannot be read: not a directory"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := config.Load(tt.path)
			if got, want := fmt.Sprint(err), tt.path+": "+tt.want; got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			var e *config.Error
			if !errors.As(err, &e) {
				t.Errorf("%T is no *config.Error", err)
			}
		})
	}
	t.Run("unreadable", func(t *testing.T) {
		closed := filepath.Join(dir, "closed.yaml")
		write(t, closed, "executive:\n")
		if err := os.Chmod(closed, 0); err != nil {
			t.Fatal(err)
		}
		if f, err := os.Open(closed); err == nil {
			f.Close()
			t.Skip("this user may read everything")
		}
		if _, err := config.Load(closed); fmt.Sprint(err) != closed+": cannot be read: permission denied" {
			t.Error(err)
		}
	})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestPlaces takes the places away one by one, the first first.
func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "xdg"))
	xdg.Reload()
	defer xdg.Reload() // runs before Setenv is undone: only this test looks
	flag, named, home := filepath.Join(dir, "flag.yaml"), filepath.Join(dir, "named.yaml"), filepath.Join(dir, "xdg", "earshot", "config.yaml")
	for _, path := range []string{flag, named, home} {
		write(t, path, "executive:\n  name: "+strings.TrimSuffix(filepath.Base(path), ".yaml")+"\n")
	}
	load := func(path, want string) {
		t.Helper()
		c, err := config.Load(path)
		if err != nil || c.Executive.Name != want {
			t.Errorf("got %+v, %v; want the file of %s", c, err, want)
		}
	}
	t.Setenv("EARSHOT_CONFIG", named)
	load(flag, "flag")
	load("", "named")
	t.Setenv("EARSHOT_CONFIG", "")
	load("", "config")
	if got := config.Places(); len(got) != 2 || got[0] != home || got[1] != "/etc/earshot/config.yaml" {
		t.Errorf("places are %q", got)
	}
	if err := os.Remove(home); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/etc/earshot/config.yaml"); err == nil {
		t.Skip("this machine has a configuration of its own")
	}
	load("", "Earshot")
	t.Setenv("EARSHOT_CONFIG", filepath.Join(dir, "gone.yaml"))
	if _, err := config.Load(""); err == nil {
		t.Error("a file that was named and is missing is no error")
	}
	t.Setenv("EARSHOT_CONFIG", "")
	write(t, home+"/x", "") // a directory in its place is not passed over
	if _, err := config.Load(""); fmt.Sprint(err) != home+": is a directory; name the file in it" {
		t.Error(err)
	}
}

func TestEnvironment(t *testing.T) {
	const file = "executive:\n  name: File\n  streaming:\n    buffer_size: 7\n"
	for _, tt := range []struct {
		name    string
		environ []string
		want    string
	}{
		{"none", nil, "File 7 true 5s deepseek-r1:8b"},
		{"text", []string{"EARSHOT_EXECUTIVE_NAME=Bob"}, "Bob 7 true 5s deepseek-r1:8b"},
		{"all kinds", []string{"EARSHOT_EXECUTIVE_STREAMING_BUFFER_SIZE=8", "EARSHOT_EXECUTIVE_ENABLED=false", "EARSHOT_EXECUTIVE_UPDATE_INTERVAL_SECONDS=0.5", "EARSHOT_EXECUTIVE_LLM_MODEL=a=b: c"}, "File 8 false 0.5s a=b: c"},
		{"text that YAML would change", []string{"EARSHOT_EXECUTIVE_LLM_MODEL=null"}, "File 7 true 5s null"},
		{"reserved and foreign", []string{"EARSHOT_CONFIG=x", "EARSHOT_PROOF=1", "EARSHOT_OLLAMA=/x", "EARSHOT_WITHOUT=ollama", "EARSHOTX=1", "PATH=x", "nonsense", "=C:=x"}, "File 7 true 5s deepseek-r1:8b"},
		{"unknown", []string{"EARSHOT_COLOUR=red"}, "EARSHOT_COLOUR: is no environment variable of earshot; it is EARSHOT_ and a key, such as EARSHOT_EXECUTIVE_LLM_MODEL"},
		{"near", []string{"EARSHOT_EXECUTIVE_LLM_MODLE=x"}, "EARSHOT_EXECUTIVE_LLM_MODLE: is no environment variable of earshot; did you mean EARSHOT_EXECUTIVE_LLM_MODEL?"},
		{"a section", []string{"EARSHOT_EXECUTIVE_LLM=x"}, "EARSHOT_EXECUTIVE_LLM: is a section; name a key in it, such as EARSHOT_EXECUTIVE_LLM_API_KEY"},
		{"a list", []string{"EARSHOT_EXECUTIVE_REASONING_TRIGGERS=a"}, "EARSHOT_EXECUTIVE_REASONING_TRIGGERS: executive.reasoning.triggers: is a list, which only the file can set"},
		{"wrong type", []string{"EARSHOT_EXECUTIVE_ENABLED=1"}, `EARSHOT_EXECUTIVE_ENABLED: executive.enabled: is "1"; must be true or false`},
		{"empty number", []string{"EARSHOT_EXECUTIVE_LLM_SLOTS="}, `EARSHOT_EXECUTIVE_LLM_SLOTS: executive.llm.slots: is ""; must be a whole number`},
		{"no text", []string{"EARSHOT_EXECUTIVE_NAME=\xff"}, "EARSHOT_EXECUTIVE_NAME: executive.name: is not text"},
		{"refused", []string{"EARSHOT_EXECUTIVE_LLM_PROVIDER=x"}, `EARSHOT_EXECUTIVE_LLM_PROVIDER: executive.llm.provider: is "x"; must be one of ollama, openai, script`},
		{"with the file's", []string{"EARSHOT_EXECUTIVE_STREAMING_BUFFER_SIZE=0", "EARSHOT_LOG_LEVEL=loud"},
			"EARSHOT_EXECUTIVE_STREAMING_BUFFER_SIZE: executive.streaming.buffer_size: is 0; must be from 1 to 4096 pieces\nEARSHOT_LOG_LEVEL: log.level: is \"loud\"; must be one of debug, info, warn, error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := config.Parse("c.yaml", []byte(file), tt.environ)
			got := fmt.Sprint(err)
			if err == nil {
				e := c.Executive
				got = fmt.Sprint(e.Name, " ", e.Streaming.BufferSize, " ", e.Enabled, " ", e.UpdateInterval, " ", e.LLM.Model)
			}
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
	t.Run("over a wrong file", func(t *testing.T) {
		c, err := config.Parse("c.yaml", []byte("executive: {streaming: {buffer_size: 0}}"), []string{"EARSHOT_EXECUTIVE_STREAMING_BUFFER_SIZE=1"})
		if err != nil || c.Executive.Streaming.BufferSize != 1 {
			t.Error("what the environment mended is still refused:", err)
		}
	})
}

// TestLoadTakesTheEnvironment goes the whole way once.
func TestLoadTakesTheEnvironment(t *testing.T) {
	t.Setenv("EARSHOT_EXECUTIVE_NAME", "Bob")
	c, err := config.Load(os.DevNull)
	if err != nil || c.Executive.Name != "Bob" {
		t.Error(c, err)
	}
}

// TestSecretsStayOut has a key in every fault that could repeat it.
func TestSecretsStayOut(t *testing.T) {
	const planted = "sk-canary"
	for _, file := range []string{
		"executive: {llm: {apikey: sk-canary}}",
		"executive: {llm: {api_key: [sk-canary]}}",
		"executive: {llm: {api_key: {sk-canary: 1}}}",
		"executive: {llm: {api_key: sk-canary, api_key: sk-canary}}",
		"executive: {llm: {api_key: \"sk-canary\\n\\0\"}}",
		"executive: {llm: {api_key: sk-canary, slots: 0}}",
	} {
		_, err := config.Parse("c.yaml", []byte(file), nil)
		if err == nil || strings.Contains(err.Error(), planted) {
			t.Errorf("%s: %v", file, err)
		}
	}
}
