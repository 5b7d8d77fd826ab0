package testkit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
)

// Files calls each with the path and contents of every regular file below a folder. It skips files
// that disappear while the folder is being read, because a running program may replace its files.
func Files(t testing.TB, folder string, each func(path string, data []byte)) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.Type().IsRegular() {
			return nil
		}
		var data []byte
		if err == nil {
			data, err = os.ReadFile(path)
		}
		if errors.Is(err, fs.ErrNotExist) && path != folder {
			return nil
		}
		if err == nil {
			each(path, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Forms returns all the forms that a word may have in a file.
func Forms(word string) (all []string) {
	small := strings.ToLower(word)
	wide := utf16.Encode([]rune(small))
	var low, high, escaped strings.Builder
	for _, c := range wide {
		low.Write([]byte{byte(c), byte(c >> 8)})
		high.Write([]byte{byte(c >> 8), byte(c)})
		fmt.Fprintf(&escaped, "\\u%04x", c)
	}
	return []string{small, small[2:], small[:len(small)-1], low.String(), high.String(), escaped.String()}
}
