package redact_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"earshot/internal/redact"
)

// TestSource: passwords and other private parts of a camera's address are not shown.
func TestSource(t *testing.T) {
	for _, tt := range []struct{ source, plain string }{
		{"0", "0"},
		{"/dev/video2", "/dev/video2"},
		{"/films/a@b/x.avi?", "/films/a@b/x.avi?"},
		{"http://camera.local:8080/stream.mjpg", "http://camera.local:8080/stream.mjpg"},
		{"rtsp://ann:hunter22@10.0.0.9:554/live", "rtsp://…@10.0.0.9:554/live"},
		{"rtsp://ann:hun/ter@22@10.0.0.9/live", "rtsp://…@10.0.0.9/live"},
		{"rtsp://ann@10.0.0.9/live", "rtsp://…@10.0.0.9/live"},
		{"http://10.0.0.9/video.cgi?user=ann&pwd=hunter22", "http://10.0.0.9/video.cgi?…"},
		{"rtsp://ann:hunter%2322@10.0.0.9/live#hunter%2322", "rtsp://…@10.0.0.9/live#…"},
		{"rtsp:/ann:hunter22@10.0.0.9/live", "rtsp:/…@10.0.0.9/live"},
		{"./a:/b@c", "./a:/b@c"},
		{"http://10.0.0.9/video.cgi?user=ann@example.org&pwd=hunter22", "http://…"},
		{"rtsp://ann:hun?ter@22@10.0.0.9/live", "rtsp://…"},
		{"rtsp://ann:hunter22==@10.0.0.9/live", "rtsp://…@10.0.0.9/live"},
		{"rtsp://10.0.0.9/user=ann&password=hunter@22&channel=1", "rtsp://…"},
		{"rtsp://10.0.0.9:554/user=ann&password=hunter22&channel=1.sdp?", "rtsp://10.0.0.9:554/user=…"},
		{"://", "://"},
	} {
		if got := redact.Source(tt.source); got != tt.plain {
			t.Errorf("%s is shown as %s, want %s", tt.source, got, tt.plain)
		}
	}
}

// mended is an error that repeats an address, both in its text and in its remedy.
type mended struct{ source string }

func (m mended) Error() string { return "opening " + m.source + ": 401" }
func (m mended) Cure() string  { return "try ffplay " + m.source }

// cure returns the remedy that err gives.
func cure(err error) string {
	var known interface{ Cure() string }
	errors.As(err, &known)
	return known.Cure()
}

func TestSourceIsHiddenEverywhere(t *testing.T) {
	sources := []string{
		"rtsp://ann:hunter%2322@10.0.0.9:554/live",
		"http://10.0.0.9/video.cgi?user=ann&pwd=swordfish",
		"rtsp://10.0.0.9/x",
		"http://10.0.0.9/video.cgi?user=ann@example.org&pwd=swordfish&channel=2",
		"rtsp://10.0.0.9/user=ann&password=swordfish",
	}
	v := redact.ForSources(sources...)
	secret := func(text string) bool {
		for _, s := range []string{"hunter", "swordfish", "ann:", "pwd="} {
			if strings.Contains(text, s) {
				return true
			}
		}
		return false
	}
	for _, source := range sources {
		err := v.Error(fmt.Errorf("the camera: %w", mended{source}))
		if secret(err.Error()) || secret(cure(err)) || !strings.Contains(err.Error(), redact.Source(source)) {
			t.Errorf("it says %q, and %q mends it", err, cure(err))
		}
		if _, ok := errors.AsType[mended](err); !ok {
			t.Error("it is another error now")
		}
	}
	var out strings.Builder
	log := v.Log(slog.New(slog.NewTextHandler(&out, nil))).With("source", sources[0]).WithGroup("g")
	log.Info("opening "+sources[0], "line", "[rtsp @ 0x55] method DESCRIBE failed for ann:hunter%2322, password hunter#22",
		"err", mended{sources[1]}, slog.Group("in", "url", sources[1]), "n", 3)
	if got := out.String(); secret(got) || !strings.Contains(got, "g.n=3") || !strings.Contains(got, "10.0.0.9") {
		t.Errorf("the log has %s", got)
	}
	if (redact.SourceRedactor{}).Error(nil) != nil || (redact.SourceRedactor{}).Text("x") != "x" {
		t.Error("what hides nothing changes something")
	}
}
