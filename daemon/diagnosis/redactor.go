package diagnosis

import (
	"os"
	"os/user"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/adrg/xdg"

	"earshot"
	"earshot/internal/redact"
	"earshot/participants"
)

// A Redactor removes from a text what identifies a person: the names, IDs and handles it knows,
// numbers by which a chat knows people, and the secret parts of addresses. The zero value knows
// nobody.
type Redactor struct{ names []*regexp.Regexp }

// somebody replaces a name.
const somebody = "[somebody]"

// common are names of the daemon itself, which reveal nothing and appear everywhere.
var common = []string{
	"earshot", string(participants.Owner), string(participants.Agent), string(participants.Generic), string(earshot.Desk), "console", "microphone", "discord",
}

// NewRedactor returns a redactor that knows some names.
func NewRedactor(names ...string) Redactor {
	var s Redactor
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) }) // a name may be a part of another
	for _, n := range slices.Compact(names) {
		n = strings.TrimSpace(n)
		if n == "" || slices.ContainsFunc(common, func(c string) bool { return strings.EqualFold(c, n) }) {
			continue
		}
		if is, err := regexp.Compile("(?i)" + regexp.QuoteMeta(n)); err == nil {
			s.names = append(s.names, is)
		}
	}
	return s
}

// telltale is the length, in characters, from which on a name is removed anywhere: a shorter one
// is a part of other words, too.
const telltale = 4

var (
	snowflakes = regexp.MustCompile(`\b[0-9]{15,20}\b`)
	mailboxes  = regexp.MustCompile(`[\pL\pN._%+-]+@[\pL\pN-]+\.[\pL\pN.-]+`)
	addresses  = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*:/+[^\s"'<>]+`)
	folders    = regexp.MustCompile(`(^|[\s"'=(:])/[^\s"'<>():]*`)
)

// Text returns t without what identifies a person.
func (s Redactor) Text(t string) string {
	t = addresses.ReplaceAllStringFunc(t, redact.Source)
	for _, name := range s.names {
		t = nameless(t, name)
	}
	t = mailboxes.ReplaceAllString(t, somebody)
	return snowflakes.ReplaceAllString(t, "[number]")
}

// File is Text for a text that may name files: their directories are kept only for system paths.
func (s Redactor) File(t string) string {
	return s.Text(folders.ReplaceAllStringFunc(t, func(path string) string {
		at := strings.IndexByte(path, '/')
		for _, known := range []string{"/dev/", "/usr/", "/proc/", "/sys/", "/etc/"} {
			if strings.HasPrefix(path[at:], known) {
				return path
			}
		}
		return path[:at] + "[path]"
	}))
}

// nameless returns t without a name, where the name stands by itself or is long enough.
func nameless(t string, name *regexp.Regexp) string {
	var b strings.Builder
	from := 0
	for _, at := range name.FindAllStringIndex(t, -1) {
		before, _ := utf8.DecodeLastRuneInString(t[:at[0]])
		after, _ := utf8.DecodeRuneInString(t[at[1]:])
		if utf8.RuneCountInString(t[at[0]:at[1]]) < telltale && (lettered(before) || lettered(after)) {
			continue
		}
		b.WriteString(t[from:at[0]] + somebody)
		from = at[1]
	}
	return b.String() + t[from:]
}

func lettered(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// value returns v, as encoding/json decodes it, with the same things removed.
func (s Redactor) value(v any) any {
	switch v := v.(type) {
	case string:
		return s.Text(v)
	case []any:
		for i := range v {
			v[i] = s.value(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = s.value(v[key])
		}
	}
	return v
}

// MachineNames returns the names that this machine has for its user.
func MachineNames() (names []string) {
	names = append(names, xdg.Home)
	if is, err := user.Current(); err == nil && is.Username != "root" {
		names = append(names, is.Username, is.Name)
	}
	if host, err := os.Hostname(); err == nil && utf8.RuneCountInString(host) >= telltale {
		names = append(names, host)
	}
	return names
}

// NameWords returns the words of a name that may be used alone.
func NameWords(name string) (all []string) {
	for _, w := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if utf8.RuneCountInString(w) >= telltale-1 {
			all = append(all, w)
		}
	}
	return all
}
