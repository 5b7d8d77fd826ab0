package daemon

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/config"
	"earshot/participants"
)

// TestKeeping: events older than the current configuration allows are erased within an hour, with
// everything made from them. Younger ones are not, and none is before the configuration sets a
// limit.
func TestKeeping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config.Default()
		cfg.Store.Directory = filepath.Join(t.TempDir(), "journal")
		d, err := Open(t.Context(), cfg, Options{Account: earshot.Handle{Provider: "console", ID: "1"}, Name: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		said := func(sources ...earshot.EventID) earshot.EventID {
			e := earshot.Event{
				ID: d.id(), At: time.Now(), Room: earshot.Desk, Author: participants.Owner, From: d.options.Account,
				Visibility: earshot.Visibility{Scope: earshot.Public}, Sources: sources, Body: earshot.Message{Text: "tides"},
			}
			if len(sources) > 0 {
				e.Author, e.Body = participants.Agent, earshot.Memo{Text: "about the tides"}
			}
			if _, err := d.store.Append(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			return e.ID
		}
		is := func(id earshot.EventID) earshot.Kind {
			e, _, err := d.store.Event(t.Context(), earshot.Desk, id)
			if err != nil {
				t.Fatal(err)
			}
			return e.Body.Kind()
		}
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if err := d.Run(ctx, nil); err != nil {
				t.Error(err)
			}
		}()
		old := said()
		made := said(old)
		time.Sleep(49 * time.Hour)
		synctest.Wait()
		if is(old) != earshot.KindMessage || is(made) != earshot.KindMemo {
			t.Fatalf("without a word of it in the configuration they are %s and %s", is(old), is(made))
		}
		young := said()
		next := *d.Config()
		next.Store.Retention.Message = 2
		d.current.Store(&next) // as a reload does for keys that are read every turn
		time.Sleep(expires + time.Minute)
		synctest.Wait()
		if is(old) != earshot.KindErased || is(made) != earshot.KindErased || is(young) != earshot.KindMessage {
			t.Errorf("after an hour the old is %s, what was made of it %s, the young %s", is(old), is(made), is(young))
		}
		time.Sleep(48 * time.Hour)
		synctest.Wait()
		if is(young) != earshot.KindErased {
			t.Errorf("after two days the young is %s", is(young))
		}
		end()
		<-ended
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}
