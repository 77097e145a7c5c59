// SPDX-License-Identifier: MIT

package main

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// The program has no package that makes it heavy without need. With templates the linker keeps every
// exported method of every type, a fifth of the program.
func TestLinked(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-tags", "urfave_cli_no_template", ".")
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	linked := strings.Fields(string(require.Value(list.Output())(t)))
	if !slices.Contains(linked, "github.com/urfave/cli/v3") {
		t.Fatalf("these aren't the packages of the program: %q", linked)
	}
	for _, heavy := range []string{"text/template", "html/template", "net/rpc", "expvar",
		"k8s.io/client-go/kubernetes/scheme", "k8s.io/client-go/rest"} {
		if slices.Contains(linked, heavy) {
			t.Errorf("the program has the package %s", heavy)
		}
	}
}

// initialised matches Go's line on the initialisation of a package of ours: its name and how much it has allocated.
var initialised = regexp.MustCompile(`(?m)^init (github\.com/gapwise/gapwise\S*) .* (\d+) bytes,`)

// gapwise version also makes everything that a package makes when the program starts: regular expressions, tables and
// lists are to be made on first use.
func TestStart(t *testing.T) {
	const most = 16 << 10 // bytes of a package
	allowed := map[string]bool{
		"github.com/gapwise/gapwise/cmd/gapwise":         true, // tests
		"github.com/gapwise/gapwise/model/milp/external": true, // patterns of solvers' output
		"github.com/gapwise/gapwise":                     true, // the list of problems
	}
	version := exec.Command(os.Args[0], "-test.run", "^$")
	version.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out := require.Run(t, version)
	all := initialised.FindAllStringSubmatch(out, -1)
	if len(all) < 10 {
		t.Fatalf("%d packages of ours are initialised: %s", len(all), out)
	}
	for _, m := range all {
		if bytes, _ := strconv.Atoi(m[2]); bytes > most && !allowed[m[1]] {
			t.Errorf("%s allocates %d bytes before the program begins, at most %d are allowed", m[1], bytes, most)
		}
	}
}
