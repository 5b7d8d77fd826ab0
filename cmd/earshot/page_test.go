package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"earshot/api"
	"earshot/internal/probe"
)

// TestFirstScreen: no word that fits is broken, at any width and whatever works or does not.
func TestFirstScreen(t *testing.T) {
	t.Parallel()
	texts := make(map[int]string)
	for _, width := range []int{40, 41, 60, 80, 120, 300} {
		h := newHome(t, "EARSHOT_PROVIDERS_MICROPHONE_ENABLED=true", "EARSHOT_OUTLETS_LOUDSPEAKER_ENABLED=true", "EARSHOT_PROVIDERS_WEBCAM_ENABLED=true",
			"EARSHOT_EXECUTIVE_LLM_HOST=http://127.0.0.1:1", "EARSHOT_SERVER_LISTEN=127.0.0.1:0")
		w := h.beginOn(width, 60, "run")
		w.await("a number, a new name [1]:", 1)
		w.types("\x04")
		if code := w.ended(); code != success {
			t.Errorf("it ends with %d", code)
		}
		text := w.text()
		texts[width] = text[:strings.Index(text, "Who are you?")]
	}
	paths := regexp.MustCompile(`(\S*/\S*|:\d+)`) // each home has its own paths, longer than a row
	for width, text := range texts {
		if got, want := paths.ReplaceAllString(text, ""), paths.ReplaceAllString(texts[300], ""); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
			t.Errorf("in %d columns it says\n%s\nand not\n%s", width, text, texts[300])
		}
	}
}

// TestCommandsOnATerminal: output for people is not broken inside a word, and output that does not
// go to a terminal is not broken at all.
func TestCommandsOnATerminal(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	const reply = "Twice a day the water bulges towards the moon, and on the far side away from it, as everybody knows."
	h.scripted("reply: " + reply + "\n")
	h.daemon()
	h.ask("tell me about the tides, which I have wondered about for years")
	for _, args := range [][]string{{"history"}, {"search", "water"}, {"why"}, {"status"}, {"today"}, {"who"}, {"context"}, {"check"}, {"doctor"}, {"models"}, {"agents"}, {"stauts"}, {"models", "get", "nothing"}} {
		piped := h.earshot(nil, args...)
		w := h.beginOn(45, 200, args...) // longer than any word
		w.ended()
		words := func(text string) []string {
			return slices.DeleteFunc(strings.Fields(text), func(word string) bool { // times and ages go on between the two
				return strings.ContainsAny(word, "/0123456789") || slices.Contains([]string{"now", "s", "min", "ago"}, strings.Trim(word, ",.;)"))
			})
		}
		sorted := func(text string) []string { return slices.Sorted(slices.Values(words(text))) }
		shown := sorted(w.text())
		if !slices.Equal(shown, sorted(piped.out+piped.err)) { // perhaps something has grown old in between
			piped = h.earshot(nil, args...)
		}
		if !slices.Equal(shown, sorted(piped.out+piped.err)) {
			t.Errorf("%v: it shows\n%s\nand not\n%s%s", args, w.text(), piped.out, piped.err)
		}
		if args[0] == "history" && !strings.Contains(piped.out, reply) {
			t.Errorf("what is no terminal gets\n%s", piped.out)
		}
	}
}

// The findings without any microphone, and without the chosen one.
var (
	noMicrophone = api.CheckResult{Thing: "microphone", Absent: true, Text: "there is none", Cure: "connect one, then check: earshot devices"}
	noYeti       = api.CheckResult{Thing: "microphone", Text: `"Yeti" is not there`, Cure: "connect it, or choose another: earshot devices"}
)

// TestAbsentDevices: a device that is not there is no fault, and is shown by a dash, in one line.
func TestAbsentDevices(t *testing.T) {
	for _, tt := range []struct {
		name  string
		thing api.CheckResult
		want  string
	}{
		{"no microphone", noMicrophone, "  – microphone     there is none\n                   → connect one, then check: earshot devices\n"},
		{"not the one that was chosen", noYeti, "  ✗ microphone     \"Yeti\" is not there\n                   → connect it, or choose another: earshot devices\n"},
		{"one that works", api.CheckResult{Thing: "microphone", Works: true, Text: "Yeti"}, "  ✓ microphone     Yeti\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			probe.PrintFindings(&b, []api.CheckResult{tt.thing})
			if b.String() != tt.want {
				t.Errorf("shown as\n%s\nwant\n%s", b.String(), tt.want)
			}
			if brief := probe.Brief([]api.CheckResult{tt.thing}); tt.thing.Absent != (brief[0].Cure == "" && tt.thing.Cure != "") {
				t.Errorf("at the start it is %+v", brief[0])
			}
		})
	}
}

// TestDemo: the history at the end of the demonstration is in order of time, and no word of it is
// broken.
func TestDemo(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	w := h.beginOn(40, 200, "demo", "--speed", "2") // how much of a reply is heard before the cut depends on the machine
	if code := w.ended(); code != success {
		t.Errorf("it ends with %d", code)
	}
	w.await("To talk to it yourself: earshot run", 1)
	text := w.text()
	for _, want := range []string{
		"A conversation with a scripted model, in a temporary journal that is deleted afterwards.",
		"The journal says what was heard, who cut in, and what was left unsaid:",
		"Earshot The tides are the sea's answer to the moon.",
		"Ann wait, how high do they get?",
		"Earshot In the Bay of Fundy",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
	if said := regexp.MustCompile(`\d\d:\d\d (\w+): what time is it\?`).FindStringSubmatch(text); len(said) == 0 || said[1] != "Ann" {
		t.Errorf("asked what was said, it names %q", said)
	}
	_, past, _ := strings.Cut(text, "left unsaid:")
	times := regexp.MustCompile(`\d\d:\d\d:\d\d`).FindAllString(past, -1)
	if len(times) < 8 || !slices.IsSorted(times) {
		t.Errorf("the times are %v", times)
	}
	if asked, answered := strings.Index(past, "tell me about the tides"), strings.Index(past, "The tides are"); asked < 0 || answered < asked || strings.Index(past, "wait, how high") < answered {
		t.Errorf("it is out of order:\n%s", past)
	}
}
