// SPDX-License-Identifier: MIT

package lcg

import (
	"context"
	"testing"

	"github.com/gapwise/gapwise/internal/cp"
)

// projectActivity is an activity of a project: its length, its demands of four resources, and the numbers of its
// successors, from 1.
type projectActivity struct {
	length  int64
	demands [4]int64
	after   []int
}

// j301 is the project J301_1 of PSPLIB (Kolisch, Sprecher: PSPLIB - A project
// scheduling problem library, 1996) without its dummy activities 1 and 32, so that
// activity k here is k + 1 there. The capacities are 12, 13, 4 and 12, and the
// optimum is 43.
var j301 = []projectActivity{
	{8, [4]int64{4, 0, 0, 0}, []int{5, 10, 14}},
	{4, [4]int64{10, 0, 0, 0}, []int{6, 7, 12}},
	{6, [4]int64{0, 0, 0, 3}, []int{4, 8, 9}},
	{3, [4]int64{3, 0, 0, 0}, []int{19}},
	{8, [4]int64{0, 0, 0, 8}, []int{29}},
	{5, [4]int64{4, 0, 0, 0}, []int{26}},
	{9, [4]int64{0, 1, 0, 0}, []int{11, 18, 26}},
	{2, [4]int64{6, 0, 0, 0}, []int{13}},
	{7, [4]int64{0, 0, 0, 1}, []int{15, 24}},
	{9, [4]int64{0, 5, 0, 0}, []int{19, 25}},
	{2, [4]int64{0, 7, 0, 0}, []int{13}},
	{6, [4]int64{4, 0, 0, 0}, []int{16, 17}},
	{3, [4]int64{0, 8, 0, 0}, []int{16}},
	{9, [4]int64{3, 0, 0, 0}, []int{24}},
	{10, [4]int64{0, 0, 0, 5}, []int{20, 21}},
	{6, [4]int64{0, 0, 0, 8}, []int{21}},
	{5, [4]int64{0, 0, 0, 7}, []int{19, 21}},
	{3, [4]int64{0, 1, 0, 0}, []int{23, 28}},
	{7, [4]int64{0, 10, 0, 0}, []int{22, 24}},
	{2, [4]int64{0, 0, 0, 6}, []int{27}},
	{7, [4]int64{2, 0, 0, 0}, []int{22}},
	{2, [4]int64{3, 0, 0, 0}, []int{23}},
	{3, [4]int64{0, 9, 0, 0}, []int{29}},
	{3, [4]int64{4, 0, 0, 0}, []int{29}},
	{7, [4]int64{0, 0, 4, 0}, []int{30}},
	{8, [4]int64{0, 0, 0, 7}, []int{27}},
	{3, [4]int64{0, 8, 0, 0}, []int{30}},
	{7, [4]int64{0, 7, 0, 0}, nil},
	{2, [4]int64{0, 7, 0, 0}, nil},
	{2, [4]int64{0, 0, 2, 0}, nil},
}

// project returns the model of a project.
func project(all []projectActivity, capacities [4]int64) *cp.Model {
	m := &cp.Model{}
	horizon := int64(0)
	for _, a := range all {
		horizon += a.length
	}
	m.Objective = m.Int(0, horizon)
	var starts []cp.Start
	for _, a := range all {
		starts = append(starts, cp.Start{If: cp.True, At: m.Int(0, horizon-a.length)})
		m.Integers = append(m.Integers, starts[len(starts)-1].At)
	}
	for i, a := range all {
		delay := func(to cp.Start) {
			m.Add(&cp.Delay{From: starts[i : i+1], To: []cp.Start{to}, By: [][]int64{{a.length}}})
		}
		delay(cp.Start{If: cp.True, At: m.Objective})
		for _, j := range a.after {
			delay(starts[j-1])
		}
	}
	for r, capacity := range capacities {
		c := &cp.Cumulative{Capacity: capacity}
		for i, a := range all {
			if a.demands[r] > 0 {
				c.Starts, c.Lengths, c.Demands = append(c.Starts, starts[i]), append(c.Lengths, a.length), append(c.Demands, a.demands[r])
			}
		}
		m.Add(c)
	}
	return m
}

// Four resources share the starts of a project.
func TestProject(t *testing.T) {
	t.Parallel()
	m := project(j301, [4]int64{12, 13, 4, 12})
	k := New(m)
	o := k.Minimise(context.Background(), nil, 1000, nil)
	if !o.Optimal || o.Best != 43 || !meets(cp.Assignment{Model: m, Values: o.Values}) {
		t.Errorf("%+v after %d conflicts, want 43", o, k.Conflicts)
	}
}
