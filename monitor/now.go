package monitor

import "earshot/executive/room"

// How the room is, as the daemon tells it.
type (
	snapshot = room.Snapshot
	growing  = room.Growing
	latency  = room.Latency
	part     = room.Part
)
