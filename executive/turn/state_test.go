package turn_test

import (
	"errors"
	"flag"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive/turn"
	"earshot/interrupt"
)

// truth is what an honest outlet knows of itself: what it was told, and how
// much of it came out.
type truth struct {
	clauses        []earshot.Clause
	text           string
	clause, byte   int // the position
	told, reported int // bytes
	finished, end  bool
}

// heard moves the outlet on by at most n bytes, to a rune's edge.
func (o *truth) play(n int) {
	for ; n > 0 && o.clause < len(o.clauses); n-- {
		text := string(o.clauses[o.clause].Text)
		if o.byte == len(text) {
			if o.clause+1 == len(o.clauses) {
				return
			}
			o.clause, o.byte = o.clause+1, 0
			continue
		}
		_, w := utf8.DecodeRuneInString(text[o.byte:])
		o.byte += w
		o.told += w
	}
}

// TestSpokenTruth steps a turn through random interleavings of pieces,
// positions, late and false acknowledgements, losses, failures and cuts, and
// checks after each that it tells the truth.
func TestSpokenTruth(t *testing.T) { many(t, 10_000, 1_000_000, spokenTruth) }

// many checks a property so many times, and in make proof a hundred times as
// often.
func many(t *testing.T, checks, proof int, property func(*rapid.T)) {
	if os.Getenv("EARSHOT_PROOF") != "" {
		checks = proof
	}
	old := flag.Lookup("rapid.checks").Value.String()
	flag.Set("rapid.checks", strconv.Itoa(checks))
	defer flag.Set("rapid.checks", old)
	rapid.Check(t, property)
}

func spokenTruth(t *rapid.T) {
	manners := rapid.SliceOfN(rapid.SampledFrom([]turn.DeliveryMode{turn.Clauses, turn.Pieces, turn.Voice}), 0, 3).Draw(t, "manners")
	names := []string{"a", "b", "c"}[:len(manners)]
	state := turn.NewState(manners...)
	outlets := make([]truth, len(manners))
	var offered strings.Builder
	over, cut, closed := 0, false, false

	step := func(e turn.Event) {
		wasCut, wasOver := cut || e.Kind == turn.Cut, over > 0
		for _, a := range state.Next(e) {
			if wasOver {
				t.Fatalf("act %+v after the end", a)
			}
			switch a.Kind {
			case turn.Over:
				over++
			case turn.Finish:
				if outlets[a.Outlet].finished {
					t.Fatalf("outlet %d was finished twice", a.Outlet)
				}
				outlets[a.Outlet].finished = true
			case turn.Say:
				o := &outlets[a.Outlet]
				if wasCut || o.finished {
					t.Fatalf("said something after cut = %v, finish = %v", wasCut, o.finished)
				}
				if a.Clause.N != len(o.clauses) {
					t.Fatalf("clause %d came after %d others", a.Clause.N, len(o.clauses))
				}
				o.clauses = append(o.clauses, a.Clause)
				o.text += string(a.Clause.Text)
				if aloud, live := furthest(manners, outlets); live && manners[a.Outlet] != turn.Voice && len(o.text) > aloud {
					t.Fatalf("outlet %d shows %d bytes while a voice has come to %d", a.Outlet, len(o.text), aloud)
				}
			}
		}
	}

	for range rapid.IntRange(0, 40).Draw(t, "steps") {
		var i int
		if len(manners) > 0 {
			i = rapid.IntRange(0, len(manners)-1).Draw(t, "outlet")
		}
		switch rapid.IntRange(0, 10).Draw(t, "what") {
		case 10:
			step(turn.Event{Kind: turn.Late, Text: "Hm."})
		case 0, 1, 2, 3:
			piece := rapid.SampledFrom([]string{"Tides ", "are the sea's ", "answer. ", "é", "潮。", "\n", strings.Repeat("long ", 60), ""}).Draw(t, "piece")
			step(turn.Event{Kind: turn.Piece, Text: piece})
			if !cut && !closed && over == 0 {
				offered.WriteString(piece)
			}
		case 4, 5, 6:
			if len(manners) == 0 || outlets[i].end {
				continue
			}
			o := &outlets[i]
			o.play(rapid.IntRange(0, 400).Draw(t, "bytes"))
			o.end = rapid.IntRange(0, 3).Draw(t, "end") == 0
			step(turn.Event{Kind: turn.Heard, Outlet: i, Position: earshot.Heard{Clause: o.clause, Byte: o.byte, End: o.end}})
			if over == 0 || o.end {
				o.reported = o.told
			}
			if o.end && rapid.Bool().Draw(t, "late") { // an acknowledgement after the end is a lie
				step(turn.Event{Kind: turn.Heard, Outlet: i, Position: earshot.Heard{Clause: 99, Byte: 9999}})
				step(turn.Event{Kind: turn.Heard, Outlet: i, Position: earshot.Heard{Clause: -1, Byte: -7, End: true}})
			}
		case 7:
			if rapid.IntRange(0, 3).Draw(t, "cut") == 0 {
				step(turn.Event{Kind: turn.Cut, Signal: &interrupt.Signal{Kind: interrupt.Addressed, By: "ann", At: time.Unix(1, 0)}})
				cut = cut || over == 0
			}
		case 8:
			if rapid.Bool().Draw(t, "good end") {
				step(turn.Event{Kind: turn.Closed})
			} else {
				step(turn.Event{Kind: turn.Closed, Err: errors.New("broken")})
			}
			closed = true
		case 9:
			if len(manners) > 0 && rapid.IntRange(0, 3).Draw(t, "lost") == 0 && !outlets[i].end {
				outlets[i].end = true
				step(turn.Event{Kind: turn.Lost, Outlet: i})
			}
		}
		check(t, state.Reply(names), offered.String(), outlets)
	}

	// Whatever happened, it can be brought to exactly one end.
	step(turn.Event{Kind: turn.Cut, Signal: &interrupt.Signal{Kind: interrupt.Shutdown}})
	step(turn.Event{Kind: turn.Expired})
	step(turn.Event{Kind: turn.Expired})
	if over != 1 || !state.Ended() {
		t.Fatalf("the turn ended %d times", over)
	}
	check(t, state.Reply(names), offered.String(), outlets)
}

