// Package completion says how a command line goes on, for bash, zsh and fish, from the table of
// commands that kong has.
package completion

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"earshot/api"
	"earshot/internal/terminal"
)

// Scripts is what the shells are given. Each asks the program itself, so that it
// knows what this version can.
var Scripts = map[string]string{
	"bash": `# earshot, for bash: source <(earshot completion bash)
_earshot() {
	local IFS=$'\n' all
	COMPREPLY=()
	all=$("${COMP_WORDS[0]}" complete bash "$COMP_CWORD" "${COMP_WORDS[@]}" 2>/dev/null) || return
	if [ "$all" = :files ]; then
		compopt -o filenames 2>/dev/null
		COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]#=}"))
	else
		COMPREPLY=($all)
	fi
}
complete -F _earshot earshot
`,
	"zsh": `#compdef earshot
# earshot, for zsh: a file called _earshot in a folder of $fpath
_earshot() {
	local -a all
	all=("${(@f)$("${words[1]}" complete zsh $((CURRENT - 1)) "${words[@]}" 2>/dev/null)}")
	if [[ ${all[1]} == :files ]]; then
		_files
	elif [[ -n ${all[1]} ]]; then
		_describe -V earshot all
	fi
}
if [[ ${funcstack[1]} == _earshot ]]; then _earshot "$@"; else compdef _earshot earshot; fi
`,
	"fish": `# earshot, for fish: earshot completion fish | source
function __earshot_complete
	set -l before (commandline -opc)
	set -l now (commandline -ct)
	set -l all (command $before[1] complete fish (count $before) -- $before "$now" 2>/dev/null)
	if test "$all[1]" = :files
		__fish_complete_path "$now"
	else
		printf '%s\n' $all
	end
end
complete -c earshot -f -a '(__earshot_complete)'
`,
}

// A Suggestion is how something may be written that somebody has begun, and what it is for.
type Suggestion struct{ Text, Help string }

// Files is any file.
var Files = Suggestion{Text: ":files"}

// For writes w as a shell reads it.
func (w Suggestion) For(shell string) string {
	text := terminal.Safe(w.Text)
	help, _, _ := strings.Cut(terminal.Safe(w.Help), "\n")
	switch {
	case w == Files:
		return text
	case shell == "bash":
		return escape(text)
	case shell == "zsh" && help != "":
		return strings.ReplaceAll(text, ":", `\:`) + ":" + help
	case shell == "zsh":
		return strings.ReplaceAll(text, ":", `\:`)
	case help != "":
		return text + "\t" + help
	}
	return text
}

// escape puts a backslash before whatever bash would not read as it is.
func escape(text string) string {
	var out strings.Builder
	for _, c := range text {
		if strings.ContainsRune(" \t'\"\\$`!&|;<>()[]{}*?#~^", c) {
			out.WriteByte('\\')
		}
		out.WriteRune(c)
	}
	return out.String()
}

// A Line is what was typed of a command line, as far as it matters to how it goes on. It is used
// once, from one goroutine.
type Line struct {
	Command *kong.Node
	Status  func() (api.Status, error) // of the daemon that runs; nil where nobody asks

	// Local returns what is known on this machine of a flag or an argument, by the same names as in
	// named; it may be nil.
	Local func(name string) []Suggestion

	Args    int    // that the command has had
	Path    string // of the command, such as "agents end"
	literal bool   // no flag comes any more
}

// Complete returns how the word goes on that is at a place, of a line that begins with
// the name of the program.
func (t *Line) Complete(words []string, at int) []Suggestion {
	words = words[:min(at+1, len(words))]
	before, now := words[1:], ""
	if at < len(words) {
		before, now = words[1:at], words[at]
	}
	before, now, flag := t.joined(before, now)
	if flag == nil {
		flag = t.Walk(before)
	}
	var all []Suggestion
	switch name, value, assigned := strings.Cut(now, "="); {
	case flag != nil:
		all = t.values(flag.Value, flag.Name)
	case t.literal:
		all = t.arguments()
	case assigned && strings.HasPrefix(name, "--"):
		if f := t.flag(name); f != nil {
			return prefixed(t.values(f.Value, f.Name), name+"=", value)
		}
	case strings.HasPrefix(now, "-"):
		all = t.flags()
	default:
		all = t.arguments()
	}
	return prefixed(all, "", now)
}

// prefixed returns those that begin with what is there, with what stands before them; [Files]
// alone if it is among them.
func prefixed(all []Suggestion, before, now string) (fit []Suggestion) {
	if slices.Contains(all, Files) {
		return []Suggestion{Files}
	}
	for _, w := range all {
		if strings.HasPrefix(strings.ToLower(w.Text), strings.ToLower(now)) {
			fit = append(fit, Suggestion{before + w.Text, w.Help})
		}
	}
	return fit
}

// joined returns the words as they are meant: bash takes --room=kitchen for three. The
// flag is the one whose value is being written, of which bash completes only that.
func (t *Line) joined(before []string, now string) ([]string, string, *kong.Flag) {
	var all []string
	for i := 0; i < len(before); i++ {
		w := before[i]
		if w == "=" && len(all) > 0 && strings.HasPrefix(all[len(all)-1], "--") {
			if i+1 == len(before) { // the value is what is being written
				name := all[len(all)-1]
				t.Walk(all[:len(all)-1])
				return nil, now, t.flag(name)
			}
			i++
			all[len(all)-1] += "=" + before[i]
			continue
		}
		all = append(all, w)
	}
	if now == "=" && len(all) > 0 && strings.HasPrefix(all[len(all)-1], "--") {
		name := all[len(all)-1]
		t.Walk(all[:len(all)-1])
		return nil, "", t.flag(name)
	}
	return all, now, nil
}

