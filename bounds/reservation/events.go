package reservation

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/units"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// reservationEvents builds the formulation "events": the events are the jobs'
// starts, since more PEs are in use at one of them than at any moment between. Each
// job has an acceptance a (binary) and a start s, counted from its ready time; for
// two jobs whose windows overlap
//
//   - y: the first ends before the second starts (binary, for each order);
//   - f: the first starts no later than the second (binary, the second the opposite);
//   - o: both are accepted and the first is under way when the second starts:
//     o ≥ f - y + a + a - 2 (continuous). The PEs of all o at a start and the
//     starting job's must do.
//
// What the windows decide is no variable, and the big coefficients are
// the least that the windows allow. Two jobs that need too many PEs together have
// y alone: a + a ≤ 1 + y + y. Jobs that start at the same time are put in one
// order: f is transitive for three jobs that can. To these come rows that
// the relaxation is weak without: over each window from a ready time to a due
// time, accepted jobs need no more PE-ticks inside than there are (energetic
// reasoning: Baptiste, Le Pape, Nuijten: Satisfiability tests and time-bound
// adjustments for cumulative scheduling problems, 1999).
//
// It stands in for the on/off event-based formulation (Koné, Artigues, Lopez,
// Mongeau: Event-based MILP models for resource-constrained project scheduling
// problems, 2011). There any job may be at any of n events, so windows fix
// nothing, big coefficients are the whole horizon and equal plans have many
// points: with windows and acceptance added, HiGHS took 0.5 to 8 s for 10 jobs
// and solved none of four instances of 15 jobs in 20 s; these rows take 0.001
// to 0.014 and 0.05 to 1 s.
//
// O(n²) variables, O(n³) terms at worst. Times that span too much for HiGHS are
// model.ErrUnsupported: it takes a difference of 10^-9 of the largest for none, and has proved 3 of 4
// requests the most of an instance with windows of 1 s and durations of 10^9 s.
func reservationEvents(t *Ticks) (*milp.Formulation[[]int64], error) {
	b := &reservationPairs{weighted: newWeighted(t, "events"), t: t, n: len(t.Jobs), unit: 1}
	most := int64(0)
	for i := range b.n {
		for j := range b.n {
			if meet(t, i, j) {
				most = max(most, t.Jobs[i].Due-t.Jobs[j].Ready)
			}
		}
	}
	if most > 1000 { // HiGHS's tolerances are for figures around this size
		b.unit = float64(most) / 1000
	}
	b.build()
	b.Encode, b.Decode = b.encode, b.decode
	if least := b.leastFigure(); least < leastTime {
		return nil, fmt.Errorf("formulation events: %w: its times are from %.3g s to %.3g s long, which is too much for HiGHS; "+
			"the formulation time-indexed and the native search take them", model.ErrUnsupported, least*b.unit/t.PerSecond(), float64(most)/t.PerSecond())
	}
	return &b.Formulation, nil
}

// leastTime is the least figure that a model may have whose times are up to 1000.
const leastTime = 1e-5

// leastFigure is the least coefficient, bound or right side that isn't 0.
func (b *reservationPairs) leastFigure() float64 {
	least := math.Inf(1)
	see := func(x float64) {
		if x = math.Abs(x); x > 0 {
			least = min(least, x)
		}
	}
	for _, v := range b.Vars {
		see(v.Upper)
	}
	for _, r := range b.Rows {
		see(r.Lower)
		see(r.Upper)
		for _, x := range r.Terms {
			see(x.Coef)
		}
	}
	return least
}

// reservationPairTerms is about the number of terms but for the rows of
// energy: 16 for a pair of jobs that meet, 3 for three jobs that do. Above
// maxPairJobs jobs it is too many without a look. O(n²).
func reservationPairTerms(t *Ticks) int {
	n, size := len(t.Jobs), 0
	if n > maxPairJobs {
		return math.MaxInt32
	}
	for i := range n {
		met := 0
		for j := range n {
			if meet(t, i, j) {
				met++
			}
		}
		size += 16*met + met*met/2
	}
	return size
}

// maxPairJobs is how many jobs "events" takes.
const maxPairJobs = 300

