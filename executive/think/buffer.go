package think

import (
	"slices"
	"time"

	"earshot"
)

const (
	// mostKept and keptBytes bound the findings that are kept for the same people. That is as much
	// as a scene holds and a prompt can show.
	mostKept  = 8
	keptBytes = 1 << 10
)

// fits reports whether the findings in found can be kept in addition to those in kept.
func fits(kept []BufferedFinding, found []Finding) bool {
	n := 0
	for _, k := range kept {
		n += len(k.Text)
	}
	for _, f := range found {
		n += len(f.Text)
	}
	return n <= keptBytes && len(kept)+len(found) <= mostKept
}

// merging returns what a model can merge: the kept findings that exactly the same people may see
// and that are not stale, and the new ones that answer nobody and are not worth saying, because a
// merged finding is only for prompts and is never said.
func merging(kept []BufferedFinding, found []Finding, now time.Time) (old []BufferedFinding, fresh []Finding) {
	for _, k := range kept {
		if k.Same && now.Before(k.Until) {
			old = append(old, k)
		}
	}
	for _, f := range found {
		if f.Answers == "" && !f.Worth {
			fresh = append(fresh, f)
		}
	}
	return old, fresh
}

// merged reads how a model has merged old and fresh findings. It returns the findings that replace
// found, each with the findings for which it stands. A merge is left out if it refers to a finding
// that does not exist, or for which another merge already stands; its parts then stay as they were.
// A merge is no surer than its parts, and does not hold for longer.
func merged(data []byte, old []BufferedFinding, fresh, found []Finding, now time.Time) (all []Finding, err error) {
	answer, err := read(data)
	if err != nil {
		return found, err
	}
	taken := make(map[int]bool)
	for _, w := range answer {
		f, ok := w.finding(now)
		var of []int
		for _, l := range w.Merges {
			i, known := index("f", l, len(old)+len(fresh))
			ok = ok && known && !taken[i] && !slices.Contains(of, i)
			of = append(of, i)
		}
		if !ok || len(of) < 2 {
			continue
		}
		sure, until := 0.0, now
		for _, i := range of {
			taken[i] = true
			if i < len(old) {
				f.Merges = append(f.Merges, old[i].ID)
				sure, until = max(sure, old[i].Confidence), later(until, old[i].Until)
				continue
			}
			is := fresh[i-len(old)]
			sure, until = max(sure, is.Confidence), later(until, is.Until)
			f.Evidence = union(f.Evidence, is.Evidence)
		}
		f.Confidence = min(f.Confidence, sure)
		if f.Until.After(until) {
			f.Until = until
		}
		all = append(all, f)
	}
	for _, f := range found {
		if i := slices.IndexFunc(fresh, func(o Finding) bool { return o.Text == f.Text }); i < 0 || !taken[len(old)+i] {
			all = append(all, f)
		}
	}
	return all, nil
}

// union returns what is in either list, without duplicates.
func union(a, b []earshot.EventID) []earshot.EventID {
	for _, id := range b {
		if !slices.Contains(a, id) {
			a = append(a, id)
		}
	}
	return a
}
