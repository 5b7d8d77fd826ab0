package speakers

import (
	"fmt"
	"slices"
)

// Still returns what a copy of the file of voices has of those that are kept in a directory,
// and how many voices that leaves out: whoever did not want theirs to be kept any more does
// not get into it again by a copy that is older. Where there is no file, nobody has said so,
// and it is the whole copy. It is an [ErrDamaged] if the file there, or the copy, cannot be
// used.
func Still(dir string, data []byte) (still []byte, gone int, err error) {
	path := Path(dir)
	if err := settle(path); err != nil {
		return nil, 0, fmt.Errorf("preparing the file of voices: %w", err)
	}
	if !exists(path) {
		return data, 0, nil
	}
	here, err := read(path)
	if err != nil {
		return nil, 0, err
	}
	all, err := parse(data)
	if err != nil {
		return nil, 0, &ErrDamaged{path, fmt.Errorf("the copy: %w", err)}
	}
	var kept []string
	for _, v := range here {
		kept = append(kept, v.ids()...)
	}
	before := len(all)
	all = slices.DeleteFunc(all, func(v *voice) bool {
		return !slices.ContainsFunc(v.ids(), func(id string) bool { return slices.Contains(kept, id) })
	})
	still, err = format(all)
	return still, before - len(all), err
}
