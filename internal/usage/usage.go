// Package usage counts what language models cost, a local day at a time: how often one was
// asked and what for, how many tokens that took, and how long. It knows no words and no
// people. A [Ledger] is a step function: the time is passed in, and nothing waits.
package usage

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot/api"
)

const (
	// mostDays is how many days are kept: a quarter, by which one sees what has changed.
	mostDays = 92

	// mostLines is how many lines a day has at most: a house has some agents and engines.
	// What comes beyond it counts under no agent and no engine.
	mostLines = 64

	// mostName is the longest name of an agent or an engine, in bytes.
	mostName = 128

	// mostCount bounds what is counted, so that no file makes a sum overflow.
	mostCount = 1 << 50

	// mostRecent is how many of the things that were made last are known, so that one that
	// takes several requests counts once.
	mostRecent = 256
)

// The kinds.
const (
	Reply   api.UsageKind = "reply"   // with all the tools that are used in it
	Thought api.UsageKind = "thought" // and what is found by it
	Other   api.UsageKind = "other"   // such as the description of a picture
)

// kinds are all there are.
var kinds = []api.UsageKind{Reply, Thought, Other}

// add adds b to a.
func add(a *api.UsageAmount, b api.UsageAmount) {
	sum := func(to *int64, n int64) { *to = min(*to+n, mostCount) }
	sum(&a.Made, b.Made)
	sum(&a.Requests, b.Requests)
	sum(&a.PromptTokens, b.PromptTokens)
	sum(&a.ReplyTokens, b.ReplyTokens)
	sum(&a.Estimated, b.Estimated)
	a.Seconds = min(a.Seconds+b.Seconds, mostCount)
}

// fits reports whether a can be an amount.
func fits(a api.UsageAmount) bool {
	for _, n := range []int64{a.Made, a.Requests, a.PromptTokens, a.ReplyTokens, a.Estimated} {
		if n < 0 || n > mostCount {
			return false
		}
	}
	return a.Seconds >= 0 && a.Seconds <= mostCount && !math.IsNaN(a.Seconds)
}

// Sum returns what was spent for the uses that fit; nil fits all.
func Sum(d api.UsageDay, fits func(api.UsagePurpose) bool) (sum api.UsageAmount) {
	for _, l := range d.Lines {
		if fits == nil || fits(l.UsagePurpose) {
			add(&sum, l.UsageAmount)
		}
	}
	return sum
}

// Unasked fits what was thought although nobody had asked for it.
// Merge returns a day with what was spent on it elsewhere, too; another day than that is left out.
func Merge(d api.UsageDay, elsewhere ...api.UsageDay) api.UsageDay {
	d.Lines = slices.Clone(d.Lines)
	for _, other := range elsewhere {
		if other.Date != d.Date {
			continue
		}
		for _, line := range other.Lines {
			i := slices.IndexFunc(d.Lines, func(l api.UsageLine) bool { return l.UsagePurpose == line.UsagePurpose })
			if i < 0 {
				d.Lines = append(d.Lines, line)
			} else {
				add(&d.Lines[i].UsageAmount, line.UsageAmount)
			}
		}
	}
	return d
}

func Unasked(u api.UsagePurpose) bool { return u.Kind == Thought && !u.Asked }

// A Ledger is what was spent, the last days. The zero value is one of nothing. Its methods may
// be called from many goroutines, and none of them waits.
type Ledger struct {
	mu      sync.Mutex
	days    []api.UsageDay // by date, the newest last
	recent  []string
	changed bool // since it was written last
}

// Asked counts a request that ended at now. id names what the request was for; the first request
// for it counts as made. An empty id makes nothing.
func (l *Ledger) Asked(now time.Time, u api.UsagePurpose, id string, a api.UsageAmount) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.Requests, a.Made = 1, 0; id != "" && l.isNew(string(u.Kind)+" "+id) {
		a.Made = 1
	}
	l.add(now, u, a)
}

// Made counts something that was made, apart from the requests that it took: with an engine
// that was asked for the same, if there is one.
func (l *Ledger) Made(now time.Time, kind api.UsageKind, asked bool, agent string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := api.UsagePurpose{Kind: kind, Asked: asked, Agent: agent}
	for _, line := range l.day(dateOf(now)).Lines {
		if line.Kind == kind && line.Asked == asked && line.Agent == agent {
			u = line.UsagePurpose
		}
	}
	l.add(now, u, api.UsageAmount{Made: 1})
}

// isNew reports whether id has not been counted of late.
func (l *Ledger) isNew(id string) bool {
	if slices.Contains(l.recent, id) {
		return false
	}
	l.recent = append(l.recent, id)
	l.recent = slices.Delete(l.recent, 0, max(0, len(l.recent)-mostRecent))
	return true
}

