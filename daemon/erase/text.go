package erase

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"earshot"
	"earshot/api"
	"earshot/internal/english"
)

// IsEmpty reports whether there is nothing to forget.
func IsEmpty(p api.ErasePreview) bool {
	return p.Events == 0 && p.Voices == 0 && p.Files == 0 && p.Person == ""
}

// PreviewText tells people what would be forgotten.
func PreviewText(p api.ErasePreview) string {
	if IsEmpty(p) {
		return "There is nothing to forget: " + p.Of + "."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "To be forgotten: %s.\n", p.Of)
	fmt.Fprintf(&b, "  %s", english.Count(p.Events, "event"))
	if p.Events > 0 {
		fmt.Fprintf(&b, ", from %s to %s: %s\n", english.When(p.From), english.When(p.To), tally(p.Kinds))
		fmt.Fprintf(&b, "  in %s", places(p.Rooms))
	}
	b.WriteString("\n")
	if p.Others > 0 {
		fmt.Fprintf(&b, "  of these %s to others, because they were made from it\n", english.Plural(p.Others, "reply", "replies"))
		for _, r := range p.Replies {
			fmt.Fprintf(&b, "    %s  %s to %s, in %s\n", english.When(r.At), r.By, r.To, r.Room)
		}
	}
	if p.Voices > 0 {
		fmt.Fprintf(&b, "  %s\n", english.Plural(p.Voices, "print of a voice", "prints of voices"))
	}
	if p.Files > 0 {
		fmt.Fprintf(&b, "  what was made from it in %s of agents\n", english.Count(p.Files, "file"))
	}
	if len(p.Aside) > 0 {
		fmt.Fprintf(&b, "  as a whole, with what others said: %s, set aside when it was damaged or replaced\n", strings.Join(p.Aside, ", "))
	}
	if p.Person != "" {
		fmt.Fprintf(&b, "  %s\n", p.Person)
	}
	b.WriteString("It does not reach:\n")
	for _, s := range p.Stays {
		fmt.Fprintf(&b, "  - %s\n", s)
	}
	return strings.TrimRight(b.String(), "\n")
}

// ResultText tells people what was forgotten.
func ResultText(p api.ErasePreview) string {
	text := "Forgotten: " + english.Count(p.Events, "event") + "."
	if p.Since > 0 {
		text += fmt.Sprintf(" %d of them were added after it was shown.", p.Since)
	}
	return text
}

// tally lists how many there are of each kind, most first.
func tally(kinds map[earshot.Kind]int) string {
	all := slices.SortedFunc(maps.Keys(kinds), func(a, b earshot.Kind) int { return cmp.Or(cmp.Compare(kinds[b], kinds[a]), cmp.Compare(a, b)) })
	var words []string
	for _, k := range all {
		words = append(words, english.Plural(kinds[k], string(k), many(k)))
	}
	return strings.Join(words, ", ")
}

// many returns the plural name of a kind.
func many(k earshot.Kind) string {
	switch k {
	case earshot.KindReply:
		return "replies"
	case earshot.KindWhose, earshot.KindErased, earshot.KindForgotten: // which are not nouns
		return string(k)
	}
	return string(k) + "s"
}

// places lists how much happened in each room.
func places(rooms map[string]int) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(rooms)) {
		words = append(words, fmt.Sprintf("%s (%d)", name, rooms[name]))
	}
	return strings.Join(words, ", ")
}
