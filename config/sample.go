package config

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// width is where the comments of the sample break.
const width = 78

// head begins the sample.
const head = `# The configuration of earshot, with every key at its default. Keep what you
# change and delete the rest: a key that is missing has its default. See
# docs/configuration.md; "earshot check" says whether a file is right.
`

// Sample returns a configuration file with every key at its default, each
// below a comment that says what it does. Read again, it is [Default].
func Sample() string {
	var b strings.Builder
	b.WriteString(head)
	walk("", reflect.ValueOf(Default()).Elem(), func(key string, v reflect.Value) {
		depth := strings.Count(key, ".")
		if depth == 0 || isSection(v.Type()) {
			b.WriteString("\n")
		}
		indent := strings.Repeat("  ", depth)
		for _, line := range wrapped(about[key].text(), width-len(indent)-2) {
			b.WriteString(indent + "# " + line + "\n")
		}
		b.WriteString(indent + key[strings.LastIndexByte(key, '.')+1:] + ":" + written(v, indent) + "\n")
	})
	return b.String()
}

// written returns v as it stands behind its key, which is indented by indent.
func written(v reflect.Value, indent string) string {
	if isSection(v.Type()) {
		return ""
	}
	if text := v.String(); v.Kind() == reflect.String && strings.Contains(text, "\n") {
		inner := "\n" + indent + "  "
		return " |" + inner + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", inner)
	}
	return " " + inline(v)
}

// inline returns v as YAML in one line.
func inline(v reflect.Value) string {
	var n yaml.Node
	if isList(v.Type()) && v.Len() == 0 {
		return "[]"
	}
	if err := n.Encode(v.Interface()); err != nil {
		panic("config: a default cannot be written: " + err.Error())
	}
	n.Style |= yaml.FlowStyle
	out, err := yaml.Marshal(&n)
	if err != nil {
		panic("config: a default cannot be written: " + err.Error())
	}
	return strings.TrimSpace(string(out))
}

// wrapped breaks text into lines of at most n bytes, where a word fits.
func wrapped(text string, n int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > n {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
