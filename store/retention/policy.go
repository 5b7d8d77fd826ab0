// Package retention says how long events are kept, and erases what was overheard: what was said
// aloud and meant for no agent. What was made from that is erased too, unless it was made for
// somebody.
package retention

import (
	"errors"
	"fmt"
	"strings"

	"earshot"
	"earshot/internal/field"
)

// A Policy is how many days events are kept, by kind; 0 means for ever. What was made from an
// event is erased with the event, even if its own kind is kept for longer. Events that say who
// exists and what a room is like are always kept.
type Policy struct {
	// Overheard is how many hours overheard speech is kept, which is what was said aloud and meant
	// for no agent; see [Overheard].
	Overheard int `yaml:"overheard_hours"`

	Message   int `yaml:"message"`
	Utterance int `yaml:"utterance"`
	Reply     int `yaml:"reply"`
	Decision  int `yaml:"decision"`
	Use       int `yaml:"use"`
	Thought   int `yaml:"thought"`
	Finding   int `yaml:"finding"`
	Memo      int `yaml:"memo"`
	Edit      int `yaml:"edit"`
	Reminder  int `yaml:"reminder"`
	Sight     int `yaml:"sight"`
	Presence  int `yaml:"presence"`
	Notice    int `yaml:"notice"`
	Fact      int `yaml:"fact"`
	Summary   int `yaml:"summary"`
	Task      int `yaml:"task"`
	Step      int `yaml:"step"`
	Schedule  int `yaml:"schedule"`
}

// A Period is how many days events of a kind are kept.
type Period struct {
	Kind earshot.Kind
	Days int // 0 means for ever
}

// Periods returns how many days each kind is kept, in the order of the file.
func (p Policy) Periods() []Period {
	return []Period{
		{earshot.KindMessage, p.Message}, {earshot.KindUtterance, p.Utterance}, {earshot.KindReply, p.Reply}, {earshot.KindDecision, p.Decision},
		{earshot.KindUse, p.Use}, {earshot.KindThought, p.Thought}, {earshot.KindFinding, p.Finding}, {earshot.KindMemo, p.Memo},
		{earshot.KindEdit, p.Edit}, {earshot.KindReminder, p.Reminder}, {earshot.KindSight, p.Sight}, {earshot.KindPresence, p.Presence}, {earshot.KindNotice, p.Notice},
		{earshot.KindFact, p.Fact}, {earshot.KindSummary, p.Summary},
		{earshot.KindTask, p.Task}, {earshot.KindStep, p.Step}, {earshot.KindSchedule, p.Schedule},
	}
}

// maxDays is a century.
const maxDays = 36_500

// Validate reports every fault in p.
func (p Policy) Validate() error {
	var faults []error
	if p.Overheard < 0 || p.Overheard > 24*maxDays {
		faults = append(faults, field.Errorf("overheard_hours", "is %d; must be a number of hours from 1 to %d, or 0 to keep it for ever", p.Overheard, 24*maxDays))
	}
	for _, k := range p.Periods() {
		if k.Days < 0 || k.Days > maxDays {
			faults = append(faults, field.Errorf(string(k.Kind), "is %d; must be a number of days from 1 to %d, or 0 to keep it for ever", k.Days, maxDays))
		}
	}
	return errors.Join(faults...)
}

// Always reports whether everything is kept for ever.
func (p Policy) Always() bool { return p == Policy{} }

// String says in words what is kept for how long.
func (p Policy) String() string {
	if p.Always() {
		return "keeps everything until it is deleted"
	}
	var all []string
	switch {
	case p.Overheard == 1:
		all = append(all, "speech not meant for an agent for 1 hour")
	case p.Overheard > 1:
		all = append(all, fmt.Sprintf("speech not meant for an agent for %d hours", p.Overheard))
	}
	for _, k := range p.Periods() {
		switch {
		case k.Days == 1:
			all = append(all, string(k.Kind)+" for 1 day")
		case k.Days > 1:
			all = append(all, fmt.Sprintf("%s for %d days", k.Kind, k.Days))
		}
	}
	return "keeps " + strings.Join(all, ", ") + ", and everything else until it is deleted"
}
