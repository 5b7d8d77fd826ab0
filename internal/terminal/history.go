package terminal

const (
	pastLines = 200     // more than anybody goes back by one key
	pastBytes = 1 << 20 // sixteen of the longest lines
)

// history is the lines that were sent, in memory only. While one of them is
// shown, what was being written is kept.
type history struct {
	lines []string
	bytes int
	back  int    // how many lines back; 0 is the draft
	draft string // while back is not 0
}

// add appends a line, and forgets the oldest beyond the bounds.
func (h *history) add(line string) {
	h.leave()
	if line == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	h.bytes += len(line)
	for len(h.lines) > pastLines || h.bytes > pastBytes {
		h.bytes -= len(h.lines[0])
		h.lines = h.lines[1:]
	}
}

// leave returns to the draft, which is then somebody else's.
func (h *history) leave() { h.back, h.draft = 0, "" }

// older returns the line before the one that is shown, which is now.
func (h *history) older(now string) (string, bool) {
	if h.back == len(h.lines) {
		return "", false
	}
	if h.back == 0 {
		h.draft = now
	}
	h.back++
	return h.lines[len(h.lines)-h.back], true
}

// newer returns the line after the one that is shown, at last the draft.
func (h *history) newer() (string, bool) {
	switch h.back {
	case 0:
		return "", false
	case 1:
		draft := h.draft
		h.leave()
		return draft, true
	}
	h.back--
	return h.lines[len(h.lines)-h.back], true
}
