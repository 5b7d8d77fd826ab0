package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A load is what a tree of processes needs.
type load struct {
	rss, pss float64 // MB
	cpu      float64 // % of a core
	busy     time.Duration
	each     []portion
}

// A portion is what one of the processes needs.
type portion struct {
	name string
	pss  float64
	busy time.Duration
}

// since says what each process is, with its PSS, and how busy it has been since before, which was so
// long ago.
func (l load) since(before load, ago time.Duration) (each []string) {
	for i, p := range l.each {
		if i < len(before.each) && before.each[i].name == p.name {
			p.busy -= before.each[i].busy
		}
		each = append(each, fmt.Sprintf("%s %s MB %s %%", p.name, number(p.pss), number(100*float64(p.busy)/float64(ago))))
	}
	return each
}

// needs returns what p and all its children need.
func (p process) needs() (l load, err error) {
	all, err := p.tree()
	if err != nil {
		return l, err
	}
	for _, pid := range all {
		busy, err := busyOf(pid)
		if err != nil {
			return l, err
		}
		rss, pss, err := memoryOf(pid)
		if err != nil {
			return l, err
		}
		l.busy, l.rss, l.pss = l.busy+busy, l.rss+rss, l.pss+pss
		l.each = append(l.each, portion{nameOf(pid), pss, busy})
	}
	return l, nil
}

// tree returns p and all its children, by their numbers.
func (p process) tree() ([]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	children := make(map[int][]int)
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it has just ended
		}
		if pid, parent, ok := parseStat(string(data)); ok {
			children[parent] = append(children[parent], pid)
		}
	}
	all := []int{p.Process.Pid}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all, nil
}

// parseStat returns the number of a process and of its parent. Its name stands
// in brackets, and may hold anything.
func parseStat(stat string) (pid, parent int, ok bool) {
	open, end := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return 0, 0, false
	}
	rest := strings.Fields(stat[end+1:])
	if len(rest) < 2 {
		return 0, 0, false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(stat[:open]))
	parent, err2 := strconv.Atoi(rest[1])
	return pid, parent, err == nil && err2 == nil
}

// memoryOf returns what a process has in memory in MB, and its part of that
// where others have the same.
func memoryOf(pid int) (rss, pss float64, err error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		kb, _ := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(value, "kB")), 64)
		switch name {
		case "Rss":
			rss = kb * 1024 / 1e6
		case "Pss":
			pss = kb * 1024 / 1e6
		}
	}
	return rss, pss, lines.Err()
}

// nameOf returns what a process was started as.
func nameOf(pid int) string {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	args := strings.Split(strings.TrimRight(string(data), "\x00"), "\x00")
	name := filepath.Base(args[0])
	if name == speechHelper && len(args) > 1 {
		name += " " + args[1]
	}
	return name
}

// busyOf returns how long the threads of a process have run.
func busyOf(pid int) (total time.Duration, err error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(threads) == 0 {
		return 0, errors.Join(err, os.ErrProcessDone)
	}
	for _, t := range threads {
		data, err := os.ReadFile(t)
		if err != nil {
			continue // it has just ended
		}
		ran, _, _ := strings.Cut(string(data), " ")
		n, err := strconv.ParseInt(ran, 10, 64)
		if err != nil {
			return 0, err
		}
		total += time.Duration(n)
	}
	return total, nil
}
