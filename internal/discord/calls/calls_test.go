package calls

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"

	"earshot"
	"earshot/internal/discord/gateway"
	"earshot/internal/discord/voice"
	"earshot/providers/discord"
)

// defaults is the configuration of a user who configured nothing.
var defaults = Config{Announce: true, EncryptedCalls: true}

// people returns the configuration of somebody who wants the agent to come by itself.
func people() Config {
	c := defaults
	c.ByItself = true
	return c
}

// want compares lines with what was done since the last time.
func (s *scene) want(t *testing.T, when string, lines ...string) {
	t.Helper()
	if got, want := s.since(), strings.Join(lines, "\n"); got != want {
		t.Errorf("%s:\n%s\nwant:\n%s", when, got, want)
	}
}

// TestStay: the agent comes when people do, says that it listens, tells those who come later, and
// leaves when nobody is left.
func TestStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, people())
		s.want(t, "at first")
		s.goes(machine, lobby)
		s.want(t, "a bot alone")
		s.goes(ann, lobby)
		s.want(t, "ann comes", "101: (announcement)", "discord-101 aloud: (aloud)", "joins 101")
		s.goes(bob, lobby)
		time.Sleep(time.Second)
		s.goes(carl, lobby)
		time.Sleep(time.Minute)
		s.want(t, "others come", "101: <@3>, <@4>: I listen in this call, and what is said becomes text and is kept. Who does not want that uses /optout.")
		s.goes(bob, 0)
		s.goes(bob, lobby)
		time.Sleep(time.Minute)
		s.want(t, "one of them comes again")
		s.goes(ann, 0)
		s.goes(bob, attic)
		s.goes(carl, 0)
		time.Sleep(59 * time.Second)
		s.want(t, "nobody is there")
		time.Sleep(2 * time.Second)
		s.want(t, "nobody is there for a minute", "102: (announcement)", "discord-102 aloud: (aloud)", "joins 102", "leaves 101", "no voice in discord-101")
		s.end()
		s.want(t, "at the end", "leaves 102", "no voice in discord-102")
	})
}

// TestAsked: what /join and /leave do, and what they answer.
func TestAsked(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Config)
		before func(*scene)
		in     uint64 // the named channel
		want   string // the beginning of the answer
		joins  bool
	}{
		{"where the person is", nil, func(s *scene) { s.goes(ann, lobby) }, 0, "I am coming into <#101>", true},
		{"a channel by name", nil, nil, attic, "I am coming into <#102>", true},
		{"the person is nowhere", nil, nil, 0, "You are in no voice channel", false},
		{"there is none", nil, nil, 999, "There is no such voice channel", false},
		{"a stage", nil, nil, podium, "I do not come onto stages yet", false},
		{"it is full", nil, func(s *scene) { s.goes(ann, attic); s.goes(machine, attic) }, 0, "<#102> is full, with 2 people; raise its limit", false},
		{"it is full, and that is no matter", nil, func(s *scene) {
			s.goes(ann, attic)
			s.goes(bob, attic)
			s.Take(&discordgo.GuildRoleUpdate{GuildRole: &discordgo.GuildRole{GuildID: id(guild), Role: &discordgo.Role{ID: id(guild), Permissions: ordinary | discordgo.PermissionVoiceMoveMembers}}})
		}, 0, "I am coming", true},
		{"it may not speak there", nil, func(s *scene) {
			c := guildOf().Channels[0]
			c.PermissionOverwrites = []*discordgo.PermissionOverwrite{{ID: id(self), Type: discordgo.PermissionOverwriteTypeMember, Deny: discordgo.PermissionVoiceSpeak | discordgo.PermissionVoiceConnect}}
			s.Take(&discordgo.ChannelUpdate{Channel: c})
		}, lobby, "I may not come into <#101>: give my role there, under Edit Channel, Permissions: Connect, Speak", false},
		{"it is not listed", func(c *Config) { c.Channels = []string{id(attic)} }, nil, lobby, "I may not come into that voice channel", false},
		{"never", func(c *Config) { c.Never = true }, nil, lobby, "I do not come into voice channels here", false},
		{"another guild", func(c *Config) { c.Guilds = []string{id(7)} }, nil, lobby, "I do not come into voice channels here", false},
		{"it is there", nil, func(s *scene) { s.Join(guild, lobby, ann); synctest.Wait() }, lobby, "I am in <#101> already", true},
		{"it is somewhere else", nil, func(s *scene) { s.Join(guild, lobby, ann); synctest.Wait() }, attic, "I am in <#101>, and can be in one", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := defaults
				if tt.change != nil {
					tt.change(&cfg)
				}
				s := begin(t, cfg)
				if tt.before != nil {
					tt.before(s)
				}
				if got := s.Join(guild, tt.in, ann); !strings.HasPrefix(got, tt.want) {
					t.Errorf("answers %q", got)
				}
				if got := s.since(); strings.Contains(got, "joins") != tt.joins {
					t.Errorf("did %s", got)
				}
				answer := s.Leave(guild)
				if left := strings.Contains(s.since(), "leaves"); left != tt.joins || left != strings.HasPrefix(answer, "I have left") {
					t.Errorf("leaving: %v, %s", left, answer)
				}
				time.Sleep(time.Hour)
				s.want(t, "later")
				s.end()
			})
		})
	}
}