// Walk goes where the words lead, and returns the flag whose value comes next, if one
// does.
func (t *Line) Walk(words []string) (expects *kong.Flag) {
	for _, w := range words {
		switch {
		case expects != nil:
			expects = nil
		case !t.literal && w == "--":
			t.literal = true
		case !t.literal && strings.HasPrefix(w, "-") && w != "-":
			if f := t.flag(w); f != nil && !f.IsBool() && !f.IsCounter() && !strings.Contains(w, "=") {
				expects = f
			}
		default:
			t.enter(w)
		}
	}
	return expects
}

// enter goes into the command that is called w, or takes it for an argument.
func (t *Line) enter(w string) {
	if t.Args == 0 {
		for _, child := range t.Command.Children {
			if child.Name == "help" && w == "help" && t.Path == "" {
				return // what comes next is any command
			}
			if child.Name == w || slices.Contains(child.Aliases, w) {
				t.Command = child
				t.Path = strings.TrimSpace(t.Path + " " + child.Name)
				return
			}
		}
	}
	t.Args++
}

// flag returns the one that is written w, such as --room or -n, nil if there is none.
func (t *Line) flag(w string) *kong.Flag {
	name, _, _ := strings.Cut(w, "=")
	for _, group := range t.node().AllFlags(false) {
		for _, f := range group {
			long := "--" + f.Name
			if name == long || name == "--no-"+f.Name || f.Short != 0 && name == "-"+string(f.Short) || slices.Contains(f.Aliases, strings.TrimPrefix(name, "--")) {
				return f
			}
		}
	}
	return nil
}

// node is the command whose flags hold: one without a name is the default.
func (t *Line) node() *kong.Node {
	if t.Command.DefaultCmd != nil {
		return t.Command.DefaultCmd
	}
	return t.Command
}

// flags are those that the command takes.
func (t *Line) flags() (all []Suggestion) {
	for _, group := range t.node().AllFlags(true) {
		for _, f := range group {
			all = append(all, Suggestion{"--" + f.Name, f.Help})
			if f.Negated || f.Tag != nil && f.Tag.Negatable != "" {
				all = append(all, Suggestion{"--no-" + f.Name, "Not: " + f.Help})
			}
		}
	}
	slices.SortFunc(all, func(a, b Suggestion) int { return strings.Compare(a.Text, b.Text) })
	return slices.CompactFunc(all, func(a, b Suggestion) bool { return a.Text == b.Text })
}

// arguments are the commands below this one, and what it takes itself.
func (t *Line) arguments() (all []Suggestion) {
	if t.Args == 0 {
		for _, child := range t.Command.Children {
			if !child.Hidden {
				all = append(all, Suggestion{child.Name, child.Help})
			}
		}
	}
	takes := t.node().Positional
	if len(takes) == 0 {
		return all
	}
	next := takes[min(t.Args, len(takes)-1)]
	if t.Args >= len(takes) && !next.IsCumulative() {
		return all
	}
	return append(all, t.values(next, t.Path+" "+next.Name)...)
}

// values are what may be written for v, which is known by a name: that of the flag, or
// of the command and its argument.
func (t *Line) values(v *kong.Value, name string) (all []Suggestion) {
	if v.Enum != "" {
		for _, one := range v.EnumSlice() {
			if one != "" {
				all = append(all, Suggestion{Text: one})
			}
		}
		return all
	}
	if v.Tag != nil && slices.Contains([]string{"path", "existingfile", "existingdir", "filecontent"}, v.Tag.Type) {
		return []Suggestion{Files}
	}
	if t.Local != nil {
		if all = t.Local(name); all != nil {
			return all
		}
	}
	if list := named[name]; list != nil && t.Status != nil {
		if s, err := t.Status(); err == nil {
			return list(s)
		}
	}
	return nil
}

// named are the flags, and the arguments, for which the daemon knows who or what there
// is.
var named = map[string]func(api.Status) []Suggestion{
	"room":                    roomNames,
	"identity":                peopleNames,
	"person":                  peopleNames,
	"agent":                   agentNames,
	"agents show name|path":   agentNames,
	"agents prompt name|path": agentNames,
	"agents change name|path": agentNames,
	"agents end name|path":    agentNames,
	"token create name":       peopleNames,
	"speakers name name":      peopleNames,
	"speakers enrol name":     peopleNames,
}

func roomNames(s api.Status) (all []Suggestion) {
	for _, r := range s.Rooms {
		all = append(all, Suggestion{string(r.ID), r.Name})
	}
	return all
}

func peopleNames(s api.Status) (all []Suggestion) {
	for _, p := range s.Known {
		all = append(all, Suggestion{Text: p.Name})
	}
	return all
}

func agentNames(s api.Status) (all []Suggestion) {
	for _, a := range s.Agents {
		all = append(all, Suggestion{a.Name, string(a.Path)})
	}
	return all
}
