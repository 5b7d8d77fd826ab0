package interrupt_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/interrupt"
)

// TestYield performs pictures with time: a number lets the clock come to that many
// seconds, and every other word is a signal.
func TestYield(t *testing.T) {
	coughs := func(times string) (all string) {
		for at := range strings.FieldsSeq(times) {
			all += at + " bob:onset bob:voice bob:noise "
		}
		return all
	}
	vain := "duck pause resume duck pause resume duck pause resume "
	for _, tt := range []struct{ name, style, signals, want string }{
		{"a voice without words", "polite", "bob:onset bob:voice 0 0.3 0.4 9 bob:over", "duck pause duck resume"},
		{"one that goes on", "polite", "bob:onset bob:voice 0 0.4 bob:voice 8 bob:addressed", "duck pause duck cut"},
		{"one that says words", "polite", "bob:onset bob:voice 0 bob:unclear 0.3 0.4 bob:over", "duck pause duck resume"},
		{"words of which nothing was paused", "polite", "bob:unclear 60", ""},
		{"one that is seen late", "polite", "bob:onset bob:voice 5 5.3 5.4 bob:over", "duck pause duck resume"},
		{"a key is no voice", "polite", "bob:typing 60 bob:over", "pause resume"},
		{"a voice beside a key", "polite", "bob:voice ann:typing 0 5 ann:over bob:over", "pause duck resume"},
		{"one that comes back at once", "polite", "bob:voice 0 5 bob:over bob:onset bob:voice", "pause duck resume duck"},
		{"one that comes back later", "polite", "bob:voice 0 5 bob:over 9.1 bob:onset bob:voice", "pause duck resume duck pause"},
		{"a voice in pieces, such as a television", "polite", "bob:voice 0 1 bob:over 3 bob:voice 4 bob:over 6 bob:voice bob:over 8 bob:voice", "pause duck resume duck resume duck resume duck"},
		{"two words, and more", "polite", "bob:onset bob:voice bob:noise 1 bob:onset bob:voice bob:words", "duck pause resume duck cut"},
		{"three coughs", "polite", coughs("0 5 10") + "15 bob:onset bob:voice bob:noise", vain + "duck resume"},
		{"words after three coughs", "polite", coughs("0 5 10") + "15 bob:onset bob:voice bob:words", vain + "duck cut"},
		{"somebody else after them", "polite", coughs("0 5 10") + "ann:onset ann:voice", vain + "duck pause"},
		{"three coughs, and long after", "polite", coughs("0 5 10") + "41 bob:onset bob:voice", vain + "duck pause"},
		{"passive, without words", "passive", "bob:onset 0 bob:voice 2.4 2.6 9 bob:over", "pause duck resume"},
		{"passive, with words", "passive", "bob:onset 0 bob:voice bob:unclear 9.9 10.1 bob:over", "pause duck resume"},
		{"passive yields to each", "passive", strings.Repeat("bob:onset bob:noise ", 4), strings.Repeat("pause resume ", 4)},
		{"passive stays silent after others have talked", "passive", "bob:onset bob:bystanders 60 bob:over", "pause"},
		{"passive, with a word", "passive", "bob:onset bob:backchannel ann:onset ann:words", "pause resume pause cut"},
		{"passive beside another agent", "passive", "bob:other-agent bob:over", "pause resume"},
		{"aggressive has nothing to pause for", "aggressive", "bob:onset bob:noise ann:typing ann:over", ""},
		{"aggressive, for a machine", "aggressive", "bob:onset bob:voice 60 bob:over", "duck resume"},
		{"aggressive, for a command", "aggressive", "bob:onset bob:voice bob:command", "duck cut"},
		{"aggressive, for a message", "aggressive", "ann:typing ann:addressed", "cut"},
		{"aggressive talks on", "aggressive", "bob:onset bob:voice bob:words 9 bob:bystanders bob:addressed", "duck resume cut"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var floor interrupt.Floor
			floor.Style, _ = interrupt.ParseStyle(tt.style)
			var told []string
			floor.Take(0, spoken, func(c earshot.Control, _ *interrupt.Signal) { told = append(told, c.String()) })
			noon := time.Unix(1e9, 0)
			now := noon
			for _, word := range strings.Fields(tt.signals) {
				if s, err := strconv.ParseFloat(word, 64); err == nil {
					now = noon.Add(time.Duration(s * float64(time.Second)))
					floor.ExpireVoices(now)
					continue
				}
				s := parse(t, word)
				s.At = now
				floor.Signal(s)
			}
			if got, want := strings.Join(told, " "), strings.TrimSpace(tt.want); got != want {
				t.Errorf("told %q, want %q", got, want)
			}
		})
	}
}

