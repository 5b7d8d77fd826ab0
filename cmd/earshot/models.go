package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"earshot/api"
	"earshot/config"
	"earshot/internal/probe"
	"earshot/internal/terminal"
	"earshot/models/catalog"
	"earshot/models/sets"
	"earshot/server/client"
)

type modelsCommand struct {
	List modelsList `cmd:"" default:"withargs" help:"List the models and which are in use."`
	Use  modelsUse  `cmd:"" help:"Choose the model that answers, thinks, hears or speaks, and save that in the configuration."`
	Get  modelsGet  `cmd:"" help:"Install speech models, or download a language model through Ollama; also finishes either."`

	Update modelsUpdate `cmd:"" help:"Install newer versions of the speech models that are installed."`
	Remove modelsRemove `cmd:"" help:"Remove speech models."`
	Test   modelsTry    `cmd:"" help:"Try a speech model on this machine, and on recordings."`
}

type modelsList struct {
	All  bool `help:"Also list the speech models that could be installed."`
	JSON bool `help:"Print them as JSON."`
}

// Run lists the models. That an engine cannot be asked is said apart.
func (l modelsList) Run(a *app) error {
	cfg, err := a.asking("executive.llm.provider")
	if err != nil {
		return err
	}
	looks := probe.Engines(a.ctx, cfg.Executive.LLM)
	list, faults := probe.ListModels(cfg.Executive, looks), probe.EngineFaults(looks)
	none := len(faults) == len(looks)
	s, err := openSpeechModels()
	if err != nil {
		return err
	}
	speech, damaged := probe.SpeechModels(a.ctx, cfg, s.Catalogue, s.Store)
	if !l.All {
		speech = slices.DeleteFunc(speech, func(m probe.ModelInfo) bool { return !m.Speech.Installed })
	}
	if l.JSON {
		err = a.json(append(list, speech...))
	} else {
		var b strings.Builder
		if !none {
			probe.PrintModels(&b, list)
		}
		if len(speech) > 0 {
			if !none {
				fmt.Fprintln(&b)
			}
			probe.PrintSpeechModels(&b, speech)
		} else if !none {
			fmt.Fprintln(&b, "\nNo speech model is installed; it hears and speaks by what comes with it.\n  → earshot models get english   or choose: earshot models list --all")
		}
		_, err = io.WriteString(a.printed(), b.String())
	}
	if damaged != nil {
		fmt.Fprintf(a.told(), "! %s\n", terminal.Safe(damaged.Error()))
	}
	probe.PrintFindings(a.told(), faults)
	if none {
		return errors.Join(err, &verdict{code: failed})
	}
	return err
}

type modelsUse struct {
	Names  []string `arg:"" name:"name" help:"Its name, as shown by list; before it what to use it for, such as hear or think. For speech also auto and embedded."`
	Engine string   `help:"The engine to use, if several have it." placeholder:"NAME"`
	Role   string   `enum:"talk,think" default:"talk" help:"What to use a language model for: talk or think."`
}

// Run chooses a model. The earshot that runs has it at once.
func (u modelsUse) Run(a *app) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	is, err := u.choose(a, cfg)
	if err != nil {
		return &verdict{notFound, err}
	}
	if err := is.Save(); err != nil {
		return err
	}
	fmt.Fprintln(a.printed(), is)
	running, _, err := a.reach(identityFlags{}, "")
	var of api.ReloadResult
	if err == nil {
		of, err = running.Reload(a.ctx)
	}
	switch {
	case errors.Is(err, client.ErrNotRunning):
		fmt.Fprintln(a.out, "earshot is not running; this applies from its next start.")
	case err != nil:
		return fmt.Errorf("it is saved, but the running earshot does not use it: %w", err)
	case !sameFile(of.File, is.File):
		return fmt.Errorf("it is saved, but the running earshot reads %s\n  → earshot models use %s --config %[1]s", cmp.Or(config.ShortPath(of.File), "no file"), strings.Join(u.Names, " "))
	default:
		fmt.Fprintln(a.out, "The running earshot uses it now.")
	}
	return nil
}

// choose returns what is chosen.
func (u modelsUse) choose(a *app, cfg *config.Config) (probe.ModelChoice, error) {
	role, name := "", u.Names[len(u.Names)-1]
	if len(u.Names) > 1 {
		role = u.Names[0]
	}
	if len(u.Names) > 2 {
		return probe.ModelChoice{}, errors.New("too many names\n  → earshot models use ROLE NAME")
	}
	if role == probe.TalkRole || role == probe.ThinkRole {
		u.Role = role
	} else if is, ok, err := probe.ChooseSpeech(cfg, sets.Default(), catalog.Role(role), name); ok {
		return is, err
	}
	return probe.ChooseModel(cfg, probe.Engines(a.ctx, cfg.Executive.LLM), probe.EngineModel{Engine: u.Engine, Model: name}, u.Role)
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	is, err := os.Stat(a)
	other, bad := os.Stat(b)
	return err == nil && bad == nil && os.SameFile(is, other)
}
