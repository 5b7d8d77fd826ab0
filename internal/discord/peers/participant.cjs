// A participant that knows nothing of earshot: discord.js, @discordjs/voice and
// @snazzah/davey, none of them changed. It does what the lines on its standard input
// say, and says what it sees as lines of JSON. Its arguments are the address of REST,
// a token, a guild, and whether it reads what is written.
'use strict';
const { Client, GatewayIntentBits, Partials, Events } = require('discord.js');
const voice = require('@discordjs/voice');
const { Readable } = require('node:stream');
const fs = require('node:fs');

const [base, token, guildID, reads] = process.argv.slice(-4);
const say = (event, more) => process.stdout.write(JSON.stringify({ event, ...more }) + '\n');

// A frame is 62 bytes that pass for Opus: what it is, whose it is, its number, and
// words that nobody else says. peers.Frame makes the same.
const words = Buffer.from('nobody may read this but those who are in the same call!');
function frame(tag, n) {
  const f = Buffer.alloc(62);
  f[0] = 0xfc;
  f[1] = tag;
  f.writeUInt32BE(n >>> 0, 2);
  words.copy(f, 6);
  return f;
}

const reading = reads !== 'reads' ? [] : [
  GatewayIntentBits.GuildMessages, GatewayIntentBits.MessageContent, GatewayIntentBits.GuildMessageTyping,
  GatewayIntentBits.DirectMessages, GatewayIntentBits.DirectMessageTyping,
];
const client = new Client({
  intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildVoiceStates, ...reading],
  partials: [Partials.Channel, Partials.Message, Partials.User, Partials.GuildMember], // it asks for what it has not seen
  rest: { api: base + 'api' },
});
client.on('error', (e) => say('error', { what: 'client: ' + e.message }));
client.once(Events.ClientReady, () => say('ready', { user: client.user.id }));

// What it sees of what is written; and what it answers to everything, if anything.
let answer = '';
client.on(Events.MessageCreate, (m) => {
  say('message', { id: m.id, channel: m.channelId, author: m.author.id, to: m.reference?.messageId ?? '0', text: m.content });
  if (answer && m.author.id !== client.user.id) {
    m.channel.send(answer).catch((e) => say('error', { what: 'answering: ' + e.message }));
  }
});
client.on(Events.MessageUpdate, (_, m) => say('edited', { id: m.id, text: m.content }));
client.on(Events.MessageDelete, (m) => say('deleted', { id: m.id }));
client.on(Events.TypingStart, (t) => say('typing', { channel: t.channel.id, author: t.user.id }));

let connection = null;
let heard = {};
let records = null; // of the user whom it records: packets of Opus as they come
const player = voice.createAudioPlayer();
player.on('error', (e) => say('error', { what: 'player: ' + e.message }));

function count(user, packet) {
  if (records?.user === user) {
    const head = Buffer.alloc(10);
    head.writeBigUInt64BE(BigInt(Date.now()), 0);
    head.writeUInt16BE(packet.length, 8);
    fs.writeSync(records.file, Buffer.concat([head, packet]));
  }
  const h = (heard[user] ??= { silence: 0, other: 0, tags: {}, last: -1 });
  if (packet.length === 3 && packet.readUIntBE(0, 3) === 0xf8fffe) h.silence++;
  else if (packet.length === 62 && packet[0] === 0xfc && packet.subarray(6).equals(words)) {
    h.tags[packet[1]] = (h.tags[packet[1]] ?? 0) + 1;
    h.last = packet.readUInt32BE(2);
  } else h.other++;
}

function listen() {
  const receiver = connection.receiver;
  const subscribe = (user) => {
    if (user === client.user.id || receiver.subscriptions.has(user)) return;
    const s = receiver.subscribe(user, { end: { behavior: voice.EndBehaviorType.Manual } });
    s.on('data', (p) => count(user, p));
    s.on('error', (e) => say('error', { what: 'hearing: ' + e.message }));
  };
  receiver.ssrcMap.on('create', (d) => subscribe(d.userId));
  receiver.speaking.on('start', subscribe);
}

