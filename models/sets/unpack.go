package sets

import (
	"archive/tar"
	"compress/bzip2"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"earshot/internal/download"
	"earshot/models/catalog"
)

const (
	// swell is how many times as much may come out of an archive as goes in: weights hardly become
	// smaller, so more is no model.
	swell = 64

	// maxEntries bounds what an archive lists. Those of voices have 400 files for a pronunciation that is not
	// used here.
	maxEntries = 10_000
)

// unpack writes files that an archive of packed bytes has, and nothing else of it, into a folder. It
// returns them with what is known of them then.
func unpack(ctx context.Context, archive io.Reader, packed int64, files map[string]catalog.File, into string, tell Progress) (map[string]catalog.File, error) {
	in := &watched{Reader: archive, each: func(n int64) error {
		tell("unpacking", n, packed)
		return context.Cause(ctx)
	}}
	out := &watched{Reader: bzip2.NewReader(in), each: func(n int64) error {
		if n > min(download.Largest, packed*swell+1<<20) {
			return errors.New("more comes out of the archive than any model has")
		}
		return nil
	}}
	got := make(map[string]catalog.File, len(files))
	t := tar.NewReader(out)
	for range maxEntries {
		head, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, damaged(ctx, err)
		}
		part, f, ok := listed(files, head)
		if !ok {
			continue
		}
		if _, twice := got[part]; twice {
			return nil, fmt.Errorf("it has two files called %s", f.Path)
		}
		if f.Bytes > 0 && head.Size != f.Bytes {
			return nil, fmt.Errorf("its %s has %d bytes and not %d", f.Path, head.Size, f.Bytes)
		}
		if f, err = write(t, f, filepath.Join(into, f.Path)); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, damaged(ctx, err))
		}
		got[part] = f
		if len(got) == len(files) {
			break
		}
	}
	for part, f := range files {
		if _, ok := got[part]; !ok {
			return nil, fmt.Errorf("it has no file %s", f.Path)
		}
	}
	return got, nil
}

// damaged says what it means that an archive cannot be read.
func damaged(ctx context.Context, err error) error {
	var broken bzip2.StructuralError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &broken), errors.Is(err, tar.ErrHeader), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the archive is damaged: %w", err)
	}
	return err
}

// listed returns which file an entry of an archive is. Links and folders are none.
func listed(files map[string]catalog.File, head *tar.Header) (part string, f catalog.File, ok bool) {
	if head.Typeflag != tar.TypeReg {
		return "", f, false
	}
	name := filepath.Clean(head.Name)
	_, inner, _ := strings.Cut(name, "/") // most archives have everything in one folder
	for part, f := range files {
		if f.Path == inner || f.Path == name {
			return part, f, true
		}
	}
	return "", f, false
}

// write writes a file, read-only and onto the disk, and compares it with what is known of it.
func write(from io.Reader, f catalog.File, path string) (catalog.File, error) {
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.RemoveAll(path)); err != nil {
		return f, err
	}
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return f, err
	}
	of := sha256.New()
	n, err := io.Copy(io.MultiWriter(to, of), from)
	if err := errors.Join(err, to.Sync(), to.Close()); err != nil {
		return f, download.Full(filepath.Dir(path), err)
	}
	sum := hex.EncodeToString(of.Sum(nil))
	if err := (download.File{SHA256: f.SHA256}).Check(sum); err != nil {
		return f, err
	}
	f.SHA256, f.Bytes = sum, n
	return f, nil
}

// A watched is a reader that tells how much was read, until it is told to end.
type watched struct {
	io.Reader
	n    int64
	each func(n int64) error
}

// Read implements [io.Reader].
func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Reader.Read(b)
	w.n += int64(n)
	if stop := w.each(w.n); stop != nil {
		err = stop
	}
	return n, err
}
