package hear_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot/models/hear"
)

// A detector says of each frame, some frames later, whether there is a voice.
type detector struct {
	verdicts string // by frame: v is a voice, n none, anything else is not told
	behind   int
	sensed   hear.Sensed
}

// step returns what is known after frame i.
func (d *detector) step(i int) hear.Sensed {
	d.sensed.Voice <<= 1
	d.sensed.None <<= 1
	if k := i - d.behind; k >= 0 && k < len(d.verdicts) {
		switch d.verdicts[k] {
		case 'v':
			d.sensed.Voice |= 1 << d.behind
		case 'n':
			d.sensed.None |= 1 << d.behind
		}
	}
	return d.sensed
}

// sensedEdges draws the edges that an ear with a detector finds in a picture.
func sensedEdges(e *hear.Ear, picture string, d detector) string {
	var got strings.Builder
	for i, f := range draw(picture) {
		got.WriteByte(signs[e.Step(&f)])
		e.Sensed(d.step(i))
	}
	return got.String()
}

// TestSensed: what a detector denies pauses nobody, and what it finds lasts as soon as without it.
func TestSensed(t *testing.T) {
	none, voice := strings.Repeat("n", 60), strings.Repeat("v", 60)
	for _, tt := range []struct{ name, heard, verdicts, want string }{
		{"a voice", "..##########......", voice, "....b.L..........E"},
		{"a voice found later", "..##########......", "nnnnnnnvvvvvvvvvv", "....b.....L......E"},
		{"nobody listens", "..##########......", "", "....b.L..........E"},
		{"music", "..##############################......", none, "....b.......x........................."},
		{"keys", "..###......###......###.....", none, "....b.....x..b.....x..b....."},
		{"music, and then a voice", "..##############################......", none[:20] + voice, "....b.......x..........bL............E"},
		{"music that pauses", "..################......#########.....", none, "....b.......x.............b.......x..."},
		{"a detector that falls silent", "..####################..........", "nn", "....b....L.................E...."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := sensedEdges(hear.New(short()), tt.heard, detector{verdicts: tt.verdicts, behind: 2}); got != tt.want {
				t.Errorf("heard %s\n  got %s\n want %s", tt.heard, got, tt.want)
			}
		})
	}
}

// TestSensedPromises: whatever a detector says, an ear keeps its promises.
func TestSensedPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := newJudge(configs(t))
		all := draw(rapid.StringOfN(rapid.SampledFrom([]rune("###.-")), 1, 500, -1).Draw(t, "picture"))
		for i := range all {
			j.Sensed(hear.Sensed{Voice: rapid.Uint64().Draw(t, "voice"), None: rapid.Uint64().Draw(t, "none")})
			if err := j.step(&all[i]); err != nil {
				t.Fatalf("frame %d: %v", i, err)
			}
		}
	})
}
