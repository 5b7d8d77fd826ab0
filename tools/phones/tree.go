package main

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"earshot/language/phones"
)

// A place is one letter of a word, and the number of its sound.
type place struct {
	word  string
	at    int
	sound byte
}

// grow returns the packed tree of what words sound like. Letters must have 256 different sounds at most.
func grow(words []word) ([]byte, error) {
	number := make(map[string]byte)
	var sounds []string
	places := make(map[byte][]place)
	for i, s := range align(words) {
		for at, sound := range s {
			if _, known := number[sound]; !known {
				number[sound] = byte(len(sounds))
				sounds = append(sounds, sound)
			}
			letter := words[i].letters[at]
			places[letter] = append(places[letter], place{words[i].letters, at, number[sound]})
		}
	}
	b := pack(nil, []byte(strings.Join(sounds, " ")))
	for i := range len(phones.Letters) {
		node, _ := split(places[phones.Letters[i]], 0)
		b = pack(b, node)
	}
	if len(sounds) > 1<<8 {
		return nil, fmt.Errorf("letters have %d different sounds, which one byte does not hold; is it a dictionary of English?", len(sounds))
	}
	return b, nil
}

// split returns the packed node of some places of a letter, and in how many of them it is wrong.
func split(all []place, depth int) (node []byte, wrong int) {
	usual, n := mode(all)
	node, wrong = []byte{usual, 0}, len(all)-n
	if wrong == 0 || depth == phones.Depth {
		return node, wrong
	}
	by := make(map[byte][]place)
	for _, p := range all {
		letter := phones.Around(p.word, p.at, depth)
		by[letter] = append(by[letter], p)
	}
	for _, letter := range slices.Sorted(maps.Keys(by)) {
		missed := 0 // without a branch
		for _, p := range by[letter] {
			if p.sound != usual {
				missed++
			}
		}
		if branch, left := split(by[letter], depth+1); left < missed {
			node = pack(append(node, letter), branch)
			node[1]++
			wrong -= missed - left
		}
	}
	return node, wrong
}

// mode returns the most frequent sound of some places, and how often it is there.
func mode(all []place) (usual byte, n int) {
	var count [256]int
	for _, p := range all {
		count[p.sound]++
	}
	for sound, c := range count {
		if c > n {
			usual, n = byte(sound), c
		}
	}
	return usual, n
}

// pack appends a part with its length before it.
func pack(b, part []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(part))), part...)
}
