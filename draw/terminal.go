// SPDX-License-Identifier: MIT

package draw

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gapwise/gapwise/model"
)

// Terminal draws a solution in characters, columns wide, at least 40: rows are machines, PEs, processors, servers or
// hosts. Time goes from left to right. A vcsched's axis is the CPU of a host, as its tasks use it, a consolidation's
// the first resource. Tasks that move have a star. A task or job is a bar with its id if the rows are few and each
// holds one thing at a time. Otherwise rows are summed up, and a column shows the share of them in use. Schedules show
// tasks, no transfers. The error wraps model.ErrInvalid for a solution that isn't one of the instance. O(B (rows +
// columns)) for B bars.
func Terminal(w io.Writer, columns int, f Frame) error {
	t := &terminal{columns: max(columns, 40), capacity: 1, axis: "s"}
	p := pictures[f.Instance.Kind()]
	if p.terminal == nil {
		return fmt.Errorf("draw: %w: no picture for %s", model.ErrUnsupported, f.Instance.Kind())
	}
	if err := p.terminal(t, f.Instance, f.Solution); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	out := bufio.NewWriter(w)
	t.write(out)
	return out.Flush()
}

// mostTerminalRows bounds the rows of a picture in characters.
const mostTerminalRows = 24

// terminal is a picture in characters.
type terminal struct {
	columns  int
	rows     []string // names, from top to bottom
	bars     []textBar
	capacity float64 // of a row, in weights
	axis     string  // unit of the axis
	from, to float64 // ends of the axis, which also holds all bars
}

// textBar is a bar in one row, or in several that follow each other.
type textBar struct {
	row, rows int
	from, to  float64
	label     string
	weight    float64 // how much of a row's capacity it takes
}

// wrongSolution is the error for a solution of another problem.
func wrongSolution(in model.Instance, s model.Solution) error {
	return fmt.Errorf("%w solution: a %T can't solve a %s instance", model.ErrInvalid, s, in.Kind())
}

func (t *terminal) dag(in *model.DAG, solution model.Solution) error {
	s, ok := solution.(*model.Schedule)
	if !ok {
		return wrongSolution(in, solution)
	}
	if _, err := in.Objective(s); err != nil {
		return err
	}
	machine, task := map[string]int{}, map[string]int{}
	for m := range in.Machines {
		machine[in.Machines[m].ID] = m
		t.rows = append(t.rows, in.Machines[m].ID)
	}
	for k := range in.Tasks {
		task[in.Tasks[k].ID] = k
	}
	for _, x := range s.Tasks {
		m := machine[x.Machine]
		t.bars = append(t.bars, textBar{m, 1, x.StartS, x.StartS + in.Cost(task[x.ID], m), x.ID, 1})
	}
	return nil
}

func (t *terminal) reservation(in *model.Reservation, solution model.Solution) error {
	b, ok := solution.(*model.Bookings)
	if !ok {
		return wrongSolution(in, solution)
	}
	index, err := in.Index(b)
	if err != nil {
		return err
	}
	t.numbered("PE", in.PEs)
	for i, k := range index {
		x, q := &b.Bookings[i], &in.Requests[k]
		for _, r := range x.PEs {
			if r.First < 0 || r.Last >= in.PEs {
				return fmt.Errorf("%w bookings: %s is on PE %d, there are %d", model.ErrInvalid, x.ID, r.Last, in.PEs)
			}
			t.bars = append(t.bars, textBar{r.First, r.Last - r.First + 1, x.StartS, x.StartS + q.DurationS, x.ID, 1})
		}
	}
	return nil
}

func (t *terminal) batch(in *model.Batch, solution model.Solution) error {
	e, ok := solution.(*model.Execution)
	if !ok {
		return wrongSolution(in, solution)
	}
	if _, err := in.Index(e); err != nil {
		return err
	}
	tiers := 1
	for i := range e.Runs {
		for _, s := range e.Runs[i].Segments {
			if s.Place.Tier == model.TierBackground {
				tiers = 2
			}
		}
	}
	for tier := range tiers {
		for p := range in.Processors {
			t.rows = append(t.rows, fmt.Sprintf("%s %d", []string{"fg", "bg"}[tier], p))
		}
	}
	for i := range e.Runs {
		for _, s := range e.Runs[i].Segments {
			base := 0
			if s.Place.Tier == model.TierBackground {
				base = in.Processors
			}
			for _, p := range s.Place.Processors {
				if p < 0 || int(p) >= in.Processors {
					return fmt.Errorf("%w execution: %s is on processor %d, there are %d", model.ErrInvalid, e.Runs[i].ID, p, in.Processors)
				}
				t.bars = append(t.bars, textBar{base + int(p), 1, s.StartS, s.EndS, e.Runs[i].ID, 1})
			}
		}
	}
	return nil
}

func (t *terminal) tvc(in *model.TVC, solution model.Solution) error {
	e, ok := solution.(*model.Embeddings)
	if !ok {
		return wrongSolution(in, solution)
	}
	if _, err := in.Index(e); err != nil {
		return err
	}
	t.capacity = float64(in.FatTree.Slots)
	t.numbered("server", in.FatTree.Servers())
	for i := range e.Runs {
		for _, s := range e.Runs[i].Segments {
			for _, x := range s.Place.Servers {
				if x.Server < 0 || x.Server >= len(t.rows) {
					return fmt.Errorf("%w embeddings: %s is on server %d, there are %d", model.ErrInvalid, e.Runs[i].ID, x.Server, len(t.rows))
				}
				t.bars = append(t.bars, textBar{x.Server, 1, s.StartS, s.EndS, e.Runs[i].ID, float64(x.VMs)})
			}
		}
	}
	return nil
}

