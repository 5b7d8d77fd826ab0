package archtest

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// index is the page that links to all other pages of docs.
const index = "docs/README.md"

var (
	// link matches the target of a Markdown link or picture.
	link = regexp.MustCompile(`\]\(([^()\s]+)\)`)

	// elsewhere matches a target outside the repository.
	elsewhere = regexp.MustCompile(`^[a-z]+:`)

	// span matches code within a paragraph of Markdown.
	span = regexp.MustCompile("`(?:[^`\\n]|\\n[^`\\n])*`")

	// mention matches a page of docs, named from the root, in code, a comment or a script.
	mention = regexp.MustCompile(`(?:^|[^\w./-]|\.\./)(docs/[\w/-]+\.md)\b`)
)

// linksLead checks that every relative link of the front pages and of docs leads to a file, and to
// a heading if it names one; that every page named elsewhere exists; and that the index links to
// each page.
func linksLead(h *house) (complaints []string) {
	linked := map[string]bool{index: true}
	for _, name := range slices.Sorted(maps.Keys(h.texts)) {
		if !isPage(name) {
			if path.Dir(name) != "internal/archtest" { // its test data names pages that do not exist
				complaints = append(complaints, h.lost(name)...)
			}
			continue
		}
		for n, line := range prose(h.texts[name]) {
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				if elsewhere.MatchString(m[1]) {
					continue
				}
				target, anchor, _ := strings.Cut(m[1], "#")
				at := name
				if target != "" {
					at = path.Join(path.Dir(name), target)
				}
				if name == index {
					linked[at] = true
				}
				switch {
				case !h.exists(at):
					complaints = append(complaints, fmt.Sprintf("%s:%d: %s leads to no file", name, n+1, m[1]))
				case anchor != "" && !slices.Contains(anchors(h.texts[at]), anchor):
					complaints = append(complaints, fmt.Sprintf("%s:%d: %s leads to no heading", name, n+1, m[1]))
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(h.texts)) {
		if strings.HasPrefix(name, "docs/") && path.Ext(name) == ".md" && !linked[name] {
			complaints = append(complaints, fmt.Sprintf("%s: does not link %s", index, name))
		}
	}
	return complaints
}

// isPage reports whether name is a page whose links are followed.
func isPage(name string) bool {
	return path.Ext(name) == ".md" && (strings.HasPrefix(name, "docs/") || slices.Contains([]string{"README.md", "CONTRIBUTING.md", "SECURITY.md"}, name))
}

// lost reports the pages that the file name mentions although they do not exist.
func (h *house) lost(name string) (complaints []string) {
	if !strings.Contains(h.texts[name], "docs/") {
		return nil
	}
	for n, line := range strings.Split(h.texts[name], "\n") {
		for _, m := range mention.FindAllStringSubmatch(line, -1) {
			if !h.exists(m[1]) {
				complaints = append(complaints, fmt.Sprintf("%s:%d: there is no %s", name, n+1, m[1]))
			}
		}
	}
	return complaints
}

// exists reports whether at is a file, or a folder with files.
func (h *house) exists(at string) bool {
	if _, ok := h.texts[at]; ok {
		return true
	}
	for name := range h.texts {
		if strings.HasPrefix(name, at+"/") {
			return true
		}
	}
	return false
}

// prose returns the lines of markdown without code: lines of code are empty.
func prose(markdown string) []string {
	lines, fenced := strings.Split(markdown, "\n"), false
	for i, line := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence || fenced {
			lines[i] = ""
		}
		if fence {
			fenced = !fenced
		}
	}
	text := span.ReplaceAllStringFunc(strings.Join(lines, "\n"), func(code string) string {
		return strings.Repeat("\n", strings.Count(code, "\n"))
	})
	return strings.Split(text, "\n")
}

// anchors returns the anchors of the headings of markdown, as forges make them.
func anchors(markdown string) (all []string) {
	times, fenced := make(map[string]int), false
	for line := range strings.Lines(markdown) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		heading := strings.TrimLeft(line, "#")
		if fenced || heading == line || !strings.HasPrefix(heading, " ") {
			continue
		}
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(heading))
		if n := times[anchor]; n > 0 {
			all = append(all, fmt.Sprintf("%s-%d", anchor, n))
		} else {
			all = append(all, anchor)
		}
		times[anchor]++
	}
	return all
}
