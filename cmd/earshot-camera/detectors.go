//go:build cgo

package main

/*
#cgo pkg-config: opencv4
#cgo CXXFLAGS: -std=c++11 -O2
#include <stdlib.h>
#include "detectors.h"
*/
import "C"

import (
	"image"
	"unsafe"

	"gocv.io/x/gocv"
)

// A detector finds things of one kind. It is used by one goroutine at a time.
//
// gocv's own detectors do not say how sure they are, and its coefficients for people are a pointer
// to freed memory.
type detector struct{ c C.detector }

// A detection is one thing that was found.
type detection struct {
	image.Rectangle         // in pixels
	weight          float64 // how far the best window is beyond the threshold, in units of the detector
}

// newPeopleDetector returns the detector of standing people.
func newPeopleDetector() (detector, bool) {
	c := C.detector_people()
	return detector{c}, c != nil
}

// newFaceDetector returns the detector that is described in a file.
func newFaceDetector(path string) (detector, bool) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	c := C.detector_faces(name)
	return detector{c}, c != nil
}

// find returns the detections in a grey picture, at sizes that differ by scale, confirmed by least
// adjacent windows.
func (d detector) find(grey gocv.Mat, scale float64, least int) []detection {
	var found [maxFound]C.detection
	n := int(C.detector_find(d.c, unsafe.Pointer(grey.Ptr()), C.double(scale), C.int(least), &found[0], maxFound))
	all := make([]detection, 0, max(n, 0))
	for _, f := range found[:max(n, 0)] {
		x, y := int(f.x), int(f.y)
		all = append(all, detection{image.Rect(x, y, x+int(f.width), y+int(f.height)), float64(f.weight)})
	}
	return all
}

const maxFound = 256

func (d detector) close() { C.detector_free(d.c) }
