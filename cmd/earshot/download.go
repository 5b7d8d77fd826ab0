package main

import (
	"fmt"
	"os"
	"strings"

	"earshot/internal/progress"
	"earshot/internal/terminal"
	"earshot/llm"
)

type modelsGet struct {
	Name   string `arg:"" help:"Its name in https://ollama.com/library."`
	Engine string `help:"The engine to download it with; by default the first that can." placeholder:"NAME"`
	JSON   bool   `help:"Print the progress as JSON, one object per line."`
}

// Run downloads a model.
func (g modelsGet) Run(a *app) error {
	cfg, err := a.asking("executive.llm.provider")
	if err != nil {
		return err
	}
	c, err := downloader(cfg.Executive.LLM, g.Engine)
	if err != nil {
		return err
	}
	if err := a.newDownload(g.Name, g.JSON).Run(a.ctx, c); err != nil {
		return err
	}
	if !g.JSON {
		fmt.Fprintf(a.printed(), "%s is ready. To use it: earshot models use %[1]s\n", terminal.Safe(g.Name))
	}
	return nil
}

// downloader returns the engine that downloads models: the one of that name, or else the
// first that can.
func downloader(c llm.Config, name string) (llm.EngineConfig, error) {
	ways := map[string]string{
		llm.OpenAI: "gets its models elsewhere: llama-server and vLLM are started with a model, LM Studio downloads with: lms get",
		llm.Script: "is a file and has no models",
	}
	var others []string
	for _, e := range c.List() {
		switch {
		case name != "" && e.Name != name:
		case e.Provider == llm.Ollama:
			return e, nil
		default:
			others = append(others, e.Name+" "+ways[e.Provider])
		}
	}
	if len(others) == 0 {
		return llm.EngineConfig{}, &verdict{notFound, fmt.Errorf("there is no engine %q\n  → the engines are %s", name, strings.Join(c.Names(), ", "))}
	}
	return llm.EngineConfig{}, fmt.Errorf("%s\n  → or add an engine of provider ollama to executive.llm.engines", strings.Join(others, "; "))
}

// newDownload returns a download of a model that is told on standard output.
func (a *app) newDownload(model string, json bool) *progress.Download {
	return progress.NewDownload(a.out, a.out.file, a.out.tty && os.Getenv("TERM") != "dumb", model, json)
}
