package tts

import (
	"earshot/internal/lazyregexp"
	"strconv"
	"strings"
)

// What a line may begin with.
var (
	opening  = lazyregexp.New("^[ \t]{0,12}(`{3,}|~{3,})[^`\n]*")
	quote    = lazyregexp.New(`^[ \t]*(>[ \t]?)+`)
	heading  = lazyregexp.New(`^[ \t]*#{1,6}[ \t]+`)
	bullet   = lazyregexp.New(`^[ \t]*[-*+•‣◦·–—][ \t]+(\[[ xX]\][ \t]+)?`)
	numbered = lazyregexp.New(`^[ \t]*([0-9]{1,3})[.)][ \t]+`)
	row      = lazyregexp.New(`^[ \t]*\|`)
)

// lineStart handles the markup at the beginning of a line, and reports whether there was any.
func (s *scanner) lineStart() bool {
	text := s.ahead()
	if m := quote.FindString(text); m != "" { // other beginnings may follow
		s.at += len(m)
		return true
	}
	s.inLine = true
	switch {
	case opening.MatchString(text):
		m := opening.FindStringSubmatch(text)
		s.skip(code)
		s.fence = m[1]
		s.at += len(m[0])
		s.endLine()
	case s.ruled():
		s.endLine()
	case heading.MatchString(text):
		s.item(len(heading.FindString(text)))
	case bullet.MatchString(text):
		s.item(len(bullet.FindString(text)))
	case numbered.MatchString(text):
		m := numbered.FindStringSubmatch(text)
		s.out.pause('.')
		n, _ := strconv.ParseUint(m[1], 10, 64)
		s.say(cardinal(n))
		s.out.pause(',')
		s.ends = '.'
		s.at += len(m[0])
	case row.MatchString(text):
		s.item(0)
		return false
	default:
		return false
	}
	return true
}

// item begins a separate line, n bytes on.
func (s *scanner) item(n int) {
	s.out.pause('.')
	s.ends = '.'
	s.at += n
}

// ruled reports whether the line is only a drawn rule, as under a heading or in a table.
func (s *scanner) ruled() bool {
	line, _, _ := strings.Cut(s.text[s.at:], "\n")
	strokes := 0
	for _, c := range []byte(line) {
		switch c {
		case '-', '=', '*', '_':
			strokes++
		case '|', ':', '+', ' ', '\t', '\r':
		default:
			return false
		}
	}
	return strokes >= 3
}

// endLine goes to the end of the line.
func (s *scanner) endLine() {
	n := strings.IndexByte(s.text[s.at:], '\n')
	if n < 0 {
		s.at = len(s.text)
		return
	}
	s.at += n + 1
	s.inLine = false
}

// newLine ends a line.
func (s *scanner) newLine() {
	s.at++
	s.inLine, s.path = false, false
	if s.ends != 0 {
		s.out.pause(s.ends)
		s.ends = 0
	}
	if strings.HasPrefix(strings.TrimLeft(s.ahead(), " \t\r"), "\n") {
		s.out.pause('.')
	}
}

// inCode handles a line of code, which may be the closing fence.
func (s *scanner) inCode() {
	line, _, _ := strings.Cut(s.text[s.at:], "\n")
	if bare := strings.TrimSpace(line); !s.inLine && len(bare) >= len(s.fence) && strings.Trim(bare, s.fence[:1]) == "" {
		s.fence = ""
	}
	s.out.skip(code)
	s.inLine = true
	s.endLine()
}

// target skips the target of a link.
func (s *scanner) target(m []string) int {
	if strings.HasSuffix(m[0], ")") {
		return len(m[0])
	}
	rest := s.text[s.at:] // it is longer than a rule looks, or not complete
	n := strings.IndexAny(rest, ") \t\n")
	if n < 0 {
		return len(rest)
	}
	if rest[n] == ')' {
		n++
	}
	return n
}