// TestItIsSaidOnce: why the agent does not come by itself is said once, and so is that it now can.
func TestItIsSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, people())
		s.goes(ann, podium)
		s.goes(bob, podium)
		s.goes(ann, 0)
		s.goes(bob, 0)
		s.goes(ann, podium)
		time.Sleep(time.Hour)
		s.want(t, "on a stage", "103: I do not come onto stages yet; ask me into a voice channel.", "trouble discord channel 103")
		c := guildOf().Channels[2]
		c.Type = discordgo.ChannelTypeGuildVoice
		s.Take(&discordgo.ChannelUpdate{Channel: c})
		s.want(t, "it is one no longer", "103: (announcement)", "discord-103 aloud: (aloud)", "joins 103", "mended discord channel 103")
		s.end()
	})
}

// TestTrouble: what a moderator does to the agent is said once, with what to do about it.
func TestTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, people())
		s.goes(ann, lobby)
		s.since()
		is := func(mute, deaf bool) {
			s.Take(&discordgo.VoiceStateUpdate{VoiceState: &discordgo.VoiceState{GuildID: id(guild), ChannelID: id(lobby), UserID: id(self), Mute: mute, Deaf: deaf}})
			synctest.Wait()
		}
		is(true, false)
		is(true, false)
		s.want(t, "muted", "101: A moderator has muted me in this call, so that nobody hears me: end that under Server Mute in my menu, or use /leave.", "trouble discord call 100: muted")
		if st := s.Status(); len(st) != 1 || len(st[0].Trouble) != 1 || st[0].Channel != lobby || !st[0].Listens || st[0].Room != "discord-101" {
			t.Errorf("status %+v", st)
		}
		is(false, true)
		s.want(t, "deafened", "101: A moderator has deafened me in this call, so that I hear nobody: end that under Server Deafen in my menu, or use /leave.", "mended discord call 100: muted", "trouble discord call 100: deafened")
		s.call.becomes(func(st *voice.Status) { st.Deaf = "no packets" })
		s.want(t, "deaf", "101: I hear nothing in this call though somebody speaks: no packets.", "trouble discord call 100: deaf")
		s.call.ends <- &voice.Ended{Code: 4014, Why: "somebody removed the bot from the voice channel"}
		time.Sleep(time.Hour)
		s.want(t, "thrown out", "101: Somebody removed the bot from the voice channel.", "mended discord call 100: deaf", "mended discord call 100: deafened", "no voice in discord-101")
		s.goes(self, 0)
		s.goes(ann, 0)
		s.goes(ann, lobby)
		s.want(t, "later", "101: (announcement)", "discord-101 aloud: (aloud)", "joins 101")
		s.call.ends <- errors.New("the network is away")
		time.Sleep(59 * time.Second)
		s.want(t, "lost", "101: The network is away.", "no voice in discord-101")
		time.Sleep(2 * time.Second)
		s.want(t, "a minute later", "101: (announcement)", "discord-101 aloud: (aloud)", "joins 101")
		s.end()
	})
}

// TestMoved: what is said after the agent was moved to another channel comes into that room. It
// leaves a channel in which it may not be.
func TestMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := people()
		cfg.Channels = []string{id(lobby), id(attic)}
		s := begin(t, cfg)
		s.goes(ann, lobby)
		s.plays(map[uint64]string{ann: "#####............"})
		s.since()
		s.goes(ann, attic)
		s.call.becomes(func(st *voice.Status) { st.Channel, st.Phase = attic, "joining" })
		s.want(t, "it is on its way", "no voice in discord-101")
		if s.Status()[0].Listens {
			t.Error("the status says that it listens on its way")
		}
		s.call.becomes(func(st *voice.Status) { st.Phase = "in the call" })
		s.want(t, "moved", "102: (announcement)", "discord-102 aloud: (aloud)")
		s.plays(map[uint64]string{ann: "########............"})
		if got := s.said(); got != "2 in 101: map[2:25]\n2 in 102: map[2:40]" {
			t.Errorf("said\n%s", got)
		}
		s.goes(ann, podium)
		s.since()
		s.call.becomes(func(st *voice.Status) { st.Channel = podium })
		s.want(t, "moved where it may not be", "103: I may not come into that voice channel; whoever runs me can add it to providers.discord.voice_channels.", "leaves 103", "no voice in discord-102")
		s.end()
	})
}

