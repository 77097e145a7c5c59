// SPDX-License-Identifier: MIT

package runs

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/num/stats"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// JobKeys are the keys by which TabulateJobs divides jobs: a log's data on them, size, or the resource of nodes that
// they take most of.
var JobKeys = []string{"user", "group", "queue", "partition", "executable", "size", "resource"}

// Solved is a run with its instance and its solution.
type Solved struct {
	*Record
	Instance model.Instance
	Solution model.Solution
}

// JobColumns lists the columns of TabulateJobs, each with its description.
func JobColumns() [][2]string {
	var all [][2]string
	for _, f := range classColumns() {
		all = append(all, [2]string{f.key, f.help})
	}
	return all
}

// defaultJobColumns fit in 80 characters with an algorithm.
var defaultJobColumns = []string{"jobs", "work %", "wait", "wait p95", "response", "bounded slowdown"}

// classColumns are the figures of a class of jobs.
func classColumns() []jobFigure {
	all := []jobFigure{{key: "jobs", help: "number of jobs", of: func(j *jobs) float64 { return float64(len(j.outcomes)) }},
		{key: "work %", help: "their processes times runtimes as a share of all jobs'"}}
	for _, q := range quantities {
		all = append(all, jobFigure{key: q.key, help: "mean " + q.name, unit: q.unit, of: func(j *jobs) float64 { return j.mean(&q) }})
	}
	for _, f := range jobFigures() {
		if f.key != "user spread" {
			all = append(all, f)
		}
	}
	return all
}

// TagOf returns the log's data on a job of an instance or its dominant resource, "" if there is none.
func TagOf(b *model.Batch, k int, key string) string {
	l := b.Jobs[k].Log
	if key == "resource" {
		return dominant(b, k)
	}
	if l == nil {
		return ""
	}
	return [...]string{l.User, l.Group, l.Queue, l.Partition, l.Executable}[slices.Index(JobKeys, key)]
}

// sizeClass returns the class of jobs of so many processes: 1, 2 to 4, 5 to 16, ..., each up to
// four times the one before.
func sizeClass(processes int) (rank int, name string) {
	low, high := 1, 1
	for processes > high {
		low, high, rank = high+1, 4*high, rank+1
	}
	if low == high {
		return 0, "1"
	}
	return rank, fmt.Sprintf("%d-%d", low, high)
}

// jobClass is the jobs of a class.
type jobClass struct {
	name string
	rank int              // of a size
	area float64          // classes of one rank are shown by descending area
	of   map[string]*jobs // by algorithm
}

// TabulateJobs computes a table of the jobs of solutions, divided by one of JobKeys: a row for
// each algorithm in each class of jobs, and of all jobs first. Jobs of several instances by one
// algorithm count together. Classes come in the order of their work, sizes in ascending order.
// If most is above 0 classes beyond so many are one, the others. The error wraps model.ErrInvalid, or
// model.ErrUnsupported for a problem without jobs that wait.
func TabulateJobs(all []Solved, by string, columns []string, most int) (Table, error) {
	bad := func(format string, args ...any) (Table, error) {
		return Table{}, fmt.Errorf("%w table: %s", model.ErrInvalid, fmt.Sprintf(format, args...))
	}
	if !slices.Contains(JobKeys, by) {
		return bad("jobs are divided by one of %s, not by %q", strings.Join(JobKeys, ", "), by)
	}
	if len(columns) == 0 {
		columns = defaultJobColumns
	}
	var chosen []jobFigure
	for _, name := range columns {
		k := slices.IndexFunc(classColumns(), func(f jobFigure) bool { return f.key == name })
		if k < 0 {
			return bad("there is no column %q of jobs; see gapwise bench table --help", name)
		}
		chosen = append(chosen, classColumns()[k])
	}
	var records []Record
	for _, s := range all {
		records = append(records, *s.Record)
	}
	order, err := algorithmsOf(records, nil)
	if err != nil {
		return bad("%v", err)
	}
	divided, err := classesOfJobs(all, by, most)
	if err != nil {
		return Table{}, err
	}
	t := Table{Header: append([]string{by, "algorithm"}, columns...), Notes: notes(columns), Subject: "Jobs by " + by}
	of := classes(records)
	for _, rank := range model.Classes() {
		for _, c := range divided {
			for _, a := range order {
				j := c.of[a]
				if of[a] != rank || j == nil {
					continue
				}
				row := []string{c.name, a}
				for _, f := range chosen {
					switch f.key {
					case "jobs":
						row = append(row, fmt.Sprint(len(j.outcomes)))
					case "work %":
						row = append(row, words.Known("%.1f", 100*j.work()/divided[0].of[a].work()))
					default:
						row = append(row, figureOf(f.of(j)))
					}
				}
				t.Groups, t.Rows = append(t.Groups, GroupOf(rank)), append(t.Rows, row)
			}
		}
	}
	return t, nil
}

