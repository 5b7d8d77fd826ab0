package webcam_test

import (
	"strings"
	"testing"

	"earshot"
	"earshot/models/see"
	"earshot/models/see/wire"
	"earshot/providers/webcam"
)

func TestValidate(t *testing.T) {
	all := earshot.Box{Width: 1, Height: 1}
	for _, tt := range []struct {
		name    string
		cameras []webcam.Camera
		want    string
	}{
		{"none", nil, ""},
		{"the first", []webcam.Camera{{}}, ""},
		{"all there is", []webcam.Camera{{Name: "door-2", Device: "rtsp://a:b@c/d", Masks: []earshot.Box{all}, Hours: "08:00-20:00", Width: 320, Height: 240, Idle: 1, Active: 1, Loop: true}}, ""},
		{"two without a name", []webcam.Camera{{}, {}}, `cameras[1].name: is "camera", which is also that of cameras[0]; each needs its own`},
		{"a name that is none", []webcam.Camera{{Name: "Front Door"}}, `cameras[0].name: is "Front Door"; must be at most 32 small letters, digits, - and _`},
		{"a device with a line break", []webcam.Camera{{Device: "a\nb"}}, "cameras[0].device: has a control character in it, or more than 2048 bytes"},
		{"a mask outside", []webcam.Camera{{Masks: []earshot.Box{all, {X: 0.5, Width: 0.6, Height: 1}}}}, "cameras[0].masks[1]: is not within the picture; x, y, width and height are shares of it, from 0 to 1"},
		{"many masks", []webcam.Camera{{Masks: []earshot.Box{16: all, 0: all}}}, "cameras[0].masks: has 17 entries; must have at most 16"},
		{"no hours", []webcam.Camera{{Hours: "8-20"}}, `cameras[0].hours: is "8-20"; must be two times of day, such as 08:00-20:00, or empty for always`},
		{"too small", []webcam.Camera{{Width: 10, Height: 5000}}, "cameras[0].width: is 10; must be from 64 to 4096\ncameras[0].height: is 5000; must be from 64 to 4096"},
		{"too slow", []webcam.Camera{{Idle: 0.01}}, "cameras[0].idle_rate: is 0.01; must be from 0.2 to 30 pictures a second"},
		{"no rate", []webcam.Camera{{Active: -1}}, "cameras[0].active_rate: is -1; must be from 0.2 to 30 pictures a second"},
		{"busier idle", []webcam.Camera{{Idle: 9, Active: 3}}, "cameras[0].idle_rate: is 9, which is more than active_rate, 3"},
		{"many", make([]webcam.Camera, 9), "cameras: has 9 entries; must have at most 8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if err := (webcam.Config{Cameras: tt.cameras}).Validate(); err != nil {
				got = err.Error()
			}
			if got != tt.want && (tt.name == "two without a name" || !strings.Contains(got, tt.want) || tt.want == "") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if err := webcam.DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
}

func TestOpen(t *testing.T) {
	devices := []see.Device{{Index: 0, Name: "Lid", Path: "/dev/video0"}, {Index: 2, Name: "Door", Path: "/dev/video2", Stable: "/dev/v4l/by-id/door"}}
	for _, tt := range []struct {
		camera  webcam.Camera
		devices []see.Device
		want    string
	}{
		{webcam.Camera{}, devices, "/dev/video0"},
		{webcam.Camera{}, devices[1:], "/dev/v4l/by-id/door"},
		{webcam.Camera{}, nil, "0"},
		{webcam.Camera{Device: "Door"}, devices, "/dev/v4l/by-id/door"},
		{webcam.Camera{Device: "/dev/video2"}, devices, "/dev/v4l/by-id/door"},
		{webcam.Camera{Device: "2"}, devices, "/dev/v4l/by-id/door"},
		{webcam.Camera{Device: "7"}, devices, "7"},
		{webcam.Camera{Device: "/films/door.avi"}, devices, "/films/door.avi"},
		{webcam.Camera{Device: "http://here/x"}, nil, "http://here/x"},
	} {
		if got := tt.camera.Open(tt.devices); got.Source != tt.want || got.Width != 640 || got.Height != 480 || got.Idle != 2 || got.Active != 5 {
			t.Errorf("%+v opens %+v, want %s", tt.camera, got, tt.want)
		}
	}
	for _, tt := range []struct{ idle, active, wantIdle, wantActive float64 }{{0, 1, 1, 1}, {8, 0, 8, 8}, {0, 0, 2, 5}, {1, 0, 1, 5}} {
		got := webcam.Camera{Idle: tt.idle, Active: tt.active}.Open(nil)
		if want := (wire.Open{Source: "0", Width: 640, Height: 480, Idle: tt.wantIdle, Active: tt.wantActive}); got.Idle != want.Idle || got.Active != want.Active {
			t.Errorf("%v and %v are %v and %v", tt.idle, tt.active, got.Idle, got.Active)
		}
	}
}