// reservationPairs is the formulation being built. Its matrices are [i*n+j].
type reservationPairs struct {
	*weighted
	t    *Ticks
	n    int
	unit float64 // of time, in ticks
	a, s []int   // variables, by job
	y, o []int   // variables of ordered pairs, -1 for none
	// f of pairs i < j, -1 for none; first[i*n+j] is what f is if it is none:
	// whether i certainly starts no later than j.
	f     []int
	first []bool
}

// meet reports whether the windows of two jobs overlap, and both have a length.
func meet(t *Ticks, i, j int) bool {
	p, q := &t.Jobs[i], &t.Jobs[j]
	return i != j && p.Due > q.Ready && q.Due > p.Ready && p.Length > 0 && q.Length > 0
}

// exclude reports whether two jobs need too many PEs together.
func (b *reservationPairs) exclude(i, j int) bool {
	return b.t.Jobs[i].PEs+b.t.Jobs[j].PEs > b.t.PEs
}

// together reports whether three jobs can start at the same time, each with a
// length.
func (b *reservationPairs) together(i, j, k int) bool {
	x := b.t.Jobs
	return max(x[i].Ready, x[j].Ready, x[k].Ready) <= min(x[i].Latest(), x[j].Latest(), x[k].Latest()) &&
		min(x[i].Length, x[j].Length, x[k].Length) > 0 && !b.exclude(i, j) && !b.exclude(i, k) && !b.exclude(j, k)
}

func (b *reservationPairs) build() {
	t, n := b.t, b.n
	none := func() []int { return slices.Repeat([]int{-1}, n*n) }
	b.y, b.o, b.f, b.first = none(), none(), none(), make([]bool, n*n)
	for j := range n {
		x := &t.Jobs[j]
		cost, low := b.weights[j], 0.0
		if t.Goal == model.GoalAll {
			cost, low = 0, 1
		}
		b.a = append(b.a, b.AddVar(milp.Var{Name: fmt.Sprintf("a_%d", x.Request+1), Lower: low, Upper: 1, Cost: cost, Integer: true}))
		b.s = append(b.s, b.AddVar(milp.Var{Name: fmt.Sprintf("s_%d", x.Request+1), Upper: b.ticks(x.Latest() - x.Ready)}))
	}
	name := func(what string, i, j int) string {
		return fmt.Sprintf("%s_%d_%d", what, t.Jobs[i].Request+1, t.Jobs[j].Request+1)
	}
	for i := range n {
		for j := range n {
			p, q := &t.Jobs[i], &t.Jobs[j]
			if !meet(b.t, i, j) {
				continue
			}
			if p.Ready+p.Length <= q.Latest() {
				b.y[i*n+j] = b.AddVar(milp.Var{Name: name("y", i, j), Upper: 1, Integer: true})
			}
			if b.exclude(i, j) {
				continue
			}
			if i < j && p.Ready < q.Latest() && q.Ready < p.Latest() {
				b.f[i*n+j] = b.AddVar(milp.Var{Name: name("f", i, j), Upper: 1, Integer: true})
			} else if i < j {
				b.first[i*n+j] = p.Latest() <= q.Ready
				b.first[j*n+i] = !b.first[i*n+j]
			}
		}
	}
	for i := range n {
		for j := i + 1; j < n; j++ {
			if meet(b.t, i, j) {
				b.pair(i, j, name)
				b.pair(j, i, name)
				if b.exclude(i, j) {
					row := []milp.Term{{Var: b.a[i], Coef: 1}, {Var: b.a[j], Coef: 1}}
					for _, v := range []int{b.y[i*n+j], b.y[j*n+i]} {
						if v >= 0 {
							row = append(row, milp.Term{Var: v, Coef: -1})
						}
					}
					b.AddRow(name("apart", i, j), math.Inf(-1), 1, row...)
				}
			}
		}
	}
	for j := range n {
		b.capacity(j, name)
	}
	b.transitivity()
	b.energy()
}

// ticks turns ticks into the model's time.
func (b *reservationPairs) ticks(d int64) float64 { return float64(d) / b.unit }

