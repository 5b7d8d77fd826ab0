package llmtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"earshot/internal/field"
)

// maxFile is the largest script file, in bytes: a thousand rules of a page.
const maxFile = 4 << 20

// pace is how fast a script speaks if its file does not say: 20 words a
// second, about what a model of 8B gives on a good graphics card.
const pace = 50 * time.Millisecond

// file is a script as it is written.
type file struct {
	Reply    string         `yaml:"reply"`
	Thinking string         `yaml:"thinking"`
	Every    *field.Seconds `yaml:"every_seconds"`
	Rules    []*rule        `yaml:"rules"` // nil for an item that says nothing
}

// A rule is a [Rule] as it is written.
type rule struct {
	When     *string        `yaml:"when"`
	Reply    string         `yaml:"reply"`
	Thinking string         `yaml:"thinking"`
	Every    *field.Seconds `yaml:"every_seconds"`
}

// Load reads a script from a file in YAML:
//
//	reply: I have no line for that.   # where no rule fits; must be there
//	thinking: What could they mean?   # before it, if thinking is asked for
//	every_seconds: 0.05               # from one word to the next; this if left out
//	rules:                            # the first that fits answers
//	  - when: tides                   # stands in the last message of the user, in any case
//	    reply: The tides are the sea's answer to the moon.
//	    thinking: The moon, then.     # may be left out
//	    every_seconds: 0.2            # as the script if left out
//
// An error names every fault with its line.
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

// Parse returns the script that data says, as [Load] does.
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
		return nil, errors.New("goes on after its end; it must be one document")
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
		fault(root, "reply is missing; it is said where no rule fits")
	}
	rules := value(root, "rules")
	for i, r := range f.Rules {
		n := rules // a rule that was merged in stands elsewhere
		if i < len(n.Content) {
			n = n.Content[i]
		}
		if r == nil {
			fault(n, "rule %d is empty", i+1)
			continue
		}
		if r.When == nil {
			fault(n, "rule %d has no when; write when: \"\" if it fits every message", i+1)
		}
		if strings.TrimSpace(r.Reply) == "" {
			fault(n, "rule %d has no reply", i+1)
		}
	}
	return errors.Join(faults...)
}

// value returns the node under key in a document, followed through an alias.
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

// script returns f as a model.
func (f file) script() *Script {
	s := &Script{Reply: f.Reply, Thinking: f.Thinking, Every: pace}
	if f.Every != nil {
		s.Every = f.Every.Duration()
	}
	for _, r := range f.Rules {
		rule := Rule{When: *r.When, Reply: r.Reply, Thinking: r.Thinking}
		if r.Every != nil {
			rule.Every = r.Every.Duration()
		}
		s.Rules = append(s.Rules, rule)
	}
	return s
}
