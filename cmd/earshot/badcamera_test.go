package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/models/see"
	"earshot/models/see/seetest"
	"earshot/providers/webcam"
)

// connected is a machine to which two cameras are connected.
var connected = fstest.MapFS{
	"sys/class/video4linux/video0/name":  {Data: []byte("Front\n")},
	"sys/class/video4linux/video0/index": {Data: []byte("0\n")},
	"sys/class/video4linux/video2/name":  {Data: []byte("Back\x1b[2J\n")},
	"sys/class/video4linux/video2/index": {Data: []byte("0\n")},
}

// TestListCameras: the list marks the cameras that are in use, and shows addresses without their
// secrets.
func TestListCameras(t *testing.T) {
	film := webcam.Camera{Name: "film", Device: "/films/a.avi"}
	for _, tt := range []struct {
		name string
		root fs.FS
		c    webcam.Config
		want string
	}{
		{"none", fstest.MapFS{}, webcam.Config{Enabled: true}, "  none\n"},
		{"the first", connected, webcam.Config{Enabled: true}, "  * Front    /dev/video0 (called camera)\n    Back[2J  /dev/video2\n"},
		{"none is wanted", connected, webcam.Config{}, "    Front    /dev/video0\n    Back[2J  /dev/video2\n"},
		{"one by its name, and others", connected, webcam.Config{Enabled: true, Cameras: []webcam.Camera{{Name: "door", Device: "Front"}, film, {Name: "net", Device: "rtsp://a:hunter22@x/y"}}},
			"  * Front         /dev/video0 (called door)\n    Back[2J       /dev/video2\n  * /films/a.avi  by the configuration (called film)\n  * rtsp://…@x/y  by the configuration (called net)\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			if err := listCameras(&b, camerasOf(tt.c, see.Devices(tt.root))); err != nil || b.String() != tt.want {
				t.Errorf("listed\n%s%v\nwant\n%s", b.String(), err, tt.want)
			}
		})
	}
}

// TestSeeBadSource: for each source that is no camera, the real helper says what is wrong, nothing
// is seen, and no secret is printed.
func TestSeeBadSource(t *testing.T) {
	t.Parallel()
	dir := helpertest.Build(t, helper.CameraProgram)
	g := newGallery(t, "")
	g.env = append(g.env, "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	camera := seetest.NewCamera(5)
	t.Cleanup(camera.Close)
	secret := strings.Replace(camera.URL(), "://", "://ann:hunter22@", 1) + "?pwd=swordfish"
	film := []byte("RIFF\x00\x10\x00\x00AVI LIST\xc0\x00\x00\x00hdrlavih8\x00\x00\x00")
	for _, tt := range []struct {
		name, source string
		fault        seetest.Fault
	}{
		{"text", g.write("a.txt", "no picture at all\n"), ""},
		{"nothing", g.write("empty.avi", ""), ""},
		{"half a film", g.write("half.avi", string(film)), ""},
		{"junk", g.write("junk.mp4", strings.Repeat("\x00\xff\x12junk", 10_000)), ""},
		{"a device that has no pictures", "/dev/null", ""},
		{"a page that is not there", secret, seetest.Nowhere},
		{"a page that wants to know who asks", secret, seetest.Barred},
		{"a page for people", secret, seetest.WebPage},
		{"a picture that is too large", secret, seetest.Bomb},
		{"a camera that hangs up", secret, seetest.Breaks},
		{"an address that leads to a file", secret, seetest.Sideways},
		{"nobody there", "http://ann:hunter22@127.0.0.1:1/?pwd=swordfish", ""},
		{"no such way", "gopher://ann:hunter22@127.0.0.1:1/?pwd=swordfish", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			camera.Misbehave(tt.fault)
			g.watches(tt.source)
			r := g.earshot(nil, "see")
			if r.code != unsighted || !strings.Contains(r.out, "gives no pictures: ") || strings.Contains(r.out, "it ended by itself") {
				t.Errorf("code %d, %q, %q", r.code, r.out, r.err)
			}
			for _, secret := range []string{"hunter22", "swordfish"} {
				if strings.Contains(r.out+r.err, secret) {
					t.Errorf("a secret is in %q, %q", r.out, r.err)
				}
			}
			t.Logf("%s%s", r.out, r.err)
		})
	}
}
