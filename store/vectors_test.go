package store_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/testkit"
	"earshot/store"
)

const mini = "ollama mini"

// embed gives some events their vectors.
func embed(t testing.TB, s *store.Store, of []earshot.Event, all ...[]float32) {
	t.Helper()
	must(t, s.SetVectors(t.Context(), mini, of, all))
}

// nearest returns the words of what is nearest.
func nearest(t testing.TB, s *store.Store, who earshot.Audience, model string, v []float32) (all []string) {
	t.Helper()
	found, err := s.For(who).Nearest(t.Context(), model, v, 3)
	must(t, err)
	for _, e := range found {
		if f, is := e.Body.(earshot.Fact); is {
			all = append(all, string(f.Text))
		} else {
			all = append(all, texts([]earshot.Event{e}))
		}
	}
	return all
}

// TestVectors: what has no vector of a model is listed, the newest first; what has one is found by it,
// but not by another model.
func TestVectors(t *testing.T) {
	s := open(t, store.Config{})
	fact := said("")
	fact.Body = earshot.Fact{Text: "facts", Confidence: 1, Since: began}
	kept := add(t, s, said("east"), said("north"), said("west"), fact, by("mode", "ann", earshot.Notice{Text: "none"}))
	_, pending, err := s.Unembedded(t.Context(), mini, 3)
	if !slices.Equal(pending, []earshot.Text{"facts", "west", "north"}) || err != nil {
		t.Errorf("pending: %d, %v", len(pending), err)
	}
	embed(t, s, kept[:4], []float32{9, 1}, []float32{0, 0.1}, []float32{-3, 0}, []float32{0.1, 0.1})
	if pending, _, err := s.Unembedded(t.Context(), mini, 9); len(pending) > 0 || err != nil {
		t.Errorf("pending: %v, %v", pending, err)
	}
	if got := fmt.Sprint(nearest(t, s, everybody, mini, []float32{1, 0})); got != "[east facts north]" {
		t.Errorf("nearest to the east: %s", got)
	}
	if got := nearest(t, s, everybody, "openai mini", []float32{1, 0}); len(got) > 0 {
		t.Errorf("another model finds %v", got)
	}
	for _, other := range []string{"a", "z"} { // before and after it in the index
		if pending, _, err := s.Unembedded(t.Context(), other, 9); len(pending) != 4 || err != nil {
			t.Errorf("pending for another: %d, %v", len(pending), err)
		}
	}
	must(t, s.Rebuild(t.Context()))
	if pending, _, err := s.Unembedded(t.Context(), mini, 9); len(pending) != 4 || err != nil {
		t.Errorf("made anew: %d, %v", len(pending), err)
	}
}

// TestUnembeddedOfTwoModels: what has no vector comes before what has one of another model, however old it
// is.
func TestUnembeddedOfTwoModels(t *testing.T) {
	s := open(t, store.Config{})
	kept := add(t, s, said("east"), said("north"), said("west"), said("south"))
	embed(t, s, kept[2:], []float32{9, 1}, []float32{0, 0.1})
	_, pending, err := s.Unembedded(t.Context(), "z", 9)
	if !slices.Equal(pending, []earshot.Text{"north", "east", "south", "west"}) || err != nil {
		t.Errorf("pending: %v, %v", pending, err)
	}
}

// TestVectorsOfWhatIsGone: an event that is erased or edited while its vector is made gets none.
func TestVectorsOfWhatIsGone(t *testing.T) {
	s := open(t, store.Config{})
	kept := add(t, s, said("east"), said("north"))
	e := said("")
	e.Body = earshot.Revision{Of: kept[1].ID, Text: "south"}
	add(t, s, e)
	if n, err := s.Delete(t.Context(), kept[0].ID); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	embed(t, s, kept, []float32{1, 0}, []float32{0, 1})
	if got := nearest(t, s, everybody, mini, []float32{1, 1}); len(got) > 0 {
		t.Errorf("found %v", got)
	}
	if _, pending, err := s.Unembedded(t.Context(), mini, 9); len(pending) != 1 || pending[0] != "south" || err != nil {
		t.Errorf("pending: %d, %v", len(pending), err)
	}
}

