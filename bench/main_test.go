package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if !become(context.Background()) {
		goleak.VerifyTestMain(m)
	}
}

// TestEveryFigure measures each figure once and looks at the table, never at a
// speed: how fast it is depends on who else uses the machine.
func TestEveryFigure(t *testing.T) {
	built := t.TempDir() // each program, once
	for _, tt := range []struct {
		name string
		slow bool // builds or starts programs
		want []string
	}{
		{"flushed", false, []string{"B3 cut → flushed, in memory", "B3 cut → flushed, console on a pty"}},
		{"closed", false, []string{"B3 cut → server sees it closed"}},
		{"late", false, []string{"late pieces"}},
		{"overhead", false, []string{
			"B4 text → first output, in memory", "B4 beyond the commit, in memory",
			"B4 text → first output, in memory, with facts", "B4 beyond the commit, in memory, with facts",
			"B4 text → first output, console on a pty", "B4 beyond the commit, console on a pty"}},
		{"idle", true, []string{"idle memory of the daemon (VmRSS)", "idle CPU of the daemon"}},
		{"routing", false, []string{
			"routing a piece", "routing a piece, allocations", "admitting an event", "admitting an event, allocations"}},
		{"people", false, []string{
			"routing an unaddressed message", "routing an unaddressed message, allocations",
			"routing a message with mentions", "routing a message with mentions, allocations",
			"routing a private message", "routing a private message, allocations",
			"a message to 100 boards", "a message to 100 boards, allocations",
			"the roster of a prompt, unchanged", "the roster of a prompt, unchanged, allocations",
			"the roster of a prompt, after a change", "the roster of a prompt, after a change, allocations"}},
		{"words", true, []string{
			"word error rate, slt", "word error rate, rms", "word error rate, awb", "word error rate, kal16", "word error rate, all",
			"to understand a second of speech", "calls by name not understood", "sentences taken for calls"}},
		{"foreign", true, foreignRows()},
		{"names", true, nameRows()},
		{"gap", true, []string{
			"B1 end of speech → first sound", "B1 after a finished sentence", "B1 after anything else",
			"B1 of that: silence", "B1 of that: recogniser", "B1 of that: room", "B1 of that: voice",
			"B1 pauses taken for the end", "B1 pauses mended unheard",
			"B1 second set: end of speech → first sound", "B1 second set: after a finished sentence", "B1 second set: after anything else",
			"B1 second set: of that: silence", "B1 second set: of that: recogniser", "B1 second set: of that: room", "B1 second set: of that: voice",
			"B1 second set: pauses taken for the end", "B1 second set: pauses mended unheard",
			"B1 with a model that takes 300 ms", "B1 prepared replies thrown away"}},
		{"weighed", false, weighedRows()},
		{"yield", true, []string{
			"B2 onset → duck, median", "B2 onset → duck", "B2 onset → silence", "B2 onset → cut by words",
			"B2 false stops, known when the rules were written", "B2 false pauses, known when the rules were written",
			"B2 false stops, not known", "B2 false pauses, not known", "B2 paused for nothing → goes on"}},
		{"card", true, []string{"through a sound card: onset → duck", "through a sound card: onset → silence"}},
		{"satellite", true, []string{
			"satellite: cut → silence", "satellite: a frame of a voice is captured → it is here", "bus: request → answer, beside the sound of ten",
			"satellite that is idle: bytes on the wire", "satellite that is idle: CPU", "satellite: memory of the program (VmRSS)"}},
		{"echo", true, []string{
			"B11 self-turns", "B11 pauses for nobody", "B11 real cuts missed", "B11 onset over our own voice → an utterance",
			"B11 echo lowered by", "B11 to clean a second of sound"}},
		{"echo-card", true, []string{
			"B11 through PulseAudio", "B11 with PulseAudio's canceller: self-turns", "B11 with PulseAudio's canceller: pauses for nobody",
			"B11 with PulseAudio's canceller: real cuts missed", "B11 with PulseAudio's canceller: echo lowered by"}},
		{"tree", true, []string{
			"microphone open, silence: CPU of the tree", "microphone open, silence: memory (PSS)", "microphone open, silence: memory (RSS)",
			"somebody speaks: CPU of the tree", "somebody speaks: memory (PSS)", "somebody speaks: memory (RSS)",
			"the agent speaks: CPU of the tree", "the agent speaks: memory (PSS)", "the agent speaks: memory (RSS)"}},
		{"opus", true, []string{
			"G: 8 speakers, decoding", "G: 8 speakers, decoding, in the daemon", "G: 8 speakers, decoding, in the helper",
			"G: encoding, in the daemon", "G: encoding, in the helper"}},
		{"voices", true, []string{
			"B12 voices, equal error rate", "B12 the same, across channels",
			"B12 the same, of 0.8 s", "B12 the same, of 1.2 s", "B12 the same, of 1.5 s", "B12 wrong when 90 % sure",
			"B12 known people not found, 1 % false", "B12 known people not found, 5 % false",
			"B12 known people named right", "B12 unknown people taken for known",
			"B12 known people named right, through another microphone", "B12 unknown people taken for known, through another microphone",
			"B12 who it is, off in quiet", "B12 who it is, off in noise of 15 dB", "B12 who it is, off through other microphones",
			"B12 one voice taken for two that follow each other", "B12 one voice taken for two at once",
			"B12 another voice that takes over, missed", "B12 two at once, missed", "B12 a frame for a print"}},
		{"ollama", true, []string{"real Ollama: text → first token", "real Ollama: cut → next first token"}},
		{"thinking", true, []string{
			"B13 text → first token", "B13 with a thought, parked at the first key", "B13 with a thought, parked at Enter",
			"B13 beyond, parked at Enter, p50", "B13 beyond, parked at Enter, p95",
			"B13 two slots, beside a thought", "B13 beyond, two slots, p50"}},
		{"engines", true, []string{
			"Wyoming: last sample → text", "Wyoming: text → first sound",
			"OpenAI's protocol: last sample → text", "OpenAI's protocol: text → first sound",
			"a neural model: last sample → text", "a neural model: text → first sound",
			"a neural model of 70 MB hears: CPU of its process", "a neural model of 70 MB hears: memory of its process (RSS)"}},
		{"aloud", true, []string{
			"in a call: clause → first sound that comes", "in a call: pause → last sound that comes",
			"in a call: goes on → first sound that comes", "in a call: cut → last sound that comes"}},
		{"yield-call", true, []string{
			"H onset at a peer → our voice lowered there", "H onset at a peer → our silence there",
			"H of that: ear and room, to the first word to the voice", "H of that: ear and room, to the word that silences",
			"H the same for what is not for us: lowered", "H the same for what is not for us: silent", "H false stops in a call"}},
		{"monitor", true, []string{"M1 message → screen of the monitor"}},
		{"discord", true, []string{
			"hearing 8 who speak, CPU", "hearing 8 who speak, a frame", "hearing 8 who speak, allocations",
			"delay that the jitter buffer adds", "a commit in a group of 25"}},
		{"eyes", true, []string{
			"I: looking at 2 of 15 pictures a second, nothing happens", "I: looking at 2 of 15 pictures a second, somebody walks about",
			"I: a picture is sent → the scene has it", "I: memory of the helper (PSS)",
			"I: take and decode, and pass over those between", "I: compare it with the last and the usual", "I: seek people", "I: seek faces",
			"I: seek and read a code; OpenCV only seeks", "I: encode it"}},
		{"search", false, []string{
			"search a million sentences: a rare word", "search a million sentences: a common word", "search a million sentences: several words",
			"search a million sentences: a whole sentence", "search a million sentences: accents, capitals, no spaces",
			"search a million sentences: a word that nobody said", "search a million sentences: where little is said",
			"search a million sentences: where nothing is said", "search a million sentences: a phrase",
			"search a million sentences: the beginning of a word", "search a million sentences: somebody's words of a day",
			"search a million sentences: a word that others said in private",
			"search a million sentences: guessed by its time that others said it in private: a word",
			"search a million sentences: guessed by its time that others said it in private: a beginning",
			"search a million sentences: guessed by its time that others said it in private: a word and a common one",
			"search a million sentences: guessed by its time that others said it in private: a phrase"}},
		{"database", true, []string{"append in PostgreSQL"}},
		{"flood", false, []string{
			"flood: commit of 64 KB of random words", "flood: commit of an ordinary message beside it",
			"flood: commit of 64 KB of random words", "flood: commit of 64 KB of the shortest words", "flood: commit of 64 KB of long words", "flood: commit of 64 KB of one word",
			"flood: commit of 64 KB of numbers", "flood: commit of 64 KB of Chinese", "flood: commit of 64 KB of Chinese words", "flood: commit of 64 KB of Korean",
			"flood: commit of 64 KB of Thai", "flood: commit of 64 KB of Hindi", "flood: commit of 64 KB of emoji", "flood: commit of 64 KB of marks on letters",
			"flood: commit of 64 KB of marks on one letter", "flood: commit of 64 KB of fractions", "flood: commit of 64 KB of eighteen letters in one", "flood: commit of 64 KB of separators",
			"flood: commit of 64 KB of newlines",
			"flood: commit where 64 send 64 KB at once", "flood: commits that take it back", "flood: memory of the daemon (VmHWM)"}},
		{"takeover", true, []string{"kill -9 of an owner → the next question is acknowledged", "kill -9 of an owner → its answer is read"}},
		{"rooms", true, []string{
			"rooms: a message is acknowledged", "rooms: messages acknowledged", "rooms: transactions of PostgreSQL",
			"rooms: CPU of PostgreSQL", "rooms: CPU of the daemons", "rooms: memory of the daemons (PSS)"}},
		{"start", true, []string{
			"opening a journal of 100,000 events", "opening a journal of 100,000 events, after a kill",
			"starting with 100,000 events", "starting with 100,000 events, after a kill"}},
		{"end", true, []string{"SIGTERM → the end, nobody talks", "SIGTERM → the end, in the middle of a reply"}},
		{"streams", true, []string{
			"memory of the daemon (RssAnon), with idle streams", "goroutines of the daemon, with idle streams",
			"CPU of the daemon, with idle streams", "message posted → kept, beside streams that are told of it",
			"message posted → told to a stream, of a thousand"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.slow && testing.Short() {
				t.Skip("builds or starts programs")
			}
			if tt.slow {
				t.Parallel()
			}
			b := bench{rounds: 1, repeats: 1, rooms: 20, dir: t.TempDir(), built: built}
			chosen, err := choose(tt.name)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := chosen[0].measure(t.Context(), b)
			if err != nil {
				t.Fatal(err)
			}
			if len(rows) == 1 && strings.HasPrefix(rows[0].Note, "not measured: ") {
				t.Skip(rows[0].Note) // what this machine does not have
			}
			var got []string
			for _, row := range rows {
				got = append(got, row.Name)
				plausible(t, row)
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("the rows are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// TestProgram reads what the whole program prints, for programs.
func TestProgram(t *testing.T) {
	r := measure(t, "routing")
	if len(r.Rows) != 4 {
		t.Errorf("%d rows", len(r.Rows))
	}
	for _, row := range r.Rows {
		plausible(t, row)
	}
}

// measure runs the program with one figure, and reads what it prints.
func measure(t *testing.T, figure string) Report {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-n", "1", "-repeats", "1", "-json", "-dir", t.TempDir(), "-only", figure}, &out); err != nil {
		t.Fatal(err)
	}
	var r Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v in\n%s", err, out.String())
	}
	if r.Machine.Cores < 1 {
		t.Errorf("the machine has %d cores", r.Machine.Cores)
	}
	return r
}

// plausible looks at what must be so however slow the machine is.
func plausible(t *testing.T, r Row) {
	t.Helper()
	if r.Unit == "" {
		if !strings.HasPrefix(r.Note, "not measured: ") {
			t.Errorf("%s has neither a value nor a reason", r.Name)
		}
		return
	}
	if r.Name == "late pieces" && (r.Ours.Max != 0 || r.Met == nil || !*r.Met) {
		t.Errorf("%v pieces came late", r.Ours.Max)
	}
	if strings.Contains(r.Name, "beyond") {
		return // a difference of two that vary
	}
	if r.Ours.P50 > r.Ours.P99 || r.Ours.P99 > r.Ours.Max || r.Ours.P50 < 0 {
		t.Errorf("%s: %+v do not rise from 0", r.Name, r.Ours)
	}
	if r.Bare != nil && r.Bare.P50 > 0 && r.Ours.P50 > 0 && r.Times == 0 && !strings.Contains(r.Name, "CPU of the tree") {
		t.Errorf("%s has no multiple of %+v", r.Name, *r.Bare)
	}
}

func TestExcess(t *testing.T) {
	for _, tt := range []struct {
		name, printed string
		said          []int
		late          int
		wrong         string // part of the error
	}{
		{"as it was said", "tide tide [cut off]\ntide tide tide\n", []int{9, 14}, 0, ""},
		{"one piece late", "tide tide [cut off]\n", []int{4}, 1, ""},
		{"a part of a piece late", "tide tide ti [cut off]\n", []int{9}, 1, ""},
		{"many, in one of two", "tide [cut off]\ntide tide tide tide [cut off]\n", []int{4, 4}, 3, ""},
		{"less than was said", "tide [cut off]\n", []int{9}, 0, "9 bytes are called heard"},
		{"a reply too many", "tide\ntide\n", []int{4}, 0, "2 replies were printed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			late, _, err := excess([]byte(tt.printed), tt.said)
			if late != tt.late || (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
				t.Errorf("%d late, error %v; want %d late, error %q", late, err, tt.late, tt.wrong)
			}
		})
	}
}

func TestSpread(t *testing.T) {
	var samples []float64
	for i := range 101 {
		samples = append(samples, float64(100-i))
	}
	if got, want := spread(samples), (Spread{50, 99, 100}); got != want {
		t.Errorf("spread is %v, want %v", got, want)
	}
	got := median([]Spread{{1, 30, 31}, {3, 10, 90}, {2, 20, 21}})
	if want := (Spread{2, 20, 90}); got != want {
		t.Errorf("median is %v, want %v", got, want)
	}
}

func TestTable(t *testing.T) {
	r := Report{Machine: Machine{System: "linux/amd64", Cores: 2, Load: "0.10 0.20 0.30"}, Rows: []Row{
		row("a cut", "µs", Spread{5, 80.123, 300}, Spread{2.5, 4, 9}, "").goal("p99", 80.123, 1000),
		row("a cost", "ns", Spread{600, 700, 800}, Spread{}, "of something").goal("p50", 600, 500),
		{Name: "a server", Note: "not measured: there is none"},
	}}
	var out bytes.Buffer
	if err := r.table(&out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"linux/amd64, 2 cores, load average 0.10 0.20 0.30", "",
		"unit p50 p99 max bare p50 p99 max times bare goal met",
		"a cut µs 5 80.1 300 2.50 4 9 2 p99 ≤ 1000 µs yes",
		"a cost ns 600 700 800 0 0 0 – p50 ≤ 500 ns no",
		"a server – – – – – – – – – not measured", "",
		"a cost: of something",
		"a server: not measured: there is none",
		"p50 and p99 are the medians of the repeats, max is the greatest of all; what a goal is set for is in its column.",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the table is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestCommandLine(t *testing.T) {
	for _, tt := range []struct{ args, wrong string }{
		{"-only flushed,speed", `there is no figure "speed"`},
		{"-n many", "invalid value"},
	} {
		err := run(t.Context(), strings.Fields(tt.args), new(bytes.Buffer))
		if err == nil || !strings.Contains(err.Error(), tt.wrong) {
			t.Errorf("%s: error %v, want one with %q", tt.args, err, tt.wrong)
		}
	}
}
