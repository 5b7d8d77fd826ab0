package neural

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
	"unicode"

	"earshot/internal/atomicfile"
	"earshot/internal/helper"
	"earshot/models/catalog"
)

const (
	// patience is how long a set may take to be tried. 600 MB from the card of a small machine take
	// half a minute.
	patience = 2 * time.Minute

	// maxRecord bounds what is known of a set, in bytes.
	maxRecord = 64 << 10

	// recordName is the file with it, beside those of the set.
	recordName = "probe.json"
)

// A record is what is known of a set, as long as the files are the same.
type record struct {
	Files  map[string]stamp `json:"files"` // by their paths, with the program that tried them
	Result Result           `json:"result"`
}

// A stamp tells whether a file has changed.
type stamp struct {
	Bytes int64 `json:"bytes"`
	Time  int64 `json:"time"` // when it was written, in nanoseconds since 1970
}

// Check returns how well a set runs here, or one sentence about why it does not. A set whose files
// have changed since that was found out, or an earshot that has, is verified and tried, which takes
// from a tenth of a second to some.
func (l Library) Check(ctx context.Context, set catalog.Installed) (r Result, err error) {
	program, files, err := stamps(set)
	if err != nil {
		return r, err
	}
	r, known := recorded(set, files)
	if !known {
		if r, err = try(ctx, set, program); err != nil {
			return r, err
		}
		l.keep(set, record{files, r})
	}
	if r.Fault != nil {
		return r, r.Fault.Err()
	}
	return r, nil
}

// Known returns what is known of a set without trying it. A fault counts as known.
func (l Library) Known(set catalog.Installed) (r Result, known bool) {
	_, files, err := stamps(set)
	if err != nil {
		return r, false
	}
	return recorded(set, files)
}

// keep writes a record. Where that is not possible, such as in a folder of the system, the set is
// tried again by the next process.
func (l Library) keep(set catalog.Installed, is record) {
	text, err := json.Marshal(is)
	if err == nil {
		err = atomicfile.Write(filepath.Join(set.Dir, recordName), text)
	}
	if err != nil {
		l.Log.Info("how well a model runs could not be kept", "model", set.Name, "err", err)
	}
}

// stamps returns the helper, and the stamps of all files of a set and of the helper.
func stamps(set catalog.Installed) (program string, is map[string]stamp, err error) {
	if program, err = helper.Find(helper.NeuralProgram); err != nil {
		return "", nil, err
	}
	paths := map[string]string{catalog.Description: filepath.Join(set.Dir, catalog.Description), helper.NeuralProgram: program}
	for part, f := range set.Files {
		paths[f.Path] = set.File(part)
	}
	is = make(map[string]stamp)
	for name, path := range paths {
		about, err := os.Stat(path)
		if err != nil || !about.Mode().IsRegular() {
			return "", nil, Unfit(set.Name, "its file %s is missing", name)
		}
		is[name] = stamp{about.Size(), about.ModTime().UnixNano()}
	}
	return program, is, nil
}

// recorded returns what is known of a set with these files.
func recorded(set catalog.Installed, files map[string]stamp) (r Result, known bool) {
	f, err := os.Open(filepath.Join(set.Dir, recordName))
	if err != nil {
		return r, false
	}
	defer f.Close()
	var is record
	if json.NewDecoder(io.LimitReader(f, maxRecord)).Decode(&is) != nil || !maps.Equal(is.Files, files) {
		return r, false
	}
	return is.Result, true
}

// try verifies a set and probes it. What is wrong with the set is in the result; an error is
// something that may pass.
func try(ctx context.Context, set catalog.Installed, program string) (Result, error) {
	text, err := set.Damage(ctx)
	switch {
	case err != nil:
		return Result{}, err
	case text != "":
		f := helper.NewFault(Unfit(set.Name, "%s", text))
		return Result{Fault: &f}, nil
	}
	return Probe(ctx, program, set.Dir)
}

// Probe has the helper at program try the set in a folder, in a process of its own, which the set may
// end. What is wrong with the set is in the result; an error is something that may pass, such as a
// machine that is too busy.
func Probe(ctx context.Context, program, dir string) (r Result, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := helper.Ask(ctx, program, "probe", dir)
	exit, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		return r, fmt.Errorf("the model %s is not known yet: trying it takes longer than there was time", filepath.Base(dir))
	case ended:
		return ending(filepath.Base(dir), exit)
	case err != nil:
		return r, fmt.Errorf("trying the model %s: %w", filepath.Base(dir), err)
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return r, fmt.Errorf("trying the model %s: %s answers nonsense: %w", filepath.Base(dir), helper.NeuralProgram, err)
	}
	return r, nil
}

// damaged and foreign are what the end of a process says about the set that it loaded: Go ends with
// the first after a signal in C, and the library ends the process with the second itself.
const (
	damaged = 2
	foreign = 255
)

// ending returns what the end of a process says about the set that it tried.
func ending(name string, exit *exec.ExitError) (r Result, err error) {
	text := "it ends the program that loads it"
	status, _ := exit.Sys().(syscall.WaitStatus)
	switch {
	case status.Signaled() && status.Signal() == syscall.SIGKILL:
		return r, fmt.Errorf("trying the model %s was killed; there may be too little memory for it", name)
	case status.Signaled(), exit.ExitCode() == damaged:
		text = "it is damaged"
	case exit.ExitCode() == foreign:
		text = "it is not a model of the kind that its description says"
	}
	if line := lastWords(exit.Stderr); line != "" {
		text += " (" + line + ")"
	}
	f := helper.NewFault(Unfit(name, "%s", text))
	return Result{Fault: &f}, nil
}

// cry matches the line in which sherpa-onnx or a C++ exception says what is wrong.
var cry = regexp.MustCompile(`(?m)^(?:/\S+:\w+:\d+ |\s*what\(\):\s+)(\S.*)$`)

// maxWords is how much of that is shown, in bytes; it may quote a file.
const maxWords = 200

// lastWords returns what a library said before it ended the process, or "".
func lastWords(said []byte) string {
	found := cry.FindSubmatch(said)
	if found == nil {
		return ""
	}
	line := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(found[1][:min(len(found[1]), maxWords)]), ""))
	return strings.TrimSpace(line)
}
