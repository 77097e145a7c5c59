// SPDX-License-Identifier: MIT

package instances

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// wfFormat holds the keys that are read from a WfCommons file (WfFormat 1.3 to 1.5).
type wfFormat struct {
	SchemaVersion string `json:"schemaVersion"`
	Workflow      struct {
		// 1.3 and 1.4
		Tasks []wfTask `json:"tasks"`
		Jobs  []wfTask `json:"jobs"`
		// 1.5
		Specification *struct {
			Tasks []wfTask `json:"tasks"`
			Files []struct {
				ID   string   `json:"id"`
				Size *float64 `json:"sizeInBytes"`
			} `json:"files"`
		} `json:"specification"`
		Execution *struct {
			Tasks []wfTask `json:"tasks"`
		} `json:"execution"`
	} `json:"workflow"`
}

type wfTask struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Parents     []string `json:"parents"`
	Children    []string `json:"children"`
	InputFiles  []string `json:"inputFiles"`  // 1.5
	OutputFiles []string `json:"outputFiles"` // 1.5
	Files       []struct {
		Path  string   `json:"path"`
		Name  string   `json:"name"`
		Link  string   `json:"link"` // input or output
		Size  *float64 `json:"size"`
		Size4 *float64 `json:"sizeInBytes"`
	} `json:"files"` // 1.3 and 1.4
	Runtime  *float64 `json:"runtime"`
	Runtime4 *float64 `json:"runtimeInSeconds"`

	reads, writes map[string]*float64 // sizes of files; nil where the file doesn't tell
}

func (t *wfTask) runtime() *float64 {
	if t.Runtime4 != nil {
		return t.Runtime4
	}
	return t.Runtime
}

func badWf(format string, args ...any) error {
	return fmt.Errorf("%w WfFormat file: %w", model.ErrInvalid, fmt.Errorf(format, args...))
}

// readWfFormat reads a workflow trace of WfCommons (Coleman et al.: WfCommons, FGCS 128, 2022), schema version 1.3, 1.4
// or 1.5. A task's work is its run time in seconds, for any number of cores, so a machine of speed 1 repeats it
// (Workflow.Measured). An edge's data are the bytes of the files that its first task writes and its second reads, each
// file once. Versions 1.3 and 1.4 give a file's size at its writer and at its readers; the writer's counts. Parents and
// children must agree, unless no task has one of the two lists. Without any, no file may lead from one task to another.
// Errors wrap model.ErrInvalid and name the task or file. O(length of the file + edges × files of a task).
func readWfFormat(data []byte) (Workflow, error) {
	var f wfFormat
	if err := json.Unmarshal(data, &f); err != nil {
		return Workflow{}, badWf("%w", model.JSONError(data, err))
	}
	switch f.SchemaVersion {
	case "1.3", "1.4":
		return f.early()
	case "1.5":
		return f.late()
	case "":
		return Workflow{}, badWf("schemaVersion is missing, give 1.3, 1.4 or 1.5")
	}
	return Workflow{}, badWf("schemaVersion is %q, must be 1.3, 1.4 or 1.5", f.SchemaVersion)
}

// late reads version 1.5: tasks and files in one part, run times in another.
func (f *wfFormat) late() (Workflow, error) {
	spec, execution := f.Workflow.Specification, f.Workflow.Execution
	switch {
	case spec == nil:
		return Workflow{}, badWf("there is no workflow.specification: it holds the tasks")
	case execution == nil:
		return Workflow{}, badWf("there is no workflow.execution: it holds the run times")
	}
	index, err := indexWf(spec.Tasks)
	if err != nil {
		return Workflow{}, err
	}
	sizes := make(map[string]*float64, len(spec.Files))
	for _, x := range spec.Files {
		if _, twice := sizes[x.ID]; twice || x.ID == "" {
			return Workflow{}, badWf("the file id %q is empty or there twice", x.ID)
		}
		sizes[x.ID] = x.Size
	}
	for i := range spec.Tasks { // the specification has no say in this
		spec.Tasks[i].Runtime, spec.Tasks[i].Runtime4 = nil, nil
	}
	ran := make(map[string]bool, len(execution.Tasks))
	for k := range execution.Tasks {
		x := &execution.Tasks[k]
		i, ok := index[x.ID]
		switch {
		case !ok:
			return Workflow{}, badWf("workflow.execution: there is no task %q in the specification", x.ID)
		case ran[x.ID]:
			return Workflow{}, badWf("workflow.execution: task %q is there twice", x.ID)
		}
		ran[x.ID] = true
		spec.Tasks[i].Runtime4 = x.runtime()
	}
	for i := range spec.Tasks {
		t := &spec.Tasks[i]
		t.reads, t.writes = map[string]*float64{}, map[string]*float64{}
		for _, files := range []struct {
			does string
			list []string
			into map[string]*float64
		}{{"reads", t.InputFiles, t.reads}, {"writes", t.OutputFiles, t.writes}} {
			for _, x := range files.list {
				s, ok := sizes[x]
				if !ok {
					return Workflow{}, badWf("the file %q that task %q %s has no size: workflow.specification.files doesn't name it", x, t.ID, files.does)
				}
				files.into[x] = s
			}
		}
	}
	return linkWf(spec.Tasks, index)
}

