package see_test

import (
	"strings"
	"testing"

	"earshot/models/see"
)

// TestBadRecordings: a file that is not a recording is reported with the number of the line.
func TestBadRecordings(t *testing.T) {
	const head, one = "8 6\n", "0.00 0.5 0.1 0 0 .+ face,0.1,0.1,0.2,0.2,0.9\n"
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", "a recording without pictures"},
		{"only a size", head, "a recording without pictures"},
		{"no size", one, "line 1: a recording begins with"},
		{"too large a picture", "99999 6\n" + one, "line 2: the values of the picture are not possible"},
		{"too few words", head + "0.00 0.5\n", "line 2: the line has 2 words"},
		{"no numbers", head + "a b c d e .\n", "line 2: the line does not begin with five numbers"},
		{"a time that cannot be", head + "1e30 0.5 0.1 0 0 .\n", "line 2: 1e+30 seconds are not possible"},
		{"backwards", head + "1.00 0.5 0.1 0 0 .\n" + one, "line 3: it is earlier"},
		{"too bright", head + "0.00 1.5 0.1 0 0 .\n", "line 2: the values of the picture are not possible"},
		{"a thing without a box", head + "0.00 0.5 0.1 0 0 . face\n", `line 2: "face" is not an object`},
		{"an unknown thing", head + "0.00 0.5 0.1 0 0 . cat,0.1,0.1,0.2,0.2,0.9\n", "line 2: the values of the picture are not possible"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := see.ParseRecording([]byte(tt.text)); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

func FuzzParseRecording(f *testing.F) {
	f.Add("8 6\n0.00 0.5 0.1 0 0 .+! face,0.1,0.1,0.2,0.2,0.9 person,0.5,0.5,0.5,0.5,1\n1 0 0 0 0 .\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := see.ParseRecording([]byte(text))
		if err != nil {
			return
		}
		again, err := see.ParseRecording([]byte(all.String()))
		if err != nil && !strings.Contains(err.Error(), "the values of the picture are not possible") { // a box may be rounded to nothing
			t.Fatal(err)
		}
		if err == nil && len(again) != len(all) {
			t.Fatalf("%d pictures became %d", len(all), len(again))
		}
	})
}
