package participants

import (
	"strings"

	"earshot"
)

// BySatellite is the provider in the handles of satellites.
const BySatellite = "satellite"

// satellitePrefix begins the ID of whoever sits at a satellite. It is followed by the satellite's ID.
const satellitePrefix = "satellite_"

// AtSatellite returns the ID of whoever sits at the console of a satellite, which may be anybody. Such an
// ID needs no record: its name comes from itself, and nobody else is called like that.
func AtSatellite(satellite string) earshot.ParticipantID {
	return satellitePrefix + earshot.ParticipantID(satellite)
}

// Unnamed reports whether an ID is that of people who write and have not said who they are: [Generic], or
// whoever sits at a satellite. They may be answered, and nothing else.
func Unnamed(id earshot.ParticipantID) bool { return id == Generic || atSatellite(id) }

func atSatellite(id earshot.ParticipantID) bool {
	return strings.HasPrefix(string(id), satellitePrefix)
}

// person returns the participant with an ID, before mergers; the zero Participant if there is none.
func (r *Registry) person(id earshot.ParticipantID) Participant {
	if atSatellite(id) {
		name := OneLine(strings.TrimPrefix(string(id), satellitePrefix))
		return Participant{ID: id, Name: BySatellite + " " + name, Type: Human, Description: "whoever sits there", Capabilities: capabilities()}
	}
	return r.people[id]
}
