package cameras

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"earshot"
	"earshot/api"
	"earshot/executive/sight"
	"earshot/internal/helper"
	"earshot/participants"
)

// LookTimeout is how long a request to look waits: for the next picture at a low rate, and for
// what is found in it.
const LookTimeout = 10 * time.Second

// seldomTold is the least time between two notices that the same person asks what a camera sees.
// Notices that a picture was taken are never left out.
const seldomTold = 10 * time.Minute

// SetFault records why there is no picture.
func SetFault(s *api.CameraView, err error) {
	s.Fault, s.Cure = err.Error(), earshot.Cure(err)
	if said, ok := errors.AsType[*helper.DeathError](err); ok {
		s.Fault = strings.TrimPrefix(s.Fault, said.Name+": ") // the name of the helper is for the log only
	}
	if errors.Is(err, context.DeadlineExceeded) {
		s.Fault = "it sent none within " + LookTimeout.String()
	}
}

// SetPicture adds a picture to s, without its JPEG unless keep is set. A person who stands still
// is not found in every picture, so the counts of people and faces only rise.
func SetPicture(s *api.CameraView, p earshot.Picture, keep bool) {
	s.At, s.Width, s.Height, s.Seen = p.At, p.Width, p.Height, p.Seen
	faces := 0
	for _, seen := range p.Seen {
		if seen.What == earshot.Face {
			faces++
		}
	}
	s.People, s.Faces = max(s.People, sight.People(p.Seen)), max(s.Faces, faces)
	if keep {
		s.JPEG = p.JPEG
	}
}

// InfoOf returns the part of a sighting that describes the camera alone.
func InfoOf(s api.CameraView, open bool) api.CameraInfo {
	return api.CameraInfo{Camera: s.Camera, Source: s.Source, Open: open, Closed: s.Closed, Eyes: s.Eyes, Since: s.Since, Fault: s.Fault, Cure: s.Cure}
}

// Sees reports whether a camera sees anything.
func Sees(s api.CameraView) bool { return s.Eyes == earshot.Clear && !s.At.IsZero() }

// LookedBy tells those who may be in the picture who looked.
func LookedBy(who participants.Participant, camera string, took bool) string {
	name, camera := cmp.Or(who.Name, "somebody"), "the "+earshot.CameraCalled(camera)
	if took {
		return fmt.Sprintf("%s has taken a picture with %s and may keep it.", name, camera)
	}
	return fmt.Sprintf("%s has asked what %s sees.", name, camera)
}
