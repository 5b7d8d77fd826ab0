package voiceprint

import "hash/crc32"

// Kind identifies the meaning of a print's numbers: prints of two kinds cannot be compared, so it
// must be stored beside prints. It is different for each model, which itself says for which kind
// of measurement it was made.
var Kind = int(crc32.ChecksumIEEE(voices))
