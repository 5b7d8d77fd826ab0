package config

import (
	"fmt"
	"path/filepath"

	"github.com/adrg/xdg"
)

// ShortPath writes a path as people write it, with ~ for their home.
func ShortPath(path string) string {
	if rest, err := filepath.Rel(xdg.Home, path); err == nil && filepath.IsLocal(rest) {
		return filepath.Join("~", rest)
	}
	return fmt.Sprint(path)
}
