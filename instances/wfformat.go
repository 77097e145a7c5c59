// SPDX-License-Identifier: MIT

package instances

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/instances/internal/keys"
	"github.com/gapwise/gapwise/model"
)

// wfFormat holds the keys of a WfCommons file (WfFormat 1.3 to 1.6).
type wfFormat struct {
	SchemaVersion string       `json:"schemaVersion"`
	Name          keys.Ignored `json:"name"`
	Description   keys.Ignored `json:"description"`
	CreatedAt     keys.Ignored `json:"createdAt"`
	Author        keys.Ignored `json:"author"`
	WMS           keys.Ignored `json:"wms"`
	RuntimeSystem keys.Ignored `json:"runtimeSystem"`
	Workflow      struct {
		// 1.3 and 1.4
		Tasks      []wfTask     `json:"tasks"`
		Jobs       []wfTask     `json:"jobs"`
		Machines   []wfMachine  `json:"machines"`
		ExecutedAt keys.Ignored `json:"executedAt"`
		Makespan   keys.Ignored `json:"makespan"`
		Makespan4  keys.Ignored `json:"makespanInSeconds"`
		// since 1.5
		Specification *struct {
			Tasks []wfTask `json:"tasks"`
			Files []struct {
				ID   string   `json:"id"`
				Size *float64 `json:"sizeInBytes"`
			} `json:"files"`
			Metrics keys.Ignored `json:"metrics"`
		} `json:"specification"`
		Execution *struct {
			Tasks      []wfTask     `json:"tasks"`
			Machines   []wfMachine  `json:"machines"`
			ExecutedAt keys.Ignored `json:"executedAt"`
			Makespan   keys.Ignored `json:"makespanInSeconds"`
			Metrics    keys.Ignored `json:"metrics"`
		} `json:"execution"`
	} `json:"workflow"`
}

// wfMachine is a machine that ran tasks.
type wfMachine struct {
	Name         string       `json:"nodeName"`
	System       keys.Ignored `json:"system"`
	Architecture keys.Ignored `json:"architecture"`
	Release      keys.Ignored `json:"release"`
	Memory       keys.Ignored `json:"memory"`
	Memory4      keys.Ignored `json:"memoryInBytes"`
	CPU          keys.Ignored `json:"cpu"`
}

type wfTask struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Parents     []string `json:"parents"`
	Children    []string `json:"children"`
	InputFiles  []string `json:"inputFiles"`  // since 1.5
	OutputFiles []string `json:"outputFiles"` // since 1.5
	Files       []struct {
		Path  string       `json:"path"`
		Name  string       `json:"name"`
		Link  string       `json:"link"` // input or output
		Size  *float64     `json:"size"`
		Size4 *float64     `json:"sizeInBytes"`
		ID    keys.Ignored `json:"id"`
	} `json:"files"` // 1.3 and 1.4
	Runtime  *float64 `json:"runtime"`
	Runtime4 *float64 `json:"runtimeInSeconds"`
	Cores    float64  `json:"cores"`     // 1.3
	Cores4   float64  `json:"coreCount"` // since 1.4
	Memory   float64  `json:"memory"`
	Memory4  float64  `json:"memoryInBytes"`
	Priority float64  `json:"priority"`

	Type         keys.Ignored `json:"type"`
	Category     keys.Ignored `json:"category"`
	Command      keys.Ignored `json:"command"`
	Program      keys.Ignored `json:"program"`
	Arguments    keys.Ignored `json:"arguments"`
	ExecutedAt   keys.Ignored `json:"executedAt"`
	StartedAt    keys.Ignored `json:"startedAt"`
	AvgCPU       keys.Ignored `json:"avgCPU"`
	BytesRead    keys.Ignored `json:"bytesRead"`
	BytesWritten keys.Ignored `json:"bytesWritten"`
	ReadBytes    keys.Ignored `json:"readBytes"`
	WrittenBytes keys.Ignored `json:"writtenBytes"`
	Energy       keys.Ignored `json:"energy"`
	Energy5      keys.Ignored `json:"energyInKWh"`
	AvgPower     keys.Ignored `json:"avgPower"`
	AvgPower5    keys.Ignored `json:"avgPowerInW"`
	Machine      keys.Ignored `json:"machine"`
	Machines     keys.Ignored `json:"machines"`

	reads, writes map[string]*float64 // sizes of files; nil where the file doesn't tell
}

