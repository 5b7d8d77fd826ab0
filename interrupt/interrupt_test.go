package interrupt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot"
	"earshot/interrupt"
)

var (
	ann = earshot.Handle{Provider: "console", ID: "ann"}
	bob = earshot.Handle{Provider: "discord", ID: "bob"}
)

// spoken are the terms of what is said aloud.
var spoken = interrupt.Terms{Aloud: true}

func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		kind interrupt.Kind
		want string // polite aggressive passive
	}{
		{interrupt.Command, "cut cut cut"},
		{interrupt.Shutdown, "cut cut cut"},
		{interrupt.Addressed, "cut cut cut"},
		{interrupt.Words, "cut duck cut"},
		{interrupt.Typing, "pause leave pause"},
		{interrupt.Voice, "pause duck pause"},
		{interrupt.Unclear, "leave leave leave"},
		{interrupt.Onset, "duck leave pause"},
		{interrupt.Bystanders, "resume resume stay"},
		{interrupt.Backchannel, "resume resume resume"},
		{interrupt.Noise, "resume resume resume"},
		{interrupt.Echo, "resume resume resume"},
		{interrupt.OtherAgent, "leave leave pause"},
		{interrupt.Ambient, "leave leave leave"},
		{interrupt.Over, "resume resume resume"},
	} {
		t.Run(tt.kind.String(), func(t *testing.T) {
			got := fmt.Sprint(
				interrupt.Judge(interrupt.Polite, tt.kind), " ",
				interrupt.Judge(interrupt.Aggressive, tt.kind), " ",
				interrupt.Judge(interrupt.Passive, tt.kind))
			if got != tt.want {
				t.Errorf("judged %q, want %q", got, tt.want)
			}
		})
	}
}

// TestFloor performs pictures: each word is a source and what it does, and the
// answer is what the holder is told.
func TestFloor(t *testing.T) {
	for _, tt := range []struct{ name, signals, want string }{
		{"a key pauses, an emptied line resumes", "ann:typing ann:over", "pause resume"},
		{"a key pauses, a message cuts", "ann:typing ann:addressed", "pause cut"},
		{"two who type", "ann:typing bob:typing ann:over bob:over", "pause resume"},
		{"a second key says nothing new", "ann:typing ann:typing", "pause"},
		{"a voice: duck, pause, cut", "bob:onset bob:voice bob:words", "duck pause cut"},
		{"a cough", "bob:onset bob:noise", "duck resume"},
		{"a cough while somebody types", "ann:typing bob:onset bob:noise ann:over", "pause resume"},
		{"after a cut all is still", "ann:addressed ann:typing bob:command", "cut"},
		{"what happens around", "bob:ambient", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var floor interrupt.Floor
			var told []string
			if _, ok := floor.Take(0, spoken, func(c earshot.Control, _ *interrupt.Signal) { told = append(told, c.String()) }); !ok {
				t.Fatal("the floor was not free")
			}
			for _, word := range strings.Fields(tt.signals) {
				floor.Signal(parse(t, word))
			}
			if got := strings.Join(told, " "); got != tt.want {
				t.Errorf("told %q, want %q", got, tt.want)
			}
		})
	}
}

func TestTakeWhileSomebodyTypes(t *testing.T) {
	var floor interrupt.Floor
	floor.Signal(&interrupt.Signal{Kind: interrupt.Typing, From: ann})
	var told []earshot.Control
	hold, _ := floor.Take(0, spoken, func(c earshot.Control, _ *interrupt.Signal) { told = append(told, c) })
	if len(told) != 1 || told[0] != earshot.Pause {
		t.Errorf("told %v, want one pause", told)
	}
	if _, ok := floor.Take(0, spoken, func(earshot.Control, *interrupt.Signal) {}); ok {
		t.Error("the floor was taken twice")
	}
	hold.Release()
	hold.Release()
	if _, ok := floor.Take(0, spoken, func(earshot.Control, *interrupt.Signal) {}); !ok {
		t.Error("the floor was not given back")
	}
}

