// Package scenery says which part of a small grey picture moves, and which part is not as usual.
// It is pure: it has no clock and no goroutine, and allocates nothing per picture.
//
// A picture is compared with the previous one for motion, and with a baseline for novelty. In both
// comparisons uniform changes are removed first: one gain and one offset, fitted to the means of
// small blocks so that moving things have little weight (iteratively reweighted least squares with
// Cauchy's weights). So slow daylight and a camera that adjusts its exposure are nothing new. The
// rest is measured against the noise of each pixel, which a running median estimates (Manzanera
// and Richefeu, "A new motion detection algorithm based on Σ-Δ background estimation", 2007); a
// single pixel does not count, only cells of which a good part differs.
//
// The baseline follows what is not new. Something new that stays, without motion in it, becomes
// usual after some minutes; if something moves in it now and then, such as a person who sits
// there, it never does. After a change of light the baseline is made anew.
package scenery

import (
	"math"
	"time"

	"earshot"
)

// Still is the largest share that moves in a picture in which nothing does: below it is a hand at
// the other end of a room, or compression noise.
const Still = 0.004

const (
	side  = 4 // of a cell, in pixels
	block = 8 // side of a block, in pixels

	// floor is the least difference in brightness that counts, of 255: what compression
	// leaves of an edge is less.
	floor = 9

	// sigmas is how many standard deviations of its noise a pixel must differ.
	sigmas = 4.5

	// part is how many pixels of a cell must differ.
	part = side * side / 4

	// follows is how fast the baseline follows where nothing is new: slowly enough that the sun
	// behind a cloud is not motion, and noise averages out.
	follows = 20 * time.Second

	// stays is how long something must be there, and still, to become usual.
	stays = 3 * time.Minute

	// lights is the time after most has become new at once, without motion.
	lights = 5 * time.Second

	// another is the share of the structured parts whose structure must have changed for another
	// picture, and textured the least share of structured parts needed to tell.
	another  = 0.7
	textured = 0.1

	// alike is the correlation below which the structure of a block has changed.
	alike = 0.5

	// noise is the initial noise of a pixel, as a standard deviation, and quietest and noisiest are
	// its bounds.
	noise, quietest, noisiest = 2, 0.5, 20

	// Noise grows by rises with each picture that differs more and falls by the other with
	// each that differs less. So one in four differs more, which for noise is quarter
	// standard deviations of one picture; and what moves more often than that, such as a
	// curtain, is noise within two minutes at five pictures a second.
	rises, falls = 0.045, 0.015
	quarter      = 1.1503 * math.Sqrt2

	// farthest is how far the baseline may lie beyond what a picture can show: as much as the
	// brightest in the least light that is learned by.
	farthest = 4 * 255

	// half is how many standard deviations the difference of half of all pixels is below.
	half = 0.6745
)

// A View is the analysis of one picture. All shares are of the area that is not masked.
type View struct {
	Brightness float64       // mean, 0 to 1
	Contrast   float64       // standard deviation of the brightness, 0 to 1
	Motion     float64       // share that moved since the last picture, 0 to 1
	Novelty    float64       // share that is not as it usually is, 0 to 1
	Cut        bool          // most of the structure is another one
	Same       time.Duration // for how long all pictures have been the same
}

// A Scenery is what one camera shows. It is for one goroutine.
type Scenery struct {
	width, height int
	cols, rows    int // of cells
	bcols, brows  int // of blocks

	seen  []bool  // pixels that are not masked
	area  float64 // how many
	cells []cell

	last  []uint8   // the picture before
	base  []float32 // the usual picture
	noise []float32 // of each pixel, as a standard deviation

	off                []float32 // by how much each pixel differs
	now, usual, before []float32 // means of the blocks: of this picture, of the baseline, of the last picture
	weigh, known       []float32 // of the blocks: how many pixels are seen, and of those in which nothing is new
	stack              []int32   // cells to be visited

	pictures  int
	at, began time.Time // of the last picture; since when they are the same
	sum       uint64
	most      time.Duration // for how long most is new, and nothing moves
}

// A cell is a small square of the picture.
type cell struct {
	seen       bool
	moved, new bool
	visited    bool
	still      time.Duration // for how long it has been new with nothing moving in it
}

