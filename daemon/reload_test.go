package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/daemon/health"
	"earshot/daemon/section"
	"earshot/internal/logfile"
	"earshot/internal/testkit"
	"earshot/participants"
	"earshot/server"
)

// TestBeginnings: each key of a section says which sections are rebuilt for it, and each of those
// exists.
func TestBeginnings(t *testing.T) {
	known := make(map[string]bool)
	for _, key := range config.Keys() {
		if config.ClassOf(key) == config.Section && len(affectedSections(key)) == 0 && !strings.HasPrefix(key, "speakers.") {
			t.Errorf("%s is of class Section; add it to sectionsByKey in daemon/reload.go", key)
		}
		for at := key; at != ""; at = at[:max(0, strings.LastIndexByte(at, '.'))] {
			known[at] = true
		}
	}
	for key, sections := range sectionsByKey {
		for _, name := range sections {
			if !slices.Contains(sectionOrder, name) {
				t.Errorf("%s begins again never: add it to sectionOrder in daemon/reload.go", name)
			}
		}
		if !known[key] {
			t.Errorf("there is no key %s", key)
		}
	}
}

// TestPartsAreCounted: each provider and each outlet in the configuration is a part whose state is
// counted.
func TestPartsAreCounted(t *testing.T) {
	for _, key := range config.Keys() {
		of, rest, _ := strings.Cut(key, ".")
		name, _, _ := strings.Cut(rest, ".")
		if (of == "providers" || of == "outlets") && !slices.Contains(health.Counted(), name) {
			t.Errorf("%s.%s is no part that is counted: add it to kinds in daemon/health/parts.go", of, name)
		}
	}
}

// others has another valid value for each key at which an arbitrary number or word is a fault.
var others = map[string]string{
	"executive.llm.provider":                     "ollama",
	"executive.llm.host":                         "http://localhost:1",
	"executive.llm.api_key":                      "hush",
	"executive.llm.tools":                        "schema",
	"executive.llm.vision":                       "true",
	"executive.llm.engines":                      "[{name: scripted, provider: script, script: SCRIPT}]",
	"executive.llm.roles.user.engine":            "scripted",
	"executive.llm.roles.subagent.engine":        "scripted",
	"executive.llm.roles.memory.engine":          "scripted",
	"store.url":                                  "postgres://localhost:9/earshot",
	"bus.cluster.listen":                         "127.0.0.1:3",
	"bus.cluster.servers":                        "[localhost:3]",
	"executive.schedule.zone":                    "Asia/Tokyo",
	"executive.llm.roles.memory_search.engine":   "scripted",
	"executive.llm.roles.task.engine":            "scripted",
	"executive.recall.embedding.engine":          "scripted",
	"executive.reasoning.engine":                 "scripted",
	"executive.reasoning.triggers":               "[ponder]",
	"executive.interruption.sources":             "[text]",
	"executive.speech.heard_as":                  "[air shot]",
	"executive.speech.least_confidence":          "0.5",
	"executive.speech.ask_back":                  "false",
	"executive.attention.quiet_hours":            "01:00-02:00",
	"executive.attention.least_confidence":       "0.9",
	"executive.sight.rooms":                      "[kitchen]",
	"executive.multi_party.turn_taking_protocol": "passive",
	"executive.tools.workspace":                  "/nowhere/workspaces",
	"external_actors.actors":                     "[{actor_id: bob}]",
	"external_actors.anonymous_pattern":          "visitor_{number}",
	"agents":                                     "[{name: Scout}]",
	"rooms":                                      "[{id: kitchen}]",
	"providers.microphone.least_confidence":      "0.1",
	"providers.microphone.ear.duck_frames":       "4",
	"providers.microphone.ear.end_seconds":       "0.7",
	"providers.microphone.ear.longest_seconds":   "20",
	"providers.webcam.cameras":                   "[{name: door}]",
	"providers.discord.token_file":               "/nowhere/other",
	"providers.discord.guilds":                   "[\"12345678901234567\"]",
	"providers.discord.channels":                 "[\"12345678901234567\"]",
	"providers.discord.users":                    "[\"12345678901234567\"]",
	"providers.discord.operators":                "[\"12345678901234567\"]",
	"providers.discord.voice_channels":           "[\"12345678901234567\"]",
	"providers.discord.bots":                     "ignore",
	"providers.discord.join":                     "people",
	"providers.discord.base":                     "http://127.0.0.1:1",
	"outlets.loudspeaker.volume":                 "0.5",
	"outlets.loudspeaker.voice":                  "rms",
	"outlets.discord.voice_name":                 "rms",
	"speech.wake.engine":                         "embedded",
	"speech.wake.neural.model":                   "kws-phones",
	"speech.wake.wyoming.address":                "127.0.0.1:10400",
	"speech.turn.engine":                         "embedded",
	"speech.turn.neural.model":                   "smart-turn",
	"speech.turn.neural.vad":                     "silero",
	"speech.hear.engine":                         "embedded",
	"speech.hear.language":                       "de",
	"speech.hear.neural.model":                   "parakeet",
	"speech.hear.neural.second":                  "whisper",
	"speech.hear.wyoming.address":                "localhost:10",
	"speech.hear.openai.url":                     "http://localhost:9",
	"speech.hear.openai.api_key":                 "hush",
	"speech.say.engine":                          "embedded",
	"speech.say.neural.model":                    "kokoro",
	"speech.say.neural.speaker":                  "af_heart",
	"speech.say.wyoming.address":                 "localhost:10",
	"speech.say.openai.url":                      "http://localhost:9",
	"speech.say.openai.api_key":                  "hush",
	"speakers.sure":                              "0.75",
	"store.directory":                            "/nowhere/journal",
	"server.socket":                              "/nowhere/socket",
	"server.listen":                              "127.0.0.1:0",
	"bus.listen":                                 "127.0.0.1:4223",
	"bus.addresses":                              "[hub.local:4223]",
	"bus.servers":                                "[nats.example:4222]",
	"server.allowed_hosts":                       "[earshot.example]",
	"server.allowed_origins":                     "[\"http://localhost:3000\"]",
	"log.level":                                  "debug",
	"log.file":                                   "\"-\"",
}

