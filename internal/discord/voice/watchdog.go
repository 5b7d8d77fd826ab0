package voice

import "time"

const (
	deafAfter   = 5 * time.Second  // of nothing, after which somebody should be told
	rejoinAfter = 10 * time.Second // of nothing, after which rejoining is worth the interruption
	rejoinEvery = time.Minute      // at most, and twice as long each time that it did not help
	rejoinMost  = 16 * time.Minute
	enough      = 50 // packets that could not be decrypted, which show a fault
	doubts      = 3  // times that nothing came, though packets came before: some clients announce speech and are muted
)

// A watchdog notices a joined call in which nothing can be heard: somebody is said to speak and no
// packet comes, or packets come and none can be decrypted. It has no clock.
type watchdog struct {
	packets, opened int64     // at the last check
	blank           int64     // as well
	refused         int64     // packets in a row that could not be decrypted
	since           time.Time // the first of them
	came            time.Time // when the last good one came
	said            time.Time // when somebody was last said to begin to speak, without a packet so far
	unheard         int       // times in a row that nothing came

	rejoined time.Time
	pause    time.Duration
}

// speaking records that somebody begins to speak.
func (w *watchdog) speaking(now time.Time) {
	if w.said.IsZero() {
		w.said = now
	}
}

// quiet records that no announced speaker speaks any more.
func (w *watchdog) quiet() { w.said = time.Time{} }

// look handles the packet counts of a call: how many have come, how many of them could be
// decrypted, and how many are blank, with nothing encrypted in them, so that they prove neither.
// It returns why nothing can be heard, "" if no fault is known, and whether to rejoin.
func (w *watchdog) look(now time.Time, packets, opened, blank int64) (deaf string, rejoin bool) {
	if packets < w.packets || blank < w.blank { // another connection
		w.packets, w.opened, w.blank = 0, 0, 0
	}
	if packets > w.packets {
		w.said, w.unheard = time.Time{}, 0
	}
	if n := packets - w.packets - (blank - w.blank); n > 0 {
		if w.refused == 0 {
			w.since = now
		}
		w.refused, w.came = w.refused+n, now
	}
	if opened > w.opened {
		w.refused, w.pause = 0, 0
	}
	w.packets, w.opened, w.blank = packets, opened, blank

	var wrong time.Duration
	switch {
	case w.refused >= enough && now.Sub(w.came) < deafAfter:
		deaf, wrong = "sound comes and cannot be decrypted", w.came.Sub(w.since)
	case !w.said.IsZero():
		deaf, wrong = "somebody speaks and no sound comes; a firewall may keep UDP away", now.Sub(w.said)
	}
	if wrong < deafAfter {
		return "", false
	}
	if wrong < rejoinAfter {
		return deaf, false
	}
	if w.refused < enough && packets > 0 {
		if w.unheard++; w.unheard < doubts {
			w.said = time.Time{} // that speaker may have a microphone that is off
			return "", false
		}
	}
	if !w.rejoined.IsZero() && now.Sub(w.rejoined) < w.pause {
		return deaf, false
	}
	w.rejoined, w.pause = now, min(rejoinMost, max(rejoinEvery, 2*w.pause))
	w.refused, w.said, w.unheard = 0, time.Time{}, 0
	return deaf, true
}
