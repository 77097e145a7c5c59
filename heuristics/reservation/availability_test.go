// SPDX-License-Identifier: MIT

package reservation

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// pes is the list of PEs first to last.
func pes(first, last int) model.PEList { return model.PEList{{First: first, Last: last}} }

// slotList is the common interface of the package's list and the plain one.
type slotList interface {
	Add(start, end int64, pes model.PEList) error
	Delete(start, end int64, pes model.PEList) error
	Find(q query, p policy) (allocation, bool)
	Advance(now int64)
	Records() []record
}

var implementations = map[string]func(int) slotList{
	"plain": func(n int) slotList { return newPlain(n) },
	"fast":  func(n int) slotList { return newAvailability(n) },
}

// allPolicies are the paper's, in both readings of the rectangle, and our own.
var allPolicies = func() []policy {
	all := append([]policy{leastLoad}, policies...)
	for _, p := range policies {
		all = append(all, p.opened())
	}
	return all
}()

// The worked example of section 4.2, with Figure 1's moments t0, ..., t10 at 0, 10, ..., 100, in a cluster of N = 10.
// Job1 is on n1 = 4 PEs until t3, job2 on n2 = 3 until t1, job3 on n3 = 5 from t8 to t10. The request asks for n = 4
// PEs over t4 - t2, from t2 to t9. Job3 has other PEs than job1 here, as in the figure's argument that the rectangle of
// t7 begins at t3.
func TestWorkedExample(t *testing.T) {
	t.Parallel()
	const t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10 = 0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100
	const all, n, n1, n2, n3 = 10, 4, 4, 3, 5
	job1, job2, job3 := pes(0, n1-1), pes(n1, n1+n2-1), pes(all-n3, all-1)
	none := model.PEList(nil)
	for name, make := range implementations {
		t.Run(name, func(t *testing.T) {
			l := make(all)
			holds := func(step string, want ...record) {
				t.Helper()
				if diff := cmp.Diff(want, l.Records()); diff != "" {
					t.Errorf("%s: (-want,+got)\n%s", step, diff)
				}
			}
			do := func(err error) {
				t.Helper()
				require.OK(t, err)
			}
			do(l.Add(t0, t3, job1))
			do(l.Add(t0, t1, job2))
			do(l.Add(t8, t10, job3))
			holds("at t0", record{Time: t0, Busy: pes(0, n1+n2-1)}, record{Time: t1, Busy: job1},
				record{Time: t3, Busy: none}, record{Time: t8, Busy: job3}, record{Time: t10, Busy: none})

			// Steps 1 and 2: the candidates t2, t3, t6, t7 and their rectangles,
			// each alone by a window that ends where its successor's begins.
			q := query{Ready: t2, Duration: t4 - t2, Deadline: t9, PEs: n}
			rectangles := map[int64]rectangle{
				t2: {Begin: t1, End: t8, PEs: all - n1},
				t3: {Begin: t3, End: t8, PEs: all},
				t6: {Begin: t3, End: t8, PEs: all},
				t7: {Begin: t3, End: t9, PEs: all - n3}, // t9 is the deadline, its PEs are free for ever
			}
			for start, want := range rectangles {
				only := query{Ready: start, Duration: t4 - t2, Deadline: start + t4 - t2, PEs: n}
				got, ok := l.Find(only, ff.opened())
				if start == t7 {
					want.End = math.MaxInt64
				}
				if !ok || got.Start != start || got.Rectangle != want {
					t.Errorf("the open rectangle of %v is %+v, want %+v", start, got, want)
				}
				only.Deadline = max(only.Deadline, t9)
				got, ok = l.Find(only, ff)
				if !ok || got.Start != start || got.Rectangle != rectangles[start] {
					t.Errorf("the rectangle of %v is %+v, want %+v", start, got, rectangles[start])
				}
			}
			starts := map[string]int64{"FF": t2, "PE_B": t7, "DU_B": t3, "PEDU_B": t7, "PE_W": t3, "DU_W": t2, "PEDU_W": t3,
				"DU_W open": t7, "PEDU_W open": t7, "DU_B open": t3, "PEDU_B open": t2, "least load": t3}
			for _, p := range allPolicies {
				want, ok := starts[p.name]
				if !ok { // the rectangle's length doesn't matter to it
					want = starts[strings.TrimSuffix(p.name, " open")]
				}
				if got, ok := l.Find(q, p); !ok || got.Start != want {
					t.Errorf("%s starts at %v, want %v", p.name, got.Start, want)
				}
			}
			found, _ := l.Find(q, peW)
			want := allocation{Start: t3, End: t5, PEs: pes(0, n-1), Rectangle: rectangles[t3]}
			if diff := cmp.Diff(want, found); diff != "" {
				t.Errorf("PE_W: (-want,+got)\n%s", diff)
			}

			// Step 3: the lowest n PEs are job1's, so the records of t1 and t3 become one.
			do(l.Add(found.Start, found.End, found.PEs))
			holds("after the request", record{Time: t0, Busy: pes(0, n1+n2-1)}, record{Time: t1, Busy: job1},
				record{Time: t5, Busy: none}, record{Time: t8, Busy: job3}, record{Time: t10, Busy: none})

			// Step 4: job2 ends. The records of t0 and t1 become one, the record of t0; the paper prints {t1, n1 PEs},
			// which it is once time has come to t1.
			do(l.Delete(t0, t1, job2))
			holds("after job2", record{Time: t0, Busy: job1},
				record{Time: t5, Busy: none}, record{Time: t8, Busy: job3}, record{Time: t10, Busy: none})
			l.Advance(t1)
			holds("at t1", record{Time: t1, Busy: job1},
				record{Time: t5, Busy: none}, record{Time: t8, Busy: job3}, record{Time: t10, Busy: none})
		})
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
			require.OK(t, l.Add(0, 5, pes(1, 2)))
			before := l.Records()
			require.Refused(t, fmt.Sprintf("%s, %s", kind, name), l.Add(0, 5, list), model.ErrInvalid, "")
			require.Refused(t, fmt.Sprintf("%s, %s", kind, name), l.Delete(0, 5, list), model.ErrInvalid, "")
			require.Refused(t, fmt.Sprintf("%s: PE 2 is busy until 5", kind), l.Add(4, 9, pes(2, 3)), errBusy, "")
			require.Refused(t, fmt.Sprintf("%s: PE 1 is free from 5 on", kind), l.Delete(4, 9, pes(1, 1)), errFree, "")
			if diff := cmp.Diff(before, l.Records()); diff != "" {
				t.Errorf("%s, %s: changed (-before,+after)\n%s", kind, name, diff)
			}
		}
	}
}
