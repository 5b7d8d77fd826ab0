package config

import (
	"path/filepath"

	"github.com/adrg/xdg"
)

// Place fills in the places that depend on the user.
func Place(cfg *Config) *Config {
	if cfg.Store.Directory == "" {
		cfg.Store.Directory = filepath.Join(xdg.StateHome, "earshot", "journal")
	}
	if cfg.Log.File == "" {
		cfg.Log.File = filepath.Join(xdg.StateHome, "earshot", "earshot.log")
	}
	return cfg
}

// AuditFile is the file that records who changed something. It is beside the log, or with the
// journal if the log is not a file.
func AuditFile(cfg *Config) string {
	if cfg.Log.File == "" || cfg.Log.File == "-" {
		return filepath.Join(cfg.Store.Directory, "audit.log")
	}
	return filepath.Join(filepath.Dir(cfg.Log.File), "audit.log")
}

// ShortPath writes a path as people write it, with ~ for their home.
func ShortPath(path string) string {
	if rest, err := filepath.Rel(xdg.Home, path); err == nil && filepath.IsLocal(rest) {
		return filepath.Join("~", rest)
	}
	return path
}
