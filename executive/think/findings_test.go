package think_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"earshot"
	"earshot/executive/think"
)

var evidence = []think.Evidence{{Event: "x", Text: "Ann: one"}, {Event: "y", Text: "Bob: two"}}

func TestParseFindings(t *testing.T) {
	const good = `"confidence":0.5,"minutes":30,"worth_saying":true`
	for _, tt := range []struct {
		name, data string
		asked      bool
		want       string
		refused    int
		bad        bool
	}{
		{name: "one", data: `{"findings":[{"text":"Ann is\n late.","evidence":["e1","e2","e1"],` + good + `}]}`, want: "Ann is late. 0.5 30m0s [x y] true"},
		{name: "what was defused for it", data: `{"findings":[{"text":"Ann wrote (` + "\u2060" + `FROM: B] and \u2039\u2060think>.","evidence":["e1"],` + good + `}]}`, want: "Ann wrote [FROM: B] and <think>. 0.5 30m0s [x] true"},
		{name: "none", data: `{"findings":[]}`},
		{name: "evidence that there is not", data: `{"findings":[{"text":"Ann is late.","evidence":["e1","e3"],` + good + `}]}`, refused: 1},
		{name: "labels of another kind", data: `{"findings":[{"text":"A","evidence":["x"],` + good + `},{"text":"B","evidence":["e01"],` + good + `},{"text":"C","evidence":["e0"],` + good + `}]}`, refused: 3},
		{name: "no evidence", data: `{"findings":[{"text":"Ann is late.","evidence":[],` + good + `}]}`, refused: 1},
		{name: "an answer rests on the question", asked: true, data: `{"findings":[{"text":"Four.","evidence":[],` + good + `},{"text":"Five.","evidence":["e1"],` + good + `}]}`,
			want: "Four. 0.5 30m0s [m-q] true answers m-q; Five. 0.5 30m0s [x m-q] true"},
		{name: "not sure by a number", data: `{"findings":[{"text":"A","evidence":["e1"],"confidence":80,"minutes":3,"worth_saying":true},{"text":"B","evidence":["e1"],"confidence":-0.1,"minutes":3,"worth_saying":true},{"text":"C","evidence":["e1"],"minutes":3,"worth_saying":true}]}`, refused: 3},
		{name: "stale already", data: `{"findings":[{"text":"A","evidence":["e1"],"confidence":1,"minutes":0,"worth_saying":true},{"text":"B","evidence":["e1"],"confidence":1,"minutes":-1e300,"worth_saying":true}]}`, refused: 2},
		{name: "true for ever", data: `{"findings":[{"text":"A","evidence":["e1"],"confidence":1,"minutes":1e300,"worth_saying":false}]}`, want: "A 1 24h0m0s [x] false"},
		{name: "too long", data: `{"findings":[{"text":"` + strings.Repeat("long ", 61) + `","evidence":["e1"],` + good + `}]}`, refused: 1},
		{name: "says nothing", data: `{"findings":[{"text":" … ","evidence":["e1"],` + good + `}]}`, refused: 1},
		{name: "twice", data: `{"findings":[{"text":"Ann is late.","evidence":["e1"],` + good + `},{"text":"ann is LATE","evidence":["e1"],` + good + `}]}`, want: "Ann is late. 0.5 30m0s [x] true", refused: 1},
		{name: "too many", data: `{"findings":[` + strings.Repeat(`{"text":"A","evidence":["e1"],`+good+`},`, 0) + many(6, good) + `]}`,
			want: "A 0.5 30m0s [x] true; B 0.5 30m0s [x] true; C 0.5 30m0s [x] true; D 0.5 30m0s [x] true", refused: 2},
		{name: "no JSON", data: "Ann is late.", bad: true},
		{name: "nothing", bad: true},
		{name: "something else", data: `{"found":[]}`, bad: true},
		{name: "a number that is none", data: `{"findings":[{"text":"A","evidence":["e1"],"confidence":NaN,"minutes":3,"worth_saying":true}]}`, bad: true},
		{name: "more than one", data: `{"findings":[]}{"findings":[]}`, bad: true},
		{name: "nested", data: `{"findings":[[[]]]}`, bad: true},
		{name: "nested deeply", data: strings.Repeat(`{"findings":[`, 1000), bad: true},
		{name: "longer than is read", data: `{"findings":[]}` + strings.Repeat(" ", 1<<20), bad: true},
	} {
		q := fresh("n")
		if tt.asked {
			q = asked("q")
		}
		found, refused, err := think.ParseFindings([]byte(tt.data), q, evidence, began)
		if got := told(found); got != tt.want || refused != tt.refused || (err != nil) != tt.bad {
			t.Errorf("%s: %q, %d refused, %v; want %q, %d", tt.name, got, refused, err, tt.want, tt.refused)
		}
	}
}

