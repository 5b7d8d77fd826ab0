//go:build cgo

package main

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"

	"earshot"
)

// quality is the JPEG quality of the pictures that are kept, of 100; poor is for those that are
// too large with it.
const (
	quality = 80
	poor    = 40
)

// colours are the colours of the boxes, by what is in them.
var colours = map[earshot.Thing]color.RGBA{
	earshot.Person: {0, 200, 80, 255},
	earshot.Face:   {255, 200, 0, 255},
	earshot.Code:   {0, 140, 255, 255},
}

// drawn returns a picture with boxes around what was seen; without them if it cannot be decoded,
// or becomes too large.
func drawn(picture []byte, seen []earshot.Seen) []byte {
	if len(seen) == 0 {
		return picture
	}
	m, err := jpeg.Decode(bytes.NewReader(picture))
	if err != nil {
		return picture
	}
	canvas := image.NewRGBA(m.Bounds())
	draw.Draw(canvas, canvas.Rect, m, m.Bounds().Min, draw.Src)
	for _, s := range seen {
		frame(canvas, pixels(s.Box, canvas.Rect.Dx(), canvas.Rect.Dy()), colours[s.What])
	}
	var b bytes.Buffer
	if jpeg.Encode(&b, canvas, &jpeg.Options{Quality: quality}) != nil || b.Len() > earshot.MaxPicture {
		return picture
	}
	return b.Bytes()
}

// frame draws the edges of r.
func frame(m *image.RGBA, r image.Rectangle, c color.RGBA) {
	const thick = 2
	for _, edge := range []image.Rectangle{
		{r.Min, image.Pt(r.Max.X, r.Min.Y+thick)},
		{image.Pt(r.Min.X, r.Max.Y-thick), r.Max},
		{r.Min, image.Pt(r.Min.X+thick, r.Max.Y)},
		{image.Pt(r.Max.X-thick, r.Min.Y), r.Max},
	} {
		draw.Draw(m, edge, image.NewUniform(c), image.Point{}, draw.Src)
	}
}
