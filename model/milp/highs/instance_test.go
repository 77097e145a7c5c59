// SPDX-License-Identifier: MIT

//go:build linux || darwin

package highs

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/experimental"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model/milp"
)

// An error inside is an error of that run: the next has another instance.
func TestAbort(t *testing.T) {
	require.HiGHS(t)
	for name, abort := range map[string]func(o *object) error{
		"an address beyond the memory": func(o *object) error { _, err := o.call("Highs_getNumCol", uint32(math.MaxUint32-8)); return err },
		"no such function":             func(o *object) error { _, err := o.call("Highs_none"); return err },
		"more than 2 GiB": func(o *object) error {
			for {
				if _, err := o.alloc(1 << 30); err != nil {
					return err
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "more than 2 GiB" && testing.Short() {
				t.Skip("it copies gigabytes")
			}
			o := require.Value(newObject(t.Context(), nil))(t)
			if err := abort(o); !errors.Is(err, errSolver) || strings.Contains(err.Error(), "\n") {
				t.Errorf("it gives %v", err)
			} else if name == "more than 2 GiB" && !errors.Is(err, errMemory) {
				t.Errorf("it gives %v", err)
			}
			o.close()
			r, err := Solve(t.Context(), &milp.Model{Vars: []milp.Var{{Upper: 3, Cost: -1, Integer: true}}}, milp.Options{})
			if err != nil || r.Objective != -3 {
				t.Errorf("the next solve: %+v, %v", r, err)
			}
		})
	}
}

// A model that HiGHS refuses is an error, and no part that it keeps is solved. (Validate refuses this one before.)
func TestRefusedModel(t *testing.T) {
	require.HiGHS(t)
	o := require.Value(newObject(t.Context(), nil))(t)
	defer o.close()
	twice := &milp.Model{Vars: []milp.Var{{Upper: 1}}, Rows: []milp.Row{{Upper: 1, Terms: []milp.Term{{Var: 0, Coef: 1}, {Var: 0, Coef: 1}}}}}
	require.Refused(t, "a row that names a variable twice", o.pass(twice, false), errSolver, "")
}

// The options' names and numbers match this version: the intended rule is switched off.
func TestOptionsAreThose(t *testing.T) {
	require.HiGHS(t)
	var log strings.Builder
	m := &milp.Model{Maximise: true}
	var row []milp.Term
	for j := range 12 {
		m.AddVar(milp.Var{Upper: 1, Cost: float64(7 + j*5%11), Integer: true})
		row = append(row, milp.Term{Var: j, Coef: float64(5 + j*7%13)})
	}
	m.AddRow("", math.Inf(-1), 30, row...)
	require.OK(t, require.Err(Solve(t.Context(), m,
		milp.Options{Log: func(line string) { log.WriteString(line + "\n") }})))
	if !strings.Contains(log.String(), "Parallel rows and columns") {
		t.Errorf("the log doesn't say that presolve leaves parallel rows and columns alone:\n%s", log.String())
	}
}

// A file that isn't HiGHS is refused, by name.
func TestAnotherFile(t *testing.T) {
	for name, size := range map[string]int{"short": 10, "as long": moduleSize} {
		file := filepath.Join(t.TempDir(), name)
		require.OK(t, os.WriteFile(file, make([]byte, size), 0o600))
		t.Setenv("GAPWISE_HIGHS", file)
		open, err := find()
		if err == nil {
			_, err = open()
		}
		require.Refused(t, name, err, ErrMissing, file)
	}
	t.Setenv("GAPWISE_HIGHS", filepath.Join(t.TempDir(), "none"))
	require.Refused(t, "a file that isn't there", require.Err(find()), ErrMissing, "none")
	require.Refused(t, "another file handed over", Use([]byte("x")), ErrMissing, "")
}

func TestCostScale(t *testing.T) {
	for _, c := range []struct {
		costs []float64
		want  float64
	}{{nil, 1}, {[]float64{0, 3}, 1}, {[]float64{1e-8}, 1 << 21}, {[]float64{1e-8, 1e3}, 1 << 10}, {[]float64{1e9}, 1}} {
		m := &milp.Model{}
		for _, cost := range c.costs {
			m.AddVar(milp.Var{Cost: -cost})
		}
		require.Same(t, fmt.Sprintf("costs %v: scale", c.costs), c.want, costScale(m))
	}
}

// Memory keeps its contents when it grows, whichever kind it is, and ends where the module states.
func TestMemory(t *testing.T) {
	for name, m := range map[string]experimental.LinearMemory{"reserved": reserved(make([]byte, 1000)), "grown": &grown{}} {
		small := m.Reallocate(10)
		small[9] = 7
		if large := m.Reallocate(900); len(small) != 10 || len(large) != 900 || large[9] != 7 || large[10] != 0 {
			t.Errorf("%s: %d bytes, then %d, %v", name, len(small), len(large), large[:11])
		}
	}
	if reserved(make([]byte, 1000)).Reallocate(1001) != nil {
		t.Error("more is given than is reserved")
	}
}

// The script fetches the file that this package takes.
func TestScriptFetchesIt(t *testing.T) {
	script := require.Value(os.ReadFile(filepath.Join("..", "..", "..", "scripts", "highs")))(t)
	require.Says(t, "scripts/highs", string(script), "\nversion="+packageVersion+"\n", "\nsha256="+moduleDigest+" ")
}
