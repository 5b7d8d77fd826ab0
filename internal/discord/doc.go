// Package discord holds no code: it says where what concerns Discord lies. Its folders are, from the
// bottom up:
//
//   - mls and dave are the encryption of calls. They import nothing of ours but each other, and have
//     a README and examples for anybody who wants to use them.
//   - voice is one call: the voice gateway, the packets, the encryption.
//   - gateway is the session of a bot: the main gateway, REST, and Discord's numbers.
//   - compose turns text into messages that Discord accepts, and cleans what people wrote.
//   - posts posts replies and lines in a channel, in time.
//   - roster knows the guilds, channels and members, and what was missed there.
//   - interaction registers slash commands, and answers them.
//   - calls joins voice channels, and hears each person there.
//   - bot joins all of it to the rooms of a daemon.
//   - discordtest is a Discord for tests, davetest the delivery service of the encryption there, and
//     peers are other people's clients.
//
// # The rule
//
// What speaks in Discord's terms (guild, channel, member, interaction, voice state) lies here. What
// translates between these and the daemon's terms lies in providers/discord, which makes events of
// what happens on Discord, and in outlets/discord, which makes posts and sound of replies; they do
// nothing else. A folder imports only folders above it in the list. None but bot imports the
// provider or the outlet, and none but bot knows the daemon.
//
// # The way of a message
//
// A message comes from the websocket of gateway, whose queue passes it to the provider. The roster
// learns from it, and the provider makes an event of it, which bot brings into the room of the
// channel. The reply goes from the room to the outlet of the channel, clause by clause, and from
// there to posts; compose makes messages of it, which gateway sends by REST.
//
// In a call, packets come from voice to calls, which has a listener for each person; what was
// recognised goes to the room as an event. A spoken reply goes to the outlet of the call, whose
// player has it encoded and hands it to voice, which sends a frame every 20 ms.
package discord
