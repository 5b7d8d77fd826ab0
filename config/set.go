package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// errForm says that a file is written in a way in which [Set] changes nothing.
var errForm = errors.New("earshot cannot edit a file that is written this way")

// Set returns a configuration file in which key, such as executive.llm.engines[1].model, is
// value: a string, a number or a bool. Every other byte of the file stays as it is, comments too. It fails where that
// cannot be done for certain: then whoever wrote the file changes it.
func Set(data []byte, key string, value any) ([]byte, error) {
	steps, err := stepsOf(key)
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	var is any
	if yaml.Unmarshal(data, &document) != nil || yaml.Unmarshal(data, &is) != nil {
		return nil, errors.New("it is not YAML")
	}
	root := &yaml.Node{Kind: yaml.ScalarNode, Tag: nullTag}
	if len(document.Content) > 0 {
		root = document.Content[0]
	}
	out, err := (&setter{lines: bytes.SplitAfter(data, []byte("\n")), value: value}).set(root, nil, steps)
	if err != nil {
		return nil, err
	}
	var became any
	if want, ok := with(is, steps, value); !ok || yaml.Unmarshal(out, &became) != nil || !reflect.DeepEqual(became, want) {
		return nil, errForm
	}
	return out, nil
}

const nullTag = "!!null"

// stepsOf returns the way to a key: names of keys, and numbers of entries.
func stepsOf(key string) (steps []any, err error) {
	for part := range strings.SplitSeq(key, ".") {
		name, rest, listed := strings.Cut(part, "[")
		steps = append(steps, name)
		if !listed {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSuffix(rest, "]"))
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%s is not a key", key)
		}
		steps = append(steps, n)
	}
	return steps, nil
}

// Line returns in which line of a configuration file a key stands, or else the section
// around it; 0 if neither does.
func Line(data []byte, key string) int {
	_, line := nodeAt(data, key)
	return line
}

// nodeAt returns the value of a key in a configuration file, nil if it has none, and the line of
// the key, or else of the section around it.
func nodeAt(data []byte, key string) (n *yaml.Node, line int) {
	steps, err := stepsOf(key)
	var document yaml.Node
	if err != nil || yaml.Unmarshal(data, &document) != nil || len(document.Content) == 0 {
		return nil, 0
	}
	n = document.Content[0]
	for _, step := range steps {
		var at *yaml.Node
		if at, n = below(n, step); n == nil {
			return nil, line
		}
		line = at.Line
	}
	return n, line
}

// Says reports whether a configuration says what key is, and not only what the default is: in its
// file, as far as that can be read, or in the environment.
func (c *Config) Says(key string) bool {
	if _, is := os.LookupEnv(Variable(key)); is {
		return true
	}
	if c.File == "" {
		return false
	}
	data, _ := read(c.File) // nothing if it cannot be read
	n, _ := nodeAt(data, key)
	return n != nil && !isNull(n)
}

// with returns what a file says in which the value at the end of steps is another.
func with(is any, steps []any, value any) (any, bool) {
	if len(steps) == 0 {
		return value, true
	}
	switch step := steps[0].(type) {
	case string:
		section, ok := is.(map[string]any)
		if !ok && is != nil {
			return nil, false
		}
		if section == nil {
			section = make(map[string]any)
		}
		below, ok := with(section[step], steps[1:], value)
		section[step] = below
		return section, ok
	case int:
		list, ok := is.([]any)
		if !ok || step >= len(list) {
			return nil, false
		}
		list[step], ok = with(list[step], steps[1:], value)
		return list, ok
	}
	return nil, false
}

// A setter changes one value in the lines of a file.
type setter struct {
	lines [][]byte // each with its end
	value any
	flow  bool // the value stands between braces
}

// set sets what stands at the end of steps below n, whose own key is at; nil for the root.
func (s *setter) set(n, at *yaml.Node, steps []any) ([]byte, error) {
	s.flow = s.flow || n.Style&yaml.FlowStyle != 0
	if n.Kind == yaml.AliasNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
		return nil, errForm
	}
	if len(steps) == 0 {
		return s.replace(n, at)
	}
	key, value := below(n, steps[0])
	_, listed := steps[0].(int)
	empty := n.Kind == yaml.ScalarNode && n.Tag == nullTag && n.Value == ""
	switch {
	case value != nil:
		return s.set(value, key, steps[1:])
	case !listed && (empty || n.Kind == yaml.MappingNode):
		return s.add(n, at, steps)
	}
	return nil, errForm
}

