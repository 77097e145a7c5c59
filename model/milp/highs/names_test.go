// SPDX-License-Identifier: MIT

//go:build !js

package highs_test

import (
	"flag"
	"fmt"
	"go/format"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

var update = flag.Bool("update", false, "write names.go anew")

// The names of HiGHS's exports and imports match the package's own module, which lies in the cache next to it.
func TestNames(t *testing.T) {
	require.HiGHS(t)
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	module, err := os.ReadFile(filepath.Join(cache, "gapwise", "highs-1.15.3.mjs"))
	if err != nil || len(module) == 0 {
		t.Skip("scripts/highs hasn't put the package's module beside HiGHS: ", err)
	}
	exports := map[string]string{}
	for _, m := range regexp.MustCompile(`Module\["_(\w+)"\]=wasmExports\["([\w$]+)"\]`).FindAllSubmatch(module, -1) {
		exports[string(m[1])] = string(m[2])
	}
	for name, pattern := range map[string]string{
		"__wasm_call_ctors": `TTY\.init\(\);wasmExports\["([\w$]+)"\]\(\)`,
		"memory":            `wasmMemory=wasmExports\["([\w$]+)"\]`,
		"table":             `wasmTable=wasmExports\["([\w$]+)"\]`,
	} {
		m := regexp.MustCompile(pattern).FindSubmatch(module)
		if m == nil {
			t.Fatalf("the module has no %s", name)
		}
		exports[name] = string(m[1])
	}
	imports := map[string]string{}
	list := regexp.MustCompile(`wasmImports=\{([^}]*)\}`).FindSubmatch(module)
	if list == nil || len(exports) < 160 {
		t.Fatalf("%d exports, imports %q", len(exports), list)
	}
	for _, pair := range strings.Split(string(list[1]), ",") {
		short, name, _ := strings.Cut(pair, ":")
		imports[strings.TrimPrefix(name, "_")] = short
	}
	var b strings.Builder
	b.WriteString("// SPDX-License-Identifier: MIT\n\n// Code generated from build/highs.mjs of npm's highs 1.15.3 by go test -run TestNames -update; DO NOT EDIT.\n\npackage highs\n")
	write := func(about, variable string, names map[string]string) {
		fmt.Fprintf(&b, "\n// %s\nvar %s = map[string]string{\n", about, variable)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			fmt.Fprintf(&b, "\t%q: %q,\n", name, names[name])
		}
		b.WriteString("}\n")
	}
	write("exports are the module's names of what it offers.", "exports", exports)
	write("imports are its names of what it wants.", "imports", imports)
	want := require.Value(format.Source([]byte(b.String())))(t)
	if *update {
		require.OK(t, os.WriteFile("names.go", want, 0o644))
	}
	if got, err := os.ReadFile("names.go"); err != nil || string(got) != string(want) {
		t.Errorf("names.go isn't what the module says (%v); go test -run TestNames -update writes it", err)
	}
}
