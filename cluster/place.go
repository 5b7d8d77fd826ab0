package cluster

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Stay is for how long a room stays where it is, unless its owner drains or is away: a sense that comes
// and goes takes its room along at most that often.
const Stay = 30 * time.Second

// full is the load above which a member gets no rooms, as long as others have less.
const full = 0.9

// A Move is a room that should change hands.
type Move struct {
	Room     string
	From, To string // IDs of members; From is "" if nobody present has it
}

// Place says which rooms should change hands, in their order. It is the same for all who see the same
// members. A room goes where most of its senses are, or else to who gets on with the database, of these to who
// has the fewest rooms, and of these to who has the least load. It stays where it is if that is as good: a room without senses moves only
// from a member that has at least two more than another.
func Place(members []Heartbeat, rooms []string) []Move {
	p := placement{owner: make(map[string]string), target: make(map[string]string), count: make(map[string]int)}
	tenures := make(map[string]Tenure)
	for _, m := range slices.SortedFunc(slices.Values(members), func(a, b Heartbeat) int { return cmp.Compare(a.ID, b.ID) }) {
		for room, tenure := range m.Rooms {
			if tenure.Fence > tenures[room].Fence { // the others have lost it, and do not know yet
				p.owner[room], tenures[room] = m.ID, tenure
			}
		}
		if !m.Drains {
			p.fit = append(p.fit, m)
		}
	}
	if len(p.fit) == 0 {
		return nil
	}
	rooms = slices.Compact(slices.Sorted(slices.Values(rooms)))
	var sensed, free, loose []string
	for _, room := range rooms {
		at := slices.IndexFunc(p.fit, func(m Heartbeat) bool { return m.ID == p.owner[room] })
		most := p.best(room).Senses[room]
		settled := at >= 0 && tenures[room].Seconds < int(Stay/time.Second)
		switch {
		case at >= 0 && (settled || p.fit[at].Senses[room] == most):
			p.put(room, p.owner[room])
			if most == 0 && !settled {
				loose = append(loose, room)
			}
		case most > 0:
			sensed = append(sensed, room)
		default:
			free = append(free, room)
		}
	}
	for _, room := range append(sensed, free...) {
		p.put(room, p.best(room).ID)
	}
	p.balance(loose)
	var moves []Move
	for _, room := range rooms {
		if from, to := p.owner[room], p.target[room]; from != to {
			moves = append(moves, Move{room, from, to})
		}
	}
	return moves
}

// A placement is what [Place] works out.
type placement struct {
	fit    []Heartbeat       // the members that may have rooms
	owner  map[string]string // of each room, as it is
	target map[string]string // of each room, as it should be
	count  map[string]int    // of the rooms of each member then
}

// penalty returns what keeps rooms away from a member as long as another has less: 0 for nothing. How much it is above
// full does not matter, or one of several busy members would get all.
func (b Heartbeat) penalty() int {
	switch {
	case b.Late:
		return 2
	case b.Load > full:
		return 1
	}
	return 0
}

func (p *placement) put(room, id string) {
	if old, is := p.target[room]; is {
		p.count[old]--
	}
	p.target[room] = id
	p.count[id]++
}

// best returns the member that should have a room that nobody has.
func (p *placement) best(room string) Heartbeat {
	return slices.MinFunc(p.fit, func(a, b Heartbeat) int {
		return cmp.Or(cmp.Compare(b.Senses[room], a.Senses[room]), cmp.Compare(a.penalty(), b.penalty()),
			cmp.Compare(p.count[a.ID], p.count[b.ID]), cmp.Compare(int(a.Load*10), int(b.Load*10)), cmp.Compare(a.ID, b.ID))
	})
}

// balance moves rooms that may go anywhere from who has most to who has least, while that is two more.
func (p *placement) balance(loose []string) {
	of := make(map[string][]string)
	for _, room := range loose {
		of[p.target[room]] = append(of[p.target[room]], room)
	}
	for len(of) > 0 {
		from := slices.MaxFunc(slices.Sorted(maps.Keys(of)), func(a, b string) int { return cmp.Compare(p.count[a], p.count[b]) })
		to := p.best("")
		if to.penalty() > 0 || p.count[from] < p.count[to.ID]+2 {
			return
		}
		last := len(of[from]) - 1
		p.put(of[from][last], to.ID)
		if of[from] = of[from][:last]; last == 0 {
			delete(of, from)
		}
	}
}
