package ollama

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ollama/ollama/api"

	"earshot/llm"
)

// pullPath is the path for downloading a model.
const pullPath = "/api/pull"

// pulls is how long a download may show no sign of life: the server checks a file of 20 GB
// silently, which takes a slow disk three minutes.
const pulls = 10 * time.Minute

// errQuiet says that a download shows none.
var errQuiet = fmt.Errorf("nothing came for %v", pulls)

// pullComplaints are the meanings of Ollama's error texts about downloads.
var pullComplaints = []meaning{
	{"file does not exist", llm.NoModel, "write the name as https://ollama.com/library has it, such as llama3.2:3b"},
	{"invalid model name", llm.NoModel, "write the name as https://ollama.com/library has it, such as llama3.2:3b"},
	{"no space left", llm.NoDisk, "make room on the disk where Ollama keeps its models (OLLAMA_MODELS, usually ~/.ollama/models); what was downloaded is kept"},
	{"disk quota exceeded", llm.NoDisk, "make room on the disk where Ollama keeps its models (OLLAMA_MODELS, usually ~/.ollama/models); what was downloaded is kept"},
	{"newer version of Ollama", llm.Unsupported, "install the newest Ollama: https://ollama.com/download"},
	{"unauthorized", llm.Refused, "ollama signin"},
	{"no such host", llm.Broken, "connect the machine of Ollama to the network"},
	{"dial tcp", llm.Broken, "connect the machine of Ollama to the network"},
	{"max retries exceeded", llm.Broken, "connect the machine of Ollama to the network; what was downloaded is kept"},
}

// Pull implements [llm.Puller]. The server itself keeps what has arrived, and continues there.
func (e *Engine) Pull(ctx context.Context, model string, tell func(llm.Progress)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(pulls, func() { cancel(errQuiet) })
	defer quiet.Stop()
	err := e.pull(ctx, model, func(p llm.Progress) { quiet.Reset(pulls); tell(p) })
	switch {
	case err == nil:
		e.forget(model)
		return nil
	case context.Cause(ctx) == errQuiet:
		return &llm.Error{Fault: llm.Stalled, Engine: e.Name(), Model: model, Cure: "try again; what was downloaded is kept", Err: errQuiet}
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	f := e.fault(model, err)
	if f.Err != nil {
		f.Fault, f.Cure = meant(pullComplaints, f.Err.Error(), f.Fault, f.Cure)
	}
	return f
}

// pull is Pull without the classification of errors.
func (e *Engine) pull(ctx context.Context, model string, tell func(llm.Progress)) error {
	if strings.TrimSpace(model) == "" {
		return errNameless
	}
	body, err := e.post(ctx, pullPath, &api.PullRequest{Model: model})
	if err != nil {
		return err
	}
	defer body.Close()
	layers := make(map[string]api.ProgressResponse) // the parts of a model
	for lines := bufio.NewReader(body); ; {
		data, err := lines.ReadBytes('\n') // bounded by [limits]
		if data = bytes.TrimSpace(data); len(data) > 0 {
			var is struct {
				api.ProgressResponse
				Error string `json:"error"`
			}
			switch {
			case json.Unmarshal(data, &is) != nil:
				return errNoReply // the reason may quote the line
			case is.Error != "":
				return complaint(is.Error)
			case is.Status == "success":
				return nil
			}
			if is.Digest != "" && len(layers) < maxLayers {
				layers[is.Digest] = is.ProgressResponse
			}
			tell(progress(is.Status, layers))
		}
		if err != nil {
			return ended(err)
		}
	}
}

const (
	maxLayers = 1000    // parts of a model that are counted; most have five
	maxLayer  = 1 << 50 // bytes of one that are, so that they can be added up
)

// progress adds up the progress of the parts of a model.
func progress(status string, layers map[string]api.ProgressResponse) llm.Progress {
	p := llm.Progress{Status: sentence(status)}
	for _, l := range layers {
		total := min(max(l.Total, 0), maxLayer)
		p.Total += total
		p.Completed += min(max(l.Completed, 0), total)
	}
	return p
}
