package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"earshot/config"
	"earshot/executive/tool"
	"earshot/executive/tool/workspace"
	"earshot/internal/probe"
	"earshot/internal/testkit"
	"earshot/llm/llmtest"
)

// TestDoctorTries: doctor has every server of OpenAI's protocol say one word, to a prompt of the
// form that rooms use, and reports the outcome.
func TestDoctorTries(t *testing.T) {
	t.Parallel()
	const templated = `{"error":{"message":"Jinja Exception: %s"}}`
	for _, tt := range []struct {
		name    string
		answers func(w http.ResponseWriter, body string)
		model   string
		want    string
	}{
		{"takes everything", func(w http.ResponseWriter, _ string) { speaks(w) }, "m", "✓ model          m on openai at HOST\n"},
		{"takes one system message", func(w http.ResponseWriter, body string) {
			if strings.Count(body, `"role":"system"`) > 1 {
				refuses(w, 500, fmt.Sprintf(templated, "System message must be at the beginning."))
				return
			}
			speaks(w)
		}, "m", "✓ model          m on openai at HOST; its chat template accepts only one system message and then turns, so requests take that form\n"},
		{"takes nothing", func(w http.ResponseWriter, _ string) {
			refuses(w, 400, fmt.Sprintf(templated, "Unexpected message role."))
		}, "m",
			"✗ model          openai at HOST: template (model m): 400 Bad Request: Jinja Exception: Unexpected message role.\n                   → start the server with the chat template that belongs to the model"},
		{"has no room", func(w http.ResponseWriter, _ string) { refuses(w, 500, `{"error":"CUDA out of memory."}`) }, "m",
			"✗ model          openai at HOST: no memory (model m): 500 Internal Server Error: CUDA out of memory.\n                   → choose a smaller executive.llm.model"},
		{"does not list it, and has it", func(w http.ResponseWriter, _ string) { speaks(w) }, "other", "✓ model          other on openai at HOST, which it does not list; it answers as\n"},
		{"does not list it, and has it not", func(w http.ResponseWriter, _ string) { refuses(w, 404, `{"error":"no such model"}`) }, "other", "✗ model          openai at HOST: no model (model other): 404 Not Found: no such model\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v1/models" {
					w.Header().Set("Content-Type", "application/json")
					io.WriteString(w, `{"object":"list","data":[{"id":"m"}]}`)
					return
				}
				body, _ := io.ReadAll(r.Body)
				if !strings.Contains(string(body), `"max_tokens":1,`) {
					t.Errorf("is asked for more than a token: %s", body)
				}
				tt.answers(w, string(body))
			}))
			defer testkit.Finish(t, testkit.Patience, "the end of the server", s.Close)
			h := newHome(t, "EARSHOT_EXECUTIVE_LLM_PROVIDER=openai", "EARSHOT_EXECUTIVE_LLM_HOST="+s.URL, "EARSHOT_EXECUTIVE_LLM_MODEL="+tt.model)
			r := h.earshot(nil, "doctor")
			if got := strings.ReplaceAll(r.out, strings.TrimPrefix(s.URL, "http://"), "HOST"); !strings.Contains(got, tt.want) {
				t.Errorf("doctor ended with %d and printed\n%swant\n%s", r.code, got, tt.want)
			}
		})
	}
}

// speaks sends a reply of one word.
func speaks(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Yes\"},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n")
}

// refuses sends an error.
func refuses(w http.ResponseWriter, code int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	io.WriteString(w, body)
}

