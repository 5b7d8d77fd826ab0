package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"earshot"
	"earshot/executive/tool"
	"earshot/participants"
)

const (
	// mostListed is how many files are listed at once: they fit into a result.
	mostListed = 200

	// mostRange is how many bytes of a file are read at once: with the line above them, they fit
	// into a result.
	mostRange = 7 << 10
)

var errFile = errors.New("that is a file, and no folder; read_file reads it")

// Tools returns the tools for files.
func (s *Store) Tools() tool.Table { return tool.Table{s.list(), s.read(), s.writes()} }

func (s *Store) list() tool.Tool {
	type list struct {
		Folder string `json:"folder"`
	}
	return tool.New("list_files", "List the files in your workspace.",
		`{"type":"object","properties":{"folder":{"type":"string","description":"leave out for all files"}},`+
			`"additionalProperties":false}`,
		participants.UseTools, func(_ context.Context, scope tool.Scope, given list) (tool.Answer, error) {
			dir, err := clean(cmp.Or(given.Folder, "."))
			if err != nil {
				return tool.Answer{}, err
			}
			return s.listed(scope, dir)
		})
}

// listed lists what is below a folder. The answer rests on the events that were answered when the
// files were given their names.
func (s *Store) listed(of tool.Scope, dir string) (tool.Answer, error) {
	all, err := s.folders(of)
	if err != nil {
		return tool.Answer{}, err
	}
	var a tool.Answer
	var lines []string
	found, none := false, true
	listed := make(map[string]bool)
	for _, folder := range all {
		more, fails := lists(folder, dir, listed, func(name string) { a.Sources = append(a.Sources, s.named(file{folder, name})...) })
		lines, found = append(lines, more...), found || fails == nil
		if !errors.Is(fails, fs.ErrNotExist) {
			none, err = false, fails
		}
	}
	switch {
	case none:
		return tool.Answer{Text: "Your workspace is empty."}, nil
	case !found:
		return tool.Answer{}, err
	case len(lines) == 0:
		return tool.Answer{Text: "There are no files."}, nil
	case len(lines) > mostListed:
		lines = append(lines[:mostListed], "and more; give a folder to see what is in it")
	}
	a.Text = earshot.Text(strings.Join(lines, "\n"))
	return a, nil
}

// lists returns what is below a folder of a workspace and not yet listed, at most one more than
// fits into the list, and calls tell with these files. If there is no workspace, the error is
// [fs.ErrNotExist].
func lists(workspace, dir string, listed map[string]bool, tell func(name string)) (lines []string, err error) {
	root, err := enter(workspace, false)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if about, err := root.Stat(dir); err == nil && !about.IsDir() {
		return nil, errFile
	}
	err = walk(root, dir, func(name string, d fs.DirEntry) error {
		if len(lines) > mostListed {
			return errMany
		}
		if !listed[name] {
			lines, listed[name] = append(lines, shown(name, d)), true
			if d.Type().IsRegular() {
				tell(name)
			}
		}
		return nil
	}, nil)
	if err != nil && !errors.Is(err, errMany) {
		return nil, told(err)
	}
	return lines, nil
}

func (s *Store) read() tool.Tool {
	type read struct {
		Path string `json:"path"`
		From int    `json:"from"`
	}
	return tool.New("read_file", fmt.Sprintf("Read a text file in your workspace, %d bytes at a time.", mostRange),
		`{"type":"object","properties":{"path":{"type":"string","description":"such as notes/today.txt"},`+
			`"from":{"type":"integer","description":"the byte to begin at"}},"required":["path"],"additionalProperties":false}`,
		participants.UseTools, func(_ context.Context, scope tool.Scope, given read) (tool.Answer, error) {
			name, err := clean(given.Path)
			if err != nil {
				return tool.Answer{}, err
			}
			return s.part(scope, name, given.From)
		})
}

