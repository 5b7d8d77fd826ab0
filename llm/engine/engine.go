// Package engine is the table of the engines for language models.
package engine

import (
	"fmt"

	"earshot/llm"
	"earshot/llm/llmtest"
	"earshot/llm/ollama"
	"earshot/llm/openai"
)

// Open makes the engine that c describes. It is the only place that knows every engine: to add
// one, write its package, then a case here and its name in llm.Config.
func Open(c llm.EngineConfig) (llm.Engine, error) {
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

// CloseIdle closes the idle connections of an engine that was made for one request.
func CloseIdle(e llm.Engine) {
	if c, ok := e.(interface{ Close() }); ok {
		c.Close()
	}
}
