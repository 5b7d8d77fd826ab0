package see

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"earshot"
	"earshot/models/see/wire"
)

// A Recording is what a helper saw in something, such as a film, without the pictures. As text,
// its first line is their width and height, and each further line one picture: when, in seconds
// since the first; brightness, contrast, motion and novelty; a full stop, with ! if the whole
// picture changed and + if the detectors ran; and their detections.
//
//	768 576
//	0.00 0.470 0.197 0.0000 0.0000 .+ person,0.833,0.300,0.083,0.277,0.80
//	0.49 0.470 0.195 0.0450 0.0450 .
type Recording []Recorded

// A Recorded is one picture of a recording.
type Recorded struct {
	After time.Duration // since the first
	wire.Observation
}

// longestRecording is how much text is read as a recording, in bytes: hours.
const longestRecording = 4 << 20

// ParseRecording parses a recording. Impossible values are faults, reported with their line.
func ParseRecording(text []byte) (all Recording, err error) {
	if len(text) > longestRecording {
		return nil, fmt.Errorf("a recording of %d bytes; at most %d", len(text), longestRecording)
	}
	var width, height int
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		if n == 1 {
			if _, err := fmt.Sscanf(lines.Text(), "%d %d", &width, &height); err != nil {
				return nil, errors.New("line 1: a recording begins with the width and the height of its pictures")
			}
			continue
		}
		r, err := parseRecorded(lines.Text())
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		r.Number, r.Width, r.Height = uint64(len(all)+1), width, height
		if last := len(all) - 1; last >= 0 && r.After < all[last].After {
			return nil, fmt.Errorf("line %d: it is earlier than the line before it", n)
		}
		if !r.Valid() {
			return nil, fmt.Errorf("line %d: the values of the picture are not possible", n)
		}
		all = append(all, r)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("a recording without pictures")
	}
	return all, nil
}

// parseRecorded reads the line of one picture.
func parseRecorded(line string) (r Recorded, err error) {
	const known = 6
	fields := strings.Fields(line)
	if len(fields) < known {
		return r, fmt.Errorf("the line has %d words; at least %d are needed", len(fields), known)
	}
	var seconds float64
	if _, err := fmt.Sscan(strings.Join(fields[:known-1], " "), &seconds, &r.Brightness, &r.Contrast, &r.Motion, &r.Novelty); err != nil {
		return r, errors.New("the line does not begin with five numbers")
	}
	if !(seconds >= 0 && seconds <= 24*time.Hour.Seconds()) {
		return r, fmt.Errorf("%v seconds are not possible", seconds)
	}
	r.After = time.Duration(seconds * float64(time.Second)).Round(10 * time.Millisecond)
	flags := fields[known-1]
	r.Cut, r.Detected = strings.Contains(flags, "!"), strings.Contains(flags, "+")
	for _, word := range fields[known:] {
		what, where, _ := strings.Cut(word, ",")
		s := earshot.Seen{What: earshot.Thing(what)}
		if _, err := fmt.Sscanf(where, "%g,%g,%g,%g,%g", &s.Box.X, &s.Box.Y, &s.Box.Width, &s.Box.Height, &s.Sure); err != nil {
			return r, fmt.Errorf("%q is not an object with its box and confidence", word)
		}
		s.Box.Width, s.Box.Height = min(s.Box.Width, 1-s.Box.X), min(s.Box.Height, 1-s.Box.Y) // which are rounded
		r.Seen = append(r.Seen, s)
	}
	return r, nil
}

// String returns the text of a recording, without the text of codes.
func (all Recording) String() string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintln(&b, all[0].Width, all[0].Height)
	for _, r := range all {
		flags := "."
		if r.Cut {
			flags += "!"
		}
		if r.Detected {
			flags += "+"
		}
		fmt.Fprintf(&b, "%.2f %.3f %.3f %.4f %.4f %s", r.After.Seconds(), r.Brightness, r.Contrast, r.Motion, r.Novelty, flags)
		for _, s := range r.Seen {
			fmt.Fprintf(&b, " %s,%.3f,%.3f,%.3f,%.3f,%.2f", s.What, s.Box.X, s.Box.Y, s.Box.Width, s.Box.Height, s.Sure)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Play shows a recording as if it were seen now, each picture at its time, until it is over or ctx
// ends. Show must return at once.
func (all Recording) Play(ctx context.Context, show func(Observation)) {
	began := time.Now()
	for _, r := range all {
		o := Observation{At: began.Add(r.After), Observation: r.Observation}
		wait := time.NewTimer(time.Until(o.At))
		select {
		case <-ctx.Done():
			wait.Stop()
			return
		case <-wait.C:
		}
		show(o)
	}
}
