//go:build cgo

package main

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/testkit"
	ear "earshot/models/hear"
)

// quiet is the silence around what [said] says.
const quiet = time.Second

// said makes a file in which a voice says words, within noise of that
// amplitude.
func said(t testing.TB, voice, words, noise string) string {
	t.Helper()
	testkit.Need(t, "voice")
	path := filepath.Join(t.TempDir(), "said.wav")
	out, err := testkit.Command(t, "ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i",
		"flite=text='"+words+"':voice="+voice+",silenceremove=start_periods=1:start_threshold=-45dB,areverse,"+
			"silenceremove=start_periods=1:start_threshold=-45dB,areverse,adelay=1000,apad=pad_dur=1[v];"+
			"anoisesrc=r=16000:c=pink:seed=1:a="+noise+"[n];[v][n]amix=duration=first:normalize=0", path).CombinedOutput()
	if err != nil {
		t.Fatalf("ffmpeg: %v: %s", err, out)
	}
	return path
}

// An edge is what an ear finds and when its frame was over.
type edge struct {
	ear.Edge
	at time.Duration
}

// listened is what an ear makes of a file, and how long the file is.
func listened(t testing.TB, path string) (edges []edge, length time.Duration) {
	dial := helpertest.Dialer("media", func(ctx context.Context, s *helper.Server) error { return media(ctx, s, nil) })
	e := ear.New(ear.DefaultConfig())
	for f, err := range codec.Open(t.Context(), dial, codec.Source{Path: path}) {
		if err != nil {
			t.Fatal(err)
		}
		length += audio.Time
		if got := e.Step(f); got != ear.None {
			edges = append(edges, edge{got, length})
		}
	}
	return edges, length
}

// What voices say is found where it is, in silence and in noise, and nothing
// else: it begins within three syllables and ends within the patience of the
// ear.
func TestEar(t *testing.T) {
	before := goleak.IgnoreCurrent() // a check of a model that kills its library leaves the thread behind
	defer func() {
		if err := goleak.Find(before); err != nil {
			t.Error(err)
		}
	}()
	const words = "please tell me what the weather is like"
	for _, noise := range []string{"0", "0.003", "0.01"} {
		for _, voice := range []string{"slt", "rms", "awb", "kal16"} {
			t.Run(voice+" in noise "+noise, func(t *testing.T) {
				edges, length := listened(t, said(t, voice, words, noise))
				if len(edges) != 3 || edges[0].Edge != ear.Began || edges[1].Edge != ear.Lasts || edges[2].Edge != ear.End {
					t.Fatalf("heard %v", edges)
				}
				began, lasts, end := edges[0].at-quiet, edges[1].at-quiet, edges[2].at-(length-quiet)
				t.Logf("began after %v, believed after %v, over %v after the end", began, lasts, end)
				patience := ear.DefaultConfig().End.Duration()
				if began < 0 || lasts > 350*time.Millisecond || end < 150*time.Millisecond || end > patience+150*time.Millisecond {
					t.Errorf("began after %v, believed after %v, over %v after the end", began, lasts, end)
				}
			})
		}
	}
}