// order is "i starts no later than j" as a variable, its coefficient and a
// constant; the variable is -1 if it is a constant.
func (b *reservationPairs) order(i, j int) (v int, coef, constant float64) {
	if i < j {
		if v := b.f[i*b.n+j]; v >= 0 {
			return v, 1, 0
		}
	} else if v := b.f[j*b.n+i]; v >= 0 {
		return v, -1, 1
	}
	if b.first[i*b.n+j] {
		return -1, 0, 1
	}
	return -1, 0, 0
}

// pair adds the rows of y and f of i before j: from s_j ≥ s_i - slack_i up,
// which windows know, f lifts it to s_j ≥ s_i and y to s_j ≥ s_i + length.
func (b *reservationPairs) pair(i, j int, name func(string, int, int) string) {
	p, q := &b.t.Jobs[i], &b.t.Jobs[j]
	row := []milp.Term{{Var: b.s[j], Coef: 1}, {Var: b.s[i], Coef: -1}}
	right := -b.ticks(p.Latest() - p.Ready)
	y := b.y[i*b.n+j]
	f, coef, constant := b.order(i, j)
	lift := b.ticks(p.Latest() - q.Ready)
	switch {
	case f >= 0 && y >= 0:
		row = append(row, milp.Term{Var: f, Coef: -coef * lift}, milp.Term{Var: y, Coef: -b.ticks(p.Length)})
		right += constant * lift
		b.AddRow(name("order", i, j), math.Inf(-1), constant, milp.Term{Var: y, Coef: 1}, milp.Term{Var: f, Coef: -coef})
	case f >= 0:
		row = append(row, milp.Term{Var: f, Coef: -coef * lift})
		right += constant * lift
	case y >= 0:
		row = append(row, milp.Term{Var: y, Coef: -b.ticks(p.Due - q.Ready)})
	default:
		return
	}
	b.AddRow(name("wait", i, j), right, milp.Inf, row...)
}

// capacity adds the o at the start of j and their row, unless all jobs that may
// be under way then fit.
func (b *reservationPairs) capacity(j int, name func(string, int, int) string) {
	t, n := b.t, b.n
	var others []int
	sum, common := t.Jobs[j].PEs, 0
	for i := range n {
		if !meet(b.t, i, j) || b.exclude(i, j) {
			continue
		}
		if f, _, constant := b.order(i, j); f < 0 && constant == 0 {
			continue // it starts later
		}
		others = append(others, i)
		sum += t.Jobs[i].PEs
		common = units.GCD(common, t.Jobs[i].PEs)
	}
	if sum <= t.PEs {
		return
	}
	var row []milp.Term
	for _, i := range others {
		o := b.AddVar(milp.Var{Name: name("o", i, j), Upper: 1})
		b.o[i*n+j] = o
		row = append(row, milp.Term{Var: o, Coef: float64(t.Jobs[i].PEs / common)})
		f, coef, constant := b.order(i, j)
		under := []milp.Term{{Var: o, Coef: 1}, {Var: b.a[i], Coef: -1}, {Var: b.a[j], Coef: -1}}
		if f >= 0 {
			under = append(under, milp.Term{Var: f, Coef: -coef})
		}
		if y := b.y[i*n+j]; y >= 0 {
			under = append(under, milp.Term{Var: y, Coef: 1})
		}
		b.AddRow(name("under", i, j), constant-2, milp.Inf, under...)
	}
	b.AddRow(fmt.Sprintf("at_%d", t.Jobs[j].Request+1), math.Inf(-1), float64((t.PEs-t.Jobs[j].PEs)/common), row...)
}

// transitivity keeps three jobs that start at the same time from being
// ordered in a circle, in which none would see both others.
func (b *reservationPairs) transitivity() {
	n, request := b.n, func(j int) int { return b.t.Jobs[j].Request + 1 }
	for i := range n {
		for j := i + 1; j < n; j++ {
			for k := j + 1; k < n; k++ {
				if !b.together(i, j, k) {
					continue
				}
				// One or two of the three hold, but for circles.
				var row []milp.Term
				sum := 0.0
				for _, p := range [][2]int{{i, j}, {j, k}, {k, i}} {
					f, coef, constant := b.order(p[0], p[1])
					if sum += constant; f >= 0 {
						row = append(row, milp.Term{Var: f, Coef: coef})
					}
				}
				if len(row) > 0 {
					b.AddRow(fmt.Sprintf("circle_%d_%d_%d", request(i), request(j), request(k)), 1-sum, 2-sum, row...)
				}
			}
		}
	}
}

