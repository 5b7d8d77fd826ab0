package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"earshot/config"
	"earshot/llm"
)

// A modelChoice is a model that is chosen for a role, and what a configuration file must
// say for that.
type modelChoice struct {
	engineModel
	role string
	file string // which it is written into
	sets []keyValue
}

// A keyValue is a key of the configuration and what it is to be: a string, a number or a bool.
type keyValue struct {
	key   string
	value any
}

// newModelChoice returns that a model is to have a role in cfg.
func newModelChoice(cfg *config.Config, is engineModel, role string) modelChoice {
	return modelChoice{is, role, cmp.Or(cfg.File, config.Places()[0]), settings(cfg, is, role)}
}

// choose finds the model that somebody wants for a role, among what engines have. An engine
// that cannot be asked is believed to have it, if it is named or there is no other.
func choose(cfg *config.Config, looks []look, wanted engineModel, role string) (modelChoice, error) {
	var none modelChoice
	used := using(cfg.Executive)
	now := used[talkRole].engine
	if think, ok := used[thinkRole]; ok && role == thinkRole {
		now = think.engine
	}
	var able []look
	for _, l := range looks {
		if (wanted.engine == "" || wanted.engine == l.config.Name) && l.config.Provider != llm.Script {
			able = append(able, l)
		}
	}
	if len(able) == 0 {
		problem := fmt.Sprintf("there is no engine %q that has models", wanted.engine)
		if wanted.engine == "" {
			problem = "no engine has models to choose from: a script is a file"
		}
		return none, &verdict{notFound, fmt.Errorf("%s\n  → the engines are %s; others: docs/models.md", problem, strings.Join(cfg.Executive.LLM.Names(), ", "))}
	}
	slices.SortStableFunc(able, func(a, b look) int { // what is in use goes first
		switch now {
		case a.config.Name:
			return -1
		case b.config.Name:
			return 1
		}
		return 0
	})
	for _, l := range able {
		for _, m := range l.has {
			if goesBy(m, wanted.model) {
				return newModelChoice(cfg, engineModel{l.config.Name, m.Name}, role), nil
			}
		}
	}
	if l := able[0]; !l.asked && len(able) == 1 {
		return newModelChoice(cfg, engineModel{l.config.Name, wanted.model}, role), nil
	}
	l := able[max(0, slices.IndexFunc(able, func(l look) bool { return l.asked }))]
	cure := "earshot models list"
	if l.config.Provider == llm.Ollama {
		cure = "earshot models get " + wanted.model + "   or see what there is: " + cure
	}
	return none, &verdict{notFound, fmt.Errorf("%s has no model %q\n  → %s", l.config.Name, wanted.model, cure)}
}

// settings returns what a configuration must say so that a model has a role, the first
// last: what is added to a file goes before the rest.
func settings(cfg *config.Config, is engineModel, role string) []keyValue {
	c := cfg.Executive.LLM
	talk := using(cfg.Executive)[talkRole]
	const user, reasoning = "executive.llm.roles.user.", "executive.reasoning."
	switch {
	case role == thinkRole && (is.engine != talk.engine || cfg.Executive.Reasoning.Engine != ""):
		return []keyValue{{reasoning + "model", is.model}, {reasoning + "engine", is.engine}}
	case role == thinkRole:
		return []keyValue{{reasoning + "model", is.model}}
	case is.engine != talk.engine:
		return []keyValue{{user + "model", is.model}, {user + "engine", is.engine}}
	case c.Roles.User.Model != "":
		return []keyValue{{user + "model", is.model}}
	}
	return []keyValue{{engineKey(c, slices.Index(c.Names(), is.engine)) + "model", is.model}}
}

// keep writes s into its file, with everything else in it as it was. If that cannot be done
// its error says what is to be written there.
func (s modelChoice) keep() error {
	return keepIn(s.file, s.sets, func(c *config.Config) error {
		if using(c.Executive)[s.role] != s.engineModel && !(s.role == thinkRole && !c.Executive.Reasoning.Enabled) {
			return s.overruled()
		}
		return nil
	})
}

// keepIn writes keys into a file, the first last, if what they make of it is accepted. If it
// cannot be changed the error says what is to be written there.
func keepIn(file string, sets []keyValue, accepts func(*config.Config) error) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, set := range sets {
		if err == nil {
			text, err = config.Set(text, set.key, set.value)
		}
	}
	var c *config.Config
	if err == nil {
		c, err = config.Parse(file, text, os.Environ())
	}
	if err == nil {
		if no := accepts(c); no != nil {
			return no
		}
		err = rewrite(file, text)
	}
	if err == nil {
		return nil
	}
	var lines []string
	for _, set := range sets {
		lines = append(lines, fmt.Sprintf("%s: %v", set.key, set.value))
	}
	return fmt.Errorf("%s was not changed: %w\n  → write there %s", short(file), err, strings.Join(lines, ", and "))
}

// overruled says why a choice would have no effect.
func (s modelChoice) overruled() error {
	for _, set := range s.sets {
		if name := config.Variable(set.key); os.Getenv(name) != "" {
			return fmt.Errorf("%s is set in the environment, and goes before %s\n  → unset it, or set it to %v", name, short(s.file), set.value)
		}
	}
	return fmt.Errorf("something in the environment goes before %s\n  → see which variables begin with EARSHOT_EXECUTIVE", short(s.file))
}

// String tells people what was chosen.
func (s modelChoice) String() string {
	return fmt.Sprintf("Chosen to %s: %s on %s. Kept in %s.", s.role, s.model, s.engine, short(s.file))
}

// rewrite puts text into a file, whole or not at all. A link stays one, and whose the file
// is, and who may read it, stays too.
func rewrite(file string, text []byte) error {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	about, _ := os.Stat(file) // nil if there is none
	if err := replaceFile(file, text); err != nil || about == nil {
		return err
	}
	if of, ok := about.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		if err := os.Chown(file, int(of.Uid), int(of.Gid)); err != nil {
			return err
		}
	}
	return os.Chmod(file, about.Mode().Perm())
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	is, err := os.Stat(a)
	other, bad := os.Stat(b)
	return err == nil && bad == nil && os.SameFile(is, other)
}
