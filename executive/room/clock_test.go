package room_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
)

// TestTheClockIsSet: the clock is set in the middle of a reply, by a second or an hour forwards or
// back, or by the eight hours of a suspend. No duration comes out negative, every question is
// answered, and each reminder is said once.
func TestTheClockIsSet(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -time.Hour, 8 * time.Hour, time.Second, -time.Second} {
		t.Run(by.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := gather(t, newHouse(), "bob")
				const many = 12
				for i := range many {
					c.must(t, "ann", fmt.Sprintf("/remind %dm thing %d", 30*(i+1), i), 0)
				}
				c.must(t, "ann", "Earshot, count", 25*time.Millisecond)
				c.set.Store(int64(by))
				time.Sleep(time.Second)
				c.must(t, "ann", "Earshot, count again", time.Second)
				c.set.Store(0) // the clock is put right
				time.Sleep(time.Second)
				c.must(t, "ann", "Earshot, count once more", time.Second)
				c.set.Store(int64(by))
				c.must(t, "ann", "Earshot, and again", 20*time.Minute)
				fired := strings.Count(strings.Join(c.fates(), "|"), "fired")
				if most := max(0, int((by+21*time.Minute)/(30*time.Minute))); fired > most+1 {
					t.Errorf("%d reminders were said, of %d that are due", fired, most)
				}
				time.Sleep(16 * time.Hour)
				for _, l := range c.Snapshot(earshot.Audience{Members: []earshot.ParticipantID{"owner"}}).Turns {
					for v, i := reflect.ValueOf(l), 0; i < v.NumField(); i++ {
						if d, ok := v.Field(i).Interface().(time.Duration); ok && d < 0 {
							t.Errorf("%s of a turn took %v", v.Type().Field(i).Name, d)
						}
					}
				}
				c.stop()
				said := make(map[string]int)
				for _, fate := range c.fates() {
					if what, ok := strings.CutPrefix(fate, "fired "); ok {
						said[what]++
					}
				}
				for i := range many {
					if what := fmt.Sprintf("thing %d", i); said[what] != 1 {
						t.Errorf("of %s was reminded %d times", what, said[what])
					}
				}
				asked, answered := 0, 0
				for _, e := range c.journal.Events() {
					switch b := e.Body.(type) {
					case earshot.Message:
						asked++
					case earshot.Reply:
						if b.Took < 0 {
							t.Errorf("a reply took %v", b.Took)
						}
						if b.About != "" && b.Outcome != earshot.Suppressed {
							answered++
						}
					}
				}
				if asked != 4 || answered != 4 {
					t.Errorf("%d of %d questions were answered", answered, asked)
				}
			})
		})
	}
}
