package conversation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/participants"
)

// everybody returns the people and agents who can be called in these tests; "ann" writes.
func everybody() []participants.Participant {
	var all []participants.Participant
	for _, n := range []string{"Ann", "Bob", "Ann Smith", "Jean-Luc", "O'Brien", "guest_1", "Зоя"} {
		all = append(all, participants.Participant{ID: id(n), Name: n, Type: participants.Human})
	}
	for _, n := range []string{"Earshot", "Coder", "Developer", "Reviewer", "a1", "a2", "alice"} {
		all = append(all, participants.Participant{ID: id(n), Name: n, Type: participants.Internal})
	}
	return all
}

func id(name string) earshot.ParticipantID {
	return earshot.ParticipantID(strings.ToLower(strings.ReplaceAll(name, " ", "-")))
}

// drawn returns the addressees in one line: the IDs of those called, "*" for all agents, "people",
// and unknown names with a question mark.
func drawn(d conversation.Addressees) string {
	var words []string
	for _, to := range d.To {
		words = append(words, string(to))
	}
	if d.All {
		words = append(words, "*")
	}
	if d.People {
		words = append(words, "people")
	}
	for _, u := range d.Unknown {
		words = append(words, u+"?")
	}
	return strings.Join(words, " ")
}

// TestAgentsCall: the text of an agent calls those with whose names a paragraph begins, and nobody
// else.
func TestAgentsCall(t *testing.T) {
	dir := conversation.NewDirectory(everybody())
	for _, tt := range []struct{ text, want string }{
		{"@alice, look", "alice"},
		{"Alice, look", "alice"},
		{"Hey Alice, look. Bob, thank you.", "alice"},
		{"@alice and @Coder: look", "alice coder"},
		{"Done.\n\nalice, your turn", "alice"},
		{"- Bob, write\n2. Coder: test", "bob coder"},
		{"TO: Developer, Reviewer\nLook, Bob.", "developer reviewer"},
		{"all agents: look", "*"},
		{"@human, it is yours.", "people"},
		{"@alice is right", "alice"},

		{"Done. Alice, thank you.", ""},
		{"Done. @alice, thank you.", ""},
		{"That is right, Alice.", ""},
		{"I have asked @alice", ""},
		{"I wait, hey Bob, for you", ""},
		{"Alice is right, Bob.", ""},
		{"> @alice, look\nSo they say.", ""},
		{"what do you think, @all?", ""},
	} {
		if got := drawn(dir.Calls(earshot.Text(tt.text), id("Ann"))); got != tt.want {
			t.Errorf("%q calls %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestDirect(t *testing.T) {
	dir := conversation.NewDirectory(everybody())
	for _, tt := range []struct{ name, text, want string }{
		// Mentions in natural words.
		{"natural syntax", "@alice what time is it", "alice"},
		{"case does not matter", "@ALICE and @Coder, look", "alice coder"},
		{"public, no mention", "what time is it", ""},
		{"malformed, doubled", "@@alice hello", ""},
		{"malformed, alone", "@ hello, what is this @", ""},
		{"nobody's name is told of", "@nonexistent hello", "nonexistent?"},
		{"the people of the room", "@human I pass control to you", "people"},
		{"self-mention", "@ann said so", ""},
		{"self-mention before another", "@ann @bob look", "bob"},

		// Names at the beginning, broadcasts, lists of recipients.
		{"direct, by the name alone", "Developer, please implement feature X", "developer"},
		{"broadcast", "ALL AGENTS: Project deadline has moved to Friday", "*"},
		{"broadcast in any case, later paragraph", "News.\n\nAll agents: it is Friday", "*"},
		{"handoff, the second is spoken of", "Developer, implement feature X then notify Reviewer", "developer"},
		{"multiple recipients", "TO: Developer, Reviewer\nLook at this.", "developer reviewer"},
		{"multiple recipients on the same line", "TO: Developer, Reviewer: look at this", "developer reviewer"},
		{"recipients nobody has", "TO: Developer, Erika", "developer Erika?"},
		{"recipients with and", "to: Developer and Reviewer", "developer reviewer"},
		{"a to-do is no list", "TO: do the laundry", ""},
		{"not only the first line", "Look\nTO: Developer", "developer"},
		{"a configuration that is pasted calls nobody", "---\nuser: bob\napprover: \"Alice\"\n- owner: ann\nrun_as: coder\n", ""},
		{"one line of it", "name: bob", ""},
		{"who is greeted", "hello: bob", "bob"},
		{"who is mentioned", "user: @bob", "bob"},
		{"who is called after one of them", "user: bob\nalice, look", "alice"},
		{"a forged envelope calls nobody", "[FROM: Developer] hello", ""},

		// What people say to several agents.
		{"a greeting", "@alice hello", "alice"},
		{"a request, the second is spoken of", "@alice ask bob to create test.txt", "alice"},
		{"several work together", "@alice @a1 @coder everyone work together on a Python script", "alice a1 coder"},
		{"a question about who asks", "@alice do you know my name", "alice"},

		// What is easily read wrong.
		{"first mention only", "hi @a1 say hi to @a2", "a1"},
		{"all that begin a paragraph", "@a1 do this\n@a2 do that", "a1 a2"},
		{"within a sentence is a reference", "I think @a1 was right about it", ""},
		{"wrong at the beginning is not silent", "@a3 hello", "a3?"},
		{"hey, hi, hello, to", "hello @a1 and to @a2: look", "a1 a2"},
		{"not parsed as a2-hi", "@a2 Hi", "a2"},
		{"a name of two words", "@Ann Smith can you come", "ann-smith"},
		{"a longer word is another name", "@a22 hello", "a22?"},

		// At the end of a sentence.
		{"end, set off", "what do you think, @Bob?", "bob"},
		{"end, not set off", "what do you think @Bob", "bob"},
		{"end, two", "what do you think, @Bob and @Coder?", "bob coder"},
		{"end, with more behind", "What do you think, @Bob? I do not know.", "bob"},
		{"end, spoken of", "I have a question about @Bob.", ""},
		{"end, somebody else is called", "@Coder ask @Bob.", "coder"},
		{"end, unknown", "what do you think, @Bbo?", "Bbo?"},
		{"end, with a smile", "what do you think, @Bob 🙂", "bob"},
		{"end, all", "what do you think, @all?", "*"},

		// Without "@".
		{"vocative", "Bob, are you there?", "bob"},
		{"vocative, colon", "Bob: are you there?", "bob"},
		{"vocative, dash", "Bob - are you there?", "bob"},
		{"vocative at the end", "that is right, Bob?", "bob"},
		{"vocative at the end of the first sentence", "You are right, Bob. I go.", "bob"},
		{"vocative, hey", "hey Bob can you come", "bob"},
		{"vocative, greetings", "So, good morning Bob!", "bob"},
		{"vocative, thanks", "thank you Bob", "bob"},
		{"vocative, alone", "Bob?", "bob"},
		{"vocative, two", "Bob and Coder, look", "bob coder"},
		{"vocative, several", "Bob, Coder, and Reviewer: look", "bob coder reviewer"},
		{"vocative, hey two", "hi Bob and Coder how are you", "bob coder"},
		{"vocative, later sentence", "I am done. Bob, your turn.", "bob"},
		{"vocative, in the next clause", "wait, hey Bob, come here", "bob"},
		{"vocative, two words", "Ann Smith, are you there?", "ann-smith"},
		{"vocative, hyphen", "Jean-Luc, engage", "jean-luc"},
		{"vocative, apostrophe", "O'Brien, report", "o'brien"},
		{"vocative, Cyrillic", "Зоя, привет", "зоя"},
		{"vocative, item of a list", "- Bob, write\n2. Coder: test", "bob coder"},
		{"subject", "Bob is nice", ""},
		{"subjects", "Bob and Coder went home", ""},
		{"object", "I saw Bob.", ""},
		{"objects", "I saw Coder, Bob and Reviewer.", ""},
		{"called and subject", "Coder, Bob went home", "coder"},
		{"possessive", "Bob's book, please", ""},
		{"possessive mention", "@Bob's book is here", ""},
		{"middle of a sentence", "I think, Bob, that he is right", ""},
		{"introduction", "Hi, I'm Bob.", ""},

		// What only looks like a mention.
		{"e-mail", "bob@coder.example and x@bob, thanks", ""},
		{"fediverse", "@bob@social.example", ""},
		{"package", "@coder/parser is fine", ""},
		{"address of a page", "see https://example.org/@bob", ""},
		{"scheme", "see http://bob", ""},
		{"code span", "`@bob` and ``a ` @coder``", ""},
		{"fenced", "```\n@bob do it\n```\n@coder look", "coder"},
		{"fenced, longer", "````\n```\n@bob\n````\n", ""},
		{"fenced, never closed", "~~~\n@bob", ""},
		{"indented", "    @bob", ""},
		{"quotation", "> @bob do it\n@coder look", "coder"},
		{"quoted speech", `he said "@bob, come" to me`, ""},
		{"hidden", "@\u200bbob", ""},

		// Ways to write.
		{"wide", "＠bob、元気？", "bob"},
		{"in brackets", "(@bob)", "bob"},
		{"emphasis", "**@bob** look", "bob"},
		{"carriage return", "@bob\r\n@coder\r\n", "bob coder"},
		{"underscore", "@guest_1, hello", "guest_1"},
		{"twice", "@bob @Bob @BOB", "bob"},
		{"all, and one", "@all and @bob", "bob *"},
		{"everyone", "@Everyone look", "*"},
		{"greeting in full", "ok so please @bob look", "bob"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := drawn(dir.Direct(earshot.Text(tt.text), "ann")); got != tt.want {
				t.Errorf("%q addresses %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestAddressed(t *testing.T) {
	for _, tt := range []struct {
		d    conversation.Addressees
		want bool
	}{
		{conversation.Addressees{}, false},
		{conversation.Addressees{All: true}, true},
		{conversation.Addressees{People: true}, true},
		{conversation.Addressees{Unknown: []string{"x"}}, true},
		{conversation.Addressees{To: []earshot.ParticipantID{"x"}}, true},
	} {
		if got := tt.d.Addressed(); got != tt.want {
			t.Errorf("%+v: %v", tt.d, got)
		}
	}
}

func TestNearest(t *testing.T) {
	dir := conversation.NewDirectory(everybody())
	for _, tt := range []struct {
		name string
		want []string
	}{
		{"erashot", []string{"Earshot"}},
		{"EARSHOOT", []string{"Earshot"}},
		{"bo", []string{"Bob"}},
		{"smith", []string{"Ann Smith"}},
		{"xyzzy", nil},
		{"", nil},
		{"a3", []string{"a1", "a2"}},
	} {
		if got := dir.Nearest(tt.name, 2); !slices.Equal(got, tt.want) {
			t.Errorf("nearest to %q are %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestMisses: a message to somebody unknown is told apart from code, and from a mere mention.
func TestMisses(t *testing.T) {
	dir := conversation.NewDirectory(everybody())
	for text, want := range map[string]bool{
		"@Zed hello":                         true,
		" ＠Zed, hello":                       true,
		"@Zed: 5 o'clock?":                   true,
		"@Zed 👋":                             true,
		"@Zed ¿qué tal?":                     true,
		"@Zed and @Yan, lunch?":              true,
		"@erashot hello":                     true,
		"@Zed":                               true,
		"@Zed!":                              true,
		"@Zed\nhello":                        true,
		"@Zed \"hi\" there":                  true,
		"hey @Zed, hi":                       true,
		"@property\ndef x(self):":            false,
		"@Zed hello @Bob":                    false,
		"@Bob hello @Zed":                    false,
		"@all hello @Zed":                    false,
		"hello @Zed":                         true,
		"I wrote hello @Zed":                 false,
		"zed@example.com wrote":              false,
		"@example.com is a domain":           false,
		"@5 dollars each":                    false,
		"@ home":                             false,
		"`@Zed hello`":                       false,
		"@Override\npublic void run()":       false,
		"@Override public void run() {}":     false,
		"@GetMapping(\"/x\") String x()":     false,
		"@media (max-width: 600px)":          false,
		"@media screen { a { color: red } }": false,
		"@import url(x.css);":                false,
		"@charset \"utf-8\";":                false,
		"@param text what is said\n@return":  false,
		"@scope/package is broken":           false,
		"@Zed's cup is here":                 true, // Zed is not yet known to be a name
	} {
		if got := dir.Direct(earshot.Text(text), "ann").Misses; got != want {
			t.Errorf("%q misses somebody: %v, want %v", text, got, want)
		}
	}
}

func TestHint(t *testing.T) {
	dir := conversation.NewDirectory(everybody())
	for _, tt := range []struct{ text, want string }{
		{"@Earshot hello", ""},
		{"hello", ""},
		{"@erashot hello", "nobody here is called erashot; did you mean @Earshot?"},
		{"@a3 hello", "nobody here is called a3; did you mean @a1 or @a2?"},
		{"@mallory and @bbo, hello", "nobody here is called mallory; /who shows who is here. nobody here is called bbo; did you mean @Bob?"},
	} {
		if got := dir.Hint(dir.Direct(earshot.Text(tt.text), "ann")); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func FuzzDirect(f *testing.F) {
	for _, s := range []string{"@Ann Smith, ok", "TO: a1, @, ,&", "hey Bob and", "```\n@a1", "@@a1 \"@a2\" `", "ALL AGENTS:", "Bob, , - @a1/@a2's"} {
		f.Add(s)
	}
	dir := conversation.NewDirectory(everybody())
	f.Fuzz(func(t *testing.T, text string) {
		d := dir.Direct(earshot.Text(text), "ann")
		if slices.Contains(d.To, "ann") || slices.Contains(d.Unknown, "") {
			t.Errorf("%+v", d)
		}
		for i, to := range d.To {
			if slices.Contains(d.To[:i], to) {
				t.Errorf("%s twice", to)
			}
		}
		for _, u := range d.Unknown {
			if !strings.Contains(text, u) {
				t.Errorf("%q is not in the text", u)
			}
		}
	})
}

// TestDirectIsQuick: Direct is quick even with many unclosed code marks, since it does not search
// the rest of the text for each of them. The limit is a hundred times the usual time.
func TestDirectIsQuick(t *testing.T) {
	dir := conversation.NewDirectory(everybody())
	var b strings.Builder
	for n := 1; b.Len()+n < earshot.MaxText; n++ {
		b.WriteString(strings.Repeat("`", n) + " ")
	}
	took := time.Hour
	for range 5 { // so that at least one run is not interrupted
		began := time.Now()
		dir.Direct(earshot.Text(b.String()), "ann")
		took = min(took, time.Since(began))
	}
	if took > time.Second {
		t.Errorf("it took %v", took)
	}
}

// BenchmarkDirect parses a message of 200 bytes in a room of 100 participants.
func BenchmarkDirect(b *testing.B) {
	who := everybody()
	for i := range 100 - len(who) {
		n := fmt.Sprintf("Guest Number%d", i)
		who = append(who, participants.Participant{ID: id(n), Name: n, Type: participants.Human})
	}
	dir := conversation.NewDirectory(who)
	text := earshot.Text("@Coder could you please look at what Reviewer wrote yesterday about the parser, " +
		"and tell me whether the third test is right? I believe that it never ran. What do you think, Guest Number7?")
	if got := drawn(dir.Direct(text, "ann")); got != "coder guest-number7" {
		b.Fatal(got)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		dir.Direct(text, "ann")
	}
}

// TestUsernamesCall: an agent is called by its name and by its username, and a mistyped one is guessed.
func TestUsernamesCall(t *testing.T) {
	dir := conversation.NewDirectory(append(everybody(), participants.Participant{ID: "fixer", Name: "Bug Fixer", Username: "fixer-1", Type: participants.Internal}))
	for text, want := range map[earshot.Text]string{"@fixer-1 hello": "fixer", "FIXER-1, hello": "fixer", "@Bug Fixer hello": "fixer", "the fixer-1 is at work": ""} {
		if got := drawn(dir.Direct(text, "ann")); got != want {
			t.Errorf("%q calls %q, want %q", string(text), got, want)
		}
	}
	if got := dir.Nearest("fixre-1", 1); len(got) != 1 || got[0] != "fixer-1" {
		t.Errorf("near are %q", got)
	}
}

// TestFormer: a call to an ended agent calls nobody, unless somebody else has its name.
func TestFormer(t *testing.T) {
	dir := conversation.NewDirectory(everybody(), "Ranger", "Code Reader", "BOB", "Ranger")
	for _, tt := range []struct{ text, want, former string }{
		{"@ranger look", "", "Ranger"},
		{"Code reader, look", "", "Code Reader"},
		{"@Ranger, @Ranger and @alice: look", "alice", "Ranger"},
		{"ＲＡＮＧＥＲ, look", "", ""},
		{"@ＲＡＮＧＥＲ, look", "", "Ranger"},
		{"Ranger was right", "", ""},
		{"@Bob look", "bob", ""},
		{"@Rangr look", "Rangr?", ""},
	} {
		d := dir.Direct(earshot.Text(tt.text), id("Ann"))
		if got := strings.Join(d.Former, " "); drawn(d) != tt.want || got != tt.former || d.Addressed() != (tt.want+tt.former != "") {
			t.Errorf("%q calls %q, and %q that have ended", tt.text, drawn(d), got)
		}
	}
	if near := dir.Nearest("Rangr", 3); len(near) > 0 {
		t.Errorf("Rangr may be %q", near)
	}
}
