package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"earshot"
	"earshot/daemon/access"
	"earshot/daemon/roomset"
	"earshot/executive"
	"earshot/executive/remind"
	"earshot/participants"
)

const (
	// mostOpened is how many rooms may be open besides those of the configuration: each keeps a
	// dialogue in memory.
	mostOpened = 64

	// longestTitle is the longest name of such a room, in characters.
	longestTitle = 40
)

var errTooManyRooms = errors.New("too many rooms are open, and all are in use")

// openRoom returns the room of a Discord channel or of direct messages, by its ID; the name is
// shown to people. A closed room is opened, and continues from its history in the journal. If too
// many are open, it closes the least recently used one that is empty and has nothing to do. It may
// be called from many goroutines, and for each event there.
//
// Outlets belong to the room that was open when they entered: when its channel shut is closed,
// they have nothing to say any more.
func (d *Daemon) openRoom(ctx context.Context, is executive.Room) (roomEntry, error) {
	name := channelName(is.Name)
	is, ok := d.gate.Channel(is.ID)
	if !ok {
		return roomEntry{}, access.NoRoom(is.ID, nil)
	}
	if name != "" {
		is.Name = name
	}
	if c, open := d.rooms.Find(is.ID); open && (name == "" || c.Is.Name == name) {
		return c, nil
	}
	d.opening.Lock()
	defer d.opening.Unlock()
	if c, open := d.rooms.Find(is.ID); open {
		if name != "" {
			c.Is.Name = name
			d.rooms.Update(c.Is)
		}
		return c, nil
	}
	if err := d.closeIdleRoom(ctx); err != nil {
		return roomEntry{}, fmt.Errorf("opening the room of %s: %w", is.Name, err)
	}
	if d.cluster != nil {
		return d.cluster.open(ctx, is)
	}
	c, err := d.newRoomEntry(ctx, is, d.store)
	if err != nil {
		return roomEntry{}, err
	}
	c.Run = roomset.NewRun(true)
	return c, d.rooms.Add(c)
}

// closeIdleRoom closes an idle room if too many are open for another one.
func (d *Daemon) closeIdleRoom(ctx context.Context) error {
	var opened roomList
	for _, c := range d.rooms.Now() {
		if c.Run != nil && c.Opened {
			opened = append(opened, c)
		}
	}
	if len(opened) < mostOpened {
		d.reportSpace()
		return nil
	}
	slices.SortFunc(opened, func(a, b roomEntry) int { return cmp.Compare(a.Touched(), b.Touched()) })
	waits, err := d.waitingRooms(ctx)
	if err != nil {
		return err
	}
	for _, c := range opened {
		if len(d.people.Here(c.Is.ID)) > 0 || c.Room.Busy() || slices.Contains(waits, c.Is.ID) {
			continue
		}
		d.rooms.Remove(c)
		d.reportSpace()
		return nil
	}
	if !d.crowded {
		d.crowded = true
		d.report(earshot.Notice{
			Key: roomLimitKey, Text: fmt.Sprintf("%d channels are open and all are in use, so no further channel is opened", mostOpened),
			Cure: "list fewer in providers.discord.channels",
		})
	}
	return errTooManyRooms
}

// waitingRooms returns the rooms that must be open, since something is to be said or done there later: a reminder, a
// task, or what is done by the clock.
func (d *Daemon) waitingRooms(ctx context.Context) (rooms []earshot.RoomID, err error) {
	err = d.store.Look(ctx, func(v earshot.View) (err error) {
		rooms, err = remind.Rooms(ctx, v)
		return err
	})
	tasks, of := d.tasks.Rooms(ctx)
	schedules, by := d.schedules.Rooms(ctx)
	rooms = slices.Concat(rooms, tasks, schedules)
	slices.Sort(rooms)
	return slices.Compact(rooms), errors.Join(err, of, by)
}

// roomLimitKey is the key of the notice that too many rooms are open.
const roomLimitKey = "channels"

// reportSpace says that rooms can be opened again, if they could not.
func (d *Daemon) reportSpace() {
	if d.crowded {
		d.crowded = false
		d.report(earshot.Notice{Key: roomLimitKey, Text: "channels are being opened again", Over: true})
	}
}

// channelName returns the name of a channel, fit for one line.
func channelName(name string) string {
	shown := []rune(participants.OneLine(strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return ' '
		}
		return c
	}, name)))
	return strings.TrimSpace(string(shown[:min(len(shown), longestTitle)]))
}
