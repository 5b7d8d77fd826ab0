//go:build cgo

package main

// The libraries are beside the program in lib; where it was built, also in Go's cache of modules.

// #cgo LDFLAGS: -Wl,-rpath,$ORIGIN/lib
import "C"

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	sherpa "github.com/k2-fsa/sherpa-onnx-go-linux"
	onnx "github.com/yalue/onnxruntime_go"

	"earshot/internal/helper"
)

// openRuntime opens ONNX Runtime for models that sherpa-onnx has no loader for, once: the same
// library that sherpa-onnx has loaded, since two copies in one process would crash.
var openRuntime = sync.OnceValue(func() error {
	path, err := runtimePath()
	if err != nil {
		return err
	}
	onnx.SetSharedLibraryPath(path)
	return onnx.InitializeEnvironment()
})

// runtimePath returns the path of the library that is loaded.
func runtimePath() (string, error) {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return "", err
	}
	defer maps.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		if _, path, found := strings.Cut(lines.Text(), "/"); found && filepath.Base(path) == "libonnxruntime.so" {
			return "/" + path, nil
		}
	}
	return "", errors.New("libonnxruntime.so is not loaded")
}

// checkRuntime reports whether the libraries work, which is all that a role needs besides a set.
func checkRuntime([]string) helper.RoleCheck {
	if err := openRuntime(); err != nil {
		return helper.RoleCheck{Text: err.Error(), Cure: "run make build in the source of earshot"}
	}
	return helper.RoleCheck{Works: true, Text: fmt.Sprintf("sherpa-onnx %s on ONNX Runtime %s", sherpa.GetVersion(), onnx.GetVersion())}
}
