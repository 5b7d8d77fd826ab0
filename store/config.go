package store

import (
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"earshot"
	"earshot/internal/field"
)

// Config is the section store of the configuration file, and what the program
// hands over beside it.
type Config struct {
	// Directory holds the journal and nothing else. It is made, for its owner
	// alone, if it is missing. In the file, empty means the user's state
	// directory, which the command chooses; [Open] wants it filled in.
	Directory string `yaml:"directory"`

	// Retention is for how long what happened is kept.
	Retention Retention `yaml:"retention,omitempty"`

	// Projections are the views of other packages. They are kept in step with
	// the journal, and made again when their version changes.
	Projections []earshot.Projection `yaml:"-"`

	Now   func() time.Time       `yaml:"-"` // nil means time.Now
	NewID func() earshot.EventID `yaml:"-"` // nil means ULIDs that rise within a process; one call at a time

	// Heeded are reasons to keep silent that show that the agent was meant all the same, such as
	// being told to stop. Speech of this kind is not overheard.
	Heeded []string `yaml:"-"`

	// Unheeded are reasons to speak that have nothing to do with what was said, such as a new
	// voice.
	Unheeded []string `yaml:"-"`

	// Log hears of repairs. It is never given what somebody said. Nil means
	// nobody listens.
	Log *slog.Logger `yaml:"-"`

	// Fits reports why a file that a backup has besides the journal cannot be had back.
	// [Restore] asks it before anything is replaced. Nil means that all can be.
	Fits func(Companion) error `yaml:"-"`

	// Meter is told what is written, from the writer's goroutine and those of its
	// callers; it returns at once. Nil means nobody counts.
	Meter Meter `yaml:"-"`

	// Report is told of each fault once, and of its end once. It is called
	// from a goroutine of its own, so it may wait and may use the store. Nil
	// means that faults go to Log.
	Report func(earshot.Notice) `yaml:"-"`

	// Progress is told how many of all events have been gone through while views are made
	// again, in the goroutine of [Open], which waits for it. Nil means nobody waits.
	Progress func(done, all int64) `yaml:"-"`

	// partition is how many sequences of the index of words share a tag; zero means as usual.
	partition int64
}

// A Meter counts what is written. Its methods may be called from many goroutines.
type Meter interface {
	// Committed is told how long it took to force some steps to the disk, or why that
	// could not be done.
	Committed(took time.Duration, err error)

	// Kept is told of an event that is on the disk, and was not before.
	Kept(e earshot.Event)
}

// DefaultConfig returns the configuration of somebody who wrote none.
func DefaultConfig() Config { return Config{Retention: Retention{Overheard: 24}} }

// Validate reports every fault in c, not only the first.
func (c Config) Validate() error {
	var faults []error
	if strings.ContainsRune(c.Directory, 0) {
		faults = append(faults, field.Errorf("directory", "has a zero byte in it"))
	}
	if c.Directory != "" && !filepath.IsAbs(c.Directory) {
		faults = append(faults, field.Errorf("directory", "is %q; write the whole path, from the root: it must not depend on where earshot is started", c.Directory))
	}
	return errors.Join(append(faults, field.Under("retention", c.Retention.Validate()))...)
}