// TestPromptOfTools bounds the bytes that tools add to each prompt of the account's owner, who may
// use all of them. 4,700 bytes were some 1,500 tokens of a small model, which take several seconds
// to read on a processor alone.
func TestPromptOfTools(t *testing.T) {
	t.Parallel()
	sizes := make(map[string]int)
	for _, use := range []string{"none", "schema"} {
		asked := make(chan string, 10)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if r.URL.Path == "/v1/models" {
				io.WriteString(w, `{"object":"list","data":[{"id":"m"}]}`)
				return
			}
			body, _ := io.ReadAll(r.Body)
			select {
			case asked <- string(body):
			default:
			}
			refuses(w, 400, `{"error":"not today"}`)
		}))
		defer testkit.Finish(t, testkit.Patience, "the end of the server", s.Close)
		h := newHome(t, "EARSHOT_EXECUTIVE_LLM_PROVIDER=openai", "EARSHOT_EXECUTIVE_LLM_HOST="+s.URL, "EARSHOT_EXECUTIVE_LLM_MODEL=m", "EARSHOT_EXECUTIVE_LLM_TOOLS="+use)
		w := h.open("run")
		w.await("is running.", 1)
		w.types("\r")
		w.says("tell me of the tides")
		var body struct{ Messages []struct{ Content string } }
		select {
		case said := <-asked:
			if err := json.Unmarshal([]byte(said), &body); err != nil {
				t.Fatal(err)
			}
		case <-time.After(soon):
			t.Fatal("the model was not asked")
		}
		for _, m := range body.Messages {
			sizes[use] += len(m.Content)
			if strings.Contains(m.Content, "read_file") != (use == "schema" && strings.Contains(m.Content, `{"say":`)) {
				t.Errorf("with tools %s a message says %s", use, m.Content)
			}
			if i := strings.Index(m.Content, "Answer with one JSON object"); i >= 0 {
				t.Logf("%d bytes:\n%s", len(m.Content[i:]), m.Content[i:])
			}
		}
	}
	const most = 2700 // bytes; some 650 tokens
	if tools := sizes["schema"] - sizes["none"]; tools > most || tools < most/4 {
		t.Errorf("the tools cost %d bytes of a prompt of %d; at most %d", tools, sizes["schema"], most)
	}
}

// TestModelsList: the list shows the models, their abilities and what each is used for, in a form
// for people and one for programs. An engine that does not answer is reported separately.
func TestModelsList(t *testing.T) {
	t.Parallel()
	s := newShelf(t, "first:1b", "second:latest")
	lm := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"object":"list","data":[{"id":"owl","meta":{"size":1500000000},"capabilities":{"vision":true}}]}`)
	}))
	defer testkit.Finish(t, testkit.Patience, "the end of the server", lm.Close)
	h := newHome(t)
	h.write("config/earshot/config.yaml", fmt.Sprintf(`
executive:
  llm:
    engines:
      - {name: home, provider: ollama, host: %q, model: second}
      - {name: studio, provider: openai, host: %q, model: parrot}
      - {name: away, provider: ollama, host: "127.0.0.1:1", model: a}
  reasoning: {engine: studio}
`, s.URL, lm.URL))
	r := h.earshot(nil, "models")
	const want = `ENGINE  MODEL          SIZE       CAN     ROLE         IN USE
home    first:1b       1.0 GB     -       talk, think  -
home    second:latest  1.0 GB     -       talk, think  talk
studio  owl            1.5 GB     vision  talk, think  -
studio  parrot         not there  -       talk, think  think

No speech model is installed; it hears and speaks by what comes with it.
  → earshot models get english   or choose: earshot models list --all
