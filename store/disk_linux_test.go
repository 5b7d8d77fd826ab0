package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"earshot/internal/testkit"
	"earshot/store"
)

// onSmallDisk is the environment variable that names where to mount a small disk. It is set only in
// the process that runs the test itself.
const onSmallDisk = "STORE_TEST_DISK"

// TestFullDisk does what TestNoRoom does, on a real file system that is too small. Only the
// superuser may mount one, if necessary the superuser of a user namespace.
func TestFullDisk(t *testing.T) { onDisk(t, "1m", fullDisk) }

// TestNoRoomForACopy: if the disk has no room for a copy of the journal, everything goes on. A
// notice says once that traces are left, and another one that they are gone once there is room.
func TestNoRoomForACopy(t *testing.T) { onDisk(t, "8m", noRoomForACopy) }

// onDisk runs a test on a small disk, in a process of its own.
func onDisk(t *testing.T, size string, test func(t *testing.T, disk string)) {
	if disk := os.Getenv(onSmallDisk); disk != "" {
		if err := errors.Join(syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""), mount(disk, size)); err != nil {
			t.Skipf("cannot mount: %v", err)
		}
		test(t, disk)
		return
	}
	cmd := testkit.Command(t, os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), onSmallDisk+"="+t.TempDir())
	cmd.SysProcAttr = namespace()
	out, err := cmd.CombinedOutput()
	switch {
	case cmd.Process == nil, strings.Contains(string(out), "cannot mount"):
		t.Skipf("no small disk can be had here: %v %s", err, out)
	case err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()):
		t.Errorf("%v\n%s", err, out)
	}
}

// mount mounts an empty disk of the given size on a directory.
func mount(directory, size string) error {
	return syscall.Mount("tmpfs", directory, "tmpfs", 0, "size="+size)
}

// fullDisk fills the disk, first with the journal itself and then with another file.
func fullDisk(t *testing.T, disk string) {
	heard := new(listener)
	s, err := store.Open(t.Context(), store.Config{Directory: filepath.Join(disk, "state"), Report: heard.report})
	must(t, err)
	kept := add(t, s, numbered(10)...)
	fill(t, s)
	if got := everything(t, s); texts(got[:10]) != texts(kept) {
		t.Errorf("on a full disk the first ten are %s", texts(got[:10]))
	}
	awaitNotices(t, heard, "store.full")
	must(t, s.Close())

	must(t, syscall.Unmount(disk, 0))
	must(t, mount(disk, "4m"))
	heard = new(listener)
	s, err = store.Open(t.Context(), store.Config{Directory: filepath.Join(disk, "state"), Report: heard.report})
	must(t, err)
	add(t, s, numbered(10)...)
	ballast := filepath.Join(disk, "ballast")
	must(t, grow(ballast))
	fill(t, s)
	before := len(everything(t, s))
	if _, err := s.Append(t.Context(), big()); !errors.Is(err, store.ErrFull) {
		t.Errorf("append on a full disk = %v", err)
	}
	awaitNotices(t, heard, "store.full")
	must(t, os.Remove(ballast))
	add(t, s, big())
	awaitNotices(t, heard, "store.full, store.full over")
	if after := len(everything(t, s)); after != before+1 {
		t.Errorf("%d events are kept, want %d", after, before+1)
	}
	must(t, s.Close())
	if s, err = store.Open(t.Context(), store.Config{Directory: filepath.Join(disk, "state")}); err != nil {
		t.Fatal(err)
	}
	if after := len(everything(t, s)); after != before+1 {
		t.Errorf("%d events are there after a restart, want %d", after, before+1)
	}
	must(t, s.Close())
}

func noRoomForACopy(t *testing.T, disk string) {
	heard := new(listener)
	directory := filepath.Join(disk, "state")
	s, err := store.Open(t.Context(), store.Config{Directory: directory, Report: heard.report})
	must(t, err)
	defer func() { must(t, s.Close()) }()
	for range 3 {
		id := add(t, s, said("xylophone"))[0].ID
		if n, err := s.Delete(t.Context(), id); n != 1 || !errors.Is(err, store.ErrFull) || !strings.Contains(err.Error(), "free ") {
			t.Errorf("deleted %d, %v", n, err)
		}
		add(t, s, said("and on"))
	}
	awaitNotices(t, heard, "store.traces")
	if left, _ := filepath.Glob(filepath.Join(directory, "*.rewrite*")); len(left) > 0 {
		t.Errorf("there are %s", left)
	}
	must(t, syscall.Mount("", disk, "", syscall.MS_REMOUNT, "size=80m"))
	must(t, s.Clean(t.Context()))
	awaitNotices(t, heard, "store.traces, store.traces over")
	if found := traces(t, directory, []string{"xylophone"}); len(found) > 0 {
		t.Errorf("there are traces: %s", found)
	}
}

// grow writes a file until the disk is full.
func grow(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for block := make([]byte, 4096); ; {
		if _, err := f.Write(block); errors.Is(err, syscall.ENOSPC) {
			return nil
		} else if err != nil {
			return fmt.Errorf("filling the disk: %w", err)
		}
	}
}

// namespace lets a process mount file systems, in a mount namespace of its own. If the user is not
// the superuser, the process gets a user namespace of its own as well.
func namespace() *syscall.SysProcAttr {
	if os.Getuid() == 0 {
		return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	}
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
}
