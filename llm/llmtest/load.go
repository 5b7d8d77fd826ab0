package llmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"earshot/internal/field"
	"earshot/llm"
)

// maxFile is the largest script file, in bytes: a thousand rules of a page.
const maxFile = 4 << 20

// pace is the default speed of a script: 20 words a second, about what a model of 8B gives on a
// good graphics card.
const pace = 50 * time.Millisecond

// file is the YAML of a script.
type file struct {
	Reply    string         `yaml:"reply"`
	Thinking string         `yaml:"thinking"`
	Every    *field.Seconds `yaml:"every_seconds"`
	Tools    *bool          `yaml:"tools"`
	Vision   bool           `yaml:"vision"`
	Rules    []*rule        `yaml:"rules"` // nil for an empty item
}

// A rule is the YAML of a [Rule].
type rule struct {
	For     string         `yaml:"for"`
	When    *string        `yaml:"when"`
	Agent   string         `yaml:"agent"`
	Result  *string        `yaml:"result"`
	Shown   *int           `yaml:"pictures"`
	Every   *field.Seconds `yaml:"every_seconds"`
	Replies []answer       `yaml:"replies"`
	answer  `yaml:",inline"`
}

// An answer is the YAML of a [Reply].
type answer struct {
	Reply    string `yaml:"reply"`
	Thinking string `yaml:"thinking"`
	Calls    []call `yaml:"calls"`
}

// A call is the YAML of an [llm.Call].
type call struct {
	Tool      string         `yaml:"tool"`
	Arguments map[string]any `yaml:"arguments"`
}

// Load reads a script from a file in YAML, of which docs/models.md has every key. An error lists every
// fault with its line.
//
// A script without a rule for thoughts has no thoughts, and without one for findings has no
// findings. A rule without result does not match after a call, so a model that has called something
// calls it again only if a rule with result says so.
func Load(path string) (*Script, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading a script: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading a script: %w", err)
	}
	s, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Parse parses the script in data, as [Load] does.
func Parse(data []byte) (*Script, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("is longer than %d bytes", maxFile)
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	var in file
	if err := d.Decode(&in); errors.Is(err, io.EOF) {
		return nil, errors.New("is empty; it must have a reply")
	} else if err != nil {
		return nil, err
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("has more than one document; it must have one")
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return nil, err
	}
	if err := in.check(&root); err != nil {
		return nil, err
	}
	return in.script(), nil
}

// check returns every fault in f, with its line in root.
func (f file) check(root *yaml.Node) error {
	var faults []error
	fault := func(n *yaml.Node, format string, args ...any) {
		faults = append(faults, fmt.Errorf("line %d: %s", n.Line, fmt.Sprintf(format, args...)))
	}
	if strings.TrimSpace(f.Reply) == "" {
		fault(root, "reply is missing; it is said when no rule fits")
	}
	rules := value(root, "rules")
	for i, r := range f.Rules {
		n := rules // a merged rule is elsewhere
		if i < len(n.Content) {
			n = n.Content[i]
		}
		if r == nil {
			fault(n, "rule %d is empty", i+1)
			continue
		}
		for _, problem := range r.problems() {
			fault(n, "rule %d %s", i+1, problem)
		}
	}
	return errors.Join(faults...)
}

// problems returns what is wrong with r.
func (r *rule) problems() (all []string) {
	if _, known := uses[r.For]; !known {
		all = append(all, fmt.Sprintf("is for %q; must be for reply, thought, findings or memory", r.For))
	}
	if r.Shown != nil && (*r.Shown < 0 || *r.Shown > llm.MaxImages) {
		all = append(all, fmt.Sprintf("is for %d pictures; a request shows from 0 to %d", *r.Shown, llm.MaxImages))
	}
	if r.When == nil && r.Result == nil {
		all = append(all, "has no when; write when: \"\" if it fits every message")
	}
	if len(r.Replies) == 0 {
		return append(all, r.answer.problems("")...)
	}
	if r.Reply != "" || r.Thinking != "" || len(r.Calls) > 0 {
		all = append(all, "has replies and one beside them; write that one as one of the replies")
	}
	for i, a := range r.Replies {
		all = append(all, a.problems(fmt.Sprintf("in its reply %d ", i+1))...)
	}
	return all
}

// problems returns what is wrong with a, each with its place as a prefix.
func (a answer) problems(place string) (all []string) {
	if strings.TrimSpace(a.Reply) == "" && len(a.Calls) == 0 {
		all = append(all, place+"has no reply")
	}
	for i, c := range a.Calls {
		if c.Tool == "" {
			all = append(all, fmt.Sprintf("%shas no tool in call %d", place, i+1))
		}
		if _, err := json.Marshal(c.Arguments); err != nil {
			all = append(all, fmt.Sprintf("%shas arguments in call %d that are no JSON", place, i+1))
		}
	}
	return all
}

// uses are the values of the key for.
var uses = map[string]Use{"": ForReply, "reply": ForReply, "thought": ForThought, "findings": ForFindings, "memory": ForMemory}

// value returns the node for key in a document, and follows an alias.
func value(root *yaml.Node, key string) *yaml.Node {
	top := root.Content[0]
	for i := 0; i+1 < len(top.Content); i += 2 {
		if top.Content[i].Value == key {
			n := top.Content[i+1]
			if n.Kind == yaml.AliasNode {
				n = n.Alias
			}
			return n
		}
	}
	return root
}

// script converts f to a model.
func (f file) script() *Script {
	s := &Script{Reply: f.Reply, Thinking: f.Thinking, Every: pace}
	if f.Every != nil {
		s.Every = f.Every.Duration()
	}
	s.Vision = f.Vision
	s.Toolless = f.Tools != nil && !*f.Tools
	for _, r := range f.Rules {
		s.Rules = append(s.Rules, r.rule())
	}
	return s
}

// rule converts r.
func (r *rule) rule() Rule {
	one := r.answer.reply()
	out := Rule{For: uses[r.For], Agent: r.Agent, Result: r.Result, Pictures: r.Shown, Reply: one.Text, Thinking: one.Thinking, Calls: one.Calls}
	if r.When != nil {
		out.When = *r.When
	}
	if r.Every != nil {
		out.Every = r.Every.Duration()
	}
	for _, a := range r.Replies {
		out.Replies = append(out.Replies, a.reply())
	}
	return out
}

// reply converts a.
func (a answer) reply() Reply {
	out := Reply{Text: a.Reply, Thinking: a.Thinking}
	for _, c := range a.Calls {
		arguments := []byte("{}")
		if len(c.Arguments) > 0 {
			arguments, _ = json.Marshal(c.Arguments) // check has tried it
		}
		out.Calls = append(out.Calls, llm.Call{Tool: c.Tool, Arguments: arguments})
	}
	return out
}
