package modeltest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"earshot/models/catalog"
)

// Describe makes a folder with the files of a model an installed set: it writes set.json. Each file
// is the part that its name says without the ending, such as encoder.
func Describe(folder string, role catalog.Role, kind catalog.Kind) error {
	set := catalog.Set{
		Name: filepath.Base(folder), Title: "tones", Role: role, Kind: kind, Languages: []string{"en"},
		Licence: catalog.Licence{ID: "Apache-2.0"}, Files: make(map[string]catalog.File),
	}
	all, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, f := range all {
		part, _, _ := strings.Cut(f.Name(), ".")
		b, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(b)
		set.Files[part] = catalog.File{Path: f.Name(), Bytes: int64(len(b)), SHA256: hex.EncodeToString(sum[:])}
	}
	text, err := json.Marshal(set)
	if err != nil {
		return err
	}
	return write(folder, map[string][]byte{catalog.Description: text})
}
