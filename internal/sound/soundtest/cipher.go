package soundtest

import (
	"maps"
	"slices"

	"earshot/internal/audio"
)

const (
	// strong is the size of the samples of a cipher: lowered and faded they can still be told from
	// silence.
	strong = 16000

	// faded is the longest fade, in samples: what fades out is repeated when a speech goes on, and
	// otherwise does not count.
	faded = 5 * audio.Rate / 1000
)

// Cipher fills pcm with sound that identifies its position; its first sample is number from.
// Samples are pseudo-randomly up or down, so that no two stretches are alike, however soft they
// are.
func Cipher(pcm []int16, from int) {
	for i := range pcm {
		pcm[i] = strong
		if !up(from + i) {
			pcm[i] = -strong
		}
	}
}

// up reports whether sample i of a cipher is up.
func up(i int) bool {
	x := uint64(i)*0x9E3779B97F4A7C15 + 1
	x ^= x >> 31
	x *= 0xBF58476D1CE4E5B9
	return x>>40&1 == 1
}

// Follow returns how far a recording has come in a cipher from its beginning, in samples, at least
// and at most: a last block as short as a fade may have been one. The recording is given as the
// blocks that a device was given. Follow returns false if something is lost, or repeated other
// than by fades.
func Follow(recorded [][]int16) (least, most int, ok bool) {
	at := map[int]bool{0: true}
	for _, block := range recorded {
		next := make(map[int]bool)
		for from := range at {
			n, is := follows(block, from)
			if is && n < faded {
				next[from] = true // it may have faded out
			}
			if is {
				next[from+n] = true
			}
		}
		if at = next; len(at) == 0 {
			return 0, 0, false
		}
	}
	all := slices.Collect(maps.Keys(at))
	return slices.Min(all), slices.Max(all), true
}

// FollowRuns is Follow for a recording with unknown blocks: after a silence the sound continues
// where it was, or a fade earlier.
func FollowRuns(recorded []int16) (least, most int, ok bool) {
	at := map[int]bool{0: true}
	for len(recorded) > 0 {
		n := 0
		for n < len(recorded) && recorded[n] != 0 {
			n++
		}
		if n > 0 {
			next := make(map[int]bool)
			for from := range at {
				for back := range min(faded, from) + 1 {
					if got, is := follows(recorded[:n], from-back); is && got == n {
						next[from-back+n] = true
					}
				}
			}
			if at = next; len(at) == 0 {
				return 0, 0, false
			}
		}
		recorded = recorded[n:]
		for len(recorded) > 0 && recorded[0] == 0 {
			recorded = recorded[1:]
		}
	}
	all := slices.Collect(maps.Keys(at))
	return max(0, slices.Min(all)-faded), slices.Max(all), true // the last of it may have faded out
}

// follows returns how much of a cipher a block has, beginning at from, and reports whether it has
// nothing else.
func follows(block []int16, from int) (n int, ok bool) {
	for n < len(block) && block[n] != 0 && block[n] > 0 == up(from+n) {
		n++
	}
	for _, s := range block[n:] {
		if s != 0 {
			return 0, false
		}
	}
	return n, true
}
