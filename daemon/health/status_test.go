package health_test

import (
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/api"
	"earshot/daemon/health"
)

// The findings without any microphone, and without the chosen one.
var (
	noMicrophone = api.CheckResult{Thing: "microphone", Absent: true, Text: "there is none", Cure: "connect one, then check: earshot devices"}
	noYeti       = api.CheckResult{Thing: "microphone", Text: `"Yeti" is not there`, Cure: "connect it, or choose another: earshot devices"}
)

// TestStatusOfFaults: status reports each device once, and a device that is not there is no fault.
func TestStatusOfFaults(t *testing.T) {
	closed := api.CameraInfo{Camera: "nowhere", Eyes: earshot.Away, Fault: "there is none"}
	for _, tt := range []struct {
		name    string
		faults  []earshot.Notice
		cameras []api.CameraInfo
		want    string
	}{
		{"no microphone", []earshot.Notice{noMicrophone.Notice()}, nil, "  – microphone: there is none\n"},
		{"not the one that was chosen", []earshot.Notice{noYeti.Notice()}, nil,
			"  ✗ microphone: \"Yeti\" is not there\n    → connect it, or choose another: earshot devices\n"},
		{"no camera", []earshot.Notice{api.CheckResult{Thing: "camera nowhere", Absent: true, Text: "there is none", Cure: "connect one"}.Notice()}, []api.CameraInfo{closed}, "  – camera nowhere: there is none\n"},
		{"a camera that is lost", []earshot.Notice{{Key: "camera nowhere", Text: "camera nowhere: it is busy", Cure: "end that"}}, []api.CameraInfo{closed}, "  ✗ camera nowhere: it is busy\n    → end that\n"},
		{"one that is closed", nil, []api.CameraInfo{{Camera: "nowhere", Eyes: earshot.Away, Closed: "the room is paused"}}, "  ○ The camera nowhere is closed: the room is paused.\n"},
		{"a closed camera without a fault", nil, []api.CameraInfo{closed}, "  ○ The camera nowhere gives no pictures: there is none\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := api.Status{RoomState: api.RoomState{Agent: "Earshot", Mode: earshot.Live, Faults: tt.faults}, Cameras: tt.cameras}
			var b strings.Builder
			if err := health.PrintStatus(&b, s, time.Now()); err != nil {
				t.Fatal(err)
			}
			if _, got, _ := strings.Cut(b.String(), "\n"); got != tt.want {
				t.Errorf("it says\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestStatusOfTasks: status says what is still done in the background, and what agents do beside the talk.
func TestStatusOfTasks(t *testing.T) {
	s := api.Status{RoomState: api.RoomState{Agent: "Earshot", Mode: earshot.Live}, Underway: []api.Activity{{Part: "journal", Text: "cleaning up after forgetting: 40%"}}, Work: "2 tasks; next by the clock Sat 07:30 UTC"}
	var b strings.Builder
	if err := health.PrintStatus(&b, s, time.Now()); err != nil || !strings.HasSuffix(b.String(), "\n  · journal: cleaning up after forgetting: 40%\n  · 2 tasks; next by the clock Sat 07:30 UTC\n") {
		t.Errorf("it says %s, %v", &b, err)
	}
}
