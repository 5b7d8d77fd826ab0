// Package lazyregexp compiles regular expressions when they are first used. Those of package regexp
// take memory and time from the start of every command, used or not: together 3.5 MB here.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// A Regexp is a [regexp.Regexp] that is compiled by its first use. Its methods are those of that type,
// and safe for concurrent use.
type Regexp struct {
	text string
	once sync.Once
	re   *regexp.Regexp
}

// New returns the expression with a text. In tests it is compiled at once, so that one that cannot be
// compiled is found there.
func New(text string) *Regexp {
	r := &Regexp{text: text}
	if len(os.Args) > 0 && strings.HasSuffix(os.Args[0], ".test") {
		r.compiled()
	}
	return r
}

func (r *Regexp) compiled() *regexp.Regexp {
	r.once.Do(func() { r.re = regexp.MustCompile(r.text) })
	return r.re
}

func (r *Regexp) MatchString(s string) bool  { return r.compiled().MatchString(s) }
func (r *Regexp) FindString(s string) string { return r.compiled().FindString(s) }
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringIndex(s, n)
}
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }
func (r *Regexp) ReplaceAllString(src, to string) string {
	return r.compiled().ReplaceAllString(src, to)
}
