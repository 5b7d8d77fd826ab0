package neural

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/xdg"

	"earshot/internal/helper"
	"earshot/models/catalog"
)

// A Library is where sets are installed. Its methods look at the disk each time, and may be called
// from many goroutines.
type Library struct {
	Dir string       // each folder in it is a set, named as the set is
	Log *slog.Logger // for what the helpers say
}

// Open returns the library of the user.
func Open(log *slog.Logger) Library {
	return Library{filepath.Join(xdg.DataHome, "earshot", "models", "sets"), log}
}

// Installed returns the sets that do something for a language, in two letters, or for any, by their
// names. Those whose description cannot be read are left out.
func (l Library) Installed(role catalog.Role, language string) (all []catalog.Installed) {
	folders, _ := os.ReadDir(l.Dir) // none, if nothing was ever installed
	for _, f := range folders {
		set, err := catalog.Open(filepath.Join(l.Dir, f.Name()))
		if err == nil && set.Role == role && (len(set.Languages) == 0 || slices.Contains(set.Languages, language)) {
			all = append(all, set)
		}
	}
	return all
}

// Version returns a text that is another one when a set was installed, replaced or removed.
func (l Library) Version() string {
	var b strings.Builder
	folders, _ := os.ReadDir(l.Dir) // none, if nothing was ever installed
	for _, f := range folders {
		if about, err := os.Stat(filepath.Join(l.Dir, f.Name(), catalog.Description)); err == nil {
			fmt.Fprintln(&b, f.Name(), about.Size(), about.ModTime().UnixNano())
		}
	}
	return b.String()
}

// Find returns the set with a name, or the one in a folder if model is a path.
func (l Library) Find(model string) (catalog.Installed, error) {
	if filepath.IsAbs(model) {
		return catalog.Open(model)
	}
	if filepath.Base(model) != model {
		return catalog.Installed{}, fmt.Errorf("%q is neither the name of a model nor the whole path of a folder", model)
	}
	set, err := catalog.Open(filepath.Join(l.Dir, model))
	if err != nil {
		return set, Unfit(model, "it is not installed")
	}
	return set, nil
}

// Best returns the set to choose for a user who named none: the largest that is fast enough here, as
// far as that is known; or else the largest that may be used, so that somebody can say why it is not.
// Those that forbid commercial use are for who names them.
func (l Library) Best(role catalog.Role, language string) (best catalog.Installed, ok bool) {
	all := slices.DeleteFunc(l.Installed(role, language), func(s catalog.Installed) bool { return s.Licence.NonCommercial })
	if len(all) == 0 {
		return best, false
	}
	return slices.MaxFunc(all, func(a, b catalog.Installed) int {
		return cmp.Or(cmp.Compare(l.rank(a), l.rank(b)), cmp.Compare(weight(a), weight(b)))
	}), true
}

// rank returns 1 for a set that is or may be fast enough, and 0 for one that is not.
func (l Library) rank(set catalog.Installed) int {
	if r, known := l.Known(set); known && (r.Fault != nil || r.Slow()) {
		return 0
	}
	return 1
}

// weight returns the size of a set, in bytes.
func weight(set catalog.Installed) (bytes int64) {
	for _, f := range set.Files {
		bytes += f.Bytes
	}
	return bytes
}

// Missing returns the fault that nothing is installed that does something for a language.
func Missing(role catalog.Role, language string) error {
	what, cure := "recognises "+language, "earshot models list; or give the address of a speech server"
	switch role {
	case catalog.Say:
		what = "speaks " + language
	case catalog.Turn:
		what, cure = "tells by the sound when somebody has finished", "earshot models get smart-turn; or set speech.turn.engine: auto"
	case catalog.Wake:
		what, cure = "seeks names in "+language, "earshot models list --all; or set speech.wake.engine: auto"
	}
	return lasting("no model is installed that "+what, cure)
}

// TooSlow returns the fault that a set, which runs that well, is too slow here for who did not choose it.
func TooSlow(name string, r Result) error {
	text := fmt.Sprintf("%.1f seconds for a second of sound", r.Speed)
	if r.First > 0 {
		text = fmt.Sprintf("%.1f seconds until a sentence is heard", r.First)
	}
	return lasting(fmt.Sprintf("the model %s is too slow for this machine: %s", name, text), "install a smaller one; to use it all the same, name it in the configuration")
}

// Unfit returns the fault that a set cannot be used, with the reason.
func Unfit(name, format string, args ...any) error {
	return lasting(fmt.Sprintf("the model %s cannot be used: ", name)+fmt.Sprintf(format, args...), "fetch it again: earshot models get "+name)
}

// lasting returns a fault that no restart mends.
func lasting(text, cure string) error {
	return helper.Fault{Text: text, Cure: cure, Lasting: true}.Err()
}
