//go:build cgo

package main

import (
	"errors"
	"image"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/internal/helper"
	"earshot/internal/testkit"
	"earshot/models/see"
	"earshot/models/see/seetest"
	"earshot/models/see/wire"
)

// faultOf returns what a helper says is wrong with a source, "" if it says nothing.
func faultOf(t *testing.T, source string) string {
	t.Helper()
	_, err := watching(t, wire.Open{Source: source}).end(t)
	var f *helper.FaultError
	if !errors.As(err, &f) {
		t.Errorf("%s ended with %v", source, err)
		return ""
	}
	return f.Error()
}

// TestNoCamera: what is wrong with a source is said at once, in words, and no secret is.
func TestNoCamera(t *testing.T) {
	dir := t.TempDir()
	junk, empty := filepath.Join(dir, "junk.avi"), filepath.Join(dir, "empty.mp4")
	for path, text := range map[string]string{junk: strings.Repeat("no video at all\n", 9000), empty: ""} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for _, tt := range []struct{ name, source, want string }{
		{"no device of that number", "200", "there is no /dev/video200"},
		{"no device of that name", "/dev/v4l/by-id/usb-Nobody", "there is no /dev/v4l/by-id/usb-Nobody"},
		{"a device that is no camera", "/dev/null", "/dev/null cannot be opened as a camera"},
		{"no file", "/nowhere/film.avi", "there is no /nowhere/film.avi"},
		{"a folder", "/usr", "/usr is a folder"},
		{"junk", junk, junk + " is not a video that FFmpeg can read"},
		{"an empty file", empty, empty + " is not a video that FFmpeg can read"},
		{"nothing", "", "this is not the name of a camera"},
		{"a strange address", "ftp://user:secret@host/x", `a camera cannot be opened by "ftp"`},
		{"another way to files", "concat:///etc/hostname", `a camera cannot be opened by "concat"`},
		{"no address", "http://", "the address of the camera has no host"},
		{"a closed port", "http://user:secret@" + closed.Addr().String() + "/secret", "http://" + closed.Addr().String() + " cannot be reached"},
		{"a closed port by RTSP", "rtsp://user:secret@" + closed.Addr().String() + "/secret", "no pictures come from rtsp://" + closed.Addr().String()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			testkit.Need(t, "camera")
			if got := faultOf(t, tt.source); !strings.HasPrefix(got, tt.want) || strings.Contains(got, "secret") {
				t.Errorf("said %q, want %q", got, tt.want)
			}
		})
	}
}

// TestBadCameras: whatever a camera in the network does, it is said what.
func TestBadCameras(t *testing.T) {
	for _, tt := range []struct {
		fault seetest.Fault
		want  string // for the host
	}{
		{seetest.Silent, "HOST does not answer"},
		{seetest.Nowhere, "HOST answers 404 where the camera should be"},
		{seetest.Barred, "HOST does not accept the user or password"},
		{seetest.WebPage, "HOST answers with a web page"},
		{seetest.Snapshot, "HOST answers with a single picture"},
		{seetest.Sideways, "HOST cannot be reached"},
		{seetest.Ends, "no more pictures come from HOST"},
		{seetest.Breaks, "no more pictures come from HOST"},
		{seetest.Halfway, "HOST has fallen silent"},
		{seetest.Junk, "HOST sends data that is not a picture"},
		{seetest.Bomb, "the picture is too large: 65535 by 65535 pixels; at most 4096 by 4096"},
		{seetest.Endless, "the picture is too large: more than 1048576 bytes"},
	} {
		for _, later := range []bool{false, true} {
			name := string(tt.fault)
			if later {
				switch tt.fault {
				case seetest.Nowhere, seetest.Barred, seetest.WebPage, seetest.Snapshot, seetest.Sideways:
					continue // these are of the first answer
				}
				name += ", later"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				virtual := seetest.NewCamera(50)
				defer virtual.Close()
				if !later {
					virtual.Misbehave(tt.fault)
				}
				c := watching(t, wire.Open{Source: virtual.URL()})
				want := tt.want
				if later {
					c.until(t, "the camera", func(all []see.Observation) bool { return len(all) > 0 })
					virtual.Misbehave(tt.fault)
					want = strings.Replace(want, "does not answer", "has fallen silent", 1)
				}
				_, err := c.end(t)
				want = strings.Replace(want, "HOST", strings.TrimSuffix(virtual.URL(), "/stream.mjpg"), 1)
				if f := (*helper.FaultError)(nil); !errors.As(err, &f) || !strings.HasPrefix(f.Error(), want) {
					t.Errorf("ended with %v, want %q", err, want)
				}
			})
		}
	}
}

