package main

import (
	"fmt"
	"strings"
	"testing"

	"earshot"
	"earshot/internal/transcript"
)

// TestMeanwhile: things seen are merged among things said, and push none of them out.
func TestMeanwhile(t *testing.T) {
	of := func(sequences ...int64) (all []earshot.Event) {
		for _, n := range sequences {
			all = append(all, earshot.Event{Sequence: n})
		}
		return all
	}
	for _, tt := range []struct {
		events, seen []earshot.Event
		most         int
		want         string
	}{
		{of(3, 7, 9), of(1, 2, 4, 8, 10), 3, "3 4 7 8 9 10"},
		{of(3, 7, 9), of(1, 2, 4, 8, 10), 20, "1 2 3 4 7 8 9 10"},
		{nil, of(1, 2), 20, "1 2"},
		{of(3), nil, 1, "3"},
	} {
		if got := strings.Trim(fmt.Sprint(sequences(transcript.MergeSeen(tt.events, tt.seen, tt.most))), "[]"); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func sequences(events []earshot.Event) (all []int64) {
	for _, e := range events {
		all = append(all, e.Sequence)
	}
	return all
}
