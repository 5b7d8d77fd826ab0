package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"earshot"
	"earshot/internal/codec"
	"earshot/internal/discord/discordtest"
	"earshot/internal/discord/peers"
	"earshot/internal/helper"
	"earshot/internal/testkit"
)

// A speaker is somebody who talks through discord.js.
type speaker struct {
	discordtest.User
	voice person
	*peers.Peer
	c *club
}

// joins lets people enter a voice channel.
func (c *club) joins(channel uint64, all ...*speaker) {
	c.t.Helper()
	users := make([]discordtest.User, len(all))
	for i, s := range all {
		users[i] = s.User
	}
	for i, p := range c.clients(peers.Config{}, users...) {
		all[i].Peer, all[i].c = p, c
		p.Join(channel)
	}
	testkit.Await(c.t, soon, "those who talk", func() bool {
		there := c.InCall(channel) // may include the bot, which may join calls with people in them
		return !slices.ContainsFunc(all, func(s *speaker) bool { return !slices.Contains(there, s.ID) })
	})
}

// rehearses writes text, spoken by s, into a file of packets.
func (s *speaker) rehearses(text string) (file string) {
	s.c.t.Helper()
	file = filepath.Join(s.c.t.TempDir(), "said")
	if err := os.WriteFile(file, peers.Packets(opusOf(s.c.t, s.voice.sound(s.c.t, text))), 0o600); err != nil {
		s.c.t.Fatal(err)
	}
	return file
}

// says starts to say something, and does not wait for the end.
func (s *speaker) says(text string) {
	s.c.t.Helper()
	s.Speak(s.rehearses(text))
}

// sent waits until s has sent so many more packets, of 20 ms each.
func (s *speaker) sent(packets int) {
	s.c.t.Helper()
	before := s.c.Traffic(s.ID).In
	testkit.Await(s.c.t, soon, "what "+s.Name+" says on the wire", func() bool { return s.c.Traffic(s.ID).In >= before+packets })
}

// media starts the helper for Opus.
func media(t testing.TB) helper.Dialer {
	path := filepath.Join(needVoice(t), helper.SpeechProgram)
	return func() (helper.Link, error) {
		return helper.Start(helper.Command{Name: helper.SpeechProgram, Path: path, Args: []string{"media"}, Log: quietly})
	}
}

// opusOf encodes sound of 16 kHz as Opus packets.
func opusOf(t testing.TB, pcm []int16) (packets [][]byte) {
	t.Helper()
	o := codec.NewOpus(codec.OpusConfig{Dial: media(t), Encoded: func(_ context.Context, opus []byte) {
		packets = append(packets, slices.Clone(opus))
	}})
	ctx, stop := context.WithTimeout(t.Context(), soon)
	var life sync.WaitGroup
	life.Go(func() { o.Run(ctx) })
	err := o.Encode(ctx, rate, pcm)
	if err == nil {
		err = o.Flush(ctx)
	}
	stop()
	testkit.Finish(t, testkit.Patience, "the end of the coder", life.Wait)
	if err != nil {
		t.Fatal(err)
	}
	return packets
}

// heardIn returns how much of a recording is not silent, in milliseconds.
func heardIn(t testing.TB, file string) (ms int) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for _, p := range peers.ReadRecord(data) {
		if len(p.Opus) > 20 { // silence takes fewer bytes
			ms += 20
		}
	}
	return ms
}

// A tap keeps what the daemon sends to its speech helpers.
type tap struct{ dir string }

// tapped returns a folder with a speech helper that wraps the one in dir, and the tap that keeps
// its input.
func tapped(t testing.TB, dir string) (tap, string) {
	t.Helper()
	at := tap{t.TempDir()}
	script := fmt.Sprintf("#!/bin/sh\ntee \"%s/$1.$$\" | \"%s\" \"$@\"\n", at.dir, filepath.Join(dir, helper.SpeechProgram))
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, helper.SpeechProgram), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return at, bin
}

