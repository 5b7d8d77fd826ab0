// Package archtest holds the rules of the house as tests: who may import whom,
// where C may live, what no file may say. It parses the files itself rather
// than asking the go command, so that files behind any build tag are seen and
// a cached result goes stale when a file changes.
//
// Each rule is a function from files to complaints, and each is tried on a
// small tree that breaks it: a check that cannot fail is worse than none.
//
// That the sample configuration and its page are current is a test of package
// config, which makes both.
package archtest
