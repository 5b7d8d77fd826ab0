package speakers_test

import (
	"math"
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot/speakers"
)

// TestWorth: a registry says how likely it is to be right, which is less than its model claims.
func TestWorth(t *testing.T) {
	text, err := os.ReadFile("trust.txt")
	if err != nil {
		t.Fatal(err)
	}
	trust, err := speakers.ParseCalibrations(string(text))
	if err != nil {
		t.Fatal(err)
	}
	says := func(raw bool, channel string) float64 {
		c := config()
		c.Raw, c.Sure = raw, 0
		w := open(t, "", c)
		w.says("ann", 4*time.Second)
		w.says("bob", 4*time.Second)
		v := w.voice("ann", time.Second, channel)
		for i, n := range print("bob") {
			v.Print[i] = 0.6*v.Print[i] + 0.4*n
		}
		return w.book.Guess(v, w.now).Sure
	}
	for channel, worth := range map[string]speakers.Calibration{"desk": trust.Same, "phone": trust.Across} {
		raw, sure := says(true, channel), says(false, channel)
		if want := worth.Of(raw); math.Abs(sure-want) > 1e-9 || !(sure < raw) {
			t.Errorf("through the %s it is %.3f sure, want %.3f; its model is %.3f", channel, sure, want, raw)
		}
	}
}

// TestParseTrust: what String writes is read, and nothing else.
func TestParseTrust(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Float64Range(0.1, 9)
		is := speakers.Calibrations{Same: speakers.Calibration{Usual: -number.Draw(t, "usual"), Counts: number.Draw(t, "counts")}, Across: speakers.Calibration{Counts: 1}}
		read, err := speakers.ParseCalibrations("# so it is\n" + is.String())
		if err != nil || read.String() != is.String() {
			t.Errorf("%v is read as %v: %v", is, read, err)
		}
		a, b := rapid.Float64Range(0, 1).Draw(t, "a"), rapid.Float64Range(0, 1).Draw(t, "b")
		if p, q := is.Same.Of(min(a, b)), is.Same.Of(max(a, b)); !(p >= 0 && p <= q && q <= 1) {
			t.Errorf("who is %v sure is right with %v, and who is %v sure with %v", min(a, b), p, max(a, b), q)
		}
	})
	for _, text := range []string{"", "#", "same 1 1\n", "same 1 -1\nacross 1 1\n", "same NaN NaN\nacross 1 1\n"} {
		if is, err := speakers.ParseCalibrations(text); err == nil {
			t.Errorf("%q is read as %v", text, is)
		}
	}
}
