package token

// Parse is parse and format, one after the other: what a file is made of what
// another one holds.
func Parse(data []byte) ([]byte, error) {
	all, err := parse(data)
	if err != nil {
		return nil, err
	}
	return format(all)
}

// Most is how many tokens there may be.
const Most = most
