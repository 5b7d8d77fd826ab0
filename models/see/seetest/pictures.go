package seetest

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
)

// Width and Height are those of all pictures that are made here, in pixels.
const (
	Width  = 640
	Height = 480
)

// Room returns an empty room in daylight: a wall, a floor, a window, a shelf.
func Room() *image.RGBA {
	m := *room()
	m.Pix = bytes.Clone(m.Pix)
	return &m
}

var room = sync.OnceValue(func() *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, Width, Height))
	for y := range Height {
		for x := range Width {
			v := 178 - x/20 - y/30 // light from the left
			if y > 400 {
				v = 120 - x/30
			}
			m.SetRGBA(x, y, color.RGBA{uint8(v), uint8(v), uint8(v - 12), 255})
		}
	}
	fill(m, image.Rect(40, 60, 150, 200), color.RGBA{235, 240, 250, 255})
	fill(m, image.Rect(520, 90, 620, 100), color.RGBA{110, 80, 60, 255})
	for i := range 6 {
		fill(m, image.Rect(524+i*14, 40+i*4, 534+i*14, 90), color.RGBA{uint8(60 + i*30), uint8(140 - i*20), 90, 255})
	}
	return m
})

// Clutter returns a picture full of things, different for each seed.
func Clutter(seed uint64) *image.RGBA {
	m, r := Room(), rand.New(rand.NewPCG(seed, 2))
	for range 120 {
		x, y := r.IntN(Width), r.IntN(Height)
		v := uint8(r.IntN(256))
		fill(m, image.Rect(x, y, x+15+r.IntN(60), y+15+r.IntN(60)), color.RGBA{v, v, uint8(r.IntN(256)), 255})
	}
	return m
}

func fill(m *image.RGBA, r image.Rectangle, c color.RGBA) {
	draw.Draw(m, r, image.NewUniform(c), image.Point{}, draw.Src)
}

// ellipse fills one within r.
func ellipse(m *image.RGBA, r image.Rectangle, c color.RGBA) {
	a, b := float64(r.Dx())/2, float64(r.Dy())/2
	for y := r.Min.Y; y < r.Max.Y; y++ {
		dy := (float64(y-r.Min.Y) + 0.5 - b) / b
		half := a * math.Sqrt(max(0, 1-dy*dy))
		mid := float64(r.Min.X) + a
		fill(m, image.Rect(int(mid-half+0.5), y, int(mid+half+0.5), y+1), c)
	}
}

// Person draws a standing person into m: seen from the front, with the middle at x and the feet at
// y, so many pixels tall. Detectors of people and, if it is large enough, of faces recognise it.
func Person(m *image.RGBA, x, y, tall int) {
	u := float64(tall) / 100
	box := func(x0, y0, x1, y1 float64) image.Rectangle {
		return image.Rect(x+int(x0*u), y-tall+int(y0*u), x+int(x1*u), y-tall+int(y1*u))
	}
	cloth, trousers, shoe := color.RGBA{50, 55, 75, 255}, color.RGBA{35, 35, 45, 255}, color.RGBA{20, 20, 20, 255}
	ellipse(m, box(-13, 15, 13, 34), cloth) // shoulders
	fill(m, box(-10, 24, 10, 54), cloth)
	fill(m, box(-14, 24, -10.5, 52), cloth)
	fill(m, box(10.5, 24, 14, 52), cloth)
	fill(m, box(-9, 53, -1, 96), trousers)
	fill(m, box(1, 53, 9, 96), trousers)
	fill(m, box(-10, 96, -1, 100), shoe)
	fill(m, box(1, 96, 10, 100), shoe)
	Face(m, x, y-tall+int(8*u), int(16*u))
}

// Face draws one in m with its middle at x, y, so many pixels tall.
func Face(m *image.RGBA, x, y, tall int) {
	u := float64(tall) / 100
	box := func(x0, y0, x1, y1 float64) image.Rectangle {
		return image.Rect(x+int(x0*u), y+int(y0*u), x+int(x1*u), y+int(y1*u))
	}
	skin, shade, dark := color.RGBA{215, 175, 150, 255}, color.RGBA{165, 125, 105, 255}, color.RGBA{40, 30, 30, 255}
	ellipse(m, box(-40, -52, 40, 30), dark) // hair
	ellipse(m, box(-36, -42, 36, 50), skin)
	for _, side := range []float64{-1, 1} {
		ellipse(m, box(side*17-13, -18, side*17+13, 2), shade) // the hollow of an eye
		fill(m, box(side*17-13, -21, side*17+13, -16), dark)   // its brow
		ellipse(m, box(side*17-8, -12, side*17+8, -2), dark)
	}
	fill(m, box(-5, -10, 5, 14), color.RGBA{225, 188, 165, 255})
	fill(m, box(-9, 12, 9, 16), shade)
	ellipse(m, box(-17, 24, 17, 34), color.RGBA{130, 60, 60, 255})
}

// Code draws a machine-readable code for text into m, with its upper left corner at x, y and a
// side in pixels. It panics if the text is too long.
func Code(m *image.RGBA, x, y, side int, text string) {
	code, err := qrcode.NewQRCodeWriter().Encode(text, gozxing.BarcodeFormat_QR_CODE, side, side, nil)
	if err != nil {
		panic("seetest: a code that cannot be: " + err.Error())
	}
	draw.Draw(m, image.Rect(x, y, x+side, y+side), code, image.Point{}, draw.Src)
}

// Lit returns m in other light: 1 leaves it unchanged, 0 is none.
func Lit(m *image.RGBA, light float64) *image.RGBA {
	var lit [256]uint8
	for v := range lit {
		lit[v] = uint8(max(0, min(255, float64(v)*light+0.5)))
	}
	out := image.NewRGBA(m.Rect)
	for i, v := range m.Pix {
		out.Pix[i] = lit[v]
		if i%4 == 3 {
			out.Pix[i] = 255
		}
	}
	return out
}

// Noisy returns m as a cheap sensor sees it: with noise of that standard deviation, in
// steps of 255.
func Noisy(m *image.RGBA, deviation float64, seed uint64) *image.RGBA {
	r := rand.New(rand.NewPCG(seed, 1))
	noise := make([]int, 10007) // a prime, so that no two rows have the same
	for i := range noise {
		noise[i] = int(math.Round(r.NormFloat64() * deviation))
	}
	out, n := image.NewRGBA(m.Rect), r.IntN(len(noise))
	for i, v := range m.Pix {
		if n++; n == len(noise) {
			n = 0
		}
		out.Pix[i] = uint8(max(0, min(255, int(v)+noise[n])))
		if i%4 == 3 {
			out.Pix[i] = 255
		}
	}
	return out
}
