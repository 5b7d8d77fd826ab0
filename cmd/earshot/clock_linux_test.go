package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"earshot/internal/testkit"
)

// startAhead starts a program whose wall clock is some whole seconds ahead of that of this machine, and which
// is otherwise the same: its monotonic clock, its files, and what it starts. Go asks the kernel for the time by a function
// that the kernel maps into each process, the vDSO, and so does libc. That function is replaced in the memory of the
// process before it has run its first instruction.
func startAhead(c *exec.Cmd, ahead time.Duration) error {
	if ahead == 0 {
		return c.Start()
	}
	runtime.LockOSThread() // only the thread that starts it may trace it
	defer runtime.UnlockOSThread()
	attributes := syscall.SysProcAttr{}
	if c.SysProcAttr != nil {
		attributes = *c.SysProcAttr
	}
	attributes.Ptrace = true
	c.SysProcAttr = &attributes
	if err := c.Start(); err != nil {
		return err
	}
	pid, status := c.Process.Pid, syscall.WaitStatus(0)
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil || !status.Stopped() {
		return fmt.Errorf("a program that is traced does not stop when it begins: %v, %#x", err, status)
	}
	if err := setAhead(pid, ahead); err != nil {
		_ = c.Process.Kill()
		return fmt.Errorf("setting the clock of a process: %w", err)
	}
	return syscall.PtraceDetach(pid)
}

// setAhead sets the clock of a process that is traced and stopped.
func setAhead(pid int, ahead time.Duration) error {
	if runtime.GOARCH != "amd64" {
		return fmt.Errorf("there is no code for %s", runtime.GOARCH)
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return err
	}
	var from, to uintptr
	for line := range strings.Lines(string(maps)) {
		if strings.HasSuffix(line, "[vdso]\n") {
			_, err = fmt.Sscanf(line, "%x-%x", &from, &to)
		}
	}
	if err != nil || from == 0 {
		return fmt.Errorf("the kernel maps no vDSO: %v", err)
	}
	image := make([]byte, to-from)
	if _, err := syscall.PtracePeekText(pid, from, image); err != nil {
		return err
	}
	file, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return err
	}
	symbols, err := file.DynamicSymbols()
	code := binary.LittleEndian.AppendUint32([]byte{
		0xb8, syscall.SYS_CLOCK_GETTIME, 0, 0, 0, 0x0f, 0x05, // the system call itself
		0x85, 0xff, 0x75, 7, // unless CLOCK_REALTIME is asked for, return
		0x48, 0x81, 0x06, // add to the seconds:
	}, uint32(int32(ahead/time.Second)))
	code = append(code, 0xc3)
	i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == "__vdso_clock_gettime" })
	if i < 0 || symbols[i].Size < uint64(len(code)) {
		return fmt.Errorf("the vDSO has no __vdso_clock_gettime that is large enough: %v", err)
	}
	_, err = syscall.PtracePokeText(pid, from+uintptr(symbols[i].Value), code)
	return err
}

// TestStartAhead: a program that is started with another clock tells another time.
func TestStartAhead(t *testing.T) {
	for _, ahead := range []time.Duration{0, 10 * time.Minute, -10 * time.Minute} {
		c := testkit.Command(t, "date", "+%s")
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		began := time.Now().Truncate(time.Second)
		if err := startAhead(c, ahead); err != nil {
			t.Fatal(err)
		}
		var seconds int64
		var err error
		if testkit.Finish(t, testkit.Patience, "the end of date", func() { err = c.Wait() }); err != nil {
			t.Fatalf("%v: %s", err, out.Bytes())
		}
		if _, err := fmt.Sscan(out.String(), &seconds); err != nil {
			t.Fatal(err)
		}
		if off := time.Unix(seconds, 0).Sub(began) - ahead; off < 0 || off > testkit.Patience {
			t.Errorf("a clock that is to be %v ahead is %v more", ahead, off)
		}
	}
}
