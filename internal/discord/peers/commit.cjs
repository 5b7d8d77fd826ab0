// Measures what a commit takes @snazzah/davey, in a group of as many members as the
// argument says: somebody is added, which is measured, and removed again. It is its
// own delivery service, which signs as the external sender (RFC 9420 §6.1, §12.1.8).
// It prints the milliseconds of each as a list.
'use strict';
const crypto = require('node:crypto');
const { DAVESession } = require('@snazzah/davey');
const [members, rounds] = process.argv.slice(-2).map(Number);

const bytes = (size, write) => { const b = Buffer.alloc(size); write(b); return b; };
const u8 = (n) => Buffer.from([n]);
const u16 = (n) => bytes(2, (b) => b.writeUInt16BE(n));
const u32 = (n) => bytes(4, (b) => b.writeUInt32BE(n));
const u64 = (n) => bytes(8, (b) => b.writeBigUInt64BE(BigInt(n)));
const vector = (b) => Buffer.concat([b.length < 64 ? u8(b.length) : b.length < 16384 ? u16(0x4000 | b.length) : u32((0x80000000 | b.length) >>> 0), b]);

const sender = crypto.generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const { x, y } = sender.publicKey.export({ format: 'jwk' });
const point = Buffer.concat([u8(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
const channel = '927310423890473011';

function propose(epoch, proposal) {
  const content = Buffer.concat([vector(u64(channel)), u64(epoch), u8(2), u32(0), vector(Buffer.alloc(0)), u8(2), proposal]);
  const message = Buffer.concat([u16(1), u16(1), content]);
  const signed = Buffer.concat([vector(Buffer.from('MLS 1.0 FramedContentTBS')), vector(message)]);
  return Buffer.concat([message, vector(crypto.sign('sha256', signed, sender.privateKey))]);
}

const users = Array.from({ length: members + 1 }, (_, i) => String(1000000000000000n + BigInt(i)));
function invite(user) {
  const s = new DAVESession(1, user, channel);
  s.setExternalSender(Buffer.concat([vector(point), u16(1), vector(Buffer.from('here'))]));
  return s;
}
const add = (user) => Buffer.concat([u16(1), invite(user).getSerializedKeyPackage()]);
const remove = (leaf) => Buffer.concat([u16(3), u32(leaf)]);

const first = invite(users[0]);
first.getSerializedKeyPackage();
let epoch = 0;
function commit(...proposals) {
  const messages = vector(Buffer.concat(proposals.map((p) => propose(epoch, p))));
  const began = performance.now();
  const made = first.processProposals(0, messages, users);
  const took = performance.now() - began;
  first.processCommit(made.commit);
  epoch++;
  return took;
}
commit(...users.slice(1, members).map(add));
const times = [];
for (let i = 0; i < rounds; i++) {
  times.push(commit(add(users[members])));
  commit(remove(members));
}
if (first.getUserIds().length !== members) throw new Error('a group of ' + first.getUserIds().length);
console.log(JSON.stringify(times));
