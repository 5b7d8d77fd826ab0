package codec_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/testkit"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		helpertest.Remove()
		os.Exit(code)
	}))
}

// real returns a dialer of the real helper, whose log must stay empty.
func real(t testing.TB) helper.Dialer {
	t.Helper()
	path := filepath.Join(helpertest.Build(t, "earshot-speech"), "earshot-speech")
	log := slog.New(slog.NewTextHandler(failing{t}, nil))
	return func() (helper.Link, error) {
		return helper.Start(helper.Command{Name: "earshot-speech", Path: path, Args: []string{"media"}, Log: log})
	}
}

// failing is a log that must stay empty.
type failing struct{ testing.TB }

func (f failing) Write(b []byte) (int, error) {
	f.Errorf("the helper says: %.300s", b)
	return len(b), nil
}

// ffmpeg makes a file with that name, and returns its path.
func ffmpeg(t testing.TB, name string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	args = append([]string{"-nostdin", "-v", "error", "-y"}, append(args, path)...)
	if out, err := testkit.Command(t, "ffmpeg", args...).CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg: %v: %s", err, out)
	}
	return path
}

// tune makes 2.5 s of a tone that changes, so that a shift would be noticed.
var tune = []string{"-f", "lavfi", "-i", "aevalsrc=0.3*sin(2*PI*(300+200*t)*t)*(1-0.3*cos(2*PI*3*t)):s=48000:d=2.5"}

// reference returns what the command ffmpeg makes of a file.
func reference(t testing.TB, path string) []int16 {
	t.Helper()
	out, err := testkit.Command(t, "ffmpeg", "-nostdin", "-v", "error", "-i", path, "-vn", "-ac", "1", "-ar", "16000", "-f", "s16le", "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	pcm := make([]int16, len(out)/2)
	audio.DecodePCM(pcm, out)
	return pcm
}

// samples returns the samples of frames in a row.
func samples(frames []audio.Frame) (pcm []int16) {
	for i := range frames {
		pcm = append(pcm, frames[i].PCM[:]...)
	}
	return pcm
}

// distance returns the level of the difference between two sounds, in dB.
func distance(a, b []int16) float64 {
	n := min(len(a), len(b))
	d := make([]int16, n)
	for i := range d {
		d[i] = int16(max(math.MinInt16, min(int(a[i])-int(b[i]), math.MaxInt16)))
	}
	return audio.Level(d)
}

func TestFormats(t *testing.T) {
	dial := real(t)
	with := func(args ...string) []string { return append(slices.Clone(tune), args...) }
	for _, tt := range []struct {
		name  string
		args  []string
		codec string
	}{
		{"speech.wav", with("-ar", "16000"), "pcm_s16le"},
		{"telephone.wav", with("-ar", "8000", "-c:a", "pcm_mulaw"), "pcm_mulaw"},
		{"studio.wav", with("-ar", "96000", "-ac", "6", "-c:a", "pcm_s24le"), "pcm_s24le"},
		{"eight.flac", with("-ar", "48000", "-ac", "8"), "flac"},
		{"music.mp3", with("-ac", "2", "-ar", "44100"), "mp3"},
		{"music.ogg", with("-c:a", "libvorbis", "-ar", "44100"), "vorbis"},
		{"voice.opus", with("-c:a", "libopus"), "opus"},
		{"voice.webm", with("-c:a", "libopus"), "opus"},
		{"music.flac", with("-ac", "2"), "flac"},
		{"music.m4a", with("-c:a", "aac"), "aac"},
		{"film.mp4", append([]string{"-f", "lavfi", "-i", "testsrc=s=320x240:r=10:d=2.5"}, with("-c:a", "aac", "-shortest")...), "aac"},
		{"film.mkv", append([]string{"-f", "lavfi", "-i", "testsrc=s=320x240:r=10:d=2.5"}, with("-c:a", "flac", "-shortest")...), "flac"},
		{"stream.ts", with("-c:a", "aac"), "aac"},
		{"file:odd %03d name.wav", with(), "pcm_s16le"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := ffmpeg(t, "made"+filepath.Ext(tt.name), tt.args...)
			odd := filepath.Join(t.TempDir(), tt.name)
			if err := os.Rename(path, odd); err != nil {
				t.Fatal(err)
			}
			var info codec.Info
			var end codec.Ended
			frames, err := listen(t.Context(), dial, codec.Source{
				Path: odd, Opened: func(i codec.Info) { info = i }, Ended: func(e codec.Ended) { end = e },
			})
			if err != nil {
				t.Fatal(err)
			}
			if info.Codec != tt.codec || end.Damaged != 0 || end.Frames != int64(len(frames)) {
				t.Errorf("%+v, %+v", info, end)
			}
			if d := info.Duration - 2500*time.Millisecond; d.Abs() > 300*time.Millisecond { // some containers know it only roughly
				t.Errorf("lasts %v, want 2.5s", info.Duration)
			}
			got, want := samples(frames), reference(t, odd)
			if n := len(got) - len(want); n < -100 || n > 2*audio.Samples {
				t.Errorf("%d samples, the reference has %d", len(got), len(want))
			}
			if d := distance(got, want); d > -60 {
				t.Errorf("differs from the reference by %.1f dB", d)
			}
		})
	}
}

