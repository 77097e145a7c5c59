// SPDX-License-Identifier: MIT

package report

import (
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/model"
)

// byJobs is the table of the jobs of some solutions on one log, by their size or by the log's data on them; what heads
// the column of algorithms. It has no blocks if the log's data are the same for all jobs.
func byJobs(by, what string, all []runs.Solved) (section, error) {
	s := section{ID: "by-" + by, Title: "By " + by}
	if len(all) == 0 || by != "size" && !tells(all[0].Instance, by) {
		return s, nil
	}
	class := map[string]model.Class{}
	for _, r := range all {
		class[r.Algorithm] = r.Class()
	}
	columns := []string{"jobs", "work %", "wait", "wait median", "wait p95", "bounded slowdown", "slowdown by area", "unfair %"}
	if b, is := all[0].Instance.(*model.Batch); is && len(b.Nodes) > 0 {
		columns = columns[:len(columns)-1] // a fair start is one of processors
	}
	found, err := runs.TabulateJobs(all, by, columns, 20)
	if err != nil {
		return s, err
	}
	t := &table{Caption: "By " + by, Plain: len(found.Rows) < 12, Choices: []choice{{Name: "Jobs"}, {Name: what, Index: 1}}}
	for k, name := range found.Header {
		if k == 1 {
			t.Columns = append(t.Columns, column{Name: what}, column{Name: "class"})
			continue
		}
		if strings.HasPrefix(name, "wait") {
			name += " (s)"
		}
		t.Columns = append(t.Columns, column{Name: name, Number: k > 1})
	}
	for _, r := range found.Rows {
		var cells []cell
		for k, c := range r {
			if cells = append(cells, text(c)); k == 1 {
				cells = append(cells, text(string(class[c])))
			}
		}
		for k := range t.Choices {
			if !slices.Contains(t.Choices[k].Values, r[k]) {
				t.Choices[k].Values = append(t.Choices[k].Values, r[k])
			}
		}
		t.Rows = append(t.Rows, row{Cells: cells, Values: r[:2]})
	}
	s.Blocks = []block{{Table: t}}
	return s, nil
}

// tells reports whether an instance has data on its jobs that differ; partitions don't count if they are the queues.
func tells(in model.Instance, by string) bool {
	b, ok := in.(*model.Batch)
	if !ok {
		return false
	}
	seen, queues := map[string]bool{}, by != "partition"
	for k := range b.Jobs {
		seen[runs.TagOf(b, k, by)] = true
		queues = queues || runs.TagOf(b, k, "queue") != runs.TagOf(b, k, "partition")
	}
	delete(seen, "")
	return queues && len(seen) > 1
}
