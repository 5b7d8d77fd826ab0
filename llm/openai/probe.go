package openai

import (
	"cmp"
	"context"
	"slices"

	"earshot/llm"
)

// maxModels is how many models are listed. Gateways have some hundred.
const maxModels = 1000

// Probe implements [llm.Engine]. The protocol gives the names and ages of the models, but not
// their abilities, unless the server reports more than it must, nor the server's version.
func (e *Engine) Probe(ctx context.Context) (llm.Status, error) {
	var list modelList
	_, err := e.fetch(ctx, "models", nil, &list)
	if err == nil && list.Data == nil {
		err = errNoAnswer
	}
	if err != nil {
		return llm.Status{}, e.fault(ctx, nil, err)
	}
	slices.SortStableFunc(list.Data, func(a, b modelEntry) int { return cmp.Compare(b.Created, a.Created) })
	var s llm.Status
	can := list.visionary()
	for _, m := range list.Data[:min(len(list.Data), maxModels)] {
		s.Models = append(s.Models, llm.Model{Name: m.ID, Bytes: max(m.Meta.Size, 0), Vision: slices.Contains(can, m.ID) || e.config.Vision && m.ID == e.config.Model})
	}
	return s, nil
}

// A modelList is a server's list of models.
type modelList struct {
	Data   []modelEntry `json:"data"`
	Models []struct {
		Model        string   `json:"model"`
		Capabilities []string `json:"capabilities"`
	} `json:"models"`
}

// A modelEntry is a model of a list. Besides its name and age, each field is of some servers only.
type modelEntry struct {
	ID      string  `json:"id"`
	Created float64 `json:"created"`
	Meta    struct {
		Size int64 `json:"size"`
	} `json:"meta"`
	Capabilities struct { // others have a list of words there
		Vision bool `json:"vision"`
	} `json:"capabilities"`
	Architecture struct {
		In []string `json:"input_modalities"`
	} `json:"architecture"`
}

// visionary returns the models of a list that can see, as far as it says: gateways and Mistral
// report it for each model, and llama.cpp in a separate list.
func (l *modelList) visionary() (names []string) {
	for _, m := range l.Data {
		if m.Capabilities.Vision || slices.Contains(m.Architecture.In, "image") {
			names = append(names, m.ID)
		}
	}
	for _, m := range l.Models {
		if slices.Contains(m.Capabilities, "multimodal") || slices.Contains(m.Capabilities, "vision") {
			names = append(names, m.Model)
		}
	}
	return names
}
