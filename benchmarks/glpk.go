package benchmarks

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/model"
)

// glpkName is the algorithm, in plans only, that runs GLPK's program, the solver
// of the VCSched paper.
const glpkName = "glpk"

// glpkThere returns an error if glpsol isn't on PATH.
func glpkThere() error {
	if _, err := exec.LookPath("glpsol"); err != nil {
		return fmt.Errorf("%w plan: the algorithm glpk needs the program glpsol on PATH (Debian: glpk-utils)", model.ErrInvalid)
	}
	return nil
}

// glpkVersion returns the version of the glpsol on PATH.
var glpkVersion = sync.OnceValue(func() string {
	text, _ := exec.Command("glpsol", "--version").Output()
	if m := regexp.MustCompile(`LP/MIP Solver (\S+)`).FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return "of an unknown version"
})

// glpk is a model.Solver that writes a formulation as MPS and runs glpsol on it.
// The elapsed time is the CPU time of the process: it has one thread, and other work on
// the machine doesn't count. Its answers count as solutions, not as proofs.
type glpk struct{ formulation string }

func (g glpk) Name() string { return glpkName }

func (g glpk) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	r := model.NewResult(g.Name(), set.Seed)
	f, err := gapwise.Formulation(ctx, in, g.formulation)
	if err != nil {
		return r, err
	}
	dir, err := os.MkdirTemp("", "gapwise-glpk")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	mps, out := filepath.Join(dir, "m.mps"), filepath.Join(dir, "m.sol")
	file, err := os.Create(mps)
	if err != nil {
		return r, err
	}
	if err := errors.Join(f.WriteMPS(file), file.Close()); err != nil {
		return r, err
	}
	args := []string{"--freemps", mps, "--write", out}
	if set.TimeLimit > 0 {
		args = append(args, "--tmlim", fmt.Sprint(int(max(1, set.TimeLimit.Seconds()))))
	}
	solver := exec.CommandContext(ctx, "glpsol", args...)
	text, err := solver.CombinedOutput()
	if s := solver.ProcessState; s != nil {
		r.Elapsed = s.UserTime() + s.SystemTime()
	}
	if err != nil {
		return r, fmt.Errorf("glpk: %w: %s", err, lastLine(string(text)))
	}
	x, status, err := readGLPK(out, len(f.Vars))
	if err != nil {
		return r, err
	}
	if status != "o" && status != "f" {
		r.Reason = "glpsol's status is " + status
		return r, nil
	}
	p, err := f.Decode(x)
	if err != nil {
		return r, fmt.Errorf("glpk: %w", err)
	}
	return r, r.SetSolution(in, p)
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// readGLPK reads glpsol's solution file: a line "s mip ROWS COLS STATUS OBJ", and
// a line "j COLUMN VALUE" for each column. x is by column; status is o (optimal)
// or f (feasible) with a solution.
func readGLPK(file string, vars int) (x []float64, status string, err error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, "", fmt.Errorf("glpk: %w", err)
	}
	defer in.Close()
	x = make([]float64, vars)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var rows, cols, j int
		var value float64
		if _, err := fmt.Sscanf(lines.Text(), "s mip %d %d %s %g", &rows, &cols, &status, &value); err == nil && cols != vars {
			return nil, "", fmt.Errorf("glpk: the solution has %d columns, the model %d", cols, vars)
		}
		if _, err := fmt.Sscanf(lines.Text(), "j %d %g", &j, &value); err == nil && j >= 1 && j <= vars {
			x[j-1] = value
		}
	}
	return x, status, lines.Err()
}
