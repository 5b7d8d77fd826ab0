// Package health says how the daemon is: how each of its parts is, which keeps it from its work
// and which does not; what the models have cost; and the watchdog, which tells a service manager.
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

// Parts says how each part of the daemon is. The zero value knows of none; its methods may
// be called from many goroutines, and none of them waits.
type Parts struct {
	Counts *metrics.Metrics // counts what is lost and begun again; may be nil

	mu     sync.Mutex
	all    []part    // in the order in which they became known
	probed time.Time // when engines were last asked whether they are well
}

// A part is how a part is, and what it is described as while it is well.
type part struct {
	api.Part
	about string
	made  llm.EngineConfig // of an engine, what it was made of
}

// The parts of which people may never have heard unless they fail, by what their loss
// keeps the daemon from; and the keys of faults that are those of a part.
var (
	inner = map[string]string{
		"sound card": api.Sense, "recognition": api.Sense, "recognition of calls": api.Sense, "sound of calls": api.Sense, "calls": api.Sense,
		"synthesis": api.Outlet, "own voice": api.Outlet, "voice in calls": api.Outlet, "sound of the voice in calls": api.Outlet,
		"server": api.Machine,
	}
	faultsOf = map[string]string{"store.full": "journal", "store.damaged": "journal", "unsaved": "journal", "memory": "journal"}
)

// kinds are the parts that a configuration names, each with what it is.
var kinds = map[string]string{
	"microphone": api.Sense, "discord": api.Sense, "webcam": api.Sense, "loudspeaker": api.Outlet, "console": api.Outlet, "journal": api.Machine,
}

// kindOf returns what kind of part has that name, and false for none.
func kindOf(name string) (string, bool) {
	switch {
	case inner[name] != "":
		return inner[name], true
	case kinds[label(name)] != "":
		return kinds[label(name)], true
	}
	return "", false
}

// label returns under what a part is counted: cameras have names that people give them.
func label(name string) string {
	if strings.HasPrefix(name, "webcam") || strings.HasSuffix(name, "camera") || strings.HasPrefix(name, "camera") {
		return "webcam"
	}
	return name
}

// Counted are the parts that are counted each by itself.
func Counted() []string {
	return slices.Concat([]string{"engine"}, slices.Collect(maps.Keys(kinds)), slices.Collect(maps.Keys(inner)))
}

// set notes how a part is at now, and reports whether that is news.
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

// NoteFinding takes in what was found out about a part at the start.
func (v *Parts) NoteFinding(f probe.Finding) {
	if kind, ok := kindOf(f.Thing); ok {
		v.set(api.Part{Name: f.Thing, Kind: kind, Well: f.Works, Text: f.Text, Cure: f.Cure}, time.Now())
	}
}

// NoteEngine takes in what was found out about an engine.
func (v *Parts) NoteEngine(l probe.Engine) {
	name := cmp.Or(l.Config.Name, string(l.Config.Provider))
	v.set(api.Part{Name: name, Kind: api.Engine, Well: l.Works, Text: l.Text, Cure: l.Cure}, time.Now())
	v.mu.Lock()
	defer v.mu.Unlock()
	if k := slices.IndexFunc(v.all, func(had part) bool { return had.Kind == api.Engine && had.Name == name }); k >= 0 {
		v.all[k].made = l.Config
	}
}

// Remove forgets a part that there is no longer.
func (v *Parts) Remove(name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.all = slices.DeleteFunc(v.all, func(had part) bool { return had.Kind != api.Engine && had.Name == name })
}

// SetEngines says which engines there are: those of a ladder, and what each was made of. One that
// is new, or made of something else, is well until it shows otherwise.
func (v *Parts) SetEngines(l *llm.Ladder, made []llm.EngineConfig) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.all = slices.DeleteFunc(v.all, func(had part) bool { return had.Kind == api.Engine && !slices.Contains(made, had.made) })
	for i, c := range made {
		if !slices.ContainsFunc(v.all, func(had part) bool { return had.Kind == api.Engine && had.made == c }) {
			about := probe.ModelOn(l.Engines[i].Name(), c)
			v.all = append(v.all, part{Part: api.Part{Name: c.Name, Kind: api.Engine, Well: true, Since: time.Now(), Text: about}, about: about, made: c})
		}
	}
}

// Working returns what works, for people: the engines that are well, and of some parts those
// that are not ill.
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
		if !ill[p] {
			all = append(all, p)
		}
	}
	return all
}

// NoteNotice takes in what a part has reported of itself.
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

// partText returns what a notice says of a part, while it is not well.
func partText(n earshot.Notice) string {
	if n.Over {
		return ""
	}
	return strings.TrimPrefix(n.Text, n.Key+": ")
}

// CountStarts counts that a part is begun again.
func (v *Parts) CountStarts(name string) func() {
	first := true
	return func() {
		if !first {
			v.Counts.Restarted(label(name))
		}
		first = false
	}
}

// NoteStep takes in what an engine has done.
func (v *Parts) NoteStep(s llm.Step) {
	name := cmp.Or(s.Called, s.Engine)
	p := api.Part{Name: name, Kind: api.Engine, Well: s.Kind == llm.Answered}
	switch {
	case p.Well:
	case s.Kind != llm.Onward && s.Kind != llm.GaveUp && s.Kind != llm.Dropped:
		return // it is asked again
	case s.Err == nil || s.Err.Fault == llm.TooLong || s.Err.Fault == llm.Unsupported:
		return // which is no fault of its own
	default:
		p.Text, p.Cure = name+": "+string(s.Err.Fault), s.Err.Cure
	}
	if v.set(p, time.Now()) && !p.Well {
		v.Counts.Lost("engine")
	}
}

// List returns how each part is: those of which people know, and of the others those that
// are not well.
func (v *Parts) List() (all []api.Part) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, p := range v.all {
		if !p.Well || inner[p.Name] == "" {
			all = append(all, p.Part)
		}
	}
	return all
}

// Obstacles are what keeps a house of these parts from its work: a journal that cannot be
// written, all its engines, and each sense and outlet that it should have.
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

// probing is how often engines that are not well are asked whether they are again, when
// somebody wants to know.
const probing = 10 * time.Second

// WantsProbe reports whether they are to be asked at now, since none is well.
func (v *Parts) WantsProbe(now time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if now.Sub(v.probed) < probing || slices.ContainsFunc(v.all, func(p part) bool { return p.Kind == api.Engine && p.Well }) {
		return false
	}
	v.probed = now
	return true
}
