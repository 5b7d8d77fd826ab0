package paths

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"earshot"
	"earshot/participants"
)

// Label returns the label of the agent at p, for people: "Coder", "Coder's helper 0", "console of
// owner". name is the name of the agent or, if it has ancestors, of the topmost one. If name is
// empty, the label is made from the path.
func Label(p earshot.Path, name string) string {
	a, err := Parse(p)
	if err != nil {
		return "unknown"
	}
	if a.Parent == "" {
		return a.label(name)
	}
	above := Label(a.Parent, name)
	switch a.Kind {
	case Sub:
		return fmt.Sprintf("%s's helper %d", above, a.Index)
	case Search:
		return fmt.Sprintf("%s's search %d", above, a.Index)
	}
	return above + "'s memory"
}

// label returns the label of an agent without a parent.
func (a Address) label(name string) string {
	switch {
	case name != "":
		return name
	case a.Kind == Agent:
		return a.Name
	case a.Kind == Connector:
		return a.Name + " of " + a.User
	case a.Kind == System:
		return "system " + a.Name
	}
	return fmt.Sprintf("%s %s of %s", a.Kind, a.Name, a.User)
}

// longestSlug is the longest slug; it leaves room for a number after it.
const longestSlug = 48

// Slug returns the path word for a name: "Ann Smith" becomes "ann-smith".
func Slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case unicode.In(r, unicode.L, unicode.M, unicode.Nd) || strings.ContainsRune("-._", r):
			b.WriteRune(r)
		case r == ' ':
			b.WriteByte('-')
		}
	}
	slug := b.String()
	for len(slug) > longestSlug {
		_, size := utf8.DecodeLastRuneInString(slug)
		slug = slug[:len(slug)-size]
	}
	slug, err := participants.CheckWord(strings.Trim(slug, "-._"))
	switch {
	case err != nil:
		return "nameless"
	case Reserved(slug):
		return "the-" + slug
	}
	return slug
}
