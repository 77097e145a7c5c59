// SPDX-License-Identifier: MIT

package main

import (
	"os"
	"testing"
)

// The newest baseline is that of the largest version, not of the last name.
func TestNewestBaseline(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := newestBaseline(); err == nil {
		t.Error("no baseline, and no error")
	}
	if err := os.MkdirAll("benchmarks/baseline", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"0.10.0", "0.5.0", "0.9.1"} {
		write(t, "benchmarks/baseline/"+v+".txt", "")
	}
	if v, err := baseline(); err != nil || v != "0.10.0" {
		t.Errorf("%q, %v", v, err)
	}
}
