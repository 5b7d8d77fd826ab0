package hear_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"earshot/internal/audio"
	"earshot/models/hear"
)

// epoch is when the first frame of a picture was captured.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// kinds are the characters of a picture, each for one frame.
var kinds = map[rune]audio.Frame{
	'.': {},                                                                      // silence
	'#': {PCM: tone(-20), Voiced: true},                                          // a voice
	'o': {PCM: tone(-20), Voiced: true, Own: true},                               // a voice while our own sound plays
	'e': {PCM: tone(-20), Voiced: true, Own: true, EchoRatio: 0.9},               // our own sound as an echo
	'v': {PCM: tone(-20), Voiced: true, Own: true, EchoRatio: 0.85},              // perhaps somebody beside it
	'p': {PCM: tone(-20), Voiced: true, Own: true, EchoRatio: 0.8, Beside: true}, // plainly somebody beside it
	'q': {PCM: tone(-60), Voiced: true},                                          // somebody far away
	'h': {PCM: tone(-40), Voiced: true},                                          // a hum that the detector takes for a voice
	'n': {PCM: tone(-20)},                                                        // a noise that it does not take for one
}

// tone returns a tone with that level in dB.
func tone(db float64) (pcm [audio.Samples]int16) {
	for i := range pcm {
		pcm[i] = int16(math.Round(32768 * math.Sqrt2 * math.Pow(10, db/20) * math.Sin(2*math.Pi*200*float64(i)/audio.Rate)))
	}
	return pcm
}

// draw makes frames from a picture; '-' is a frame that is lost.
func draw(picture string) (all []audio.Frame) {
	lost := 0
	for i, c := range []rune(picture) {
		if c == '-' {
			lost++
			continue
		}
		f := kinds[c]
		f.At = epoch.Add(time.Duration(i) * audio.Time)
		f.Lost = uint16(lost)
		lost = 0
		all = append(all, f)
	}
	return all
}

// signs are the characters for edges.
var signs = map[hear.Edge]byte{
	hear.None: '.', hear.Began: 'b', hear.Lasts: 'L', hear.Nothing: 'x', hear.End: 'E', hear.TooLong: 'T',
}

// edges draws the edges that an ear finds in a picture.
func edges(e *hear.Ear, picture string) string {
	var b strings.Builder
	all := draw(picture)
	for i := range all {
		b.WriteString(strings.Repeat("-", int(all[i].Lost)))
		b.WriteByte(signs[e.Step(&all[i])])
	}
	return b.String()
}

// short returns the configuration of an ear with little patience, to keep pictures short.
func short() hear.Config {
	c := hear.DefaultConfig()
	c.End, c.EndFinished, c.PreRoll = 0.12, 0.1, 0.06
	return c
}

func TestEdges(t *testing.T) {
	for _, tt := range []struct{ name, heard, want string }{
		// 20 ms a character; an end takes 6 characters of silence
		{"nothing", "..........", ".........."},
		{"a word", "..######..........", "....b.L......E...."},
		{"a cough", "..###...........", "....b.....x....."},
		{"a click", "..#...........", ".............."},
		{"two clicks", "..#..#........", ".............."},
		{"a weak onset", "..#.##.##......", ".....b..L.....E"},
		{"a breath is no end", "#####.....####......", "..b.L..............E"},
		{"a click keeps nothing open", "#####....#.......", "..b.L.....E......"},
		{"two words", "#####......#####......", "..b.L.....E..b.L.....E"},
		{"an onset that stays undecided", "##..#.......", "....b...x..."},
		{"echo is no voice", "..eeeeeeeee..", "............."},
		{"a voice over our own", "..ooooo......", "....b.L.....E"},
		{"too quiet", "..qqqqqqqqq..", "............."},
		{"loud but no voice", "..nnnnnnnnn..", "............."},
		{"a gap in a word", "####---####......", "..b.---..L......E"[:0] + "..b.---L........E"},
		{"a gap in a sentence", "#######---####......", "..b.L..---.........E"},
		{"a long gap ends it", "#######--------####......", "..b.L..--------E.b......x"},
		{"a long gap in silence", "..-----------------------------------..#####......", "..-----------------------------------....b.L.....E"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := edges(hear.New(short()), tt.heard); got != tt.want {
				t.Errorf("heard %s\n  got %s\n want %s", tt.heard, got, tt.want)
			}
		})
	}
}

func TestOpenSentence(t *testing.T) {
	e := hear.New(short())
	edges(e, "#####")
	e.Wait(240 * time.Millisecond)
	if got, want := edges(e, "........................"), "...........E............"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if got, want := edges(e, "#####......"), "..b.L.....E"; got != want {
		t.Errorf("the next utterance was open from the beginning\n got %s\nwant %s", got, want)
	}
}