// TestMovedInMidSentence: words in the new channel are heard while those from the old one are still
// being understood; the old ones still count, unless their speaker has opted out meanwhile.
func TestMovedInMidSentence(t *testing.T) {
	for name, want := range map[string]string{
		"and hears on":          "2 in 101: map[2:25]\n3 in 101: map[3:25]\n3 in 102: map[3:40]",
		"and one has opted out": "3 in 101: map[3:25]\n3 in 102: map[3:40]",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := begin(t, people())
				s.slow = 4 * time.Second
				for _, user := range []uint64{ann, bob} {
					s.goes(user, lobby)
				}
				s.plays(map[uint64]string{ann: "#####", bob: ".........#####"})
				for _, user := range []uint64{ann, bob} {
					s.goes(user, attic)
				}
				s.call.becomes(func(st *voice.Status) { st.Channel = attic })
				if name == "and one has opted out" {
					s.OptOut(ann, true)
				}
				s.plays(map[uint64]string{bob: "########............"})
				time.Sleep(10 * time.Second)
				if got := s.said(); got != want {
					t.Errorf("said\n%s\nwant:\n%s", got, want)
				}
				s.end()
			})
		})
	}
}

// TestHearing: all speakers are heard separately, even at the same time. Bots are heard as
// configured, and users who are not listed never.
func TestHearing(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Config)
		plays  map[uint64]string
		want   string
	}{
		{"one", nil, map[uint64]string{ann: "..#####............"}, "2 in 101: map[2:25]"},
		{"one after the other", nil, map[uint64]string{
			ann: "..#####.........................",
			bob: "...........######...............",
		}, "2 in 101: map[2:25]\n3 in 101: map[3:30]"},
		{"three at once", nil, map[uint64]string{
			ann:  "..######...................",
			bob:  "....########...............",
			carl: "..........######...........",
		}, "2 in 101: map[2:30] +\n3 in 101: map[3:40] +\n4 in 101: map[4:30] +"},
		{"twice", nil, map[uint64]string{ann: "#####............#######............"}, "2 in 101: map[2:25]\n2 in 101: map[2:35]"},
		{"a bot", nil, map[uint64]string{machine: "#####............"}, "5 in 101: map[5:25]"},
		{"a bot that is ignored", func(c *Config) { c.IgnoreBots = true }, map[uint64]string{machine: "#####............", ann: "#####............"}, "2 in 101: map[2:25]"},
		{"who is not listed", func(c *Config) { c.Users = []string{id(ann)} }, map[uint64]string{bob: "#####............", ann: "#####............"}, "2 in 101: map[2:25]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := people()
				if tt.change != nil {
					tt.change(&cfg)
				}
				s := begin(t, cfg)
				for _, user := range []uint64{ann, bob, carl, machine} {
					s.goes(user, lobby)
				}
				s.plays(tt.plays)
				if got := s.said(); got != tt.want {
					t.Errorf("said\n%s\nwant\n%s", got, tt.want)
				}
				if cfg.IgnoreBots && s.coders[0].takes(machine) != 0 {
					t.Error("a bot that is ignored was decoded")
				}
				s.end()
			})
		})
	}
}

// TestLateWords: words that are understood late belong to the person who said them, even if
// somebody else speaks meanwhile.
func TestLateWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, people())
		s.slow = 5 * time.Second
		s.goes(ann, lobby)
		s.goes(bob, lobby)
		s.plays(map[uint64]string{ann: "#####............"})
		s.plays(map[uint64]string{bob: "######............"})
		time.Sleep(10 * time.Second)
		if got := s.said(); got != "2 in 101: map[2:25]\n3 in 101: map[3:30]" {
			t.Errorf("said\n%s", got)
		}
		s.end()
	})
}

