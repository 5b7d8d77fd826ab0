package workspace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"earshot"
	"earshot/executive/tool"
	"earshot/llm"
	"earshot/participants"
)

const (
	// mostListed is how many files are listed at once: they fit into a result.
	mostListed = 200

	// mostRange is how much of a file is read at once, in bytes: with the line
	// above it, it fits into a result.
	mostRange = 7 << 10
)

// Tools returns the tools for files.
func (s *Store) Tools() tool.Table { return tool.Table{s.list(), s.read(), s.writes()} }

func (s *Store) list() tool.Tool {
	type list struct {
		Folder string `json:"folder"`
	}
	return tool.Tool{
		Tool: llm.Tool{
			Name:        "list_files",
			Description: "List the files in your workspace, with their sizes.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"folder":{"type":"string","description":"leave out for all files"}},` +
				`"additionalProperties":false}`),
		},
		Needs: participants.UseTools,
		Do: func(_ context.Context, scope tool.Scope, arguments json.RawMessage) (tool.Answer, error) {
			given, err := tool.Arguments[list](arguments)
			if err != nil {
				return tool.Answer{}, err
			}
			dir := "."
			if given.Folder != "" {
				if dir, err = clean(given.Folder); err != nil {
					return tool.Answer{}, err
				}
			}
			text, err := s.listed(scope.Home, dir)
			return tool.Answer{Text: text}, err
		},
	}
}

// listed lists what is below a folder.
func (s *Store) listed(home earshot.Path, dir string) (earshot.Text, error) {
	root, err := s.open(home, false)
	if errors.Is(err, fs.ErrNotExist) {
		return "Your workspace is empty.", nil
	}
	if err != nil {
		return "", err
	}
	defer root.Close()
	if about, err := root.Stat(dir); err == nil && !about.IsDir() {
		return "", errors.New("that is a file, and no folder; read_file reads it")
	}
	var lines []string
	err = walk(root, dir, func(name string, d fs.DirEntry) error {
		if len(lines) == mostListed {
			return errMany
		}
		lines = append(lines, shown(name, d))
		return nil
	}, nil)
	switch {
	case errors.Is(err, errMany):
		lines = append(lines, "and more; give a folder to see what is in it")
	case err != nil:
		return "", told(err)
	case len(lines) == 0:
		return "There are no files.", nil
	}
	return earshot.Text(strings.Join(lines, "\n")), nil
}

func (s *Store) read() tool.Tool {
	type read struct {
		Path string `json:"path"`
		From int    `json:"from"`
	}
	return tool.Tool{
		Tool: llm.Tool{
			Name:        "read_file",
			Description: fmt.Sprintf("Read a text file in your workspace, %d bytes at a time.", mostRange),
			Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"such as notes/today.txt"},` +
				`"from":{"type":"integer","description":"the byte to begin at; leave out for the beginning"}},"required":["path"],"additionalProperties":false}`),
		},
		Needs: participants.UseTools,
		Do: func(_ context.Context, scope tool.Scope, arguments json.RawMessage) (tool.Answer, error) {
			given, err := tool.Arguments[read](arguments)
			if err != nil {
				return tool.Answer{}, err
			}
			name, err := clean(given.Path)
			if err != nil {
				return tool.Answer{}, err
			}
			text, err := s.part(scope.Home, name, given.From)
			return tool.Answer{Text: text}, err
		},
	}
}

// part returns a part of a file, cut at the edges of runes, and says which it
// is.
func (s *Store) part(home earshot.Path, name string, from int) (earshot.Text, error) {
	root, err := s.open(home, false)
	if err != nil {
		return "", told(err)
	}
	defer root.Close()
	data, err := read(root, name)
	switch {
	case err != nil:
		return "", err
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return "", errors.New("the file is not text, and nothing else can be read")
	case len(data) == 0:
		return "The file is empty.", nil
	case from < 0 || from >= len(data):
		return "", fmt.Errorf("from is %d; the file has the bytes 0 to %d", from, len(data)-1)
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
	return earshot.Text(head + string(data[from:to])), nil
}

func (s *Store) writes() tool.Tool {
	type write struct {
		Path    string `json:"path"`
		Content string `json:"content"`
		Append  bool   `json:"append"`
	}
	return tool.Tool{
		Tool: llm.Tool{
			Name:        "write_file",
			Description: "Write a text file in your workspace. A file that is there is replaced, unless append is true.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"such as notes/today.txt; folders are made"},` +
				`"content":{"type":"string","description":"what stands in it"},"append":{"type":"boolean","description":"add to its end instead"}},` +
				`"required":["path","content"],"additionalProperties":false}`),
		},
		Needs: participants.UseTools,
		Do: func(_ context.Context, scope tool.Scope, arguments json.RawMessage) (tool.Answer, error) {
			given, err := tool.Arguments[write](arguments)
			if err != nil {
				return tool.Answer{}, err
			}
			name, err := clean(given.Path)
			if err != nil {
				return tool.Answer{}, err
			}
			if name == "." {
				return tool.Answer{}, errFolder
			}
			root, err := s.open(scope.Home, true)
			if err != nil {
				return tool.Answer{}, err
			}
			defer root.Close()
			size, err := s.write(root, name, []byte(given.Content), given.Append)
			return tool.Answer{Text: earshot.Text(fmt.Sprintf("%s is written, %d bytes.", name, size))}, err
		},
	}
}