// early reads versions 1.3 and 1.4: everything is with the tasks, which refer
// to each other by name in some files, by id in others.
func (f *wfFormat) early() (Workflow, error) {
	tasks := f.Workflow.Tasks
	switch {
	case tasks != nil && f.Workflow.Jobs != nil:
		return Workflow{}, badWf("there are workflow.tasks and workflow.jobs, give one")
	case tasks == nil:
		tasks = f.Workflow.Jobs
	}
	if tasks == nil {
		return Workflow{}, badWf("there is no workflow.tasks")
	}
	for i := range tasks {
		if tasks[i].ID == "" {
			tasks[i].ID = tasks[i].Name
		}
	}
	index, err := indexWf(tasks)
	if err != nil {
		return Workflow{}, err
	}
	// There is one map for ids and names; an ambiguous one is -1.
	byName := make(map[string]int, 2*len(tasks))
	for id, i := range index {
		byName[id] = i
	}
	for i := range tasks {
		t := &tasks[i]
		if other, ok := byName[t.Name]; ok && other != i {
			byName[t.Name] = -1
		} else if t.Name != "" {
			byName[t.Name] = i
		}
		t.reads, t.writes = map[string]*float64{}, map[string]*float64{}
		for _, x := range t.Files {
			var into map[string]*float64
			switch strings.ToLower(x.Link) {
			case "input":
				into = t.reads
			case "output":
				into = t.writes
			default:
				return Workflow{}, badWf("task %q: file %q has the link %q, must be input or output", t.ID, x.Name, x.Link)
			}
			size, name := x.Size4, x.Path+x.Name
			if size == nil {
				size = x.Size
			}
			if before := into[name]; before != nil && size != nil && *before != *size {
				return Workflow{}, badWf("task %q: file %q has the sizes %v and %v, give one", t.ID, x.Name, *before, *size)
			} else if before == nil {
				into[name] = size
			}
		}
	}
	for name, i := range byName {
		if i < 0 {
			continue
		}
		index[name] = i
	}
	for i := range tasks {
		for _, list := range [][]string{tasks[i].Parents, tasks[i].Children} {
			for _, x := range list {
				if byName[x] == -1 {
					return Workflow{}, badWf("task %q names the task %q, which could be either of two, give its id", tasks[i].ID, x)
				}
			}
		}
	}
	return linkWf(tasks, index)
}

// indexWf numbers the tasks by their ids.
func indexWf(tasks []wfTask) (map[string]int, error) {
	index := make(map[string]int, len(tasks))
	for i := range tasks {
		id := tasks[i].ID
		if _, twice := index[id]; twice || id == "" {
			return nil, badWf("the task id %q is empty or there twice", id)
		}
		index[id] = i
	}
	return index, nil
}

