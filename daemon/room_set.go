package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/daemon/access"
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

var (
	errEnding       = errors.New("no more rooms are opened: earshot is stopping")
	errTooManyRooms = errors.New("too many rooms are open, and all are in use")
)

// A roomRun is the run of a room that may end before the daemon does.
type roomRun struct {
	number  int           // that no other run has
	opened  bool          // for somebody, and may be closed for others
	touched atomic.Int64  // when it was last used, in nanoseconds
	end     func()        // ends the room, if it runs
	shut    chan struct{} // closed when the room has ended
}

// touch records that the room is used.
func (c roomEntry) touch() {
	if c.roomRun != nil {
		c.roomRun.touched.Store(time.Now().UnixNano())
	}
}

// shut returns a channel that is closed when the room has ended, or nil if it stays.
func (c roomEntry) shut() <-chan struct{} {
	if c.roomRun == nil {
		return nil
	}
	return c.roomRun.shut
}

// A roomSet holds the current rooms. It may be used from many goroutines.
type roomSet struct {
	opening sync.Mutex // held while a room is opened or closed
	crowded bool       // the last room could not be opened; guarded by opening

	mu   sync.RWMutex
	all  rooms // never changed, only replaced
	runs int   // that there were
	run  func(roomEntry)
	over bool // no more rooms are opened
}

// now returns all current rooms, the desk first.
func (p *roomSet) now() rooms {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.all
}

// find returns the room with an ID; the desk if it is empty.
func (p *roomSet) find(id earshot.RoomID) (roomEntry, bool) {
	c, ok := p.now().find(id)
	if ok {
		c.touch()
	}
	return c, ok
}

// list describes the rooms, the desk first.
func (p *roomSet) list() (all []executive.Room) {
	for _, c := range p.now() {
		all = append(all, c.is)
	}
	return all
}

// set replaces the rooms.
func (p *roomSet) set(all rooms) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = all
}

// start runs all rooms in g until ctx ends, and those that are added later.
func (p *roomSet) start(ctx context.Context, g *errgroup.Group) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.run = func(c roomEntry) {
		ctx, end := context.WithCancel(ctx)
		if c.roomRun != nil {
			c.roomRun.end = end
		}
		g.Go(func() error {
			defer end()
			if c.roomRun != nil {
				defer close(c.roomRun.shut)
			}
			return c.Run(ctx)
		})
	}
	for _, c := range p.all {
		p.run(c)
	}
}

// close prevents further rooms from being opened, and tells all that the program ends.
func (p *roomSet) close() {
	p.mu.Lock()
	p.over, p.run = true, nil
	all := p.all
	p.mu.Unlock()
	for _, c := range all {
		c.Leave()
	}
}

// lastWords is how long to wait for outlets that were cut when the program ended: a room gives
// them half a second to report how much was heard.
const lastWords = 700 * time.Millisecond

// awaitSilence waits until nothing is said in any room after leave.
func (p *roomSet) awaitSilence(ctx context.Context) {
	await(ctx, lastWords, func() bool {
		return !slices.ContainsFunc(p.now(), func(c roomEntry) bool { return c.Speaking() })
	})
}

// add adds a room, and runs it if the others run.
func (p *roomSet) add(c roomEntry) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return errEnding
	}
	if p.runs++; c.roomRun != nil {
		c.number = p.runs
	}
	if p.all = append(slices.Clip(p.all), c); c.is.ID == earshot.Desk {
		p.all = append(rooms{c}, p.all[:len(p.all)-1]...)
	}
	if p.run != nil {
		p.run(c)
	}
	return nil
}

// update gives a room its current configuration.
func (p *roomSet) update(is executive.Room) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = slices.Clone(p.all)
	for i := range p.all {
		if p.all[i].is.ID == is.ID {
			p.all[i].is = is
		}
	}
}

// remove removes a room, and returns when it has ended.
func (p *roomSet) remove(c roomEntry) {
	p.mu.Lock()
	p.all = slices.DeleteFunc(slices.Clone(p.all), func(other roomEntry) bool { return other.is.ID == c.is.ID })
	runs := c.roomRun.end != nil
	p.mu.Unlock()
	if !runs {
		close(c.roomRun.shut)
		return
	}
	c.Leave()
	c.roomRun.end()
	<-c.roomRun.shut
}

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
	if c, open := d.rooms.find(is.ID); open && (name == "" || c.is.Name == name) {
		return c, nil
	}
	d.rooms.opening.Lock()
	defer d.rooms.opening.Unlock()
	if c, open := d.rooms.find(is.ID); open {
		if name != "" {
			c.is.Name = name
			d.rooms.update(c.is)
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
	c.roomRun = &roomRun{opened: true, shut: make(chan struct{})}
	c.touch()
	return c, d.rooms.add(c)
}

// closeIdleRoom closes an idle room if too many are open for another one.
func (d *Daemon) closeIdleRoom(ctx context.Context) error {
	var opened rooms
	for _, c := range d.rooms.now() {
		if c.roomRun != nil && c.opened {
			opened = append(opened, c)
		}
	}
	if len(opened) < mostOpened {
		d.reportSpace()
		return nil
	}
	slices.SortFunc(opened, func(a, b roomEntry) int { return int(a.roomRun.touched.Load() - b.roomRun.touched.Load()) })
	for _, c := range opened {
		if len(d.people.Here(c.is.ID)) > 0 || c.Busy() {
			continue
		}
		waits, err := d.agenda(ctx, c.is.ID)
		if err != nil || d.tasks.Waits(ctx, c.is.ID) || !waits.Next(func(r remind.Reminder) time.Time { return r.Due }).IsZero() {
			continue
		}
		d.rooms.remove(c)
		d.reportSpace()
		return nil
	}
	if !d.rooms.crowded {
		d.rooms.crowded = true
		d.report(earshot.Notice{
			Key: roomLimitKey, Text: fmt.Sprintf("%d channels are open and all are in use, so no further channel is opened", mostOpened),
			Cure: "list fewer in providers.discord.channels",
		})
	}
	return errTooManyRooms
}

// roomLimitKey is the key of the notice that too many rooms are open.
const roomLimitKey = "channels"

// reportSpace says that rooms can be opened again, if they could not.
func (d *Daemon) reportSpace() {
	if d.rooms.crowded {
		d.rooms.crowded = false
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
