// SPDX-License-Identifier: MIT

package vcsched

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// The steps of MCB8 lead to its placement: where the last packing that succeeded put the tasks.
func TestTraceLeadsToThePlacement(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(53, 1))
	kinds := map[string]int{}
	for range require.Rounds(150) {
		in := testkit.RandomVCSched(rng, false)
		if rng.IntN(2) == 0 {
			in = testkit.RandomVectors(rng, false)
		}
		type task struct {
			job  string
			task int
		}
		placed, packed := map[task]int{}, map[task]int{}
		value := func(s model.Step, name string) float64 {
			for _, v := range s.Values {
				if v.Name == name {
					return v.Value
				}
			}
			t.Fatalf("there is no %s in %+v", name, s)
			return 0
		}
		low, high, yield := 0.0, 1.0, 0.0
		p, err := MCB8(t.Context(), in, model.Settings{Trace: func(s model.Step) {
			kinds[s.What]++
			switch s.What {
			case "place":
				k := task{s.Of, int(value(s, "task"))}
				if _, is := placed[k]; is {
					t.Fatalf("%+v, but it is on %d", s, placed[k])
				}
				placed[k] = int(value(s, "host"))
			case "yield", "again":
				clear(placed)
				if s.What == "yield" {
					yield = value(s, "yield")
				} else {
					low, high = 0, 1
				}
			case "packed", "unpacked":
				if s.What == "packed" {
					packed, low = placed, yield
					placed = map[task]int{}
				} else {
					high = yield
				}
				if from, to := value(s, "from"), value(s, "to"); from != low || to > high || value(s, "yield") != yield {
					t.Fatalf("%+v, but the search is from %v to %v", s, low, high)
				}
			}
		}})
		if errors.Is(err, model.ErrNoSolution) {
			continue
		}
		require.OK(t, err)
		got := make([][]int, len(p.Jobs))
		for i, j := range p.Jobs {
			for k := range j.Hosts {
				h, is := packed[task{j.ID, k}]
				if !is {
					t.Fatalf("no step places task %d of %s", k, j.ID)
				}
				got[i] = append(got[i], h)
			}
			if !slices.Equal(got[i], j.Hosts) {
				t.Fatalf("the steps lead to the hosts %v of %s, the placement has %v", got[i], j.ID, j.Hosts)
			}
		}
	}
	for _, what := range []string{"place", "yield", "close", "packed", "unpacked"} {
		if kinds[what] == 0 {
			t.Errorf("no step is %q: %v", what, kinds)
		}
	}
}

// The steps of a small instance, by hand. Job a takes 0.8 of the memory of host 0, so
// that b, which needs 0.5, can't join it.
func TestTraceByHand(t *testing.T) {
	t.Parallel()
	in := &model.VCSched{Name: "three", Hosts: 2, Jobs: []model.VCSchedJob{
		{ID: "a", Tasks: 1, CPU: 0.25, Memory: 0.8}, {ID: "b", Tasks: 1, CPU: 0.5, Memory: 0.5}, {ID: "c", Tasks: 2, CPU: 0.5, Memory: 0.125}}}
	var words []string
	set := model.Settings{Trace: func(s model.Step) { words = append(words, s.Words) }}
	require.OK(t, require.Err(MCB8(t.Context(), in, set)))
	// At the yield 1/2 the CPU needs count 1/8, 1/4 and twice 1/4.
	want := []string{
		"yield 0.5 is tried: the CPU list has job c, task 0; job c, task 1. And the memory list has job a; job b",
		"host 0 has 1 of its CPU and 1 of its memory left: the first of the CPU list that fits is job c, task 0",
		"host 0 has 0.75 of its CPU and 0.875 of its memory left: the first of the memory list that fits is job a",
		"host 0 closes: it has 0.625 of its CPU and 0.075 of its memory left, and none of the 2 tasks left fits",
		"host 1 has 1 of its CPU and 1 of its memory left: the first of the CPU list that fits is job c, task 1",
		"host 1 has 0.75 of its CPU and 0.875 of its memory left: the first of the memory list that fits is job b",
		"host 1 closes: all tasks have a host",
		"yield 0.5: all tasks are packed; the largest yield is searched from 0.5 to 1",
	}
	if len(words) < len(want) || !slices.Equal(words[:len(want)], want) {
		t.Errorf("%q", words)
	}
}
