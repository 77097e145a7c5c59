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
	if _, megabytes := (&runner{gapwise: "/bin/true"}).spent("version"); megabytes <= 0 || megabytes > 200 {
		t.Errorf("%v MB", megabytes)
	}
	runtime.KeepAlive(held)
	for _, wrong := range []string{"/bin/false", "no/command"} { // it fails, or isn't there
		if failure(func() { (&runner{gapwise: wrong}).spent("version") }) == nil {
			t.Errorf("no error of %s", wrong)
		}
	}
}
