package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"earshot"
	"earshot/api"
	"earshot/executive/looking"
	"earshot/internal/helper"
	"earshot/internal/probe"
	"earshot/participants"
	"earshot/server"
)

// glimpse is how long somebody waits who asks what a camera sees: for the next picture
// at a low rate, and for what is found in it.
const glimpse = 10 * time.Second

// seldomTold is how often people are told at most that the same person asks what a
// camera sees. That a picture was taken away they are always told.
const seldomTold = 10 * time.Minute

// Look implements [server.Backend].
func (h backend) Look(ctx context.Context, by server.Principal, l api.LookRequest) (api.CameraView, error) {
	e := h.daemon.eyes.find(l.Camera)
	if e == nil {
		return api.CameraView{Known: h.daemon.eyes.names(), Eyes: earshot.Away}, nil
	}
	s := h.cameraView(e)
	if s.Closed != "" || !e.running() {
		return s, nil
	}
	ctx, cancel := context.WithTimeout(ctx, glimpse)
	defer cancel()
	p, err := e.look(ctx, time.Time{}, l.Boxes)
	if err != nil {
		failView(&s, err)
		return s, nil
	}
	if s = h.cameraView(e); s.Closed != "" { // meanwhile; else how it sees may be known only now
		return s, nil
	}
	fillView(&s, p, l.Picture)
	h.daemon.log.Info("somebody looked through a camera", "participant", string(by.ID), "camera", e.name, "picture", l.Picture)
	if l.Picture || e.asks(by.ID, time.Now()) {
		h.daemon.desk.Mention(lookedBy(by.Participant, e.name, l.Picture))
	}
	return s, nil
}

// lookedBy tells those who may be in the picture.
func lookedBy(who participants.Participant, camera string, took bool) string {
	name, camera := cmp.Or(who.Name, "somebody"), "the "+earshot.CameraCalled(camera)
	if took {
		return fmt.Sprintf("%s has taken a picture with %s and may keep it.", name, camera)
	}
	return fmt.Sprintf("%s has asked what %s sees.", name, camera)
}

// asks reports whether people are to be told that somebody looks at now.
func (e *camera) asks(who earshot.ParticipantID, now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if last, ok := e.told[who]; ok && now.Sub(last) < seldomTold {
		return false
	}
	if e.told == nil {
		e.told = make(map[earshot.ParticipantID]time.Time)
	}
	e.told[who] = now
	return true
}

// names returns what the cameras are called.
func (all *eyes) names() (names []string) {
	for _, e := range all.list() {
		names = append(names, e.name)
	}
	return names
}

// cameraView returns what is known of a camera without looking.
func (h backend) cameraView(e *camera) api.CameraView {
	v := e.sees()
	g := v.glance
	if v.eyes == earshot.Away { // who was there is nobody's business any more
		g = earshot.Glance{}
	}
	s := api.CameraView{
		Camera: e.name, Source: e.source, Eyes: v.eyes, Since: v.since, Closed: h.daemon.closed(e, time.Now()),
		People: g.People, Faces: g.Faces, Brightness: g.Brightness, Motion: g.Motion,
	}
	if s.Closed == "" && v.fault != nil {
		failView(&s, v.fault)
	}
	return s
}

// closed says why nobody wants a camera to look at now.
func (d *daemon) closed(e *camera, now time.Time) string {
	mode, _ := d.desk.Mode()
	return probe.Closed(mode, e.config.Hours, now)
}

// failView notes why there is no picture.
func failView(s *api.CameraView, err error) {
	s.Fault, s.Cure = err.Error(), probe.Cure(err)
	if said, ok := errors.AsType[*helper.DeathError](err); ok {
		s.Fault = strings.TrimPrefix(s.Fault, said.Name+": ") // which program it was is for the log
	}
	if errors.Is(err, context.DeadlineExceeded) {
		s.Fault = "it sent none within " + glimpse.String()
	}
}

// fillView notes a picture. Who stands still may not be found in every one, and is still
// there: who is in view is who was until now, and whoever is found besides.
func fillView(s *api.CameraView, p earshot.Picture, keep bool) {
	s.At, s.Width, s.Height, s.Seen = p.At, p.Width, p.Height, p.Seen
	faces := 0
	for _, seen := range p.Seen {
		if seen.What == earshot.Face {
			faces++
		}
	}
	s.People, s.Faces = max(s.People, looking.People(p.Seen)), max(s.Faces, faces)
	if keep {
		s.JPEG = p.JPEG
	}
}
