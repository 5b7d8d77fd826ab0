package dave

import "slices"

// A transition is an announced change of version or epoch, which everybody makes at the same
// moment.
type transition struct {
	id      uint16
	version uint16
	epoch   *epoch // nil while its keys are unknown
	told    bool   // we answered that we are ready
}

// ready answers that we are ready for it, once.
func (t *transition) ready() []Answer {
	if t.told {
		return nil
	}
	t.told = true
	return []Answer{{Op: OpReadyFor, Transition: t.id}}
}

// maxTransitions bounds the announced transitions that are not executed. A gateway waits two
// seconds for members who are not ready.
const maxTransitions = 16

// transitions are the announced transitions that are not executed, the oldest first.
type transitions []*transition

// prepare handles op 21: a transition to a version. Its keys are those announced with it before,
// or e if there are none.
func (ts *transitions) prepare(id, version uint16, e *epoch) *transition {
	t := ts.get(id)
	t.version = version
	if t.epoch == nil || !spoken(version) {
		t.epoch = e
	}
	return t
}

// lead handles the keys of op 29 or 30. They are for an encrypted call: only op 21 ever leads to
// an unencrypted one.
func (ts *transitions) lead(id uint16, e *epoch) *transition {
	t := ts.get(id)
	t.version, t.epoch, t.told = Version, e, false
	return t
}

// get returns the transition with a number, and creates it if necessary.
func (ts *transitions) get(id uint16) *transition {
	if i := ts.index(id); i >= 0 {
		return (*ts)[i]
	}
	if len(*ts) == maxTransitions {
		*ts = slices.Delete(*ts, 0, 1)
	}
	t := &transition{id: id}
	*ts = append(*ts, t)
	return t
}

func (ts transitions) index(id uint16) int {
	return slices.IndexFunc(ts, func(t *transition) bool { return t.id == id })
}

// execute removes a transition, and all that were announced before it.
func (ts *transitions) execute(id uint16) (transition, bool) {
	i := ts.index(id)
	if i < 0 {
		return transition{}, false
	}
	t := *(*ts)[i]
	*ts = slices.Delete(*ts, 0, i+1)
	return t, true
}

// epochs returns the keys of the announced transitions.
func (ts transitions) epochs() []*epoch {
	var list []*epoch
	for _, t := range ts {
		if t.epoch != nil {
			list = append(list, t.epoch)
		}
	}
	return list
}
