// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
)

// spender is the first argument by which this program runs a command for spent.
const spender = "spent"

// spent runs gapwise and returns the CPU seconds and the most memory, in megabytes, that it
// takes. Exit codes 4 and 5 are results.
//
// A process of its own starts it: what Linux says of the most memory begins with that of who
// started the process, and this one has had gigabytes of results.
func (r *runner) spent(args ...string) (seconds, megabytes float64) {
	cmd := exec.Command(must(os.Executable()), append([]string{spender, r.gapwise}, args...)...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	text, err := cmd.Output()
	if isResult(err) {
		_, err = fmt.Sscan(string(text), &seconds, &megabytes)
	}
	if err != nil {
		panic(fmt.Errorf("%s %s: %w: %s", r.gapwise, strings.Join(args, " "), err, complaint.String()))
	}
	return seconds, megabytes
}

// spend runs a command, writes what spent returns, and returns the command's exit code.
func spend(args []string) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	megabytes := 0.0
	// Systems that count no memory have no such field.
	if most := reflect.Indirect(reflect.ValueOf(cmd.ProcessState.SysUsage())).FieldByName("Maxrss"); most.IsValid() {
		unit := 1024.0
		if runtime.GOOS == "darwin" {
			unit = 1
		}
		megabytes = float64(most.Int()) * unit / 1e6
	}
	fmt.Println((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), megabytes)
	return cmd.ProcessState.ExitCode()
}

// endToEnd draws an instance as the parameters say, solves it, has the solution judged,
// and computes bounds with a limit. It returns a row of a table: of each command CPU
// seconds and megabytes, the objective's gap after solving, and bytes an item: the most
// memory of the last three commands, less that of a command that does nothing.
func (r *runner) endToEnd(name, algorithm, limit string, items float64, parameters ...string) string {
	folder := must(os.MkdirTemp("", "million"))
	defer os.RemoveAll(folder)
	in, out := filepath.Join(folder, "in.json"), filepath.Join(folder, "out.json")
	_, idle := r.spent("version")
	row, most := fmt.Sprintf("| %s | `%s` |", name, algorithm), 0.0
	for k, args := range [][]string{
		append([]string{"generate", "-o", in}, parameters...), {"solve", "-a", algorithm, "-o", out, in},
		{"verify", in, out}, {"bound", "--time-limit", limit, in},
	} {
		seconds, megabytes := r.spent(args...)
		if k > 0 {
			most = max(most, megabytes-idle)
		}
		row += fmt.Sprintf(" %.1f | %.0f |", seconds, megabytes)
	}
	return row + fmt.Sprintf(" %.0f |", most*1e6/items)
}
