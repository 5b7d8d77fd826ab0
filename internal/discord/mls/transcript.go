package mls

// The transcript hashes (section 8.2): one over all commits up to their signature, and one that
// also covers the confirmation tag of the last.

func confirmedTranscriptHash(interim []byte, commit *publicMessage) []byte {
	var w writer
	w.uint16(wirePublicMessage)
	w.bytes(commit.raw)
	w.opaque(commit.signature)
	return hash(interim, w)
}

func interimTranscriptHash(confirmed, confirmationTag []byte) []byte {
	var w writer
	w.opaque(confirmationTag)
	return hash(confirmed, w)
}
