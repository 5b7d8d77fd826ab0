//go:build cgo && !linux

package main

import "os"

// scratch returns a file, the path by which this process opens it, and a function to call when it
// is no longer needed. If the library dies before that, the file is left.
func scratch() (file *os.File, path string, done func(), err error) {
	file, err = os.CreateTemp("", "earshot-*")
	if err != nil {
		return nil, "", nil, err
	}
	return file, file.Name(), func() {
		file.Close()
		os.Remove(file.Name())
	}, nil
}