// say makes speech with flite, which FFmpeg has as a filter, with a second of silence on each side.
func say(t testing.TB, words string) string {
	return ffmpeg(t, "said.wav", "-f", "lavfi", "-i", "flite=text='"+words+"':voice=slt", "-af", "adelay=1000,apad=pad_dur=1", "-ar", "16000")
}

// picture draws for each frame whether it is voiced.
func picture(frames []audio.Frame) string {
	var b strings.Builder
	for i := range frames {
		b.WriteByte(".#"[map[bool]int{true: 1}[frames[i].Voiced]])
	}
	return b.String()
}

func TestVoiced(t *testing.T) {
	dial := real(t)
	for _, tt := range []struct {
		name, path string
		most       int // number of voiced frames
		least      int
	}{
		{"silence", ffmpeg(t, "silence.wav", "-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono", "-t", "3"), 0, 0},
		{"noise", ffmpeg(t, "noise.wav", "-f", "lavfi", "-i", "anoisesrc=r=16000:c=pink:a=0.003:d=3:seed=1"), 0, 0},
		{"speech", say(t, "what time is it"), 75, 25},
	} {
		t.Run(tt.name, func(t *testing.T) {
			frames, err := listen(t.Context(), dial, codec.Source{Path: tt.path})
			if err != nil {
				t.Fatal(err)
			}
			got := picture(frames)
			if n := strings.Count(got, "#"); n > tt.most || n < tt.least {
				t.Errorf("%d voiced frames, want %d to %d\n%s", n, tt.least, tt.most, got)
			}
			if tt.least > 0 && strings.Contains(got[:45], "#") {
				t.Errorf("voiced before anybody speaks\n%s", got)
			}
		})
	}
}

// spoil writes a changed copy of a file.
func spoil(t testing.TB, path string, how func([]byte) []byte) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	spoilt := filepath.Join(t.TempDir(), "spoilt"+filepath.Ext(path))
	if err := os.WriteFile(spoilt, how(b), 0o600); err != nil {
		t.Fatal(err)
	}
	return spoilt
}

