package firststart

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"earshot/config"
	"earshot/internal/login"
	"earshot/internal/probe"
	"earshot/internal/terminal"
	"earshot/llm"
)

// smallSize is how large the download of [probe.SmallModel] is.
const smallSize = "2.0 GB"

// ChooseModel lets the person choose among the models that are installed, if the one that is
// configured is not, and have one downloaded, if there is none. The choice is written into the
// configuration file. Where that cannot be done, what is to be done to the configuration whenever it
// is read again comes back; nil is nothing.
func (d Dialog) ChooseModel(ctx context.Context, cfg *config.Config, looks []probe.Engine) (_ []probe.Engine, insists func(*config.Config)) {
	l := looks[0]
	if len(looks) > 1 || l.Works || !l.Answered {
		return looks, nil
	}
	name, ok := "", false
	if len(l.Models) > 0 {
		name, ok = d.offerInstalled(ctx, l)
	} else if l.Config.Provider == llm.Ollama {
		name, ok = d.offerSmall(ctx, l)
	}
	if !ok {
		return looks, nil
	}
	is := probe.NewModelChoice(cfg, probe.EngineModel{Engine: l.Config.Name, Model: name}, probe.TalkRole)
	change := func(cfg *config.Config) { instead(&cfg.Executive.LLM, l.Config.Model, name) }
	if err := is.Save(); err != nil {
		fmt.Fprintf(d.Out(), "It is used for now. %v\n\n", err)
		insists = change
	} else {
		fmt.Fprintf(d.Out(), "Saved in %s.\n\n", config.ShortPath(is.File))
	}
	change(cfg)
	return probe.Engines(ctx, cfg.Executive.LLM), insists
}

// offerInstalled asks which of the models that there are is to answer.
func (d Dialog) offerInstalled(ctx context.Context, l probe.Engine) (name string, ok bool) {
	fmt.Fprintf(d.Out(), "%s is not installed here. These models are:\n\n", l.Config.Model)
	for i, m := range l.Models {
		fmt.Fprintf(d.Out(), "  %2d  %s%s\n", i+1, terminal.Safe(m.Name), probe.SizeText(m.Bytes))
	}
	fmt.Fprintln(d.Out())
	for range 3 { // who types something else every time has other things in mind
		fmt.Fprint(d.Out(), "Which one should answer? [1, or n for none] ")
		line, err := login.ReadLine(ctx, d.In)
		if err != nil {
			return "", false
		}
		word := strings.TrimSpace(line)
		if no := strings.ToLower(word); no == "n" || no == "no" || no == "none" {
			return "", false
		}
		if i := choice(word, l.Models); i >= 0 {
			return l.Models[i].Name, true
		}
		fmt.Fprintf(d.Out(), "There is no %s.\n", terminal.Safe(word))
	}
	return "", false
}

// offerSmall asks whether a model is to be downloaded, and has that done.
func (d Dialog) offerSmall(ctx context.Context, l probe.Engine) (name string, ok bool) {
	fmt.Fprintf(d.Out(), "No model is installed here. %s is small and can call tools; the download has %s.\nDownload it now? [y/N] ", probe.SmallModel, smallSize)
	line, err := login.ReadLine(ctx, d.In)
	if answer := strings.ToLower(strings.TrimSpace(line)); err != nil || answer != "y" && answer != "yes" {
		return "", false
	}
	if err := d.Download(probe.SmallModel).Run(ctx, l.Config); err != nil {
		fmt.Fprintf(d.Out(), "%v\n\n", err)
		return "", false
	}
	return probe.SmallModel, true
}

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

// choice returns which of models somebody meant who typed its number, counted from 1, or its
// name, and -1 for none; nothing means the first.
func choice(word string, models []llm.Model) int {
	if word == "" {
		return 0
	}
	if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(models) {
		return n - 1
	}
	return slices.IndexFunc(models, func(m llm.Model) bool { return probe.SameModel(m, word) })
}
