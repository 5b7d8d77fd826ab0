// Package webcam is the sense that sees what is before a camera: what its helper makes
// of single pictures becomes who is there, and whether anything can be seen at all.
package webcam

import (
	"context"

	"earshot"
	"earshot/internal/supervise"
	"earshot/models/see"
	"earshot/providers"
)

// An Eye is a camera, or something in its place.
type Eye interface {
	// Run looks until ctx ends, which is no error, it comes to its own end, which is none
	// either, or the camera is lost. What it sees is told to [Provider.Observe].
	Run(ctx context.Context) error
}

// Parts are what a camera is made of.
type Parts struct {
	Eye Eye

	// Notice is told what is wrong with what is seen, and when that is over; not of the
	// loss of the camera, which is the error of Run. It may be nil, and must not block.
	Notice func(earshot.Notice)

	// Pulse beats with each picture, and while the camera is closed on purpose. It may be
	// nil.
	Pulse *supervise.Pulse
}

// A Provider is the sense, for one camera. Its methods may be called from any goroutine;
// it runs once at a time.
type Provider struct {
	camera Camera
	parts  Parts
}

// New returns the sense of that camera, whose configuration must be valid. It opens
// nothing until it runs.
func New(c Camera, parts Parts) *Provider {
	return &Provider{camera: c.withDefaults(), parts: parts}
}

// Name implements [providers.Provider].
func (p *Provider) Name() string { return "webcam" }

// Observe takes what the eye made of a picture. It does not block.
func (p *Provider) Observe(see.Observation) { p.parts.Pulse.Beat() }

// Run implements [providers.Provider].
func (p *Provider) Run(ctx context.Context, _ providers.Emit) error { return p.parts.Eye.Run(ctx) }