func garbage([]byte) []byte {
	b := make([]byte, 100_000)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

func TestBadFiles(t *testing.T) {
	dial := real(t)
	half := func(b []byte) []byte { return b[:len(b)/2] }
	mp4 := ffmpeg(t, "x.mp4", append(slices.Clone(tune), "-c:a", "aac")...)
	mp3 := ffmpeg(t, "x.mp3", append(slices.Clone(tune), "-c:a", "libmp3lame")...)
	opus := ffmpeg(t, "x.opus", append(slices.Clone(tune), "-c:a", "libopus")...)
	wav := ffmpeg(t, "x.wav", append(slices.Clone(tune), "-ar", "16000")...)
	for _, tt := range []struct {
		name, path string
		want       codec.Problem // empty for none
		least      int           // number of frames
	}{
		{"garbage", spoil(t, wav, garbage), codec.Unreadable, 0},
		{"text", spoil(t, wav, func([]byte) []byte { return []byte("Dear diary,\n") }), codec.Unreadable, 0},
		{"truncated mp4", spoil(t, mp4, half), codec.Unreadable, 0},
		{"truncated mp3", spoil(t, mp3, half), "", 55},
		{"truncated opus", spoil(t, opus, half), "", 45},
		{"truncated wav", spoil(t, wav, half), "", 60},
		{"only a header", spoil(t, wav, func(b []byte) []byte { return b[:bytes.Index(b, []byte("data"))+8] }), codec.NoSound, 0},
		{"picture", ffmpeg(t, "x.png", "-f", "lavfi", "-i", "testsrc=s=64x64:d=1", "-frames:v", "1"), codec.NoSound, 0},
		{"silent film", ffmpeg(t, "x.avi", "-f", "lavfi", "-i", "testsrc=s=64x64:d=1:r=10"), codec.NoSound, 0},
		{"ten channels", ffmpeg(t, "ten.wav", "-f", "lavfi", "-i", "aevalsrc=0|0|0|0|0|0|0|0|0|0:s=8000:d=1"), codec.TooMuch, 0},
		{"too few samples", ffmpeg(t, "low.wav", "-f", "lavfi", "-i", "anullsrc=r=1000:cl=mono", "-t", "3"), codec.TooMuch, 0},
		{"playlist that leads elsewhere", spoil(t, wav, func([]byte) []byte {
			return []byte("#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\nhttp://127.0.0.1:1/x.ts\n#EXT-X-ENDLIST\n")
		}), codec.Unreadable, 0},
		{"spoilt mp3", spoil(t, mp3, func(b []byte) []byte { copy(b[len(b)/2:], garbage(nil)[:3000]); return b }), "", 100},
		{"spoilt opus", spoil(t, opus, func(b []byte) []byte { copy(b[len(b)/2:], garbage(nil)[:3000]); return b }), "", 60},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var end codec.Ended
			frames, err := listen(t.Context(), dial, codec.Source{Path: tt.path, Ended: func(e codec.Ended) { end = e }})
			t.Logf("%d frames, %+v, %v", len(frames), end, err)
			var wrong *codec.Error
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (!errors.As(err, &wrong) || wrong.Problem != tt.want):
				t.Errorf("got %v, want %s", err, tt.want)
			case len(frames) < tt.least:
				t.Errorf("%d frames, want %d", len(frames), tt.least)
			}
		})
	}
}

// TestTooLong: a file that says it is longer than allowed is refused before it is played; one that
// does not say so is stopped.
func TestTooLong(t *testing.T) {
	dial := real(t)
	wav := ffmpeg(t, "x.wav", tune...)
	for _, tt := range []struct {
		name, path string
		frames     int
	}{
		{"said", wav, 0},
		{"unsaid", ffmpeg(t, "x.aac", append(slices.Clone(tune), "-c:a", "aac")...), 50},
	} {
		t.Run(tt.name, func(t *testing.T) {
			frames, err := listen(t.Context(), dial, codec.Source{Path: tt.path, Longest: time.Second})
			var wrong *codec.Error
			if !errors.As(err, &wrong) || wrong.Problem != codec.TooLong || len(frames) > 50 {
				t.Errorf("%d frames, %v", len(frames), err)
			}
		})
	}
}

// TestGap: a gap in the time stamps becomes silence, so that what follows keeps its time.
func TestGap(t *testing.T) {
	dial := real(t)
	path := ffmpeg(t, "gap.mkv", "-f", "lavfi", "-i", "sine=440:r=16000:d=3", "-af", "aselect='lt(t,1)+gt(t,2)'", "-c:a", "flac")
	frames, err := listen(t.Context(), dial, codec.Source{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i := 0; i+10 <= len(frames); i += 10 {
		b.WriteByte(map[bool]byte{true: '#', false: '.'}[audio.Level(samples(frames[i:i+10])) > -50])
	}
	if got := b.String(); !strings.HasPrefix(got, "#####") || !strings.Contains(got, "....") || len(got) != 15 {
		t.Errorf("got %s, want #####.....##### with 200 ms each", got)
	}
}

func TestAddresses(t *testing.T) {
	dial := real(t)
	t.Cleanup(codec.Patience(time.Second))
	sound, err := os.ReadFile(ffmpeg(t, "x.mp3", tune...))
	if err != nil {
		t.Fatal(err)
	}
	hang := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/whole", func(w http.ResponseWriter, r *http.Request) { w.Write(sound) })
	mux.HandleFunc("/ranges.mp3", func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "x.mp3", time.Time{}, bytes.NewReader(sound))
	})
	mux.HandleFunc("/broken", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(sound)))
		w.Write(sound[:len(sound)/2])
	})
	mux.HandleFunc("/none", http.NotFound)
	mux.HandleFunc("/page", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<html>hello</html>") })
	mux.HandleFunc("/elsewhere", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
	})
	mux.HandleFunc("/list", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n")
	})
	mux.HandleFunc("/silent", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(func() { testkit.Finish(t, testkit.Patience, "the end of the server", server.Close) })
	t.Cleanup(func() { close(hang) })
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for _, tt := range []struct {
		name, url string
		want      codec.Problem
		least     int
	}{
		{"whole", server.URL + "/whole", "", 120},
		{"with ranges", server.URL + "/ranges.mp3", "", 120},
		{"broken off", server.URL + "/broken", codec.Broken, 40},
		{"not there", server.URL + "/none", codec.Unreachable, 0},
		{"a page", server.URL + "/page", codec.Unreadable, 0},
		{"a redirection to a file", server.URL + "/elsewhere", codec.Unreachable, 0},
		{"a list of files", server.URL + "/list", codec.Unreadable, 0},
		{"nobody listens", "http://" + closed.Addr().String() + "/x.mp3", codec.Unreachable, 0},
		{"silent", server.URL + "/silent", codec.Silent, 0},
		{"no camera", strings.Replace(server.URL, "http", "rtsp", 1) + "/silent", codec.Unreadable, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			frames, err := listen(t.Context(), dial, codec.Source{URL: tt.url})
			t.Logf("%d frames in %v, %v", len(frames), time.Since(began), err)
			var wrong *codec.Error
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (!errors.As(err, &wrong) || wrong.Problem != tt.want):
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if len(frames) < tt.least {
				t.Errorf("%d frames, want %d", len(frames), tt.least)
			}
		})
	}
}

