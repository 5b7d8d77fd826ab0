package room

import (
	"earshot"
	"earshot/executive/scene"
)

// Going returns the time and the scene, as everybody in a may know it, and as /context lists it.
func (r *Room) Going(a earshot.Audience) []scene.Item { return r.going(a) }
