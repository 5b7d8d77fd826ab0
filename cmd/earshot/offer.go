package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"earshot/config"
	"earshot/internal/terminal"
	"earshot/llm"
)

// offer lets the person choose among the models that are installed, if the one
// that is configured is not. The choice is written into a configuration file if
// there is none yet; a file that somebody wrote is not touched. What is to be done to that
// file whenever it is read again comes back too; nil is nothing.
func (a *app) offer(cfg *config.Config, looks []look) (_ []look, insists func(*config.Config)) {
	l := looks[0]
	if len(looks) > 1 || l.Works || len(l.has) == 0 {
		return looks, nil
	}
	fmt.Fprintf(a.out, "%s is not installed here. These are:\n\n", l.config.Model)
	for i, m := range l.has {
		fmt.Fprintf(a.out, "  %2d  %s%s\n", i+1, terminal.Safe(m.Name), size(m.Bytes))
	}
	fmt.Fprintf(a.out, "\nWhich one shall answer? [1, or n for none] ")
	line, err := readLine(a.ctx, a.in)
	n, ok := choice(line, len(l.has))
	if err != nil || !ok {
		return looks, nil
	}
	insists = func(cfg *config.Config) { instead(&cfg.Executive.LLM, l.config.Model, l.has[n].Name) }
	insists(cfg)
	a.keep(cfg)
	return lookAtEngines(a.ctx, cfg.Executive.LLM), insists
}

// instead puts one model in the place of another.
func instead(c *llm.Config, of, model string) {
	if c.Model == of {
		c.Model = model
	}
	for i := range c.Engines {
		if c.Engines[i].Model == of {
			c.Engines[i].Model = model
		}
	}
}

// choice returns which of n was meant, counted from 0; nothing means the first.
func choice(line string, n int) (int, bool) {
	line = strings.TrimSpace(line)
	if line == "" {
		return 0, true
	}
	i, err := strconv.Atoi(line)
	return i - 1, err == nil && i >= 1 && i <= n
}

// keep writes the chosen model down, or says how.
func (a *app) keep(cfg *config.Config) {
	if cfg.File != "" {
		fmt.Fprintf(a.out, "To keep it, set executive.llm.model in %s.\n\n", short(cfg.File))
		return
	}
	file := config.Places()[0]
	text, err := yaml.Marshal(map[string]any{"executive": map[string]any{"llm": map[string]any{"model": cfg.Executive.LLM.Model}}})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		fmt.Fprintf(a.out, "It is used now, but could not be kept: %v\n\n", err)
		return
	}
	fmt.Fprintf(a.out, "Kept in %s.\n\n", short(file))
}

func size(bytes int64) string {
	if bytes <= 0 {
		return ""
	}
	return fmt.Sprintf("   %.1f GB", float64(bytes)/1e9)
}
