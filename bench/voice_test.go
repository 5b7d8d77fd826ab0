package main

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"earshot/internal/audio"
)

func TestScores(t *testing.T) {
	r := &reel{passages: []passage{
		{"what time is it", 0, audio.Rate},
		{"stop talking please", 0, 2 * audio.Rate},
		{calls[0], 0, audio.Rate},
		{calls[1], 0, audio.Rate},
	}}
	all := score(r, []answer{
		{"what dime is it", 1, time.Second / 4},
		{"", 0, time.Second},
		{"ear shot what time is it", 1, 0},
		{"you can hear me", 2, 0},
	})
	if got, want := all.wer(), 100.*4/7; got != want {
		t.Errorf("the word error rate is %v, want %v", got, want)
	}
	if got := all.factors(); got[0] != 0.25 || got[1] != 0.5 {
		t.Errorf("the factors are %v", got)
	}
	rows := all.summary(all)
	if missed, falsely := rows[2], rows[3]; missed.Ours.P50 != 1 || missed.Unit != "of 2" || falsely.Ours.P50 != 0 || falsely.Unit != "of 2" {
		t.Errorf("the rows are %+v and %+v", missed, falsely)
	}
	if !strings.Contains(rows[0].Note, "of 4 things said, the ear took 1 for nothing and parted 1") {
		t.Errorf("the note is %q", rows[0].Note)
	}
}

// TestReel: what is heard in a gap belongs to the passage that is nearer.
func TestReel(t *testing.T) {
	const second = audio.Rate
	r := &reel{passages: []passage{{"", second, 2 * second}, {"", 3 * second, 4 * second}}}
	for at, want := range map[int]int{0: 0, second: 0, 2 * second: 0, 2*second + second/2: 0, 3*second - second/4: 1, 4 * second: 1, 9 * second: 1} {
		if got := r.at(at); got != want {
			t.Errorf("sample %d belongs to passage %d, want %d", at, got, want)
		}
	}
}

func TestWAV(t *testing.T) {
	path := t.TempDir() + "/some.wav"
	pcm := []int16{0, 1, -1, 32767, -32768}
	if err := writeWAV(path, pcm); err != nil {
		t.Fatal(err)
	}
	data := read(t, path)
	if got, err := parseWAV(data); err != nil || !slices.Equal(got, pcm) {
		t.Errorf("read %v, %v", got, err)
	}
	stereo := slices.Clone(data)
	stereo[22] = 2
	silent := slices.Clone(data)
	copy(silent[36:], "LIST")
	for name, data := range map[string][]byte{"nothing": nil, "half a head": data[:30], "stereo": stereo, "no sound": silent} {
		if got, err := parseWAV(data); err == nil {
			t.Errorf("%s: read %v", name, got)
		}
	}
}

func FuzzWAV(f *testing.F) {
	path := f.TempDir() + "/some.wav"
	if err := writeWAV(path, []int16{1, 2, 3}); err != nil {
		f.Fatal(err)
	}
	f.Add(read(f, path))
	f.Fuzz(func(t *testing.T, data []byte) {
		if pcm, err := parseWAV(data); err == nil && 2*len(pcm) > len(data) {
			t.Errorf("%d samples of %d bytes", len(pcm), len(data))
		}
	})
}

// draw makes sound of a picture, 10 ms a character: silence, noise, a drone,
// and one that is ducked.
func draw(picture string) (pcm []int16) {
	for _, c := range picture {
		for i := range audio.Rate / 100 {
			s := map[rune]int16{'.': 0, ':': 4, '#': strength, '+': strength / 4}[c]
			if i%2 == 1 {
				s = -s
			}
			pcm = append(pcm, s)
		}
	}
	return pcm
}

