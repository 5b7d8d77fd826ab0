package voiceprint

// Kind says what the numbers of a print mean: prints of two kinds cannot be
// compared, so who keeps prints keeps it beside them. It grows with every change
// to how an [Extractor] makes them, also of its weights.
const Kind = 1
