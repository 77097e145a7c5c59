// SPDX-License-Identifier: MIT

package lcg

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/test/require"
)

// jobShop is a job shop: machine and time of each step of each job.
type jobShop struct {
	name    string
	optimum int64
	jobs    [][][2]int64
}

// jobShops reads testdata/jobshop.txt.
func jobShops(t testing.TB) (all []jobShop) {
	f := require.Value(os.Open("testdata/jobshop.txt"))(t)
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		switch line := s.Text(); {
		case line[0] == '#':
		case line[0] != ' ':
			x := jobShop{}
			require.OK(t, require.Err(fmt.Sscan(line, &x.name, &x.optimum)))
			all = append(all, x)
		default:
			var job [][2]int64
			for r := strings.NewReader(line); ; {
				var step [2]int64
				if _, err := fmt.Fscan(r, &step[0], &step[1]); err != nil {
					break
				}
				job = append(job, step)
			}
			x := &all[len(all)-1]
			x.jobs = append(x.jobs, job)
		}
	}
	return all
}

// model returns the model of the schedules that end by the horizon.
func (x *jobShop) model(horizon int64) *cp.Model {
	m := &cp.Model{}
	m.Objective = m.Int(0, horizon)
	end := cp.Start{If: cp.True, At: m.Objective}
	on := map[int64]*cp.NoOverlap{}
	for _, job := range x.jobs {
		var last cp.Start
		for i, step := range job {
			s := cp.Start{If: cp.True, At: m.Int(0, horizon-step[1])}
			if i > 0 {
				m.Add(&cp.Delay{From: []cp.Start{last}, To: []cp.Start{s}, By: [][]int64{{job[i-1][1]}}})
			}
			last = s
			c := on[step[0]]
			if c == nil {
				c = &cp.NoOverlap{}
				on[step[0]] = c
			}
			row := make([]cp.Lit, len(c.Starts)+1)
			for j := range c.Starts {
				l := m.Bool().Is()
				row[j], c.Before[j] = l, append(c.Before[j], l.Not())
			}
			c.Starts, c.Lengths, c.Before = append(c.Starts, s), append(c.Lengths, step[1]), append(c.Before, row)
		}
		m.Add(&cp.Delay{From: []cp.Start{last}, To: []cp.Start{end}, By: [][]int64{{job[len(job)-1][1]}}})
	}
	for a := range int64(len(on)) {
		m.Add(on[a])
	}
	return m
}

// horizon returns the end of a schedule. It always appends the open step that can begin first; of several, the one with
// the most time after it.
func (x *jobShop) horizon() (most int64) {
	next, ready, free := make([]int, len(x.jobs)), make([]int64, len(x.jobs)), map[int64]int64{}
	for {
		best, at, after := -1, int64(0), int64(0)
		for j, job := range x.jobs {
			if next[j] == len(job) {
				continue
			}
			begin, rest := max(ready[j], free[job[next[j]][0]]), int64(0)
			for _, s := range job[next[j]:] {
				rest += s[1]
			}
			if best < 0 || begin < at || begin == at && rest > after {
				best, at, after = j, begin, rest
			}
		}
		if best < 0 {
			return most
		}
		step := x.jobs[best][next[best]]
		ready[best], free[step[0]] = at+step[1], at+step[1]
		most = max(most, at+step[1])
		next[best]++
	}
}

// The optima of classical job shops are found and proved.
func TestJobShops(t *testing.T) {
	t.Parallel()
	for _, x := range jobShops(t) {
		if x.name > "la05" || x.name == "ft20" || x.name == "ft10" || strings.HasPrefix(x.name, "abz") {
			continue // BenchmarkJobShops
		}
		k := New(x.model(x.horizon()))
		o := k.Minimise(context.Background(), nil, 20000, nil)
		if !o.Optimal || o.Best != x.optimum {
			t.Errorf("%s: %d to %d after %d conflicts, its optimum is %d", x.name, o.Bound, o.Best, k.Conflicts, x.optimum)
		}
	}
}

func BenchmarkJobShops(b *testing.B) {
	for _, x := range jobShops(b) {
		b.Run(x.name, func(b *testing.B) {
			for b.Loop() {
				k := New(x.model(x.horizon()))
				o := k.Minimise(context.Background(), nil, 100000, nil)
				if o.Best < x.optimum || o.Bound > x.optimum {
					b.Fatalf("%d to %d", o.Bound, o.Best)
				}
				b.ReportMetric(float64(k.Conflicts), "conflicts/op")
				b.ReportMetric(float64(o.Best-o.Bound), "gap")
			}
		})
	}
}

// Learned nogoods are dropped as they get many.
func TestReduce(t *testing.T) {
	t.Parallel()
	for _, x := range jobShops(t) {
		if x.name != "ft10" {
			continue
		}
		k := New(x.model(x.horizon()))
		k.limit = 200
		k.Minimise(t.Context(), nil, 4000, nil)
		learned := 0
		for _, g := range k.nogoods {
			if g.learned && g.lbd > 3 {
				learned++
			}
		}
		if k.Conflicts < 4000 || int64(learned) > k.Conflicts/2 {
			t.Errorf("%s: %d of %d nogoods of many levels are left", x.name, learned, k.Conflicts)
		}
	}
}