// New returns the scenery of pictures of that size, in pixels. The masked parts are ignored. It
// panics if nothing is left.
func New(width, height int, masks []earshot.Box) *Scenery {
	if width < block || height < block {
		panic("scenery: a picture that is too small")
	}
	s := &Scenery{width: width, height: height}
	s.cols, s.rows = width/side, height/side
	s.bcols, s.brows = width/block, height/block
	n := width * height
	s.seen = make([]bool, n)
	s.last, s.base, s.noise, s.off = make([]uint8, n), make([]float32, n), make([]float32, n), make([]float32, n)
	s.cells, s.stack = make([]cell, s.cols*s.rows), make([]int32, 0, s.cols*s.rows)
	blocks := s.bcols * s.brows
	for _, list := range []*[]float32{&s.now, &s.usual, &s.before, &s.weigh, &s.known} {
		*list = make([]float32, blocks)
	}
	s.mask(masks)
	return s
}

// mask notes what is seen. A pixel that is masked in part is not.
func (s *Scenery) mask(masks []earshot.Box) {
	for i := range s.seen {
		s.seen[i] = true
	}
	for _, m := range masks {
		left, right := int(math.Floor(m.X*float64(s.width))), int(math.Ceil((m.X+m.Width)*float64(s.width)))
		top, bottom := int(math.Floor(m.Y*float64(s.height))), int(math.Ceil((m.Y+m.Height)*float64(s.height)))
		for y := max(0, top); y < min(bottom, s.height); y++ {
			for x := max(0, left); x < min(right, s.width); x++ {
				s.seen[y*s.width+x] = false
			}
		}
	}
	for y := range s.height {
		for x := range s.width {
			if !s.seen[y*s.width+x] {
				continue
			}
			s.area++
			if bx, by := x/block, y/block; bx < s.bcols && by < s.brows {
				s.weigh[by*s.bcols+bx]++
			}
			if cx, cy := x/side, y/side; cx < s.cols && cy < s.rows {
				s.cells[cy*s.cols+cx].seen = true
			}
		}
	}
}

// Look takes the picture of a time: brightness from 0 to 255, row by row from the upper
// left. Sum is a checksum of it as it was before it was made small: pictures with the
// same are the same. It panics if the picture has another size.
func (s *Scenery) Look(at time.Time, grey []uint8, sum uint64) View {
	if len(grey) != s.width*s.height {
		panic("scenery: a picture of another size")
	}
	var v View
	v.Brightness, v.Contrast = s.light(grey)
	if s.area == 0 {
		return v
	}
	s.pictures++
	if s.pictures == 1 {
		s.begin(grey)
		s.at, s.began, s.sum = at, at, sum
		return v
	}
	dt := max(0, at.Sub(s.at))
	if sum != s.sum {
		s.began = at
	}
	v.Same = max(0, at.Sub(s.began))
	s.at, s.sum = at, sum

	takeMeans(s, s.now, grey)
	v.Motion = s.motion(grey)
	fit := s.fit(s.usual, s.weigh)
	v.Novelty = s.novelty(grey, fit)
	if v.Cut = s.cut(grey); v.Cut {
		s.begin(grey)
		v.Novelty = 0
	} else {
		s.learn(grey, v, dt)
	}
	copy(s.last, grey)
	copy(s.before, s.now)
	return v
}

// light returns the mean and the standard deviation of what is seen, from 0 to 1.
func (s *Scenery) light(grey []uint8) (mean, deviation float64) {
	if s.area == 0 {
		return 0, 0
	}
	var sum, squares int64
	for i, g := range grey {
		if s.seen[i] {
			sum += int64(g)
			squares += int64(g) * int64(g)
		}
	}
	mean = float64(sum) / s.area
	variance := max(0, float64(squares)/s.area-mean*mean)
	return mean / 255, math.Sqrt(variance) / 255
}

// begin takes a picture for the usual one.
func (s *Scenery) begin(grey []uint8) {
	first := s.pictures == 1
	for i, g := range grey {
		s.base[i] = float32(g)
		if first {
			s.noise[i] = noise
		}
	}
	for i := range s.cells {
		s.cells[i].still, s.cells[i].new = 0, false
	}
	s.most = 0
	takeMeans(s, s.now, grey)
	copy(s.usual, s.now)
	copy(s.before, s.now)
	copy(s.last, grey)
}

// takeMeans takes the means of the blocks of a picture.
func takeMeans[T uint8 | float32](s *Scenery, means []float32, picture []T) {
	clear(means)
	for y := range s.brows * block {
		row := (y / block) * s.bcols
		for x := range s.bcols * block {
			if i := y*s.width + x; s.seen[i] {
				means[row+x/block] += float32(picture[i])
			}
		}
	}
	for i, n := range s.weigh {
		if n > 0 {
			means[i] /= n
		}
	}
}

// A light is how the brightness of one picture becomes that of another.
type light struct{ gain, offset float32 }

