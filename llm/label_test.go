package llm_test

import (
	"testing"

	"earshot/llm"
)

func TestLabels(t *testing.T) {
	if got := llm.Labels("e", 3); got != `"e1","e2","e3"` {
		t.Errorf("the labels are %s", got)
	}
	for label, want := range map[string]int{"e1": 0, "e3": 2, "e4": -1, "e0": -1, "e01": -1, "e+1": -1, "e-1": -1, "f1": -1, "1": -1, "ee1": -1, "e": -1, "": -1} {
		if i, ok := llm.LabelIndex("e", label, 3); ok != (want >= 0) || ok && i != want {
			t.Errorf("%q names %d, %v, want %d", label, i, ok, want)
		}
	}
}
