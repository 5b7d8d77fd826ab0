package mls

// Next returns the MLSMessage at the beginning of b, and what is behind it: in a list
// of them, nothing else says where one ends. Only its form is looked at.
func Next(b []byte) (message, rest []byte, err error) {
	if len(b) > maxMessage {
		return nil, nil, faultf("2", "a message of %d bytes", len(b))
	}
	r := &reader{whole: b}
	readPublicMessage(r)
	if r.err != nil {
		return nil, nil, r.err
	}
	return b[:r.at], b[r.at:], nil
}
