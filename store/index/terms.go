package index

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"earshot"
	"earshot/internal/search"
)

// without returns the terms that are not among others.
func without(terms, others []string) []string {
	if len(others) == 0 {
		return terms
	}
	not := make(map[string]bool, len(others))
	for _, t := range others {
		not[t] = true
	}
	return slices.DeleteFunc(slices.Clone(terms), func(t string) bool { return not[t] })
}

// A tag is followed by a word, or by one of these marks, with which no word begins.
const (
	markAny     = "·"  // every text
	markAuthor  = "·b" // and its author
	markLimited = "·l" // not every agent may see it
	markAgent   = "·a" // and an agent that may
)

// terms returns the terms of an event, under each tag of those who may see it.
func (x *Index) terms(e earshot.Event, authors ...earshot.ParticipantID) []string {
	text := search.TextOf(e)
	if text == "" {
		return nil
	}
	tags := x.tags(e)
	if len(tags) == 0 {
		return nil // nobody may see it
	}
	marks := []string{markAny}
	for _, id := range authors {
		marks = append(marks, markAuthor+digest(string(id)))
	}
	room := MaxTerms/len(tags) - 4 // for each tag, leaving room for authors that are found out later
	if e.Visibility.Agents != nil {
		marks = append(marks, markLimited)
		agents := e.Visibility.Agents[:min(len(e.Visibility.Agents), room/2)]
		for _, id := range agents {
			marks = append(marks, markAgent+digest(string(id)))
		}
		room -= len(agents)
	}
	slices.Sort(marks)
	behind := append(slices.Compact(marks), search.Terms(string(text), room)...)
	all := make([]string, 0, len(tags)*len(behind))
	for _, tag := range tags {
		for _, term := range behind {
			all = append(all, tag+term)
		}
	}
	return all
}

// tags returns the tags of those who may see an event.
func (x *Index) tags(e earshot.Event) (all []string) {
	switch e.Visibility.Scope {
	case earshot.Public, earshot.System:
		return []string{x.tag(e.Sequence, e.Room)}
	case earshot.Private:
		for _, id := range e.Visibility.Members {
			all = append(all, x.tag(e.Sequence, e.Room, id))
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), maxTags)]
}

// tag returns the tag of everybody in a room, or of one member of a private conversation there, for
// the partition of a sequence.
func (x *Index) tag(sequence int64, room earshot.RoomID, member ...earshot.ParticipantID) string {
	names := []string{strconv.FormatInt(sequence/x.size(), 10), string(room)}
	for _, id := range member {
		names = append(names, string(id))
	}
	return digest(names...)
}

// size returns how many sequences share a tag.
func (x *Index) size() int64 { return cmp.Or(x.Partition, defaultPartition) }

// letters are of one case, because the index does not distinguish terms by case.
var letters = base32.HexEncoding.WithPadding(base32.NoPadding)

// digest returns eight letters that stand for some names. A collision costs time, but does not show
// anybody what they may not see.
func digest(names ...string) string {
	h := sha256.New()
	for _, name := range names {
		fmt.Fprintf(h, "%d:%s", len(name), name)
	}
	return strings.ToLower(letters.EncodeToString(h.Sum(nil)[:5]))
}

// dayOf returns the number of the day on which something began.
func dayOf(at time.Time) int64 { return int64(math.Floor(float64(at.UnixMilli()) / 86_400_000)) }
