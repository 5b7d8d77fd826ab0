package conversation

import (
	"earshot"
	"earshot/participants"
)

// A Directory is who can be addressed in a room, prepared for looking names up
// in many texts. It may be used from many goroutines.
type Directory struct {
	people []participants.Participant
}

// NewDirectory returns the directory of some people and agents.
func NewDirectory(who []participants.Participant) *Directory { return &Directory{who} }

// A Direction is whom a text addresses.
type Direction struct {
	To      []earshot.ParticipantID // in the order in which they are named, each once
	All     bool                    // every agent in the room is addressed
	Unknown []string                // what stands where somebody is called, and is nobody's name
}

// Addressed reports whether somebody is called at all.
func (d Direction) Addressed() bool { return d.All || len(d.To) > 0 || len(d.Unknown) > 0 }

// Direct returns whom text, which from wrote, addresses.
func (d *Directory) Direct(text earshot.Text, from earshot.ParticipantID) Direction {
	return Direction{}
}

// Nearest returns up to most names that come closest to name, the nearest
// first; none if nothing is near.
func (d *Directory) Nearest(name string, most int) []string { return nil }
