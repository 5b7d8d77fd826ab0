package store

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"earshot"
	"earshot/internal/field"
	"earshot/store/postgres"
)

// Config is the section store of the configuration file, and what the program supplies beside it.
type Config struct {
	// Directory holds the journal and nothing else. If it is missing, it is created, accessible
	// only to its owner. In the file, empty means the user's state directory, which the command
	// chooses; [Open] requires it to be set.
	Directory string `yaml:"directory"`

	// URL is that of a database of PostgreSQL that holds the journal instead of the directory, which
	// then holds only what others keep there. It begins with postgres://. With several hosts, the one
	// that can be written to is used.
	URL field.Secret `yaml:"url,omitempty"`

	// Retention says how long events are kept.
	Retention Retention `yaml:"retention,omitempty"`

	// Projections are the views of other packages. They are kept in step with the journal, and
	// rebuilt when their version changes.
	Projections []earshot.Projection `yaml:"-"`

	Now   func() time.Time       `yaml:"-"` // nil means time.Now
	NewID func() earshot.EventID `yaml:"-"` // nil means ULIDs that rise within a process; called by one goroutine at a time

	// Heeded are the reasons for silence that still show that the agent was meant, such as being
	// told to stop. Speech with such a decision does not count as overheard.
	Heeded []string `yaml:"-"`

	// Unheeded are the reasons to speak that have nothing to do with what was said, such as a new
	// voice.
	Unheeded []string `yaml:"-"`

	// Log receives repairs, and never what somebody said. Nil means no log.
	Log *slog.Logger `yaml:"-"`

	// Fits reports why a companion in a backup cannot be restored. [Restore] calls it before it
	// replaces anything. Nil means that all can be restored.
	Fits func(Companion) error `yaml:"-"`

	// Meter receives what is written, from the goroutines of the writer and of its callers. Its
	// methods must return at once. Nil means that nobody counts.
	Meter Meter `yaml:"-"`

	// Report is called once for each fault, and once for its end. It is called from a goroutine of
	// its own, so it may wait and may use the store. Nil means that faults go to Log.
	Report func(earshot.Notice) `yaml:"-"`

	// Progress reports how many of all events have been processed while views are rebuilt. It is
	// called in the goroutine of [Open], which waits for it. May be nil.
	Progress func(done, all int64) `yaml:"-"`

	// Fence, if it is set, says that other daemons write to the database, too, which needs a URL. It is
	// called for each room to which a transaction adds events, except for those about who there is, people
	// and agents, and about what was forgotten, and has the transaction fail unless the room is this
	// daemon's. Nobody else may add others to the room before the transaction has ended.
	Fence func(ctx context.Context, tx *sql.Tx, room earshot.RoomID) error `yaml:"-"`

	// Followed are the kinds of events of which [Store.Follow] tells.
	Followed []earshot.Kind `yaml:"-"`

	// partition is how many sequences share a tag in the index of words; zero means the default.
	partition int64
}

// A Meter counts what is written. Its methods must be safe for concurrent use.
type Meter interface {
	// Committed receives how long it took to force some steps to the disk, or why that failed.
	Committed(took time.Duration, err error)

	// Kept receives an event that was just written to the disk for the first time.
	Kept(e earshot.Event)
}

// DefaultConfig returns the configuration for a file without this section.
func DefaultConfig() Config { return Config{Retention: Retention{Overheard: 24}} }

// Place returns where the journal is, for people: without a password.
func (c Config) Place() string {
	if server, err := postgres.NewConnector(c.URL.Reveal()); err == nil {
		return server.Name
	}
	return c.Directory
}

// Validate reports every fault in c, not only the first.
func (c Config) Validate() error {
	var faults []error
	if strings.ContainsRune(c.Directory, 0) {
		faults = append(faults, field.Errorf("directory", "has a zero byte in it"))
	}
	if c.Directory != "" && !filepath.IsAbs(c.Directory) {
		faults = append(faults, field.Errorf("directory", "is %q; write the whole path, from the root: it must not depend on where earshot is started", c.Directory))
	}
	if c.URL != "" {
		if _, err := postgres.NewConnector(c.URL.Reveal()); err != nil {
			faults = append(faults, field.Errorf("url", "cannot be used: %v", err))
		}
	}
	return errors.Join(append(faults, field.Under("retention", c.Retention.Validate()))...)
}
