package midturn_test

import (
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/executive/midturn"
)

func TestReport(t *testing.T) {
	for _, tt := range []struct {
		name, who string
		work      midturn.Work
		want      string
	}{
		{"waiting for the model", "", midturn.Work{On: "plan the garden", For: time.Second},
			"I am at “plan the garden”, for a moment: the first word of the answer has not come yet."},
		{"speaking", "", midturn.Work{On: "plan the garden", For: 5 * time.Second, Spoken: true}, "I am at “plan the garden”, for 5 s."},
		{"with a tool", "Earshot", midturn.Work{On: "plan\nthe garden", For: 70 * time.Second, Tools: []string{"search", "read_file", "search"}, Using: "write_file"},
			"Earshot is at “plan the garden”, for 70 s: it has used read_file, search; write_file is under way."},
		{"between tools", "", midturn.Work{On: "plan", For: 3 * time.Minute, Tools: []string{"search"}},
			"I am at “plan”, for 3 min: I have used search; the first word of the answer has not come yet."},
		{"thinking", "", midturn.Work{Thought: true, On: "the flat", For: 3 * time.Hour, Words: 120, GaveWay: 2},
			"I am thinking about “the flat”, for 3 h: 120 words so far, interrupted 2 times."},
		{"put aside", "Scout", midturn.Work{Thought: true, On: "the flat", Words: 1, Aside: true},
			"Scout is thinking about “the flat”, which goes on when the room is quiet: 1 word so far."},
		{"waiting", "", midturn.Work{Thought: true, On: "the flat", Behind: 1}, "I am to think about “the flat”; 1 question comes before it."},
		{"a long question", "", midturn.Work{On: earshot.Text(strings.Repeat("word ", 40)), Spoken: true},
			"I am at “" + strings.Repeat("word ", 11) + "word…”, for a moment."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.work.Report(tt.who); got != tt.want {
				t.Errorf("reports\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}
