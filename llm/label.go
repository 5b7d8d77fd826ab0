package llm

import (
	"strconv"
	"strings"
)

// Label returns the label under which a prompt shows the i-th thing of a kind, counted from 0.
func Label(prefix string, i int) string { return prefix + strconv.Itoa(i+1) }

// Labels returns the first n labels as JSON, for the schema of an answer that names them.
func Labels(prefix string, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strconv.Quote(Label(prefix, i))
	}
	return strings.Join(all, ",")
}

// LabelIndex returns which of n things a label in an answer names.
func LabelIndex(prefix, label string, n int) (i int, ok bool) {
	i, err := strconv.Atoi(strings.TrimPrefix(label, prefix))
	return i - 1, err == nil && i >= 1 && i <= n && label == Label(prefix, i-1)
}