// linkWf makes the graph of the tasks; index maps each of their names to the
// task's number.
func linkWf(tasks []wfTask, index map[string]int) (Workflow, error) {
	w := Workflow{Measured: true}
	// Collect the pairs of parent and child in the parents' lists and the children's.
	var down, up [][2]int
	isDown, isUp := map[[2]int]bool{}, map[[2]int]bool{}
	anyChildren, anyParents := false, false // is there such a key at all
	for i := range tasks {
		t := &tasks[i]
		switch r := t.runtime(); {
		case r == nil:
			return Workflow{}, badWf("task %q has no run time", t.ID)
		case !(*r >= 0) || math.IsInf(*r, 1):
			return Workflow{}, badWf("task %q has the run time %v, must be a number from 0", t.ID, *r)
		default:
			w.Tasks = append(w.Tasks, workTask{t.ID, *r})
		}
		anyChildren, anyParents = anyChildren || t.Children != nil, anyParents || t.Parents != nil
		for _, id := range t.Parents {
			p, ok := index[id]
			switch pair := [2]int{p, i}; {
			case !ok:
				return Workflow{}, badWf("task %q has the parent %q, there is no such task", t.ID, id)
			case isUp[pair]:
				return Workflow{}, badWf("task %q has the parent %q twice", t.ID, id)
			default:
				isUp[pair], up = true, append(up, pair)
			}
		}
		for _, id := range t.Children {
			c, ok := index[id]
			switch pair := [2]int{i, c}; {
			case !ok:
				return Workflow{}, badWf("task %q has the child %q, there is no such task", t.ID, id)
			case isDown[pair]:
				return Workflow{}, badWf("task %q has the child %q twice", t.ID, id)
			default:
				isDown[pair], down = true, append(down, pair)
			}
		}
	}
	if anyChildren && anyParents {
		for _, p := range up {
			if !isDown[p] {
				return Workflow{}, badWf("task %q has the parent %q, which doesn't have it as a child", tasks[p[1]].ID, tasks[p[0]].ID)
			}
		}
		for _, p := range down {
			if !isUp[p] {
				return Workflow{}, badWf("task %q has the child %q, which doesn't have it as a parent", tasks[p[0]].ID, tasks[p[1]].ID)
			}
		}
	}
	if !anyChildren {
		down = up
	}
	for _, p := range down {
		from, to := &tasks[p[0]], &tasks[p[1]]
		data, err := sharedWf(from, to)
		if err != nil {
			return Workflow{}, err
		}
		w.Edges = append(w.Edges, model.DAGEdge{From: from.ID, To: to.ID, Data: data})
	}
	if len(w.Edges) == 0 {
		return w, unlinkedWf(tasks)
	}
	return w, nil
}

// unlinkedWf reports a file that one task writes and another reads. It is the only sign of dependences if no task has
// parents or children: without it all tasks could run at once. Some writers name the folder differently at both ends,
// so a file's last name counts, too, if one task alone writes it.
func unlinkedWf(tasks []wfTask) error {
	writers := map[string][]int{}
	for i := range tasks {
		for name := range tasks[i].writes {
			writers[name] = append(writers[name], i)
			if base := path.Base(name); base != name {
				writers[base] = append(writers[base], i)
			}
		}
	}
	for i := range tasks {
		for _, name := range slices.Sorted(maps.Keys(tasks[i].reads)) {
			from := writers[name]
			if last := writers[path.Base(name)]; len(from) == 0 && len(last) == 1 {
				from = last
			}
			if k := slices.IndexFunc(from, func(w int) bool { return w != i }); k >= 0 {
				return badWf("no task has parents or children, yet task %q reads the file %q that task %q writes: "+
					"give parents and children", tasks[i].ID, name, tasks[from[k]].ID)
			}
		}
	}
	return nil
}

// sharedWf returns the bytes of the files that one task writes and another
// reads.
func sharedWf(from, to *wfTask) (float64, error) {
	// Walk the shorter of two lists, so that a hub with thousands of files and
	// neighbours costs no square of it; sorted, so that the sum is one.
	files, other := from.writes, to.reads
	if len(other) < len(files) {
		files, other = other, files
	}
	sum := 0.0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if _, ok := other[name]; !ok {
			continue
		}
		size := from.writes[name]
		if size == nil {
			size = to.reads[name]
		}
		switch {
		case size == nil:
			return 0, badWf("the file %q that task %q writes has no size", name, from.ID)
		case !(*size >= 0) || math.IsInf(*size, 1):
			return 0, badWf("the file %q that task %q writes has the size %v, must be a number from 0", name, from.ID, *size)
		}
		sum += *size
	}
	return sum, nil
}
