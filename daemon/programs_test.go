package daemon

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/executive/sight"
	"earshot/llm"
)

// TestProgramsAreListedWithTheirCosts: what describing a picture costs is the captioner's, and
// nobody else's.
func TestProgramsAreListedWithTheirCosts(t *testing.T) {
	cfg := config.Default()
	cfg.Store.Directory = filepath.Join(t.TempDir(), "journal")
	d, err := Open(t.Context(), cfg, Options{Account: earshot.Handle{Provider: "console", ID: "1"}, Name: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	req := sight.Describe(earshot.Picture{}, "", "")
	d.costs.CountRequest(llm.Usage{Engine: "eyes", Priority: req.Priority, Origin: req.Origin, PromptTokens: 700, ReplyTokens: 20, Took: time.Second})
	list, err := backend{d}.Agents(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	programs := 0
	for _, a := range list {
		if a.Kind == earshot.PathSystem {
			programs++
		}
		if is := a.Path == "/system/captions"; is != (a.Today != nil) || is && (a.Today.Tokens() != 720 || a.Today.Requests != 1) {
			t.Errorf("%s has cost %+v", a.Path, a.Today)
		}
	}
	if programs != 3 || !slices.ContainsFunc(list, func(a api.AgentInfo) bool { return a.ID == "agent" }) {
		t.Errorf("there are %+v", list)
	}
}
