package discord_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"earshot"
	"earshot/internal/discord/discordtest"
	"earshot/internal/discord/gateway"
	"earshot/internal/discord/peers"
)

// TestPeer lets a client write that knows nothing of this project: discord.js, unchanged.
func TestPeer(t *testing.T) {
	s := begin(t, config())
	eve := s.AddUser(discordtest.User{Name: "eve", Human: true})
	p, err := peers.Run(t.Context(), peers.Config{Base: s.Base(), CAFile: s.CAFile(), Token: eve.Token, Guild: s.Guild().ID})
	if without := strings.FieldsFunc(os.Getenv("EARSHOT_WITHOUT"), func(r rune) bool { return r == ',' || r == ' ' }); errors.Is(err, peers.ErrMissing) && slices.Contains(without, "discord") {
		t.Skip("told by EARSHOT_WITHOUT to do without discord")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	first, err := p.Write(s.general, "100 % sure?\nor \"not\"")
	if err != nil {
		t.Fatal(err)
	}
	second, err := p.Reply(first, "quite")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Edit(first, "sure?"); err != nil {
		t.Error(err)
	}
	if err := p.Type(s.general); err != nil {
		t.Error(err)
	}
	if err := p.Delete(second); err != nil {
		t.Error(err)
	}
	await(t, "the deletion", func() bool { return len(s.house.said("", earshot.KindWithdrawal)) == 1 })
	all := s.house.said(room(s.general), earshot.KindMessage)
	if len(all) != 2 || string(all[0].Body.(earshot.Message).Text) != "100 % sure?\nor \"not\"" || all[0].From != handle(eve.ID) {
		t.Fatalf("came as %s", dump(all))
	}
	if all[0].ID != gateway.EventOf(s.general, first) || all[1].Body.(earshot.Message).ReplyTo != all[0].ID {
		t.Errorf("the reply came as %s", dump(all[1]))
	}
	if r := s.house.said("", earshot.KindRevision); len(r) != 1 || r[0].Body != (earshot.Revision{Of: all[0].ID, Text: "sure?"}) {
		t.Errorf("the edit came as %s", dump(r))
	}
	if n := len(s.house.said("", earshot.KindTyping)); n != 1 {
		t.Errorf("it typed %d times", n)
	}
	if w := s.house.said("", earshot.KindWithdrawal)[0].Body.(earshot.Withdrawal); w.Of != all[1].ID {
		t.Errorf("the deletion came as %s", dump(w))
	}
	if errs := p.Errors(); len(errs) > 0 {
		t.Errorf("the peer complains: %q", errs)
	}
}
