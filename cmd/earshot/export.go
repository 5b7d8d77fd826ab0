package main

import (
	"errors"
	"fmt"
	"io"

	"earshot"
	"earshot/config"
	"earshot/daemon/access"
	"earshot/internal/atomicfile"
	"earshot/internal/english"
	"earshot/internal/export"
	"earshot/speakers"
)

type exportCommand struct {
	identityFlags
	File   string         `arg:"" help:"The file to write; - is standard output."`
	Person string         `help:"Only what this person wrote or said, what was for them alone, and what was derived from it." placeholder:"NAME"`
	Since  string         `help:"Only what happened since: a date, a date and a time, or how long ago, such as 30d or 12h." placeholder:"WHEN"`
	Until  string         `help:"Only what happened before." placeholder:"WHEN"`
	Room   earshot.RoomID `help:"Only what happened in this room." placeholder:"ROOM"`
	Mine   bool           `help:"Only what you may see yourself, even if you are an operator and may export everything."`
	Text   bool           `help:"As readable text, which cannot be imported again."`
	Voices bool           `help:"Include the voice prints that are kept."`
	Force  bool           `help:"Overwrite an existing file."`
}

// Run copies what was said into a file.
func (c exportCommand) Run(a *app) error {
	if c.Text && c.Voices {
		return &verdict{misused, errors.New("a voice print is not readable text: leave out --text or --voices")}
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	archive, err := a.archive(cfg)
	if err != nil {
		return err
	}
	defer archive.Close()
	people, around, err := a.reader(cfg, archive, reading{c.identityFlags, ""})
	if err != nil {
		return err
	}
	wants := export.Choice{Mine: c.Mine, Room: c.Room, Since: c.Since, Until: c.Until}
	if c.Voices {
		wants.Voices = speakers.Path(cfg.Store.Directory)
	}
	if c.Person != "" {
		if wants.Person, err = a.somebody(cfg, c.Person); err != nil {
			return err
		}
	}
	s, err := export.Choose(a.ctx, archive, people, around, access.NewGate(cfg, people), wants)
	if err != nil {
		return &verdict{misused, err}
	}
	n := 0
	write := func(w io.Writer) (err error) {
		n, err = s.Write(a.ctx, w, c.Text)
		return err
	}
	if c.File == "-" {
		return write(a.out)
	}
	// What is deleted while it is written may be in it or not. So that it never has what
	// was deleted and not what came of it, it is written again then.
	for tries := 0; ; tries++ {
		before, err := archive.Totals(a.ctx)
		if err == nil {
			err = atomicfile.WriteFile(c.File, c.Force || tries > 0, write)
		}
		if err != nil {
			return err
		}
		after, err := archive.Totals(a.ctx)
		if err != nil {
			return err
		}
		if after.Erased == before.Erased || tries == 2 {
			break
		}
	}
	fmt.Fprintf(a.err, "%s in %s, which only you can read.\n", english.Count(n, "event"), config.ShortPath(c.File))
	return nil
}