// figureOf writes a figure to two decimals, a large one to none.
func figureOf(x float64) string {
	if math.Abs(x) >= 1000 {
		return words.Known("%.0f", x)
	}
	return words.Known("%.2f", x)
}

// work returns the areas of the jobs.
func (j *jobs) work() float64 {
	all := make([]float64, len(j.outcomes))
	for k := range j.outcomes {
		all[k] = area(&j.outcomes[k])
	}
	return stats.Mean(all) * float64(len(all))
}

// classesOfJobs divides the jobs of solutions; the first class holds all.
func classesOfJobs(all []Solved, by string, most int) ([]*jobClass, error) {
	whole := &jobClass{name: "all", of: map[string]*jobs{}}
	named := map[string]*jobClass{}
	for _, s := range all {
		j, ok, err := jobsOf(s.Instance, s.Solution)
		if err != nil {
			return nil, err
		}
		b, isBatch := s.Instance.(*model.Batch)
		if !ok || by != "size" && !isBatch {
			return nil, fmt.Errorf("%w: %s of %s runs no jobs that wait, or knows nothing of their %s", model.ErrUnsupported, s.Algorithm, s.Record.Instance, by)
		}
		for k := range j.outcomes {
			o := &j.outcomes[k]
			rank, name := 0, ""
			if by == "size" {
				rank, name = sizeClass(o.Processes)
			} else if name = TagOf(b, k, by); name == "" {
				name = "not told"
			}
			c := named[name]
			if c == nil {
				c = &jobClass{name: name, rank: rank, of: map[string]*jobs{}}
				named[name] = c
			}
			c.area += area(o)
			c.add(s.Algorithm, j, k)
			whole.add(s.Algorithm, j, k)
		}
	}
	if len(named) == 0 || len(named) == 1 && named["not told"] != nil {
		return nil, fmt.Errorf("%w table: the instances tell no %s of any job; those that gapwise convert makes of logs do, resources with --unit resources", model.ErrInvalid, by)
	}
	classes := slices.SortedFunc(maps.Values(named), func(a, b *jobClass) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.area, a.area), cmp.Compare(a.name, b.name))
	})
	if most > 0 && len(classes) > most+1 {
		rest := &jobClass{name: fmt.Sprintf("%d others", len(classes)-most), of: map[string]*jobs{}}
		for _, c := range classes[most:] {
			for a, j := range c.of {
				for k := range j.outcomes {
					rest.add(a, j, k)
				}
			}
		}
		classes = append(classes[:most], rest)
	}
	return append([]*jobClass{whole}, classes...), nil
}

// add takes a job of a solution.
func (c *jobClass) add(algorithm string, from *jobs, k int) {
	j := c.of[algorithm]
	if j == nil {
		j = &jobs{from: from.from, to: from.to, processors: from.processors}
		c.of[algorithm] = j
	}
	if j.from != from.from || j.to != from.to || j.processors != from.processors { // of several instances
		j.processors = 0
	}
	j.outcomes = append(j.outcomes, from.outcomes[k])
	if from.late != nil {
		j.late = append(j.late, from.late[k])
	}
}
