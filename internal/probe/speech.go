package probe

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"text/tabwriter"

	"earshot/config"
	"earshot/internal/download"
	"earshot/internal/english"
	"earshot/internal/terminal"
	"earshot/models/catalog"
	"earshot/models/engine"
	"earshot/models/neural"
	"earshot/models/sets"
)

// A SpeechInfo is what people and programs are told only of speech models.
type SpeechInfo struct {
	Title      string   `json:"title,omitempty"`
	Languages  []string `json:"languages"` // as two letters each; none is any
	Licence    string   `json:"licence"`
	Forbids    string   `json:"forbids,omitempty"`    // how the licence restricts people, as it follows "its licence"
	Restricted bool     `json:"restricted,omitempty"` // it forbids commercial use, or is unclear, so it is only used if it is named
	Installed  bool     `json:"installed"`
	Roughly    bool     `json:"roughly,omitempty"` // its size, since nobody has published it
	Speed      float64  `json:"speed,omitempty"`   // seconds of computing for a second of sound here, once it was tried
	Fault      string   `json:"fault,omitempty"`   // why it cannot be used here
	Why        string   `json:"why,omitempty"`     // it is in use
}

// speechEngine is what speech models say as their engine.
const speechEngine = "earshot"

// SpeechModels returns the speech models that are installed, and those that could be, in the order of
// their roles. The error is why some that are installed cannot be read.
func SpeechModels(ctx context.Context, cfg *config.Config, c catalog.Catalogue, store sets.Store) (list []ModelInfo, err error) {
	here, err := store.List()
	library := neural.Open(slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithTimeout(ctx, helperTimeout)
	defer cancel()
	used := speechInUse(ctx, cfg, library)
	for _, is := range here {
		m := speechModel(is.Set, true)
		if r, ok := library.Known(is); ok {
			m.Speech.Speed = r.Speed
			if r.Fault != nil {
				m.Speech.Fault = r.Fault.Text
			}
		}
		if why, ok := used[is.Dir]; ok {
			m.InUse, m.Speech.Why = m.Roles, why
		}
		list = append(list, m)
	}
	for _, s := range c.Sets {
		if !slices.ContainsFunc(here, func(is catalog.Installed) bool { return is.Name == s.Name }) {
			list = append(list, speechModel(s, false))
		}
	}
	order := func(m ModelInfo) int { return slices.Index(catalog.Roles, catalog.Role(m.Roles[0])) }
	slices.SortStableFunc(list, func(a, b ModelInfo) int { return cmp.Compare(order(a), order(b)) })
	return list, err
}

// speechInUse returns why sets are in use, by their folders.
func speechInUse(ctx context.Context, cfg *config.Config, library neural.Library) map[string]string {
	set, used := cfg.Speech, make(map[string]string)
	note := func(engines []engine.Engine, role catalog.Role) {
		for _, e := range engines {
			if !e.IsEmbedded() && e.Check(ctx) != nil {
				continue
			}
			for _, is := range library.Installed(role, set.Hear.Language) {
				if e.Name == engine.ModelName(is) {
					used[is.Dir] = e.Why
				}
			}
			return
		}
	}
	hears := set.Recognisers(nil, library)
	note(hears, catalog.Hear)
	note(hears, catalog.Correct)
	note(set.Voices(nil, library), catalog.Say)
	note(set.Spotters(nil, library, cfg.Executive.Name), catalog.Wake)
	if second, err := library.Find(set.Hear.Neural.Second); err == nil && len(used) > 0 {
		used[second.Dir] = "as the configuration says"
	}
	if s, wanted := set.Sensing(library); wanted && s.Check(ctx) == nil {
		used[s.Sets.VAD], used[s.Sets.Turn] = s.Why, s.Why
	}
	return used
}

func speechModel(s catalog.Set, installed bool) ModelInfo {
	bytes, exact := s.Size()
	if installed {
		bytes, exact = s.Unpacked(), true
	}
	return ModelInfo{Engine: speechEngine, Model: s.Name, Bytes: bytes, Roles: []string{string(s.Role)}, InUse: []string{}, Speech: &SpeechInfo{
		Title: s.Title, Languages: append([]string{}, s.Languages...), Licence: s.Licence.ID, Forbids: s.Licence.Forbids, Restricted: s.Licence.NonCommercial,
		Installed: installed, Roughly: bytes > 0 && !exact,
	}}
}

// PrintSpeechModels prints a list for people.
func PrintSpeechModels(w io.Writer, list []ModelInfo) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ROLE\tMODEL\tLANGUAGE\tSIZE\tLICENCE\tSPEED\tSTATE")
	for _, m := range list {
		is := m.Speech
		row := []string{m.Roles[0], m.Model, languages(is.Languages), SpeechSize(m.Bytes, !is.Roughly), is.Licence, "-", "here"}
		if is.Restricted {
			row[4] += " (!)"
		}
		if is.Speed > 0 {
			row[5] = fmt.Sprintf("%.2f", is.Speed)
		}
		switch {
		case !is.Installed:
			row[6] = "-"
		case is.Fault != "":
			row[6] = is.Fault
		case len(m.InUse) > 0:
			row[6] = strings.TrimSuffix("in use: "+is.Why, ": ")
		}
		for i := range row {
			row[i] = terminal.Safe(row[i])
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	t.Flush()
	if slices.ContainsFunc(list, func(m ModelInfo) bool { return m.Speech.Restricted }) {
		fmt.Fprintln(w, "(!) Its licence forbids commercial use, or is unclear: earshot models get NAME says which.")
	}
}

// PrintSpeechOffer prints what sets are, what they cost and what they may be used for, before they are
// installed in dir, from the net or from this machine.
func PrintSpeechOffer(w io.Writer, list []catalog.Set, dir string, net bool) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tROLE\tSIZE\tLICENCE\tFROM")
	var all int64
	for _, s := range list {
		n, exact := s.Size()
		all += n
		from := "this machine"
		if net {
			from = download.Host(s.Downloads()[0].URLs[0])
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", s.Name, s.Role, SpeechSize(n, exact), s.Licence.ID, from)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, s := range list {
		fmt.Fprintf(w, "%s: %s; %s %s\n", s.Name, terminal.Safe(s.Licence.Attribution), terminal.Safe(s.Licence.ID), terminal.Safe(s.Licence.URL))
		if s.Licence.Forbids != "" {
			fmt.Fprintf(w, "  its licence %s\n", terminal.Safe(s.Licence.Forbids))
		}
		if slices.ContainsFunc(s.Downloads(), func(f catalog.File) bool { return f.SHA256 == "" }) {
			fmt.Fprintln(w, "  nobody has published its checksums; they are noted when it comes, and compared from then on")
		}
	}
	_, err := fmt.Fprintf(w, "Together about %s; %s are free where they go, in %s.\n", english.Size(all), english.Size(download.Free(dir)), config.ShortPath(dir))
	return err
}

// SpeechSize says how large a speech model is; 0 is unknown.
func SpeechSize(bytes int64, exact bool) string {
	switch {
	case bytes == 0:
		return "unknown"
	case exact:
		return english.Size(bytes)
	}
	return "about " + english.Size(bytes)
}

// languages writes a list of languages; a long one is only counted.
func languages(list []string) string {
	switch {
	case len(list) == 0:
		return "any"
	case len(list) > 5:
		return english.Count(len(list), "language")
	}
	return strings.Join(list, " ")
}

// speechKeys are where the configuration says which engine has a role, and which set.
var speechKeys = map[catalog.Role]struct{ engine, model string }{
	catalog.Hear:    {"speech.hear.engine", "speech.hear.neural.model"},
	catalog.Correct: {"", "speech.hear.neural.second"},
	catalog.Say:     {"speech.say.engine", "speech.say.neural.model"},
	catalog.Turn:    {"speech.turn.engine", "speech.turn.neural.model"},
	catalog.VAD:     {"", "speech.turn.neural.vad"},
	catalog.Wake:    {"speech.wake.engine", "speech.wake.neural.model"},
}

// ChooseSpeech finds what somebody wants for a role; "" is that of the set. It reports whether it is
// about speech at all.
func ChooseSpeech(cfg *config.Config, store sets.Store, role catalog.Role, name string) (is ModelChoice, ok bool, err error) {
	here, _ := store.List() // what cannot be read is not here
	i := slices.IndexFunc(here, func(s catalog.Installed) bool { return s.Name == name })
	if role == "" {
		if i < 0 {
			return is, false, nil
		}
		role = here[i].Role
	}
	keys, known := speechKeys[role]
	automatic := name == engine.Auto || name == engine.Embedded && keys.engine != ""
	switch {
	case !known:
		return is, true, fmt.Errorf("nothing has the role %q\n  → the roles are talk, think, hear, correct, say, vad, turn, wake", role)
	case !automatic && i < 0:
		return is, true, fmt.Errorf("no speech model %q is installed\n  → earshot models get %[1]s   or list the models: earshot models list --all", name)
	case !automatic && here[i].Role != role:
		return is, true, fmt.Errorf("%s is not made to %s, but to %s\n  → earshot models list --all", name, role, here[i].Role)
	}
	is = ModelChoice{EngineModel{Model: name}, string(role), cmp.Or(cfg.File, config.Places()[0]), nil}
	set, by := "", name
	if !automatic {
		set, by = name, engine.Neural
	}
	if name != engine.Embedded {
		is.sets = append(is.sets, config.KeyValue{Key: keys.model, Value: set})
	}
	if keys.engine != "" {
		is.sets = append(is.sets, config.KeyValue{Key: keys.engine, Value: by})
	}
	return is, true, nil
}
