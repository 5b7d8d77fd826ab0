package room

import (
	"slices"
	"time"

	"earshot"
	"earshot/executive/addressing"
	"earshot/executive/command"
	"earshot/executive/prompt"
	"earshot/executive/scene"
	"earshot/executive/slash"
)

// newCommands returns the commands of this room.
func (r *Room) newCommands() *slash.Commands {
	return slash.New(slash.Host{
		Room: r.cfg.ID, People: r.cfg.People, Addressing: r.resolver.Addressing, Scene: r.scene, Listener: r.speech.Listener,
		Presence: r.presence, Reminders: r.unasked.Reminders, Voices: r.cfg.Voices,
		Settings: r.cfg.Settings, Agents: r.agents, Now: r.cfg.Now,
		State: r.State, Going: r.Going, Mode: r.mode.Current, Wants: r.mode.Wanted,
		Enters: r.cfg.Enters, Order: r.cfg.Order, Decided: r.cfg.Decided,
		Keep: r.entries.Keep, Amend: r.amend, SetMode: r.SetMode, SetReminder: r.reminders().Set, CancelReminder: r.reminders().Cancel,
		Reattribute: r.speech.Reattribute, Mention: r.Mention, Become: r.become,
		Confirm: r.confirmCommand, Think: r.mind.Command, Resync: r.contextResync, Others: r.cfg.Commands,
	})
}

// Announce shows everybody in the room what happened to an agent. It takes effect at once: see
// [Room.Reseat].
func (r *Room) Announce(e earshot.Event) {
	e.Room = r.cfg.ID
	r.Reseat()
	r.show(e)
}

// Commands returns the commands of this room.
func (r *Room) Commands() command.Table { return slices.Clone(r.slash.Table()) }

// Going returns the time and the scene, as everybody in a may know it.
func (r *Room) Going(a earshot.Audience) []scene.Item {
	now := r.cfg.Now()
	r.tellPresence(now)
	return append([]scene.Item{prompt.TimeOf(now)}, r.sceneFor(a, now)...)
}

// sceneFor returns the scene as everybody in a may know it now.
func (r *Room) sceneFor(a earshot.Audience, now time.Time) []scene.Item {
	return r.scene.For(a).Shown(now, r.cfg.Settings().ContextWindow.Duration(), addressing.IDs(r.agents()))
}