func TestDefaultPatience(t *testing.T) {
	word := strings.Repeat("#", 10)
	for _, tt := range []struct {
		name, before, words string
		changed             time.Duration // how long it had been silent when the words came
		want                time.Duration
	}{
		{"no words", "", "", 0, 860 * time.Millisecond},
		{"finished", "what time is", "what time is it", 0, 220 * time.Millisecond},
		{"finished when it was heard", "what time is", "what time is it", 100 * time.Millisecond, 220 * time.Millisecond},
		{"finished by a late word", "what time is a", "what time is it", 120 * time.Millisecond, 860 * time.Millisecond},
		{"finished by either of two words", "when does the train leave", "when does the train leaves", 240 * time.Millisecond, 400 * time.Millisecond},
		{"finished again after long", "turn the lights on", "turn the lights off", 2 * time.Second, 860 * time.Millisecond},
		{"without what it needs", "set a", "set a timer", 0, 860 * time.Millisecond},
		{"open", "tell me about", "tell me about the", 0, 900 * time.Millisecond},
		{"open by a late word", "tell me about it", "tell me about the", 300 * time.Millisecond, 900 * time.Millisecond},
		{"dictated", "my number is oh", "my number is oh two", 0, 2 * time.Second},
		{"a wish for time", "hold", "hold on", 0, 4 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := hear.New(hear.DefaultConfig())
			edges(e, word)
			e.Wait(hear.DefaultConfig().Patience(hear.Evidence{Words: tt.words, Before: tt.before, Changed: tt.changed, Turn: math.NaN()}))
			after := edges(e, strings.Repeat(".", 300))
			if got := time.Duration(strings.IndexByte(after, 'E')+1) * audio.Time; got != tt.want {
				t.Errorf("ended after %v, want %v", got, tt.want)
			}
		})
	}
}

func TestTooLong(t *testing.T) {
	cfg := short()
	cfg.Longest = 5
	got := edges(hear.New(cfg), strings.Repeat("#", 510)+"......")
	if i := strings.IndexByte(got, 'T'); i != 249 {
		t.Errorf("ended at frame %d, want 249", i)
	}
	for sign, want := range map[string]int{"b": 3, "L": 3, "T": 2, "E": 1} {
		if n := strings.Count(got, sign); n != want {
			t.Errorf("%d times %s, want %d", n, sign, want)
		}
	}
}

// numbers returns the positions of the pre-roll's frames in their picture.
func numbers(e *hear.Ear) (n []int) {
	for f := range e.PreRoll() {
		n = append(n, int(f.At.Sub(epoch)/audio.Time))
	}
	return n
}

func TestPreRoll(t *testing.T) {
	for _, tt := range []struct {
		name, heard string // up to the frame after which the pre-roll is read
		want        []int
	}{
		// 60 ms of pre-roll are 3 frames
		{"began", "........###", []int{5, 6, 7, 8, 9, 10}},
		{"lasts", "........#####", []int{5, 6, 7, 8, 9, 10, 11, 12}},
		{"at the very beginning", "#####", []int{0, 1, 2, 3, 4}},
		{"after an end", "#####......#####", []int{8, 9, 10, 11, 12, 13, 14, 15}},
		{"with a gap", "....--..#####", []int{6, 7, 8, 9, 10, 11, 12}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := hear.New(short())
			edges(e, tt.heard)
			if got := numbers(e); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestUtterance(t *testing.T) {
	for _, tt := range []struct {
		name, heard string
		began       int // number of the first frame
		lasted      int // number of frames
		own         float64
	}{
		{"a word", "...#####......", 3, 5, 0},
		{"a word with a gap", "...###..##.......", 3, 7, 0},
		{"so far", "...########", 3, 8, 0},
		{"over our own", "...oooooooo......", 3, 8, 1},
		{"half over our own", "...oooo####......", 3, 8, 0.5},
		{"a loss", "...######--######......", 3, 14, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := hear.New(short())
			edges(e, tt.heard)
			began, lasted, own := e.Utterance()
			if want := epoch.Add(time.Duration(tt.began) * audio.Time); !began.Equal(want) {
				t.Errorf("began %v, want %v", began.Sub(epoch), want.Sub(epoch))
			}
			if want := time.Duration(tt.lasted) * audio.Time; lasted != want {
				t.Errorf("lasted %v, want %v", lasted, want)
			}
			if own != tt.own {
				t.Errorf("own %v, want %v", own, tt.own)
			}
		})
	}
}

func TestNoUtteranceYet(t *testing.T) {
	began, lasted, own := hear.New(hear.DefaultConfig()).Utterance()
	if !began.IsZero() || lasted != 0 || own != 0 {
		t.Errorf("got %v, %v, %v", began, lasted, own)
	}
}

// TestBeside: over our own sound, one frame in which somebody is plainly heard is enough for an
// onset. Frames in which somebody is perhaps heard do not make an onset, but keep one going.
func TestBeside(t *testing.T) {
	for _, tt := range []struct{ name, heard, want string }{
		{"plainly, and goes on", "eepppppee", "..b...L.."},
		{"plainly, and nothing follows", "eeppeeeeeeeeee", "..b........x.."},
		{"one frame, and another later", "eepeeeeeeeepee", "..b.......xb.."},
		{"perhaps", "eevvvvvvvvee", "............"},
		{"plainly, then perhaps", "eeppvvvee", "..b...L.."},
		{"with a gap between", "eepepeeeeeeeeee", "..b.........x.."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := edges(hear.New(short()), tt.heard); got != tt.want {
				t.Errorf("heard %s\n  got %s\n want %s", tt.heard, got, tt.want)
			}
		})
	}
}