func (t *wfTask) runtime() *float64 {
	if t.Runtime4 != nil {
		return t.Runtime4
	}
	return t.Runtime
}

// uses adds a file that the task reads ("input"), writes ("output") or both ("inout").
func (t *wfTask) uses(link, name string, size *float64) error {
	links := map[string][]map[string]*float64{"input": {t.reads}, "output": {t.writes}, "inout": {t.reads, t.writes}}
	if links[link] == nil {
		return fmt.Errorf("task %q: file %q has the link %q, must be input or output", t.ID, name, link)
	}
	for _, into := range links[link] {
		switch before := into[name]; {
		case before == nil:
			into[name] = size
		case size != nil && *before != *size:
			return fmt.Errorf("task %q: file %q has the sizes %v and %v, give one", t.ID, name, *before, *size)
		}
	}
	return nil
}

func (t *wfTask) cores() float64 { return max(t.Cores, t.Cores4) }

func badWf(format string, args ...any) error {
	return fmt.Errorf("%w workflow: %w", model.ErrInvalid, fmt.Errorf(format, args...))
}

// readWfFormat reads a workflow trace of WfCommons (Coleman et al.: WfCommons, FGCS 128, 2022), schema version 1.3 to 1.6.
// A task's work is its run time in seconds, for any number of cores, so a machine of speed 1 repeats it
// (workflow.Measured). An edge's data are the bytes of the files that its first task writes and its second reads, each
// file once. Versions 1.3 and 1.4 give a file's size at its writer and at its readers; the writer's counts. A task needs
// its parents, the tasks that have it as a child, and the only writer of each file that it reads: each of the three is
// missing in some real files. Errors wrap model.ErrInvalid and name the task or file. O(length of the file + edges × files
// of a task).
func readWfFormat(file *File) (workflow, error) {
	var f wfFormat
	if err := json.Unmarshal(file.data, &f); err != nil {
		return workflow{}, badWf("%w", model.JSONError(file.data, err))
	}
	keys.Tell(file.data, f, file.account)
	file.account.Files[0].Format += " " + f.SchemaVersion
	switch f.SchemaVersion {
	case "1.3", "1.4":
		return f.early(file)
	case "1.5", "1.6":
		return f.late(file)
	case "":
		return workflow{}, badWf("schemaVersion is missing, give 1.3, 1.4, 1.5 or 1.6")
	}
	return workflow{}, badWf("schemaVersion is %q, must be 1.3, 1.4, 1.5 or 1.6", f.SchemaVersion)
}

// late reads versions 1.5 and 1.6: tasks and files in one part, run times in another.
func (f *wfFormat) late(file *File) (workflow, error) {
	a := file.account
	spec, execution := f.Workflow.Specification, f.Workflow.Execution
	switch {
	case spec == nil:
		return workflow{}, badWf("there is no workflow.specification: it holds the tasks")
	case execution == nil:
		return workflow{}, badWf("there is no workflow.execution: it holds the run times")
	}
	index, err := indexWf(spec.Tasks)
	if err != nil {
		return workflow{}, err
	}
	sizes := make(map[string]*float64, len(spec.Files))
	for _, x := range spec.Files {
		if _, twice := sizes[x.ID]; twice || x.ID == "" {
			return workflow{}, badWf("the file id %q is empty or there twice", x.ID)
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
		if !ok {
			return workflow{}, badWf("workflow.execution: there is no task %q in the specification", x.ID)
		}
		if ran[x.ID] {
			a.LeftOut.Add(x.ID, "executions of tasks before their last")
		}
		ran[x.ID] = true
		t := &spec.Tasks[i]
		t.Runtime4, t.Cores4, t.Memory4, t.Priority = x.runtime(), x.cores(), max(x.Memory, x.Memory4), x.Priority
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
					return workflow{}, badWf("the file %q that task %q %s has no size: workflow.specification.files doesn't name it", x, t.ID, files.does)
				}
				files.into[x] = s
			}
		}
	}
	return linkWf(file, spec.Tasks, index, execution.Machines)
}