// A renovation is a daemon with a configuration file that is read again.
type renovation struct {
	t *testing.T
	*Daemon
	file string
	base string // what the file has besides the changes
}

// renovated returns a running daemon that reads its file again when asked to and, if watched, by
// itself.
func renovated(t *testing.T, watched bool) *renovation {
	dir := t.TempDir()
	script := filepath.Join(dir, "model.yaml")
	if err := os.WriteFile(script, []byte("reply: yes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &renovation{t: t, file: filepath.Join(dir, "config.yaml"), base: "executive: {llm: {name: scripted, provider: openai, host: http://localhost:9, model: m}}\nproviders: {discord: {token_file: /nowhere/token}}\nspeech: {hear: {wyoming: {address: localhost:9}}}"}
	r.write(r.base)
	cfg, err := r.load()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Store.Directory = filepath.Join(dir, "journal")
	if r.Daemon, err = Open(t.Context(), cfg, Options{Account: earshot.Handle{Provider: "console", ID: "1"}, Name: "ann"}); err != nil {
		t.Fatal(err)
	}
	r.options.Load = func() (*config.Config, error) {
		next, err := r.load()
		if err == nil && next.Store.Directory == "" {
			next.Store.Directory = filepath.Join(dir, "journal")
		}
		return next, err
	}
	r.options.File = r.file
	if !watched {
		r.reloads.watch = func(context.Context, string, func()) error { return nil }
	}
	stop := runs(t, r.Daemon)
	t.Cleanup(func() { stop(); r.Close() })
	return r
}

func (r *renovation) write(text string) {
	r.t.Helper()
	if err := os.WriteFile(r.file, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *renovation) load() (*config.Config, error) {
	data, err := os.ReadFile(r.file)
	if err != nil {
		return nil, err
	}
	return config.Parse(r.file, data, nil)
}

// TestReloadKeys: a change of any key is in effect afterwards, or is said to wait for a restart.
func TestReloadKeys(t *testing.T) {
	r := renovated(t, false)
	for _, key := range config.Keys() {
		before := r.Config()
		value, chosen := others[key]
		if !chosen {
			value = another(t, before, key)
		}
		value = strings.ReplaceAll(value, "SCRIPT", strings.TrimSuffix(r.file, "config.yaml")+"model.yaml")
		base := r.base
		if key == "cluster.name" { // which needs both
			base = changedTo(t, changedTo(t, base, "store.url", others["store.url"]), "bus.listen", others["bus.listen"])
		}
		if key == "bus.servers" { // which needs it
			base = changedTo(t, base, "bus.seed", "another")
		}
		r.write(changedTo(t, base, key, value))
		is, err := r.reload(t.Context(), true)
		if err != nil {
			t.Errorf("%s: %s: %v", key, value, err)
			continue
		}
		wanted, err := r.load()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(is.Changes, func(c api.SettingChange) bool { return c.Key == key }) {
			t.Errorf("%s has not changed by %s: %+v", key, value, is)
			continue
		}
		holds := !slices.ContainsFunc(r.Config().Changes(wanted), func(c api.SettingChange) bool { return c.Key == key })
		waits := slices.Contains(is.Waiting, key)
		if restarts := config.ClassOf(key) == config.Restart; holds == restarts || waits != restarts {
			t.Errorf("%s, of class %s: it holds is %v, it waits is %v", key, config.ClassOf(key), holds, waits)
		}
		if !slices.Equal(r.waitingKeys(), is.Waiting) {
			t.Errorf("%s: %v is said to wait, not %v", key, r.waitingKeys(), is.Waiting)
		}
		r.write(r.base)
		is, err = r.reload(t.Context(), true)
		if is.Waiting = slices.DeleteFunc(is.Waiting, func(key string) bool { return key == "rooms" }); err != nil || len(is.Waiting) > 0 {
			t.Errorf("%s was taken back: %+v, %v", key, is, err) // except rooms: one that is gone stays until a restart
		}
	}
}

// another returns a value other than the current one of a key.
func another(t *testing.T, c *config.Config, key string) string {
	v := valueOf(t, c, key)
	switch {
	case v.Kind() == reflect.Bool:
		return fmt.Sprint(!v.Bool())
	case v.CanInt():
		return fmt.Sprint(v.Int() + 1)
	case v.CanFloat():
		return fmt.Sprint(v.Float()*1.25 + 0.125)
	}
	return "another"
}

// valueOf returns the value of a key.
func valueOf(t *testing.T, c *config.Config, key string) reflect.Value {
	v := reflect.ValueOf(c).Elem()
	for part := range strings.SplitSeq(key, ".") {
		if v = member(v, part); !v.IsValid() {
			t.Fatalf("there is no key %s", key)
		}
	}
	return v
}

// member returns the member of a section that has the given name.
func member(section reflect.Value, name string) reflect.Value {
	for i := range section.NumField() {
		tag, options, _ := strings.Cut(section.Type().Field(i).Tag.Get("yaml"), ",")
		if tag == name && tag != "" {
			return section.Field(i)
		}
		if options == "inline" {
			if v := member(section.Field(i), name); v.IsValid() {
				return v
			}
		}
	}
	return reflect.Value{}
}

// changedTo returns the file with another value for a key.
func changedTo(t *testing.T, file, key, value string) string {
	var all map[string]any
	var to any
	if err := errors.Join(yaml.Unmarshal([]byte(file), &all), yaml.Unmarshal([]byte(value), &to)); err != nil {
		t.Fatal(err)
	}
	if key == "executive.llm.engines" { // engines in a list replace the single one beside them
		all = nil
	}
	if all == nil {
		all = make(map[string]any)
	}
	if strings.HasPrefix(key, "cluster.") || strings.HasPrefix(key, "bus.cluster.") { // which needs all of these
		all["store"] = map[string]any{"url": "postgres://localhost:9/earshot"}
		all["bus"] = map[string]any{"listen": "127.0.0.1:1", "cluster": map[string]any{"listen": "127.0.0.1:2", "servers": []any{"localhost:2"}}}
	}
	at := all
	parts := strings.Split(key, ".")
	for _, part := range parts[:len(parts)-1] {
		next, _ := at[part].(map[string]any)
		if next == nil {
			next = make(map[string]any)
			at[part] = next
		}
		at = next
	}
	at[parts[len(parts)-1]] = to
	data, err := yaml.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestReloadRunningTurn: a reply that is being said is said to its end by the model that began it,
// where it began, although both change meanwhile. The next reply is the new model's.
func TestReloadRunningTurn(t *testing.T) {
	r := renovated(t, false)
	model := func(name, reply string) string {
		file := filepath.Join(filepath.Dir(r.file), name)
		if err := os.WriteFile(file, []byte("every_seconds: 0.02\nreply: "+reply+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return "executive: {llm: {provider: script, model: \"\", host: \"\", script: " + file + "}}\n"
	}
	const long = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
	r.write(model("first.yaml", long))
	if _, err := r.reload(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	board := &testkit.Voice{Called: "board", Flow: true}
	defer r.deskRoom().Enter(board, r.Audience())()
	say := func(text earshot.Text) {
		if err := r.Admit(t.Context(), earshot.Event{From: r.options.Account, Via: "board", Body: earshot.Message{Text: text}}); err != nil {
			t.Fatal(err)
		}
	}
	say("count")
	testkit.Await(t, soon, "the first words", func() bool { return strings.Contains(board.Played(), "two") })
	r.write(model("second.yaml", "done") + "outlets: {loudspeaker: {volume: 0.1}}\nproviders: {microphone: {device: elsewhere}}\n" +
		"external_actors: {actors: [{actor_id: bob}]}\nagents: [{name: Scout}]\nrooms: [{id: kitchen}]\nlog: {level: debug}\n")
	if _, err := r.reload(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(board.Played(), "fifteen") {
		t.Log("it was said before the configuration was read") // happens on a very slow machine
	}
	testkit.Await(t, soon, "the end of the reply", func() bool { return strings.Contains(board.Played(), long) })
	say("count again")
	testkit.Await(t, soon, "the other model", func() bool { return strings.HasSuffix(strings.TrimSpace(board.Played()), "done") })
	if _, known := r.people.Find("bob"); !known {
		t.Error("nobody knows Bob")
	}
	if a, known := r.people.Find("Scout"); !known || a.Type != participants.Internal {
		t.Error("there is no Scout")
	}
	if _, there := r.rooms.Find("kitchen"); !there {
		t.Error("there is no kitchen")
	}
}

// TestReloadModel: the state says which of the current models work, and nothing about earlier ones.
func TestReloadModel(t *testing.T) {
	r := renovated(t, false)
	file := filepath.Join(filepath.Dir(r.file), "model.yaml")
	if err := os.WriteFile(file, []byte("reply: well\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	set := func(text string) {
		t.Helper()
		r.write(text)
		if _, err := r.reload(t.Context(), true); err != nil {
			t.Fatal(err)
		}
	}
	works := func(want ...string) {
		t.Helper()
		if got := r.deskRoom().State(r.Audience()); len(got.Faults) > 0 || !slices.Equal(got.Works, want) {
			t.Errorf("%q works and %v does not, want %q and nothing", got.Works, got.Faults, want)
		}
	}
	scripted := "executive: {llm: {provider: script, model: \"\", host: \"\", script: " + file + "}}\n"
	set(scripted)
	works("script")
	unreachable := func() { // it was checked, though nobody has asked it anything
		t.Helper()
		if got := r.deskRoom().State(r.Audience()); len(got.Works) > 0 || len(got.Faults) != 1 || !strings.HasPrefix(got.Faults[0].Text, "model: openai at 127.0.0.1:1: unreachable") {
			t.Errorf("%q works and %v does not", got.Works, got.Faults)
		}
	}
	const away = "executive: {llm: {provider: openai, host: \"127.0.0.1:1\", model: %s}}\n"
	set(fmt.Sprintf(away, "small"))
	unreachable()
	set(fmt.Sprintf(away, "large"))
	unreachable()
	board := &testkit.Voice{Called: "board", Flow: true}
	defer r.deskRoom().Enter(board, r.Audience())()
	if err := r.Admit(t.Context(), earshot.Event{From: r.options.Account, Via: "board", Body: earshot.Message{Text: "hello"}}); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, soon, "a fault of the model, in the words of who asked it", func() bool {
		is := r.deskRoom().State(r.Audience())
		return len(is.Works) == 0 && len(is.Faults) == 1 && is.Faults[0].Key == "model" && !strings.HasPrefix(is.Faults[0].Text, "model: ")
	})
	set(scripted)
	works("script")
}

// TestReloadRooms: a new name and new members of a room take effect at once. A room that is removed
// stays until a restart.
func TestReloadRooms(t *testing.T) {
	r := renovated(t, false)
	step := func(text string) api.ReloadResult {
		t.Helper()
		r.write(r.base + "\n" + text)
		is, err := r.reload(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	const people = "external_actors: {actors: [{actor_id: bob}, {actor_id: eve}]}\n"
	enters := func(name string) error {
		_, _, err := r.gate.Identify(t.Context(), earshot.Handle{Provider: "console", ID: "1"}, claimed(name, "den"))
		return err
	}
	step(people + "rooms: [{id: den, actors: [bob]}]")
	if enters("bob") != nil || enters("eve") == nil {
		t.Errorf("Bob: %v, Eve: %v", enters("bob"), enters("eve"))
	}
	p, around, err := r.gate.Identify(t.Context(), earshot.Handle{Provider: "console", ID: "1"}, claimed("bob", "den"))
	if err != nil {
		t.Fatal(err)
	}
	bob := principal(p, around)
	if err := (backend{r.Daemon}).Recheck(bob); err != nil {
		t.Errorf("Bob may not stay: %v", err)
	}
	step(people + "rooms: [{id: den, name: The den, actors: [eve]}]")
	if enters("bob") == nil || enters("eve") != nil {
		t.Errorf("now Bob: %v, Eve: %v", enters("bob"), enters("eve"))
	}
	if (backend{r.Daemon}).Recheck(bob) == nil {
		t.Error("Bob stays")
	}
	if c, _ := r.rooms.Find("den"); c.Is.Name != "The den" {
		t.Errorf("it is called %q", c.Is.Name)
	}
	if is := step(people); !slices.Equal(is.Waiting, []string{"rooms"}) || enters("eve") != nil {
		t.Errorf("the room is gone: %+v, %v", is, enters("eve"))
	}
	if is := step(people + "rooms: [{id: den, name: The den, actors: [eve]}]"); len(is.Waiting) > 0 {
		t.Errorf("it is back: %+v", is)
	}
	step("")
	if _, known := r.people.Find("bob"); known {
		t.Error("Bob is known still")
	}
	if (backend{r.Daemon}).Recheck(bob) == nil {
		t.Error("Bob stays who is not known")
	}
	guest := principal(participants.Participant{ID: "guest_1"}, around) // was let in as a guest, and has become somebody else
	if err := (backend{r.Daemon}).Recheck(guest); err != nil {
		t.Errorf("who was a guest may not stay: %v", err)
	}
}

// TestReloadOwner: the owner of the account cannot change while earshot runs, and the change is
// said to wait.
func TestReloadOwner(t *testing.T) {
	r := renovated(t, false)
	r.write(r.base + "\nexternal_actors: {actors: [{actor_id: carol, handles: [\"console:1\"]}]}")
	is, err := r.reload(t.Context(), true)
	if err != nil || !slices.Equal(is.Waiting, []string{"external_actors.actors"}) || r.people.Resolve(r.options.Account).ID != r.owner.ID {
		t.Errorf("%+v, %v", is, err)
	}
}

// TestReloadFaults: all faults are reported, once, and change nothing.
func TestReloadFaults(t *testing.T) {
	r := renovated(t, false)
	board := &testkit.Voice{Called: "board"}
	defer r.deskRoom().Enter(board, r.Audience())()
	before := r.Config()
	for range 3 {
		r.write(r.base + "\nlog: {level: loud}\nstore: {directory: here}\nspeakers: {sure: 7}\n")
		if _, err := r.reload(t.Context(), false); err == nil {
			t.Fatal("it was taken")
		}
	}
	notices := func() (all []string) {
		for _, e := range board.Shown() {
			if n, ok := e.Body.(earshot.Notice); ok {
				all = append(all, n.Text)
			}
		}
		return all
	}
	if got := notices(); len(got) != 2 || got[0] != "the configuration has 3 faults, so the previous one stays in effect" ||
		strings.Count(got[1], "\n") != 2 || !strings.Contains(got[1], "log.level") || !strings.Contains(got[1], "store.directory") || !strings.Contains(got[1], "speakers.sure") {
		t.Errorf("it was told %q", got)
	}
	if r.Config() != before {
		t.Error("something has changed")
	}
	if faults := r.deskRoom().State(r.Audience()).Faults; len(faults) != 1 || faults[0].Key != configuration {
		t.Errorf("the faults are %+v", faults)
	}
	r.write(r.base + "\nlog: {level: warn}\nserver: {socket: /nowhere/socket}\n")
	if _, err := r.reload(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	r.write(r.base + "\nlog: {level: error}\nserver: {socket: /nowhere/socket}\n")
	if _, err := r.reload(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	got := notices()[2:]
	if want := []string{
		"Configuration reloaded: log.level applies now; server.socket applies after a restart.",
		"Configuration reloaded: log.level applies now.",
	}; !slices.Equal(got, want) {
		t.Errorf("it was told %q, want %q", got, want)
	}
	if faults := r.deskRoom().State(r.Audience()).Faults; len(faults) != 0 {
		t.Errorf("the faults are %+v", faults)
	}
}

// TestRenewalInWords: the summary says that a part follows the configuration and not that it
// starts, since it may be off.
func TestRenewalInWords(t *testing.T) {
	for _, tt := range []struct {
		keys, begins, waits []string
		want                string
	}{
		{want: "nothing has changed."},
		{keys: []string{"speakers.sure"}, want: "speakers.sure applies now."},
		{keys: []string{"server.listen"}, begins: []string{apiSection}, want: "the API follows it now."},
		{keys: []string{"providers.webcam.enabled"}, begins: []string{camerasSection}, want: "the cameras follow it now."},
		{keys: []string{"rooms"}, begins: []string{satellitesSection}, want: "the satellites follow it now."},
		{
			keys: []string{"executive.name", "executive.llm.model", "store.directory"}, begins: []string{microphoneSection, discordSection}, waits: []string{"store.directory"},
			want: "executive.llm.model applies now; the microphone, Discord follow it now; store.directory applies after a restart.",
		},
	} {
		is := api.ReloadResult{Begins: tt.begins, Waiting: tt.waits}
		for _, key := range tt.keys {
			is.Changes = append(is.Changes, api.SettingChange{Key: key})
		}
		if got := ReloadText(is); got != "Configuration reloaded: "+tt.want {
			t.Errorf("%v: %s", tt.keys, got)
		}
	}
}

// TestReloadAlways: whatever is written in any order, the last valid configuration is in effect.
func TestReloadAlways(t *testing.T) {
	r := renovated(t, false)
	levels := []string{"debug", "info", "warn", "error", "loud", "1"}
	names := []string{"Earshot", "Bob", "Ann-Marie", "", "System"}
	rapid.Check(t, func(t *rapid.T) {
		var last *config.Config
		for range rapid.IntRange(1, 6).Draw(t, "edits") {
			text := fmt.Sprintf("log: {level: %s}\nexecutive: {name: %q, llm: {name: scripted, provider: openai, host: http://localhost:9, model: m%d}, reasoning: {temperature: %v}}\n",
				rapid.SampledFrom(levels).Draw(t, "level"), rapid.SampledFrom(names).Draw(t, "name"),
				rapid.IntRange(1, 3).Draw(t, "model"), rapid.Float64Range(0, 2.5).Draw(t, "temperature"))
			if n := rapid.IntRange(0, 3).Draw(t, "actors"); n > 0 {
				text += fmt.Sprintf("external_actors: {actors: [{actor_id: actor%d, display_name: %q}]}\n", n, rapid.SampledFrom([]string{"Zoe", "Earshot", "Max"}).Draw(t, "display"))
			}
			if rapid.IntRange(0, 9).Draw(t, "whole") == 0 {
				text = text[:len(text)/2]
			}
			r.write(text)
			wanted, wrong := r.load()
			_, err := r.reload(context.Background(), rapid.Bool().Draw(t, "asked"))
			if (err != nil) != (wrong != nil) {
				t.Fatalf("%s\nread with %v, and taken with %v", text, wrong, err)
			}
			if wrong == nil {
				last = wanted
			}
			if last == nil {
				continue
			}
			for _, c := range r.Config().Changes(last) {
				if c.Class != config.Restart {
					t.Fatalf("%s is another than in the last one that was right", c.Key)
				}
			}
			if name := r.people.Name(participants.Agent); name != last.Executive.Name {
				t.Fatalf("the agent is called %q, and not %q", name, last.Executive.Name)
			}
		}
	})
}

// TestReloadEdits: a hundred edits in a row, some of them faulty, end with the last one, even if
// others read the file, too.
func TestReloadEdits(t *testing.T) {
	r := renovated(t, true)
	ctx, stop := context.WithCancel(t.Context())
	var rest sync.WaitGroup
	defer testkit.Finish(t, testkit.Patience, "who reads the configuration as well", rest.Wait)
	defer stop()
	rest.Go(func() {
		for ctx.Err() == nil {
			_, _ = r.reload(ctx, true)
		}
	})
	for round := range 3 {
		for edit := range 100 {
			text := fmt.Sprintf("%s\nspeakers: {sure: 0.%d}\nrooms: [{id: kitchen, name: edit %d}]\n", r.base, 50+edit%50, edit)
			if edit%3 == 1 {
				text = strings.Repeat("}", edit)
			}
			if edit%5 == 0 { // as an editor does
				beside := r.file + ".new"
				if err := errors.Join(os.WriteFile(beside, []byte(text), 0o600), os.Rename(beside, r.file)); err != nil {
					t.Fatal(err)
				}
				continue
			}
			r.write(text)
		}
		last := fmt.Sprintf("round %d", round)
		r.write(r.base + "\nspeakers: {sure: 0.875}\nrooms: [{id: kitchen, name: " + last + "}]\n")
		testkit.Await(t, soon, last, func() bool {
			c, there := r.rooms.Find("kitchen")
			return there && c.Is.Name == last && r.Config().Speakers.Sure == 0.875
		})
	}
}

// TestSections: a part is started again if it is made of something else, and goes on if it is made
// of the same. A part that is left out ends.
func TestSections(t *testing.T) {
	d := inhabited(t, t.TempDir())
	defer d.Close()
	var mu sync.Mutex
	begun, lives := make(map[string]int), make(map[string]bool)
	made := map[string]any{"a": 1, "b": 1}
	var rested int
	s := &section.Section{
		Name: "test",
		Build: func(context.Context) (is section.Build) {
			mu.Lock()
			defer mu.Unlock()
			for _, name := range slices.Sorted(maps.Keys(made)) {
				is.Parts = append(is.Parts, section.Part{Name: name, Key: made[name], Run: func(ctx context.Context) error {
					mu.Lock()
					begun[name]++
					lives[name] = true
					mu.Unlock()
					<-ctx.Done()
					mu.Lock()
					delete(lives, name)
					mu.Unlock()
					return nil
				}})
				is.Findings = append(is.Findings, api.CheckResult{Thing: name, Works: name != "c", Text: "it is missing"})
			}
			return is
		},
		AwaitRest: func(context.Context) { mu.Lock(); rested++; mu.Unlock() },
	}
	d.sections.Install(t.Context(), s)
	stop := func() {}
	defer func() { stop() }()
	await := func(what string, want map[string]int) {
		t.Helper()
		testkit.Await(t, soon, what, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return maps.Equal(begun, want) && len(lives) == len(made)
		})
	}
	stop = runs(t, d)
	await("the beginning", map[string]int{"a": 1, "b": 1})
	set := func(to map[string]any) {
		mu.Lock()
		made = to
		mu.Unlock()
		if !d.sections.Rebuild("test") {
			t.Error("there is no such section")
		}
	}
	set(map[string]any{"a": 1, "b": 2})
	await("another b", map[string]int{"a": 1, "b": 2})
	set(map[string]any{"a": 1, "c": 1})
	await("c instead of b", map[string]int{"a": 1, "b": 2, "c": 1})
	testkit.Await(t, soon, "a notice", func() bool {
		faults := d.deskRoom().State(d.Audience()).Faults
		return len(faults) == 1 && faults[0].Key == "c" && faults[0].Text == "c: it is missing"
	})
	set(map[string]any{"a": 1})
	await("nothing but a", map[string]int{"a": 1, "b": 2, "c": 1})
	testkit.Await(t, soon, "no notice", func() bool { return len(d.deskRoom().State(d.Audience()).Faults) == 0 })
	testkit.Await(t, soon, "nothing but a to work", func() bool { return slices.Equal(d.working(), []string{"a"}) }) // which is recorded last
	if d.sections.Rebuild("nothing") {
		t.Error("there is a section of nothing")
	}
	stop()
	stop = func() {}
	if len(lives) > 0 || rested != 3 {
		t.Errorf("%v run at the end, and it was waited %d times", lives, rested)
	}
}

// claimed returns the claim of somebody who wants to enter a room.
func claimed(name string, room earshot.RoomID) server.Claim {
	return server.Claim{Name: name, Room: room, New: true}
}

// principal returns somebody who was let in.
func principal(p participants.Participant, around earshot.Audience) server.Principal {
	return server.Principal{Participant: p, Audience: around}
}

// TestReloadNoPlaceForALog: if the new log cannot be opened, the log stays where it is, and nothing
// else changes either.
func TestReloadNoPlaceForALog(t *testing.T) {
	r := renovated(t, false)
	board := &testkit.Voice{Called: "board"}
	defer r.deskRoom().Enter(board, r.Audience())()
	dir := filepath.Dir(r.file)
	had, pipe := filepath.Join(dir, "had.log"), filepath.Join(dir, "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	log, book, err := logfile.Open(logfile.Config{File: had, Level: "info"}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	r.options.LogFile = book
	before := r.Config()
	r.write(r.base + "\nlog: {file: " + pipe + "}\nspeakers: {sure: 0.9}\n")
	if _, err := r.reload(t.Context(), false); err == nil || !strings.Contains(err.Error(), pipe+" is a named pipe") {
		t.Errorf("it was taken: %v", err)
	}
	if r.Config() != before {
		t.Error("something has changed")
	}
	if faults := r.deskRoom().State(r.Audience()).Faults; len(faults) != 1 || faults[0].Key != configuration || !strings.Contains(faults[0].Cure, "log.file") {
		t.Errorf("the faults are %+v", faults)
	}
	log.Info("still here")
	if data, err := os.ReadFile(had); err != nil || !strings.Contains(string(data), "still here") {
		t.Errorf("the log is %q, %v", data, err)
	}
}
