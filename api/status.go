package api

import (
	"earshot"
	"earshot/participants"
)

// A Status is what the daemon says of itself to somebody in a room.
type Status struct {
	RoomState
	You        participants.Participant   `json:"you"`
	Known      []participants.Participant `json:"known"`     // whom one can say to be
	Strangers  bool                       `json:"strangers"` // new names are welcome
	Anonymous  bool                       `json:"anonymous"` // and so is having none
	Rooms      []RoomName                 `json:"rooms"`     // that they may enter
	Cameras    []CameraInfo               `json:"cameras,omitempty"`
	Satellites []Satellite                `json:"satellites,omitempty"`
	Waiting    []string                   `json:"waiting,omitempty"` // keys of the configuration that wait for a restart; for who operates it
	Underway   []Activity                 `json:"underway,omitempty"`
	Work       string                     `json:"work,omitempty"`  // tasks, and what is next by the clock, as far as everybody may know who reads the answer
	Commands   []string                   `json:"commands"`        // that they may give, without the slash
	API        string                     `json:"api,omitempty"`   // where programs can ask besides at the socket
	Keeps      string                     `json:"keeps"`           // for how long what happened is kept
	Permits    []Permission               `json:"permits"`         // what needs somebody to allow it
	Today      *UsageDay                  `json:"today,omitempty"` // what the models have cost so far; for who operates the house
	Rests      string                     `json:"rests,omitempty"` // why nothing is thought unasked, although it might be
}

// A RoomName is a room as people choose it.
type RoomName struct {
	ID   earshot.RoomID `json:"id"`
	Name string         `json:"name"`
	At   string         `json:"at,omitempty"` // the daemon that has it, if that is another one
}

// A Permission is what needs somebody to allow it, as programs are told.
type Permission struct {
	Thing   string `json:"thing"`
	Key     string `json:"key"` // that allows it
	Allowed bool   `json:"allowed"`
}
