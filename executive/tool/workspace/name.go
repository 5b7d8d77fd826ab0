package workspace

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"earshot/executive/tool"
)

const (
	mostPath  = 512 // bytes; a line
	mostPart  = 128 // bytes of one name in it; every file system accepts that
	mostDepth = 8   // nested folders
)

// unfinished is the file that is being written. Nobody else may use the name.
const unfinished = ".unfinished"

// clean returns a path within a workspace in its canonical form, or an error that says what is
// wrong with it. A path that a model wrote may be anything; after clean no name can be misread by a
// person or a shell, and none has a special meaning anywhere.
func clean(name string) (string, error) {
	switch {
	case name == "":
		return "", errors.New("path is empty; give one such as notes/today.txt")
	case len(name) > mostPath:
		return "", fmt.Errorf("path has %d bytes; at most %d", len(name), mostPath)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, odd):
		return "", tool.Refuse("path has characters that a name may not have; use letters, digits, spaces and - _ . /")
	case strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~"):
		return "", tool.Refuse("path must not begin with / or ~: it is within your workspace, such as notes/today.txt")
	}
	parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/"), "/")
	if len(parts) > mostDepth {
		return "", fmt.Errorf("path has %d folders within each other; at most %d", len(parts), mostDepth)
	}
	for _, p := range parts {
		switch {
		case p == "..":
			return "", errOut
		case len(p) > mostPart:
			return "", fmt.Errorf("path has a name of %d bytes in it; at most %d", len(p), mostPart)
		case p == "" || p == "." && len(parts) > 1 || strings.TrimSpace(p) != p:
			return "", errors.New("path has an empty name in it, or one with a space at its end")
		case strings.EqualFold(p, unfinished):
			return "", tool.Refuse("that name is taken by the house; use another")
		}
	}
	name = path.Clean(strings.Join(parts, "/"))
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", errOut
	}
	return name, nil
}

// odd reports whether r may not stand in a name: invisible characters, changes of the text
// direction, and characters that are special on some system.
func odd(r rune) bool {
	return r == utf8.RuneError || !unicode.IsPrint(r) || strings.ContainsRune(`\:*?"<>|`, r)
}
