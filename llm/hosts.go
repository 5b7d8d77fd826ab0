package llm

import (
	"cmp"
	"encoding/json"
	"errors"
	"hash/maphash"
	"slices"
	"time"
)

// A host that failed rests for minRest, in which a server is restarted, and twice as long each further
// time, up to maxRest: so one that is gone costs at most a request in five minutes.
const minRest, maxRest = 5 * time.Second, 5 * time.Minute

// minMeasured is how many bytes of a prompt must be new to a host for its reading to be measured. With
// fewer, other things take longer.
const minMeasured = 1 << 10

// A Host is one of several servers that have the model of an engine. It belongs to one [Scheduler],
// whose lock guards it.
//
// A request starts on the host that is expected to give the first token soonest; see [Host.delay]. It
// waits for a busy host while another is free only for as long as that saves time, and not for a less
// urgent request. After a rest, a host is tried by requests that nobody waits for, and by a reply to a
// person only if no other host has a slot for it.
type Host struct {
	Engine Engine
	Called string // its name for people
	Slots  int    // how many requests it handles at a time; zero means one

	running  []*job
	chosen   int           // how many requests wait for it although another host is free
	held     time.Duration // how long a reply has its slot, on average
	reading  time.Duration // to the first token, per byte of a prompt that is new to it, on average
	failures int           // in a row
	rests    time.Time     // until when
	prompts  [][]prefix    // that are in its cache: the last one of each slot, the oldest first
}

// A placement is what a job needs of an engine with several hosts.
type placement struct {
	prompt  []prefix
	tried   []*Host // on which it failed
	entered time.Time
	again   time.Time // until when it waits for a busy host at most; zero if none is free
	host    *Host     // on which it runs
	unread  int       // bytes of its prompt that were new to the host
	began   time.Time
	first   time.Time // when the first token came
}

// A prefix is the beginning of a prompt, up to the end of one of its messages.
type prefix struct {
	hash  uint64
	bytes int // of text
}

var hashSeed = maphash.MakeSeed()

// prefixes returns all beginnings of a prompt, the shortest first.
func prefixes(req *Request) (all []prefix) {
	var h maphash.Hash
	h.SetSeed(hashSeed)
	encoder, n := json.NewEncoder(&h), 0
	_, _ = h.WriteString(req.Model)
	_ = encoder.Encode(req.Tools) // what cannot be encoded only makes prompts look alike
	for _, m := range req.Messages {
		_ = encoder.Encode(m)
		n += len(m.Text)
		all = append(all, prefix{h.Sum64(), n})
	}
	return all
}

// common returns how many bytes two prompts have in common at the beginning.
func common(a, b []prefix) (bytes int) {
	for i := 0; i < min(len(a), len(b)) && a[i] == b[i]; i++ {
		bytes = a[i].bytes
	}
	return bytes
}

// unreadBytes returns how many bytes of a prompt are new to h.
func (h *Host) unreadBytes(prompt []prefix) int {
	if len(prompt) == 0 {
		return 0
	}
	known := 0
	for _, p := range h.prompts {
		known = max(known, common(p, prompt))
	}
	return prompt[len(prompt)-1].bytes - known
}

func (h *Host) free() bool { return len(h.running) < max(h.Slots, 1) }

// yields reports whether h runs a request that may be parked for j.
func (h *Host) yields(j *job) bool {
	return slices.ContainsFunc(h.running, func(r *job) bool { return r.parkable(j) })
}

// delay returns how long j is expected to take on h to its first token. It waits for the share of the
// slots that is taken, times how long they are held, and reads what is new of its prompt. A host without
// measurements is as fast as the fastest of hosts.
func (h *Host) delay(j *job, hosts []*Host) (wait, read time.Duration) {
	held, reading := h.held, h.reading
	for _, other := range hosts {
		if h.held == 0 && other.held > 0 && (held == 0 || other.held < held) {
			held = other.held
		}
		if h.reading == 0 && other.reading > 0 && (reading == 0 || other.reading < reading) {
			reading = other.reading
		}
	}
	return held * time.Duration(len(h.running)+h.chosen) / time.Duration(max(h.Slots, 1)), reading * time.Duration(h.unreadBytes(j.prompt))
}

