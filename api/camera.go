package api

import (
	"time"

	"earshot"
)

// A LookRequest is what somebody wants to be told by a camera.
type LookRequest struct {
	Camera  string `json:"camera,omitempty"`  // by its name; empty is the first
	Picture bool   `json:"picture,omitempty"` // the picture is wanted too
	Boxes   bool   `json:"boxes,omitempty"`   // with what is seen drawn into it
}

// A CameraInfo is the state of a camera, without what it sees.
type CameraInfo struct {
	Camera string           `json:"camera"`
	Source string           `json:"source"` // the device or the address, without secrets
	Open   bool             `json:"open"`   // pictures are taken
	Closed string           `json:"closed,omitempty"`
	Eyes   earshot.Eyesight `json:"eyes"`
	Since  time.Time        `json:"since,omitzero"`
	Fault  string           `json:"fault,omitempty"`
	Cure   string           `json:"cure,omitempty"`
}

// A CameraView is what a camera sees at a time.
type CameraView struct {
	Camera string   `json:"camera"`          // as it is called; empty if there is none
	Source string   `json:"source"`          // the device or the address, without secrets
	Known  []string `json:"known,omitempty"` // where there is no such camera: those that there are

	Eyes   earshot.Eyesight `json:"eyes"`
	Since  time.Time        `json:"since,omitzero"`   // since when it sees as well as that, if that is known
	Closed string           `json:"closed,omitempty"` // why nobody wants it to look
	Fault  string           `json:"fault,omitempty"`  // why there is no picture
	Cure   string           `json:"cure,omitempty"`

	At         time.Time      `json:"at,omitzero"` // when the picture was taken
	Width      int            `json:"width,omitempty"`
	Height     int            `json:"height,omitempty"`
	People     int            `json:"people"`
	Faces      int            `json:"faces"`
	Brightness float64        `json:"brightness"` // mean, 0 to 1
	Motion     float64        `json:"motion"`     // which share of the picture moves
	Seen       []earshot.Seen `json:"seen,omitempty"`

	JPEG []byte `json:"jpeg,omitempty"` // if it was asked for
}
