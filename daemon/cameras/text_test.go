package cameras

import (
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/api"
	"earshot/daemon/admin"
)

// TestSighting: what a camera sees, and why it sees nothing, is put into words.
func TestSighting(t *testing.T) {
	now := time.Date(2026, 11, 22, 18, 0, 0, 0, time.Local)
	code := func(text string) earshot.Seen { return earshot.Seen{What: earshot.Code, Text: earshot.Text(text)} }
	for _, tt := range []struct {
		name string
		s    api.CameraView
		want string
	}{
		{"none", api.CameraView{}, "There is no camera."},
		{"another", api.CameraView{Known: []string{"desk", "door"}}, "There is no camera of that name; there are: desk, door."},
		{"closed", api.CameraView{Camera: "desk", Closed: "the room is paused", Eyes: earshot.Away}, "The camera desk is closed: the room is paused."},
		{"nobody", api.CameraView{Camera: "desk", Eyes: earshot.Clear, At: now.Add(-300 * time.Millisecond), Width: 640, Height: 480, Brightness: 0.5},
			"The camera desk sees nobody. It is light.\n(640 by 480 pixels, taken 0.3 s ago)"},
		{"somebody", api.CameraView{Camera: "desk", Eyes: earshot.Clear, At: now, Width: 640, Height: 480, Brightness: 0.1, People: 1, Motion: 0.2},
			"The camera desk sees one person. There is little light, and something moves.\n(640 by 480 pixels, taken 0.0 s ago)"},
		{"face to face", api.CameraView{Camera: "desk", Eyes: earshot.Clear, At: now.Add(-time.Minute), Brightness: 0.5, People: 1, Faces: 1},
			"The camera desk sees one person, who faces it. It is light.\n(0 by 0 pixels, taken 60 s ago)"},
		{"many", api.CameraView{Camera: "desk", Eyes: earshot.Clear, At: now, Brightness: 0.5, People: 14, Faces: 2},
			"The camera desk sees 14 people, of whom two face it. It is light.\n(0 by 0 pixels, taken 0.0 s ago)"},
		{"some", api.CameraView{Camera: "desk", Eyes: earshot.Clear, At: now, Brightness: 0.5, People: 3, Faces: 1, Seen: []earshot.Seen{code("a\nb \"c\""), {What: earshot.Person}, code(strings.Repeat("x", 400))}},
			"The camera desk sees three people, of whom one faces it. It is light.\nA code says: \"a\\nb \\\"c\\\"\"\nA code says: \"" + strings.Repeat("x", 300) + "…\"\n(0 by 0 pixels, taken 0.0 s ago)"},
		{"dark", api.CameraView{Camera: "desk", Eyes: earshot.Dark, Since: now.Add(-3 * time.Minute), At: now},
			"The camera desk sees nothing: there is no light, or something is before the lens, since 17:57:00 (3 min ago)."},
		{"frozen", api.CameraView{Camera: "desk", Eyes: earshot.Frozen, Since: now.Add(-30 * time.Second), At: now},
			"The camera desk shows the same picture again and again, since 17:59:30 (30 s ago)."},
		{"away", api.CameraView{Camera: "desk", Eyes: earshot.Away, Since: now.Add(-30 * time.Second), Fault: "it is busy"},
			"The camera desk gives no pictures, since 17:59:30 (30 s ago): it is busy"},
		{"unknown", api.CameraView{Camera: "desk", Eyes: earshot.Away}, "The camera desk gives no pictures."},
		{"no picture", api.CameraView{Camera: "desk", Eyes: earshot.Clear, Fault: "too late"}, "The camera desk gave no picture: too late"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := admin.CameraText(tt.s, now); got != tt.want {
				t.Errorf("told %q\nwant %q", got, tt.want)
			}
			if Sees(tt.s) != strings.Contains(tt.want, "taken") {
				t.Errorf("it sees: %v", Sees(tt.s))
			}
		})
	}
}
