package main

import "fmt"

// weighedRows returns the names of the rows of the figure weighed.
func weighedRows() (names []string) {
	for set := range 2 {
		for _, accuracy := range accuracies {
			for _, what := range []string{"pauses taken for the end", "end noticed"} {
				names = append(names, fmt.Sprintf("B1 replayed, set %d, with sound, %d %% right: %s", set+1, accuracy, what))
			}
		}
	}
	return names
}
