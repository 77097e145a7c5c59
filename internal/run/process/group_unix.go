// SPDX-License-Identifier: MIT

//go:build unix

package process

import (
	"os/exec"
	"syscall"
)

// group has a command begin a process group.
func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// ask asks the group to end.
func ask(cmd *exec.Cmd, interrupt bool) error {
	if interrupt {
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
	}
	return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
}

// kill kills the rest of the group, if any.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
