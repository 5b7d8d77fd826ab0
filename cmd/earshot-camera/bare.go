//go:build cgo

package main

import (
	"encoding/json"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"gocv.io/x/gocv"
)

// bares is how many pictures are taken for [bare].
const bares = 40

// bare reports, as JSON, what each stage costs when only gocv runs, with nothing around it:
// milliseconds of a thread per picture. make bench prints it beside our own figures.
func bare(source string) int {
	runtime.LockOSThread()
	a, err := parse(source)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return 1
	}
	os.Setenv("OPENCV_FFMPEG_CAPTURE_OPTIONS", a.options())
	video, err := gocv.VideoCaptureFile(a.path)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: no pictures come from %s\n", name, a.says)
		return 1
	}
	defer video.Close()
	if err := json.NewEncoder(os.Stdout).Encode(bareStages(video)); err != nil {
		return 1
	}
	return 0
}

// bareStages measures each stage, by the names of wire.Cost.
func bareStages(video *gocv.VideoCapture) map[string][]float64 {
	picture, grey, small, last, moved := gocv.NewMat(), gocv.NewMat(), gocv.NewMat(), gocv.NewMat(), gocv.NewMat()
	body, feature, points := gocv.NewMat(), gocv.NewMat(), gocv.NewMat()
	for _, m := range []*gocv.Mat{&picture, &grey, &small, &last, &moved, &body, &feature, &points} {
		defer m.Close()
	}
	people := gocv.NewHOGDescriptor()
	defer people.Close()
	svm := gocv.HOGDefaultPeopleDetector()
	defer svm.Close()
	people.SetSVMDetector(svm)
	faces := gocv.NewCascadeClassifier()
	defer faces.Close()
	for _, dir := range cascades {
		if _, err := os.Stat(filepath.Join(dir, cascade)); err == nil && faces.Load(filepath.Join(dir, cascade)) {
			break
		}
	}
	codes := gocv.NewQRCodeDetector()
	defer codes.Close()
	cost := make(map[string][]float64)
	stage := func(name string, do func()) {
		cost[name] = append(cost[name], float64(timed(do))/float64(time.Millisecond))
	}
	for range bares {
		there := false
		stage("read", func() { there = video.Read(&picture) })
		if !there {
			break
		}
		stage("motion", func() {
			gocv.CvtColor(picture, &grey, gocv.ColorBGRToGray)
			gocv.Resize(grey, &small, image.Pt(smallWidth, smallHeight), 0, 0, gocv.InterpolationArea)
			if !last.Empty() {
				gocv.AbsDiff(small, last, &moved)
				gocv.Threshold(moved, &moved, 25, 255, gocv.ThresholdBinary)
				gocv.CountNonZero(moved)
			}
			small.CopyTo(&last)
		})
		stage("people", func() {
			people.DetectMultiScaleWithParams(narrowed(grey, &body, bodies), 0, image.Pt(8, 8), image.Pt(8, 8), bodiesFiner, beside, false)
		})
		stage("faces", func() {
			faces.DetectMultiScaleWithParams(narrowed(grey, &feature, features), featuresFiner, beside, 0, image.Pt(24, 24), image.Point{})
		})
		stage("codes", func() { codes.Detect(narrowed(grey, &body, bodies), &points) })
		stage("keep", func() { encoded(picture, quality) })
	}
	return cost
}
