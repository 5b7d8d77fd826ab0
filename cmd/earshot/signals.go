package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime/pprof"
	"strings"
	"time"
)

// farewell is how long the house may take to end. A service manager, and who shuts the
// machine down, is promised five seconds, one of which is for a slow machine; what is stored later than this would be cut off
// by them in the middle.
const farewell = 4 * time.Second

// finalWords is how long it may take to say that this was not enough: half of what is left.
const finalWords = 500 * time.Millisecond

// hurry ends the program when it has been ending for too long, such as with a disk that
// does not answer any more: then what was acknowledged is stored, and of the rest nobody
// was told that it is. The function that it returns says that the house has ended.
func (a *app) hurry(log *slog.Logger) (ended func()) {
	over, done := context.WithCancel(context.WithoutCancel(a.ctx))
	stop := context.AfterFunc(a.ctx, func() {
		select {
		case <-over.Done():
		case <-time.After(farewell):
			told := make(chan struct{})
			go func() { // which may hang as well: the log is on a disk
				defer close(told)
				fmt.Fprintf(a.err, "earshot: something hangs, perhaps the disk; what has not been acknowledged by now is not stored\n  → earshot doctor\n")
				log.Error("earshot gives up waiting for a clean shutdown", "after", farewell, "at", whereAll())
			}()
			select {
			case <-told:
			case <-time.After(finalWords):
			}
			os.Exit(failed)
		}
	})
	return func() { stop(); done() }
}

// whereAll returns where every goroutine stands, by functions and lines alone: what hangs is
// among them.
func whereAll() string {
	const most = 256 << 10 // stacks that are alike are one, so there is seldom as much
	var all strings.Builder
	pprof.Lookup("goroutine").WriteTo(&all, 1)
	return all.String()[:min(all.Len(), most)]
}
