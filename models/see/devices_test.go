package see_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"earshot/models/see"
)

func TestDevices(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	link := func(to string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink | 0o777}
	}
	for _, tt := range []struct {
		name string
		root fstest.MapFS
		want string
	}{
		{"a machine without cameras", fstest.MapFS{"sys/class/net/lo/mtu": file("1")}, "[]"},
		{"a laptop with one more", fstest.MapFS{
			"sys/class/video4linux/video10/name":            file("HD Cam\n"),
			"sys/class/video4linux/video10/index":           file("0\n"),
			"sys/class/video4linux/video0/name":             file("Lid: Lid\n"),
			"sys/class/video4linux/video0/index":            file("0\n"),
			"sys/class/video4linux/video1/name":             file("Lid: Lid\n"),
			"sys/class/video4linux/video1/index":            file("1\n"), // metadata of the first one
			"sys/class/video4linux/radio0/name":             file("FM\n"),
			"sys/class/video4linux/v4l-subdev0/name":        file("a part\n"),
			"dev/v4l/by-id/usb-HD_Cam-video-index0":         link("../../video10"),
			"dev/v4l/by-id/usb-Lid_0001-video-index0":       link("../../video0"),
			"dev/v4l/by-id/usb-Lid_0001-video-index1":       link("../../video1"),
			"dev/v4l/by-id/usb-Lid_0001-another-for-video0": file("no link"),
		}, "[{0 Lid: Lid /dev/video0 /dev/v4l/by-id/usb-Lid_0001-video-index0} {10 HD Cam /dev/video10 /dev/v4l/by-id/usb-HD_Cam-video-index0}]"},
		{"names that are none", fstest.MapFS{
			"sys/class/video4linux/video0/name":  file("\x1b[31m" + strings.Repeat("é", 100) + "\xff"),
			"sys/class/video4linux/video1/name":  file("\n"),
			"sys/class/video4linux/video2/index": file("0"),
			"sys/class/video4linux/video-3/name": file("x"),
		}, "[{0 [31m" + strings.Repeat("é", 30) + " /dev/video0 } {1 video1 /dev/video1 } {2 video2 /dev/video2 }]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := fmt.Sprint(see.Devices(tt.root)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	many := make(fstest.MapFS)
	for i := range 1000 {
		many[fmt.Sprintf("sys/class/video4linux/video%d/name", i)] = file("x")
	}
	if got := see.Devices(many); len(got) != 64 || got[63].Index != 63 {
		t.Errorf("%d of a thousand devices", len(got))
	}
}
