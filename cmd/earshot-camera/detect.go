//go:build cgo

package main

import (
	"image"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
	"gocv.io/x/gocv"

	"earshot"
	"earshot/models/see/wire"
)

const (
	// bodies is the width of a picture, in pixels, in which people are searched. People shorter
	// than 96 pixels are not found; at 320, which takes a fifth of the time, that is almost
	// everybody who is not near.
	bodies = 640

	// features is the same for faces, of which the smallest has 24 pixels.
	features = 320

	// finer is the ratio between the sizes at which people and faces are searched.
	bodiesFiner   = 1.07
	featuresFiner = 1.1

	// beside is how many adjacent windows must find the same thing.
	beside = 2
)

// cascade is the file that describes faces, and cascades are where it is looked for.
const cascade = "haarcascade_frontalface_alt2.xml"

var cascades = []string{
	"/usr/share/opencv4/haarcascades", "/usr/local/share/opencv4/haarcascades",
	"/usr/share/opencv/haarcascades", "/opt/homebrew/share/opencv4/haarcascades",
}

// cureDetectors says how to install it.
const cureDetectors = "apt-get install opencv-data"

// detectors find who and what is in a picture. They are used by one goroutine at a time.
type detectors struct {
	people, faces detector
	codes         gozxing.Reader
	body, feature gocv.Mat // the picture in the sizes for people and faces
}

// openDetectors opens all of them.
func openDetectors() (*detectors, error) {
	path := ""
	for _, dir := range cascades {
		if _, err := os.Stat(filepath.Join(dir, cascade)); err == nil {
			path = filepath.Join(dir, cascade)
			break
		}
	}
	if path == "" {
		return nil, &fault{text: "the file " + cascade + ", which is needed to detect faces, is missing", cure: cureDetectors, lasting: true}
	}
	faces, ok := newFaceDetector(path)
	if !ok {
		return nil, &fault{text: "the file " + path + ", which is needed to detect faces, is damaged", cure: "apt-get install --reinstall opencv-data", lasting: true}
	}
	people, ok := newPeopleDetector()
	if !ok {
		faces.close()
		return nil, &fault{text: "this OpenCV has no detector of people", cure: "apt-get install libopencv-dev", lasting: true}
	}
	return &detectors{people: people, faces: faces, codes: qrcode.NewQRCodeReader(), body: gocv.NewMat(), feature: gocv.NewMat()}, nil
}

func (d *detectors) close() {
	d.people.close()
	d.faces.close()
	d.body.Close()
	d.feature.Close()
}

// look returns what is in a grey picture. A person who is seen with a face and a body appears
// twice: as a person and as a face, one within the other.
func (d *detectors) look(grey gocv.Mat, cost *wire.Cost) []earshot.Seen {
	var people, faces, codes []earshot.Seen
	cost.People = timed(func() {
		people = found(d.people, narrowed(grey, &d.body, bodies), bodiesFiner, func(f detection) earshot.Seen {
			return earshot.Seen{What: earshot.Person, Sure: sureOfPerson(f.weight)}
		}, person)
	})
	cost.Faces = timed(func() {
		faces = found(d.faces, narrowed(grey, &d.feature, features), featuresFiner, func(f detection) earshot.Seen {
			return earshot.Seen{What: earshot.Face, Sure: sureOfFace(f.weight)}
		}, func(r image.Rectangle) image.Rectangle { return r })
	})
	cost.Codes = timed(func() { codes = d.read(narrowed(grey, &d.body, bodies)) })
	return append(append(codes, faces...), distinct(people, earshot.MaxSeen-len(faces)-len(codes))...)
}

// narrowed returns a picture unchanged, or scaled down into m.
func narrowed(grey gocv.Mat, m *gocv.Mat, width int) gocv.Mat {
	if grey.Cols() <= width {
		return grey
	}
	gocv.Resize(grey, m, image.Pt(width, max(1, grey.Rows()*width/grey.Cols())), 0, 0, gocv.InterpolationArea)
	return *m
}

// window is the smallest picture in which people can be sought, in pixels.
var window = image.Pt(64, 128)

// found returns a detector's results as a kind of thing; within says where the thing is inside a
// result.
func found(d detector, grey gocv.Mat, finer float64, is func(detection) earshot.Seen, within func(image.Rectangle) image.Rectangle) (all []earshot.Seen) {
	if grey.Cols() < window.X || grey.Rows() < window.Y {
		return nil
	}
	for _, f := range d.find(grey, finer, beside) {
		s := is(f)
		box, some := share(within(f.Rectangle), grey.Cols(), grey.Rows())
		if some && s.Sure >= unsure {
			s.Box = box
			all = append(all, s)
		}
	}
	return distinct(all, earshot.MaxSeen/4)
}

// person returns where somebody is within a window: it has a margin of 16 pixels on all
// sides of 64 by 128.
func person(r image.Rectangle) image.Rectangle {
	return image.Rect(r.Min.X+r.Dx()/6, r.Min.Y+r.Dy()/12, r.Max.X-r.Dx()/6, r.Max.Y-r.Dy()/12)
}

// unsure is the least confidence that is reported at all.
const unsure = 0.3

// The confidence, from how far the best window lies beyond the threshold of its detector: a
// logistic curve, set by eye on the pictures and videos of Debian's opencv-doc, so that one half
// is where about as many are wrong as right. It rises with the weight and is not a probability.
func sureOfPerson(weight float64) float64 { return logistic(2.5 * (weight - 0.6)) }
func sureOfFace(weight float64) float64   { return logistic(1.5 * (weight - 55.2)) }

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// read returns the code in a picture. OpenCV is not used: here it finds codes but cannot read
// them, and finding one takes it five times as long.
func (d *detectors) read(grey gocv.Mat) []earshot.Seen {
	width, height := grey.Cols(), grey.Rows()
	code := d.decode(grey.ToBytes(), width, height)
	if code == nil {
		return nil
	}
	text := strings.ToValidUTF8(code.GetText(), "\uFFFD")
	r := image.Rectangle{}
	for _, p := range code.GetResultPoints() {
		x, y := int(p.GetX()), int(p.GetY())
		r = r.Union(image.Rect(x, y, x+1, y+1))
	}
	box, some := share(r.Inset(-max(r.Dx(), r.Dy())/5), width, height) // the points are within it
	if !some || len(text) > earshot.MaxCode {
		return nil
	}
	return []earshot.Seen{{What: earshot.Code, Box: box, Sure: 1, Text: earshot.Text(text)}} // it has a checksum
}

// decode returns the code in a picture, nil if there is none. A code that makes the library panic
// counts as none: nobody must be able to blind us by holding one up. This is the only place where
// a panic is caught.
func (d *detectors) decode(grey []byte, width, height int) (code *gozxing.Result) {
	defer func() {
		if recover() != nil {
			code = nil
		}
	}()
	light, err := gozxing.NewPlanarYUVLuminanceSource(grey, width, height, 0, 0, width, height, false)
	if err != nil {
		return nil
	}
	b, err := gozxing.NewBinaryBitmap(gozxing.NewHybridBinarizer(light))
	if err != nil {
		return nil
	}
	code, err = d.codes.Decode(b, nil)
	if err != nil {
		return nil
	}
	return code
}