// early reads versions 1.3 and 1.4: everything is with the tasks, which refer
// to each other by name in some files, by id in others.
func (f *wfFormat) early(file *File) (workflow, error) {
	tasks := f.Workflow.Tasks
	switch {
	case tasks != nil && f.Workflow.Jobs != nil:
		return workflow{}, badWf("there are workflow.tasks and workflow.jobs, give one")
	case tasks == nil:
		tasks = f.Workflow.Jobs
	}
	if tasks == nil {
		return workflow{}, badWf("there is no workflow.tasks")
	}
	for i := range tasks {
		if tasks[i].ID == "" {
			tasks[i].ID = tasks[i].Name
		}
	}
	index, err := indexWf(tasks)
	if err != nil {
		return workflow{}, err
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
			size := x.Size4
			if size == nil {
				size = x.Size
			}
			if err := t.uses(strings.ToLower(x.Link), x.Path+x.Name, size); err != nil {
				return workflow{}, badWf("%w", err)
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
					return workflow{}, badWf("task %q names the task %q, which could be either of two, give its id", tasks[i].ID, x)
				}
			}
		}
	}
	return linkWf(file, tasks, index, f.Workflow.Machines)
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

// linkWf makes the graph of the tasks of a file; index maps each of their names to the task's number. If machines keep
// files, edges name theirs.
func linkWf(file *File, tasks []wfTask, index map[string]int, machines []wfMachine) (workflow, error) {
	w, a := workflow{Measured: true}, file.account
	e := wfEdges{tasks: tasks, known: map[[2]int]bool{}}
	byList := [2]map[[2]int]bool{{}, {}} // by the lists of children, by those of parents
	for i := range tasks {
		t := &tasks[i]
		switch r := t.runtime(); {
		case r == nil:
			return workflow{}, badWf("task %q has no run time", t.ID)
		case !(*r >= 0) || math.IsInf(*r, 1):
			return workflow{}, badWf("task %q has the run time %v, must be a number from 0", t.ID, *r)
		default:
			w.Tasks = append(w.Tasks, workTask{t.ID, *r, t.cores(), max(t.Memory, t.Memory4)})
		}
	}
	for which, relation := range [2]string{"child", "parent"} {
		for i := range tasks {
			t := &tasks[i]
			for _, id := range [2][]string{t.Children, t.Parents}[which] {
				other, ok := index[id]
				pair := [2]int{i, other}
				if which == 1 {
					pair = [2]int{other, i}
				}
				switch {
				case !ok:
					return workflow{}, badWf("task %q has the %s %q, there is no such task", t.ID, relation, id)
				case byList[which][pair]:
					return workflow{}, badWf("task %q has the %s %q twice", t.ID, relation, id)
				}
				byList[which][pair] = true
				e.add(pair)
			}
		}
	}
	if len(byList[0]) > 0 && len(byList[1]) > 0 { // else one sort of lists isn't kept
		for _, p := range e.pairs {
			if !byList[0][p] || !byList[1][p] {
				a.Remarks.Add(tasks[p[0]].ID+"->"+tasks[p[1]].ID, "edges by the list of parents or of children alone")
			}
		}
	}
	listed := len(e.pairs)
	e.byFiles(a)
	for _, p := range e.pairs[listed:] {
		a.Remarks.Add(tasks[p[0]].ID+"->"+tasks[p[1]].ID, "edges by files alone, of tasks that no list relates")
	}
	for _, p := range e.pairs {
		from, to := &tasks[p[0]], &tasks[p[1]]
		data, files, err := sharedWf(from, to)
		if err != nil {
			return workflow{}, err
		}
		if !file.kept {
			files = nil
		}
		w.Edges = append(w.Edges, model.DAGEdge{From: from.ID, To: to.ID, Data: data, Files: files})
	}
	tellWf(tasks, machines, file.kept, a)
	return w, nil
}