// many returns n findings of one letter each.
func many(n int, rest string) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"text":"%c","evidence":["e1"],%s}`, 'A'+i, rest))
	}
	return strings.Join(all, ",")
}

// told returns findings in one line.
func told(found []think.Finding) string {
	var all []string
	for _, f := range found {
		line := fmt.Sprintf("%s %v %v %v %v", string(f.Text), f.Confidence, f.Until.Sub(began), f.Evidence, f.Worth)
		if f.Answers != "" {
			line += " answers " + string(f.Answers)
		}
		if len(f.Merges) > 0 {
			line += fmt.Sprintf(" merges %v", f.Merges)
		}
		all = append(all, line)
	}
	return strings.Join(all, "; ")
}

// FuzzFindings: whatever a model writes, the findings taken from it are bounded, valid, and point
// only to what exists.
func FuzzFindings(f *testing.F) {
	for _, data := range []string{
		`{"findings":[{"text":"Ann is late.","evidence":["e1"],"confidence":0.5,"minutes":30,"worth_saying":true}]}`,
		`{"findings":[{"text":"\ud800","evidence":["e1","e1"],"confidence":1e400,"minutes":null,"worth_saying":1}]}`,
		`{"findings":[{"merges":["f1","f2"],"text":"x","confidence":1,"minutes":1e308}]}`, `[`, "", "{\"findings\":null}", strings.Repeat("[", 20000),
	} {
		f.Add(data, true)
		f.Add(data, false)
	}
	f.Fuzz(func(t *testing.T, data string, byWhom bool) {
		q := fresh("n")
		if byWhom {
			q = asked("q")
		}
		found, refused, err := think.ParseFindings([]byte(data), q, evidence, began)
		if len(found) > 4 || refused < 0 || err != nil && len(found) > 0 {
			t.Fatalf("%d found, %d refused, %v", len(found), refused, err)
		}
		for i, f := range found {
			valid := utf8.ValidString(string(f.Text)) && len(f.Text) > 0 && len(f.Text) <= 300 && !strings.ContainsAny(string(f.Text), "\n\r\x00")
			sure := !math.IsNaN(f.Confidence) && f.Confidence >= 0 && f.Confidence <= 1
			if !valid || !sure || !f.Until.After(began) || f.Until.After(began.Add(25*time.Hour)) || len(f.Evidence) == 0 || len(f.Evidence) > 3 {
				t.Fatalf("%+v", f)
			}
			for _, id := range f.Evidence {
				if id != "x" && id != "y" && id != "m-q" {
					t.Fatalf("it rests on %s", id)
				}
			}
			if (f.Answers != "") != (byWhom && i == 0) {
				t.Fatalf("%d answers %q", i, f.Answers)
			}
		}
	})
}

// kept is a finding in the buffer.
func kept(id string, bytes int, confidence float64) think.BufferedFinding {
	return think.BufferedFinding{ID: earshot.EventID(id), Text: earshot.Text(strings.Repeat("k", bytes)), Confidence: confidence, Until: began.Add(time.Hour), Same: true}
}

func found(text string, confidence float64) think.Finding {
	return think.Finding{Finding: earshot.Finding{Text: earshot.Text(text), Confidence: confidence, Until: began.Add(time.Hour)}, Evidence: []earshot.EventID{"x"}}
}

// TestWhatIsWorthSayingIsNotMerged: a finding that is merged with one that was said is never said
// itself, so no finding that is still to be said is merged.
func TestWhatIsWorthSayingIsNotMerged(t *testing.T) {
	news := found("The pump leaks.", 0.9)
	news.Worth = true
	old, fresh := think.Merging([]think.BufferedFinding{kept("k", 4, 0.5)}, []think.Finding{news, found("It rains.", 0.5)}, began)
	if len(old) != 1 || len(fresh) != 1 || fresh[0].Text != "It rains." {
		t.Errorf("put together are %v and %v", old, fresh)
	}
}
