package voiceprint

import "hash/crc32"

// Kind says what the numbers of a print mean: prints of two kinds cannot be
// compared, so who keeps prints keeps it beside them. It is another one for each
// model, which says itself for which kind of measuring it was made.
var Kind = int(crc32.ChecksumIEEE(voices))