// below returns the node to which a step leads from n, and its key, which for an entry of a
// list is the entry itself; nil if there is none.
func below(n *yaml.Node, step any) (key, value *yaml.Node) {
	if i, listed := step.(int); listed && n.Kind == yaml.SequenceNode && i < len(n.Content) {
		return n.Content[i], n.Content[i]
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == step {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

// add adds keys to the section n, first of all that stands there: so a comment stays above
// what it is about.
func (s *setter) add(n, at *yaml.Node, steps []any) ([]byte, error) {
	if s.flow {
		return nil, errForm
	}
	indent, behind := 0, len(s.lines)
	switch {
	case at != nil && len(n.Content) == 0:
		indent, behind = at.Column+1, at.Line
	case at != nil && n.Content[0].Line > at.Line:
		indent, behind = n.Content[0].Column-1, at.Line
	case at != nil:
		return nil, errForm
	case len(n.Content) > 0:
		indent = n.Content[0].Column - 1
	}
	var b bytes.Buffer
	end := "\n"
	if len(s.lines) > 0 && bytes.HasSuffix(s.lines[0], []byte("\r\n")) {
		end = "\r\n"
	}
	if before := s.lines[behind-1]; len(before) > 0 && !bytes.HasSuffix(before, []byte("\n")) {
		b.WriteString(end)
	}
	for i, step := range steps {
		name, ok := step.(string)
		if !ok {
			return nil, errForm
		}
		fmt.Fprintf(&b, "%s%s:", strings.Repeat(" ", indent+2*i), name)
		if i == len(steps)-1 {
			b.WriteString(" " + s.scalar())
		}
		b.WriteString(end)
	}
	return bytes.Join(slices.Insert(s.lines, behind, b.Bytes()), nil), nil
}

// replace puts the value in place of the scalar n, which stands on the line of its key.
func (s *setter) replace(n, at *yaml.Node) ([]byte, error) {
	if n.Kind != yaml.ScalarNode || at == nil || n.Tag != nullTag && n.Line != at.Line {
		return nil, errForm
	}
	line := []rune(string(s.lines[at.Line-1]))
	from, length, before := n.Column-1, 0, ""
	switch {
	case n.Tag == nullTag && n.Value == "": // nothing stands behind the colon
		from, before = at.Column-1+len([]rune(at.Value))+1, " "
		if from > len(line) || from == 0 || line[from-1] != ':' {
			return nil, errForm
		}
	case from < 0 || from >= len(line):
		return nil, errForm
	default:
		rest := string(line[from:])
		raw := n.Value
		switch n.Style &^ yaml.FlowStyle {
		case yaml.DoubleQuotedStyle:
			raw = doubleQuoted.FindString(rest)
		case yaml.SingleQuotedStyle:
			raw = singleQuoted.FindString(rest)
		}
		if raw == "" || !strings.HasPrefix(rest, raw) {
			return nil, errForm
		}
		length = len([]rune(raw))
	}
	s.lines[at.Line-1] = []byte(string(line[:from]) + before + s.scalar() + string(line[from+length:]))
	return bytes.Join(s.lines, nil), nil
}

var (
	doubleQuoted = regexp.MustCompile(`^"(\\.|[^"\\])*"`)
	singleQuoted = regexp.MustCompile(`^'(''|[^'])*'`)

	// plain are values that need no quotes, wherever they stand.
	plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._/-]*(:[A-Za-z0-9._/-]+)*$`)
)

// scalar returns the value as it is written.
func (s *setter) scalar() string {
	text, isText := s.value.(string)
	var is any
	if isText && plain.MatchString(text) && !s.flow && yaml.Unmarshal([]byte(text), &is) == nil && is == text {
		return text
	}
	quoted, _ := json.Marshal(s.value) // of a string, a number or a bool
	return string(quoted)
}
