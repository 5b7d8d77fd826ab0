package conversation_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot"
	"earshot/conversation"
)

// called returns a reply by Coder to alice after it has passed a CallPrefixer in pieces.
func called(t interface{ Fatalf(string, ...any) }, dir *conversation.Directory, pieces ...string) string {
	c := conversation.CallPrefixer{Name: "alice", From: "coder", Directory: dir}
	var out strings.Builder
	in := 0
	for _, p := range pieces {
		out.WriteString(c.Next(p))
		if in += len(p); c.Put == 0 && in-out.Len() > 200 {
			t.Fatalf("%d bytes of %q are held back", in-out.Len(), pieces)
		}
	}
	out.WriteString(c.End())
	return out.String()
}

func TestCallback(t *testing.T) {
	dir := conversation.NewDirectory(everybody())
	for _, tt := range []struct{ name, reply, want string }{
		{"nobody is called", "I am done.", "@alice, I am done."},
		{"a word", "yes", "@alice, yes"},
		{"without spaces", "好的，没问题。", "@alice, 好的，没问题。"},
		{"a greeting", "Hello there, how are you?", "@alice, Hello there, how are you?"},
		{"greetings alone", "Good morning! Thank you.", "@alice, Good morning! Thank you."},
		{"space before", "\n\n Done.", "@alice, Done."},
		{"nothing", "", ""},
		{"space alone", " \n", " \n"},

		{"a mention", "@alice I am done.", "@alice I am done."},
		{"a mention in another case", "@ALICE: done.", "@ALICE: done."},
		{"a mention alone", "@alice", "@alice"},
		{"a name and a comma", "Alice, I am done.", "Alice, I am done."},
		{"a name and a colon", "**Alice:** I am done.", "**Alice:** I am done."},
		{"after a greeting", "Hey Alice, I am done.", "Hey Alice, I am done."},
		{"after thanks", "Thank you, Alice. I go on.", "Thank you, Alice. I go on."},
		{"after a greeting of its own", "Hello! @alice, I am done.", "Hello! @alice, I am done."},
		{"a list of those it is for", "TO: alice, Reviewer\nLook.", "TO: alice, Reviewer\nLook."},
		{"another is called", "@Reviewer, have a look.", "@Reviewer, have a look."},
		{"another, of two words", "Ann Smith, have a look.", "Ann Smith, have a look."},
		{"two are called", "Bob and alice, look.", "Bob and alice, look."},
		{"people are called", "@human, it is yours.", "@human, it is yours."},

		{"it is the subject", "Alice is right.", "@alice, Alice is right."},
		{"a possessive", "Alice's test fails.", "@alice, Alice's test fails."},
		{"a reference", "I asked @Reviewer about it.", "@alice, I asked @Reviewer about it."},
		{"a mention that calls nobody", "@alices work", "@alice, @alices work"},
		{"itself", "@Coder here, done.", "@alice, @Coder here, done."},
		{"everybody", "@all look", "@alice, @all look"},
		{"the first word of a longer name, as a word", "Jean said so.", "@alice, Jean said so."},
		{"a later paragraph calls", "Done.\n\n@Reviewer, have a look.", "@alice, Done.\n\n@Reviewer, have a look."},

		{"code", "```go\nx()\n```", "@alice,\n```go\nx()\n```"},
		{"a quotation", "> @Reviewer look\nYes.", "@alice,\n> @Reviewer look\nYes."},
		{"a list", "- one\n- two", "@alice,\n- one\n- two"},
		{"a numbered list", "1. one\n2. two", "@alice,\n1. one\n2. two"},
		{"a list of those called", "- Bob, write", "- Bob, write"},
		{"a table", "| a | b |", "@alice,\n| a | b |"},
		{"code behind a name", "Bob`, `", "@alice, Bob`, `"},
		{"an address in two words", "@Ann Smith@", "@alice, @Ann Smith@"},
		{"a heading", "# Plan\n", "@alice,\n# Plan\n"},
		{"greetings for ever", strings.Repeat("hi ", 100), "@alice, " + strings.Repeat("hi ", 100)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check := func(pieces ...string) {
				if got := called(t, dir, pieces...); got != tt.want {
					t.Fatalf("in pieces %q: %q, want %q", pieces, got, tt.want)
				}
			}
			if len(tt.reply) > 120 {
				check(tt.reply)
				check(strings.Split(tt.reply, "")...)
				return
			}
			everySplit(tt.reply, check)
		})
	}
}

// TestCallbackCallsSomebody: for any reply, the output calls somebody and contains the reply.
func TestCallbackCallsSomebody(t *testing.T) {
	dir := conversation.NewDirectory(everybody())
	part := rapid.SampledFrom([]string{"@", "alice", "Bob", "Ann", " Smith", " ", ", ", ". ", "\n", "hey ", "to: ", "TO:", "all agents", "I think ",
		"`", "```\n", "- ", "> ", "日本", "、", "@human", "@nobody ", "'s", "x"})
	rapid.Check(t, func(t *rapid.T) {
		reply := strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "reply"), "")
		var pieces []string
		for rest := reply; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		whole := called(t, dir, reply)
		if got := called(t, dir, pieces...); got != whole {
			t.Fatalf("in pieces %q: %q, whole %q", pieces, got, whole)
		}
		if !strings.HasSuffix(whole, strings.TrimLeft(reply, " \t\r\n")) {
			t.Fatalf("%q became %q", reply, whole)
		}
		if d := dir.Calls(earshot.Text(whole), "coder"); strings.TrimSpace(reply) != "" && len(d.To) == 0 && !d.People {
			t.Fatalf("%q calls nobody", whole)
		}
	})
}

// TestCallbackIsQuick: a reply that calls nobody is held back for a word or two; the rest of it is
// not examined.
func TestCallbackIsQuick(t *testing.T) {
	dir := conversation.NewDirectory(everybody())
	c := conversation.CallPrefixer{Name: "alice", From: "coder", Directory: dir}
	c.Next("Certainly ")
	if got := c.Next("this "); got != "@alice, Certainly this " {
		t.Errorf("%q after two words", got)
	}
	if n := testing.AllocsPerRun(100, func() { c.Next("morning ") }); n != 0 {
		t.Errorf("%v allocations a token", n)
	}
}

func FuzzCallback(f *testing.F) {
	f.Add("@alice, yes", 3)
	f.Add("- TO: Ann Smith and bob", 1)
	dir := conversation.NewDirectory(everybody())
	f.Fuzz(func(t *testing.T, reply string, size int) {
		size = max(1, size%64)
		var pieces []string
		for rest := reply; rest != ""; {
			n := min(size, len(rest))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		if got, want := called(t, dir, pieces...), called(t, dir, reply); got != want {
			t.Errorf("in pieces of %d %q, whole %q", size, got, want)
		}
	})
}