// of returns the brightness that g has become.
func (l light) of(g float32) float32 { return min(255, max(0, l.gain*g+l.offset)) }

// fit returns the light that makes the picture with these means the present one, as far
// as that is so of the parts whose number is in of.
func (s *Scenery) fit(means, of []float32) light {
	l := light{1, s.median(means, of)}
	for range 5 {
		// weighted least squares; what does not fit has little weight, and where there is
		// nothing to tell by, the gain stays 1
		var w, x, y, xx, xy float64
		for i, n := range of {
			if n == 0 || s.now[i] >= 254 || s.now[i] <= 1 { // clipped
				continue
			}
			a, b := float64(means[i]), float64(s.now[i])
			off := (b - float64(l.gain)*a - float64(l.offset)) / floor
			k := float64(n) / (1 + off*off)
			w, x, y, xx, xy = w+k, x+k*a, y+k*b, xx+k*a*a, xy+k*a*b
		}
		if w == 0 {
			return l
		}
		mx, my := x/w, y/w
		vx, vxy := xx/w-mx*mx, xy/w-mx*my
		const prior = 1 // of a gain of 1, as a variance
		gain := min(4, max(0.05, (vxy+prior)/(vx+prior)))
		l = light{float32(gain), float32(my - gain*mx)}
	}
	return l
}

// median returns by how much brighter the picture is than the one with these means, as a
// rule.
func (s *Scenery) median(means, of []float32) float32 {
	var counts [512]int
	total := 0
	for i, n := range of {
		if n > 0 {
			// What became usual in little light may lie beyond what a picture can show.
			counts[int(max(-255, min(255, s.now[i]-means[i])))+255]++
			total++
		}
	}
	for i, so := 0, 0; i < len(counts); i++ {
		if so += counts[i]; so*2 >= total {
			return float32(i - 255)
		}
	}
	return 0
}

// motion compares the picture with the last one, and learns how noisy each pixel is.
func (s *Scenery) motion(grey []uint8) float64 {
	l := s.fit(s.before, s.weigh)
	for i, g := range s.last {
		s.off[i] = apart(float32(grey[i]), l.of(float32(g)))
	}
	moved, all := 0, 0
	least := s.typical() / (half * math.Sqrt2)
	s.differing(least, func(c *cell, differs bool) {
		if c.moved = differs; differs {
			moved++
		}
		all++
	})
	for i, off := range s.off {
		if off > quarter*s.noise[i] {
			s.noise[i] = min(noisiest, s.noise[i]+rises)
		} else {
			s.noise[i] = max(quietest, s.noise[i]-falls)
		}
	}
	return share(moved, all)
}

// novelty compares the picture with the usual one, as it is in this light.
func (s *Scenery) novelty(grey []uint8, l light) float64 {
	for i, g := range s.base {
		s.off[i] = apart(float32(grey[i]), l.of(g))
	}
	fresh, all := 0, 0
	s.differing(s.typical()/half, func(c *cell, differs bool) {
		if c.new = differs; differs {
			fresh++
		}
		all++
	})
	return share(fresh, all)
}

func apart(a, b float32) float32 {
	if a < b {
		return b - a
	}
	return a - b
}

func share(n, all int) float64 {
	if all == 0 {
		return 0
	}
	return float64(n) / float64(all)
}

// typical returns by how much half of the pixels differ at most.
func (s *Scenery) typical() float32 {
	var counts [4 * 256]int // in quarters
	total := 0
	for i, off := range s.off {
		if s.seen[i] {
			counts[int(4*off)]++
			total++
		}
	}
	so := 0
	for i, n := range counts {
		if so += n; 2*so >= total {
			return float32(i) / 4
		}
	}
	return 0
}

// differing tells set of each cell that is seen whether a good part of it differs by more
// than its noise, which for all is that of the picture at least.
func (s *Scenery) differing(least float32, set func(*cell, bool)) {
	for cy := range s.rows {
		for cx := range s.cols {
			c := &s.cells[cy*s.cols+cx]
			if !c.seen {
				continue
			}
			n := 0
			for y := cy * side; y < (cy+1)*side; y++ {
				for i := y*s.width + cx*side; i < y*s.width+(cx+1)*side; i++ {
					if s.seen[i] && s.off[i] > max(floor, sigmas*max(least, s.noise[i])) {
						n++
					}
				}
			}
			set(c, n >= part)
		}
	}
}

