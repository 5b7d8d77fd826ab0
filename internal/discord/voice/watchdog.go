package voice

import "time"

const (
	deafAfter   = 5 * time.Second  // of nothing, somebody ought to know
	rejoinAfter = 10 * time.Second // of nothing, it is worth the interruption
	rejoinEvery = time.Minute      // at most, and twice as long each time that it did not help
	rejoinMost  = 16 * time.Minute
	enough      = 50 // packets of which none could be opened, that tell of a fault
	doubts      = 3  // times that nothing came, though packets came before: some announce themselves and are mute
)

// A watchdog notices that a call is joined and deaf: somebody is said to speak and no
// packet comes, or packets come and none can be opened. It has no clock.
type watchdog struct {
	packets, opened int64     // when it last looked
	blank           int64     // as well
	refused         int64     // packets in a row of which none could be opened
	since           time.Time // the first of them
	came            time.Time // when the last did that should have been
	said            time.Time // when somebody was last said to begin to speak, and no packet has come yet
	unheard         int       // times in a row that nothing came

	rejoined time.Time
	pause    time.Duration
}

// speaking says that somebody begins to speak.
func (w *watchdog) speaking(now time.Time) {
	if w.said.IsZero() {
		w.said = now
	}
}

// quiet says that nobody does who has been announced.
func (w *watchdog) quiet() { w.said = time.Time{} }

// look takes how many packets of others have come in a call, how many of them could be
// opened, and how many are blank: those from which neither can be told, as they hold
// nothing that is encrypted. It returns why nothing can be heard, "" if nothing is
// known to be wrong, and whether to join anew.
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
			w.said = time.Time{} // whoever it was may have a microphone that is off
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