// join does as the guide of discord.js says: a connection that is lost gets five
// seconds to come back by itself.
function join(channel) {
  const guild = client.guilds.cache.get(guildID);
  const made = voice.joinVoiceChannel({
    channelId: channel,
    guildId: guildID,
    adapterCreator: guild.voiceAdapterCreator,
    selfDeaf: false,
    selfMute: false,
    debug: Boolean(process.env.PARTICIPANT_DEBUG),
  });
  if (made === connection) return; // moved
  connection = made;
  made.on('error', (e) => say('error', { what: 'voice: ' + e.message }));
  made.on('debug', (m) => process.stderr.write(m + '\n'));
  made.on('stateChange', (was, is) => was.status !== is.status && say('state', { status: is.status }));
  made.on(voice.VoiceConnectionStatus.Disconnected, async () => {
    try {
      await Promise.race([
        voice.entersState(made, voice.VoiceConnectionStatus.Signalling, 5000),
        voice.entersState(made, voice.VoiceConnectionStatus.Connecting, 5000),
      ]);
    } catch {
      if (made.state.status !== voice.VoiceConnectionStatus.Destroyed) made.destroy();
    }
  });
  made.subscribe(player);
  listen();
}

function play(tag) {
  let n = 0;
  const frames = new Readable({ objectMode: true, read() { this.push(frame(tag, n++)); } });
  player.play(voice.createAudioResource(frames, { inputType: voice.StreamType.Opus }));
}

// speak plays the packets of Opus in a file, each behind its length in two bytes, and
// says when the last of them has been handed over.
function speak(path) {
  const all = fs.readFileSync(path);
  let at = 0;
  const packets = new Readable({
    objectMode: true,
    read() {
      if (at >= all.length) return this.push(null);
      const n = all.readUInt16BE(at);
      this.push(all.subarray(at + 2, at + 2 + n));
      at += 2 + n;
    },
  });
  player.once(voice.AudioPlayerStatus.Idle, () => say('spoken', {}));
  player.play(voice.createAudioResource(packets, { inputType: voice.StreamType.Opus }));
}

// wrote keeps a message, so that it can be answered, changed and deleted.
const written = new Map();
function wrote(number, message) {
  written.set(message.id, message);
  say('report', { number: Number(number), message: message.id });
}
const text = (words) => JSON.parse(words.join(' '));

const commands = {
  write: async (number, channel, ...words) => wrote(number, await (await client.channels.fetch(channel)).send(text(words))),
  reply: async (number, message, ...words) => wrote(number, await written.get(message).reply(text(words))),
  edit: async (number, message, ...words) => wrote(number, await written.get(message).edit(text(words))),
  delete: async (number, message) => wrote(number, await written.get(message).delete()),
  direct: async (number, user) => say('report', { number: Number(number), channel: (await client.users.createDM(user)).id }),
  answer: (number, ...words) => {
    answer = text(words);
    say('report', { number: Number(number) });
  },
  type: async (number, channel) => {
    await (await client.channels.fetch(channel)).sendTyping();
    say('report', { number: Number(number) });
  },
  speak: (path) => speak(path),
  record: (user, path) => { records = { user, file: fs.openSync(path, 'w') }; },
  join: (channel) => join(channel),
  leave: () => { connection?.destroy(); connection = null; },
  play: (tag) => play(Number(tag)),
  stop: () => player.stop(),
  forget: () => { heard = {}; },
  report: (number) => say('report', {
    number: Number(number),
    status: connection?.state.status ?? 'none',
    code: connection?.voicePrivacyCode ?? '',
    heard,
  }),
  quit: () => { connection?.destroy(); client.destroy(); setTimeout(() => process.exit(0), 50); },
};

require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const [name, ...args] = line.split(' ');
  Promise.resolve(commands[name]?.(...args)).catch((e) => say('error', { what: name + ': ' + e.message }));
}).on('close', () => commands.quit());
process.on('unhandledRejection', (e) => say('error', { what: String(e) }));
client.login(token).catch((e) => { say('error', { what: 'login: ' + e.message }); process.exit(1); });
