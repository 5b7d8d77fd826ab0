package discordtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"
)

// TestPeople: what people do, other than write, reaches discordgo.
func TestPeople(t *testing.T) {
	s := New(t, Config{})
	bob := s.Bot("bob")
	ann := s.AddUser(User{Name: "ann", Human: true})
	d, l := open(t, s, bob)
	general := s.Channel("general").ID

	said := s.Say(ann.ID, general, "teh time")
	s.Edit(general, said.ID, "the time")
	await(t, "the edit", func() bool {
		all := count[*discordgo.MessageUpdate](l)
		return len(all) == 1 && all[0].Content == "the time" && all[0].EditedTimestamp != nil && all[0].Author != nil
	})
	s.Unfurl(general, said.ID)
	await(t, "the picture of a link", func() bool { return len(count[*discordgo.MessageUpdate](l)) == 2 })
	more := []uint64{s.Say(ann.ID, general, "one").ID, s.Say(ann.ID, general, "two").ID}
	s.Delete(general, said.ID)
	s.Delete(general, more...)
	await(t, "the deletions", func() bool {
		one, many := count[*discordgo.MessageDelete](l), count[*discordgo.MessageDeleteBulk](l)
		return len(one) == 1 && one[0].ID == id(said.ID) && len(many) == 1 && len(many[0].Messages) == 2
	})
	s.Type(ann.ID, general)
	await(t, "typing", func() bool { return len(count[*discordgo.TypingStart](l)) == 1 })
	thread := s.AddThread(general, "aside")
	s.Say(ann.ID, thread.ID, "here")
	await(t, "the thread", func() bool {
		all := count[*discordgo.ThreadCreate](l)
		return len(all) == 1 && all[0].ParentID == id(general) && all[0].IsThread()
	})
	s.Write(Message{Channel: general, Author: 77, Webhook: "a hook", Content: "built"})
	await(t, "the webhook", func() bool {
		all := count[*discordgo.MessageCreate](l)
		return all[len(all)-1].WebhookID == "77" && all[len(all)-1].Member == nil
	})
	role := s.AddRole("keeper", ann.ID)
	s.Rename(ann.ID, "Annie")
	await(t, "her name", func() bool {
		all := count[*discordgo.GuildMemberUpdate](l)
		return len(all) == 1 && all[0].Nick == "Annie" && slices.Equal(all[0].Roles, []string{id(role)})
	})

	dm := s.Direct(ann.ID, bob.ID)
	if again := s.Direct(ann.ID, bob.ID); again.ID != dm.ID {
		t.Error("two have two channels for direct messages")
	}
	s.Say(ann.ID, dm.ID, "psst")
	await(t, "the direct message", func() bool {
		all := count[*discordgo.MessageCreate](l)
		m := all[len(all)-1]
		return m.Content == "psst" && m.GuildID == "" && m.Member == nil
	})
	if c, err := d.UserChannelCreate(id(ann.ID)); err != nil || c.ID != id(dm.ID) || len(c.Recipients) != 2 {
		t.Errorf("opening direct messages: %+v, %v", c, err)
	}
	eve := s.Bot("eve")
	other, err := discordgo.New("Bot " + eve.Token)
	if err != nil {
		t.Fatal(err)
	}
	other.Client = d.Client
	if _, err := other.ChannelMessages(id(dm.ID), 10, "", "", ""); err == nil {
		t.Error("somebody else reads direct messages")
	}
	s.Leave(ann.ID)
	await(t, "her going", func() bool { return len(count[*discordgo.GuildMemberRemove](l)) == 1 })
}

// TestInteractions: how commands are given and answered.
func TestInteractions(t *testing.T) {
	s := New(t, Config{})
	bob := s.Bot("bob")
	ann := s.AddUser(User{Name: "ann", Human: true})
	d, l := open(t, s, bob)
	general, guild := s.Channel("general").ID, id(s.Guild().ID)
	if _, err := d.ApplicationCommandBulkOverwrite(id(bob.ID), guild, []*discordgo.ApplicationCommand{{Name: "Join", Description: "Come."}}); err == nil {
		t.Error("a name in capitals was taken")
	}
	if _, err := d.ApplicationCommandBulkOverwrite(id(bob.ID), guild, []*discordgo.ApplicationCommand{{
		Name: "say", Description: "Say it.",
		Options: []*discordgo.ApplicationCommandOption{{Type: discordgo.ApplicationCommandOptionString, Name: "args", Description: "what"}},
	}}); err != nil {
		t.Fatal(err)
	}
	if list, err := d.ApplicationCommands(id(bob.ID), ""); err != nil || len(list) != 0 {
		t.Errorf("everywhere there are %v, %v", list, err)
	}
	given := func(n int) *discordgo.Interaction {
		await(t, "the command", func() bool { return len(count[*discordgo.InteractionCreate](l)) == n })
		return count[*discordgo.InteractionCreate](l)[n-1].Interaction
	}

	first := s.Invoke(ann.ID, bob.ID, general, "say", "hello there")
	i := given(1)
	if data := i.ApplicationCommandData(); data.Name != "say" || data.Options[0].StringValue() != "hello there" || i.Member.User.ID != id(ann.ID) {
		t.Errorf("was given %+v", data)
	}
	words := "hello"
	if _, err := d.InteractionResponseEdit(i, &discordgo.WebhookEdit{Content: &words}); err == nil {
		t.Error("answered before it was taken")
	}
	taken := &discordgo.InteractionResponse{Type: discordgo.InteractionResponseDeferredChannelMessageWithSource, Data: &discordgo.InteractionResponseData{Flags: discordgo.MessageFlagsEphemeral}}
	if err := d.InteractionRespond(i, taken); err != nil {
		t.Fatal(err)
	}
	if err := d.InteractionRespond(i, taken); err == nil {
		t.Error("taken twice")
	}
	if got := s.Interaction(first); !got.Deferred || !got.Ephemeral || len(got.Answers) > 0 {
		t.Errorf("taken, it is %+v", got)
	}
	if _, err := d.InteractionResponseEdit(i, &discordgo.WebhookEdit{Content: &words}); err != nil {
		t.Error(err)
	}
	if _, err := d.FollowupMessageCreate(i, true, &discordgo.WebhookParams{Content: "and more", Flags: discordgo.MessageFlagsEphemeral}); err != nil {
		t.Error(err)
	}
	if _, err := d.FollowupMessageCreate(i, true, &discordgo.WebhookParams{Content: strings.Repeat("x", 2001)}); err == nil {
		t.Error("too long, and taken")
	}
	if got := s.Interaction(first); got.Deferred || !slices.Equal(got.Answers, []string{"hello", "and more"}) || len(s.Messages(general)) != 0 {
		t.Errorf("answered, it is %+v", got)
	}

	second := s.Invoke(ann.ID, bob.ID, general, "say", "")
	i = given(2)
	if err := d.InteractionRespond(i, &discordgo.InteractionResponse{Type: discordgo.InteractionResponseChannelMessageWithSource, Data: &discordgo.InteractionResponseData{Content: "to all"}}); err != nil {
		t.Fatal(err)
	}
	shown, err := d.InteractionResponse(i)
	if all := s.Messages(general); err != nil || len(all) != 1 || id(all[0].ID) != shown.ID || s.Interaction(second).Public != all[0].ID {
		t.Errorf("the answer is %+v, %v, and the channel has %+v", shown, err, all)
	}
	s.Press(ann.ID, bob.ID, general)
	if i := given(3); i.Type != discordgo.InteractionMessageComponent {
		t.Errorf("pressing a button is %v", i.Type)
	}
}
