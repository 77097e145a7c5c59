// SPDX-License-Identifier: MIT

//go:build !unix

package process

import "os/exec"

func group(*exec.Cmd) {}

// ask kills the process: there is nothing gentler.
func ask(cmd *exec.Cmd, _ bool) error { return cmd.Process.Kill() }

func kill(*exec.Cmd) {}
