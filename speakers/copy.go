package speakers

import (
	"fmt"
	"slices"
)

// Still returns those voices of a copy that the file in a directory still has, and how many voices
// it leaves out: a voice that was removed from the file must not return with an older copy. If
// there is no file, nobody has removed anything, and the whole copy is returned. The error is an
// [ErrDamaged] if the file or the copy cannot be used.
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
