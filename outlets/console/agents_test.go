package console_test

import (
	"testing"

	"earshot"
	"earshot/internal/terminal/terminaltest"
	"earshot/internal/testkit"
)

// TestExchange: what agents write to each other is shown, marked as not meant for the reader, and
// so is which agent's answer is being waited for.
func TestExchange(t *testing.T) {
	w := terminaltest.Open(t, 60, 12)
	c := desk(w)
	sees := func(want string) {
		t.Helper()
		testkit.Await(t, patience, want+", not "+w.Screen(), func() bool { return w.Screen() == want })
	}
	writes := func(id, about earshot.EventID, from, to earshot.ParticipantID, text earshot.Text) {
		c.Show(earshot.Event{
			ID: id, Sequence: 1, Author: from, To: []earshot.ParticipantID{to}, Visibility: earshot.Visibility{Scope: earshot.Public},
			Body: earshot.Message{Text: text, Turn: "t", About: about},
		})
	}
	w.Prompt("", 0)
	s, err := c.Open(t.Context(), earshot.Opening{Turn: "t", Name: "AI"}, func(earshot.Heard) {})
	if err != nil {
		t.Fatal(err)
	}
	writes("1", "", "ai", "cy", "is it high?\nBob: no")
	shown := "AI → Cy: is it high?\n  Bob: no\n"
	sees(shown + "Cy is at work on it …\n> |")
	writes("2", "", "cy", "dora", "is it?")
	shown += "Cy → Dora: is it?\n"
	sees(shown + "Dora is at work on it …\n> |")
	writes("3", "2", "dora", "cy", "yes")
	shown += "Dora → Cy: yes\n"
	sees(shown + "Cy is at work on it …\n> |")
	writes("4", "1", "cy", "ai", "yes")
	shown += "Cy → AI: yes\n"
	sees(shown + "AI: …\n> |")
	say(t, s, 0, "It is.")
	sees(shown + "AI: It is.\n> |")
	writes("5", "", "ai", "cy", "thank you")
	shown += "AI: It is.\nAI → Cy: thank you\n"
	sees(shown + "Cy is at work on it …\n> |")
	s.Do(earshot.Cut)
	sees(shown + "AI: [cut off]\n> |")
	c.Show(earshot.Event{ID: "6", Sequence: 2, Author: "ai", Body: earshot.Reply{Turn: "t", Outcome: earshot.Completed}})

	s, err = c.Open(t.Context(), earshot.Opening{Turn: "t", Name: "AI"}, func(earshot.Heard) {})
	if err != nil {
		t.Fatal(err)
	}
	shown += "AI: [cut off]\n"
	sees(shown + "AI: …\n> |")
	writes("7", "", "ai", "dora", "and now?")
	writes("8", "7", "dora", "ai", "no")
	sees(shown + "AI → Dora: and now?\nDora → AI: no\nAI: …\n> |")
	s.Finish()
}

// TestPrivateExchange: a private message between agents is shown as private.
func TestPrivateExchange(t *testing.T) {
	w := terminaltest.Open(t, 60, 12)
	desk(w).Show(earshot.Event{
		ID: "1", Sequence: 1, Author: "ai", To: []earshot.ParticipantID{"cy"}, Visibility: earshot.Visibility{Scope: earshot.Private},
		Body: earshot.Message{Text: "hush", Turn: "t", About: "0"},
	})
	want := "AI (private) → Cy: hush\n|"
	testkit.Await(t, patience, want+", not "+w.Screen(), func() bool { return w.Screen() == want })
}

// TestAReplyCallsOnce: the name of the person answered stands to the left of a reply, so a call of
// that name at its start is not shown again, in whatever pieces the reply comes. All of it counts
// as heard.
func TestAReplyCallsOnce(t *testing.T) {
	for _, tt := range []struct {
		reply, want string
		to          earshot.ParticipantID
	}{
		{"@Cy, yes", "AI → Cy: yes", "cy"},
		{"@CY: yes", "AI → Cy: yes", "cy"},
		{"@Cy,  it is\n@Cy, yes", "AI → Cy: it is\n  @Cy, yes", "cy"},
		{"@Cy,\n- one\n- two", "AI → Cy: - one\n  - two", "cy"},
		{"@Cy, é", "AI → Cy: é", "cy"},
		{"@Cy and @Ann, yes", "AI → Cy: @Cy and @Ann, yes", "cy"},
		{"@Cyril, yes", "AI → Cy: @Cyril, yes", "cy"},
		{"@Ann, yes", "AI → Cy: @Ann, yes", "cy"},
		{"yes, @Cy, yes", "AI → Cy: yes, @Cy, yes", "cy"},
		{"@Bob, yes", "AI: @Bob, yes", "bob"}, // the reader
	} {
		for size := 1; size <= len(tt.reply); size++ {
			w := terminaltest.Open(t, 60, 10)
			l := new(listener)
			s, err := desk(w).Open(t.Context(), earshot.Opening{Name: "AI", To: tt.to}, l.hear)
			if err != nil {
				t.Fatal(err)
			}
			var clauses []earshot.Clause
			for rest := tt.reply; rest != ""; rest = rest[min(size, len(rest)):] {
				text := rest[:min(size, len(rest))]
				clauses = append(clauses, earshot.Clause{N: len(clauses), Text: earshot.Text(text)})
				say(t, s, len(clauses)-1, text)
			}
			s.Finish()
			testkit.Await(t, patience, tt.want+", not "+w.Screen(), func() bool { return w.Screen() == tt.want+"\n|" })
			testkit.Await(t, patience, "the end", func() bool { h, over := l.ended(); return over && at(clauses, h) == len(tt.reply) })
		}
	}
}
