package main

import (
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"earshot/internal/testkit"
)

// TestCompletion: real shells complete command lines as expected; a shell that is not installed is
// skipped.
func TestCompletion(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write("config/earshot/config.yaml", `agents:
- {name: Alice, description: writes poems}
- {name: Big Bob, description: counts things}
external_actors:
  actors:
  - {actor_id: owner, type: human, display_name: Ann}
rooms:
- {id: kitchen, name: the kitchen}
`)
	h.scripted("reply: Well.\n")
	cases := []struct {
		words []string // the last of them is incomplete
		want  string   // the completions, separated by commas
		files bool
	}{
		{[]string{"ser"}, "service", false},
		{[]string{"service", "st"}, "start,stop,status", false},
		{[]string{"service", "status", "--j"}, "--json", false},
		{[]string{"completion", ""}, "bash,zsh,fish", false},
		{[]string{"complet"}, "completion", false}, // and not the command that the shells call
		{[]string{"--no-v"}, "--no-voice", false},  // a flag of run, which is the default command
		{[]string{"service", "install", "--no"}, "--no-start", false},
		{[]string{"service", "logs", "-n", ""}, "", false},
		{[]string{"nonsense", "x"}, "", false},
		{[]string{"--config", "config/ear"}, "config/earshot", true},
		{[]string{"--config=config/ear"}, "config/earshot", true},
		{[]string{"chat", "--room", ""}, "desk,kitchen", false},
		{[]string{"chat", "--room=k"}, "kitchen", false},
		{[]string{"chat", "--identity", "a"}, "Ann", false},
		{[]string{"agents", "end", ""}, "Earshot,Alice,Big Bob", false},
		{[]string{"agents", "end", "Big"}, "Big Bob", false},
		{[]string{"say", "--room", "kitchen", "--iden"}, "--identity", false},
		{[]string{"say", "--", "--ro"}, "", false},
		{[]string{"models", "get", "piper-k"}, "piper-kristin", false},
		{[]string{"models", "get", "kokoro", "eng"}, "english", false},
		{[]string{"models", "remove", ""}, "", false},
	}
	asks := func(t *testing.T, shell string) {
		for _, tt := range cases {
			got := h.completes(t, shell, tt.words)
			if tt.files && shell != "bash" {
				continue // bash completes files itself, and needs a terminal for it
			}
			want := strings.Split(tt.want, ",")
			slices.Sort(want) // as fish does
			if got != strings.Join(want, ",") {
				t.Errorf("%s: %q goes on as %q, want %q", shell, tt.words, got, tt.want)
			}
		}
	}
	d := h.daemon()
	t.Run("bash", func(t *testing.T) { asks(t, "bash") })
	t.Run("fish", func(t *testing.T) { asks(t, "fish") })
	t.Run("zsh is read", func(t *testing.T) {
		zsh, err := exec.LookPath("zsh")
		if err != nil {
			t.Skip(err)
		}
		script := h.write("_earshot", h.earshot(nil, "completion", "zsh").out)
		c := testkit.Command(t, zsh, "-f", "-c", "autoload -U compinit; compinit -D -u; source "+script+"; print ${_comps[earshot]}")
		c.Env, c.Dir = h.env, h.dir
		if out, err := c.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "_earshot" {
			t.Errorf("zsh says %q, %v", out, err)
		}
	})
	d.Process.Kill() // from now on nobody knows the rooms
	testkit.Receive(t, testkit.Patience, "the end of the daemon that was killed", d.done)
	if got := h.completes(t, "bash", []string{"chat", "--room", ""}); got != "" {
		t.Errorf("without a daemon there are the rooms %q", got)
	}
}

// completes returns the completions of the last word, separated by commas.
func (h *home) completes(t *testing.T, shell string, words []string) string {
	t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil {
		t.Skip(err)
	}
	quoted := func(words []string) string {
		var all []string
		for _, w := range words {
			all = append(all, "'"+w+"'")
		}
		return strings.Join(all, " ")
	}
	script := h.write("complete."+shell, h.earshot(nil, "completion", shell).out)
	var line string
	switch shell {
	case "bash":
		var split []string // as bash does
		for _, w := range words {
			if name, value, ok := strings.Cut(w, "="); ok && strings.HasPrefix(w, "--") {
				split = append(split, name, "=")
				if value != "" {
					split = append(split, value)
				}
				continue
			}
			split = append(split, w)
		}
		line = "source " + script + "; complete -p earshot >/dev/null || exit 1; COMP_WORDS=(earshot " + quoted(split) + "); COMP_CWORD=" + strconv.Itoa(len(split)) +
			`; _earshot 2>/dev/null; for w in "${COMPREPLY[@]}"; do eval "printf '%s\n' $w"; done`
	case "fish":
		line = "source " + script + "; complete -C '" + strings.ReplaceAll("earshot "+strings.Join(words, " "), "'", `\'`) + "'"
	}
	c := testkit.Command(t, path, "-c", line)
	c.Env, c.Dir = h.env, h.dir
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v %s", shell, err, out)
	}
	var all []string
	for l := range strings.Lines(string(out)) {
		text, _, _ := strings.Cut(strings.TrimSuffix(l, "\n"), "\t")
		text = strings.ReplaceAll(text, `\ `, " ")
		if i := strings.Index(text, "="); i > 0 && strings.HasPrefix(text, "--") {
			text = text[i+1:]
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return strings.Join(all, ",")
}
