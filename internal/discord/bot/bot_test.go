package bot

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"earshot"
	"earshot/daemon/access"
	"earshot/executive/room"
	"earshot/internal/discord/discordtest"
	"earshot/internal/discord/gateway"
	"earshot/internal/discord/roster"
	"earshot/internal/field"
	"earshot/internal/testkit"
)

// TestDiscordThatDoesNotAnswer: while Discord answers nothing about one channel, questions about
// channels are still answered, another room can be opened, and a room that was closed is opened
// again.
func TestDiscordThatDoesNotAnswer(t *testing.T) {
	asked, dropped := make(chan struct{}, 16), make(chan struct{}, 16)
	silence := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or else the server would not notice that the connection ends
		asked <- struct{}{}
		<-r.Context().Done()
		dropped <- struct{}{}
	}))
	defer testkit.Finish(t, testkit.Patience, "the end of the server", silence.Close)
	e, rooms := newBot(t, silence.URL)
	defer silence.CloseClientConnections() // ends the waiting for an answer
	ctx := t.Context()
	general := roster.Place{ID: 77, Guild: 7, Name: "#general"}
	opens := func(c roster.Place) Room {
		t.Helper()
		id, err := e.Room(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		is, _ := rooms.Find(id)
		return is
	}
	first := opens(general)
	first.Room.(*room.Room).Mention("hello") // its request stays on its way
	testkit.Receive(t, testkit.Patience, "the question at Discord", asked)
	rooms.close(first.ID)
	general.Name = "#harbour"
	if again := opens(general); again.Room == first.Room {
		t.Error("the room was not closed")
	}
	opens(roster.Place{ID: 78, Guild: 7, Name: "#quay"})
	for room, want := range map[earshot.RoomID]string{"discord-77": "#harbour", "discord-78": "#quay"} {
		if c, ok := e.channels.place(room); !ok || c.Name != want {
			t.Errorf("%s is %+v, %v", room, c, ok)
		}
	}
	general.Name = "#haven"
	opens(general)
	if c, _ := e.channels.place("discord-77"); c.Name != "#haven" {
		t.Errorf("after a change of name it is %q", c.Name)
	}
	select {
	case <-dropped:
		t.Error("it was waited until the request was given up")
	default:
	}
	silence.CloseClientConnections()
	e.channels.close()
	if _, ok := e.channels.place("discord-77"); ok {
		t.Error("something writes still")
	}
}

// TestTalk: whether anybody else has written since a message.
func TestTalk(t *testing.T) {
	for _, tt := range []struct {
		picture string // who writes, in order; the question is the capital A
		want    bool
	}{
		{"A", false}, {"Aa", false}, {"bA", false}, {"bAa", false}, {"Ab", true}, {"Aba", true}, {"Abaa", true}, {"Aabc", true}, {"bcA", false}, {"", false},
	} {
		var all talk
		asked := earshot.EventID("0")
		for i, c := range tt.picture {
			id := earshot.EventID(rune('1' + i))
			by := earshot.ParticipantID(c | 0x20)
			if c == 'A' {
				asked = id
			}
			all.heard(by, id)
			all.heard("z", "0") // an older message, as one that was missed
		}
		if got := all.between("a", asked); got != tt.want {
			t.Errorf("%q: %v, want %v", tt.picture, got, tt.want)
		}
	}
}

// TestWhoIsPinged: a reply pings the person whom it answers if somebody else has written since, and
// nobody else.
func TestWhoIsPinged(t *testing.T) {
	e, _ := newBot(t, "")
	defer e.channels.close()
	id, err := e.Room(t.Context(), roster.Place{ID: 77, Guild: 7, Name: "#general"})
	if err != nil {
		t.Fatal(err)
	}
	for user, name := range map[string]string{"5": "ann", "6": "bob", "7": "beep"} {
		if _, err := e.Arrive(t.Context(), earshot.Handle{Provider: access.Discord, ID: user}, roster.Person{Name: name, Bot: name == "beep"}); err != nil {
			t.Fatal(err)
		}
	}
	for i, by := range []string{"5", "7", "5", "6"} {
		e.channels.heard(id, earshot.ParticipantID("discord-"+by), earshot.EventID(fmt.Sprint("e", i)))
	}
	for _, tt := range []struct {
		to, about string
		want      bool
	}{{"discord-5", "e0", true}, {"discord-5", "e2", true}, {"discord-6", "e3", false}, {"discord-7", "e1", false}, {"", "e0", false}, {"agent", "e0", false}} {
		if got := e.pings(id, earshot.Opening{To: earshot.ParticipantID(tt.to), About: earshot.EventID(tt.about)}); got != tt.want {
			t.Errorf("the answer to %s of %q pings: %v", tt.about, tt.to, got)
		}
	}
	if all := e.names(id, "discord-6"); len(all) != 1 || all[0].ID != 6 || all[0].Name != "bob" {
		t.Errorf("who may be mentioned is %v", all)
	}
}

// TestHall: a voice channel can be named by a link, by its number, or by its name, if only one has
// that name.
func TestHall(t *testing.T) {
	s := discordtest.New(t, discordtest.Config{})
	for _, c := range []discordtest.Channel{{Kind: discordtest.VoiceChannel, Name: "Twice"}, {Kind: discordtest.VoiceChannel, Name: "twice"}, {Kind: discordtest.VoiceChannel, Name: "The Quiet One"}} {
		s.AddChannel(c)
	}
	e := &Bot{session: gateway.New(gateway.Config{Base: s.Base(), HTTP: s.HTTP(), Token: field.Secret(s.Bot("earshot").Token)})}
	other := s.Channel("other").ID
	for _, tt := range []struct {
		named string
		want  uint64
		err   string
	}{
		{named: ""}, {named: "other", want: other}, {named: "#OTHER", want: other}, {named: fmt.Sprintf("<#%d>", other), want: other}, {named: fmt.Sprint(other), want: other},
		{named: "the quiet one", want: s.Channel("The Quiet One").ID}, {named: "stage", want: s.Channel("stage").ID}, // a stage is found, and declined later
		{named: "general", err: "no voice channel"}, {named: "nowhere", err: "no voice channel"}, {named: "<#12>", err: "no voice channel"}, {named: "twice", err: "several"},
	} {
		got, err := e.findVoiceChannel(t.Context(), s.Guild().ID, tt.named)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%q: %d, %v, want %d, %q", tt.named, got, err, tt.want, tt.err)
		}
	}
}
