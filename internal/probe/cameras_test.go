package probe

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"

	"earshot/providers/webcam"
)

// connected is a machine with two cameras.
var connected = fstest.MapFS{
	"sys/class/video4linux/video0/name":  {Data: []byte("Front\n")},
	"sys/class/video4linux/video0/index": {Data: []byte("0\n")},
	"sys/class/video4linux/video2/name":  {Data: []byte("Back\x1b[2J\n")},
	"sys/class/video4linux/video2/index": {Data: []byte("0\n")},
}

// TestLookAtCameras: the finding says what would keep a camera from being opened, and the remedy,
// without opening the camera.
func TestLookAtCameras(t *testing.T) {
	dir := t.TempDir()
	film := filepath.Join(dir, "film.avi")
	if err := os.WriteFile(film, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	allowed := func(string, uint32) error { return nil }
	barred := func(string, uint32) error { return unix.EACCES }
	for _, tt := range []struct {
		name   string
		root   fs.FS
		may    func(string, uint32) error
		device string
		works  bool
		text   string
		cure   string
	}{
		{"none", fstest.MapFS{}, allowed, "", false, "there is none", "connect one"},
		{"a number that is none", fstest.MapFS{}, allowed, "97", false, `"97" is not there`, "earshot devices"},
		{"a name that is none", connected, allowed, "Sideways", false, `"Sideways" is not there`, "earshot devices"},
		{"a device", connected, allowed, "/dev/null", true, "/dev/null: pictures stay in memory", ""},
		{"a device that is not ours", connected, barred, "/dev/null", false, "/dev/null cannot be opened by your user", "video"},
		{"a folder", connected, allowed, dir, false, "is a folder", "earshot devices"},
		{"a film", connected, allowed, film, true, film + ": pictures stay in memory", ""},
		{"a film that is not ours", connected, barred, film, false, "you are not allowed to read", "chmod"},
		{"within a film", connected, allowed, film + "/x", false, "not a directory", "earshot devices"},
		{"an address with a slip", connected, allowed, "rtsp:/ann:hunter22@127.0.0.1/x", false, `"rtsp:/…@127.0.0.1/x" is not there`, "earshot devices"},
		{"an address", connected, allowed, "http://ann:hunter22@127.0.0.1/x?pwd=swordfish", true, "http://…@127.0.0.1/x?…: pictures stay in memory", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := machine{tt.root, tt.may}.lookAt(webcam.Camera{Name: "camera", Device: tt.device})
			if f.Works != tt.works || !strings.Contains(f.Text, tt.text) || !strings.Contains(f.Cure, tt.cure) || f.Thing != "camera" {
				t.Errorf("found %+v", f)
			}
		})
	}
}