`
	if r.out != want || !strings.Contains(r.err, "✗ model          ollama at 127.0.0.1:1: unreachable\n                   → ") || r.code != success {
		t.Errorf("ended with %d and printed\n%s%swant\n%s", r.code, r.out, r.err, want)
	}
	r = h.earshot(nil, "models", "list", "--json")
	var list []probe.ModelInfo
	if err := json.Unmarshal([]byte(r.out), &list); err != nil || len(list) != 4 {
		t.Fatalf("%v: %s", err, r.out)
	}
	if is := list[1]; is.Engine != "home" || is.Model != "second:latest" || is.Bytes != 1e9 || fmt.Sprint(is.Roles, is.InUse) != "[talk think] [talk]" {
		t.Errorf("tells programs %+v", is)
	}
	alone := newHome(t, "EARSHOT_EXECUTIVE_LLM_HOST=127.0.0.1:1")
	if r := alone.earshot(nil, "models", "list", "--json"); r.code != failed || r.out != "[]\n" {
		t.Errorf("where nobody answers it ended with %d and printed %s%s", r.code, r.out, r.err)
	}
	if r := alone.earshot(nil, "models"); r.code != failed || r.out != "" || !strings.Contains(r.err, "unreachable") {
		t.Errorf("where nobody answers it ended with %d and printed %s%s", r.code, r.out, r.err)
	}
	empty := newHome(t, "EARSHOT_EXECUTIVE_LLM_HOST="+newShelf(t).URL, "EARSHOT_EXECUTIVE_REASONING_ENABLED=false")
	if r := empty.earshot(nil, "models"); !strings.Contains(r.out, "ollama  deepseek-r1:8b  not there  -    talk, think  talk\n") || r.code != success {
		t.Errorf("where there are none it ended with %d and printed %s%s", r.code, r.out, r.err)
	}
}

// TestModelsUse: a choice is written into the existing file and changes nothing else in it; or the
// command says what to write.
func TestModelsUse(t *testing.T) {
	s := newShelf(t, "first:1b", "second:latest")
	other := newShelf(t, "third:latest")
	two := fmt.Sprintf("executive:\n  llm:\n    engines: # both\n      - provider: ollama\n        host: %s # here\n        model: first:1b\n      - {name: other, provider: ollama, host: %q, model: third}\n", s.URL, other.URL)
	one := "executive:\n  llm:\n    # the server\n    host: " + s.URL + "\n    model: gone # was large\n"
	for _, tt := range []struct {
		name, file string
		args       []string
		environ    string
		code       int
		out, err   string // a part of each
		want       string // the file, if it changes
	}{
		{"the usual", one, []string{"first:1b"}, "", success, "Chosen to talk: first:1b on ollama. Saved in ", "", strings.Replace(one, "gone", "first:1b", 1)},
		{"not the whole name", one, []string{"second"}, "", success, "earshot is not running; this applies from its next start.", "", strings.Replace(one, "gone", "second:latest", 1)},
		{"without a file", "", []string{"second"}, "EARSHOT_EXECUTIVE_LLM_HOST=" + s.URL, success, "Chosen", "", "executive:\n  llm:\n    model: second:latest\n"},
		{"to think", one, []string{"second", "--role", "think"}, "", success, "Chosen to think: second:latest on ollama.", "", strings.Replace(one, "executive:\n", "executive:\n  reasoning:\n    model: second:latest\n", 1)},
		{"in a list", two, []string{"second"}, "", success, "Chosen", "", strings.Replace(two, "model: first:1b", "model: second:latest", 1)},
		{"of another engine", two, []string{"third"}, "", success, "Chosen to talk: third:latest on other.", "", strings.Replace(two, "  llm:\n", "  llm:\n    roles:\n      user:\n        engine: other\n        model: third:latest\n", 1)},
		{"of another engine, to think", two, []string{"third", "--role=think", "--engine=other"}, "", success, "Chosen to think", "", strings.Replace(two, "executive:\n", "executive:\n  reasoning:\n    engine: other\n    model: third:latest\n", 1)},
		{"unknown", one, []string{"owl"}, "", notFound, "", "ollama has no model \"owl\"\n  → earshot models get owl   or list the models: earshot models list\n", ""},
		{"of an engine that has another", two, []string{"third", "--engine", "ollama"}, "", notFound, "", "ollama has no model \"third\"", ""},
		{"of no engine", two, []string{"third", "--engine", "moon"}, "", notFound, "", "there is no engine \"moon\" that has models\n  → the engines are ollama, other", ""},
		{"of scripts alone", "executive:\n  llm:\n    provider: script\n    script: lines.yaml\n", []string{"owl"}, "", notFound, "", "no engine has models to choose from: a script is a file\n  → the engines are script", ""},
		{"where the environment goes before", one, []string{"second"}, "EARSHOT_EXECUTIVE_LLM_MODEL=x", failed, "", "EARSHOT_EXECUTIVE_LLM_MODEL overrides ", ""},
		{"in a file that is not changed", "executive: {llm: {host: \"" + s.URL + "\"}}\n", []string{"second"}, "", failed, "", "→ write this into it: executive.llm.model: second:latest\n", ""},
		{"of a server that does not answer", "executive:\n  llm:\n    host: 127.0.0.1:1\n", []string{"owl:3b"}, "", success, "Chosen to talk: owl:3b on ollama.", "", "executive:\n  llm:\n    model: owl:3b\n    host: 127.0.0.1:1\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			if tt.environ != "" {
				h.env = append(h.env, tt.environ)
			}
			if tt.file != "" {
				h.write("dotfiles/earshot.yaml", tt.file)
				h.write("config/earshot/other", "")
				if err := os.Symlink(filepath.Join(h.dir, "dotfiles/earshot.yaml"), filepath.Join(h.dir, "config/earshot/config.yaml")); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(filepath.Join(h.dir, "dotfiles/earshot.yaml"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			r := h.earshot(nil, append([]string{"models", "use"}, tt.args...)...)
			if r.code != tt.code || !strings.Contains(r.out, tt.out) || !strings.Contains(r.err, tt.err) || (tt.err == "") != (r.err == "") {
				t.Errorf("ended with %d and printed\n%s%swant %d\n%s%s", r.code, r.out, r.err, tt.code, tt.out, tt.err)
			}
			want := tt.want
			if want == "" {
				want = tt.file
			}
			if got := h.read("config/earshot/config.yaml"); got != want {
				t.Errorf("the file is\n%s\nwant\n%s", got, want)
			}
			if tt.file != "" {
				about, err := os.Lstat(filepath.Join(h.dir, "config/earshot/config.yaml"))
				behind, behindErr := os.Stat(filepath.Join(h.dir, "config/earshot/config.yaml"))
				if err != nil || behindErr != nil || about.Mode()&os.ModeSymlink == 0 || behind.Mode().Perm() != 0o644 {
					t.Errorf("the link became %v, and what it leads to %v", about.Mode(), behind.Mode())
				}
			}
			if left, err := filepath.Glob(filepath.Join(h.dir, "*", "earshot", "*.yaml.*")); len(left) > 0 || err != nil {
				t.Errorf("%v is left", left)
			}
		})
	}
}

// TestModelsUseAtOnce: a running earshot answers with the model that is chosen, whether by the
// command or in a chat.
func TestModelsUseAtOnce(t *testing.T) {
	t.Parallel()
	s := newShelf(t, "first:1b", "second:latest")
	h := newHome(t)
	h.write("config/earshot/config.yaml", "executive:\n  llm:\n    host: "+s.URL+"\n    model: first:1b # the small one\n")
	w := h.open("run")
	w.awaitModel("✓ model first:1b")
	w.types("\r")
	w.says("hello, who is there?")
	w.await(": I am first:1b.", 1)
	r := h.earshot(nil, "models", "use", "second")
	if r.code != success || !strings.Contains(r.out, "The running earshot uses it now.") {
		t.Errorf("ended with %d and printed %s%s", r.code, r.out, r.err)
	}
	w.says("and who is there now?")
	w.await(": I am second:latest.", 1)
	w.says("/model")
	w.await("ollama second:latest 1.0 GB - talk, think talk, think", 1)
	w.says("/model first:1b")
	w.await("Chosen to talk: first:1b on ollama.", 1)
	w.says("are you back?")
	w.await(": I am first:1b.", 2)
	w.says("/model owl")
	w.await("ollama has no model \"owl\"", 1)
	w.types("\x15") // clears the line, which the refused command is back in
	w.says("/exit")
	w.ended()
	if got, want := h.read("config/earshot/config.yaml"), "executive:\n  llm:\n    host: "+s.URL+"\n    model: first:1b # the small one\n"; got != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}
}

// pulling returns a progress line of a download.
func pulling(completed int64) string {
	return fmt.Sprintf(`{"status":"pulling abc","digest":"sha256:abc","total":2000000000,"completed":%d}`+"\n", completed)
}

func TestModelsGet(t *testing.T) {
	for _, tt := range []struct {
		name  string
		pulls func(w http.ResponseWriter, model string) bool
		args  []string
		code  int
		out   string
		err   string
	}{
		{"a model", func(w http.ResponseWriter, _ string) bool {
			io.WriteString(w, `{"status":"pulling manifest"}`+"\n")
			for i := range int64(41) {
				io.WriteString(w, pulling(i*50_000_000))
			}
			io.WriteString(w, `{"status":"verifying sha256 digest"}`+"\n")
			return true
		}, nil, success, "owl: pulling manifest\nowl: pulling abc, 0% of 2.0 GB\nowl: pulling abc, 10% of 2.0 GB\nowl: pulling abc, 20% of 2.0 GB\nowl: pulling abc, 30% of 2.0 GB\nowl: pulling abc, 40% of 2.0 GB\n" +
			"owl: pulling abc, 50% of 2.0 GB\nowl: pulling abc, 60% of 2.0 GB\nowl: pulling abc, 70% of 2.0 GB\nowl: pulling abc, 80% of 2.0 GB\nowl: pulling abc, 90% of 2.0 GB\nowl: pulling abc, 100% of 2.0 GB\n" +
			"owl: verifying sha256 digest, 100% of 2.0 GB\nowl is ready. To use it: earshot models use owl\n", ""},
		{"for a program", func(w http.ResponseWriter, _ string) bool { io.WriteString(w, pulling(1_000_000_000)); return true }, []string{"--json"}, success,
			"{\"model\":\"owl\",\"status\":\"pulling abc\",\"completed\":1000000000,\"total\":2000000000}\n", ""},
		{"that there is not", func(w http.ResponseWriter, _ string) bool {
			io.WriteString(w, `{"error":"pull model manifest: file does not exist"}`)
			return false
		}, nil, failed, "", "did not download owl: pull model manifest: file does not exist\n  → write the name as https://ollama.com/library has it, such as llama3.2:3b; then: earshot models get owl\n"},
		{"for which there is no room", func(w http.ResponseWriter, _ string) bool {
			io.WriteString(w, pulling(5)+`{"error":"write /m/blob-partial: no space left on device"}`)
			return false
		}, nil, failed, "owl: pulling abc, 0% of 2.0 GB\n", "no space left on device\n  → make room on the disk where Ollama keeps its models"},
		{"that breaks off", func(w http.ResponseWriter, _ string) bool { io.WriteString(w, pulling(5)); return false }, nil, failed, "owl: pulling abc, 0% of 2.0 GB\n",
			"the stream ended in the middle of the reply\n  → try it again: earshot models get owl\n"},
		{"for no engine", nil, []string{"--engine", "moon"}, notFound, "", "there is no engine \"moon\"\n  → the engines are ollama\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t)
			s.downloads(tt.pulls)
			h := newHome(t, "EARSHOT_EXECUTIVE_LLM_HOST="+s.URL)
			r := h.earshot(nil, append([]string{"models", "get", "owl"}, tt.args...)...)
			if r.code != tt.code || r.out != tt.out || !strings.Contains(r.err, tt.err) || (tt.err == "") != (r.err == "") {
				t.Errorf("ended with %d and printed\n%s%swant %d\n%s%s", r.code, r.out, r.err, tt.code, tt.out, tt.err)
			}
		})
	}
	s := newShelf(t)
	s.downloads(func(w http.ResponseWriter, _ string) bool { io.WriteString(w, pulling(5)); return true })
	h := newHome(t, "EARSHOT_EXECUTIVE_LLM_HOST="+s.URL, "EARSHOT_LOG_LEVEL=loud")
	if r := h.earshot(nil, "models", "get", "owl"); r.code != success || !strings.Contains(r.out, "owl is ready") || !strings.Contains(r.err, "log.level") {
		t.Errorf("with a fault elsewhere it ended with %d and printed %s%s", r.code, r.out, r.err)
	}
	h = newHome(t, "EARSHOT_EXECUTIVE_LLM_HOST="+s.URL, "EARSHOT_EXECUTIVE_LLM_SLOTS=many")
	if r := h.earshot(nil, "models", "get", "owl"); r.code != misused || !strings.Contains(r.err, "executive.llm.slots") {
		t.Errorf("with a fault of the engine it ended with %d and printed %s%s", r.code, r.out, r.err)
	}
	h = newHome(t, "EARSHOT_EXECUTIVE_LLM_PROVIDER=openai", "EARSHOT_EXECUTIVE_LLM_HOST=localhost:1", "EARSHOT_EXECUTIVE_LLM_MODEL=a")
	if r := h.earshot(nil, "models", "get", "owl"); r.code != failed || !strings.Contains(r.err, "openai gets its models elsewhere: llama-server and vLLM are started with a model, LM Studio downloads with: lms get") {
		t.Errorf("of a server that cannot it ended with %d and printed %s%s", r.code, r.out, r.err)
	}
}

// TestModelsGetStops: ^C ends a download at once and says how to continue it, and the server
// notices.
func TestModelsGetStops(t *testing.T) {
	t.Parallel()
	s, gone := newShelf(t), make(chan struct{})
	s.downloads(func(w http.ResponseWriter, _ string) bool {
		defer close(gone)
		for i := int64(1); ; i++ {
			if _, err := io.WriteString(w, pulling(i)); err != nil {
				return false
			}
			w.(http.Flusher).Flush()
		}
	})
	h := newHome(t, "EARSHOT_EXECUTIVE_LLM_HOST="+s.URL)
	w := h.open("models", "get", "owl")
	w.await("owl: pulling abc, 0% of 2.0 GB", 1)
	w.types("\x03")
	w.await("earshot: stopped; what was downloaded is kept → to continue: earshot models get owl", 1)
	w.ended()
	select {
	case <-gone:
	case <-time.After(soon):
		t.Error("the server was not told to stop")
	}
}

// misfit returns an error if a call in s does not fit the schema of its tool.
func misfit(s *llmtest.Script) error {
	tools := new(workspace.Store).Tools()
	for _, r := range s.Rules {
		for _, c := range r.Calls {
			i := slices.IndexFunc(tools, func(t tool.Tool) bool { return t.Name == c.Tool })
			if i < 0 {
				return fmt.Errorf("no tool of an agent's folder is called %s", c.Tool)
			}
			var schema struct {
				Properties map[string]any
				Required   []string
			}
			var given map[string]any
			if err := errors.Join(json.Unmarshal(tools[i].Parameters, &schema), json.Unmarshal([]byte(c.Arguments), &given)); err != nil {
				return err
			}
			for _, key := range schema.Required {
				if given[key] == nil {
					return fmt.Errorf("%s is called without %s", c.Tool, key)
				}
			}
			for key := range given {
				if schema.Properties[key] == nil {
					return fmt.Errorf("%s knows no %s", c.Tool, key)
				}
			}
		}
	}
	return nil
}

// TestModelsPage: every example in docs/models.md is valid, as a configuration or as a script.
func TestModelsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	configurations, scripts := 0, 0
	for i, block := range strings.Split(string(page), "```yaml\n")[1:] {
		text, _, closed := strings.Cut(block, "```")
		if !closed {
			t.Fatalf("block %d has no end", i)
		}
		if strings.HasPrefix(text, "executive:") {
			configurations++
			_, err = config.Parse("models.md", []byte(strings.ReplaceAll(text, "env:OPENROUTER_API_KEY", "sesame")), nil)
		} else {
			scripts++
			var s *llmtest.Script
			if s, err = llmtest.Parse([]byte(text)); err == nil {
				err = misfit(s)
			}
		}
		if err != nil {
			t.Errorf("block %d: %v\n%s", i, err, text)
		}
	}
	if configurations != 8 || scripts != 1 {
		t.Errorf("%d configurations and %d scripts", configurations, scripts)
	}
}

// TestReloadToAMissingModel: if the configuration is changed to a model that is not there, status
// says so, once, without anybody having asked a question.
func TestReloadToAMissingModel(t *testing.T) {
	t.Parallel()
	s := newShelf(t, "first:1b", "second:latest")
	h := newHome(t, "EARSHOT_EXECUTIVE_LLM_HOST="+s.URL)
	model := func(name string) {
		h.write("config/earshot/config.yaml", "executive: {llm: {model: "+name+"}}\n")
	}
	model("second")
	h.daemon()
	for _, name := range []string{"owl", "second"} {
		model(name)
		if r := h.earshot(nil, "reload"); r.code != success {
			t.Fatalf("reload ended with %d: %s", r.code, r.err)
		}
		r := h.earshot(nil, "status")
		there := strings.Contains(r.out, "✓ "+name+" on ollama")
		if said := strings.Count(r.out, `has no model "`+name+`"`); there != (name == "second") || said != strings.Count(name, "owl") {
			t.Errorf("with %s status says\n%s", name, r.out)
		}
	}
}
