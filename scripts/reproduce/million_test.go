// SPDX-License-Identifier: MIT

package main

import (
	"os"
	"runtime"
	"testing"
)

// What a command takes of memory isn't what the process that asks has taken.
func TestSpent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("systems differ in what they count")
	}
	const most = 400 << 20
	held := make([]byte, most)
	for i := 0; i < most; i += os.Getpagesize() {
		held[i] = 1
	}
	_, megabytes, err := (&runner{gapwise: "/bin/true"}).spent("version")
	if err != nil || megabytes <= 0 || megabytes > 200 {
		t.Errorf("%v MB, %v", megabytes, err)
	}
	runtime.KeepAlive(held)
	if _, _, err := (&runner{gapwise: "/bin/false"}).spent("version"); err == nil {
		t.Error("no error of a command that fails")
	}
	if _, _, err := (&runner{gapwise: "no/command"}).spent("version"); err == nil {
		t.Error("no error of a command that isn't there")
	}
}
