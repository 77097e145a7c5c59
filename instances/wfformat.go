package instances

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// wfFormat is what is read of a WfCommons file (WfFormat 1.3 to 1.5).
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
				ID   string  `json:"id"`
				Size float64 `json:"sizeInBytes"`
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
		Name  string   `json:"name"`
		Link  string   `json:"link"` // input or output
		Size  *float64 `json:"size"`
		Size4 *float64 `json:"sizeInBytes"`
	} `json:"files"` // 1.3 and 1.4
	Runtime  *float64 `json:"runtime"`
	Runtime4 *float64 `json:"runtimeInSeconds"`
}

// ReadWfFormat reads a workflow trace of WfCommons. A task's work is its run
// time in seconds, so a machine of speed 1 repeats it; an edge's data are the bytes of
// the files that its first task writes and its second reads. Errors wrap
// model.ErrInvalid and name the task.
func ReadWfFormat(data []byte) (Workflow, error) {
	var f wfFormat
	bad := func(format string, args ...any) (Workflow, error) {
		return Workflow{}, fmt.Errorf("%w WfFormat file: %s", model.ErrInvalid, fmt.Sprintf(format, args...))
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return bad("%v", err)
	}
	var tasks []wfTask
	bytes := map[string]float64{}
	runtime := map[string]*float64{}
	switch w := &f.Workflow; {
	case w.Specification != nil:
		if tasks = w.Specification.Tasks; w.Execution == nil {
			return bad("workflow.execution is missing: it holds the run times")
		}
		for _, x := range w.Specification.Files {
			bytes[x.ID] = x.Size
		}
		for _, x := range w.Execution.Tasks {
			if runtime[x.ID] != nil {
				return bad("workflow.execution: task %q is there twice", x.ID)
			}
			if runtime[x.ID] = x.Runtime4; x.Runtime4 == nil {
				runtime[x.ID] = x.Runtime
			}
		}
	default:
		if tasks = w.Tasks; tasks == nil {
			tasks = w.Jobs
		}
		if tasks == nil {
			return bad("there is no workflow.specification and no workflow.tasks")
		}
		for i := range tasks {
			t := &tasks[i]
			if t.ID == "" {
				t.ID = t.Name
			}
			runtime[t.ID] = t.Runtime
			if t.Runtime4 != nil {
				runtime[t.ID] = t.Runtime4
			}
			for _, x := range t.Files {
				if bytes[x.Name] = 0; x.Size != nil {
					bytes[x.Name] = *x.Size
				} else if x.Size4 != nil {
					bytes[x.Name] = *x.Size4
				}
				switch x.Link {
				case "input":
					t.InputFiles = append(t.InputFiles, x.Name)
				case "output":
					t.OutputFiles = append(t.OutputFiles, x.Name)
				default:
					return bad("task %q: file %q has the link %q, must be input or output", t.ID, x.Name, x.Link)
				}
			}
		}
		// Before 1.5, parents and children are names in some files, ids in others.
		byName := map[string]string{}
		for _, t := range tasks {
			byName[t.Name] = t.ID
		}
		for i := range tasks {
			for _, list := range [][]string{tasks[i].Parents, tasks[i].Children} {
				for k, x := range list {
					if _, ok := runtime[x]; !ok && byName[x] != "" {
						list[k] = byName[x]
					}
				}
			}
		}
	}
	return linkWf(tasks, bytes, runtime)
}

// linkWf makes the graph of the tasks.
func linkWf(tasks []wfTask, bytes map[string]float64, runtime map[string]*float64) (Workflow, error) {
	var w Workflow
	bad := func(format string, args ...any) (Workflow, error) {
		return Workflow{}, fmt.Errorf("%w WfFormat file: %s", model.ErrInvalid, fmt.Sprintf(format, args...))
	}
	index := map[string]*wfTask{}
	for i := range tasks {
		t := &tasks[i]
		if t.ID == "" || index[t.ID] != nil {
			return bad("the task id %q is empty or there twice", t.ID)
		}
		index[t.ID] = t
		r := runtime[t.ID]
		if r == nil {
			return bad("task %q has no run time", t.ID)
		}
		if !(*r >= 0) || math.IsInf(*r, 1) {
			return bad("task %q has the run time %v, must be a number from 0", t.ID, *r)
		}
		w.Tasks = append(w.Tasks, WorkTask{t.ID, *r})
	}
	for i := range tasks {
		t := &tasks[i]
		for _, id := range t.Parents {
			if p := index[id]; p == nil {
				return bad("task %q has the parent %q, there is no such task", t.ID, id)
			} else if !slices.Contains(p.Children, t.ID) {
				return bad("task %q has the parent %q, which doesn't have it as a child", t.ID, id)
			}
		}
		seen := map[string]bool{}
		for _, id := range t.Children {
			c := index[id]
			switch {
			case c == nil:
				return bad("task %q has the child %q, there is no such task", t.ID, id)
			case !slices.Contains(c.Parents, t.ID):
				return bad("task %q has the child %q, which doesn't have it as a parent", t.ID, id)
			case seen[id]:
				return bad("task %q has the child %q twice", t.ID, id)
			}
			seen[id] = true
			sum := 0.0
			counted := map[string]bool{}
			for _, file := range t.OutputFiles {
				if !counted[file] && slices.Contains(c.InputFiles, file) {
					counted[file] = true
					size, ok := bytes[file]
					if !ok || !(size >= 0) || math.IsInf(size, 1) {
						return bad("the file %q that task %q writes has no size from 0", file, t.ID)
					}
					sum += size
				}
			}
			w.Edges = append(w.Edges, model.DAGEdge{From: t.ID, To: id, Data: sum})
		}
	}
	return w, nil
}
