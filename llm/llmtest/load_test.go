package llmtest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"earshot/llm"
	"earshot/llm/llmtest"
)

func TestParse(t *testing.T) {
	got, err := llmtest.Parse([]byte(`
reply: I have no line for that.
vision: true
rules:
  - when: tides
    reply: The sea.
    thinking: The moon, then.
    every_seconds: 0.2
  - when: ""
    reply: Yes.
  - agent: Bob
    when: list
    calls:
      - {tool: write_file, arguments: {path: a.txt, lines: [1, b, {c: null}]}}
      - tool: list_files
  - result: ""
    replies:
      - reply: First.
      - {thinking: Hm., calls: [{tool: note, arguments: {}}]}
  - {for: thought, when: a, reply: b}
  - {for: findings, when: "", reply: "{}"}
  - {for: reply, when: c, reply: d}
  - {when: e, pictures: 1, reply: f}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := &llmtest.Script{
		Reply: "I have no line for that.", Every: 50 * time.Millisecond, Vision: true,
		Rules: []llmtest.Rule{
			{When: "tides", Reply: "The sea.", Thinking: "The moon, then.", Every: 200 * time.Millisecond},
			{When: "", Reply: "Yes."},
			{When: "list", Agent: "Bob", Calls: []llm.Call{
				{Tool: "write_file", Arguments: json.RawMessage(`{"lines":[1,"b",{"c":null}],"path":"a.txt"}`)},
				{Tool: "list_files", Arguments: json.RawMessage("{}")},
			}},
			{Result: new(""), Replies: []llmtest.Reply{
				{Text: "First."},
				{Thinking: "Hm.", Calls: []llm.Call{{Tool: "note", Arguments: json.RawMessage("{}")}}},
			}},
			{For: llmtest.ForThought, When: "a", Reply: "b"},
			{For: llmtest.ForFindings, Reply: "{}"},
			{When: "c", Reply: "d"},
			{When: "e", Pictures: new(1), Reply: "f"},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("parsed %+v, want %+v", got, want)
	}
	if got, err := llmtest.Parse([]byte("reply: a\nevery_seconds: 0\n")); err != nil || got.Every != 0 {
		t.Errorf("as fast as it is read: %+v, %v", got, err)
	}
}

func TestParseFaults(t *testing.T) {
	for _, tt := range []struct{ name, data, want string }{
		{"empty", "", "is empty; it must have a reply"},
		{"only a comment", "# nothing\n", "is empty; it must have a reply"},
		{"null", "null\n", "line 1: reply is missing; it is said when no rule fits"},
		{"no reply", "rules: []\n", "line 1: reply is missing; it is said when no rule fits"},
		{"unknown key", "reply: a\nreplay: b\n", "yaml: unmarshal errors:\n  line 2: field replay not found in type llmtest.file"},
		{"every fault", "reply: a\nrules:\n- reply: b\n- when: c\n  reply: ' '\n",
			"line 3: rule 1 has no when; write when: \"\" if it fits every message\nline 4: rule 2 has no reply"},
		{"a rule that is nothing", "reply: a\nrules: [~]\n", "line 2: rule 1 is empty"},
		{"a rule merged in", "reply: a\n<<: {rules: [~, ~]}\n", "line 1: rule 1 is empty\nline 1: rule 2 is empty"},
		{"nothing to a result", "reply: a\nrules:\n- result: b\n", "line 3: rule 1 has no reply"},
		{"replies and a reply", "reply: a\nrules:\n- when: b\n  thinking: c\n  replies: [{reply: d}]\n",
			"line 3: rule 1 has replies and one beside them; write that one as one of the replies"},
		{"an empty reply of several", "reply: a\nrules:\n- when: b\n  replies: [{reply: d}, {}]\n", "line 3: rule 1 in its reply 2 has no reply"},
		{"calls nothing", "reply: a\nrules:\n- when: b\n  calls: [{arguments: {a: b}}]\n", "line 3: rule 1 has no tool in call 1"},
		{"arguments that are not JSON", "reply: a\nrules:\n- when: b\n  replies: [calls: [{tool: c, arguments: {a: {1: .nan}}}]]\n",
			"line 3: rule 1 in its reply 1 has arguments in call 1 that are no JSON"},
		{"for what there is not", "reply: a\nrules:\n- {for: fun, when: b, reply: c}\n", "line 3: rule 1 is for \"fun\"; must be for reply, thought, findings or memory"},
		{"too many pictures", "reply: a\nrules:\n- {pictures: 5, when: b, reply: c}\n", "line 3: rule 1 is for 5 pictures; a request shows from 0 to 4"},
		{"two documents", "reply: a\n---\nreply: b\n", "has more than one document; it must have one"},
		{"no YAML", "reply: [", "yaml: line 1: did not find expected node content"},
		{"a list", "- a\n", "yaml: unmarshal errors:\n  line 1: cannot unmarshal !!seq into llmtest.file"},
		{"too long", strings.Repeat("#", 5<<20), "is longer than 4194304 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := llmtest.Parse([]byte(tt.data)); err == nil || err.Error() != tt.want {
				t.Errorf("fails with\n%v\nwant\n%v", err, tt.want)
			}
		})
	}
	_, err := llmtest.Parse([]byte("reply: a\nevery_seconds: -1\n"))
	if err == nil || !strings.Contains(err.Error(), "must not be less than 0") {
		t.Errorf("a negative pace fails with %v", err)
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "script.yaml")
	if _, err := llmtest.Load(path); err == nil || !strings.HasPrefix(err.Error(), "reading a script: ") {
		t.Errorf("a missing file fails with %v", err)
	}
	if err := os.WriteFile(path, []byte("reply: ''\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := llmtest.Load(path); err == nil || !strings.HasPrefix(err.Error(), path+": line 1: ") {
		t.Errorf("a faulty file fails with %v", err)
	}
	if err := os.WriteFile(path, []byte("reply: Hello.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := llmtest.Load(path); err != nil || s.Reply != "Hello." {
		t.Errorf("loads %+v, %v", s, err)
	}
}

// FuzzParse: whatever a file says, Parse returns a complete script or an error.
func FuzzParse(f *testing.F) {
	f.Add([]byte("reply: a\nrules:\n- when: b\n  reply: c\n  every_seconds: 0.1\n"))
	f.Add([]byte("reply: a\nrules:\n- result: b\n  agent: c\n  replies: [{calls: [{tool: d, arguments: {e: [1]}}]}]\n"))
	f.Add([]byte("a: &a [b]\nreply: x\nrules: *a\n"))
	f.Add([]byte("reply: x\nrules: {when: a}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := llmtest.Parse(data)
		if err != nil {
			return
		}
		if strings.TrimSpace(s.Reply) == "" || s.Every < 0 {
			t.Errorf("a script without a reply or with no pace: %+v", s)
		}
		for _, r := range s.Rules {
			replies := r.Replies
			if len(replies) == 0 {
				replies = []llmtest.Reply{{Text: r.Reply, Calls: r.Calls}}
			}
			for _, a := range replies {
				if strings.TrimSpace(a.Text) == "" && len(a.Calls) == 0 || r.Every < 0 {
					t.Errorf("a rule without a reply: %+v", r)
				}
				for _, c := range a.Calls {
					if c.Tool == "" || !json.Valid(c.Arguments) || c.Arguments[0] != '{' {
						t.Errorf("a call that is none: %s %s", c.Tool, c.Arguments)
					}
				}
			}
		}
	})
}