// cut reports whether most of the structure is another one than that of the baseline. The
// light does not matter: blocks are compared by correlation, where both have a structure.
func (s *Scenery) cut(grey []uint8) bool {
	structured, other, all := 0, 0, 0
	for by := range s.brows {
		for bx := range s.bcols {
			if s.weigh[by*s.bcols+bx] < block*block {
				continue
			}
			all++
			correlation, ok := s.correlation(grey, bx, by)
			if !ok {
				continue
			}
			if structured++; correlation < alike {
				other++
			}
		}
	}
	return float64(structured) > textured*float64(all) && float64(other) > another*float64(structured)
}

// correlation returns how alike a block is to that of the baseline, from -1 to 1, if both
// have a structure.
func (s *Scenery) correlation(grey []uint8, bx, by int) (float64, bool) {
	const n = block * block
	var a, b, aa, bb, ab, rough float32
	for y := by * block; y < (by+1)*block; y++ {
		for i := y*s.width + bx*block; i < y*s.width+(bx+1)*block; i++ {
			g, u := float32(grey[i]), s.base[i]
			a, b, aa, bb, ab = a+g, b+u, aa+g*g, bb+u*u, ab+g*u
			rough += s.noise[i] * s.noise[i]
		}
	}
	va, vb, vab := aa/n-a*a/n/n, bb/n-b*b/n/n, ab/n-a*b/n/n
	if least := max(floor*floor, 9*rough/n); va < least || vb < least {
		return 0, false
	}
	return float64(vab) / math.Sqrt(float64(va)*float64(vb)), true
}

// learn makes the usual picture more like the present one.
func (s *Scenery) learn(grey []uint8, v View, dt time.Duration) {
	// What is new must not weigh anything here: the baseline would drift away from what
	// stands before it.
	s.know()
	l := s.fit(s.usual, s.known)
	if l.gain < 0.3 { // it is dark: what is there cannot be told
		return
	}
	if v.Novelty > 0.5 && v.Motion <= Still {
		if s.most += dt; s.most >= lights {
			s.begin(grey)
			return
		}
	} else {
		s.most = 0
	}
	s.settle(dt)
	rate := float32(1 - math.Exp(-dt.Seconds()/follows.Seconds()))
	rate = max(rate, 1/float32(s.pictures)) // a mean, at first
	for cy := range s.rows {
		for cx := range s.cols {
			c := &s.cells[cy*s.cols+cx]
			k := rate
			switch {
			case !c.new:
			case c.still >= stays:
				k, c.still = 1, 0
			default:
				continue
			}
			for y := cy * side; y < (cy+1)*side; y++ {
				for i := y*s.width + cx*side; i < y*s.width+(cx+1)*side; i++ {
					usual := (float32(grey[i]) - l.offset) / l.gain
					s.base[i] += k * (min(farthest, max(-farthest, usual)) - s.base[i])
				}
			}
		}
	}
	takeMeans(s, s.usual, s.base)
}

// know records in which blocks nothing is new.
func (s *Scenery) know() {
	copy(s.known, s.weigh)
	for i := range s.cells {
		if x, y := i%s.cols*side/block, i/s.cols*side/block; s.cells[i].new && x < s.bcols && y < s.brows {
			s.known[y*s.bcols+x] = 0
		}
	}
}

// settle counts how long new areas have been still: each connected area as a whole, so that a
// person who only moves the head does not become usual from the feet up.
func (s *Scenery) settle(dt time.Duration) {
	for i := range s.cells {
		s.cells[i].visited = false
	}
	for i := range s.cells {
		switch c := &s.cells[i]; {
		case !c.new:
			c.still = 0
		case !c.visited:
			s.stretch(int32(i), dt)
		}
	}
}

// stretch visits all new cells connected to a cell, twice: to see whether anything moves in them,
// and to record that.
func (s *Scenery) stretch(first int32, dt time.Duration) {
	moves := false
	s.stack = append(s.stack[:0], first)
	s.cells[first].visited = true
	for n := 0; n < len(s.stack); n++ {
		at := s.stack[n]
		moves = moves || s.cells[at].moved
		x, y := int(at)%s.cols, int(at)/s.cols
		for ny := max(0, y-1); ny <= min(s.rows-1, y+1); ny++ {
			for nx := max(0, x-1); nx <= min(s.cols-1, x+1); nx++ {
				to := int32(ny*s.cols + nx)
				if c := &s.cells[to]; c.new && !c.visited {
					c.visited = true
					s.stack = append(s.stack, to)
				}
			}
		}
	}
	for _, at := range s.stack {
		c := &s.cells[at]
		if c.still += dt; moves {
			c.still = 0
		}
	}
}
