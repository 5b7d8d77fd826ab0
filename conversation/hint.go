package conversation

import (
	"strings"

	"earshot/participants"
)

// Hint tells the sender of a text which of the called participants are absent, and who may be
// meant: "nobody here is called erashot; did you mean @Earshot?" It is empty if everybody was
// found.
func (d *Directory) Hint(to Addressees) string {
	var parts []string
	for _, u := range to.Unknown {
		parts = append(parts, d.hint(participants.OneLine(u)))
	}
	return strings.Join(parts, ". ")
}

func (d *Directory) hint(unknown string) string {
	said := "nobody here is called " + unknown
	near := d.Nearest(unknown, 3)
	if len(near) == 0 {
		return said + "; /who shows who is here"
	}
	return said + "; did you mean @" + strings.Join(near, " or @") + "?"
}
