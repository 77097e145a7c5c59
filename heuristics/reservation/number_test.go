package reservation

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/bookings"
	"github.com/gapwise/gapwise/model"
)

// Intervals can be numbered exactly if the counts fit at each moment (interval
// graphs are perfect), and then no PE is in two at a time.
func TestNumber(t *testing.T) {
	t.Parallel()
	fitted, refused := 0, 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 11))
		pes := []int{1, 5, 64, 100}[rng.IntN(4)]
		all := make([]bookings.Interval, rng.IntN(14))
		for i := range all {
			start := int64(rng.IntN(20))
			all[i] = bookings.Interval{Start: start, End: start + int64(rng.IntN(8)), PEs: 1 + rng.IntN(1+pes/2)}
		}
		most := 0
		for now := range 30 {
			n := 0
			for _, x := range all {
				if x.Start <= int64(now) && int64(now) < x.End {
					n += x.PEs
				}
			}
			most = max(most, n)
		}
		lists, err := bookings.Number(pes, all)
		if fits := most <= pes; fits != (err == nil) {
			t.Fatalf("seed %d: at most %d of %d PEs are needed at a time, and the error is %v", seed, most, pes, err)
		}
		if err != nil {
			refused++
			if !errors.Is(err, model.ErrInfeasible) {
				t.Fatal(err)
			}
			continue
		}
		fitted++
		taken := map[[2]int]int{} // PE and moment
		for i, x := range all {
			if lists[i].Len() != x.PEs {
				t.Fatalf("seed %d: interval %d has %v for %d PEs", seed, i, lists[i], x.PEs)
			}
			for _, r := range lists[i] {
				for pe := r.First; pe <= r.Last; pe++ {
					if pe < 0 || pe >= pes {
						t.Fatalf("seed %d: there is no PE %d", seed, pe)
					}
					for now := x.Start; now < x.End; now++ {
						if other, twice := taken[[2]int{pe, int(now)}]; twice {
							t.Fatalf("seed %d: PE %d is in the intervals %d and %d at %v", seed, pe, other, i, now)
						}
						taken[[2]int{pe, int(now)}] = i
					}
				}
			}
		}
	}
	if fitted < 500 || refused < 500 {
		t.Errorf("%d fitted, %d were refused: the draws are too much of one kind", fitted, refused)
	}
}

// Lists that aren't ascending ranges of PEs that exist are refused, and nothing
// is changed.
func TestBadLists(t *testing.T) {
	t.Parallel()
	lists := map[string]model.PEList{
		"above the last": {{First: 3, Last: 4}},
		"below 0":        {{First: -1, Last: 0}},
		"backwards":      {{First: 2, Last: 1}},
		"twice":          {{First: 0, Last: 1}, {First: 1, Last: 2}},
	}
	for name, list := range lists {
		for kind, make := range implementations {
			l := make(4)
			if err := l.Add(0, 5, pes(1, 2)); err != nil {
				t.Fatal(err)
			}
			before := l.Records()
			if err := l.Add(0, 5, list); !errors.Is(err, model.ErrInvalid) {
				t.Errorf("%s, %s: %v", kind, name, err)
			}
			if err := l.Delete(0, 5, list); !errors.Is(err, model.ErrInvalid) {
				t.Errorf("%s, %s: %v", kind, name, err)
			}
			if err := l.Add(4, 9, pes(2, 3)); !errors.Is(err, errBusy) {
				t.Errorf("%s: PE 2 is busy until 5, and the error is %v", kind, err)
			}
			if err := l.Delete(4, 9, pes(1, 1)); !errors.Is(err, errFree) {
				t.Errorf("%s: PE 1 is free from 5 on, and the error is %v", kind, err)
			}
			if diff := cmp.Diff(before, l.Records()); diff != "" {
				t.Errorf("%s, %s: changed (-before,+after)\n%s", kind, name, diff)
			}
		}
	}
}