// TestOptOut: somebody who opts out is not heard from that moment on, even in the middle of a
// sentence or while it is being understood; nothing more of them is decoded.
func TestOptOut(t *testing.T) {
	for name, before := range map[string]string{"before": "", "in mid-sentence": "####", "while it is understood": "#####............"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := begin(t, people())
				s.slow = 3 * time.Second
				s.goes(ann, lobby)
				s.goes(bob, lobby)
				s.plays(map[uint64]string{ann: before})
				if got := s.OptOut(ann, true); !strings.HasPrefix(got, "I do not listen to you any more, in no voice channel") || !s.parts.OptOuts.Out(ann) {
					t.Errorf("answers %q", got)
				}
				decoded := s.coders[0].takes(ann)
				s.plays(map[uint64]string{ann: "########............", bob: "#####............"})
				time.Sleep(time.Minute)
				if got := s.said(); got != "3 in 101: map[3:25] +" && got != "3 in 101: map[3:25]" {
					t.Errorf("said\n%s", got)
				}
				if n := s.coders[0].takes(ann) - decoded; n != 0 {
					t.Errorf("%d packets were decoded", n)
				}
				last := earshot.Stage("")
				for _, e := range s.heard {
					if sp, ok := e.Body.(earshot.Speech); ok && e.From == gateway.HandleOf(ann) {
						last = sp.Stage
					}
				}
				if before != "" && last != earshot.VoiceOver && name == "in mid-sentence" {
					t.Errorf("the room was told last %q", last)
				}
				if got := s.OptOut(ann, false); !strings.HasPrefix(got, "I listen to you again") {
					t.Errorf("answers %q", got)
				}
				s.plays(map[uint64]string{ann: "######............"})
				time.Sleep(time.Minute)
				if got := s.said(); !strings.HasPrefix(got, "2 in 101: map[2:30]\n3 in") {
					t.Errorf("said afterwards\n%s", got)
				}
				s.unread = errors.New("the disk is full")
				if got := s.OptOut(bob, true); !strings.Contains(got, "could not be written down") || !s.parts.OptOuts.Out(bob) {
					t.Errorf("answers %q", got)
				}
				s.end()
			})
		})
	}
}

// TestMuted: while the room does not listen nothing is decoded, and what somebody was just saying
// is thrown away.
func TestMuted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, people())
		s.goes(ann, lobby)
		s.plays(map[uint64]string{ann: "#####............####"})
		s.mutes(true)
		decoded := s.coders[0].takes(ann)
		if s.Status()[0].Listens {
			t.Error("the status says that it listens")
		}
		s.plays(map[uint64]string{ann: "######............"})
		if n := s.coders[0].takes(ann) - decoded; n != 0 {
			t.Errorf("%d packets were decoded", n)
		}
		s.mutes(false)
		s.plays(map[uint64]string{ann: "########............"})
		if got := s.said(); got != "2 in 101: map[2:25]\n2 in 101: map[2:40]" {
			t.Errorf("said\n%s", got)
		}
		s.end()
	})
}

// TestLastWords: what somebody says before they leave is heard to its end.
func TestLastWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, people())
		s.goes(ann, lobby)
		s.plays(map[uint64]string{ann: "#####"})
		s.goes(ann, 0)
		synctest.Wait()
		if got := s.said(); got != "2 in 101: map[2:25]" {
			t.Errorf("said\n%s", got)
		}
		s.end()
	})
}

// TestWhoIsUnknown: somebody who cannot be registered is not heard, and the registration is not
// tried again with each packet.
func TestWhoIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, people())
		s.unknown = errors.New("Discord does not answer")
		s.goes(ann, lobby)
		for range 10 {
			s.plays(map[uint64]string{ann: "#####....."})
		}
		if got := s.said(); got != "" || s.asked != 2 {
			t.Errorf("asked %d times, said\n%s", s.asked, got)
		}
		s.unknown = nil
		time.Sleep(earRest)
		s.plays(map[uint64]string{ann: "#####............"})
		if got := s.said(); got != "2 in 101: map[2:25]" {
			t.Errorf("said\n%s", got)
		}
		s.end()
	})
}

// TestPlainCall: whether an unencrypted call is refused follows the configuration. A refusal is
// said once in the chat, and the agent does not come again by itself.
func TestPlainCall(t *testing.T) {
	for _, wants := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			cfg := people()
			cfg.EncryptedCalls = wants
			s := begin(t, cfg)
			s.goes(ann, lobby)
			s.since()
			if s.call.cfg.Encrypted != wants {
				t.Errorf("with %v the call is to be encrypted: %v", wants, s.call.cfg.Encrypted)
			}
			s.call.ends <- &voice.Ended{Code: voice.Plain, Why: "Discord makes this call plain"}
			time.Sleep(time.Hour)
			s.want(t, "plain", "101: Discord makes this call plain.", "no voice in discord-101")
			s.end()
		})
	}
	if !discord.DefaultConfig().EncryptedCalls {
		t.Error("nobody who configures nothing wants calls to be encrypted")
	}
}
