// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/gapwise/gapwise"
)

// Every device of a native search pays for itself by a table of today's code: a search
// that has changed since wants `make ablation`, a device that shows nothing goes, or its
// plan gets instances that it is for.
func TestDevicesPay(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	for _, p := range gapwise.Problems() {
		kind := string(p.Kind)
		if _, err := os.Stat(ablationFile(kind)); err != nil && p.Search == nil {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			text := must(os.ReadFile(ablationFile(kind)))
			var a ablation
			check(json.Unmarshal(text, &a))
			code := codeOf(kind)
			if a.Code != code && !a.Changed {
				t.Errorf("%s is of other code than there is now (%s, now %s): run make ablation", ablationFile(kind), a.Code, code)
			}
			_, devices := native(p)
			if len(a.Rows) != 1+len(devices) || len(devices) == 0 {
				t.Fatalf("%s has %d rows, the search %d devices: run make ablation", ablationFile(kind), len(a.Rows), len(devices))
			}
			for k := range a.Rows[1:] {
				x := &a.Rows[1+k]
				if x.Name != devices[k].Name {
					t.Errorf("row %d is of %q, the device is %q: run make ablation", 1+k, x.Name, devices[k].Name)
				}
				if !x.shows(&a.Rows[0]) {
					t.Errorf("%s shows nothing on the plan ablation-%s: %+v, the whole search %+v", x.Name, kind, *x, a.Rows[0])
				}
			}
		})
	}
}
