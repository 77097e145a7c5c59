package dag

import (
	"context"
	"fmt"
	"math"

	"github.com/gapwise/gapwise/exact"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/model"
)

// Kernel is the exact engine for DAG by lazy clause generation: the constraint model
// of kernelModel, solved by lcg.Kernel. Like Search, it begins with
// dagheur.BestPlan and the bounds by paths and load; under contention it proves
// the bound without, as Search does.
//
// It is any-time: when ctx or the time limit ends, the result carries the best
// schedule and the bound proved by then. A node is a conflict, from which a nogood
// is learned. Instances of more than maxPairs pairs of tasks on machines get the
// schedule and the bounds without search.
type Kernel struct {
	off     deviceSet  // switched off
	without lcg.Device // of the kernel itself, switched off
}

// maxPairs bounds tasks² × machines / 2, the size of the model: some 100 bytes each.
const maxPairs = 1 << 20

// kernelAlone is the number of tasks up to which the kernel finds and proves most optima
// within seconds, so that neighbourhoods before it would only take time. Above, they
// find better schedules in a few seconds than the kernel does in 40.
const kernelAlone = 64

// Name returns "kernel".
func (Kernel) Name() string { return "kernel" }

// Solve implements model.Solver.
func (e Kernel) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	t := kernelTuning
	t.off |= e.off
	t.without = e.without
	return solve(ctx, e.Name(), t, in, set)
}

// KernelDevices lists the parts of Kernel that KernelWithout can switch off.
func KernelDevices() []exact.Device {
	var own []exact.Device
	for _, d := range devices {
		if d.Bit&kernelModelDevices != 0 {
			own = append(own, d.Device)
		}
	}
	return append(own, exact.KernelDevices()...)
}

// KernelWithout returns Kernel with the named devices switched off. It proves the
// same, later. An unknown name is an error that lists the known ones.
func KernelWithout(names ...string) (model.Solver, error) {
	without, others := exact.KernelOff(names)
	off, err := exact.BitsOf("dag", devices, others)
	return Kernel{off: off, without: without}, err
}

// kernel has the kernel look for schedules better than the plan and for bounds.
//
// Ticks are a relaxation, so a bound in ticks is one of the instance, as it is for
// the levels: the plan in ticks ends no later than in the instance, and a proof that
// none in ticks is better proves its makespan in ticks as the bound.
func (s *dagSearch) kernel() error {
	if n := s.g.Tasks; n > 1<<12 || n*n/2*s.g.Machines > maxPairs || s.g.Machines > math.MaxInt8 {
		s.neighbourhoods(true)
		s.reason = fmt.Sprintf("%d tasks on %d machines are more than the kernel takes: bounds without search", n, s.g.Machines)
		return nil
	}
	if s.g.Tasks > kernelAlone {
		s.neighbourhoods(false)
		if s.closed() {
			return nil
		}
	}
	v := newTicks(s.g, s.upper, s.tuning.off|devFork)
	s.roundUp(v)
	if s.closed() {
		return nil
	}
	if err := v.findWeights(s.ctx); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.newLearner(v).turn(s.tuning.conflicts)
	if !s.closed() {
		s.reason = exact.StopReason(s.ctx)
	}
	return nil
}

// learner has the kernel take turns. What it has learned stays.
type learner struct {
	s *dagSearch
	v *ticks
	m *kernelModel
	k *lcg.Kernel
	// least is the least makespan that it has been told or has found, in ticks: it looks
	// below this alone. Where times were rounded, a schedule that it found may be no
	// better than the plan, whose makespan in ticks is greater.
	least int64
}

// newLearner returns the kernel for schedules better than the plan.
func (s *dagSearch) newLearner(v *ticks) *learner {
	upper, end, on := v.fit(s.g, s.plan)
	m := newKernelModel(v, upper)
	k := lcg.NewWith(&m.Model, lcg.Options{Off: s.tuning.without})
	if s.tuning.off&devHint == 0 {
		k.SetPhases(m.phases(end, on))
	}
	return &learner{s: s, v: v, m: m, k: k, least: int64(upper)}
}

// turn takes so many conflicts (0: no limit) between the bound and the plan, which may
// both be better than at its last turn.
func (l *learner) turn(conflicts int64) {
	s, k := l.s, l.k
	if lower := s.roundUp(l.v); l.v.whole {
		k.Require(l.m.Objective.AtLeast(int64(lower)))
	}
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	upper, _, _ := l.v.fit(s.g, s.plan)
	l.least = min(l.least, int64(upper))
	best := l.least
	if conflicts > 0 {
		conflicts += k.Conflicts
	}
	count := func() {
		s.nodes += k.Conflicts - s.learnt
		s.learnt = k.Conflicts
	}
	o := k.Minimise(ctx, &best, conflicts, func(o *lcg.Outcome) {
		count()
		if o.Values != nil && o.Best < l.least {
			l.least = o.Best
			s.take(l.v, o.Values, l.m)
		}
		s.lower = max(s.lower, float64(o.Bound)*l.v.unit)
		s.progress()
		if s.closed() {
			cancel()
		}
	})
	count()
	s.lower = max(s.lower, float64(o.Bound)*l.v.unit)
}

// take takes a solution of the kernel's model as the plan, if it is better.
func (s *dagSearch) take(v *ticks, values []int64, m *kernelModel) {
	end, on := m.assign(values)
	s.better(v, end, on)
}

// phases returns values of the variables that stand for a schedule's machines and
// orders.
func (k *kernelModel) phases(end []int32, on []int8) []int64 {
	v := k.v
	values := make([]int64, len(k.Low))
	for t := range v.n {
		for a, x := range k.on[t] {
			if x.If.SV >= 0 && int8(a) == on[t] {
				values[x.If.Var()] = 1
			}
		}
		for u := range t {
			if x := k.before[u][t]; x.SV >= 0 && v.startOf(u, end, on) <= v.startOf(t, end, on) {
				values[x.Var()] = 1
			}
		}
	}
	return values
}

// startOf returns when a task starts.
func (v *ticks) startOf(t int, end []int32, on []int8) int32 {
	return end[t] - v.cost[t*v.m+int(on[t])]
}