// TestRenew: who was asked before others were cut for something else is not cut by
// that; by a command since, which means everybody, he is.
func TestRenew(t *testing.T) {
	for _, tt := range []struct {
		name, before, between, after string
		cut                          bool
	}{
		{"nothing", "", "", "", false},
		{"a message to another", "ann:addressed", "bob:addressed", "", false},
		{"two of them", "", "bob:addressed bob:words", "", false},
		{"a command", "", "bob:command", "", true},
		{"a command, then a message", "", "bob:command bob:addressed", "", true},
		{"a message, then a command", "", "bob:addressed", "bob:command", true},
		{"a command before", "ann:command", "bob:addressed", "", false},
		{"the end", "", "bob:shutdown bob:addressed", "", true},
		{"somebody else later", "", "bob:addressed", "ann:addressed", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var floor interrupt.Floor
			signal := func(words string) {
				for _, w := range strings.Fields(words) {
					floor.Signal(parse(t, w))
				}
			}
			signal(tt.before)
			ticket := floor.Ticket()
			signal(tt.between)
			later := floor.Ticket()
			signal(tt.after)
			cut := false
			if (floor.Since(floor.Renew(ticket, later)) != nil) != tt.cut {
				t.Errorf("since then somebody has cut: %v", !tt.cut)
			}
			floor.Take(floor.Renew(ticket, later), interrupt.Terms{}, func(c earshot.Control, _ *interrupt.Signal) { cut = cut || c == earshot.Cut })
			if cut != tt.cut {
				t.Errorf("cut is %v, want %v", cut, tt.cut)
			}
			if by := floor.Since(ticket); strings.Contains(tt.between+tt.after, "command") && by.Kind != interrupt.Command {
				t.Errorf("it is cut by %v, and not by the command", by.Kind)
			}
			if back := floor.Renew(later, ticket); back < later {
				t.Errorf("a ticket became older: %v after %v", back, later)
			}
		})
	}
}

// TestFloorEndsOnce: whatever comes, a holder is cut at most once, is told
// nothing afterwards, and never twice in a row the same.
func TestFloorEndsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		floor := interrupt.Floor{Style: interrupt.Style(rapid.IntRange(0, 2).Draw(t, "style"))}
		last, cut := earshot.Resume, false
		hold, _ := floor.Take(0, spoken, func(c earshot.Control, s *interrupt.Signal) {
			if cut {
				t.Fatalf("told %v after the cut", c)
			}
			if c == last {
				t.Fatalf("told %v twice", c)
			}
			last, cut = c, c == earshot.Cut
		})
		for range rapid.IntRange(0, 30).Draw(t, "signals") {
			floor.Signal(&interrupt.Signal{
				Kind: interrupt.Kind(rapid.IntRange(0, int(interrupt.Over)).Draw(t, "kind")),
				From: rapid.SampledFrom([]earshot.Handle{ann, bob}).Draw(t, "from"),
			})
		}
		if floor.Held() == cut {
			t.Fatalf("held = %v after cut = %v", floor.Held(), cut)
		}
		hold.Release()
		if floor.Held() {
			t.Fatal("held after release")
		}
	})
}

// TestPassiveStaysPaused: it does not come back by itself, but what paused one
// turn does not pause the next.
func TestPassiveStaysPaused(t *testing.T) {
	floor := interrupt.Floor{Style: interrupt.Passive}
	var told []string
	take := func() *interrupt.Hold {
		h, _ := floor.Take(floor.Ticket(), spoken, func(c earshot.Control, _ *interrupt.Signal) { told = append(told, c.String()) })
		return h
	}
	h := take()
	floor.Signal(&interrupt.Signal{Kind: interrupt.Onset})
	floor.Signal(&interrupt.Signal{Kind: interrupt.Bystanders})
	floor.Signal(&interrupt.Signal{Kind: interrupt.Over, Via: "another"})
	h.Release()
	take()
	if !slices.Equal(told, []string{"pause"}) {
		t.Errorf("told %q", told)
	}
}

// TestAdopt: whoever has the floor keeps the style that they have it with.
func TestAdopt(t *testing.T) {
	floor := interrupt.Floor{Style: interrupt.Aggressive}
	var told []string
	take := func() *interrupt.Hold {
		h, _ := floor.Take(floor.Ticket(), spoken, func(c earshot.Control, _ *interrupt.Signal) { told = append(told, c.String()) })
		return h
	}
	h := take()
	floor.Adopt(interrupt.Passive)
	if floor.Signal(&interrupt.Signal{Kind: interrupt.Onset}); len(told) > 0 || floor.CurrentStyle() != interrupt.Aggressive {
		t.Errorf("told %q in the style %v", told, floor.CurrentStyle())
	}
	h.Release()
	if floor.CurrentStyle() != interrupt.Passive {
		t.Errorf("the style is %v", floor.CurrentStyle())
	}
	take()
	if floor.Signal(&interrupt.Signal{Kind: interrupt.Onset, Via: "another"}); !slices.Equal(told, []string{"pause"}) {
		t.Errorf("told %q", told)
	}
}

