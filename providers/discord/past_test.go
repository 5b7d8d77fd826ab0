package discord_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/internal/discord/discordtest"
	"earshot/internal/discord/gateway"
	"earshot/internal/testkit"
)

// withdrawn returns which messages were withdrawn.
func (h *house) withdrawn() (all []earshot.EventID) {
	for _, e := range h.said("", earshot.KindWithdrawal) {
		all = append(all, e.Body.(earshot.Withdrawal).Of)
	}
	return all
}

// TestAfterRestart: what was written, edited and deleted while the daemon was down comes in when it
// runs again, for channels from which the house has something. Somebody who wrote there is known to
// be present before their message comes.
func TestAfterRestart(t *testing.T) {
	s := begin(t, config())
	bob := s.AddUser(discordtest.User{Name: "bob", Human: true})
	dm := s.Direct(s.ann.ID, s.bot.ID)
	first := s.Say(s.ann.ID, s.general, "first")
	second := s.Say(s.ann.ID, s.general, "secnd")
	s.Say(s.ann.ID, dm.ID, "psst")
	await(t, "the messages", func() bool { return len(s.house.texts("")) == 3 })
	own := s.Say(s.bot.ID, s.general, "mine")
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s.house.remembers()
	for i := range s.house.past {
		if s.house.past[i].With == 0 {
			s.house.past[i].Own = []uint64{own.ID}
		}
	}
	s.Edit(s.general, second.ID, "second")
	s.Delete(s.general, first.ID)
	s.Delete(s.general, own.ID)
	s.Say(bob.ID, s.general, "third")
	s.Say(s.ann.ID, s.general, "fourth")
	s.Say(s.ann.ID, dm.ID, "hush")
	s.Say(s.ann.ID, s.Channel("voice").ID, "elsewhere")
	s.play(t, config())
	letters := earshot.RoomID("discord-dm-" + handle(s.ann.ID).ID)
	await(t, "what was written", func() bool {
		return slices.Equal(s.house.texts(room(s.general)), []string{"third", "fourth"}) && slices.Equal(s.house.texts(letters), []string{"hush"})
	})
	if got, want := s.house.withdrawn(), []earshot.EventID{gateway.EventOf(s.general, first.ID), gateway.EventOf(s.general, own.ID)}; !slices.Equal(got, want) {
		t.Errorf("taken back are %v, want %v", got, want)
	}
	if r := s.house.said("", earshot.KindRevision); len(r) != 1 || r[0].Body != (earshot.Revision{Of: gateway.EventOf(s.general, second.ID), Text: "second"}) {
		t.Errorf("revised: %s", dump(r))
	}
	var came []string
	for _, e := range s.house.events {
		if e.Room == room(s.general) && (e.Body.Kind() == earshot.KindPresence || e.Body.Kind() == earshot.KindMessage) {
			came = append(came, string(e.Body.Kind())+" "+e.From.ID)
		}
	}
	annIs, bobIs := handle(s.ann.ID).ID, handle(bob.ID).ID
	if want := []string{"presence " + annIs, "presence " + bobIs, "message " + bobIs, "message " + annIs}; !slices.Equal(came, want) {
		t.Errorf("it came as %q, want %q", came, want)
	}
	s.settle(t)
	if texts := s.house.texts(""); slices.Contains(texts, "elsewhere") {
		t.Errorf("of a channel that it does not know it has %q", texts)
	}
}

// TestWhatIsNotLookedUp: the sense does not look up what was written before the time since which
// the house wants a channel kept.
func TestWhatIsNotLookedUp(t *testing.T) {
	s := begin(t, config())
	s.Say(s.ann.ID, s.general, "first")
	await(t, "the message", func() bool { return len(s.house.texts("")) == 1 })
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s.house.remembers()
	s.Say(s.ann.ID, s.general, "off the record")
	s.house.past[0].Since, s.house.past[0].Waits = time.Now().Add(time.Hour), true
	s.play(t, config())
	await(t, "the look", func() bool {
		return slices.ContainsFunc(s.Requests(), func(r string) bool { return strings.Contains(r, "GET ") && strings.HasSuffix(r, "/messages") })
	})
	await(t, "the room in which something waits", func() bool {
		s.house.mu.Lock()
		defer s.house.mu.Unlock()
		return s.house.rooms[room(s.general)].Name == "#general"
	})
	last := s.Say(s.ann.ID, s.general, "last")
	await(t, "the last", func() bool { return len(s.house.texts("")) > 0 })
	s.settle(t)
	if e := s.house.said("", earshot.KindMessage); len(e) != 1 || e[0].ID != gateway.EventOf(s.general, last.ID) {
		t.Errorf("it has %s", dump(e))
	}
}

// TestMissedWhilePeopleTalk: a message that comes while the sense asks for what it missed is not
// taken to be deleted, and does not keep the missed one out.
func TestMissedWhilePeopleTalk(t *testing.T) {
	s := begin(t, config())
	s.Say(s.ann.ID, s.general, "first")
	await(t, "the message", func() bool { return len(s.house.texts("")) == 1 })
	asked, goOn := make(chan struct{}), make(chan struct{})
	hold := func(r *http.Request) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/messages") {
			asked <- struct{}{}
			<-goOn
		}
	}
	s.answered.Store(&hold)
	s.Forget(s.bot.ID) // so the session cannot be resumed
	s.Say(s.ann.ID, s.general, "second")
	s.Drop(s.bot.ID)
	testkit.Receive(t, testkit.Patience, "the question for what was missed", asked)
	s.Say(s.ann.ID, s.general, "third")
	await(t, "what comes meanwhile", func() bool { return len(s.house.texts("")) == 2 })
	close(goOn)
	await(t, "what was missed", func() bool { return slices.Equal(s.house.texts(""), []string{"first", "third", "second"}) })
	s.settle(t)
	if gone := s.house.withdrawn(); len(gone) > 0 {
		t.Errorf("taken back are %v", gone)
	}
}

// TestHiddenHistory: without the permission to read the history, Discord shows no messages; that
// does not mean that they are deleted. A message that really is deleted is withdrawn.
func TestHiddenHistory(t *testing.T) {
	for name, gone := range map[string]bool{"hidden": false, "gone": true} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, config())
			said := s.Say(s.ann.ID, s.general, "first")
			await(t, "the message", func() bool { return len(s.house.texts("")) == 1 })
			s.Forget(s.bot.ID)
			if gone {
				s.Delete(s.general, said.ID)
			} else {
				s.Deny(s.general, s.bot.ID, discordtest.ReadMessageHistory)
			}
			s.Drop(s.bot.ID)
			if gone {
				await(t, "the deletion", func() bool { return len(s.house.withdrawn()) == 1 })
				return
			}
			await(t, "the second look", func() bool { return strings.Contains(s.log.String(), "Read Message History") })
			s.settle(t)
			if gone := s.house.withdrawn(); len(gone) > 0 {
				t.Errorf("taken back are %v", gone)
			}
		})
	}
}
