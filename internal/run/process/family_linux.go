// SPDX-License-Identifier: MIT

package process

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// killFamily kills a program's processes that aren't in its group any more. These are its descendants, and every
// process with its mark in its environment, since a process is nobody's descendant once its parent has ended. A process
// that has given itself another environment, too, stays.
//
// A process may start another while they are looked for, so they are looked for until
// there is none.
func killFamily(pid int, mark string) {
	for range 10 {
		all := family(pid, mark)
		if len(all) == 0 {
			return
		}
		for _, p := range all {
			_ = syscall.Kill(p, syscall.SIGKILL)
		}
	}
}

// family returns the processes that live: descendants of pid, and those that are marked.
func family(pid int, mark string) (all []int) {
	folder, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(-1)
	children := map[int][]int{}
	found := map[int]bool{}
	for _, name := range names {
		p, err := strconv.Atoi(name)
		if err != nil || p == os.Getpid() {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		// The name is in parentheses and may hold any; then come the state and the parent.
		after := stat[bytes.LastIndexByte(stat, ')')+1:]
		fields := bytes.Fields(after)
		if err != nil || len(fields) < 2 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
			continue
		}
		if parent, err := strconv.Atoi(string(fields[1])); err == nil {
			children[parent] = append(children[parent], p)
		}
		if environ, err := os.ReadFile("/proc/" + name + "/environ"); err == nil && bytes.Contains(environ, []byte(mark)) {
			found[p] = true
		}
	}
	for next := children[pid]; len(next) > 0; {
		p := next[0]
		next = append(next[1:], children[p]...)
		found[p] = true
	}
	for p := range found {
		all = append(all, p)
	}
	return all
}