// eligible returns the hosts that may serve j at now: those that rest only if there are no others.
func eligible(hosts []*Host, j *job, now time.Time) []*Host {
	var well, rested, resting []*Host
	for _, h := range hosts {
		switch {
		case slices.Contains(j.tried, h):
		case h.failures == 0:
			well = append(well, h)
		case now.Before(h.rests):
			resting = append(resting, h)
		default:
			rested = append(rested, h)
		}
	}
	switch all := slices.Concat(well, rested); {
	case j.priority >= ReplyToPerson && slices.ContainsFunc(well, func(h *Host) bool { return h.free() || h.yields(j) }):
		return well
	case j.priority <= Reasoning && slices.ContainsFunc(rested, (*Host).free):
		return rested
	case len(all) > 0:
		return all
	}
	return resting
}

// place returns the host on which j starts at now, or nil if it waits; then again is when it stops
// waiting for a busy host although another is free, if it does.
func place(hosts []*Host, j *job, now time.Time) (host *Host, again time.Time) {
	able := eligible(hosts, j, now)
	slices.SortStableFunc(able, func(a, b *Host) int {
		waitA, readA := a.delay(j, hosts)
		waitB, readB := b.delay(j, hosts)
		return cmp.Or(cmp.Compare(waitA+readA, waitB+readB), a.unreadBytes(j.prompt)-b.unreadBytes(j.prompt),
			cmp.Compare(min(a.reading, 1), min(b.reading, 1)), a.rests.Compare(b.rests)) // those without measurements first
	})
	i := slices.IndexFunc(able, (*Host).free)
	if i < 0 {
		return nil, time.Time{}
	}
	_, reads := able[i].delay(j, hosts)
	for _, busy := range able {
		wait, read := busy.delay(j, hosts)
		again = j.entered.Add(reads - read)
		if !busy.free() && !busy.yields(j) && wait+read < reads && now.Before(again) {
			busy.chosen++
			return nil, again
		}
	}
	return able[i], time.Time{}
}

// start gives j a slot of h. The server's cache then has its prompt, in place of one that begins alike or
// of the oldest.
func (h *Host) start(j *job, now time.Time) {
	h.running = append(h.running, j)
	j.host, j.began, j.unread = h, now, h.unreadBytes(j.prompt)
	if len(j.prompt) == 0 {
		return
	}
	i := slices.IndexFunc(h.prompts, func(p []prefix) bool { return 2*common(p, j.prompt) >= p[len(p)-1].bytes })
	if i >= 0 || len(h.prompts) == max(h.Slots, 1) {
		h.prompts = slices.Delete(h.prompts, max(i, 0), max(i, 0)+1)
	}
	h.prompts = append(h.prompts, j.prompt)
}

// finish takes the slot of j back at now, and learns from how the request ended. It reports whether h rests
// from now on. It may be called again.
func (h *Host) finish(j *job, err error, now time.Time) (resting bool) {
	i := slices.Index(h.running, j)
	if i < 0 {
		return false
	}
	h.running = slices.Delete(h.running, i, i+1)
	switch {
	case ofHost(err):
		if !j.began.Before(h.rests) { // or it is the same failure, of a request that ran beside another
			h.rests = now.Add(min(minRest<<min(h.failures, 10), maxRest))
			h.failures++
		}
		h.prompts, h.held, h.reading = nil, 0, 0
		return true
	case err == nil || !j.first.IsZero():
		h.failures, h.rests = 0, time.Time{}
		if j.first.IsZero() {
			return false // it made vectors, which says nothing about replies
		}
		h.held = average(h.held, now.Sub(j.began))
		if j.unread >= minMeasured {
			h.reading = average(h.reading, j.first.Sub(j.began)/time.Duration(j.unread))
		}
	}
	return false
}

// average returns a moving average with its next sample. It falls at once and rises slowly, so that the
// loading of a model counts only once.
func average(was, sample time.Duration) time.Duration {
	if was == 0 || sample < was {
		return sample
	}
	return was + (sample-was)/4
}

// ofHost reports whether err is a failure that another host of the same model may not have. A call that
// cannot be understood is the model's.
func ofHost(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return err == errOverdue || ok && e.Fault != Unsupported && e.Fault != TooLong && e.Fault != Template && !errors.Is(err, ErrCall)
}
