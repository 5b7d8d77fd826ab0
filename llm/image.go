package llm

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// An Image is a picture in a prompt: a JPEG. When it is printed or logged, only its size appears.
type Image []byte

// The bounds of the pictures of a request. [FitImages] leaves out what exceeds them, the oldest
// first.
const (
	MaxImages = 4       // a small model makes about 600 tokens of each
	MaxImage  = 1 << 20 // bytes of one
)

// Format prints the size of i for every verb.
func (i Image) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "[a picture of %d bytes]", len(i)) }

// MarshalText returns the size of i too, for text and JSON. An engine encodes the bytes
// themselves.
func (i Image) MarshalText() ([]byte, error) { return []byte(fmt.Sprint(i)), nil }

// valid reports whether i may be sent.
func (i Image) valid() bool {
	return len(i) <= MaxImage && bytes.HasPrefix(i, []byte{0xff, 0xd8, 0xff})
}

// Shows reports whether req has a picture that may be sent.
func Shows(req *Request) bool {
	return slices.ContainsFunc(req.Messages, func(m Message) bool { return slices.ContainsFunc(m.Images, Image.valid) })
}

// ErrNoVision says that a model cannot look at the pictures without which a request is useless.
var ErrNoVision = errors.New("it cannot look at pictures")

// FitImages returns req for a model that can see if sees is true: with the newest pictures that
// the bounds allow. If the model cannot see, or no picture is left, it returns [WithoutImages].
// Req itself is not changed.
func FitImages(req *Request, sees bool) *Request {
	if !sees || !Shows(req) {
		return WithoutImages(req)
	}
	out := *req
	out.Messages = slices.Clone(req.Messages)
	left := MaxImages
	for i, m := range slices.Backward(out.Messages) {
		out.Messages[i].Images = nil
		for _, image := range slices.Backward(m.Images) {
			if image.valid() && left > 0 {
				left--
				out.Messages[i].Images = slices.Insert(out.Messages[i].Images, 0, image)
			}
		}
		out.Messages[i].AltText = ""
	}
	return &out
}

// WithoutImages returns req without its pictures, each message with its alternative text.
func WithoutImages(req *Request) *Request {
	is := func(m Message) bool { return len(m.Images) > 0 || m.AltText != "" }
	if !slices.ContainsFunc(req.Messages, is) {
		return req
	}
	out := *req
	out.Messages = slices.Clone(req.Messages)
	for i, m := range out.Messages {
		if m.AltText != "" {
			out.Messages[i].Text = m.AltText
		}
		out.Messages[i].Images, out.Messages[i].AltText = nil, ""
	}
	return &out
}
