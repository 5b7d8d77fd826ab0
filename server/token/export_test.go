package token

// Parse parses the content of a file and formats it again.
func Parse(data []byte) ([]byte, error) {
	all, err := parse(data)
	if err != nil {
		return nil, err
	}
	return format(all)
}

// Most is the greatest number of tokens.
const Most = most