// TestTireSaysWhen: whoever keeps the time need not look before.
func TestTireSaysWhen(t *testing.T) {
	var floor interrupt.Floor
	noon := time.Unix(1e9, 0)
	if next := floor.ExpireVoices(noon); !next.IsZero() {
		t.Errorf("nobody speaks, and it tires at %v", next)
	}
	floor.Signal(&interrupt.Signal{Kind: interrupt.Voice, From: bob, At: noon})
	first := floor.ExpireVoices(noon)
	floor.Signal(&interrupt.Signal{Kind: interrupt.Voice, From: ann, At: noon})
	if again := floor.ExpireVoices(noon.Add(100 * time.Millisecond)); !again.Equal(first) {
		t.Errorf("tires at %v and then at %v, though nothing has changed", first, again)
	}
	if second := floor.ExpireVoices(first); second.Sub(first) != 100*time.Millisecond {
		t.Errorf("tires at %v and then at %v, want 100ms later: then the second was seen", first, second)
	}
}

// TestProtected: a notice that everybody must hear is disturbed by nothing, and
// what cuts meanwhile cuts what follows.
func TestProtected(t *testing.T) {
	for _, tt := range []struct {
		name, signals string
		told          string // the notice
		follows       string // what was asked before it
	}{
		{"a voice", "bob:onset bob:voice", "", "pause"},
		{"a command", "bob:command", "", "cut"},
		{"words", "bob:addressed", "", "cut"},
		{"a key", "ann:typing", "", "pause"},
		{"what is over", "bob:onset bob:over", "", ""},
		{"the end of the program", "bob:shutdown", "cut", "cut"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var floor interrupt.Floor
			ticket := floor.Ticket()
			take := func(terms interrupt.Terms) (*interrupt.Hold, *[]string) {
				var told []string
				h, free := floor.Take(ticket, terms, func(c earshot.Control, _ *interrupt.Signal) { told = append(told, c.String()) })
				if !free {
					t.Fatal("the floor is not free")
				}
				return h, &told
			}
			notice, told := take(interrupt.Terms{Aloud: true, Protected: true})
			for _, w := range strings.Fields(tt.signals) {
				floor.Signal(parse(t, w))
			}
			if got := strings.Join(*told, " "); got != tt.told {
				t.Errorf("the notice was told %q, want %q", got, tt.told)
			}
			notice.Release()
			if _, told := take(spoken); strings.Join(*told, " ") != tt.follows {
				t.Errorf("what follows was told %q, want %q", *told, tt.follows)
			}
		})
	}
}

// TestNobodyWaitsForEver: whatever voices do, once they are silent or long enough
// have passed, whoever has the floor is not paused any more, unless it is passive
// and stays so for people who talk to each other.
func TestNobodyWaitsForEver(t *testing.T) {
	kinds := []interrupt.Kind{interrupt.Onset, interrupt.Voice, interrupt.Noise, interrupt.Over, interrupt.Echo, interrupt.Backchannel}
	rapid.Check(t, func(t *rapid.T) {
		floor := interrupt.Floor{Style: interrupt.Style(rapid.IntRange(0, 2).Draw(t, "style"))}
		state := earshot.Resume
		floor.Take(0, spoken, func(c earshot.Control, _ *interrupt.Signal) { state = c })
		now := time.Unix(1e9, 0)
		for range rapid.IntRange(0, 60).Draw(t, "signals") {
			now = now.Add(time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms")) * time.Millisecond)
			floor.ExpireVoices(now)
			from := rapid.SampledFrom([]earshot.Handle{ann, bob}).Draw(t, "who")
			floor.Signal(&interrupt.Signal{Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), From: from, At: now})
		}
		for next := floor.ExpireVoices(now); !next.IsZero(); next = floor.ExpireVoices(now) {
			now = next
		}
		if state == earshot.Pause {
			t.Fatalf("%v: still paused at %v", floor.Style, now)
		}
	})
}
