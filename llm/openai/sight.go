package openai

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"earshot/llm"
)

// Sees implements [llm.Seer]: by the configuration, or by the server's list, which is requested
// once.
func (e *Engine) Sees(ctx context.Context, model string) bool {
	name := e.model(&llm.Request{Model: model})
	e.mu.Lock()
	sees, known := e.sees[name]
	e.mu.Unlock()
	if known {
		return sees
	}
	if e.config.Vision && name == e.config.Model {
		return true
	}
	page, err := e.models.List(ctx, option.WithMiddleware(new(guard).do))
	if err != nil || page == nil {
		return false
	}
	can := visionary([]byte(page.RawJSON()))
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sees[name] = slices.Contains(can, name)
	return e.sees[name]
}

// shown returns req with pictures only for a model that can see.
func (e *Engine) shown(ctx context.Context, req *llm.Request) (*llm.Request, error) {
	sees := (llm.Shows(req) || req.MustSee) && e.Sees(ctx, req.Model)
	if req.MustSee && !sees {
		return req, llm.ErrNoVision
	}
	return llm.FitImages(req, sees), nil
}

// sightlessBy remembers that a model cannot see, if err says so.
func (e *Engine) sightlessBy(err error, req *llm.Request) {
	if s, ok := errors.AsType[*status](err); ok && llm.Shows(req) && s.refusesPictures() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.sees[e.model(req)] = false
	}
}

// visionary returns the models of a list that can see, as far as it says: gateways and Mistral
// report it for each model, and llama.cpp in a separate list.
func visionary(list []byte) (names []string) {
	var page struct {
		Data []struct {
			ID           string          `json:"id"`
			Capabilities json.RawMessage `json:"capabilities"`
			Architecture struct {
				In []string `json:"input_modalities"`
			} `json:"architecture"`
		} `json:"data"`
		Models []struct {
			Model        string   `json:"model"`
			Capabilities []string `json:"capabilities"`
		} `json:"models"`
	}
	_ = json.Unmarshal(list, &page) // as far as it could be parsed
	for _, m := range page.Data {
		var has struct {
			Vision bool `json:"vision"`
		}
		_ = json.Unmarshal(m.Capabilities, &has) // others have a list of words there
		if has.Vision || slices.Contains(m.Architecture.In, "image") {
			names = append(names, m.ID)
		}
	}
	for _, m := range page.Models {
		if slices.Contains(m.Capabilities, "multimodal") || slices.Contains(m.Capabilities, "vision") {
			names = append(names, m.Model)
		}
	}
	return names
}

// parts returns a message of the user that shows pictures.
func parts(text string, images []llm.Image) openai.ChatCompletionMessageParamUnion {
	var parts []openai.ChatCompletionContentPartUnionParam
	if text != "" {
		parts = append(parts, openai.TextContentPart(text))
	}
	for _, image := range images {
		url := "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(image)
		parts = append(parts, openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: url}))
	}
	return openai.UserMessage(parts)
}
