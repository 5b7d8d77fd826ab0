package api

import "earshot"

// A Cluster is several daemons that share their rooms, as one of them knows it.
type Cluster struct {
	Name     string           `json:"name"`               // of the daemon that answers
	Members  []ClusterMember  `json:"members"`            // by their names
	Nobodys  []earshot.RoomID `json:"nobodys,omitempty"`  // the rooms that nobody has at present
	Problems []Obstacle       `json:"problems,omitempty"` // of the daemon that answers
}

// A ClusterMember is one of several daemons. One that is to drain is listed even while it is away.
type ClusterMember struct {
	Name    string        `json:"name"`
	Present bool          `json:"present"` // it was heard of in the last seconds
	Build   string        `json:"build,omitempty"`
	Age     int           `json:"age"`    // seconds since it began
	Load    float64       `json:"load"`   // of its machine, from 0 to 1
	Drains  bool          `json:"drains"` // it is to give its rooms away and to take none
	Rooms   []ClusterRoom `json:"rooms"`
}

// A ClusterRoom is a room that a daemon has the lease of.
type ClusterRoom struct {
	ID    earshot.RoomID `json:"id"`
	Fence int64          `json:"fence"` // grows whenever the room changes hands
	Age   int            `json:"age"`   // seconds since it came there
}

// A DrainRequest says whether a daemon gives its rooms away and takes none.
type DrainRequest struct {
	Member string `json:"member"`
	Drains bool   `json:"drains"`
}
