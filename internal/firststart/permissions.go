package firststart

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"earshot/config"
	"earshot/internal/login"
)

// Permit asks what is allowed, of what nobody has said yet and this run uses, and takes the answers
// into cfg and its file. Where they cannot be written down, what is to be done to the configuration
// whenever it is read again comes back. The error is that the person has left.
func (d Dialog) Permit(ctx context.Context, cfg *config.Config, unused []string) (insists func(*config.Config), err error) {
	var open []config.Permission
	for _, p := range config.Permissions {
		if !slices.Contains(unused, p.Thing) && slices.Contains(config.Undecided(cfg), p.Key) {
			open = append(open, p)
		}
	}
	hours, asksHours := cfg.Store.Retention.Overheard, !cfg.Says(config.OverheardKey)
	if len(open) == 0 && !asksHours {
		return nil, nil
	}
	fmt.Fprint(d.Out(), "Before it starts: what may it use?\nEnter picks the answer in [brackets];\nq quits and allows nothing.\n\n")
	allowed := make([]bool, len(open))
	var sets []config.KeyValue
	for i, p := range open {
		if allowed[i], err = d.allows(ctx, p); err != nil {
			return nil, err
		}
		sets = append(sets, config.KeyValue{Key: p.Key, Value: allowed[i]})
	}
	if asksHours {
		if hours, err = d.hours(ctx, hours); err != nil {
			return nil, err
		}
		sets = append(sets, config.KeyValue{Key: config.OverheardKey, Value: hours})
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
	file := cmp.Or(cfg.File, config.Places()[0])
	if err := config.Edit(file, sets, func(*config.Config) error { return nil }); err != nil {
		fmt.Fprintf(d.Out(), "\nThis applies now, but could not be\nsaved: the next start asks again.\n%v\n\n", err)
		return insists, nil
	}
	cfg.File = file // which says it from now on
	fmt.Fprintf(d.Out(), "\nSaved. To change it, edit\n%s.\n\n", config.ShortPath(file))
	return nil, nil
}

// allows asks whether something is allowed; whoever answers something else every time has
// not allowed it.
func (d Dialog) allows(ctx context.Context, p config.Permission) (bool, error) {
	for range 3 {
		word, err := d.answer(ctx, p.Question+"?\n  [y/N] ")
		switch {
		case err != nil:
			return false, err
		case word == "y" || word == "yes":
			return true, nil
		case word == "" || word == "n" || word == "no":
			return false, nil
		}
		fmt.Fprintln(d.Out(), "  Answer y or n; you can talk to it once it runs.")
	}
	return false, nil
}

// hours asks for how many hours what was not said to an agent is kept.
func (d Dialog) hours(ctx context.Context, usual int) (int, error) {
	for range 3 {
		word, err := d.answer(ctx, fmt.Sprintf("Hours to keep speech not meant for it\n(0 keeps it until it is deleted)?\n  [%d] ", usual))
		if err != nil || word == "" {
			return usual, err
		}
		c := config.Default().Store
		if c.Retention.Overheard, err = strconv.Atoi(word); err == nil && c.Retention.Validate() == nil {
			return c.Retention.Overheard, nil
		}
		fmt.Fprintln(d.Out(), "  Answer with a number of hours, such as 24.")
	}
	return usual, nil
}

// answer asks a question and returns the answer in small letters; it is [login.ErrLeft] if the person
// leaves.
func (d Dialog) answer(ctx context.Context, question string) (string, error) {
	fmt.Fprint(d.Out(), question)
	line, err := login.ReadLine(ctx, d.In)
	word := strings.ToLower(strings.TrimSpace(line))
	if err == nil && slices.Contains([]string{"q", "quit", "/quit", "/exit"}, word) {
		err = login.ErrLeft
	}
	return word, err
}
