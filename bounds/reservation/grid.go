// SPDX-License-Identifier: MIT

package reservation

import (
	"slices"
	"sort"
)

// grid cuts time into cells, each with its own multipliers: cell c is [grid[c],
// grid[c+1]). It ascends from the first ready time to the last due time.
type grid []int64

// newGrid returns a grid of at most the given number of boundaries: all ready, latest start and due times and the ends
// of jobs started first. If they are too many they are thinned out, otherwise evenly spread times are added.
func newGrid(jobs []Job, most int) grid {
	first, last := jobs[0].Ready, jobs[0].Due()
	var g grid
	for i := range jobs {
		j := &jobs[i]
		first, last = min(first, j.Ready), max(last, j.Due())
		g = append(g, j.Ready, j.Latest, j.Ready+j.Length, j.Due())
	}
	if last-first < int64(most) {
		g = g[:0]
		for t := first; t <= last; t++ {
			g = append(g, t)
		}
		return g
	}
	slices.Sort(g)
	g = slices.Compact(g)
	if len(g) > most {
		thin := make(grid, most)
		for k := range thin {
			thin[k] = g[int(float64(len(g)-1)*float64(k)/float64(most-1))]
		}
		thin[most-1] = last
		return slices.Compact(thin)
	}
	step := float64(last-first) / float64(most-len(g)+1)
	for k := range most - len(g) {
		g = append(g, first+int64(step*float64(k+1)))
	}
	slices.Sort(g)
	return slices.Compact(g)
}

func (g grid) cells() int { return len(g) - 1 }

func (g grid) length(c int) float64 { return float64(g[c+1] - g[c]) }

// overlap returns the share of cell c that [from, to) covers.
func (g grid) overlap(c int, from, to int64) float64 {
	return float64(min(g[c+1], to)-max(g[c], from)) / g.length(c)
}

// cell returns the cell that t is in, and the share of it that lies before t. A
// time outside of the grid is moved to its nearer end.
func (g grid) cell(t int64) (c int, share float64) {
	if t <= g[0] {
		return 0, 0
	}
	c = sort.Search(len(g), func(i int) bool { return g[i] > t }) - 1
	if c >= g.cells() {
		return g.cells() - 1, 1
	}
	return c, float64(t-g[c]) / g.length(c)
}

// first returns the cell in which t lies or which begins at t.
func (g grid) first(t int64) int {
	c, found := slices.BinarySearch(g, t)
	if !found {
		c--
	}
	return c
}

// meets returns the first cell that a job's window meets, and the one after the last.
func (g grid) meets(j *Job) (first, past int) {
	first, _ = g.cell(j.Ready)
	last, share := g.cell(j.Due())
	if share > 0 || last == first {
		last++
	}
	return first, last
}

// interpolate returns a running sum, sum[c] up to the beginning of cell c, at a share of cell c. Outside of the cells
// it keeps the value at the nearest end.
func interpolate(sum []float64, c int, share float64) float64 {
	switch {
	case c < 0:
		return sum[0]
	case c+1 >= len(sum):
		return sum[len(sum)-1]
	}
	return sum[c] + share*(sum[c+1]-sum[c])
}

// corners returns, for each job, the starts between which any cost that is constant per tick in each cell is linear in
// the start. They are the first start, the last one, and the starts at which the job begins or ends at a boundary.
func (g grid) corners(jobs []Job) [][]int64 {
	all := make([][]int64, len(jobs))
	for i := range jobs {
		j := &jobs[i]
		out := []int64{j.Ready, j.Latest}
		for _, shift := range [...]int64{0, j.Length} {
			k, _ := slices.BinarySearch(g, j.Ready+shift)
			for ; k < len(g) && g[k]-shift <= j.Latest; k++ {
				out = append(out, g[k]-shift)
			}
		}
		slices.Sort(out)
		all[i] = slices.Compact(out)
	}
	return all
}
