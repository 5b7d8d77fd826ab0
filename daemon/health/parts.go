// Package health reports the state of the daemon: of each of its parts, and whether a fault keeps
// it from its work; what the models have cost; and the watchdog, which informs a service manager.
package health

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/internal/metrics"
	"earshot/internal/probe"
	"earshot/llm"
)

// Parts holds the state of each part of the daemon. The zero value is empty; its methods may be
// called from many goroutines, and none of them blocks.
type Parts struct {
	Counts *metrics.Metrics // counts losses and restarts; may be nil

	mu     sync.Mutex
	all    []part            // in the order in which they became known
	by     map[string]string // by what each part does its work, where people want to know
	probed time.Time         // when engines were last probed
}

// A part is the state of a part, and its description while it is well.
type part struct {
	api.Part
	about string
	made  llm.EngineConfig // the configuration of an engine
}

// The parts that people may never have heard of unless they fail, each with what its loss keeps
// the daemon from; and the keys of notices that concern a part.
var (
	inner = map[string]string{
		"sound card": api.Sense, "recognition": api.Sense, "recognition of calls": api.Sense, "sound of calls": api.Sense, "calls": api.Sense,
		"synthesis": api.Outlet, "own voice": api.Outlet, "voice in calls": api.Outlet, "sound of the voice in calls": api.Outlet,
		"server": api.Machine, "bus": api.Sense, "cluster database": api.Machine, "cluster bus": api.Machine, "sound of satellites": api.Sense, "recognition of satellites": api.Sense, "sensing of satellites": api.Sense,
	}
	faultsOf = map[string]string{"store.full": "journal", "store.damaged": "journal", "unsaved": "journal", "memory": "journal"}
)

// kinds are the parts named by a configuration, each with its kind.
var kinds = map[string]string{
	"microphone": api.Sense, "discord": api.Sense, "webcam": api.Sense, "loudspeaker": api.Outlet, "console": api.Outlet, "journal": api.Machine,
	"satellites": api.Sense,
}

// kindOf returns the kind of the part with a name, or false if there is none.
func kindOf(name string) (string, bool) {
	switch {
	case inner[name] != "":
		return inner[name], true
	case kinds[label(name)] != "":
		return kinds[label(name)], true
	}
	return "", false
}

// label returns the label under which a part is counted: cameras and satellites have names that people
// chose.
func label(name string) string {
	if strings.HasPrefix(name, "satellite ") {
		return "satellites"
	}
	if strings.HasPrefix(name, "webcam") || strings.HasSuffix(name, "camera") || strings.HasPrefix(name, "camera") {
		return "webcam"
	}
	return name
}

// hostLabels are the labels of the hosts of an engine that has several. More than nine are counted together.
var hostLabels = strings.Fields("host-1 host-2 host-3 host-4 host-5 host-6 host-7 host-8 host-9")

// engineLabel returns the label under which an engine or a host is counted: people chose its name.
func engineLabel(name string) string {
	if _, n, is := strings.Cut(name, ", host "); is {
		return "host-" + n
	}
	return "engine"
}

// Counted are the parts that are counted individually.
func Counted() []string {
	return slices.Concat([]string{"engine"}, hostLabels, slices.Collect(maps.Keys(kinds)), slices.Collect(maps.Keys(inner)))
}

// set records the state of a part at now, and reports whether it is news.
func (v *Parts) set(p api.Part, now time.Time) (news bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	k := slices.IndexFunc(v.all, func(had part) bool { return had.Kind == p.Kind && had.Name == p.Name })
	if k < 0 {
		k, news = len(v.all), true
		v.all = append(v.all, part{Part: p})
	}
	had := &v.all[k]
	if news = news || had.Well != p.Well; news {
		had.Since = now
	}
	if p.Well {
		had.about = cmp.Or(p.Text, had.about)
		p.Text, p.Cure = had.about, ""
	}
	had.Well, had.Text, had.Cure = p.Well, p.Text, p.Cure
	return news
}

// NoteFinding records a finding about a part at the start.
func (v *Parts) NoteFinding(f api.CheckResult) {
	if kind, ok := kindOf(f.Thing); ok {
		v.set(api.Part{Name: f.Thing, Kind: kind, Well: f.Works, Text: f.Text, Cure: f.Cure}, time.Now())
	}
}

// NoteBy records by what a part does its work, for people; empty if that need not be said.
func (v *Parts) NoteBy(part, by string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.by == nil {
		v.by = make(map[string]string)
	}
	v.by[part] = by
}

// NoteEngine records a finding about an engine.
func (v *Parts) NoteEngine(l probe.Engine) {
	name := cmp.Or(l.Name, l.Config.Name, string(l.Config.Provider))
	v.set(api.Part{Name: name, Kind: api.Engine, Well: l.Works, Text: l.Text, Cure: l.Cure}, time.Now())
	v.mu.Lock()
	defer v.mu.Unlock()
	if k := slices.IndexFunc(v.all, func(had part) bool { return had.Kind == api.Engine && had.Name == name }); k >= 0 {
		v.all[k].made = l.Config
	}
}

