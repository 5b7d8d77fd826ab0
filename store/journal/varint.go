package journal

// Varint reads a variable-length integer of SQLite, and returns how many bytes it took: 0 if there
// is none.
func Varint(data []byte) (n int64, took int) {
	for i, b := range data[:min(9, len(data))] {
		if i == 8 {
			return n<<8 | int64(b), 9
		}
		n = n<<7 | int64(b&0x7f)
		if b < 0x80 {
			return n, i + 1
		}
	}
	return 0, 0
}
