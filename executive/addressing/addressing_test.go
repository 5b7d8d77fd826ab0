package addressing_test

import (
	"testing"

	"earshot"
	"earshot/executive/addressing"
)

// TestBeginsWithName: a name at the beginning is one only as a whole word.
func TestBeginsWithName(t *testing.T) {
	for _, tt := range []struct {
		text, name string
		want       bool
	}{
		{"Earshot what time is it", "Earshot", true},
		{" earshot", "Earshot", true},
		{"earshots are loud", "Earshot", false},
		{"Earshot's configuration is broken", "Earshot", false},
		{"I asked earshot about it yesterday", "Earshot", false},
		{"old friend come", "Old Friend", true},
		{"ear", "Earshot", false}, {"", "Earshot", false}, {"", "", false},
	} {
		if got := addressing.BeginsWithName(earshot.Text(tt.text), tt.name); got != tt.want {
			t.Errorf("BeginsWithName(%q, %q) = %v", tt.text, tt.name, got)
		}
	}
}
