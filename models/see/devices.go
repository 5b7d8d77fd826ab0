package see

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A Device is a connected camera.
type Device struct {
	Index  int    `json:"index"`
	Name   string `json:"name"`             // what it calls itself
	Path   string `json:"path"`             // such as /dev/video0
	Stable string `json:"stable,omitempty"` // a path that stays the same when others are connected; empty if there is none
}

// mostDevices is how many are listed, and mostName bounds the length of a device's name, which is
// foreign text.
const (
	mostDevices = 64
	mostName    = 64
)

// Devices returns the system's cameras, by their index. If a camera has several devices, only the
// first takes pictures; the others provide metadata. The file system is that of the whole machine,
// such as os.DirFS("/").
func Devices(root fs.FS) (list []Device) {
	const class = "sys/class/video4linux"
	entries, _ := fs.ReadDir(root, class) // where there is none, there is no camera
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), "video")
		index, err := strconv.Atoi(digits)
		if !ok || err != nil || index < 0 || line(root, path.Join(class, e.Name(), "index"), "0") != "0" {
			continue
		}
		list = append(list, Device{
			Index: index, Path: "/dev/" + e.Name(),
			Name: line(root, path.Join(class, e.Name(), "name"), e.Name()),
		})
	}
	slices.SortFunc(list, func(a, b Device) int { return cmp.Compare(a.Index, b.Index) })
	list = list[:min(len(list), mostDevices)]
	for i, stable := range links(root) {
		if at := slices.IndexFunc(list, func(d Device) bool { return d.Index == i }); at >= 0 {
			list[at].Stable = stable
		}
	}
	return list
}

// links returns the stable path of each device that has one, by its index.
func links(root fs.FS) map[int]string {
	const dir = "dev/v4l/by-id"
	stable := make(map[int]string)
	entries, _ := fs.ReadDir(root, dir)
	for _, e := range entries {
		to, err := fs.ReadLink(root, path.Join(dir, e.Name()))
		digits, ok := strings.CutPrefix(path.Base(to), "video")
		if index, bad := strconv.Atoi(digits); err == nil && ok && bad == nil && stable[index] == "" {
			stable[index] = "/" + path.Join(dir, e.Name())
		}
	}
	return stable
}

// line returns the first line of a file, without unprintable characters, or a substitute.
func line(root fs.FS, name, otherwise string) string {
	data, err := fs.ReadFile(root, name)
	text, _, _ := strings.Cut(string(data), "\n")
	text = strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	if text = strings.TrimSpace(text[:min(len(text), mostName)]); err != nil || text == "" {
		return otherwise
	}
	return strings.ToValidUTF8(text, "")
}
