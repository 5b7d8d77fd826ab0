package webcam

import (
	"slices"

	"earshot/models/see"
)

// most is how many pictures wait for the room: some seconds of them, as long as a disk takes to
// recover. The latest picture is the one that matters.
const most = 32

// dropPicture drops the oldest observation without a detection, or else the oldest, when more than
// most wait. The latest is not dropped.
func dropPicture(all []see.Observation) (kept []see.Observation, dropped int) {
	if len(all) <= most {
		return all, 0
	}
	i := max(0, slices.IndexFunc(all[:most], func(o see.Observation) bool { return !o.Detected && !o.Cut }))
	return slices.Delete(all, i, i+1), 1
}
