// Package acceptance holds what earshot must do: criteria.txt lists the criteria by
// subject, and below each the tests and scenes that prove it. The test of the package
// fails where a criterion has no proof, or where a proof that it names does not exist, so
// that no test can be renamed or removed without somebody asking what it proved. It runs
// none of them: they run where they are.
package acceptance
