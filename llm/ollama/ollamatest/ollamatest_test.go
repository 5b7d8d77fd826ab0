package ollamatest_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/jpeg"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"
	"go.uber.org/goleak"

	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/ollama/ollamatest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestBinary: the default place of the binary is where the script puts it.
func TestBinary(t *testing.T) {
	t.Setenv("EARSHOT_OLLAMA", "")
	out, err := testkit.Command(t, "../../../scripts/ollama/build", "--where").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ollamatest.Binary(), strings.TrimSpace(string(out)); got != want {
		t.Errorf("looks for %s, but the script puts it at %s", got, want)
	}
}

// ask returns a whole reply, asked for with Ollama's own client.
func ask(t *testing.T, s *ollamatest.Server, model string, messages ...api.Message) api.ChatResponse {
	t.Helper()
	var last api.ChatResponse
	err := s.Client().Chat(t.Context(), &api.ChatRequest{
		Model:    model,
		Messages: messages,
		Stream:   new(false),
		Think:    &api.ThinkValue{Value: model == "thinker"},
	}, func(r api.ChatResponse) error { last = r; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if !last.Done {
		t.Fatal("the reply did not end")
	}
	return last
}

func user(text string) api.Message      { return api.Message{Role: "user", Content: text} }
func assistant(text string) api.Message { return api.Message{Role: "assistant", Content: text} }
func system(text string) api.Message    { return api.Message{Role: "system", Content: text} }

func TestModel(t *testing.T) {
	s := ollamatest.Start(t, ollamatest.Options{})
	long := strings.Repeat("Nothing is written here, and it goes on for a while without a word. ", 12)
	m := ollamatest.Model{
		Says:   "I have nothing to say to that.",
		Layers: 1,
		Routes: []ollamatest.Route{
			{Word: "weather", Says: "It rains in Zürich — 雨, ☂."},
			{Word: "tides", Says: "The tides are the sea's answer.\n\n\tTwice a day.  "},
			{Word: "ponder", Says: "<think>Ponds, perhaps.</think>It is 42."},
		},
	}
	if err := s.Make(t.Context(), "m", m); err != nil {
		t.Fatal(err)
	}
	instructed := m
	instructed.Instructed = true
	if err := s.Make(t.Context(), "instructed", instructed); err != nil {
		t.Fatal(err)
	}
	learned := instructed
	learned.Words = 8192
	learned.Reads = "how is the weather? or the harbour\n"
	if err := s.Make(t.Context(), "learned", learned); err != nil {
		t.Fatal(err)
	}
	m.Thinks = true
	if err := s.Make(t.Context(), "thinker", m); err != nil {
		t.Fatal(err)
	}
	const usual, rain, sea = "I have nothing to say to that.", "It rains in Zürich — 雨, ☂.", "The tides are the sea's answer.\n\n\tTwice a day.  "
	for _, tt := range []struct {
		name, model    string
		messages       []api.Message
		says, thinking string
	}{
		{"by default", "m", []api.Message{user("good morning")}, usual, ""},
		{"a word", "m", []api.Message{user("how is the weather?")}, rain, ""},
		{"the word alone", "m", []api.Message{user("weather")}, rain, ""},
		{"the last of two", "m", []api.Message{user("not the weather, the tides")}, sea, ""},
		{"the last of two, the other way", "m", []api.Message{user("not the tides, the weather")}, rain, ""},
		{"side by side", "m", []api.Message{user("weathertides")}, sea, ""},
		{"in a long message", "m", []api.Message{user("weather " + long)}, rain, ""},
		{"what the user said before does not count", "m", []api.Message{user("weather"), assistant("x"), user("good")}, usual, ""},
		{"what the user says now does", "m", []api.Message{user("weather"), assistant("x"), user("tides")}, sea, ""},
		{"the system is not read", "m", []api.Message{user("x"), system("weather")}, usual, ""},
		{"the system does not count", "instructed", []api.Message{system("weather"), user("x")}, usual, ""},
		{"a word in the instructions that come last", "instructed", []api.Message{user("tides"), system("weather")}, rain, ""},
		{"no word in the instructions that come last", "instructed", []api.Message{user("tides"), system("go on")}, sea, ""},
		{"among many words that are never said", "learned", []api.Message{user("the weather, <pad7000>")}, rain, ""},
		{"among words that it reads at once", "learned", []api.Message{user("how is the weather?")}, rain, ""},
		{"after a long talk", "m", []api.Message{user(long), assistant(long), user("weather"), assistant(long), user("tides")}, sea, ""},
		{"after a long talk, nothing", "m", []api.Message{user(long), assistant(long), user("weather"), assistant(rain), user("good")}, usual, ""},
		{"thoughts in the text", "m", []api.Message{user("ponder")}, "<think>Ponds, perhaps.</think>It is 42.", ""},
		{"thoughts apart", "thinker", []api.Message{user("ponder")}, "It is 42.", "Ponds, perhaps."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ask(t, s, tt.model, tt.messages...).Message
			if got.Content != tt.says || got.Thinking != tt.thinking {
				t.Errorf("says %q, thinks %q; want %q, %q", got.Content, got.Thinking, tt.says, tt.thinking)
			}
		})
	}
}

// TestReads: a word that a model reads costs one token; any other text costs a token a byte.
func TestReads(t *testing.T) {
	s := ollamatest.Start(t, ollamatest.Options{})
	if err := s.Make(t.Context(), "m", ollamatest.Model{Says: "Yes.", Layers: 1, Reads: "the harbour is\nquiet tonight"}); err != nil {
		t.Fatal(err)
	}
	of := func(text string) int {
		return ask(t, s, "m", user(text)).PromptEvalCount - ask(t, s, "m", user("")).PromptEvalCount
	}
	for text, want := range map[string]int{"tonight": 1, "tonight tonight": 3, "the harbour is": 3, "Yes.": 4, "is tonight": 3, "the harbour is quiet": 9} {
		if got := of(text); got != want {
			t.Errorf("%q is %d tokens, want %d", text, got, want)
		}
	}
}

func TestEndless(t *testing.T) {
	s := ollamatest.Start(t, ollamatest.Options{})
	if err := s.Make(t.Context(), "m", ollamatest.Model{Says: "Row, row, row your boat. ", Layers: 1, Endless: true}); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	err := s.Client().Chat(t.Context(), &api.ChatRequest{
		Model: "m", Messages: []api.Message{user("sing")}, Options: map[string]any{"num_predict": 200},
	}, func(r api.ChatResponse) error { said.WriteString(r.Message.Content); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if got := said.String(); !strings.HasPrefix(strings.Repeat("Row, row, row your boat. ", 100), got) || len(got) < 500 {
		t.Errorf("sings %d bytes: %.100q", len(got), got)
	}
}

// TestCannotBeMade: a model that cannot be made says why, without asking any server.
func TestCannotBeMade(t *testing.T) {
	s := ollamatest.Start(t, ollamatest.Options{})
	for _, tt := range []struct {
		name  string
		model ollamatest.Model
		want  string
	}{
		{"nothing to say", ollamatest.Model{}, "cannot say"},
		{"no UTF-8", ollamatest.Model{Says: "\xff"}, "cannot say"},
		{"the tokenizer's space", ollamatest.Model{Says: "a▁b"}, "cannot say"},
		{"a route without a text", ollamatest.Model{Says: "x", Routes: []ollamatest.Route{{Word: "y"}}}, "cannot say"},
		{"a text twice", ollamatest.Model{Says: "x", Routes: []ollamatest.Route{{Word: "y", Says: "x"}}}, "said twice"},
		{"a word twice", ollamatest.Model{Says: "x", Routes: []ollamatest.Route{{Word: "y", Says: "a"}, {Word: "y", Says: "b"}}}, "stands twice"},
		{"a call without tools", ollamatest.Model{Says: "x", Routes: []ollamatest.Route{{Word: "y", Calls: []llm.Call{{Tool: "note"}}}}}, "cannot call note"},
		{"a call and more to choose", ollamatest.Model{Says: "x", Chooses: true, Routes: []ollamatest.Route{{Word: "y", Says: "z", Calls: []llm.Call{{Tool: "note"}}}}}, "cannot choose"},
		{"a call with half an object", ollamatest.Model{Says: "x", Tools: true, Routes: []ollamatest.Route{{Word: "y", Calls: []llm.Call{{Tool: "note", Arguments: json.RawMessage("{")}}}}}, "not JSON"},
		{"too many routes", ollamatest.Model{Says: "x", Routes: make([]ollamatest.Route, 24)}, "places for 23"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := s.Make(t.Context(), "m", tt.model)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestRestart: a server that is killed comes back on the same port, with its models.
func TestRestart(t *testing.T) {
	s := ollamatest.Start(t, ollamatest.Options{})
	if err := s.Make(t.Context(), "m", ollamatest.Model{Says: "Here I am.", Layers: 1}); err != nil {
		t.Fatal(err)
	}
	for _, end := range []func(){s.Kill, func() { s.Kill(); s.Kill() }, func() {}} {
		end()
		if err := s.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := ask(t, s, "m", user("hello")).Message.Content; got != "Here I am." {
			t.Errorf("says %q", got)
		}
	}
	if n := s.KillRunner(); n != 1 {
		t.Errorf("killed %d runners, want 1", n)
	}
}

// TestSight shows pictures to a test model: it says what is in them.
func TestSight(t *testing.T) {
	s := ollamatest.Start(t, ollamatest.Options{})
	m := ollamatest.Model{
		Says: "I was shown nothing.", After: "It is done.", Layers: 1, Sees: &ollamatest.Sight{Light: "It is light.", Dark: "It is dark."},
		Routes: []ollamatest.Route{{Word: "weather", Says: "It rains."}},
	}
	if err := s.Make(t.Context(), "watcher", m); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		grey []uint8 // the grey of each picture, from dark to light
		text string
		want string
	}{
		{"nothing", nil, "what do you see?", "I was shown nothing."},
		{"light", []uint8{230}, "what do you see?", "It is light."},
		{"dark", []uint8{20}, "what do you see?", "It is dark."},
		{"a word counts for more", []uint8{20}, "what is the weather like?", "It rains."},
		{"the last of two", []uint8{20, 230}, "what do you see?", "It is light."},
	} {
		in := user(tt.text)
		for _, grey := range tt.grey {
			in.Images = append(in.Images, picture(t, 64, 48, grey))
		}
		if got := ask(t, s, "watcher", user("hello"), assistant("Yes."), in).Message.Content; got != tt.want {
			t.Errorf("%s: it says %q, want %q", tt.name, got, tt.want)
		}
	}
}

// picture returns a grey picture.
func picture(t *testing.T, width, height int, grey uint8) []byte {
	t.Helper()
	p := image.NewGray(image.Rect(0, 0, width, height))
	for i := range p.Pix {
		p.Pix[i] = grey
	}
	var data bytes.Buffer
	if err := jpeg.Encode(&data, p, nil); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}
