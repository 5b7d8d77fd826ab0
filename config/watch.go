package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// settle is how long nothing must happen to a file before it is read: an editor
	// empties it, writes it and gives it another date.
	settle = 50 * time.Millisecond

	// settled is after how long it is read although things still happen to it.
	settled = 500 * time.Millisecond

	// gone is how long a file may be away before it counts as removed: some editors move
	// it aside before they write another.
	gone = time.Second

	// mostLinks is how many links lead to a file, before they count as a circle.
	mostLinks = 40
)

// Watch calls changed when what [Load] reads for path may be another than before, until
// ctx ends: at first, since it may have been read some time ago, and then when the file was written, replaced, removed or has come, or a link on the way to
// it leads elsewhere. What happens while changed runs is told afterwards, so the last
// change of many is never missed. It returns when nothing is running, and an error if
// the file cannot be watched.
func Watch(ctx context.Context, path string, changed func()) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watching the configuration: %w", err)
	}
	defer w.Close()
	look := fileWatcher{Watcher: w, path: path}
	if err := look.out(); err != nil {
		return err
	}
	for first := true; ; first = false {
		if !first && !look.wait(ctx, 0) {
			return nil
		}
		for end := time.Now().Add(settled); time.Now().Before(end) && look.wait(ctx, settle); {
		}
		if look.there && !look.exists() {
			look.wait(ctx, gone)
		}
		if ctx.Err() != nil {
			return nil
		}
		if err := look.out(); err != nil { // before it is read, so that nothing falls between
			return err
		}
		changed()
	}
}

// A fileWatcher watches folders for what is of interest in them.
type fileWatcher struct {
	*fsnotify.Watcher
	path  string
	names watchedNames
	there bool // the file was, when the watcher began
}

// files returns the places where the configuration may stand.
func (l *fileWatcher) files() []string {
	if l.path != "" {
		return []string{l.path}
	}
	if named := os.Getenv("EARSHOT_CONFIG"); named != "" {
		return []string{named}
	}
	return Places()
}

// exists reports whether there is a configuration.
func (l *fileWatcher) exists() bool {
	for _, file := range l.files() {
		if _, err := os.Stat(file); err == nil {
			return true
		}
	}
	return false
}

// out looks out anew: which folders these are may have changed, and a folder may be
// another one by the same name. What has changed before it was watched is looked at once
// more.
func (l *fileWatcher) out() error {
	names, err := l.interesting()
	for err == nil {
		for _, dir := range l.WatchList() {
			_ = l.Remove(dir) // it may be gone
		}
		l.names, l.there = names, l.exists()
		var failed error
		for dir := range names {
			if err := l.Add(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
				failed = fmt.Errorf("watching %s: %w", dir, err)
			}
		}
		if failed != nil && len(l.WatchList()) == 0 {
			return failed
		}
		if names, err = l.interesting(); maps.EqualFunc(names, l.names, func(a, b map[string]bool) bool { return maps.Equal(a, b) }) {
			break
		}
	}
	return err
}

// interesting returns the names that are of interest, by folder.
func (l *fileWatcher) interesting() (watchedNames, error) {
	names := make(watchedNames)
	for _, file := range l.files() {
		file, err := filepath.Abs(file)
		if err != nil {
			return nil, fmt.Errorf("watching the configuration: %w", err)
		}
		names.follow(file)
	}
	return names, nil
}

// watchedNames are names in folders.
type watchedNames map[string]map[string]bool

// follow notes what is of interest on the way to a file: the file, each link on the way,
// and the first folder that is missing.
func (i watchedNames) follow(file string) {
	for range mostLinks {
		i.note(file)
		for at := filepath.Dir(file); at != filepath.Dir(at); at = filepath.Dir(at) {
			if about, err := os.Lstat(at); err != nil || about.Mode()&fs.ModeSymlink != 0 {
				i.note(at)
			}
		}
		to, err := os.Readlink(file)
		if err != nil {
			return // it is no link
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(file), to)
		}
		file = to
	}
}

// note notes that it matters what happens to path.
func (i watchedNames) note(path string) {
	dir := filepath.Dir(path)
	if i[dir] == nil {
		i[dir] = make(map[string]bool)
	}
	i[dir][filepath.Base(path)] = true
}

// wait returns when something of interest happens, which is true, or nothing does for so
// long, if that is not 0, or ctx ends.
func (l *fileWatcher) wait(ctx context.Context, long time.Duration) bool {
	var over <-chan time.Time
	if long > 0 {
		over = time.After(long)
	}
	for {
		select {
		case e := <-l.Events:
			if l.matters(e) {
				return true
			}
		case <-l.Errors: // some were lost
			return true
		case <-over:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// matters reports whether e is about something of interest.
func (l *fileWatcher) matters(e fsnotify.Event) bool {
	if _, folder := l.names[e.Name]; folder && e.Has(fsnotify.Remove|fsnotify.Rename) {
		return true
	}
	return l.names[filepath.Dir(e.Name)][filepath.Base(e.Name)]
}