// furthest returns how far the voices that are live have come.
func furthest(manners []turn.DeliveryMode, outlets []truth) (n int, live bool) {
	for i, o := range outlets {
		if manners[i] == turn.Voice && !o.end {
			n, live = max(n, o.told), true
		}
	}
	return n, live
}

func check(t *rapid.T, r earshot.Reply, offered string, outlets []truth) {
	if string(r.Offered) != offered {
		t.Fatalf("offered %q, want %q", string(r.Offered), offered)
	}
	if got := string(r.Delivered()) + string(r.Remainder()); got != offered {
		t.Fatalf("delivered and remainder are %q, want %q", got, offered)
	}
	for i, o := range outlets {
		if !strings.HasPrefix(offered, o.text) {
			t.Fatalf("outlet %d was told %q of %q", i, o.text, offered)
		}
		if got := r.Heard[i].Bytes; got != o.reported {
			t.Fatalf("outlet %d: %d bytes are called heard, it played %d", i, got, o.reported)
		}
		if !utf8.ValidString(offered[:r.Heard[i].Bytes]) {
			t.Fatalf("outlet %d stopped within a rune", i)
		}
	}
}

func TestPositionsThatLie(t *testing.T) {
	for _, tt := range []struct {
		name string
		at   []earshot.Heard
		want string
	}{
		{"beyond the clause", []earshot.Heard{{Clause: 0, Byte: 99}}, "né "},
		{"a clause that was never said", []earshot.Heard{{Clause: 7, Byte: 1}}, ""},
		{"negative", []earshot.Heard{{Clause: -1, Byte: 2}, {Clause: 1, Byte: -5}}, "né "},
		{"within a rune", []earshot.Heard{{Clause: 0, Byte: 2}}, "n"},
		{"backwards", []earshot.Heard{{Clause: 1, Byte: 2}, {Clause: 0, Byte: 1}}, "né to"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := turn.NewState(turn.Pieces)
			s.Next(turn.Event{Kind: turn.Piece, Text: "né "})
			s.Next(turn.Event{Kind: turn.Piece, Text: "to"})
			for _, at := range tt.at {
				s.Next(turn.Event{Kind: turn.Heard, Position: at})
			}
			if got := s.Reply([]string{"a"}).Delivered(); string(got) != tt.want {
				t.Errorf("heard %q, want %q", string(got), tt.want)
			}
		})
	}
}