// TestChangesSize: a camera may begin to send other pictures.
func TestChangesSize(t *testing.T) {
	testkit.Need(t, "camera")
	virtual := seetest.NewCamera(50)
	defer virtual.Close()
	c := watching(t, wire.Open{Source: virtual.URL(), Idle: 30, Active: 30})
	for _, size := range []image.Point{{640, 480}, {320, 240}, {800, 450}, {64, 48}, {1400, 700}, {640, 480}} {
		m := image.NewRGBA(image.Rectangle{Max: size})
		virtual.Show(m)
		c.until(t, "pictures of another size", last(func(o see.Observation) bool { return o.Width == size.X && o.Height == size.Y }))
		p, err := c.Look(t.Context(), time.Time{}, true)
		if err != nil || max(p.Width, p.Height) > kept {
			t.Errorf("of %v: a picture of %d by %d, %v", size, p.Width, p.Height, err)
		}
	}
	virtual.Show(image.NewRGBA(image.Rect(0, 0, 30, 20)))
	if _, err := c.end(t); err == nil || !strings.Contains(err.Error(), "only 30 by 20 pixels") {
		t.Errorf("of a tiny picture: %v", err)
	}
}

// TestOverHTTP: a video that a server sends is read, and a playlist that leads to a file
// of this machine is not.
func TestOverHTTP(t *testing.T) {
	path := film(t, 10, 30, func(i int) *image.RGBA { return noisy(seetest.Room(), i) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "m3u8") {
			w.Header().Set("Content-Type", "application/vnd.apple.mpegurl")
			w.Write([]byte("#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\nfile://" + path + "\n#EXT-X-ENDLIST\n"))
			return
		}
		w.Header().Set("Content-Type", "video/x-msvideo")
		http.ServeFile(w, r, path)
	}))
	defer testkit.Finish(t, testkit.Patience, "the end of the server", server.Close)
	c := watching(t, wire.Open{Source: server.URL + "/film.avi", Idle: 30, Active: 30})
	c.until(t, "a picture", func(all []see.Observation) bool { return len(all) > 0 })
	if _, err := c.end(t); err == nil || !strings.Contains(err.Error(), "no more pictures come from "+server.URL) {
		t.Errorf("at the end: %v", err)
	}
	if got := faultOf(t, server.URL+"/list.m3u8"); !strings.HasPrefix(got, "no pictures come from "+server.URL) {
		t.Errorf("of a playlist that leads to a file: %s", got)
	}
}

// TestRecordings: a recording is played at its own pace, ends or begins again, and may be
// truncated.
func TestRecordings(t *testing.T) {
	path := film(t, 20, 40, func(i int) *image.RGBA { return noisy(seetest.Room(), i) })
	t.Run("at its own pace", func(t *testing.T) {
		began := time.Now()
		all, err := watching(t, wire.Open{Source: path, Idle: 5, Active: 5}).end(t)
		if took := time.Since(began); err != nil || took < 1800*time.Millisecond {
			t.Errorf("it took %v, %v", took, err)
		}
		if n := len(all); n < 3 || n > 11 {
			t.Errorf("%d pictures were looked at", n)
		}
	})
	t.Run("again", func(t *testing.T) {
		c := watching(t, wire.Open{Source: path, Idle: 10, Active: 10, Loop: true, Unpaced: true})
		c.until(t, "the third time", func(all []see.Observation) bool { return len(all) > 60 })
	})
	t.Run("truncated", func(t *testing.T) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{len(b) / 2, len(b) / 7} {
			short := filepath.Join(t.TempDir(), "short.avi")
			if err := os.WriteFile(short, b[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			all, err := watching(t, wire.Open{Source: short, Idle: 20, Active: 20, Unpaced: true}).end(t)
			if err != nil || len(all) == 0 || len(all) >= 40 {
				t.Errorf("of %d bytes %d pictures, %v", n, len(all), err)
			}
		}
	})
}

// TestGivesUp: a source that is opened is left at once when nobody wants it.
func TestGivesUp(t *testing.T) {
	testkit.Need(t, "camera")
	for _, fault := range []seetest.Fault{seetest.Well, seetest.Silent, seetest.Halfway} {
		virtual := seetest.NewCamera(20)
		virtual.Misbehave(fault)
		c := watching(t, wire.Open{Source: virtual.URL()})
		testkit.Await(t, time.Minute, "somebody to look", func() bool { _, n := virtual.Sent(); return n > 0 })
		c.stop()
		if _, err := c.end(t); err != nil {
			t.Errorf("%s: %v", fault, err)
		}
		testkit.Await(t, time.Minute, "nobody to look", func() bool { _, n := virtual.Sent(); return n == 0 })
		virtual.Close()
	}
}

// TestRTSP: a camera is looked at by RTSP, and one that falls silent is given up.
func TestRTSP(t *testing.T) {
	testkit.Need(t, "camera")
	virtual, err := seetest.NewRTSP(20, seetest.JPEG(somebody(320)))
	if err != nil {
		t.Fatal(err)
	}
	defer virtual.Close()
	c := watching(t, wire.Open{Source: virtual.URL()})
	all := c.until(t, "somebody", func(all []see.Observation) bool { return len(all) > 3 })
	if o := all[0]; o.Width != seetest.Width || o.Height != seetest.Height || some(o.Seen, earshot.Person) != 1 {
		t.Errorf("%d by %d, %v", o.Width, o.Height, o.Seen)
	}
	virtual.Mute()
	host := strings.TrimSuffix(virtual.URL(), "/stream")
	_, err = c.end(t)
	if f := (*helper.FaultError)(nil); !errors.As(err, &f) || !strings.HasSuffix(f.Error(), "no more pictures come from "+host) {
		t.Errorf("ended with %v", err)
	}
}
