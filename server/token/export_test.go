package token

// Parse parses the content of a file and formats it again.
func Parse(data []byte) ([]byte, error) {
	file := new(Store).file()
	all, err := file.Parse(data)
	if err != nil {
		return nil, err
	}
	return file.Format(all)
}

// Most is the greatest number of tokens.
const Most = most
