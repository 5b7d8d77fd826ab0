package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"earshot/api"
	"earshot/config"
	"earshot/internal/login"
)

// permits asks the person at the terminal, if there is one, what is allowed, of what nobody
// has said yet, and takes that into cfg and its file. Where it cannot be written down, what is
// to be done to the configuration whenever it is read again comes back. A file that was named
// is what whoever named it wants. The error is that the person has left.
func (r runCommand) permits(a *app, cfg *config.Config) (insists func(*config.Config), err error) {
	if !a.person() || !a.console(cfg) || a.named() {
		return nil, nil
	}
	var open []config.Permission
	for _, p := range config.Permissions {
		if !slices.Contains(r.unused(), p.Thing) && slices.Contains(config.Undecided(cfg), p.Key) {
			open = append(open, p)
		}
	}
	hours, asksHours := cfg.Store.Retention.Overheard, !cfg.Says(config.OverheardKey)
	if len(open) == 0 && !asksHours {
		return nil, nil
	}
	fmt.Fprint(a.printed(), "Before it starts: what may it use?\nEnter picks the answer in [brackets];\nq quits and allows nothing.\n\n")
	allowed := make([]bool, len(open))
	for i, p := range open {
		if allowed[i], err = a.allows(p); err != nil {
			return nil, err
		}
	}
	if asksHours {
		if hours, err = a.hours(hours); err != nil {
			return nil, err
		}
	}
	insists = func(c *config.Config) {
		for i, p := range open {
			*p.Of(c) = allowed[i]
		}
		if asksHours {
			c.Store.Retention.Overheard = hours
		}
	}
	insists(cfg)
	var sets []config.KeyValue
	for i, p := range open {
		sets = append(sets, config.KeyValue{Key: p.Key, Value: allowed[i]})
	}
	if asksHours {
		sets = append(sets, config.KeyValue{Key: config.OverheardKey, Value: hours})
	}
	file := cmp.Or(cfg.File, config.Places()[0])
	if err := config.Edit(file, sets, func(*config.Config) error { return nil }); err != nil {
		fmt.Fprintf(a.printed(), "\nThis applies now, but could not be\nsaved: the next start asks again.\n%v\n\n", err)
		return insists, nil
	}
	cfg.File = file // which says it from now on
	fmt.Fprintf(a.printed(), "\nSaved. To change it, edit\n%s.\n\n", config.ShortPath(file))
	return nil, nil
}

// unused returns what this run does without, whatever is allowed.
func (r runCommand) unused() (things []string) {
	if r.NoVoice {
		things = append(things, "microphone")
	}
	if r.NoCamera {
		things = append(things, "camera")
	}
	return things
}

// named reports whether somebody has said which file is read.
func (a *app) named() bool { return a.file != "" || os.Getenv("EARSHOT_CONFIG") != "" }

// allows asks whether something is allowed; whoever answers something else every time has
// not allowed it.
func (a *app) allows(p config.Permission) (bool, error) {
	for range 3 {
		word, err := a.answer(p.Question + "?\n  [y/N] ")
		switch {
		case err != nil:
			return false, err
		case word == "y" || word == "yes":
			return true, nil
		case word == "" || word == "n" || word == "no":
			return false, nil
		}
		fmt.Fprintln(a.printed(), "  Answer y or n; you can talk to it once it runs.")
	}
	return false, nil
}

// hours asks for how many hours what was not said to an agent is kept.
func (a *app) hours(usual int) (int, error) {
	for range 3 {
		word, err := a.answer(fmt.Sprintf("Hours to keep speech not meant for it\n(0 keeps it until it is deleted)?\n  [%d] ", usual))
		if err != nil || word == "" {
			return usual, err
		}
		c := config.Default().Store
		if c.Retention.Overheard, err = strconv.Atoi(word); err == nil && c.Retention.Validate() == nil {
			return c.Retention.Overheard, nil
		}
		fmt.Fprintln(a.printed(), "  Answer with a number of hours, such as 24.")
	}
	return usual, nil
}

// answer asks a question and returns the answer in small letters; it is [login.ErrLeft] if the person
// leaves.
func (a *app) answer(question string) (string, error) {
	fmt.Fprint(a.printed(), question)
	line, err := login.ReadLine(a.ctx, a.in)
	word := strings.ToLower(strings.TrimSpace(line))
	if err == nil && slices.Contains([]string{"q", "quit", "/quit", "/exit"}, word) {
		err = login.ErrLeft
	}
	return word, err
}

// permissionText tells a permission to people.
func permissionText(p api.Permission) string {
	if p.Allowed {
		return "● " + p.Thing + ": allowed (" + p.Key + ")"
	}
	return "○ " + p.Thing + ": not allowed (" + p.Key + ")"
}
