package progress

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"earshot/internal/english"
	"earshot/internal/terminal"
	"earshot/llm"
	"earshot/llm/engine"
)

// A Download is a model on its way, as it is told: one line that changes on a terminal, and
// elsewhere a line for each tenth and each thing that is done.
type Download struct {
	w     io.Writer
	model string
	now   func() time.Time
	tty   bool
	json  bool
	width func() int // of the terminal

	begun  time.Time // when the first bytes came
	before int64     // bytes that were there by then
	told   time.Time
	status string
	tenth  int
}

// NewDownload returns a download of a model that is told on w, which is f; tty is whether that is a
// terminal whose line can change.
func NewDownload(w io.Writer, f *os.File, tty bool, model string, json bool) *Download {
	return &Download{
		w: w, model: model, now: time.Now, json: json, tty: tty,
		width: func() int {
			width, _, err := term.GetSize(int(f.Fd()))
			if err != nil {
				return 80
			}
			return width
		},
	}
}

// Run has the engine c download, and tells of it.
func (d *Download) Run(ctx context.Context, c llm.EngineConfig) error {
	e, err := engine.Open(c)
	if err != nil {
		return err
	}
	defer engine.CloseIdle(e)
	puller, ok := e.(llm.Puller)
	if !ok {
		return fmt.Errorf("%s cannot download models: %w", e.Name(), errors.ErrUnsupported)
	}
	err = puller.Pull(ctx, d.model, d.Tell)
	d.End()
	fault, refused := errors.AsType[*llm.Error](err)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("stopped; what was downloaded is kept\n  → to continue: earshot models get %s", d.model)
	case refused:
		reason := string(fault.Fault)
		if fault.Err != nil {
			reason = fault.Err.Error()
		}
		return fmt.Errorf("%s did not download %s: %s\n  → %s", fault.Engine, d.model, reason, orAgain(fault.Cure, d.model))
	}
	return err
}

// orAgain returns what mends a download.
func orAgain(cure, model string) string {
	again := "earshot models get " + model
	if cure == "" {
		return "try it again: " + again
	}
	return cure + "; then: " + again
}

// redraw is how often a line on a terminal changes.
const redraw = 100 * time.Millisecond

// End takes away the line that is left on a terminal.
func (d *Download) End() {
	if d.tty && !d.told.IsZero() && !d.json {
		fmt.Fprint(d.w, "\r\x1b[K")
	}
}

// Tell tells of a step, if it is worth it.
func (d *Download) Tell(p llm.Progress) {
	now := d.now()
	if d.begun.IsZero() && p.Completed > 0 {
		d.begun, d.before = now, p.Completed
	}
	other := p.Status != d.status
	tenth := percent(p) / 10
	switch {
	case d.json:
		if other || tenth != d.tenth {
			_ = json.NewEncoder(d.w).Encode(struct {
				Model string `json:"model"`
				llm.Progress
			}{d.model, p}) // what is lost is told at the end
		}
	case d.tty && (other || now.Sub(d.told) >= redraw):
		d.told = now
		line := []rune(terminal.Safe(d.line(p, now)))
		fmt.Fprintf(d.w, "\r%s\x1b[K", string(line[:min(len(line), max(1, d.width()-1))]))
	case !d.tty && (other || tenth != d.tenth):
		fmt.Fprintln(d.w, terminal.Safe(d.line(p, now)))
	}
	d.status, d.tenth = p.Status, tenth
}

// percent returns how much has come; 0 if that is not known.
func percent(p llm.Progress) int {
	if p.Total == 0 {
		return 0
	}
	return int(float64(p.Completed) / float64(p.Total) * 100)
}

// line says how far it is at now.
func (d *Download) line(p llm.Progress, now time.Time) string {
	if p.Total == 0 {
		return d.model + ": " + p.Status
	}
	line := fmt.Sprintf("%s: %s, %d%% of %s", d.model, p.Status, percent(p), english.Size(p.Total))
	took := now.Sub(d.begun).Seconds()
	if rate := float64(p.Completed-d.before) / took; !d.begun.IsZero() && took >= 1 && rate > 0 && p.Completed < p.Total {
		left := time.Duration(min(float64(p.Total-p.Completed)/rate, 1e6)) * time.Second // ten days are for ever
		line += fmt.Sprintf(", %.1f MB/s, %v left", rate/1e6, left)
	}
	return line
}
