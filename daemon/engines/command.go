package engines

import (
	"context"
	"errors"
	"strings"

	"earshot/config"
	"earshot/executive/command"
	"earshot/internal/probe"
	"earshot/participants"
)

// Command is the command of a room that lists the models, and chooses the one that answers. Load reads the
// configuration, and reload makes a changed one take effect.
func Command(load func() (*config.Config, error), reload func(context.Context) error) command.Table {
	return command.Table{{
		Group: "For operators of earshot", Name: "model", Args: "[NAME [think]]", Help: "list the models; choose one for talking or thinking", Needs: participants.Operate,
		Do: func(ctx context.Context, c command.Call) (string, error) {
			words := strings.Fields(string(c.Args))
			cfg, err := load()
			if err != nil {
				return "", err
			}
			looks := probe.Engines(ctx, cfg.Executive.LLM)
			role := probe.TalkRole
			switch {
			case len(words) == 0:
				var b strings.Builder
				faults := probe.EngineFaults(looks)
				if len(faults) < len(looks) {
					probe.PrintModels(&b, probe.ListModels(cfg.Executive, looks))
				}
				probe.PrintFindings(&b, faults)
				return strings.TrimRight(b.String(), "\n"), nil
			case len(words) == 2 && (words[1] == probe.TalkRole || words[1] == probe.ThinkRole):
				role = words[1]
			case len(words) > 1:
				return "", errors.New("write /model, /model NAME, or /model NAME think")
			}
			is, err := probe.ChooseModel(cfg, looks, probe.EngineModel{Model: words[0]}, role)
			if err == nil {
				err = is.Save()
			}
			if err == nil {
				err = reload(ctx)
			}
			if err != nil {
				return "", err
			}
			return is.String(), nil
		},
	}}
}
