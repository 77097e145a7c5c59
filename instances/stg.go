package instances

import (
	"bufio"
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// ReadSTG reads a graph of the Standard Task Graph set (Tobita, Kasahara 2002):
// a line with the number of tasks n, then n + 2 lines of task, processing time,
// number of predecessors, predecessors. Task 0 and n + 1 are dummies of time 0
// and are kept. There is nothing to transfer: edges have data 0. From # on a line is a
// comment. Errors wrap model.ErrInvalid and name the line.
func ReadSTG(data []byte) (Workflow, error) {
	var w Workflow
	line := 0
	bad := func(format string, args ...any) (Workflow, error) {
		return Workflow{}, fmt.Errorf("%w STG graph: line %d: %s", model.ErrInvalid, line, fmt.Sprintf(format, args...))
	}
	tasks := -1 // not known yet
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<24)
	var pred [][]int
	var at []int // lines of the tasks
	for lines.Scan() {
		line++
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		var numbers []int
		for _, f := range fields {
			x, err := strconv.Atoi(f)
			if err != nil || x < 0 {
				return bad("%q must be a whole number from 0", f)
			}
			numbers = append(numbers, x)
		}
		switch {
		case tasks < 0:
			if len(numbers) != 1 {
				return bad("it must hold the number of tasks alone, it has %d numbers", len(numbers))
			}
			tasks = numbers[0] + 2
			continue
		case len(w.Tasks) == tasks:
			return bad("there are more than the %d tasks and two dummies of the first line", tasks-2)
		case len(numbers) < 3:
			return bad("task, time and number of predecessors are %d numbers, must be 3 at least", len(numbers))
		case numbers[0] != len(w.Tasks):
			return bad("task %d, must be %d", numbers[0], len(w.Tasks))
		case numbers[2] != len(numbers)-3:
			return bad("task %d says it has %d predecessors and lists %d", numbers[0], numbers[2], len(numbers)-3)
		}
		w.Tasks = append(w.Tasks, WorkTask{fields[0], float64(numbers[1])})
		pred, at = append(pred, numbers[3:]), append(at, line)
	}
	if err := lines.Err(); err != nil {
		line++
		return bad("%v", err)
	}
	if tasks < 0 {
		return bad("there is no number of tasks")
	}
	if len(w.Tasks) != tasks {
		return bad("the file ends after %d of %d tasks, dummies included", len(w.Tasks), tasks)
	}
	for t, list := range pred {
		line = at[t]
		seen := map[int]bool{}
		for _, p := range list {
			if p >= tasks || p == t || seen[p] {
				return bad("task %d can't have the predecessor %d: it isn't another task, or it is there twice", t, p)
			}
			seen[p] = true
			w.Edges = append(w.Edges, model.DAGEdge{From: w.Tasks[p].ID, To: w.Tasks[t].ID})
		}
	}
	return w, nil
}
