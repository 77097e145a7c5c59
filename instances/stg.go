// SPDX-License-Identifier: MIT

package instances

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/gapwise/gapwise/model"
)

// maxSTG bounds the number that a graph may say it has tasks (nothing is
// allocated by it) and maxSTGTime their times: whole numbers that a float64
// holds exactly.
const (
	maxSTG     = 1 << 30
	maxSTGTime = 1 << 53
)

// readSTG reads a graph of the Standard Task Graph set (Tobita, Kasahara: A standard task graph set for fair evaluation
// of multiprocessor scheduling algorithms, J. Scheduling 5(5), 2002): a line with the number of tasks n, then n + 2
// lines of task, processing time, number of predecessors, predecessors, all whole numbers. Tasks 0 and n + 1 are
// dummies of time 0 and are kept. There is nothing to transfer: edges have data 0. From # on a line is a comment.
// Errors wrap model.ErrInvalid and name the line. O(length of the file), for any numbers in it.
func readSTG(file *File) (workflow, error) {
	data := file.data
	var w workflow
	line := 0
	bad := func(format string, args ...any) (workflow, error) {
		return workflow{}, fmt.Errorf("%w STG graph: line %d: %s", model.ErrInvalid, line, fmt.Sprintf(format, args...))
	}
	tasks := -1      // dummies included; not known yet
	var pred [][]int // of each task
	var at []int     // lines of the tasks
	for text := range bytes.Lines(data) {
		line++
		text, _, _ = bytes.Cut(text, []byte("#"))
		var numbers []int
		for f := range bytes.FieldsSeq(text) {
			x, err := strconv.Atoi(string(f))
			if err != nil || x < 0 {
				return bad("%q must be a whole number from 0", oneLine(string(f)))
			}
			numbers = append(numbers, x)
		}
		if len(numbers) == 0 {
			continue
		}
		t := len(w.Tasks)
		if tasks < 0 {
			switch {
			case len(numbers) != 1:
				return bad("it must hold the number of tasks alone, it has %d numbers", len(numbers))
			case numbers[0] > maxSTG:
				return bad("the number of tasks is %d, must be at most %d", numbers[0], maxSTG)
			}
			tasks = numbers[0] + 2
			continue
		}
		switch {
		case t == tasks:
			return bad("there are more than the %d tasks and two dummies of the first line", tasks-2)
		case len(numbers) < 3:
			return bad("it has %d numbers, must have 3 at least: task, time and number of predecessors", len(numbers))
		case numbers[0] != t:
			return bad("task %d, must be %d", numbers[0], t)
		case numbers[1] > maxSTGTime:
			return bad("task %d has the time %d, must be at most %d", t, numbers[1], maxSTGTime)
		case numbers[2] != len(numbers)-3:
			return bad("task %d says it has %d predecessors and lists %d", t, numbers[2], len(numbers)-3)
		}
		w.Tasks = append(w.Tasks, workTask{ID: strconv.Itoa(t), Work: float64(numbers[1])})
		pred, at = append(pred, numbers[3:]), append(at, line)
	}
	if tasks < 0 {
		line = max(line, 1)
		return bad("there is no number of tasks")
	}
	if len(w.Tasks) != tasks {
		return bad("the file ends after %d of %d tasks, dummies included", len(w.Tasks), tasks)
	}
	last := make([]int, tasks) // the last task that listed this one, plus one
	for t, list := range pred {
		line = at[t]
		if (t == 0 || t == tasks-1) && w.Tasks[t].Work != 0 {
			return bad("task %d is a dummy and has the time %v, must be 0", t, w.Tasks[t].Work)
		}
		for _, p := range list {
			switch {
			case p >= tasks:
				return bad("task %d can't have the predecessor %d: the last task is %d", t, p, tasks-1)
			case p == t:
				return bad("task %d can't have the predecessor %d: it needs itself", t, p)
			case last[p] == t+1:
				return bad("task %d can't have the predecessor %d: it is there twice", t, p)
			}
			last[p] = t + 1
			w.Edges = append(w.Edges, model.DAGEdge{From: w.Tasks[p].ID, To: w.Tasks[t].ID})
		}
	}
	return w, nil
}
