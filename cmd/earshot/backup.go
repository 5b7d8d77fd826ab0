package main

import (
	"fmt"
	"os"

	"earshot/config"
	"earshot/daemon/backup"
	"earshot/internal/atomicfile"
)

type backupCommand struct {
	File   string `arg:"" help:"The file to write."`
	Tokens bool   `help:"Include the tokens by which people prove who they are, and the key of the bus by which satellites know this earshot: treat the file like a password."`
	Force  bool   `help:"Overwrite an existing file."`
}

// Run copies the journal, while earshot runs or not.
func (c backupCommand) Run(a *app) error {
	cfg, err := a.asking("store.directory")
	if err != nil {
		return err
	}
	if err := atomicfile.MayWrite(c.File, c.Force); err != nil {
		return err
	}
	archive, err := a.archive(cfg)
	if err != nil {
		return err
	}
	defer archive.Close()
	if err := backup.Write(a.ctx, archive, cfg.Store.Directory, c.File, c.Tokens, c.Force); err != nil {
		return err
	}
	info, err := os.Stat(c.File)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "%s, %.1f MB, checked. To restore it: earshot restore %s\n", config.ShortPath(c.File), float64(info.Size())/1e6, c.File)
	return err
}

type restoreCommand struct {
	File  string `arg:"" help:"The file that earshot backup wrote."`
	Force bool   `help:"Set aside what is kept now. What was forgotten since the backup stays forgotten."`
}

// Run puts a backup in the place of what is kept.
func (c restoreCommand) Run(a *app) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	r := backup.Restorer{Config: cfg, Out: a.out, Err: a.err, Log: quietly}
	return r.Restore(a.ctx, c.File, c.Force)
}
