package main

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"earshot"
	"earshot/api"
	"earshot/daemon/erase"
	"earshot/internal/testkit"
	"earshot/models/voiceprint"
	"earshot/server/client"
	"earshot/speakers"
	"earshot/store"
)

// household configures two people who may have tools used and may read the memory.
const household = `external_actors:
  actors:
  - {actor_id: ann, display_name: Ann, capabilities: [use_tools, read_memory]}
  - {actor_id: bob, display_name: Bob, capabilities: [use_tools, read_memory]}
`

// sailor is a model that repeats what Ann said in everything that it does for her.
const sailor = `every_seconds: 0
reply: Well.
rules:
- {agent: Earshot, when: zanzibar and write, calls: [{tool: write_file, arguments: {path: zanzibar.txt, content: "Zanzibar by boat\n"}}]}
- {agent: Earshot, when: zanzibar to the list, calls: [{tool: write_file, arguments: {path: list.txt, content: "a map of Zanzibar\n", append: true}}]}
- {agent: Earshot, when: bread to the list, calls: [{tool: write_file, arguments: {path: list.txt, content: "bread\n", append: true}}]}
- {agent: Earshot, when: zanzibar in mind, calls: [{tool: note, arguments: {text: "they sail to Zanzibar"}}]}
- {agent: Earshot, when: look zanzibar up, calls: [{tool: recall, arguments: {query: zanzibar}}]}
- {agent: Earshot, when: remind me of zanzibar, calls: [{tool: remind, arguments: {action: set, text: "pack for Zanzibar", in_seconds: 9000}}]}
- {agent: Earshot, when: zanzibar, result: "", reply: "Done, to Zanzibar."}
- {agent: Earshot, result: "", reply: "Done."}
- {when: zanzibar, reply: "Zanzibar it is, then."}
- {for: thought, when: zanzibar, reply: "they mean Zanzibar, surely"}
`

