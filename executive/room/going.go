package room

import (
	"earshot"
	"earshot/executive/scene"
)

// Going returns what is going on, as everybody in a may know it: what a prompt for
// them would say.
func (r *Room) Going(a earshot.Audience) []scene.Item {
	return r.scene.For(a).Recent(r.cfg.Now(), r.cfg.Settings().ContextWindow.Duration())
}
