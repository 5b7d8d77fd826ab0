package main

import "earshot/models/voiceprint/acoustic"

// smoothed is how much of the mean variance within people is added to each, so
// that a number that seems to vary in nobody is not taken for certain.
const smoothed = 0.05

// discriminate finds the directions in which people differ more than each from
// themselves: Fisher's linear discriminant. What a channel and a mood do counts
// as how they differ from themselves.
func discriminate(takes []take, mixture *acoustic.Mixture) *acoustic.Model {
	m := &acoustic.Model{Mixture: *mixture}
	means := average(takes, func(t *take) []float64 { return t.whole[:] })
	copy(m.Usual[:], centre(means))
	within, between := newMatrix(acoustic.Raw), newMatrix(acoustic.Raw)
	for i := range takes {
		within.add(less(takes[i].whole[:], means[takes[i].person]), 1/float64(len(takes)))
	}
	people := 0.0
	for _, mean := range means {
		if mean != nil {
			people++
			between.add(less(mean, m.Usual[:]), 1)
		}
	}
	trace := 0.0
	for i := range within {
		trace += within[i][i] / acoustic.Raw
	}
	for i := range within {
		within[i][i] += smoothed * trace
	}
	root := within.root()
	vectors := root.between(between).eigen()
	for p := range m.Project {
		copy(m.Project[p][:], root.solveTransposed(vectors[p]))
	}
	scale(m, takes)
	return m
}

// useless is how little voices may differ in a number, beside how each varies:
// between few people there are not as many differences as a print has numbers.
const useless = 0.01

// scale makes the prints of m vary by 1 from person to person, and measures how
// they vary otherwise.
func scale(m *acoustic.Model, takes []take) {
	of := func(t *take) []float64 { return project(m, &t.whole) }
	means := average(takes, of)
	usual := centre(means)
	var among, within [acoustic.Size]float64
	people := 0.0
	for _, mean := range means {
		if mean != nil {
			people++
			add(among[:], squared(less(mean, usual)), 1)
		}
	}
	off := make([][]float64, len(takes))
	for i := range takes {
		off[i] = less(of(&takes[i]), means[takes[i].person])
		add(within[:], squared(off[i]), 1/(float64(len(takes))-people))
	}
	drift := drifts(takes, off, within[:])
	for p := range m.Project {
		voices := among[p]/(people-1) - within[p]*people/float64(len(takes))
		voices = max(voices, within[p]*useless)
		for i := range m.Project[p] {
			m.Project[p][i] /= sqrt(voices)
		}
		m.Within[p], m.Drift[p] = within[p]/voices, drift[p]/voices
	}
}

// drifts returns how much what people are off from themselves depends on the
// channel: the variance of its mean, less what chance makes of it.
func drifts(takes []take, off [][]float64, within []float64) []float64 {
	sums, counts := make([][acoustic.Size]float64, channels), make([]float64, channels)
	for i := range takes {
		if c := takes[i].channel; c >= 0 {
			add(sums[c][:], off[i], 1)
			counts[c]++
		}
	}
	drift := make([]float64, len(within))
	for c, n := range counts {
		if n == 0 {
			continue
		}
		for p, sum := range &sums[c] {
			drift[p] += max(0, sum*sum/n/n-within[p]/n) / channels
		}
	}
	return drift
}

// project returns the print of r, not yet bounded.
func project(m *acoustic.Model, r *raw) []float64 {
	print := make([]float64, acoustic.Size)
	for p := range print {
		for i, w := range &m.Project[p] {
			print[p] += w * (r[i] - m.Usual[i])
		}
	}
	return print
}

// average returns the mean of each person, by number; nil for those who said
// nothing.
func average(takes []take, of func(*take) []float64) [][]float64 {
	var means [][]float64
	var counts []float64
	for i := range takes {
		p, v := takes[i].person, of(&takes[i])
		for p >= len(means) {
			means, counts = append(means, nil), append(counts, 0)
		}
		if means[p] == nil {
			means[p] = make([]float64, len(v))
		}
		add(means[p], v, 1)
		counts[p]++
	}
	for p, mean := range means {
		for i := range mean {
			mean[i] /= counts[p]
		}
	}
	return means
}

// centre returns the mean of all that are not nil.
func centre(all [][]float64) []float64 {
	var sum []float64
	n := 0.0
	for _, v := range all {
		if v == nil {
			continue
		}
		if sum == nil {
			sum = make([]float64, len(v))
		}
		add(sum, v, 1)
		n++
	}
	for i := range sum {
		sum[i] /= n
	}
	return sum
}

func add(to, v []float64, weight float64) {
	for i, x := range v {
		to[i] += weight * x
	}
}

func less(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return d
}

func squared(v []float64) []float64 {
	s := make([]float64, len(v))
	for i, x := range v {
		s[i] = x * x
	}
	return s
}
