package mjpeg_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"earshot/models/see/mjpeg"
)

var limits = mjpeg.Limits{Bytes: 100_000, Waste: 100_000, Side: 1000}

// picture returns a JPEG of that size, different for each number.
func picture(t testing.TB, width, height, number int) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range m.Pix {
		m.Pix[i] = uint8(i * (number + 3) * (i>>4 + 1))
	}
	m.Set(0, 0, color.White)
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// read returns the pictures in a stream, in words, and how it ended.
func read(r io.Reader, known ...[]byte) (says []string, err error) {
	m := mjpeg.NewReader(r, limits)
	for {
		p, err := m.Next()
		if err != nil {
			return says, err
		}
		what := "another"
		for i, k := range known {
			if bytes.Equal(k, p.JPEG) {
				what = fmt.Sprint(i)
			}
		}
		says = append(says, fmt.Sprintf("%s %dx%d", what, p.Width, p.Height))
	}
}

func TestStreams(t *testing.T) {
	a, b := picture(t, 64, 48, 1), picture(t, 320, 200, 2)
	large := picture(t, 1001, 8, 3)
	heavy := picture(t, 999, 999, 4)
	join := func(parts ...any) (all []byte) {
		for _, p := range parts {
			all = fmt.Appendf(all, "%s", p)
		}
		return all
	}
	const head = "--frame\r\nContent-Type: image/jpeg\r\n\r\n"
	for _, tt := range []struct {
		name   string
		stream []byte
		want   string
		end    error
	}{
		{"nothing", nil, "", io.EOF},
		{"one alone", a, "0 64x48", io.EOF},
		{"as cameras send them", join(head, a, "\r\n", head, b, "\r\n--frame--"), "0 64x48, 1 320x200", io.EOF},
		{"with nothing between", join(a, b, a), "0 64x48, 1 320x200, 0 64x48", io.EOF},
		{"with a wrong length", join("Content-Length: 3\r\n\r\n", a, b), "0 64x48, 1 320x200", io.EOF},
		{"with padding before a marker", bytes.Replace(a, []byte{0xff, 0xdb}, []byte{0xff, 0xff, 0xff, 0xdb}, 1), "another 64x48", io.EOF},
		{"one that has no end", a[:len(a)-2], "", io.ErrUnexpectedEOF},
		{"one that stops in its header", a[:30], "", io.ErrUnexpectedEOF},
		{"one that has no end before the next", join(a[:len(a)-100], b), "1 320x200", io.EOF},
		{"one without a size", join("\xff\xd8\xff\xd9", b), "1 320x200", io.EOF},
		{"one of no size", join("\xff\xd8\xff\xc0\x00\x08\x08\x00\x00\x00\x01\x01", b), "1 320x200", io.EOF},
		{"a segment of no length", join("\xff\xd8\xff\xe0\x00\x00", b), "1 320x200", io.EOF},
		{"a beginning that is none", join("\xff\xff\xd8 \xff", b), "1 320x200", io.EOF},
		{"a web page", join("<html>", strings.Repeat("no camera here ", 9000)), "", mjpeg.ErrNone},
		{"damage without end", bytes.Repeat([]byte("\xff\xd8\xff\xd9"), 30_000), "", mjpeg.ErrNone},
		{"wide", join(a, large), "0 64x48", mjpeg.ErrTooLarge},
		{"heavy", join(a, heavy), "0 64x48", mjpeg.ErrTooLarge},
		{"a scan without end", join(a[:len(a)-2], strings.Repeat("x", 100_000)), "", mjpeg.ErrTooLarge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"whole": bytes.NewReader(tt.stream), "bytes": iotest.OneByteReader(bytes.NewReader(tt.stream)),
			} {
				says, err := read(r, a, b)
				if got := strings.Join(says, ", "); got != tt.want || !errors.Is(err, tt.end) {
					t.Errorf("%s: %s, then %v; want %s, then %v", name, got, err, tt.want, tt.end)
				}
			}
		})
	}
}

func TestSize(t *testing.T) {
	p, err := mjpeg.NewReader(bytes.NewReader(picture(t, 320, 200, 1)), limits).Next()
	if p.Width != 320 || p.Height != 200 || err != nil {
		t.Errorf("%d by %d, %v", p.Width, p.Height, err)
	}
	if _, err := mjpeg.NewReader(strings.NewReader("GIF89a"), limits).Next(); !errors.Is(err, io.EOF) {
		t.Errorf("of something else: %v", err)
	}
}

// TestBetween: whatever stands between pictures, each of them is found.
func TestBetween(t *testing.T) {
	a := picture(t, 64, 48, 1)
	rapid.Check(t, func(t *rapid.T) {
		var stream []byte
		n := rapid.IntRange(1, 5).Draw(t, "pictures")
		for range n {
			stream = append(stream, rapid.StringMatching(`[ -~\r\n]{0,300}`).Draw(t, "between")...)
			stream = append(stream, a...)
		}
		says, err := read(bytes.NewReader(stream), a)
		if len(says) != n || err != io.EOF {
			t.Errorf("%d pictures: %q, then %v", n, says, err)
		}
	})
}

func FuzzReader(f *testing.F) {
	a := picture(f, 16, 16, 1)
	f.Add(a)
	f.Add(append([]byte("--frame\r\n\r\n"), append(a, a...)...))
	f.Add([]byte("\xff\xd8\xff\xc0\x00\x08\x08\x00\x00\x00\x01\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := mjpeg.NewReader(bytes.NewReader(b), mjpeg.Limits{Bytes: 1000, Waste: 500, Side: 100})
		left := len(b)
		for {
			p, err := r.Next()
			if err != nil {
				return
			}
			if left -= len(p.JPEG); left < 0 || len(p.JPEG) > 1000 || p.Width < 1 || p.Width > 100 || p.Height < 1 || p.Height > 100 {
				t.Fatalf("a picture of %d by %d in %d bytes", p.Width, p.Height, len(p.JPEG))
			}
			if !bytes.Contains(b, p.JPEG) {
				t.Fatal("a picture that did not come")
			}
		}
	})
}