// wfEdges are pairs of a task and one that needs it, in the order in which they are found.
type wfEdges struct {
	tasks []wfTask
	pairs [][2]int
	known map[[2]int]bool
}

func (e *wfEdges) add(pair [2]int) {
	if !e.known[pair] {
		e.known[pair], e.pairs = true, append(e.pairs, pair)
	}
}

// byFiles adds the pairs of a file's only writer and a reader, and tells what no task writes. Some files name the folder
// at one end alone: a name without a folder is then the one of that last name, if one task alone writes it. Such a file
// is called at the reader as at its writer. Two folders are two files.
func (e *wfEdges) byFiles(a *model.Account) {
	writers, lasts := map[string][]int{}, map[string][]int{} // by the whole name, by the last one
	for i := range e.tasks {
		for name := range e.tasks[i].writes {
			writers[name] = append(writers[name], i)
			lasts[path.Base(name)] = append(lasts[path.Base(name)], i)
		}
	}
	several := map[string]bool{}
	staged, bytes := map[string]bool{}, 0.0
	for i := range e.tasks {
		t := &e.tasks[i]
		for _, name := range slices.Sorted(maps.Keys(t.reads)) {
			from, base := writers[name], path.Base(name)
			last := lasts[base]
			if base != name {
				last = writers[base]
			}
			if len(from) == 0 && len(last) == 1 && last[0] != i {
				from = last
				for written, size := range e.tasks[last[0]].writes { // so that the edge has its data
					if path.Base(written) == base {
						t.reads[written] = cmp.Or(size, t.reads[name])
					}
				}
			}
			switch {
			case len(from) == 1 && from[0] != i:
				e.add([2]int{from[0], i})
			case len(from) > 1:
				several[name] = true
			case len(from) == 0 && !staged[name]:
				staged[name] = true
				if size := t.reads[name]; size != nil {
					bytes += *size
				}
			}
		}
	}
	if len(staged) > 0 {
		a.NotModelled = append(a.NotModelled, model.Telling{Count: bytes, Text: fmt.Sprintf("bytes of inputs that no task writes, in %d files", len(staged))})
	}
	a.Remarks.Count(len(several), "files that several tasks write, which relate no tasks")
}

// tellWf tells what the format says of tasks and machines and the model has no place for.
func tellWf(tasks []wfTask, machines []wfMachine, kept bool, a *model.Account) {
	several, sent := map[string]int{}, 0
	for i := range tasks {
		t := &tasks[i]
		if t.Priority != 0 {
			a.NotModelled.Add(t.ID, "tasks with a priority")
		}
		for name := range t.reads {
			if _, own := t.writes[name]; !own {
				several[name]++
			}
		}
	}
	for i := range tasks {
		for name := range tasks[i].writes {
			if several[name] > 1 {
				sent++
			}
		}
	}
	if kept {
		a.Assumed.Count(sent, "files with several readers: each is sent once to a machine, by its writer's machine, and kept there")
	} else {
		a.Assumed.Count(sent, "files with several readers: each is sent to each reader anew")
	}
	a.Remarks.Count(len(machines), "machines of the run, beside those of the platform")
}

// sharedWf returns the bytes of the files that one task writes and another reads, together and by name.
func sharedWf(from, to *wfTask) (sum float64, sizes map[string]float64, err error) {
	// Walk the shorter of two lists, so that a hub with thousands of files and
	// neighbours costs no square of it; sorted, so that the sum is one.
	files, other := from.writes, to.reads
	if len(other) < len(files) {
		files, other = other, files
	}
	sizes = map[string]float64{}
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
			return 0, nil, badWf("the file %q that task %q writes has no size", name, from.ID)
		case !(*size >= 0) || math.IsInf(*size, 1):
			return 0, nil, badWf("the file %q that task %q writes has the size %v, must be a number from 0", name, from.ID, *size)
		}
		sum += *size
		sizes[name] = *size
	}
	return sum, sizes, nil
}