func TestOnset(t *testing.T) {
	for picture, want := range map[string]int{
		"":           -1,
		"..........": -1,
		"::::::::::": -1,
		"...####...": 3,
		":::####:::": 3,
		"#":          0,
	} {
		got := onset(draw(picture))
		if want >= 0 {
			want *= audio.Rate / 100
		}
		if got > want || got < want-audio.Rate/100 || want < 0 && got >= 0 {
			t.Errorf("%q begins at %d, want %d", picture, got, want)
		}
	}
}

// TestYields: a stutter is no silence.
func TestYields(t *testing.T) {
	for _, tt := range []struct {
		picture     string
		duck, still int
	}{
		{"####################", -1, -1},
		{"####++++++++++++++++", 4, -1},
		{"####++++............", 4, 8},
		{"####..............", 4, 4},
		{"####++++..++++............", 4, 14},
		{"####++++........", 4, -1},
	} {
		duck, still := yields(draw(tt.picture))
		near := func(got, want int) bool {
			if want < 0 || got < 0 {
				return got < 0 && want < 0
			}
			return got >= want*audio.Rate/100-1 && got <= want*audio.Rate/100+1
		}
		if !near(duck, tt.duck) || !near(still, tt.still) {
			t.Errorf("%s: it is ducked at %d and still at %d, want %d and %d", tt.picture, duck, still, tt.duck, tt.still)
		}
	}
}

func TestParseStat(t *testing.T) {
	for _, tt := range []struct {
		stat        string
		pid, parent int
		ok          bool
	}{
		{"12 (earshot) S 7 12 12 0 -1", 12, 7, true},
		{"12 (a ) R 3 (b) S 7 12 12 0 -1", 12, 7, true},
		{"12 (earshot) S", 0, 0, false},
		{"12 earshot S 7", 0, 0, false},
		{") 12 (", 0, 0, false},
		{"x (earshot) S 7", 0, 7, false},
		{"", 0, 0, false},
	} {
		pid, parent, ok := parseStat(tt.stat)
		if ok != tt.ok || ok && (pid != tt.pid || parent != tt.parent) {
			t.Errorf("%q is %d of %d, %v", tt.stat, pid, parent, ok)
		}
	}
}

// TestWithoutVoice: whoever wants no voice reads why it was not measured.
func TestWithoutVoice(t *testing.T) {
	for _, tt := range []struct{ without, figure, want string }{
		{"voice", "words", "not measured: EARSHOT_WITHOUT has voice"},
		{"ollama,voice", "tree", "not measured: EARSHOT_WITHOUT has voice"},
		{"pulse", "card", "not measured: EARSHOT_WITHOUT has pulse"},
		{"ollama speech", "yield", "not measured: EARSHOT_WITHOUT has speech"},
	} {
		t.Setenv("EARSHOT_WITHOUT", tt.without)
		r := measure(t, tt.figure)
		if len(r.Rows) != 1 || r.Rows[0].Note != tt.want {
			t.Errorf("without %s, %s says %+v", tt.without, tt.figure, r.Rows)
		}
	}
	if rows := withoutVoice("words", nil, "no-such-program"); len(rows) != 1 || !strings.Contains(rows[0].Note, "there is no no-such-program") {
		t.Errorf("without a program it says %+v", rows)
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestCrops: each crop is sixty distractions, which are no others than those of the
// other, and can be heard.
func TestCrops(t *testing.T) {
	if withoutVoice("yield", []string{"speech"}, "flite", "espeak-ng") != nil || testing.Short() {
		t.Skip("starts programs that speak")
	}
	b, seen := bench{dir: t.TempDir()}, make(map[string]bool)
	for _, n := range []crop{tuning, unseen} {
		all, err := n.distractions(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != 60 {
			t.Errorf("there are %d", len(all))
		}
		for i, d := range all {
			sound := string(audio.AppendPCM(nil, d.pcm))
			if seen[sound] || audio.Level(d.pcm) < -45 {
				t.Errorf("crop %d: %d, %s, was there before, or cannot be heard", n, i, d.kind)
			}
			seen[sound] = true
		}
	}
}
