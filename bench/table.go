package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
)

// A Report is everything that was measured in a run.
type Report struct {
	Machine Machine `json:"machine"`
	Rows    []Row   `json:"rows"`
}

// A Machine is where it was measured.
type Machine struct {
	System string `json:"system"`
	Cores  int    `json:"cores"`
	Load   string `json:"load,omitempty"` // of 1, 5 and 15 minutes, where the system says
}

// machine returns this one, as it is now.
func machine() Machine {
	m := Machine{System: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU()}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load = strings.Join(strings.Fields(string(load))[:3], " ")
	}
	return m
}

// A Row is one line of the table. Without a unit it says only its note.
type Row struct {
	Name string  `json:"name"`
	Unit string  `json:"unit,omitempty"`
	Ours Spread  `json:"ours"`
	Bare *Spread `json:"bare,omitempty"`

	// Times is how many times the bare thing ours is, at the median.
	Times float64 `json:"times,omitempty"`

	Goal string `json:"goal,omitempty"`
	Met  *bool  `json:"met,omitempty"`
	Note string `json:"note,omitempty"`
}

// row returns ours beside the bare thing.
func row(name, unit string, ours, bare Spread, note string) Row {
	r := Row{Name: name, Unit: unit, Ours: ours, Bare: &bare, Note: note}
	if bare.P50 > 0 {
		r.Times = ours.P50 / bare.P50
	}
	return r
}

// goal returns r with a goal: the value that is called what is at most most.
func (r Row) goal(what string, value, most float64) Row {
	met := value <= most
	r.Goal, r.Met = strings.TrimSpace(fmt.Sprintf("%s ≤ %s %s", what, number(most), r.Unit)), &met
	return r
}

func (r Report) json(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// table prints the report for people, and below it what there is to say.
func (r Report) table(w io.Writer) error {
	load := "unknown"
	if r.Machine.Load != "" {
		load = r.Machine.Load
	}
	fmt.Fprintf(w, "%s, %d cores, load average %s\n\n", r.Machine.System, r.Machine.Cores, load)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tunit\tp50\tp99\tmax\tbare p50\tp99\tmax\ttimes bare\tgoal\tmet")
	for _, row := range r.Rows {
		fmt.Fprintln(t, strings.Join(row.cells(), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, row := range r.Rows {
		if row.Note != "" {
			fmt.Fprintf(w, "%s: %s\n", row.Name, row.Note)
		}
	}
	_, err := fmt.Fprintln(w, "p50 and p99 are the medians of the repeats, max is the greatest of all; what a goal is set for is in its column.")
	return err
}

func (r Row) cells() []string {
	if r.Unit == "" {
		return []string{r.Name, "–", "–", "–", "–", "–", "–", "–", "–", "–", "not measured"}
	}
	cells := []string{r.Name, r.Unit, number(r.Ours.P50), number(r.Ours.P99), number(r.Ours.Max)}
	if r.Bare == nil {
		cells = append(cells, "–", "–", "–")
	} else {
		cells = append(cells, number(r.Bare.P50), number(r.Bare.P99), number(r.Bare.Max))
	}
	times, goal, met := "–", "–", "–"
	if r.Times > 0 {
		times = number(r.Times)
	}
	if r.Met != nil {
		goal, met = r.Goal, map[bool]string{true: "yes", false: "no"}[*r.Met]
	}
	return append(cells, times, goal, met)
}

// number writes v with three digits that mean something.
func number(v float64) string {
	switch {
	case v == float64(int64(v)) || v >= 100 || v <= -100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10 || v <= -10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
