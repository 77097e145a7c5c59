// SPDX-License-Identifier: MIT

package nearest

import "testing"

func TestOf(t *testing.T) {
	known := []string{"time_limit", "label", "gap", "heft", "peft"}
	for name, want := range map[string]string{"time-limit": "time_limit", "timelimit": "time_limit", "lable": "label", "left": "heft",
		"heft": "heft", "colour": "", "": "", "ga": "gap", "xyz": "", "x": ""} {
		if got := Of(name, known); got != want {
			t.Errorf("nearest to %q is %q, want %q", name, got, want)
		}
	}
}
