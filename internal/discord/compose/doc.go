// Package compose splits a text into messages that Discord accepts, that look as the text was
// meant, and that ping nobody unintentionally. It is pure, and works while the text is still being
// written. It also cleans what people wrote.
//
// # Cuts
//
// A message has at most 2,000 characters, which are Unicode code points, as Discord's own people
// say (discord-api-docs, issue 1315). A longer text is cut at the end of a paragraph, else of a
// line, of a sentence, of a word, whichever fills half a part first; else anywhere except within
// what a reader sees as one character. A link, a mention, a code span, a spoiler and an emoji stay
// whole unless they are longer than 1,500 bytes. A code block that is cut is closed, and opened
// again with its language. White space at a cut is dropped, since Discord drops it; so are control
// characters.
//
// # Pings
//
// "@Name" becomes a mention where it stands for a person whom the caller names, outside code and
// not within a word. [Part.Users] has exactly those. Anything else that looks like a mention is
// broken by a zero-width space, so that nothing depends on allowed_mentions alone; within code and
// links it stays unchanged, where it cannot ping since the caller says who may be pinged.
//
// # What people write
//
// All names and texts on Discord are chosen by unknown people. [Clean] keeps the lines of a text and
// removes invisible characters; [CleanLine] is a name for display, and [CleanName] a name that may
// appear within a text.
package compose