// vcsched stacks the CPU shares of each host's tasks from left to right; the axis
// is a host's CPU.
func (t *terminal) vcsched(in *model.VCSched, solution model.Solution) error {
	p, ok := solution.(*model.Placement)
	if !ok {
		return wrongSolution(in, solution)
	}
	if err := in.CheckShape(p); err != nil {
		return err
	}
	t.numbered("host", in.Hosts)
	t.axis, t.to = "of a host's CPU", 1
	used := make([]float64, in.Hosts)
	for i := range p.Jobs {
		for k, h := range p.Jobs[i].Hosts {
			share := p.Jobs[i].CPU[k] / in.Capacity(h).CPU
			t.bars = append(t.bars, textBar{h, 1, used[h], used[h] + share, p.Jobs[i].ID, 1})
			used[h] += share
		}
	}
	return nil
}

// numbered names n rows.
func (t *terminal) numbered(what string, n int) {
	for k := range n {
		t.rows = append(t.rows, fmt.Sprintf("%s %d", what, k))
	}
}

// write draws the bars.
func (t *terminal) write(w *bufio.Writer) {
	for _, b := range t.bars {
		t.from, t.to = min(t.from, b.from), max(t.to, b.to)
	}
	if t.to <= t.from {
		t.to = t.from + 1
	}
	each := (len(t.rows) + mostTerminalRows - 1) / mostTerminalRows // rows in a line
	var names []string
	for first := 0; first < len(t.rows); first += each {
		last := min(first+each, len(t.rows)) - 1
		name := t.rows[first]
		if last > first {
			_, number, _ := strings.Cut(t.rows[last], " ")
			name += "-" + number
		}
		names = append(names, clean(name))
	}
	margin := 0
	for k, name := range names {
		if n := utf8.RuneCountInString(name); n > 16 {
			names[k] = string([]rune(name)[:15]) + "."
		}
		margin = max(margin, utf8.RuneCountInString(names[k]))
	}
	width := t.columns - margin - 2
	lines := t.labelled(width)
	if each > 1 || lines == nil {
		lines = t.summed(width, each, len(names))
	}
	for k, line := range lines {
		fmt.Fprintf(w, "%s%s |%s\n", strings.Repeat(" ", margin-utf8.RuneCountInString(names[k])), names[k], strings.TrimRight(string(line), " "))
	}
	left, right := fmt.Sprintf("%.6g", t.from), fmt.Sprintf("%.6g %s", t.to, t.axis)
	gap := max(1, width-utf8.RuneCountInString(left)-utf8.RuneCountInString(right))
	fmt.Fprintf(w, "%*s%s%*s%s\n", margin+2, "", left, gap, "", right)
}

// column returns where x is on an axis of so many columns.
func (t *terminal) column(x float64, width int) int {
	return int(math.Round((x - t.from) / (t.to - t.from) * float64(width)))
}

// labelled draws each bar in its rows, [id==]. It returns nil if a row holds two
// bars at once.
func (t *terminal) labelled(width int) [][]rune {
	bars := slices.Clone(t.bars)
	slices.SortStableFunc(bars, func(a, b textBar) int {
		if a.from < b.from {
			return -1
		} else if a.from > b.from {
			return 1
		}
		return 0
	})
	lines, end := make([][]rune, len(t.rows)), make([]float64, len(t.rows))
	for k := range lines {
		lines[k], end[k] = []rune(strings.Repeat(" ", width)), math.Inf(-1)
	}
	for _, b := range bars {
		from, to := t.column(b.from, width), t.column(b.to, width)
		if from == to && b.to > b.from { // less than a column
			from, to = min(from, width-1), min(from, width-1)+1
		}
		text := []rune(strings.Repeat("=", max(0, to-from)))
		if n := len(text); n == 1 {
			text[0] = '|'
		} else if n > 1 {
			copy(text[1:n-1], []rune(clean(b.label)))
			text[0], text[n-1] = '[', ']'
		}
		for r := b.row; r < b.row+b.rows; r++ {
			if b.from < end[r]-1e-9*(t.to-t.from) || t.capacity != 1 {
				return nil
			}
			end[r] = max(end[r], b.to)
			copy(lines[r][from:], text)
		}
	}
	return lines
}

// shades show shares from none to all, one for each eighth.
var shades = []rune(" ▁▂▃▄▅▆▇█")

// summed draws, for each line of so many rows and each column, the share in use.
func (t *terminal) summed(width, each, count int) [][]rune {
	use := make([][]float64, count)
	for k := range use {
		use[k] = make([]float64, width)
	}
	span := (t.to - t.from) / float64(width)
	for _, b := range t.bars {
		first := min(int((b.from-t.from)/span), width-1)
		for c := first; c < width && t.from+float64(c)*span < b.to; c++ {
			part := min(b.to, t.from+float64(c+1)*span) - max(b.from, t.from+float64(c)*span)
			for r := b.row; r < b.row+b.rows; r++ {
				use[r/each][c] += b.weight * part / span
			}
		}
	}
	lines := make([][]rune, count)
	for k := range lines {
		rows := min(each, len(t.rows)-k*each)
		for _, u := range use[k] {
			share := u / (t.capacity * float64(rows))
			shade := int(math.Ceil(share*8 - 1e-9))
			lines[k] = append(lines[k], shades[min(max(shade, 0), 8)])
		}
	}
	return lines
}