// energy adds the rows of PE-ticks over windows, as parts of what there is, up to
// as many terms as are allowed. O(n³).
func (b *reservationPairs) energy() {
	t := b.t
	var from, to []int64
	for j := range t.Jobs {
		from, to = append(from, t.Jobs[j].Ready), append(to, t.Jobs[j].Due)
	}
	slices.Sort(from)
	slices.Sort(to)
	from, to = slices.Compact(from), slices.Compact(to)
	terms := 0
	for x, lo := range from {
		for y, hi := range to {
			if hi <= lo || terms > MaxReservationTerms/2 {
				continue
			}
			var row []milp.Term
			sum, all := 0.0, float64(t.PEs)*float64(hi-lo)
			for j := range t.Jobs {
				p := &t.Jobs[j]
				inside := min(p.Length, hi-lo, p.Ready+p.Length-lo, hi-p.Latest())
				if inside > 0 {
					need := float64(p.PEs) * float64(inside)
					sum += need
					row = append(row, milp.Term{Var: b.a[j], Coef: need / all})
				}
			}
			if sum > all && len(row) > 2 {
				terms += len(row)
				b.AddRow(fmt.Sprintf("energy_%d_%d", x+1, y+1), math.Inf(-1), 1, row...)
			}
		}
	}
}

func (b *reservationPairs) encode(starts []int64) []float64 {
	if b.t.Check(starts) != nil {
		return nil
	}
	starts = b.t.ShiftLeft(starts)
	x, n := make([]float64, len(b.Vars)), b.n
	at := make([]int64, n) // of declined jobs as well
	for j, s := range starts {
		if at[j] = s; s < 0 {
			at[j] = b.t.Jobs[j].Ready
		} else {
			x[b.a[j]] = 1
		}
		x[b.s[j]] = b.ticks(at[j] - b.t.Jobs[j].Ready)
	}
	for i := range n {
		for j := range n {
			if !meet(b.t, i, j) {
				continue
			}
			// Of equal starts the windows may know which is first.
			p, q := &b.t.Jobs[i], &b.t.Jobs[j]
			first := cmp.Or(cmp.Compare(at[i], at[j]), cmp.Compare(p.Latest(), q.Latest()), cmp.Compare(p.Ready, q.Ready), cmp.Compare(i, j)) < 0
			before := at[i]+p.Length <= at[j]
			if f := b.f[i*n+j]; f >= 0 && first {
				x[f] = 1
			}
			if y := b.y[i*n+j]; y >= 0 && before {
				x[y] = 1
			}
			if o := b.o[i*n+j]; o >= 0 && first && !before && starts[i] >= 0 && starts[j] >= 0 {
				x[o] = 1
			}
		}
	}
	return x
}

// decode starts accepted jobs as early as their y allow. These never use more
// PEs than there are: of jobs that are under way together no y holds, so
// in the point's own starts they were together as well, and the last of them,
// by f, saw all others.
func (b *reservationPairs) decode(x []float64) ([]int64, error) {
	if err := b.checkPoint(x); err != nil {
		return nil, err
	}
	n := b.n
	starts := make([]int64, n)
	for j := range starts {
		if starts[j] = b.t.Jobs[j].Ready; !(x[b.a[j]] > 0.5) {
			starts[j] = -1
		}
	}
	for range n { // the longest chain of y has no more
		moved := false
		for i := range n {
			for j := range n {
				y := b.y[i*n+j]
				if y < 0 || !(x[y] > 0.5) || starts[i] < 0 || starts[j] < 0 {
					continue
				}
				if end := starts[i] + b.t.Jobs[i].Length; end > starts[j] {
					starts[j], moved = end, true
				}
			}
		}
		if !moved {
			break
		}
	}
	return settle(b.t, starts)
}
