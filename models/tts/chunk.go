package tts

// A Chunk is a piece of the sound of a text.
type Chunk struct {
	PCM   []int16 // valid until the next chunk; may be empty
	Words []Word  // new since the previous chunk, ascending
}

// A Word is where a word begins: at sample Sample of the sound and byte Byte of the text, counted
// from the beginning of both.
type Word struct {
	Byte   int
	Sample int
}
