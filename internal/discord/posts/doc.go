// Package posts writes in a text channel, in a thread or in direct messages: a [Writer] posts one
// reply in several messages, and [Lines] are short lines that wait to be posted together.
//
// A message is posted as soon as a paragraph is complete, or a sentence after 1.2 s, so that nobody
// wonders; later text is gathered for some seconds, so that a reply is a few messages and not a
// dozen. A code block is posted as one. Until the first message, the typing indicator is shown. What
// Discord has acknowledged is posted; a cut posts nothing more: a message on its way is waited for,
// and deleted if Discord acknowledges it after the context has ended, so that the channel shows what
// the writer has reported.
//
// When Discord is slow, [Writer.Write] waits while 16 KB are left to post; of the lines, the oldest
// are dropped, and counted.
package posts
