package tts

// A Chunk is a piece of the sound of what is said.
type Chunk struct {
	PCM   []int16 // valid until the next chunk; may be empty
	Words []Word  // that are known since the chunk before, ascending
}

// A Word is where a word begins: the sound of what is said begins at sample
// Sample with byte Byte of it, counted from the beginning of both.
type Word struct {
	Byte   int
	Sample int
}