// TestLeavingReal: leaving ends the helper at once, even while it waits for a server.
func TestLeavingReal(t *testing.T) {
	dial := real(t)
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer testkit.Finish(t, testkit.Patience, "the end of the server", silent.Close)
	long := ffmpeg(t, "long.wav", "-f", "lavfi", "-i", "sine=440:r=16000:d=600")
	for _, tt := range []struct {
		name   string
		source codec.Source
		after  time.Duration // when the context ends
	}{
		{"a file", codec.Source{Path: long}, 0},
		{"a file in real time", codec.Source{Path: long, RealTime: true}, 300 * time.Millisecond},
		{"a silent server", codec.Source{URL: silent.URL}, 500 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx := t.Context()
			if tt.after > 0 {
				var stop context.CancelFunc
				ctx, stop = context.WithTimeout(ctx, tt.after)
				defer stop()
			}
			began := time.Now()
			for _, err := range codec.Open(ctx, dial, tt.source) {
				if err != nil {
					t.Fatal(err)
				}
				if tt.after == 0 {
					break
				}
			}
			if took := time.Since(began) - tt.after; took > testkit.Patience { // the file lasts ten minutes
				t.Errorf("took %v", took)
			} else {
				t.Logf("took %v", took)
			}
		})
	}
}

// TestKilled: a helper that is killed or frozen leads to an error, each time.
func TestKilled(t *testing.T) {
	dial := real(t)
	long := ffmpeg(t, "long.wav", "-f", "lavfi", "-i", "sine=440:r=16000:d=600")
	times := 10
	if os.Getenv("EARSHOT_PROOF") != "" {
		times = 100
	}
	for _, tt := range []struct {
		name   string
		signal syscall.Signal
		times  int
		want   error
	}{
		{"killed", syscall.SIGKILL, times, nil},
		{"frozen", syscall.SIGSTOP, 1, helper.ErrHung},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for i := range tt.times {
				pid := 0
				known := func() (helper.Link, error) {
					l, err := dial()
					if p, ok := l.(*helper.Process); ok {
						pid = p.Pid()
					}
					return l, err
				}
				n := 0
				var got error
				for _, err := range codec.Open(t.Context(), known, codec.Source{Path: long}) {
					if got = err; n == 10*i {
						syscall.Kill(pid, tt.signal)
					}
					n++
				}
				var death *helper.DeathError
				if !errors.As(got, &death) || tt.want != nil && !errors.Is(got, tt.want) {
					t.Fatalf("after %d frames: %v", n, got)
				}
			}
		})
	}
}

// BenchmarkReal measures how many times faster than its duration a file is read.
func BenchmarkReal(b *testing.B) {
	dial := real(b)
	for _, name := range []string{"x.wav", "x.mp3", "x.opus"} {
		path := ffmpeg(b, name, "-f", "lavfi", "-i", "anoisesrc=r=16000:a=0.1:d=600")
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				n := 0
				for _, err := range codec.Open(b.Context(), dial, codec.Source{Path: path}) {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				if n < 29000 {
					b.Fatalf("%d frames", n)
				}
			}
			b.ReportMetric(600*float64(b.N)/b.Elapsed().Seconds(), "times")
		})
	}
}
