package neural

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"earshot/models/catalog"
)

// Version returns a text that is another one when a set was installed, replaced or removed.
func (l Library) Version() string {
	var b strings.Builder
	folders, _ := os.ReadDir(l.Dir) // none, if nothing was ever installed
	for _, f := range folders {
		if about, err := os.Stat(filepath.Join(l.Dir, f.Name(), catalog.Description)); err == nil {
			fmt.Fprintln(&b, f.Name(), about.Size(), about.ModTime().UnixNano())
		}
	}
	return b.String()
}
