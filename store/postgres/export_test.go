package postgres

import "database/sql/driver"

// A Statement is a translated one.
type Statement struct {
	Text string
	Args []int
}

// Translate translates statements for some values.
func Translate(text string, args []driver.NamedValue) (all []Statement, err error) {
	var types []string
	for _, a := range args {
		_, as := encode(a.Value)
		types = append(types, as)
	}
	found, err := translate(text, args, types)
	for _, s := range found {
		all = append(all, Statement{s.text, s.args})
	}
	return all, err
}
