package think

import (
	"cmp"
	"slices"
	"time"

	"earshot"
)

const (
	// MostKept and KeptBytes bound what is found and kept, of everybody together:
	// what a prompt can show.
	MostKept  = 8
	KeptBytes = 1 << 10
)

// Fits reports whether what is found can be kept beside what is.
func Fits(kept []Kept, found []Finding) bool {
	n := 0
	for _, k := range kept {
		n += len(k.Text)
	}
	for _, f := range found {
		n += len(f.Text)
	}
	return n <= KeptBytes && len(kept)+len(found) <= MostKept
}

// Fit returns which of the findings are kept at now, and which make room for
// them: first what is stale, then what was used, then what is least sure, of
// equals the eldest. They go whole. An answer to somebody always stays, but for those that are
// more than fit at all.
func Fit(kept []Kept, found []Finding, now time.Time) (stay []Finding, drop []earshot.EventID) {
	kept, stay = slices.Clone(kept), slices.Clone(found)
	for !Fits(kept, stay) {
		k := leastKept(kept, now)
		f := leastFound(stay)
		switch {
		case k >= 0 && (f < 0 || expendable(kept[k], now) < 2 || kept[k].Confidence <= stay[f].Confidence):
			drop = append(drop, kept[k].ID)
			kept = slices.Delete(kept, k, k+1)
		case f >= 0:
			stay = slices.Delete(stay, f, f+1)
		default:
			stay = stay[:len(stay)-1]
		}
	}
	return stay, drop
}

// expendable orders what is kept by how soon it goes.
func expendable(k Kept, now time.Time) int {
	switch {
	case !now.Before(k.Until):
		return 0
	case k.Used:
		return 1
	}
	return 2
}

// leastKept returns which goes first, -1 if there is none.
func leastKept(kept []Kept, now time.Time) int {
	least := -1
	for i, k := range kept {
		if least < 0 || cmp.Or(cmp.Compare(expendable(k, now), expendable(kept[least], now)), cmp.Compare(k.Confidence, kept[least].Confidence)) < 0 {
			least = i
		}
	}
	return least
}

// leastFound is the same of what is new and answers nobody.
func leastFound(found []Finding) int {
	least := -1
	for i, f := range found {
		if f.Answers == "" && (least < 0 || f.Confidence < found[least].Confidence) {
			least = i
		}
	}
	return least
}

// merging returns what can be put together, for a model: of what is kept, that which
// the same people may see and which is not stale, then what is new and answers
// nobody.
func merging(kept []Kept, found []Finding, now time.Time) (old []Kept, fresh []Finding) {
	for _, k := range kept {
		if k.Same && now.Before(k.Until) {
			old = append(old, k)
		}
	}
	for _, f := range found {
		if f.Answers == "" {
			fresh = append(fresh, f)
		}
	}
	return old, fresh
}

// merged reads what a model has put together of old and fresh, and returns what
// is found instead of found, and what it stands for. One that points to what
// there is not, or that another stands for already, is left out, and what it was to stand for stays as
// it was. It is no surer than what it is made of, and holds no longer.
func merged(data []byte, old []Kept, fresh, found []Finding, now time.Time) (all []Finding, gone []earshot.EventID, err error) {
	answer, err := read(data)
	if err != nil {
		return found, nil, err
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
				f.Merges, gone = append(f.Merges, old[i].ID), append(gone, old[i].ID)
				sure, until = max(sure, old[i].Confidence), later(until, old[i].Until)
				continue
			}
			is := fresh[i-len(old)]
			sure, until, f.Worth = max(sure, is.Confidence), later(until, is.Until), f.Worth || is.Worth
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
	return all, gone, nil
}

// union returns what is in either list, once.
func union(a, b []earshot.EventID) []earshot.EventID {
	for _, id := range b {
		if !slices.Contains(a, id) {
			a = append(a, id)
		}
	}
	return a
}