// TestVectorsLeaveNoTrace: of a vector, no byte is left when its event has been forgotten or edited.
func TestVectorsLeaveNoTrace(t *testing.T) {
	s := open(t, store.Config{})
	vector, trace := make([]float32, 64), make([]byte, 64)
	for i := range vector {
		trace[i] = byte(int8(rand.IntN(255) - 127))
		vector[i] = float32(int8(trace[i]))
	}
	vector[0], trace[0] = 127, 127
	there := func() (n int) {
		testkit.Files(t, filepath.Dir(s.Path()), func(_ string, data []byte) {
			for at := 0; at+16 <= len(trace); at += 16 { // a page may end within it
				if bytes.Contains(data, trace[at:at+16]) {
					n++
				}
			}
		})
		return n
	}
	kept := add(t, s, said("xylophone"), said("glockenspiel"))
	embed(t, s, kept, vector, vector)
	if there() == 0 {
		t.Fatal("there is no vector: the test proves nothing")
	}
	e := said("")
	e.Body = earshot.Revision{Of: kept[0].ID, Text: "harpsichord"}
	add(t, s, e)
	if n, err := s.Delete(t.Context(), kept[1].ID); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	must(t, s.Clean(t.Context()))
	if n := there(); n > 0 {
		t.Errorf("%d parts of vectors are left", n)
	}
}

// TestNearestIsExact: Nearest finds what a comparison in full precision finds, of what the audience may
// see, but for what the rounding makes equal.
func TestNearestIsExact(t *testing.T) {
	people := []earshot.ParticipantID{"ann", "bob", "cy"}
	rapid.Check(t, func(r *rapid.T) {
		s := open(t, store.Config{})
		dims := rapid.IntRange(2, 12).Draw(r, "dims")
		number := rapid.Float32Range(-1, 1)
		point := func(label string) (v []float32) {
			v = rapid.SliceOfN(number, dims, dims).Draw(r, label)
			v[0] = apart(v[0])
			return v
		}
		var events []earshot.Event
		var all [][]float32
		for i := range rapid.IntRange(1, 12).Draw(r, "events") {
			e := said(earshot.Text(fmt.Sprintf("e%d", i)))
			if rapid.Bool().Draw(r, "private") {
				e = only(e, rapid.SliceOfNDistinct(rapid.SampledFrom(people), 1, 3, rapid.ID[earshot.ParticipantID]).Draw(r, "members")...)
			}
			if rapid.Bool().Draw(r, "elsewhere") {
				e.Room = "attic"
			}
			events, all = append(events, e), append(all, point("vector"))
		}
		kept := add(t, s, events...)
		embed(t, s, kept, all...)
		who := earshot.Audience{Room: earshot.Desk, Members: rapid.SliceOfNDistinct(rapid.SampledFrom(people), 1, 3, rapid.ID[earshot.ParticipantID]).Draw(r, "audience")}
		q := point("question")
		found, err := s.For(who).Nearest(t.Context(), mini, q, 3)
		must(t, err)
		var scores []float64 // of all that may be seen, the best first
		score := make(map[earshot.EventID]float64)
		for i, e := range kept {
			if e.Room == who.Room && e.Visibility.Allows(who) {
				score[e.ID] = cosine(q, all[i])
				scores = append(scores, score[e.ID])
			}
		}
		slices.SortFunc(scores, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
		if len(found) != min(3, len(scores)) {
			r.Fatalf("%d are found of %d", len(found), len(scores))
		}
		for i, e := range found {
			is, may := score[e.ID]
			if !may {
				r.Fatalf("%s may not be seen", e.ID)
			}
			if math.Abs(is-scores[i]) > 0.03 {
				r.Fatalf("number %d is %v away from its place", i, is-scores[i])
			}
		}
	})
}

// apart returns a number that is not zero.
func apart(f float32) float32 {
	if f > -0.1 && f < 0.1 {
		return 1
	}
	return f
}

func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot, aa, bb = dot+float64(a[i])*float64(b[i]), aa+float64(a[i])*float64(a[i]), bb+float64(b[i])*float64(b[i])
	}
	return dot / math.Sqrt(aa*bb)
}

// BenchmarkNearest finds 24 of 100,000 vectors of 384 numbers, of which a tenth is private.
func BenchmarkNearest(b *testing.B) {
	s := open(b, store.Config{})
	random := func() []float32 {
		v := make([]float32, 384)
		for i := range v {
			v[i] = float32(rand.NormFloat64())
		}
		return v
	}
	for range 200 {
		events, all := make([]earshot.Event, 500), make([][]float32, 500)
		for i := range events {
			if events[i], all[i] = line(i), random(); i%10 == 0 {
				events[i] = only(events[i], "ann", "zoe")
			}
		}
		embed(b, s, add(b, s, events...), all...)
	}
	q := random()
	cpu := func() time.Duration { // of this process: the machine may have other work
		var u syscall.Rusage
		must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := cpu()
	for b.Loop() {
		if found, err := s.For(everybody).Nearest(b.Context(), mini, q, 24); len(found) != 24 || err != nil {
			b.Fatal(len(found), err)
		}
	}
	b.ReportMetric(float64((cpu()-before).Milliseconds())/float64(b.N), "cpu-ms/op")
}
