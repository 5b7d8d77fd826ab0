package config

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"earshot/api"
)

var update = flag.Bool("update", false, "write docs/earshot.yaml and docs/configuration.md")

// opening is what the page says before the keys.
//
//go:embed page.md
var opening string

// TestDocsAreCurrent compares what a user reads with what the program does.
func TestDocsAreCurrent(t *testing.T) {
	for path, want := range map[string]string{
		"../docs/earshot.yaml":     Sample(),
		"../docs/configuration.md": page(),
	} {
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("%s is not current (%v); run go test ./config -update and read the difference", path, err)
		}
	}
}

// page returns docs/configuration.md.
func page() string {
	var b strings.Builder
	b.WriteString(opening)
	walk("", reflect.ValueOf(Default()).Elem(), func(key string, v reflect.Value) {
		if !isSection(v.Type()) && !strings.Contains(key, ".") {
			fmt.Fprintf(&b, "\n### `%s`\n\n%s\n\nChanged, it holds %s.\n", key, about[key].text(), holds[about[key].class])
		}
		if isSection(v.Type()) {
			fmt.Fprintf(&b, "\n### `%s`\n\n%s\n", key, about[key].text())
			if slices.ContainsFunc(members(v), func(m member) bool { return !isSection(m.value.Type()) }) {
				b.WriteString("\n| key | default | effect | changed, it holds |\n|---|---|---|---|\n")
				for _, m := range members(v) {
					if !isSection(m.value.Type()) {
						is := about[join(key, m.name)]
						fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.name, cell(m.value), is.text(), holds[is.class])
					}
				}
			}
		}
	})
	return b.String()
}

// holds says of each class when a changed key holds.
var holds = map[api.ChangeClass]string{Turn: "at once", Section: "when its part has begun again", Restart: "at the next start"}

// cell returns a default as it stands in a table.
func cell(v reflect.Value) string {
	text := inline(v)
	if v.Kind() == reflect.String && v.String() == "" {
		return ""
	}
	if strings.Contains(v.String(), "\n") && v.Kind() == reflect.String {
		text = strings.Join(strings.Fields(v.String()), " ")
	}
	return "`" + strings.ReplaceAll(text, "|", "\\|") + "`"
}

// TestEveryKeyIsExplained wants a note for every key, and none besides.
func TestEveryKeyIsExplained(t *testing.T) {
	seen := make(map[string]bool)
	walk("", reflect.ValueOf(Default()).Elem(), func(key string, v reflect.Value) {
		seen[key] = true
		n := about[key]
		if n.effect == "" || !strings.HasSuffix(n.effect, ".") || strings.Contains(n.effect, "|") {
			t.Errorf("%s: the note %q must be sentences that fit a table", key, n.effect)
		}
		if holds[n.class] == "" != isSection(v.Type()) {
			t.Errorf("%s has the class %q", key, n.class)
		}
		if isList(v.Type()) || isSection(v.Type()) {
			return
		}
		if !v.CanSet() {
			t.Errorf("%s cannot be set", key)
		}
	})
	for key := range about {
		if !seen[key] {
			t.Errorf("%s has a note, but there is no such key", key)
		}
	}
}

// TestVariablesAreUnambiguous wants each variable to stand for one key, and
// none for a reserved name.
func TestVariablesAreUnambiguous(t *testing.T) {
	c := Default()
	keys, values := variables(c)
	if len(keys) != len(values) || len(keys) < 20 {
		t.Errorf("%d variables for %d keys", len(keys), len(values))
	}
	for _, name := range reserved {
		if key, ok := keys[name]; ok {
			t.Errorf("%s is reserved, and stands for %s", name, key)
		}
	}
}

// TestEveryKeyCanBeSet changes every scalar key, once in a file and once in
// the environment, and looks whether that and nothing else arrives.
func TestEveryKeyCanBeSet(t *testing.T) {
	keys, _ := variables(Default())
	for variable, key := range keys {
		_, before := variables(Default())
		text, ok := other(before[key])
		if !ok {
			continue // a list
		}
		changed := Default()
		r := &reader{lines: make(map[string]int), whole: lastParts(changed)}
		r.value("", r.document([]byte(nested(key, text))), reflect.ValueOf(changed).Elem())
		overridden := Default()
		_, faults := override(overridden, []string{variable + "=" + text})
		if faults = append(faults, r.faults...); len(faults) > 0 {
			t.Errorf("%s: %v", key, faults)
		}
		for how, c := range map[string]*Config{"the file": changed, variable: overridden} {
			_, after := variables(c)
			for k := range after {
				if same := reflect.DeepEqual(after[k].Interface(), before[k].Interface()); same == (k == key) {
					t.Errorf("setting %s by %s: %s is %v, was %v", key, how, k, after[k], before[k])
				}
			}
		}
	}
}

// other returns a value that v does not have.
func other(v reflect.Value) (text string, ok bool) {
	switch {
	case isList(v.Type()):
		return "", false
	case v.Kind() == reflect.Bool:
		return fmt.Sprint(!v.Bool()), true
	case v.CanInt():
		return fmt.Sprint(v.Int() + 1), true
	case v.CanFloat():
		return fmt.Sprint(v.Float() + 1), true
	}
	return "another", true
}

// nested returns a file that sets key to text.
func nested(key, text string) string {
	var b strings.Builder
	for depth, part := range strings.Split(key, ".") {
		fmt.Fprintf(&b, "\n%s%s:", strings.Repeat("  ", depth), part)
	}
	return b.String() + " " + text + "\n"
}