// got returns how many messages and bytes of sound have been sent to the helpers in a role.
func (p tap) got(t testing.TB, role string) (messages, bytes int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(p.dir, role+".*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no helper for %s was tapped: %v", role, err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for len(data) >= 8 { // each message follows its length and the number of its stream
			n := int(binary.LittleEndian.Uint32(data))
			if n < 4 || 4+n > len(data) {
				break // it is still being written
			}
			messages, bytes, data = messages+1, bytes+n-4, data[4+n:]
		}
	}
	return messages, bytes
}

// TestAloudOnDiscord: people with discord.js talk to the agent in a voice channel. Each is
// recognised by name and understood, even if three speak at once. The agent answers aloud, falls
// silent when somebody talks over it, and keeps what was heard. Somebody who opts out in the middle
// of a sentence has said nothing, and is not heard from then on. The history reads right.
func TestAloudOnDiscord(t *testing.T) {
	talks(t)
	helpers, bin := tapped(t, needVoice(t))
	c := newClub(t, talker, "", "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	c.comes()
	channel := c.Channel("voice").ID
	a, b := &speaker{User: c.ann, voice: ann}, &speaker{User: c.bob, voice: bob}
	e := &speaker{User: c.AddUser(discordtest.User{Name: "eve", Human: true}), voice: eve}
	c.joins(channel, a, b, e)
	given := c.Invoke(c.ann.ID, c.bot.ID, channel, "join", "")
	testkit.Await(t, soon, "earshot in the call", func() bool { return slices.Contains(c.InCall(channel), c.bot.ID) })
	if is := c.Interaction(given); !is.Ephemeral {
		t.Errorf("/join was answered with %q to all", is.Answers)
	}
	record := filepath.Join(t.TempDir(), "record")
	a.Record(c.bot.ID, record)
	testkit.Await(t, soon, "that it says that it listens", func() bool { return heardIn(t, record) > 500 && len(c.written(channel)) > 0 })

	c.talk(a, b, e)
	b.says("earshot, what is the weather like today")
	if replies := c.replied(1); replies[0].Outcome != earshot.Completed || len(replies[0].Heard) != 1 || replies[0].Heard[0].Outlet != "discord voice" {
		t.Errorf("it answered %+v", replies[0])
	}
	cut := c.interrupted(b, a, record)
	c.silenced(b, channel, helpers)
	a.says("earshot, what is the weather like today")
	c.replied(4)

	for _, word := range []string{"teapot", "shelf", "kitchen", "nobody else"} {
		if strings.Contains(c.everything("state"), word) {
			t.Errorf("%q, said by who does not want to be heard, is kept", word)
		}
	}
	for _, word := range []string{"weather", "tide", "noon", "shopping", "monday"} {
		if strings.Contains(c.log(), word) {
			t.Errorf("%q, which was said aloud, is in the log", word)
		}
	}
	const few = 3 // words that a recogniser may get wrong
	golden(t, c.reads(roomOf(channel)), []verse{
		{"ann", talked[0], half, "[while bob and eve spoke] [not to me]"},
		{"bob", talked[1], half, "[while ann and eve spoke] [not to me]"},
		{"eve", talked[2], half, "[while ann and bob spoke] [not to me]"},
		{"bob", "Earshot what is the weather like today", few, ""},
		{"Earshot", "It is warm and dry today.", 0, ""},
		{"bob", "Earshot tell me about the tide", few, ""},
		{"Earshot", string(cut.Delivered()), 0, fmt.Sprintf("[cut off by ann; not heard: %s]", strings.TrimSpace(string(cut.Remainder())))},
		{"ann", "Earshot what about the weather", few, ""},
		{"Earshot", "It is warm and dry today.", 0, ""},
		{"ann", "Earshot what is the weather like today", few, ""},
		{"Earshot", "It is warm and dry today.", 0, ""},
	})
}

// talked holds what three people say at the same time.
var talked = []string{
	"the build was finished at noon and everybody went home after that",
	"add milk and eggs to the shopping list and bring some apples too",
	"the meeting was moved to three thirty on monday and then to tuesday",
}

// half is how many of those words a recogniser may get wrong per person, when three people keep it
// busy.
const half = 6

// talk lets three people speak at once, each starting a little after the other, and waits until
// each has been understood.
func (c *club) talk(all ...*speaker) {
	c.t.Helper()
	files := make([]string, len(all))
	for i, s := range all {
		files[i] = s.rehearses(talked[i])
	}
	for i, s := range all {
		s.Speak(files[i])
		s.sent(35)
	}
	for i, s := range all {
		testkit.Receive(c.t, 5*testkit.Patience, "what is said in the call", s.Spoken())
		last := talked[i][strings.LastIndex(talked[i], " ")+1:]
		testkit.Await(c.t, soon, "what "+s.Name+" says while others speak", func() bool {
			var words string
			for _, ev := range c.journal() {
				if u, ok := ev.Body.(earshot.Utterance); ok && ev.Author == participantOf(s.User) {
					words += string(u.Text) + " "
				}
			}
			return strings.Contains(words, last) || wrong(words, talked[i]) <= half
		})
	}
}

// interrupted lets one person ask for a story, and another ask something else over it.
func (c *club) interrupted(asks, over *speaker, record string) (cut earshot.Reply) {
	c.t.Helper()
	before := heardIn(c.t, record)
	asks.says("earshot, tell me about the tide")
	question := over.rehearses("earshot, what about the weather")
	testkit.Await(c.t, soon, "its voice", func() bool { return heardIn(c.t, record) > before+2000 })
	over.Speak(question)
	cut = c.replied(3)[1]
	if cut.Outcome != earshot.Interrupted || cut.Delivered() == "" || cut.Remainder() == "" || cut.Cut == nil || cut.Cut.By != participantOf(over.User) {
		c.t.Errorf("it was cut off like this: %+v", cut)
	}
	return cut
}

// silenced lets somebody opt out in the middle of a sentence and speak on to its end. No decoder or
// recogniser gets any of it but what had come before the opt-out. A recogniser also gets a little
// of the silence before a sentence.
func (c *club) silenced(who *speaker, channel uint64, helpers tap) {
	c.t.Helper()
	secret := who.rehearses("the ring is in the teapot on the second shelf of the kitchen and nobody else may ever know that" +
		" because it was my mother's and hers before that and it is all that is left of the house by the sea" +
		" which they had to sell when the river came and took the garden and the road and the bridge")
	for len(who.Spoken()) > 0 {
		testkit.Receive(c.t, 5*testkit.Patience, "what is said in the call", who.Spoken())
	}
	decoded, _ := helpers.got(c.t, "media")
	_, heard := helpers.got(c.t, "hear")
	spoken := c.Traffic(who.ID).In
	who.Speak(secret)
	who.sent(75) // a second and a half of the sentence
	out := c.Invoke(who.ID, c.bot.ID, channel, "optout", "")
	testkit.Await(c.t, soon, "the answer", func() bool { return len(c.Interaction(out).Answers) > 0 })
	before := c.Traffic(who.ID).In - spoken
	testkit.Receive(c.t, 5*testkit.Patience, "what is said in the call", who.Spoken())
	packets, _ := helpers.got(c.t, "media")
	_, sound := helpers.got(c.t, "hear")
	all := c.Traffic(who.ID).In - spoken
	c.t.Logf("of %d packets %d had come when they opted out; %d were decoded, and %d of 20 ms heard", all, before, packets-decoded, (sound-heard)/640)
	const quiet = 50 // packets of silence around the sentence
	if packets-decoded > before || (sound-heard)/640 > before+quiet || all < 2*before+quiet {
		c.t.Error("who does not want to be heard is heard")
	}
}