// add adds to the line of a use, on the day of now. An amount that cannot be is a mistake of
// somebody else's, and counts for nothing.
func (l *Ledger) add(now time.Time, u api.UsagePurpose, a api.UsageAmount) {
	if !fits(a) {
		return
	}
	l.changed = true
	d := l.day(dateOf(now))
	u.Agent, u.Engine = name(u.Agent), name(u.Engine)
	is := func(line api.UsageLine) bool { return line.UsagePurpose == u }
	i := slices.IndexFunc(d.Lines, is)
	if i < 0 && len(d.Lines) >= mostLines-2*len(kinds) { // so many are left for these
		u.Agent, u.Engine = "", ""
		i = slices.IndexFunc(d.Lines, is)
	}
	if i < 0 {
		i = len(d.Lines)
		d.Lines = append(d.Lines, api.UsageLine{UsagePurpose: u})
	}
	add(&d.Lines[i].UsageAmount, a)
}

// name returns a name that can be kept.
func name(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), mostName)], "")
}

// day returns the day of a date, which may be one before the last: a clock can be set back.
func (l *Ledger) day(date string) *api.UsageDay {
	i, found := l.find(date)
	if !found {
		l.days = slices.Insert(l.days, i, api.UsageDay{Date: date})
		if len(l.days) > mostDays {
			gone := 0
			if i == 0 { // which is counted on, since the clock was set back
				gone = 1
			}
			l.days = slices.Delete(l.days, gone, gone+1)
			i = max(0, i-1)
		}
	}
	return &l.days[i]
}

// find returns where the day of a date is, or would be, and whether there is one.
func (l *Ledger) find(date string) (i int, found bool) {
	return slices.BinarySearchFunc(l.days, date, func(d api.UsageDay, date string) int { return cmp.Compare(d.Date, date) })
}

// dateOf returns the date of a moment by its clock.
func dateOf(now time.Time) string { return now.Format(time.DateOnly) }

// Unasked returns how many tokens were thought on the day of now that nobody had asked for.
func (l *Ledger) Unasked(now time.Time) (tokens int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i, found := l.find(dateOf(now)); found {
		return Sum(l.days[i], Unasked).Tokens()
	}
	return 0
}

// Days returns the last n days up to that of now on which anything was spent, and that of now,
// the newest last.
func (l *Ledger) Days(now time.Time, n int) []api.UsageDay {
	l.mu.Lock()
	defer l.mu.Unlock()
	date := dateOf(now)
	end, found := l.find(date)
	all := slices.Clone(l.days[:end])
	if found {
		all = append(all, l.days[end])
	} else {
		all = append(all, api.UsageDay{Date: date, Lines: []api.UsageLine{}})
	}
	all = all[max(0, len(all)-max(1, n)):]
	for i := range all {
		all[i].Lines = slices.Clone(all[i].Lines)
	}
	return all
}

// A file is a ledger as it is written down.
type file struct {
	Version int            `json:"version"`
	Days    []api.UsageDay `json:"days"`
}

// version is that of the file.
const version = 1

// Save passes the ledger to write in its recorded form, if anything was counted since the last
// time. It waits for write only; counting goes on meanwhile and is not delayed.
func (l *Ledger) Save(write func([]byte) error) error {
	l.mu.Lock()
	if !l.changed {
		l.mu.Unlock()
		return nil
	}
	data, err := Format(l.days...)
	l.changed = false
	l.mu.Unlock()
	if err == nil {
		err = write(data)
	}
	if err != nil {
		l.mu.Lock()
		l.changed = true
		l.mu.Unlock()
	}
	return err
}

// Read returns the ledger that was written down.
// Format returns days as [Read] reads them.
func Format(days ...api.UsageDay) ([]byte, error) {
	data, err := json.Marshal(file{version, days})
	return append(data, '\n'), err
}

func Read(data []byte) (*Ledger, error) {
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, errors.New("it is not a record of the use of models") // the reason may quote it
	}
	if f.Version != version {
		return nil, fmt.Errorf("it has version %d, and this earshot knows version %d", f.Version, version)
	}
	l := new(Ledger)
	for _, d := range f.Days {
		if _, err := time.Parse(time.DateOnly, d.Date); err != nil {
			return nil, errors.New("it has an invalid date in it")
		}
		if len(d.Lines) > mostLines {
			return nil, fmt.Errorf("a day in it has %d lines; at most %d are possible", len(d.Lines), mostLines)
		}
		for _, line := range d.Lines {
			if !fits(line.UsageAmount) || !slices.Contains(kinds, line.Kind) || len(line.Agent) > mostName || len(line.Engine) > mostName {
				return nil, fmt.Errorf("its values for %s are not possible", d.Date)
			}
		}
		l.days = append(l.days, d)
	}
	slices.SortStableFunc(l.days, func(a, b api.UsageDay) int { return cmp.Compare(a.Date, b.Date) })
	for i := 1; i < len(l.days); i++ {
		if l.days[i].Date == l.days[i-1].Date {
			return nil, fmt.Errorf("it has %s twice", l.days[i].Date)
		}
	}
	l.days = slices.Delete(l.days, 0, max(0, len(l.days)-mostDays))
	return l, nil
}
