//go:build cgo

package main

import (
	"net/url"
	"strings"
	"testing"

	"earshot"

	"github.com/makiuchi-d/gozxing/qrcode"
	"gocv.io/x/gocv"

	"earshot/models/see/seetest"
)

// FuzzAddress: whatever the name of a source is, nothing of user and password is said.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{"0", "/dev/video0", "film.avi", "http://user:secret@host/x?y=z", "rtsp://[::1]:554/", "://", "HTTP://h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		a, err := parse(source)
		if err != nil {
			return
		}
		u, err := url.Parse(source)
		if a.kind < rtsp {
			return
		}
		if err != nil || u.Host == "" || a.says != u.Scheme+"://"+u.Host || strings.Contains(a.says, "@") || a.path != source {
			t.Errorf("%q says %q, %v", source, a.says, err)
		}
	})
}

// FuzzCode: whatever is held up, at most something that can be said is read.
func FuzzCode(f *testing.F) {
	const side = 128
	for _, text := range []string{"a", "Grüße", strings.Repeat("0123456789", 20)} {
		m := seetest.Room()
		seetest.Code(m, 0, 0, side, text)
		grey := make([]byte, 0, side*side)
		for y := range side {
			for x := range side {
				grey = append(grey, m.Pix[m.PixOffset(x, y)])
			}
		}
		f.Add(grey)
	}
	d := &detectors{codes: qrcode.NewQRCodeReader()}
	f.Fuzz(func(t *testing.T, grey []byte) {
		grey = append(grey, make([]byte, side*side)...)[:side*side]
		m, err := gocv.NewMatFromBytes(side, side, gocv.MatTypeCV8U, grey)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		for _, s := range d.read(m) {
			if !s.Box.Valid() || len(s.Text) > earshot.MaxCode {
				t.Errorf("%d bytes at %v", len(s.Text), s.Box)
			}
		}
	})
}