func TestOutcome(t *testing.T) {
	piece := turn.Event{Kind: turn.Piece, Text: "Hello."}
	heard := turn.Event{Kind: turn.Heard, Position: earshot.Heard{Byte: 6, End: true}}
	half := turn.Event{Kind: turn.Heard, Position: earshot.Heard{Byte: 3, End: true}}
	closed := turn.Event{Kind: turn.Closed}
	cut := turn.Event{Kind: turn.Cut, Signal: &interrupt.Signal{Kind: interrupt.Command, By: "ann"}}
	broken := turn.Event{Kind: turn.Closed, Err: errors.New("broken")}
	for _, tt := range []struct {
		name   string
		events []turn.Event
		want   earshot.Outcome
	}{
		{"said and heard", []turn.Event{piece, closed, heard}, earshot.Completed},
		{"cut", []turn.Event{piece, cut, half}, earshot.Interrupted},
		{"cut after the last word", []turn.Event{piece, closed, cut, heard}, earshot.Completed},
		{"cut when the model had done", []turn.Event{piece, closed, cut, half}, earshot.Interrupted},
		{"cut before the first", []turn.Event{cut, {Kind: turn.Heard, Position: earshot.Heard{End: true}}}, earshot.Interrupted},
		{"the model broke", []turn.Event{piece, broken, heard}, earshot.Failed},
		{"the outlet broke", []turn.Event{piece, {Kind: turn.Lost}}, earshot.Failed},
		{"the outlet ended by itself", []turn.Event{piece, half}, earshot.Failed},
		{"nothing to say", []turn.Event{closed, {Kind: turn.Heard, Position: earshot.Heard{End: true}}}, earshot.Suppressed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := turn.NewState(turn.Pieces)
			for _, e := range tt.events {
				s.Next(e)
			}
			r := s.Reply([]string{"a"})
			if r.Outcome != tt.want || !s.Ended() {
				t.Errorf("outcome %v, ended %v; want %v", r.Outcome, s.Ended(), tt.want)
			}
			if unfinished := r.Outcome == earshot.Interrupted && !slices.ContainsFunc(tt.events, func(e turn.Event) bool { return e.Kind == turn.Closed }); r.Unfinished != unfinished {
				t.Errorf("unfinished %v, want %v", r.Unfinished, unfinished)
			}
			if (r.Cut != nil) != (r.Outcome == earshot.Interrupted) {
				t.Errorf("outcome %v with interruption %v", r.Outcome, r.Cut)
			}
		})
	}
}

func TestHalfARune(t *testing.T) {
	s := turn.NewState(turn.Pieces)
	s.Next(turn.Event{Kind: turn.Piece, Text: "caf\xc3"})
	if got := s.Reply([]string{"a"}).Offered; string(got) != "caf\uFFFD" {
		t.Errorf("offered %q", string(got))
	}
}

func TestAReplyThatNeverEnds(t *testing.T) {
	s := turn.NewState(turn.Pieces)
	stopped := false
	for range turn.MaxReply {
		for _, a := range s.Next(turn.Event{Kind: turn.Piece, Text: "on and on "}) {
			stopped = stopped || a.Kind == turn.Stop
		}
	}
	if n := len(s.Reply([]string{"a"}).Offered); !stopped || n > turn.MaxReply+10 {
		t.Errorf("stopped = %v after %d bytes", stopped, n)
	}
}

// TestClauses shows what a voice is handed: one clause a line.
func TestClauses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"sentences", "The moon pulls. The sea follows, slowly; twice a day.", "The moon pulls. |The sea follows, |slowly; twice a day."},
		{"short ones wait", "Dr. No. Yes, sir.", "Dr. No. Yes, |sir."},
		{"a script without spaces", "月が引く。海は従う。", "月が引く。|海は従う。"},
		{"lines", "A list of things:\n- one\n- two and three\n", "A list of things:\n|- one\n- two and three\n"},
		{"no end", "no end", "no end"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := turn.NewState(turn.Clauses)
			var got []string
			say := func(e turn.Event) {
				for _, a := range s.Next(e) {
					if a.Kind == turn.Say {
						got = append(got, string(a.Clause.Text))
					}
				}
			}
			for _, r := range tt.text {
				say(turn.Event{Kind: turn.Piece, Text: string(r)})
			}
			say(turn.Event{Kind: turn.Closed})
			if strings.Join(got, "|") != tt.want {
				t.Errorf("clauses %q, want %q", strings.Join(got, "|"), tt.want)
			}
		})
	}
}

func BenchmarkPiece(b *testing.B) {
	b.ReportAllocs()
	s := turn.NewState(turn.Pieces)
	for i := 0; b.Loop(); i++ {
		if i%1000 == 0 {
			s = turn.NewState(turn.Pieces)
		}
		s.Next(turn.Event{Kind: turn.Piece, Text: "word "})
	}
}