// leftIn returns the files below folder that contain word in any encoding, or in their name.
func (h *home) leftIn(folder, word string) (files []string) {
	for name, data := range h.files() {
		data = strings.ToLower(data)
		if strings.HasPrefix(name, folder) && (slices.ContainsFunc(testkit.Forms(word), func(form string) bool { return strings.Contains(data, form) }) ||
			strings.Contains(strings.ToLower(name), word)) {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return files
}

// journal returns all events of the journal, by ID.
func (h *home) journal() map[earshot.EventID]earshot.Event {
	h.t.Helper()
	archive, err := store.OpenReader(h.t.Context(), store.Config{Directory: filepath.Join(h.dir, "state/earshot/journal")})
	if err != nil {
		h.t.Fatal(err)
	}
	defer archive.Close()
	all := make(map[earshot.EventID]earshot.Event)
	for e, err := range archive.Export(h.t.Context()) {
		if err != nil {
			h.t.Fatal(err)
		}
		all[e.ID] = e
	}
	return all
}

// says lets somebody say something.
func (h *home) says(t *testing.T, who, text string) {
	t.Helper()
	if r := h.earshot(nil, "say", "--identity", who, text); r.code != success {
		t.Fatalf("%s could not say %q: %s", who, text, r.err)
	}
}

// seeded writes into the journal, and the files beside it, what comes from ears and from Discord:
// Ann talks of Zanzibar, and Bob of other things.
func (h *home) seeded() {
	h.t.Helper()
	ctx, journal := h.t.Context(), filepath.Join(h.dir, "state/earshot/journal")
	s, err := store.Open(ctx, store.Config{Directory: journal, Log: quietly})
	if err != nil {
		h.t.Fatal(err)
	}
	book, err := speakers.Open(journal, speakers.DefaultConfig())
	if err != nil {
		h.t.Fatal(err)
	}
	at := time.Now().Add(-time.Hour)
	var all []earshot.Event
	event := func(id string, by earshot.ParticipantID, body earshot.Body, sources ...earshot.EventID) {
		all = append(all, earshot.Event{
			ID: earshot.EventID(id), At: at, Room: earshot.Desk, From: earshot.Handle{Provider: "microphone", ID: "desk"}, Author: by,
			Visibility: earshot.Visibility{Scope: earshot.Public}, Sources: sources, Body: body,
		})
	}
	var posts strings.Builder
	heard := make(map[string][]float32) // the print that was kept of each person
	for i, who := range []string{"ann", "bob"} {
		word := earshot.Text([]string{"Zanzibar", "bread"}[i])
		id := func(what string) earshot.EventID { return earshot.EventID("seed-" + who + "-" + what) }
		var is speakers.Judgement
		for n := range 8 {
			at = at.Add(10 * time.Second)
			is = book.Whose(sung(who, n), at)
		}
		if _, err := book.Enrol(earshot.ParticipantID(who), speakers.Attestation{By: earshot.ParticipantID(who), At: at}, is.Speaker); err != nil {
			h.t.Fatal(err)
		}
		heard[who] = h.print(slices.Collect(maps.Values(heard))...)
		said := func(what string, by earshot.ParticipantID) {
			event(string(id(what)), by, earshot.Utterance{Text: "I told you of " + word, Confidence: 0.9, Lasted: time.Second, Speaker: is.Speaker, Sure: 0.9})
		}
		said("said", earshot.ParticipantID(who))
		said("doubted", "")
		event(string(id("whose")), "", earshot.Attribution{Of: id("doubted"), Speaker: is.Speaker, Author: earshot.ParticipantID(who), Sure: 0.99}, id("doubted"))
		event(string(id("decision")), "agent", earshot.Decision{About: id("said"), Agent: "agent", Verdict: earshot.Speak, Reasons: []string{"it is about " + string(word)}, Turn: earshot.TurnID("turn-" + who)}, id("said"))
		event(string(id("thought")), "agent", earshot.Thought{Cause: "novelty", Text: word + ", again", Outcome: earshot.Completed}, id("said"))
		event(string(id("finding")), "agent", earshot.Finding{Thought: id("thought"), Text: word + " matters", Confidence: 0.9, Until: at.Add(9 * time.Hour)}, id("thought"))
		event(string(id("reply")), "agent", earshot.Reply{Turn: earshot.TurnID("turn-" + who), About: id("said"), Outcome: earshot.Completed, Offered: word + "!", Heard: []earshot.Delivery{{Outlet: "discord", Bytes: 3}}}, id("said"))
		event(string(id("edit")), "agent", earshot.Edit{Act: earshot.Created, Field: "topics", Item: "t-" + who, Text: "they talk of " + word}, id("finding"))
		event(string(id("edit-own")), earshot.ParticipantID(who), earshot.Edit{Act: earshot.Created, Field: "topics", Item: "u-" + who, Text: "mine is " + word})
		event(string(id("file")), earshot.ParticipantID(who), earshot.Message{Text: "see", Attachments: []earshot.Attachment{{Name: word + ".pdf"}}})
		event(string(id("written")), earshot.ParticipantID(who), earshot.Message{Text: "to be changed: " + word})
		event(string(id("revision")), earshot.ParticipantID(who), earshot.Revision{Of: id("written"), Text: "changed: " + word}, id("written"))
		fmt.Fprintf(&posts, `{"message":%d,"room":"discord:1","turn":"turn-%s"}`+"\n", 1000+i, who)
	}
	if _, err := s.Append(ctx, all...); err != nil {
		h.t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		h.t.Fatal(err)
	}
	h.write("state/earshot/journal/discord.jsonl", posts.String())
	prints, err := json.Marshal(heard)
	if err != nil {
		h.t.Fatal(err)
	}
	h.write("prints.json", string(prints))
	if there := h.voices(); !there["ann"] || !there["bob"] {
		h.t.Fatalf("what they sound like is kept so: %v", there)
	}
}

// sung returns the voice of somebody, a little different each time.
func sung(who string, n int) *earshot.Voice {
	v := &earshot.Voice{Heard: 3 * time.Second, Print: make([]float32, voiceprint.Size), Channel: "desk"}
	person, luck := rand.New(rand.NewPCG(uint64(who[0]), uint64(who[1]))), rand.New(rand.NewPCG(uint64(who[0]), uint64(n)))
	for i := range v.Print {
		v.Print[i] = float32(person.NormFloat64() + 0.2*luck.NormFloat64())
	}
	return v
}

// print returns the voice print that is kept and not one of others.
func (h *home) print(others ...[]float32) []float32 {
	h.t.Helper()
	for _, row := range regexp.MustCompile(`"numbers":\s*"([^"]*)"`).FindAllStringSubmatch(h.read("state/earshot/journal/voices.json"), -1) {
		data, err := base64.StdEncoding.DecodeString(row[1])
		if err != nil {
			h.t.Fatal(err)
		}
		p := make([]float32, len(data)/4)
		for i := range p {
			p[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
		if !slices.ContainsFunc(others, func(o []float32) bool { return slices.Equal(o, p) }) {
			return p
		}
	}
	h.t.Fatal("no print is kept")
	return nil
}

// voices says for Ann and for Bob whether their voice print is in any file.
func (h *home) voices() map[string]bool {
	h.t.Helper()
	var heard map[string][]float32
	if err := json.Unmarshal([]byte(h.read("prints.json")), &heard); err != nil {
		h.t.Fatal(err)
	}
	there := make(map[string]bool)
	for name, data := range h.files() {
		for who, p := range heard {
			there[who] = there[who] || name != "/prints.json" && slices.ContainsFunc(traces([][]float32{p}), func(trace string) bool { return strings.Contains(data, trace) })
		}
	}
	return there
}

// planted fills a household in which Ann has talked of Zanzibar in every possible way, and Bob and
// a guest called Quillfeather of other things. It returns the daemon.
func planted(t *testing.T, h *home) *process {
	t.Helper()
	h.write("config/earshot/config.yaml", household)
	h.scripted(sailor)
	d := h.daemon()
	h.says(t, "Bob", "Earshot, add bread to the list") // said first, so that its prompt contains nothing of Ann's
	d.end(syscall.SIGTERM)
	h.seeded()
	d = h.daemon()
	for _, says := range [][2]string{
		{"Quillfeather", "I mend clocks"},
		{"Ann", "we sail to Zanzibar in may"},
		{"Ann", "Earshot, think of zanzibar and write it down"},
		{"Ann", "Earshot, add zanzibar to the list"},
		{"Ann", "Earshot, keep zanzibar in mind"},
		{"Ann", "Earshot, look zanzibar up"},
		{"Ann", "Earshot, remind me of zanzibar"},
		{"Bob", "Earshot, add bread to the list"},
		{"Bob", "Earshot, how are you?"},
	} {
		h.says(t, says[0], says[1])
	}
	for _, c := range [][2]string{{"note", "Zanzibar has cloves"}, {"msg", "Bob zanzibar is a secret"}, {"think", "is zanzibar far?"}} {
		ann := h.client()
		ann.Identity = "Ann"
		if _, err := ann.Do(t.Context(), c[0], earshot.Text(c[1])); err != nil {
			t.Fatalf("/%s: %v", c[0], err)
		}
	}
	guest := h.client()
	guest.Identity = "Quillfeather"
	if _, err := guest.Do(t.Context(), "note", "clocks are late"); err != nil {
		t.Fatal(err)
	}
	bob := h.client()
	bob.Identity = "Bob"
	if _, err := bob.Do(t.Context(), "msg", "Ann Zanzibar is warm"); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, soon, "what was thought about it", func() bool {
		for _, e := range h.journal() {
			if th, is := e.Body.(earshot.Thought); is && th.Outcome == earshot.Completed {
				return true
			}
		}
		return false
	})
	h.write("state/earshot/journal/earshot.db.damaged-20260102T030405Z", "what could not be read of zanzibar")
	h.write("state/earshot/journal/earshot.db.replaced-20260102T030405Z", "of zanzibar, before")
	h.write("state/earshot/journal/voices.json.damaged-20260102T030405Z", "zanzibar")
	return d
}

// TestForgetSomebody: somebody is forgotten while the daemon runs and another process reads the
// journal. Afterwards no file holds a byte of what they said or of what was made of it, and every
// byte of what others said is still there.
func TestForgetSomebody(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	d := planted(t, h)
	reader, err := store.OpenReader(t.Context(), store.Config{Directory: filepath.Join(h.dir, "state/earshot/journal")})
	if err != nil {
		t.Fatal(err)
	}
	before := h.journal()
	for _, name := range []string{"earshot.db", "earshot.db-wal", "list.txt", "zanzibar.txt", "earshot.db.damaged", "earshot.db.replaced", "voices.json.damaged"} {
		if !slices.ContainsFunc(h.leftIn("/state", "zanzibar"), func(file string) bool { return strings.Contains(file, name) }) {
			t.Errorf("it is not in %s before: the test looks in the wrong way", name)
		}
	}
	if r := h.earshot(nil, "search", "zanzibar"); r.code != success || !strings.Contains(r.out, "Zanzibar") {
		t.Errorf("it is not found before: %s%s", r.out, r.err)
	}
	var p api.ErasePreview
	r := h.earshot(nil, "forget", "Ann", "--dry-run", "--json")
	if err := json.Unmarshal([]byte(r.out), &p); err != nil || r.code != success {
		t.Fatalf("%v: %s%s", err, r.out, r.err)
	}
	for _, kind := range []earshot.Kind{earshot.KindMessage, earshot.KindReply, earshot.KindMemo, earshot.KindUse, earshot.KindDecision, earshot.KindReminder, earshot.KindThought,
		earshot.KindUtterance, earshot.KindWhose, earshot.KindFinding, earshot.KindEdit, earshot.KindRevision} {
		if p.Kinds[kind] == 0 {
			t.Errorf("of the kind %s nothing would go: %v", kind, p.Kinds)
		}
	}
	if p.Others == 0 || len(p.Aside) != 3 || p.Voices != 1 || p.Files != 2 {
		t.Errorf("the prospect is %+v", p)
	}
	if r := h.earshot(nil, "forget", "Ann"); r.code != misused || !strings.Contains(r.err, "--yes") {
		t.Errorf("nobody could be asked, and it ended with %d: %s", r.code, r.err)
	}
	h.unchanged(t, before)
	if r := h.earshot(nil, "forget", "Ann", "--yes"); r.code != success || !strings.Contains(r.out, "Forgotten: ") {
		t.Fatalf("forget ended with %d: %s%s", r.code, r.out, r.err)
	}
	h.without(t, "zanzibar", before)
	if r := h.earshot(nil, "search", "zanzibar"); strings.Contains(strings.ToLower(r.out), "zanzibar") {
		t.Errorf("it is found: %s", r.out)
	}
	if r := h.earshot(nil, "search", "bread"); !strings.Contains(r.out, "I told you of bread") {
		t.Errorf("what Bob said is not found: %s%s", r.out, r.err)
	}
	// What Bob added later was made from a prompt that contained Ann's words.
	if got := h.read("state/earshot/workspaces/owner/agent/earshot/list.txt"); got != "bread\n" {
		t.Errorf("the list is %q", got)
	}
	for _, e := range before {
		if m, is := e.Body.(earshot.Message); is && e.Author == "bob" && e.Visibility.Scope == earshot.Public && !same(h.journal()[e.ID], e) {
			t.Errorf("%s is not there any more, which Bob wrote", m.Text)
		}
	}
	if r := h.earshot(nil, "say", "--identity", "Ann", "hello again"); r.code != success {
		t.Errorf("Ann is not known any more: %s", r.err)
	}
	if r := h.earshot(nil, "forget", "Quillfeather", "--yes"); r.code != success {
		t.Fatalf("forget ended with %d: %s%s", r.code, r.out, r.err)
	}
	for _, folder := range below {
		if left := h.leftIn(folder, "quillfeather"); len(left) > 0 {
			t.Errorf("the name of somebody who is forgotten is left in %q", left)
		}
	}
	// Closing a file gives up all locks that the process holds on it. If this process read and
	// closed files while the reader is open, the daemon would take the reader for gone, and remove
	// the files that it reads.
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
	d.end(syscall.SIGTERM)
	h.without(t, "zanzibar", before)
	h.daemon().end(syscall.SIGTERM)
	h.without(t, "zanzibar", before)
	if out := d.out.String(); strings.Contains(strings.ToLower(out), "zanzibar") {
		t.Errorf("the daemon printed it:\n%s", out)
	}
}

// below are the folders below the home in which something may be kept.
var below = []string{"/state", "/data", "/cache", "/run"}

// unchanged checks that all earlier events are as before, whatever has come since.
func (h *home) unchanged(t *testing.T, before map[earshot.EventID]earshot.Event) {
	t.Helper()
	after := h.journal()
	for id, e := range before {
		if !same(e, after[id]) {
			t.Errorf("%s is otherwise, although nothing was forgotten", id)
		}
	}
}

// same reports whether two events are equal, to the last byte.
func same(a, b earshot.Event) bool {
	x, bad := json.Marshal(a)
	y, worse := json.Marshal(b)
	return bad == nil && worse == nil && string(x) == string(y)
}

// without checks that no file contains word, and that exactly what had to be erased is erased: what
// Ann said, what was for her alone, and what was made of something that is erased.
func (h *home) without(t *testing.T, word string, before map[earshot.EventID]earshot.Event) {
	t.Helper()
	for _, folder := range below {
		if left := h.leftIn(folder, word); len(left) > 0 {
			t.Errorf("%s is left in %q", word, left)
		}
	}
	if there := h.voices(); there["ann"] || !there["bob"] {
		t.Errorf("what they sound like is kept so: %v", there)
	}
	if posts := h.read("state/earshot/journal/discord.jsonl"); strings.Contains(posts, "turn-ann") || !strings.Contains(posts, "turn-bob") {
		t.Errorf("of Discord it is known: %s", posts)
	}
	after := h.journal()
	for _, e := range after {
		if text, _ := json.Marshal(e); strings.Contains(strings.ToLower(string(text)), word) {
			t.Errorf("%s is in %s", word, text)
		}
	}
	for id, was := range before {
		is := after[id]
		erased := is.Body.Kind() == earshot.KindErased
		if _, is := was.Body.(earshot.Thought); is && slices.Equal(was.To, []earshot.ParticipantID{"ann"}) && !erased {
			t.Errorf("what Ann wanted to have thought about is there: %s", id)
		}
		made := slices.ContainsFunc(was.Sources, func(of earshot.EventID) bool { return after[of].Body.Kind() == earshot.KindErased })
		alone := was.Visibility.Scope == earshot.Private && slices.Contains(was.Visibility.Members, "ann")
		actor, _ := was.Body.(earshot.Actor)
		whose, _ := before["seed-ann-whose"].Body.(earshot.Attribution)
		theirs := whose.Of == id || was.Author == "ann" && was.Body.Kind() != earshot.KindMode || alone || slices.Contains(was.To, "ann") || strings.HasPrefix(string(was.Author), "p_") || strings.HasPrefix(string(actor.Participant), "p_")
		switch {
		case erased && !made && !theirs && was.Body.Kind() != earshot.KindErased:
			t.Errorf("%s is erased: %+v", id, was)
		case !erased && made:
			t.Errorf("%s was made of something that is erased: %+v", id, was)
		case !erased && !same(is, was):
			t.Errorf("%s is otherwise: %+v, and was %+v", id, is, was)
		}
	}
}

// forgettings returns how often forget is killed.
func forgettings() int {
	switch {
	case os.Getenv("EARSHOT_PROOF") != "":
		return 500
	case testing.Short():
		return 5
	}
	return 50
}

// TestForgetKilled kills forget at random moments. If it had begun, the next start finishes it, and
// nothing that others said is lost.
func TestForgetKilled(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	planted(t, h).end(syscall.SIGTERM)
	journal := filepath.Join(h.dir, "state/earshot/journal")
	before := h.journal()
	state := h.files()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 1))
	cut, finished := 0, 0
	for round := range forgettings() {
		if err := os.RemoveAll(filepath.Join(h.dir, "state")); err != nil {
			t.Fatal(err)
		}
		for name, data := range state {
			if strings.HasPrefix(name, "/state") {
				h.write(name, data)
			}
		}
		c := h.command("forget", "Ann", "--yes")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() { c.Wait(); close(done) }()
		wish := filepath.Join(journal, erase.RequestFile)
		within := time.Duration(chance.IntN(60)) * time.Millisecond
		if round%3 > 0 { // only after the request is on disk
			testkit.Await(t, soon, "it to begin", func() bool {
				_, err := os.Stat(wish)
				select {
				case <-done:
					return true
				default:
					return err == nil
				}
			})
			within /= 6
		}
		select {
		case <-done:
		case <-time.After(within):
		}
		c.Process.Signal(syscall.SIGKILL)
		testkit.Receive(t, testkit.Patience, "the end of the command that was killed", done)
		_, err := os.Stat(wish)
		begun := err == nil
		if begun {
			cut++
		}
		h.next(t, round)
		if _, err := os.Stat(wish); err == nil {
			t.Fatalf("round %d: it is not finished", round)
		}
		left := h.leftIn("/state", "zanzibar")
		for range 20 { // a command that has no time left to remove the last traces leaves them to the next
			if !begun || len(left) == 0 {
				break
			}
			h.next(t, 1)
			left = h.leftIn("/state", "zanzibar")
		}
		if len(left) == 0 {
			finished++
			h.without(t, "zanzibar", before)
		} else if begun {
			t.Fatalf("round %d: begun, and not finished: %q", round, left)
		} else {
			h.unchanged(t, before)
		}
	}
	t.Logf("%d were cut off in the middle, %d are forgotten", cut, finished)
}

// next starts earshot again: the daemon every tenth time, and otherwise a forget command that
// matches nothing.
func (h *home) next(t *testing.T, round int) {
	t.Helper()
	if round%10 > 0 {
		if r := h.earshot(nil, "forget", "Bob", "--since", "2001-01-01", "--until", "2001-01-02"); r.code != notFound {
			t.Fatalf("round %d: ended with %d: %s", round, r.code, r.err)
		}
		return
	}
	d := h.daemon()
	testkit.Await(t, soon, "it to be finished", func() bool {
		_, err := os.Stat(filepath.Join(h.dir, "state/earshot/journal", erase.RequestFile))
		return err != nil
	})
	d.end(syscall.SIGTERM)
}

// TestForgetRights: somebody who does not operate this earshot can erase what is theirs, and
// nothing else, and is told of no reply that they may not see.
func TestForgetRights(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	d := planted(t, h)
	defer d.end(syscall.SIGTERM)
	var bobs earshot.EventID
	for id, e := range h.journal() {
		if e.Author == "bob" && e.Body.Kind() == earshot.KindMessage && e.Visibility.Scope == earshot.Public {
			bobs = id
		}
	}
	ann := h.client()
	ann.Identity = "Ann"
	for _, tt := range []struct {
		name string
		f    api.EraseRequest
		want string // of the error; empty for none
	}{
		{"themselves", api.EraseRequest{Who: "me"}, ""},
		{"without a name it is themselves", api.EraseRequest{From: time.Now().Add(-time.Hour)}, ""},
		{"somebody else", api.EraseRequest{Who: "Bob"}, "operator of this earshot"},
		{"everything is their own", api.EraseRequest{Everything: true}, ""},
		{"nobody", api.EraseRequest{Who: "Nobody"}, "nobody is called"},
		{"an agent", api.EraseRequest{Who: "Earshot"}, "is an agent"},
		{"what was not shown", api.EraseRequest{Who: "me", Digest: "1-00000000"}, "since the preview was shown"},
		{"no digest", api.EraseRequest{Who: "me", Digest: "yes"}, "not one of a preview"},
		{"time backwards", api.EraseRequest{Who: "me", From: time.Now(), To: time.Now().Add(-time.Hour)}, "ends before"},
	} {
		p, err := ann.Forget(t.Context(), tt.f)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		if err == nil && (p.Done || p.Events == 0) {
			t.Errorf("%s: %+v", tt.name, p)
		}
	}
	p, err := ann.Forget(t.Context(), api.EraseRequest{Events: []earshot.EventID{bobs}})
	if err != nil || p.Events != 0 {
		t.Errorf("what Bob wrote: %+v, %v", p, err)
	}
	if p, err = ann.Forget(t.Context(), api.EraseRequest{Who: "me"}); err != nil {
		t.Fatal(err)
	}
	id := earshot.EventID(ulid.Make().String())
	if _, err := ann.Post(t.Context(), id, "one thing more"); err != nil {
		t.Fatal(err)
	}
	if p, err = ann.Forget(t.Context(), api.EraseRequest{Who: "me", Digest: p.Digest}); err != nil || !p.Done || p.Since == 0 {
		t.Errorf("%+v, %v", p, err)
	}
	if e := h.journal()[id]; e.Body.Kind() != earshot.KindErased {
		t.Errorf("what came after it was shown is %s", e.Body.Kind())
	}
}

// TestForgetAfterOneCutOff: an erasure that was cut off while the daemon runs is not lost when
// something else is forgotten: both are carried out.
func TestForgetAfterOneCutOff(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write("config/earshot/config.yaml", household)
	d := h.daemon()
	defer d.end(syscall.SIGTERM)
	ids := make(map[string]earshot.EventID)
	for _, who := range []string{"Ann", "Bob"} {
		c := h.client()
		c.Identity = who
		ids[who] = earshot.EventID(ulid.Make().String())
		if _, err := c.Post(t.Context(), ids[who], earshot.Text("I am "+who)); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Await(t, soon, "both to be on record", func() bool { return h.journal()[ids["Bob"]].ID != "" && h.journal()[ids["Ann"]].ID != "" })
	cut, err := json.Marshal(erase.Request{ID: "cut", At: time.Now(), Selection: store.Selection{Events: []earshot.EventID{ids["Ann"]}}})
	if err != nil {
		t.Fatal(err)
	}
	h.write("state/earshot/journal/"+erase.RequestFile, string(cut))
	if r := h.earshot(nil, "forget", "--id", string(ids["Bob"]), "--yes"); r.code != success {
		t.Fatalf("ended with %d: %s%s", r.code, r.out, r.err)
	}
	for who, id := range ids {
		if is := h.journal()[id].Body.Kind(); is != earshot.KindErased {
			t.Errorf("what %s said is %s", who, is)
		}
	}
}

// TestForgetInARoom: /forget first shows what would go, and erases it when the word that was shown
// is given, by the person to whom it was shown.
func TestForgetInARoom(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write("config/earshot/config.yaml", household)
	d := h.daemon()
	defer d.end(syscall.SIGTERM)
	as := func(who string) *client.Client {
		c := h.client()
		c.Identity = who
		return c
	}
	id := earshot.EventID(ulid.Make().String())
	if _, err := as("Ann").Post(t.Context(), id, "I sail to Zanzibar"); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, soon, "it to be on record", func() bool { return h.journal()[id].ID != "" })
	shown, err := as("Ann").Do(t.Context(), "forget", "last")
	if err != nil {
		t.Fatal(err)
	}
	_, word, ok := strings.Cut(string(shown), "/forget yes ")
	if word = strings.TrimSpace(word); !ok || strings.Contains(string(shown), "Zanzibar") || h.journal()[id].Body.Kind() != earshot.KindMessage {
		t.Fatalf("shown was %q", shown)
	}
	if said, err := as("Bob").Do(t.Context(), "forget", earshot.Text("yes "+word)); err == nil {
		t.Errorf("Bob may: %s", said)
	}
	if said, err := as("Ann").Do(t.Context(), "forget", earshot.Text("yes "+word)); err != nil || !strings.Contains(string(said), "Forgotten: ") {
		t.Errorf("Ann may not: %s, %v", said, err)
	}
	if is := h.journal()[id].Body.Kind(); is != earshot.KindErased {
		t.Errorf("it is %s", is)
	}
	if _, err := as("Ann").Do(t.Context(), "forget", earshot.Text("yes "+word)); err == nil {
		t.Error("the word holds twice")
	}
}

// TestForgetUnasked: where nobody can be asked, forget says that --yes must be added.
func TestForgetUnasked(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted("reply: Good day.\n")
	h.ask("hello")
	if r := h.earshot(nil, "forget", "--everything"); r.code != misused || !strings.Contains(r.err, "Nobody can confirm it here\n  → add --yes\n") {
		t.Errorf("%+v", r)
	}
}
