package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"earshot/internal/probe"
	"earshot/internal/progress"
	"earshot/internal/terminal"
	"earshot/models/catalog"
	"earshot/models/sets"
)

type modelsGet struct {
	Names  []string `arg:"" optional:"" name:"name" help:"Names of speech models (earshot models list --all), english for all that it needs, or names in https://ollama.com/library."`
	From   string   `help:"Install speech models from a folder or archive here, without the net; without names all that it has." placeholder:"PATH" type:"path"`
	Agree  []string `help:"Agree to a licence that restricts people, by its name." placeholder:"LICENCE"`
	Yes    bool     `help:"Do not ask for confirmation."`
	Engine string   `help:"The engine to download a language model with; by default the first that can." placeholder:"NAME"`
	JSON   bool     `help:"Print the progress as JSON, one object per line."`
}

// Run installs speech models, and downloads language models.
func (g modelsGet) Run(a *app) error {
	s, err := openSpeechModels()
	if err != nil {
		return err
	}
	get := speechGet{modelsGet: g, speechModels: s, again: strings.Join(append([]string{"earshot models get"}, g.Names...), " ")}
	if g.From != "" {
		get.again += " --from " + g.From
		if get.source, err = sets.OpenSource(g.From); err != nil {
			return err
		}
	}
	others, err := get.choose()
	if err != nil {
		return err
	}
	if err := get.run(a); err != nil {
		return err
	}
	for _, name := range others {
		if err := g.pull(a, name); err != nil {
			return err
		}
	}
	return nil
}

// choose takes the sets that are meant by names, each a set or several, and returns the other names,
// which are those of language models. Without names, they are those that the source has.
func (g *speechGet) choose() (others []string, err error) {
	for _, name := range g.Names {
		found := g.Find(name)
		switch {
		case g.Engine == "" && len(found) > 0:
			g.want(found)
		case g.source != nil:
			return nil, &verdict{notFound, fmt.Errorf("there is no speech model %q\n  → earshot models list --all", terminal.Safe(name))}
		default:
			others = append(others, name)
		}
	}
	switch {
	case len(g.Names) > 0:
	case g.source == nil:
		return nil, &verdict{misused, errors.New("name what to get\n  → earshot models get english   or choose: earshot models list --all")}
	default:
		g.want(slices.DeleteFunc(slices.Clone(g.Sets), func(s catalog.Set) bool { return !g.source.Has(s) }))
		if len(g.wanted) == 0 {
			return nil, &verdict{notFound, errors.New("no speech model was found there\n  → name the one that it is: earshot models get NAME --from PATH")}
		}
	}
	return others, nil
}

// want adds sets to those that are wanted, each once.
func (g *speechGet) want(list []catalog.Set) {
	for _, s := range list {
		if !slices.ContainsFunc(g.wanted, func(is catalog.Set) bool { return is.Name == s.Name }) {
			g.wanted = append(g.wanted, s)
		}
	}
}

// pull downloads a language model.
func (g modelsGet) pull(a *app, name string) error {
	cfg, err := a.asking("executive.llm.provider")
	if err != nil {
		return err
	}
	c, known, err := probe.Downloader(cfg.Executive.LLM, g.Engine)
	if !known {
		return &verdict{notFound, err}
	}
	if err != nil {
		return err
	}
	if err := a.newDownload(name, g.JSON).Run(a.ctx, c); err != nil {
		return err
	}
	if !g.JSON {
		fmt.Fprintf(a.printed(), "%s is ready. To use it: earshot models use %[1]s\n", terminal.Safe(name))
	}
	return nil
}

// newDownload returns a download of a model that is told on standard output.
func (a *app) newDownload(model string, json bool) *progress.Download {
	return progress.NewDownload(a.out, a.out.file, a.out.tty && os.Getenv("TERM") != "dumb", model, json)
}
