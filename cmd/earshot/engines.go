package main

import (
	"fmt"
	"log/slog"

	"earshot/llm"
	"earshot/llm/llmtest"
	"earshot/llm/ollama"
	"earshot/llm/openai"
)

// engine makes what c describes. It is the one place that knows every engine:
// to add one, write its package, then a case here and its name in llm.Config.
func engine(c llm.EngineConfig) (llm.Engine, error) {
	switch c.Provider {
	case llm.Ollama:
		return ollama.New(ollama.Config{Host: c.Host, Model: c.Model, Tools: c.Tools})
	case llm.OpenAI:
		return openai.New(openai.Config{Host: c.Host, Model: c.Model, Key: c.APIKey, Tools: c.Tools, Vision: c.Vision})
	case llm.Script:
		return llmtest.Load(c.Script)
	}
	return nil, fmt.Errorf("executive.llm.provider: there is no engine %q", c.Provider)
}

// ladder puts the engines of c above each other, each behind its scheduler.
func ladder(c llm.Config, log *slog.Logger) (*llm.Ladder, error) {
	l := &llm.Ladder{
		FirstToken: c.FirstToken.Duration(), Idle: c.Idle.Duration(), Total: c.Total.Duration(),
		Report: func(s llm.Step) {
			if s.Err != nil {
				log.Warn("the model was helped", "engine", s.Engine, "step", string(s.Rung), "fault", string(s.Err.Fault))
			}
		},
	}
	for _, ec := range c.List() {
		e, err := engine(ec)
		if err != nil {
			return nil, err
		}
		l.Engines = append(l.Engines, &llm.Scheduler{Engine: e, Called: ec.Name, Slots: ec.Slots})
	}
	return l, nil
}