// TestWhatIsReadIsNotDisturbed: a voice does not hold back what is only read; a
// key does.
func TestWhatIsReadIsNotDisturbed(t *testing.T) {
	var floor interrupt.Floor
	var told []string
	floor.Take(0, interrupt.Terms{}, func(c earshot.Control, _ *interrupt.Signal) { told = append(told, c.String()) })
	for _, k := range []interrupt.Kind{interrupt.Onset, interrupt.Voice, interrupt.Typing, interrupt.Over} {
		floor.Signal(&interrupt.Signal{Kind: k})
	}
	if !slices.Equal(told, []string{"pause", "resume"}) {
		t.Errorf("told %q", told)
	}
}

func TestRank(t *testing.T) {
	signals := []*interrupt.Signal{ // the most urgent first
		{Kind: interrupt.Command},
		{Kind: interrupt.Words, Operator: true},
		{Kind: interrupt.Addressed},
		{Kind: interrupt.Words},
		{Kind: interrupt.Onset},
		{Kind: interrupt.OtherAgent, Operator: true},
		{Kind: interrupt.Ambient},
	}
	for i, s := range signals[1:] {
		if above := signals[i]; above.Rank() <= s.Rank() {
			t.Errorf("%v ranks %d, %v ranks %d", above.Kind, above.Rank(), s.Kind, s.Rank())
		}
	}
}

func TestErrorHidesTheWords(t *testing.T) {
	s := &interrupt.Signal{Kind: interrupt.Command, From: ann, Words: "shut up"}
	if got := s.Error(); got != "interrupted: command by console:ann" {
		t.Errorf("the error is %q", got)
	}
}

// TestACutBeforeTheTurn: who cuts after a question was asked cuts its turn, also
// if that has not begun.
func TestACutBeforeTheTurn(t *testing.T) {
	var floor interrupt.Floor
	ticket := floor.Ticket()
	floor.Signal(&interrupt.Signal{Kind: interrupt.Command, From: ann})
	for _, tt := range []struct {
		since interrupt.Ticket
		want  []earshot.Control
	}{{ticket, []earshot.Control{earshot.Cut}}, {floor.Ticket(), nil}} {
		var told []earshot.Control
		hold, free := floor.Take(tt.since, spoken, func(c earshot.Control, s *interrupt.Signal) { told = append(told, c) })
		if !free || !slices.Equal(told, tt.want) {
			t.Errorf("since %d: told %v, want %v", tt.since, told, tt.want)
		}
		hold.Release()
	}
}

// TestOnePersonAtTwoTerminals: what is typed at one is not taken back by
// emptying the line at the other.
func TestOnePersonAtTwoTerminals(t *testing.T) {
	var floor interrupt.Floor
	var told []earshot.Control
	floor.Take(0, spoken, func(c earshot.Control, _ *interrupt.Signal) { told = append(told, c) })
	for _, s := range []interrupt.Signal{
		{Kind: interrupt.Typing, From: ann, Via: "1"}, {Kind: interrupt.Typing, From: ann, Via: "2"},
		{Kind: interrupt.Over, From: ann, Via: "2"}, {Kind: interrupt.Over, From: ann, Via: "1"},
	} {
		floor.Signal(&s)
	}
	if want := []earshot.Control{earshot.Pause, earshot.Resume}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}

// BenchmarkCut is the floor's share of the way from an interruption to
// silence.
func BenchmarkCut(b *testing.B) {
	b.ReportAllocs()
	var floor interrupt.Floor
	s := &interrupt.Signal{Kind: interrupt.Addressed, From: ann}
	for b.Loop() {
		hold, _ := floor.Take(floor.Ticket(), spoken, func(earshot.Control, *interrupt.Signal) {})
		floor.Signal(s)
		hold.Release()
	}
}

func parse(t *testing.T, word string) *interrupt.Signal {
	t.Helper()
	who, what, _ := strings.Cut(word, ":")
	for k := interrupt.Ambient; k <= interrupt.Over; k++ {
		if k.String() == strings.ReplaceAll(what, "-", " ") {
			return &interrupt.Signal{Kind: k, From: map[string]earshot.Handle{"ann": ann, "bob": bob}[who]}
		}
	}
	t.Fatalf("no signal %q", word)
	return nil
}