// Remove removes a part that no longer exists.
func (v *Parts) Remove(name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.all = slices.DeleteFunc(v.all, func(had part) bool { return had.Kind != api.Engine && had.Name == name })
}

// SetEngines sets the engines, or their hosts, each with its configuration. A new or changed one
// counts as well until it fails.
func (v *Parts) SetEngines(engines []llm.Engine, made []llm.EngineConfig) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.all = slices.DeleteFunc(v.all, func(had part) bool { return had.Kind == api.Engine && !slices.Contains(made, had.made) })
	for i, c := range made {
		name := llm.HostName(made, i)
		if k := slices.IndexFunc(v.all, func(had part) bool { return had.Kind == api.Engine && had.made == c }); k >= 0 {
			v.all[k].Name = name // the number of a host may have changed
		} else {
			about := probe.ModelOn(engines[i].Name(), c)
			v.all = append(v.all, part{Part: api.Part{Name: name, Kind: api.Engine, Well: true, Since: time.Now(), Text: about}, about: about, made: c})
		}
	}
}

// Working lists what works, for people: the engines that are well, and of some parts those that
// are not ill.
func (v *Parts) Working(parts []string) (all []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	ill := make(map[string]bool)
	for _, p := range v.all {
		switch {
		case !p.Well:
			ill[p.Name] = true
		case p.Kind == api.Engine:
			all = append(all, cmp.Or(p.about, p.Name))
		}
	}
	for _, p := range parts {
		if by := v.by[p]; !ill[p] && by != "" {
			all = append(all, p+": by "+by)
		} else if !ill[p] {
			all = append(all, p)
		}
	}
	return all
}

// NoteNotice records what a part has reported about itself.
func (v *Parts) NoteNotice(n earshot.Notice) {
	name := cmp.Or(faultsOf[n.Key], n.Key)
	kind, known := kindOf(name)
	if !known {
		return
	}
	if v.set(api.Part{Name: name, Kind: kind, Well: n.Over, Text: partText(n), Cure: n.Cure}, time.Now()) && !n.Over {
		v.Counts.Lost(label(name))
	}
}

// partText returns what a notice says about a part that is not well.
func partText(n earshot.Notice) string {
	if n.Over {
		return ""
	}
	return strings.TrimPrefix(n.Text, n.Key+": ")
}

// CountStarts counts a restart of a part.
func (v *Parts) CountStarts(name string) func() {
	first := true
	return func() {
		if !first {
			v.Counts.Restarted(label(name))
		}
		first = false
	}
}

// NoteStep records a step of an engine.
func (v *Parts) NoteStep(s llm.Step) {
	name := cmp.Or(s.Called, s.Engine)
	p := api.Part{Name: name, Kind: api.Engine, Well: s.Kind == llm.Answered}
	switch {
	case p.Well:
	case s.Called == "":
		return // all its hosts were busy
	case s.Kind != llm.Onward && s.Kind != llm.Rerouted && s.Kind != llm.GaveUp && s.Kind != llm.Dropped:
		return // it will be asked again
	case s.Err == nil || s.Err.Fault == llm.TooLong || s.Err.Fault == llm.Unsupported:
		return // the fault is not the engine's
	default:
		p.Text, p.Cure = name+": "+string(s.Err.Fault), s.Err.Cure
	}
	if v.set(p, time.Now()) && !p.Well {
		v.Counts.Lost(engineLabel(name))
	}
}

// List returns the state of each part: of those that people know, and of the others only if they
// are not well.
func (v *Parts) List() (all []api.Part) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, p := range v.all {
		if !p.Well || inner[p.Name] == "" && !strings.Contains(p.Name, ": ") { // which a part of a satellite has
			all = append(all, p.Part)
		}
	}
	return all
}

// Obstacles returns what keeps the daemon from its work: a journal that cannot be written, the
// loss of all engines, and each lost input and outlet that it should have.
func Obstacles(parts []api.Part) (all []api.Obstacle) {
	engines, well := 0, 0
	for _, p := range parts {
		if p.Kind == api.Engine {
			engines++
			if p.Well {
				well++
			}
		}
	}
	for _, p := range parts {
		if !p.Well && !(p.Kind == api.Engine && well > 0) {
			all = append(all, api.Obstacle{Part: p.Name, Kind: p.Kind, Text: p.Text, Cure: p.Cure, Since: p.Since})
		}
	}
	if engines == 0 {
		all = append(all, api.Obstacle{Part: "model", Kind: api.Engine, Text: "no language model is set up"})
	}
	return all
}

// probing is how often engines that are not well may be probed when somebody asks for the state.
const probing = 10 * time.Second

// WantsProbe reports whether to probe the engines at now, since none is well.
func (v *Parts) WantsProbe(now time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if now.Sub(v.probed) < probing || slices.ContainsFunc(v.all, func(p part) bool { return p.Kind == api.Engine && p.Well }) {
		return false
	}
	v.probed = now
	return true
}
