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
)

// offer lets the person choose among the models that are installed, if the one
// that is configured is not. The choice is written into a configuration file if
// there is none yet; a file that somebody wrote is not touched.
func (a *app) offer(cfg *config.Config, looks []look) []look {
	l := looks[0]
	if len(looks) > 1 || l.Works || len(l.has) == 0 {
		return looks
	}
	fmt.Fprintf(a.out, "%s is not installed here. These are:\n\n", l.config.Model)
	for i, m := range l.has {
		fmt.Fprintf(a.out, "  %2d  %s%s\n", i+1, terminal.Safe(m.Name), size(m.Bytes))
	}
	fmt.Fprintf(a.out, "\nWhich one shall answer? [1, or n for none] ")
	line, err := readLine(a.ctx, a.in)
	n, ok := choice(line, len(l.has))
	if err != nil || !ok {
		return looks
	}
	cfg.Executive.LLM.Model = l.has[n].Name
	if len(cfg.Executive.LLM.Engines) == 1 {
		cfg.Executive.LLM.Engines[0].Model = l.has[n].Name
	}
	a.keep(cfg)
	return lookAtEngines(a.ctx, cfg.Executive.LLM)
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