// find returns the contents of a file, from the first folder that has it, and which folder that is.
func (s *Store) find(of tool.Scope, name string) (data []byte, from file, err error) {
	all, err := s.folders(of)
	if err != nil {
		return nil, file{}, err
	}
	for _, folder := range all {
		if data, err = has(folder, name); !errors.Is(err, errNone) {
			return data, file{folder, name}, err
		}
	}
	return nil, file{}, err
}

// has returns the contents of a file of a workspace.
func has(workspace, name string) ([]byte, error) {
	root, err := enter(workspace, false)
	if err != nil {
		return nil, told(err)
	}
	defer root.Close()
	return read(root, name)
}

// part returns a part of a file, cut at the edges of runes, and says which part it is. The answer
// rests on everything from which the file was made.
func (s *Store) part(of tool.Scope, name string, from int) (tool.Answer, error) {
	data, where, err := s.find(of, name)
	switch {
	case err != nil:
		return tool.Answer{}, err
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return tool.Answer{}, errors.New("the file is not text, and nothing else can be read")
	case len(data) == 0:
		return tool.Answer{Text: "The file is empty."}, nil
	case from < 0 || from >= len(data):
		return tool.Answer{}, fmt.Errorf("from is %d; the file has the bytes 0 to %d", from, len(data)-1)
	}
	for !utf8.RuneStart(data[from]) {
		from--
	}
	to := min(from+mostRange, len(data))
	for to < len(data) && !utf8.RuneStart(data[to]) {
		to--
	}
	head := fmt.Sprintf("Bytes %d to %d of %d:\n", from, to-1, len(data))
	if to < len(data) {
		head = fmt.Sprintf("Bytes %d to %d of %d; go on with from %d:\n", from, to-1, len(data), to)
	}
	return tool.Answer{Text: earshot.Text(head + string(data[from:to])), Sources: s.made(where, len(data))}, nil
}

func (s *Store) writes() tool.Tool {
	type write struct {
		Path    string `json:"path"`
		Content string `json:"content"`
		Append  bool   `json:"append"`
	}
	return tool.New("write_file", "Write a text file in your workspace, in place of one that is there.",
		`{"type":"object","properties":{"path":{"type":"string","description":"such as notes/today.txt"},`+
			`"content":{"type":"string","description":"what stands in it"},"append":{"type":"boolean","description":"add to its end instead"}},`+
			`"required":["path","content"],"additionalProperties":false}`,
		participants.UseTools, func(_ context.Context, scope tool.Scope, given write) (tool.Answer, error) {
			name, err := clean(given.Path)
			if err != nil {
				return tool.Answer{}, err
			}
			if name == "." {
				return tool.Answer{}, errFolder
			}
			return s.put(scope, name, given.Content, given.Append)
		})
}

// put writes a file. In a private conversation, an addition to a shared file is written, with the
// shared contents, to a private file.
func (s *Store) put(of tool.Scope, name, content string, end bool) (tool.Answer, error) {
	all, err := s.folders(of)
	if err != nil {
		return tool.Answer{}, err
	}
	root, err := enter(all[0], true)
	if err != nil {
		return tool.Answer{}, err
	}
	defer root.Close()
	data := []byte(content)
	var elder []stretch
	if _, err := root.Lstat(name); end && errors.Is(err, fs.ErrNotExist) {
		had, from := below(all[1:], name)
		if len(had) > 0 {
			elder = []stretch{{Bytes: len(had), Of: s.made(file{from, name}, len(had))}}
		}
		data = append(had, data...)
	}
	size, err := s.write(of, file{all[0], name}, root, data, elder, end)
	text := fmt.Sprintf("%s is written, %d bytes.", name, size)
	switch {
	case !open(of):
		text += " It can be read in this private conversation alone."
	case s.closed(of.Room):
		text += " It can be read in this room alone."
	}
	return tool.Answer{Text: earshot.Text(text)}, err
}

// below returns the contents of a file, from the first of some folders that has it.
func below(folders []string, name string) (had []byte, from string) {
	for _, f := range folders {
		if had, err := has(f, name); err == nil {
			return had, f
		}
	}
	return nil, ""
}
